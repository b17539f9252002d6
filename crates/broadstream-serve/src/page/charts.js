// Charts as SVG, for the live page. Nothing here knows the server.

const NAMESPACE = "http://www.w3.org/2000/svg";

/** An element of SVG with attributes, and children that are elements or text. */
function svg(name, attributes = {}, ...children) {
  const element = document.createElementNS(NAMESPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

function frame(width, height, label) {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
}

const time = (at) => new Date(at).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit" });
export const percent = (share) => (share == null ? "–" : `${(100 * share).toFixed(1)} %`);

function note(text) {
  return Object.assign(document.createElement("p"), { className: "note", textContent: text });
}

/** Lines over time between 0 and 1: each has a name, a colour, a dash and a value for each point. */
export function lines(points, series, marks, width) {
  const height = 260, left = 44, right = 10, top = 8, bottom = 24;
  const last = points.at(-1);
  const spoken = series.map((s) => `${s.name} ${percent(last?.[s.key])}`).join(", ");
  const chart = frame(width, height, `Accuracy over time; now ${spoken}`);
  if (points.length < 2) return note("The curve begins when more labels come.");
  const values = points.flatMap((p) => series.map((s) => p[s.key])).filter((v) => v != null);
  const low = Math.max(0, Math.floor(10 * Math.min(...values) - 0.3) / 10);
  const high = Math.min(1, Math.ceil(10 * Math.max(...values) + 0.1) / 10);
  const [start, end] = [points[0].at, last.at];
  const x = (at) => left + ((at - start) / Math.max(1, end - start)) * (width - left - right);
  const y = (value) => top + ((high - value) / Math.max(0.1, high - low)) * (height - top - bottom);
  const step = high - low > 0.5 ? 0.2 : 0.1;
  for (let value = low; value <= high + 1e-9; value += step) {
    chart.append(
      svg("line", { class: "grid", x1: left, x2: width - right, y1: y(value), y2: y(value) }),
      svg("text", { x: left - 8, y: y(value) + 4, "text-anchor": "end" }, `${Math.round(100 * value)} %`),
    );
  }
  for (const [at, anchor] of [[start, "start"], [end, "end"]]) {
    chart.append(svg("text", { x: x(at), y: height - 6, "text-anchor": anchor }, time(at)));
  }
  for (const at of marks.filter((at) => at >= start)) {
    chart.append(
      svg("line", { class: "drift", x1: x(at), x2: x(at), y1: top, y2: height - bottom, stroke: "var(--bad)", "stroke-dasharray": "2 3" },
        svg("title", {}, `drift noticed at ${time(at)}`)),
    );
  }
  for (const s of series.toReversed()) {
    const path = points.filter((p) => p[s.key] != null)
      .map((p, i) => `${i ? "L" : "M"}${x(p.at).toFixed(1)} ${y(p[s.key]).toFixed(1)}`).join("");
    chart.append(svg("path", { d: path, fill: "none", stroke: s.colour, "stroke-width": s.width, "stroke-dasharray": s.dash ?? "none", "stroke-linejoin": "round" }));
  }
  return chart;
}

/** How often predictions of a probability were right: on the diagonal if probabilities can be trusted. */
export function reliability(bins) {
  const size = 220, left = 36, bottom = 30;
  const all = bins.reduce((sum, bin) => sum + bin.count, 0);
  const chart = frame(size + left, size + bottom, `Share of right predictions by probability, of ${all} predictions`);
  const x = (value) => left + value * size, y = (value) => (1 - value) * size;
  for (const value of [0, 0.5, 1]) {
    chart.append(
      svg("line", { class: "grid", x1: x(0), x2: x(1), y1: y(value), y2: y(value) }),
      svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, `${100 * value}`),
      svg("text", { x: x(value), y: size + 14, "text-anchor": "middle" }, `${100 * value}`),
    );
  }
  chart.append(
    svg("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--third)", "stroke-dasharray": "3 4" }),
    svg("text", { x: x(0.5), y: size + 27, "text-anchor": "middle" }, "predicted probability, %"),
  );
  for (const bin of bins) {
    const radius = 3 + 9 * Math.sqrt(bin.count / Math.max(1, all));
    chart.append(svg("circle", { cx: x(bin.confidence), cy: y(bin.accuracy), r: radius, fill: "var(--main)", "fill-opacity": 0.75 },
      svg("title", {}, `${percent(bin.confidence)} predicted, ${percent(bin.accuracy)} right, ${bin.count} rows`)));
  }
  return chart;
}

/** Columns with a name below each. */
export function columns(items, label) {
  if (!items.length) return note("No label has come after its prediction yet.");
  const width = Math.max(360, items.length * 44), height = 190, bottom = 22;
  const chart = frame(width, height, label);
  const most = Math.max(...items.map((item) => item.value));
  items.forEach((item, i) => {
    const w = width / items.length, h = (item.value / most) * (height - bottom - 18);
    chart.append(
      svg("rect", { x: i * w + 4, y: height - bottom - h, width: w - 8, height: h, rx: 3, fill: "var(--main)" }),
      svg("text", { x: (i + 0.5) * w, y: height - bottom - h - 5, "text-anchor": "middle" }, `${item.value}`),
      svg("text", { x: (i + 0.5) * w, y: height - 7, "text-anchor": "middle" }, item.name),
    );
  });
  return chart;
}
