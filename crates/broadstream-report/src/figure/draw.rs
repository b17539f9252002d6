//! Draws a chart.

use crate::figure::{
    chart::{Chart, Key, Mark, Panel},
    font,
    layout::{Area, CAPTION_SIZE, KEY_WIDTH, LABEL_SIZE, Layout, TICK_SIZE, TITLE_SIZE},
    style::{AXIS, BACKGROUND, GRID, Hatch, INK, MUTED, Marker, Style},
    svg::{Align, Pen, Svg, TextStyle},
};

const LINE_WIDTH: f64 = 1.7;
const TREND_WIDTH: f64 = 1.2;

/// The radius of the largest disc, and the smallest radius that is still visible.
const DISC_RADIUS: f64 = 12.0;
const LEAST_RADIUS: f64 = 2.2;

pub(crate) fn draw(chart: &Chart) -> String {
    let layout = Layout::of(chart);
    let mut svg = Svg::new(&chart.name, layout.width, layout.height);
    for ((x, y, label), (_, key)) in layout.legend.iter().zip(&chart.legend) {
        draw_key(&mut svg, (*x, *y), *key);
        svg.text((x + KEY_WIDTH + 7.0, *y), label, text_style(LABEL_SIZE, INK, Align::Start));
    }
    for (position, (panel, area)) in chart.panels.iter().zip(&layout.panels).enumerate() {
        draw_panel(&mut svg, panel, *area);
        let lowest = position + layout.columns >= chart.panels.len();
        if lowest && !chart.x_title.is_empty() {
            let at = (area.x + area.width / 2.0, area.y + area.height + 34.0);
            svg.text(at, &chart.x_title, text_style(LABEL_SIZE, MUTED, Align::Middle));
        }
        if position % layout.columns == 0 && !chart.y_title.is_empty() {
            let at = (19.0, area.y + area.height / 2.0);
            let label = font::fitted(&chart.y_title, LABEL_SIZE, false, area.height + 30.0);
            let style =
                TextStyle { vertical: true, ..text_style(LABEL_SIZE, MUTED, Align::Middle) };
            svg.text(at, &label, style);
        }
    }
    if chart.panels.is_empty() {
        let at = (layout.width / 2.0, layout.height / 2.0);
        svg.text(at, "no runs to show", text_style(TITLE_SIZE, MUTED, Align::Middle));
    }
    svg.finish(&chart.title, &chart.description)
}

fn text_style(size: f64, colour: &str, align: Align) -> TextStyle<'_> {
    TextStyle { size, bold: false, colour, align, vertical: false }
}

fn draw_panel(svg: &mut Svg, panel: &Panel, area: Area) {
    let bottom = area.y + area.height;
    if !panel.title.is_empty() {
        let title = font::fitted(&panel.title, TITLE_SIZE, true, area.width);
        let style = TextStyle { bold: true, ..text_style(TITLE_SIZE, INK, Align::Start) };
        svg.text((area.x, area.y - 13.0), &title, style);
    }
    for (value, label) in &panel.y.ticks {
        let y = bottom - panel.y.place(*value) * area.height;
        if panel.y.grid {
            svg.line((area.x, y), (area.x + area.width, y), Pen::new(GRID, 1.0));
        }
        svg.text((area.x - 7.0, y), label, text_style(TICK_SIZE, MUTED, Align::End));
    }
    let shown = spaced(panel, area);
    for (value, label) in &panel.x.ticks {
        let x = area.x + panel.x.place(*value) * area.width;
        if panel.x.grid {
            svg.line((x, area.y), (x, bottom), Pen::new(GRID, 1.0));
            svg.line((x, bottom), (x, bottom + 4.0), Pen::new(AXIS, 1.0));
        }
        if shown.contains(&label) {
            svg.text((x, bottom + 15.0), label, text_style(TICK_SIZE, MUTED, Align::Middle));
        }
    }
    for mark in &panel.marks {
        draw_mark(svg, panel, area, mark);
    }
    svg.line((area.x, bottom), (area.x + area.width, bottom), Pen::new(AXIS, 1.0));
}

/// The labels of the horizontal axis that do not overlap. Labels of categories were shortened to fit
/// when the axis was built.
fn spaced(panel: &Panel, area: Area) -> Vec<&String> {
    let mut kept = Vec::new();
    let mut end = f64::NEG_INFINITY;
    for (value, label) in &panel.x.ticks {
        let middle = area.x + panel.x.place(*value) * area.width;
        let half = font::width(label, TICK_SIZE, false) / 2.0;
        if middle - half > end + 5.0 {
            kept.push(label);
            end = middle + half;
        }
    }
    kept
}

fn draw_mark(svg: &mut Svg, panel: &Panel, area: Area, mark: &Mark) {
    let at = |x: f64, y: f64| {
        (area.x + panel.x.place(x) * area.width, area.y + (1.0 - panel.y.place(y)) * area.height)
    };
    let all = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().map(|(x, y)| at(*x, *y)).collect()
    };
    match mark {
        Mark::Band { points, style } => {
            let mut outline: Vec<(f64, f64)> =
                points.iter().map(|(x, _, high)| at(*x, *high)).collect();
            outline.extend(points.iter().rev().map(|(x, low, _)| at(*x, *low)));
            svg.polygon(&outline, style.colour(), 0.16, None);
        }
        Mark::Line { points, style, markers } => {
            let points = all(points);
            let pen = Pen { dash: style.dash(), ..Pen::new(style.colour(), LINE_WIDTH) };
            svg.polyline(&points, pen);
            for index in markers {
                draw_marker(svg, points[*index], *style);
            }
        }
        Mark::Trend { points, style } => {
            let pen = Pen { dash: style.dash(), ..Pen::new(style.colour(), TREND_WIDTH) };
            svg.polyline(&all(points), pen);
        }
        Mark::Points { points, style } => {
            for point in all(points) {
                draw_marker(svg, point, *style);
            }
        }
        Mark::Disc { x, y, share, style } => {
            let radius = (DISC_RADIUS * share.sqrt()).max(LEAST_RADIUS);
            svg.circle(at(*x, *y), radius, style.colour(), Some(Pen::new(BACKGROUND, 1.0)));
        }
        Mark::ErrorBar { x, low, high, style } => {
            let (from, to) = (at(*x, *low), at(*x, *high));
            let pen = Pen::new(style.map_or(INK, Style::colour), 1.1);
            svg.line(from, to, pen);
            for (x, y) in [from, to] {
                svg.line((x - 3.0, y), (x + 3.0, y), pen);
            }
        }
        Mark::Bar { from, to, height, style } => {
            // A logarithmic axis has no zero: its bars start at its low end.
            let (left, ground) = at(*from, 0.0);
            let (right, end) = at(*to, *height);
            let (top, bottom) = (end.min(ground), end.max(ground));
            draw_bar(svg, (left, top), (right - left, bottom - top), *style);
        }
        Mark::Caption { x, above, label } => {
            let (x, y) = at(*x, *above);
            svg.text((x, y - 9.0), label, text_style(CAPTION_SIZE, MUTED, Align::Middle));
        }
        Mark::Event { x, label } => {
            let (x, _) = at(*x, panel.y.low);
            svg.line((x, area.y - 12.0), (x, area.y + area.height), event_pen());
            if !label.is_empty() {
                let end = x > area.x + 0.7 * area.width;
                let (align, shift) = if end { (Align::End, -4.0) } else { (Align::Start, 4.0) };
                let label = font::fitted(label, 10.5, false, 0.28 * area.width);
                svg.text((x + shift, area.y - 6.0), &label, text_style(10.5, INK, align));
            }
        }
    }
}

fn event_pen() -> Pen<'static> {
    Pen { dash: "3 3", ..Pen::new(INK, 1.0) }
}

fn draw_key(svg: &mut Svg, (x, y): (f64, f64), key: Key) {
    let middle = (x + KEY_WIDTH / 2.0, y);
    match key {
        Key::Line(style) => {
            let pen = Pen { dash: style.dash(), ..Pen::new(style.colour(), LINE_WIDTH) };
            svg.line((x, y), (x + KEY_WIDTH, y), pen);
            draw_marker(svg, middle, style);
        }
        Key::Points(style) => {
            draw_key(svg, (x, y), Key::Trend(style));
            draw_marker(svg, middle, style);
        }
        Key::Trend(style) => {
            let pen = Pen { dash: style.dash(), ..Pen::new(style.colour(), TREND_WIDTH) };
            svg.line((x, y), (x + KEY_WIDTH, y), pen);
        }
        Key::Event => {
            let x = x + KEY_WIDTH - 5.0;
            svg.line((x, y - 8.0), (x, y + 8.0), event_pen());
        }
        Key::Bar(style) => draw_bar(svg, (x + 12.0, y - 7.0), (22.0, 14.0), style),
    }
}

fn draw_marker(svg: &mut Svg, (x, y): (f64, f64), style: Style) {
    let colour = style.colour();
    // A rim in the background colour separates markers from the lines that they cross.
    let rim = Some(Pen::new(BACKGROUND, 1.0));
    match style.marker() {
        Marker::Circle => svg.circle((x, y), 4.0, colour, rim),
        Marker::Square => svg.rectangle((x - 3.6, y - 3.6), (7.2, 7.2), colour, rim),
        Marker::Triangle => {
            let points = [(x, y - 4.8), (x + 4.6, y + 3.4), (x - 4.6, y + 3.4)];
            svg.polygon(&points, colour, 1.0, rim);
        }
        Marker::Diamond => {
            let points = [(x, y - 5.2), (x + 4.4, y), (x, y + 5.2), (x - 4.4, y)];
            svg.polygon(&points, colour, 1.0, rim);
        }
        Marker::Cross => {
            for pen in [Pen::new(BACKGROUND, 4.0), Pen::new(colour, 2.0)] {
                svg.line((x - 3.4, y - 3.4), (x + 3.4, y + 3.4), pen);
                svg.line((x - 3.4, y + 3.4), (x + 3.4, y - 3.4), pen);
            }
        }
        Marker::Plus => {
            for pen in [Pen::new(BACKGROUND, 4.0), Pen::new(colour, 2.0)] {
                svg.line((x - 4.4, y), (x + 4.4, y), pen);
                svg.line((x, y - 4.4), (x, y + 4.4), pen);
            }
        }
    }
}

fn draw_bar(svg: &mut Svg, corner: (f64, f64), size: (f64, f64), style: Style) {
    let colour = style.colour();
    let pen = Some(Pen::new(colour, 1.1));
    if style.hatch() == Hatch::Solid {
        svg.rectangle(corner, size, colour, pen);
        return;
    }
    let stroke = |path: &str| {
        format!("<path d=\"{path}\" stroke=\"{colour}\" stroke-width=\"1.3\" fill=\"none\"/>")
    };
    let (side, lines) = match style.hatch() {
        Hatch::Rising => (6.0, stroke("M-1,1L1,-1M0,6L6,0M5,7L7,5")),
        Hatch::Falling => (6.0, stroke("M-1,5L1,7M0,0L6,6M5,-1L7,1")),
        Hatch::Crossed => (7.0, stroke("M0,0L7,7M0,7L7,0")),
        Hatch::Level => (4.0, stroke("M0,2L4,2")),
        Hatch::Solid | Hatch::Dotted => {
            (5.0, format!("<circle cx=\"2.5\" cy=\"2.5\" r=\"1.2\" fill=\"{colour}\"/>"))
        }
    };
    let tint = format!(
        "<rect width=\"{side}\" height=\"{side}\" fill=\"{BACKGROUND}\"/>\
         <rect width=\"{side}\" height=\"{side}\" fill=\"{colour}\" fill-opacity=\"0.22\"/>"
    );
    let fill = svg.pattern(&format!("hatch-{}", style.index), side, &format!("{tint}{lines}"));
    svg.rectangle(corner, size, &fill, pen);
}
