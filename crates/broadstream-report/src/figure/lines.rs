//! A metric against a parameter that a sweep varies.

use crate::{
    csv_text,
    error::Error,
    figure::{
        Context, Figure, Styles,
        axis::{Axis, superscript},
        chart::{Chart, Key, Mark, Panel, Shape},
        fit::PowerLaw,
        legend::list,
        style::Style,
    },
    labels::{Labels, Metric},
    record::Record,
    select::{Filter, Selection, Series, distinct},
    summary::Summary,
    table::{Cell, Heading, Row, Table},
    view::{LinesView, or_default},
};

/// One method on one stream: the metric at each value of the parameter, in the shown unit.
struct Sweep {
    stream: String,
    series: Series,
    points: Vec<(f64, Summary)>,
    law: Option<PowerLaw>,
}

pub(crate) fn lines(view: &LinesView, context: Context) -> Result<Figure, Error> {
    let Context { name, labels, styles, .. } = context;
    if view.x.is_empty() {
        let rule = "the name of a parameter";
        let value = String::new();
        return Err(Error::View { view: view.title.clone(), option: "x", rule, value });
    }
    let key = or_default(&view.metric, "oca");
    let metric = labels.metric(key);
    let filter = Filter::new(&view.title, &view.streams, &view.methods, &view.only);
    let selection = context.select(filter);
    let sweeps = sweeps(view, &selection, key, metric.scale)?;
    let streams = distinct(sweeps.iter().map(|sweep| sweep.stream.clone()));
    let panels = streams.iter().map(|stream| {
        let of_stream: Vec<&Sweep> =
            sweeps.iter().filter(|sweep| sweep.stream == *stream).collect();
        panel(view, labels.stream(stream), &of_stream, &metric, styles)
    });
    let panels: Vec<Panel> = panels.collect();
    let series =
        selection.series.iter().filter(|series| sweeps.iter().any(|s| s.series == **series));
    let legend: Vec<(String, Key)> =
        series.map(|series| legend_entry(view, series, &sweeps, labels, styles)).collect();
    let x_title = labels.parameter(&view.x);
    let description = format!(
        "{} against {x_title}: {} panels, one per stream, with a line for each of {}.",
        metric.label,
        panels.len(),
        list(&legend)
    );
    let chart = Chart {
        name: name.to_owned(),
        title: view.title.clone(),
        description,
        x_title,
        y_title: metric.label.clone(),
        panels,
        legend,
        shape: Shape::Grid,
    };
    let table = view.fit.then(|| exponents(&streams, &selection, &sweeps, labels));
    Ok(Figure::new(chart, csv(&view.x, &sweeps, metric.scale), table))
}

fn sweeps(
    view: &LinesView,
    selection: &Selection,
    metric: &str,
    scale: f64,
) -> Result<Vec<Sweep>, Error> {
    let values = selection.values_of(&view.x);
    let mut sweeps = Vec::new();
    for stream in &selection.streams {
        for series in &selection.series {
            let runs = selection.of(stream, series);
            let mut points = Vec::new();
            for value in &values {
                let here: Vec<&Record> = runs
                    .iter()
                    .filter(|run| run.parameters.get(&view.x) == Some(value))
                    .copied()
                    .collect();
                if let Some(summary) = selection.summary(&here, metric)? {
                    points.push((*value, summary.scaled(scale)));
                }
            }
            if !points.is_empty() {
                let means: Vec<(f64, f64)> = points.iter().map(|(x, s)| (*x, s.mean)).collect();
                let law = if view.fit { PowerLaw::fit(&means) } else { None };
                let (stream, series) = (stream.clone(), series.clone());
                sweeps.push(Sweep { stream, series, points, law });
            }
        }
    }
    Ok(sweeps)
}

fn panel(
    view: &LinesView,
    title: String,
    sweeps: &[&Sweep],
    metric: &Metric,
    styles: &Styles,
) -> Panel {
    let (least, most) = metric.bounds;
    let within = |value: f64| value.clamp(least, most);
    let mut xs: Vec<f64> =
        sweeps.iter().flat_map(|sweep| sweep.points.iter().map(|(x, _)| *x)).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    let summaries = || sweeps.iter().flat_map(|sweep| sweep.points.iter().map(|(_, s)| *s));
    // The lower end of an error bar may be below zero, which a logarithmic axis cannot show.
    let ys: Vec<f64> = summaries()
        .flat_map(|summary| {
            let low = if view.log_y { summary.mean } else { within(summary.low()) };
            [low, summary.mean, within(summary.high())]
        })
        .collect();
    let x = if view.log_x {
        Axis::logarithmic(&xs, 5)
    } else {
        Axis::linear(&xs, (f64::NEG_INFINITY, f64::INFINITY), 5)
    };
    let x = x.with_ticks_at(&xs, 6);
    let y =
        if view.log_y { Axis::logarithmic(&ys, 6) } else { Axis::linear(&ys, metric.bounds, 5) };
    let mut marks = Vec::new();
    for sweep in sweeps.iter().rev() {
        let style = styles.of(&sweep.series);
        for (x, summary) in &sweep.points {
            if summary.sd.is_some_and(|sd| sd > 0.0) {
                let (low, high) = (within(summary.low()), within(summary.high()));
                marks.push(Mark::ErrorBar { x: *x, low, high, style: Some(style) });
            }
        }
        let points: Vec<(f64, f64)> = sweep.points.iter().map(|(x, s)| (*x, s.mean)).collect();
        marks.extend(line(&points, sweep.law, style));
    }
    Panel { title, x, y, marks }
}

/// A line through the points, or the points with the curve of their power law.
fn line(points: &[(f64, f64)], law: Option<PowerLaw>, style: Style) -> Vec<Mark> {
    let (Some(law), Some((first, _)), Some((last, _))) = (law, points.first(), points.last())
    else {
        let markers = (0..points.len()).collect();
        return vec![Mark::Line { points: points.to_vec(), style, markers }];
    };
    // On linear axes a power law is a curve, drawn as many short segments.
    let steps = 48;
    let trend = (0..=steps)
        .map(|step| first + (last - first) * f64::from(step) / f64::from(steps))
        .map(|x| (x, law.at(x)))
        .collect();
    let points = points.to_vec();
    vec![Mark::Trend { points: trend, style }, Mark::Points { points, style }]
}

fn legend_entry(
    view: &LinesView,
    series: &Series,
    sweeps: &[Sweep],
    labels: &Labels,
    styles: &Styles,
) -> (String, Key) {
    let label = labels.method(&series.method);
    let style = styles.of(series);
    let laws = sweeps.iter().filter(|sweep| sweep.series == *series).filter_map(|s| s.law);
    let mut exponents: Vec<f64> = laws.map(|law| law.exponent).collect();
    exponents.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (exponents.first(), exponents.last()) else {
        return (label, if view.fit { Key::Points(style) } else { Key::Line(style) });
    };
    let (least, most) = (format!("{least:.2}"), format!("{most:.2}"));
    let text = if least == most {
        // Unicode has no superscript point; the middle dot looks like one.
        let exponent: String =
            least.chars().map(superscript).map(|c| if c == '.' { '·' } else { c }).collect();
        format!("{label} ~ x{exponent}")
    } else {
        format!("{label} ~ xᵏ, k = {least} to {most}").replace('-', "−")
    };
    (text, Key::Points(style))
}

fn csv(x: &str, sweeps: &[Sweep], scale: f64) -> String {
    let mut numbers = Vec::new();
    for sweep in sweeps {
        for (value, summary) in &sweep.points {
            let summary = summary.scaled(1.0 / scale);
            let (stream, method) = (sweep.stream.clone(), sweep.series.method.clone());
            let place = [stream, method, value.to_string()];
            numbers.push(place.into_iter().chain(summary.cells()).collect());
        }
    }
    csv_text::write(&["stream", "method", x, "mean", "sd", "runs"], &numbers)
}

/// The exponents as a table with a row per method and a column per stream.
fn exponents(
    streams: &[String],
    selection: &Selection,
    sweeps: &[Sweep],
    labels: &Labels,
) -> Table {
    let cell = |series: &Series, stream: &String| {
        let sweep = sweeps.iter().find(|s| s.stream == *stream && s.series == *series)?;
        let law = sweep.law?;
        Some(Cell {
            mean: format!("{:.2} (R² {:.3})", law.exponent, law.r_squared),
            raw_mean: law.exponent,
            runs: sweep.points.len(),
            ..Cell::default()
        })
    };
    let columns = streams.iter().map(|stream| Heading {
        label: labels.stream(stream),
        cited: false,
        key: stream.clone(),
        metric: "exponent".to_owned(),
    });
    let rows = selection.series.iter().map(|series| Row {
        label: labels.method(&series.method),
        key: series.method.clone(),
        cited: false,
        cells: streams.iter().map(|stream| cell(series, stream)).collect(),
    });
    Table {
        corner: "Method".to_owned(),
        groups: Vec::new(),
        columns: columns.collect(),
        rows: rows.filter(|row| row.cells.iter().any(Option::is_some)).collect(),
        legend: "Exponents of power laws fitted by least squares on the logarithms.".to_owned(),
        notes: Vec::new(),
    }
}
