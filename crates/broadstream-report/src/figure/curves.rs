//! A metric over the samples of each stream.

use std::collections::BTreeMap;

use crate::{
    csv_text,
    error::Error,
    figure::{
        Context, Figure,
        axis::Axis,
        chart::{Chart, Key, Mark, Panel, Shape},
        legend::{legend, list},
        style::Style,
    },
    labels::Metric,
    record::Record,
    select::Filter,
    summary::Summary,
    view::{CurvesView, or_default},
};

/// The maximum number of points on a line; more would exceed its pixels.
const MOST_POINTS: usize = 400;

/// The number of markers on a line, which tell it from other lines that it crosses.
const MARKERS: usize = 5;

pub(crate) fn curves(view: &CurvesView, context: Context) -> Result<Figure, Error> {
    let Context { name, labels, styles, .. } = context;
    let key = or_default(&view.metric, "oca");
    let metric = labels.metric(key);
    let filter = Filter::new(&view.title, &view.streams, &view.methods, &view.only);
    let selection = context.select(filter);
    let curves = selection.by_stream(|runs| {
        selection.check_alike(runs)?;
        Ok(Some(joined(runs, key)).filter(|curve| !curve.is_empty()))
    })?;
    let mut panels = Vec::new();
    let mut numbers = Vec::new();
    for (stream, curves) in &curves {
        for (position, curve) in curves {
            for (sample, summary) in curve {
                let method = selection.series[*position].method.clone();
                let place = [(*stream).to_owned(), method, sample.to_string()];
                numbers.push(place.into_iter().chain(summary.cells()).collect());
            }
        }
        let style = |position: usize| styles.of(&selection.series[position]);
        panels.push(panel(labels.stream(stream), curves, style, &metric));
    }
    let legend = legend(&selection, &curves, context, Key::Line);
    let description = format!(
        "{} over the number of samples: {} panels, one per stream, with a line for each of {}.",
        metric.label,
        panels.len(),
        list(&legend)
    );
    let chart = Chart {
        name: name.to_owned(),
        title: view.title.clone(),
        description,
        x_title: "samples".to_owned(),
        y_title: metric.label.clone(),
        panels,
        legend,
        shape: Shape::Grid,
    };
    let head = ["stream", "method", "sample", "mean", "sd", "runs"];
    Ok(Figure::new(chart, csv_text::write(&head, &numbers), None))
}

/// Summarises the curves of all seeds at the samples that every seed has.
///
/// Runs that stopped at different times may share few samples. Their curves are then interpolated at
/// the samples of the shortest one, since a mean over whichever seeds have a sample would jump.
fn joined(runs: &[&Record], metric: &str) -> Vec<(u64, Summary)> {
    let curves = runs.iter().map(|run| {
        let points = run.curve.iter();
        points.filter_map(|point| Some((point.sample, point.metric(metric)?))).collect()
    });
    let curves: Vec<BTreeMap<u64, f64>> =
        curves.filter(|curve: &BTreeMap<u64, f64>| !curve.is_empty()).collect();
    let last = |curve: &&BTreeMap<u64, f64>| curve.keys().next_back().copied();
    let Some(shortest) = curves.iter().min_by_key(last) else { return Vec::new() };
    let shared: Vec<u64> = shortest
        .keys()
        .copied()
        .filter(|sample| curves.iter().all(|curve| curve.contains_key(sample)))
        .collect();
    let samples = if 2 * shared.len() >= shortest.len() {
        shared
    } else {
        shortest.keys().copied().collect()
    };
    let at = |sample: u64| Summary::of(curves.iter().filter_map(|curve| value_at(curve, sample)));
    samples.into_iter().filter_map(|sample| Some((sample, at(sample)?))).collect()
}

/// The value of a curve at a sample, linearly interpolated between its neighbours if necessary.
fn value_at(curve: &BTreeMap<u64, f64>, sample: u64) -> Option<f64> {
    let (before, low) = curve.range(..=sample).next_back()?;
    let (after, high) = curve.range(sample..).next()?;
    if before == after {
        return Some(*low);
    }
    Some(low + (high - low) * (sample - before) as f64 / (after - before) as f64)
}

/// A series, by its position, and its summary at each sample.
type Curve = (usize, Vec<(u64, Summary)>);

fn panel(
    title: String,
    curves: &[Curve],
    style: impl Fn(usize) -> Style,
    metric: &Metric,
) -> Panel {
    let (least, most) = metric.bounds;
    let within = |value: f64| value.clamp(least, most);
    let mut values = Vec::new();
    let mut last = 0;
    let (mut bands, mut lines) = (Vec::new(), Vec::new());
    // The first entries of the legend are drawn last, on top.
    for (position, curve) in curves.iter().rev() {
        let style = style(*position);
        let curve: Vec<(f64, Summary)> = thinned(curve)
            .map(|(sample, summary)| (*sample as f64, summary.scaled(metric.scale)))
            .collect();
        last = last.max(curve.last().map_or(0, |(sample, _)| *sample as u64));
        for (_, summary) in &curve {
            values.extend([summary.mean, within(summary.low()), within(summary.high())]);
        }
        if curve.iter().any(|(_, summary)| summary.sd.is_some()) {
            let points = curve
                .iter()
                .map(|(sample, summary)| (*sample, within(summary.low()), within(summary.high())))
                .collect();
            bands.push(Mark::Band { points, style });
        }
        let points: Vec<(f64, f64)> =
            curve.iter().map(|(sample, summary)| (*sample, summary.mean)).collect();
        let markers = marked(points.len(), *position, curves.len());
        lines.push(Mark::Line { points, style, markers });
    }
    Panel {
        title,
        x: Axis::from_zero(last as f64, 5),
        y: Axis::linear(&values, metric.bounds, 5),
        marks: bands.into_iter().chain(lines).collect(),
    }
}

/// Thins a curve to at most [`MOST_POINTS`] points, keeping the last one.
pub(crate) fn thinned<T>(curve: &[T]) -> impl Iterator<Item = &T> {
    let stride = curve.len().div_ceil(MOST_POINTS).max(1);
    let last = curve.len().saturating_sub(1);
    curve
        .iter()
        .enumerate()
        .filter(move |(at, _)| (last - at).is_multiple_of(stride))
        .map(|(_, p)| p)
}

/// The points of a line that have markers, evenly spread and offset from those of other lines.
pub(crate) fn marked(points: usize, line: usize, lines: usize) -> Vec<usize> {
    if points <= MARKERS + 1 {
        return (0..points).collect();
    }
    let pitch = points as f64 / MARKERS as f64;
    let shift = (line as f64 + 0.5) / lines.max(1) as f64;
    let places = (0..MARKERS).map(|marker| ((marker as f64 + shift) * pitch) as usize);
    places.map(|place| place.min(points - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::CurvePoint;

    fn run(points: &[(u64, f64)]) -> Record {
        let point = |(sample, oca): &(u64, f64)| CurvePoint {
            sample: *sample,
            values: [("oca".to_owned(), *oca)].into(),
        };
        Record { curve: points.iter().map(point).collect(), ..Record::default() }
    }

    #[test]
    fn seeds_are_joined_at_the_samples_they_share() {
        let (a, b) = (run(&[(10, 0.2), (20, 0.4), (30, 0.9)]), run(&[(10, 0.4), (20, 0.8)]));
        let joined = joined(&[&a, &b], "oca");
        let means: Vec<(u64, f64)> = joined.iter().map(|(at, s)| (*at, s.mean)).collect();
        assert_eq!(means.len(), 2);
        assert!((means[0].1 - 0.3).abs() < 1e-12 && (means[1].1 - 0.6).abs() < 1e-12, "{means:?}");
    }

    #[test]
    fn seeds_that_share_no_sample_are_interpolated() {
        let (a, b) = (run(&[(0, 0.0), (40, 0.4)]), run(&[(10, 0.3), (30, 0.5)]));
        let joined = joined(&[&a, &b], "oca");
        let means: Vec<(u64, f64)> = joined.iter().map(|(at, s)| (*at, s.mean)).collect();
        assert_eq!(means.iter().map(|(at, _)| *at).collect::<Vec<_>>(), [10, 30]);
        assert!((means[0].1 - 0.2).abs() < 1e-12 && (means[1].1 - 0.4).abs() < 1e-12, "{means:?}");
    }

    #[test]
    fn thinning_keeps_the_last_point() {
        let summary = Summary { mean: 0.5, sd: None, runs: 1 };
        let curve: Vec<(u64, Summary)> = (1..=1001).map(|sample| (sample, summary)).collect();
        let kept: Vec<u64> = thinned(&curve).map(|(sample, _)| *sample).collect();
        assert!(kept.len() <= MOST_POINTS && kept.len() > MOST_POINTS / 2, "{}", kept.len());
        assert_eq!(kept.last(), Some(&1001));
    }
}
