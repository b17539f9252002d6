// The live page: asks the server how a model is doing, and shows it.

import { columns, lines, percent, reliability } from "/charts.js";

const $ = (id) => document.getElementById(id);
const SERIES = [
  { key: "accuracy", name: "accuracy", colour: "var(--main)", width: 2.5 },
  { key: "estimated", name: "estimated, without labels", colour: "var(--second)", width: 1.8, dash: "5 4" },
  { key: "no_change", name: "no change", colour: "var(--third)", width: 1.3 },
  { key: "majority", name: "most frequent label", colour: "var(--third)", width: 1.3, dash: "2 3" },
];
/** The estimate and the truth differ by this much: the model is not what it thinks it is. */
const DIVERGES = 0.08;

let token = sessionStorage.getItem("token");
let shown = null; // the name of the model
let watching = null; // what ends the stream of its events
let fields = ""; // the columns of the form

/** An element with text or children. */
function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

async function ask(path, options = {}) {
  const headers = { ...options.headers, ...(token && { authorization: `Bearer ${token}` }) };
  const response = await fetch(path, { ...options, headers });
  if (response.status === 401) {
    await requireToken();
    return ask(path, options);
  }
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw new Error(problem.detail ?? `${response.status}`);
  }
  return response;
}

let asking = null;
function requireToken() {
  asking ??= new Promise((resolve) => {
    const dialog = $("token");
    dialog.addEventListener("close", () => {
      token = $("token-input").value.trim();
      sessionStorage.setItem("token", token);
      asking = null;
      resolve();
    }, { once: true });
    dialog.showModal();
  });
  return asking;
}

function connection(state, text) {
  $("connection").className = state;
  $("connection").textContent = text;
}

const count = (n) => n.toLocaleString("en").replaceAll(",", "\u202f");
/** A number of two digits, without an exponent. */
const short = (value) => (value >= 10 ? count(Math.round(value)) : `${+value.toPrecision(2)}`);
function seconds(s) {
  if (s == null) return "–";
  if (s < 0.001) return `${Math.round(s * 1e6)} µs`;
  if (s < 1) return `${+(s * 1e3).toPrecision(2)} ms`;
  if (s < 60) return `${s} s`;
  return s < 3600 ? `${s / 60} min` : s < 86400 ? `${s / 3600} h` : `${s / 86400} d`;
}

function tile(value, name) {
  return element("div", { className: "tile" }, element("b", { textContent: value }), element("span", { textContent: name }));
}

function table(head, rows) {
  const cell = (kind, value) => {
    const { text, className = "" } = typeof value === "object" ? value : { text: value };
    return element(kind, { textContent: text, className });
  };
  const row = (kind, values) => element("tr", {}, ...values.map((value) => cell(kind, value)));
  return element("table", {}, element("thead", {}, row("th", head)), element("tbody", {}, ...rows.map((values) => row("td", values))));
}
const number = (text) => ({ text, className: "number" });

let rates = null;
function show(live) {
  const { model } = live;
  const now = { at: performance.now(), predicted: live.rows_predicted, learned: model.rows_learned };
  const before = rates ?? now;
  const per = (key) => (now.at > before.at ? Math.max(0, (1e3 * (now[key] - before[key])) / (now.at - before.at)) : 0);
  $("tiles").replaceChildren(
    tile(percent(model.accuracy), `of the last ${count(Math.min(live.window, live.labels_seen))} labelled rows`),
    tile(percent(live.estimated_accuracy), "estimated, without labels"),
    tile(per("predicted").toFixed(0), "rows predicted a second"),
    tile(per("learned").toFixed(0), "rows learned a second"),
    tile(count(model.rows_learned), "rows learned"),
    tile(count(model.pending), "wait for their label"),
    tile(`${seconds(live.predict_seconds?.[0])} · ${seconds(live.predict_seconds?.[1])}`, "predict, median · p99"),
    tile(`${count(live.drifts.length)} · ${count(live.restarts)}`, "drifts · restarts"),
    tile(live.leverage ? live.leverage.map(short).join(" · ") : "–", "leverage, p50 · p90 · p99"),
    tile(`${count(model.lag)}`, "rows behind"),
  );
  rates = now;
  const legend = element("div", { className: "legend" }, ...SERIES.map((s) => {
    const mark = element("i");
    mark.style.borderTopColor = s.colour;
    mark.style.borderTopStyle = s.dash ? "dashed" : "solid";
    return element("span", {}, mark, s.name);
  }));
  $("accuracy").replaceChildren(lines(live.curve, SERIES, live.drifts, Math.max(320, $("accuracy").clientWidth || 900)), legend);
  const gap = live.estimated_accuracy != null && model.accuracy != null ? live.estimated_accuracy - model.accuracy : 0;
  const diverges = Math.abs(gap) > DIVERGES;
  $("divergence").classList.toggle("warn", diverges);
  $("divergence").textContent = diverges
    ? `The model expects ${percent(live.estimated_accuracy)} and reaches ${percent(model.accuracy)}: it has not caught up with what changed.`
    : "Dotted red lines are drifts: rises of the error. The estimate is what the model expects of its own predictions.";
  $("reliability").replaceChildren(reliability(live.reliability));
  const labels = live.confusion_labels;
  const total = Math.max(1, ...live.confusion.flat());
  const confusion = table(["truth ↓ predicted →", ...labels.map((l) => number(l))], live.confusion.map((row, i) => [labels[i], ...row.map((n) => number(count(n)))]));
  confusion.querySelectorAll("tbody tr").forEach((row, i) => row.querySelectorAll("td.number").forEach((cell, j) => {
    cell.style.background = `rgb(var(--heat) / ${0.5 * (live.confusion[i][j] / total)})`;
  }));
  $("confusion").replaceChildren(labels.length ? confusion : element("p", { className: "note", textContent: "no labels yet" }));
  const members = live.members.toSorted((a, b) => b.weight - a.weight).slice(0, 10);
  $("members").replaceChildren(...members.map((member) => {
    const bar = element("i");
    bar.style.width = `${100 * member.weight}%`;
    const name = member.features == null || member.name.includes("features") ? member.name : `${member.name} · ${count(member.features)} features`;
    return element("div", { className: `bar${member.rests ? " rests" : ""}`, title: member.rests ? "rests" : "" },
      element("span", { textContent: name }), element("span", {}, bar), element("span", { textContent: percent(member.weight) }));
  }));
  const shift = (value) => ({ text: `${value >= 0 ? "+" : ""}${value.toFixed(2)} σ`, className: `number${Math.abs(value) > 1 ? " wrong" : ""}` });
  $("inputs").replaceChildren(table(["input", number("mean"), number("lately"), number("shift"), number("missing"), number("lately")],
    live.inputs.map((i) => [i.name, number(i.mean.toPrecision(4)), number(i.recent_mean.toPrecision(4)), shift(i.shift), number(percent(i.missing)), number(percent(i.recent_missing))])));
  $("delays").replaceChildren(columns(live.label_delays.map((b) => ({ name: `≤ ${seconds(b.up_to)}`, value: b.count })), "Number of labels by their delay"));
  $("recent").replaceChildren(table(["time", "predicted", number("probability"), "label", "", number("leverage")], live.recent.map((row) => [
    new Date(row.at).toLocaleTimeString(), row.predicted ?? "–", number(percent(row.probability)), row.truth ?? "not known yet",
    row.truth == null ? "" : row.truth === row.predicted ? { text: "✓ right", className: "right" } : { text: "✗ wrong", className: "wrong" },
    number(row.leverage == null ? "" : short(row.leverage)),
  ])));
}

/** The events of a model, until it is not watched any more. `EventSource` could not send a token. */
async function watch(name) {
  watching?.abort();
  const own = (watching = new AbortController());
  rates = null;
  while (watching === own) {
    try {
      const response = await ask(`/v1/models/${name}/events`, { signal: own.signal });
      connection("on", "live");
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        const events = text.split("\n\n");
        text = events.pop();
        const data = events.flatMap((event) => event.split("\n")).filter((line) => line.startsWith("data:"));
        if (data.length && !document.hidden) show(JSON.parse(data.at(-1).slice(5)));
      }
    } catch (error) {
      if (own.signal.aborted) return;
      connection("off", `not connected: ${error.message}`);
    }
    connection("off", "not connected");
    await new Promise((resolve) => setTimeout(resolve, 2000));
    if (watching === own) await list();
  }
}

/** The form to try a prediction by hand. */
async function form(name) {
  const model = await (await ask(`/v1/models/${name}`)).json();
  const columns = model.columns.filter((column) => column.kind !== "left-out").slice(0, 24);
  const key = JSON.stringify([name, columns]);
  if (key === fields) return;
  fields = key;
  $("fields").replaceChildren(...columns.map((column) =>
    element("label", {}, column.name, element("input", { name: column.name, placeholder: column.kind, autocomplete: "off" }))));
}

$("try").addEventListener("submit", async (event) => {
  event.preventDefault();
  const row = {};
  for (const input of $("fields").querySelectorAll("input")) {
    const value = input.value.trim();
    if (value !== "") row[input.name] = Number.isNaN(Number(value)) ? value : Number(value);
  }
  try {
    const response = await ask(`/v1/models/${shown}/predict?track=false&reasons=5`, {
      method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ rows: [row] }),
    });
    const [prediction] = (await response.json()).predictions;
    const reasons = prediction.reasons.map((r) => [r.column, number(`${r.change >= 0 ? "+" : ""}${(100 * r.change).toFixed(1)} %`)]);
    $("answer").replaceChildren(
      element("p", {}, element("b", { textContent: prediction.label ?? "nothing learned yet" }), ` with ${percent(Math.max(0, ...Object.values(prediction.probabilities)))}`),
      ...(reasons.length ? [table(["column", number("speaks for it by")], reasons)] : []),
    );
  } catch (error) {
    $("answer").replaceChildren(element("p", { className: "note warn", textContent: error.message }));
  }
});

async function list() {
  try {
    const { models } = await (await ask("/v1/models")).json();
    $("empty").hidden = models.length > 0;
    $("live").hidden = models.length === 0;
    $("origin").textContent = location.origin;
    const wanted = decodeURIComponent(location.hash.slice(1));
    const chosen = models.find((model) => model.name === wanted) ?? models[0];
    $("models").replaceChildren(...models.map((model) => {
      const link = element("a", { href: `#${model.name}`, textContent: model.name });
      if (model === chosen) link.setAttribute("aria-current", "page");
      return link;
    }));
    if (!chosen) return connection("on", "live");
    document.title = `${chosen.name} · broadstream`;
    if (chosen.name !== shown) {
      shown = chosen.name;
      watch(shown);
    }
    await form(shown);
  } catch (error) {
    connection("off", `not connected: ${error.message}`);
  }
}

addEventListener("hashchange", list);
setInterval(list, 5000);
list();
