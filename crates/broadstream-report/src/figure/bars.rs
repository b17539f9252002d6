//! A metric as bars, grouped by stream.

use crate::{
    csv_text,
    error::Error,
    figure::{
        Context, Figure,
        axis::Axis,
        chart::{Chart, Key, Mark, Panel, Shape},
        font,
        layout::{CAPTION_SIZE, TICK_SIZE},
        legend::{legend, list},
        style::Style,
    },
    number,
    select::Filter,
    summary::Summary,
    view::{BarsView, or_default},
};

/// The approximate width of a panel, for decisions before the layout is known.
const PANEL_WIDTH: f64 = 800.0;

/// Bars narrower than this cannot show their hatching.
const NARROWEST_BAR: f64 = 9.0;

/// The bars of one stream.
struct Group {
    label: String,
    bars: Vec<(usize, Style, Summary)>,
}

pub(crate) fn bars(view: &BarsView, context: Context) -> Result<Figure, Error> {
    let Context { name, labels, styles, .. } = context;
    let key = or_default(&view.metric, "update_time");
    let metric = labels.metric(key);
    let filter = Filter::new(&view.title, &view.streams, &view.methods, &view.only);
    let selection = context.select(filter);
    let summaries = selection.by_stream(|runs| selection.summary(runs, key))?;
    let mut groups = Vec::new();
    let mut numbers = Vec::new();
    for (stream, summaries) in &summaries {
        let mut bars = Vec::new();
        for (position, summary) in summaries {
            let series = &selection.series[*position];
            let place = [(*stream).to_owned(), series.method.clone()];
            numbers.push(place.into_iter().chain(summary.cells()).collect());
            bars.push((*position, styles.of(series), summary.scaled(metric.scale)));
        }
        groups.push(Group { label: labels.stream(stream), bars });
    }
    let legend = legend(&selection, &summaries, context, Key::Bar);
    let description = format!(
        "Bars of {} for each of {} on {} streams.",
        metric.label,
        list(&legend),
        groups.len()
    );
    let chart = Chart {
        name: name.to_owned(),
        title: view.title.clone(),
        description,
        x_title: String::new(),
        y_title: metric.label.clone(),
        panels: panels(&groups, selection.series.len(), view.log),
        legend,
        shape: Shape::Wide,
    };
    let head = ["stream", "method", "mean", "sd", "runs"];
    Ok(Figure::new(chart, csv_text::write(&head, &numbers), None))
}

/// As many panels as the groups need, all with the same vertical axis.
fn panels(groups: &[Group], methods: usize, log: bool) -> Vec<Panel> {
    let values: Vec<f64> = groups
        .iter()
        .flat_map(|group| &group.bars)
        .flat_map(|(_, _, summary)| {
            [summary.mean, if summary.mean < 0.0 { summary.low() } else { summary.high() }]
        })
        .collect();
    let y = if log {
        Axis::logarithmic_for_bars(&values, 6)
    } else if values.iter().all(|value| *value >= 0.0) {
        let greatest = values.iter().copied().fold(0.0, f64::max);
        Axis::from_zero(1.12 * greatest, 6)
    } else {
        let with_zero: Vec<f64> = values.iter().copied().chain([0.0]).collect();
        Axis::linear(&with_zero, (f64::NEG_INFINITY, f64::INFINITY), 6)
    };
    let group_width = (NARROWEST_BAR * (methods as f64 + 1.5)).max(70.0);
    let per_row = ((PANEL_WIDTH / group_width) as usize).max(1);
    let rows = groups.len().div_ceil(per_row).max(1);
    let per_row = groups.len().div_ceil(rows).max(1);
    groups
        .chunks(per_row)
        .map(|groups| Panel {
            title: String::new(),
            x: categories(groups, per_row),
            y: y.clone(),
            marks: marks(groups, methods, per_row),
        })
        .collect()
}

fn categories(groups: &[Group], per_row: usize) -> Axis {
    let room = PANEL_WIDTH / per_row as f64 - 8.0;
    let ticks = groups
        .iter()
        .enumerate()
        .map(|(place, group)| {
            (place as f64 + 0.5, font::fitted(&group.label, TICK_SIZE, false, room))
        })
        .collect();
    Axis { low: 0.0, high: per_row as f64, log: false, ticks, grid: false }
}

fn marks(groups: &[Group], methods: usize, per_row: usize) -> Vec<Mark> {
    let (mut bars, mut error_bars, mut captions) = (Vec::new(), Vec::new(), Vec::new());
    // The bars of a single group or method should not fill the whole panel.
    let pixels = PANEL_WIDTH / per_row as f64;
    let widest = 64.0 / pixels;
    let slot = (0.82 / methods.max(1) as f64).min(widest);
    for (place, group) in groups.iter().enumerate() {
        let middle = place as f64 + 0.5;
        for (position, style, summary) in &group.bars {
            let offset = (*position as f64 - (methods as f64 - 1.0) / 2.0) * slot;
            let (from, to) = (middle + offset - 0.44 * slot, middle + offset + 0.44 * slot);
            let spread = summary.sd.filter(|sd| *sd > 0.0);
            bars.push(Mark::Bar { from, to, height: summary.mean, style: *style });
            let at = middle + offset;
            let label = number::significant(summary.mean);
            captions.push(Mark::Caption { x: at, above: summary.high(), label });
            if spread.is_some() {
                let (low, high) = (summary.low(), summary.high());
                error_bars.push(Mark::ErrorBar { x: at, low, high, style: None });
            }
        }
    }
    // Either all bars have captions or none do; bars of negative values have none.
    let fits = |mark: &Mark| match mark {
        Mark::Caption { label, above, .. } => {
            *above >= 0.0 && font::width(label, CAPTION_SIZE, false) < slot * pixels
        }
        _ => true,
    };
    if !captions.iter().all(fits) {
        captions.clear();
    }
    bars.into_iter().chain(error_bars).chain(captions).collect()
}
