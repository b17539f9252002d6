//! The figures of a single run.

use crate::{
    figure::{
        axis::Axis,
        chart::{Chart, Key, Mark, Panel, Shape},
        curves::marked,
        draw::draw,
        events::event_marks,
        style::Style,
    },
    labels::Labels,
    number,
    record::CurvePoint,
};

/// The accuracy over all samples so far and over the last window, with vertical lines at events.
/// `None` without points.
pub(crate) fn accuracy_over_time(
    curve: &[CurvePoint],
    events: &[(u64, String)],
    labels: &Labels,
) -> Option<String> {
    let mut marks = Vec::new();
    let mut legend = Vec::new();
    let mut values = Vec::new();
    for (index, (key, label)) in
        [("oca", "all samples so far"), ("window_oca", "last window")].into_iter().enumerate()
    {
        let style = Style { index };
        let points: Vec<(f64, f64)> = curve
            .iter()
            .filter_map(|point| Some((point.sample as f64, 100.0 * point.metric(key)?)))
            .collect();
        if points.is_empty() {
            continue;
        }
        values.extend(points.iter().map(|(_, y)| *y));
        let markers = marked(points.len(), index, 2);
        legend.push((label.to_owned(), Key::Line(style)));
        marks.push(Mark::Line { points, style, markers });
    }
    // The cumulative line is smoother, so it is drawn on top.
    marks.reverse();
    if values.is_empty() {
        return None;
    }
    let last = curve.iter().map(|point| point.sample).max().unwrap_or(0);
    let (events, event_key) = event_marks(events, last);
    marks.splice(..0, events);
    legend.extend(event_key);
    let metric = labels.metric("oca");
    let panel = Panel {
        title: String::new(),
        x: Axis::from_zero(last as f64, 8),
        y: Axis::linear(&values, metric.bounds, 5),
        marks,
    };
    Some(draw(&Chart {
        name: "accuracy".to_owned(),
        title: "Accuracy over time".to_owned(),
        description: format!("Accuracy in percent over {} samples.", number::count(last)),
        x_title: "samples".to_owned(),
        y_title: "accuracy (%)".to_owned(),
        panels: vec![panel],
        legend,
        shape: Shape::Strip,
    }))
}

/// A histogram of the time per sample. Bins are (from, to, count), in seconds; `None` if all are
/// empty.
pub(crate) fn histogram(bins: &[(f64, f64, u64)]) -> Option<String> {
    let style = Style { index: 0 };
    let proper = |bin: &&(f64, f64, u64)| bin.0 > 0.0 && bin.1 > bin.0 && bin.1.is_finite();
    let bins: Vec<(f64, f64, u64)> = bins
        .iter()
        .filter(proper)
        .map(|(from, to, count)| (from * 1e6, to * 1e6, *count))
        .collect();
    let most = bins.iter().map(|bin| bin.2).max().filter(|most| *most > 0)?;
    let edges: Vec<f64> =
        bins.iter().filter(|bin| bin.2 > 0).flat_map(|bin| [bin.0, bin.1]).collect();
    let marks = bins
        .iter()
        .filter(|bin| bin.2 > 0)
        .map(|(from, to, count)| Mark::Bar { from: *from, to: *to, height: *count as f64, style })
        .collect();
    let panel = Panel {
        title: String::new(),
        x: Axis::logarithmic(&edges, 8),
        y: Axis::from_zero(1.06 * most as f64, 5),
        marks,
    };
    let total: u64 = bins.iter().map(|bin| bin.2).sum();
    Some(draw(&Chart {
        name: "times".to_owned(),
        title: "Time per sample".to_owned(),
        description: format!("The time per sample of {} samples.", number::count(total)),
        x_title: "time per sample (µs)".to_owned(),
        y_title: "samples".to_owned(),
        panels: vec![panel],
        legend: Vec::new(),
        shape: Shape::Strip,
    }))
}
