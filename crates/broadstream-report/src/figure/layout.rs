//! The positions of a chart's parts, in pixels. Figures are printed at about half that size.

use crate::figure::{
    chart::{Chart, Shape},
    font,
};

pub(crate) const TICK_SIZE: f64 = 11.5;
pub(crate) const CAPTION_SIZE: f64 = 10.0;
pub(crate) const TITLE_SIZE: f64 = 13.5;
pub(crate) const LABEL_SIZE: f64 = 12.5;
pub(crate) const KEY_WIDTH: f64 = 34.0;

const MARGIN: f64 = 12.0;
const LEGEND_ROW: f64 = 22.0;
const LEGEND_GAP: f64 = 22.0;

/// A rectangle in pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// The positions of a chart's parts.
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) panels: Vec<Area>,
    pub(crate) columns: usize,
    /// For each entry of the legend: its left edge, its vertical middle and its label, shortened to fit.
    pub(crate) legend: Vec<(f64, f64, String)>,
}

impl Layout {
    pub(crate) fn of(chart: &Chart) -> Layout {
        let count = chart.panels.len().max(1);
        let columns = match (chart.shape, count) {
            (Shape::Wide | Shape::Strip | Shape::Square, _) => 1,
            (Shape::Grid, 1..=3) => count,
            (Shape::Grid, 4) => 2,
            (Shape::Grid, _) => 3,
        };
        let (width, panel_height) = match (chart.shape, columns) {
            (Shape::Strip, _) => (900.0, 230.0),
            (Shape::Wide, _) => (900.0, 260.0),
            (Shape::Square, _) => (440.0, 350.0),
            (Shape::Grid, 1) => (560.0, 300.0),
            (Shape::Grid, 2) => (760.0, 220.0),
            (Shape::Grid, _) => (960.0, 190.0),
        };
        let (legend, legend_height) = legend(chart, width);
        let rows = count.div_ceil(columns);
        let titled = chart.panels.iter().any(|panel| !panel.title.is_empty());
        let above = if titled { 26.0 } else { 18.0 };
        let labels = tick_width(chart);
        let title_room = if chart.y_title.is_empty() { 0.0 } else { 20.0 };
        let left = MARGIN + title_room;
        let right = MARGIN + 6.0 + overhang(chart);
        let gap = (overhang(chart) + 8.0).max(16.0);
        // Panels share the width that margins, gaps and tick labels leave.
        let room = width - left - right - gap * (columns - 1) as f64;
        let panel_width = (room / columns as f64 - labels).max(40.0);
        let mut panels = Vec::with_capacity(count);
        let top = MARGIN + legend_height;
        let pitch = above + panel_height + 26.0;
        for position in 0..chart.panels.len() {
            let (row, column) = (position / columns, position % columns);
            panels.push(Area {
                x: left + labels + column as f64 * (panel_width + labels + gap),
                y: top + above + row as f64 * pitch,
                width: panel_width,
                height: panel_height,
            });
        }
        let x_room = if chart.x_title.is_empty() { 0.0 } else { 20.0 };
        let height = top + rows as f64 * pitch + x_room + MARGIN - 4.0;
        Layout { width, height, panels, columns, legend }
    }
}

/// The width of the widest label on a vertical axis.
fn tick_width(chart: &Chart) -> f64 {
    let labels = chart.panels.iter().flat_map(|panel| &panel.y.ticks);
    8.0 + labels.map(|(_, label)| font::width(label, TICK_SIZE, false)).fold(12.0, f64::max)
}

/// How far the last label of a horizontal axis extends beyond the panel.
fn overhang(chart: &Chart) -> f64 {
    let labels = chart.panels.iter().filter_map(|panel| {
        let (value, label) = panel.x.ticks.last()?;
        let inside = (1.0 - panel.x.place(*value)) * 180.0;
        Some(font::width(label, TICK_SIZE, false) / 2.0 - inside)
    });
    labels.fold(0.0, f64::max)
}

/// The entries of the legend in one centred row, or in columns if they need several rows, and the
/// total height.
fn legend(chart: &Chart, width: f64) -> (Vec<(f64, f64, String)>, f64) {
    let allowed = width - 2.0 * MARGIN;
    let longest = (allowed - KEY_WIDTH - 7.0).min(300.0);
    let labels =
        chart.legend.iter().map(|(label, _)| font::fitted(label, LABEL_SIZE, false, longest));
    let labels: Vec<String> = labels.collect();
    let widths: Vec<f64> = labels
        .iter()
        .map(|label| KEY_WIDTH + 7.0 + font::width(label, LABEL_SIZE, false))
        .collect();
    // The widths of columns, for a given number of them.
    let of_columns = |columns: usize| -> Vec<f64> {
        let widest = |column| widths.iter().skip(column).step_by(columns).copied();
        (0..columns).map(|column| widest(column).fold(0.0, f64::max)).collect()
    };
    let total = |widths: &[f64]| {
        widths.iter().sum::<f64>() + LEGEND_GAP * widths.len().saturating_sub(1) as f64
    };
    let columns = (1..=labels.len())
        .rev()
        .find(|columns| total(&of_columns(*columns)) <= allowed)
        .unwrap_or(1);
    let widths = of_columns(columns);
    let mut places = Vec::new();
    for (row, labels) in labels.chunks(columns).enumerate() {
        let y = MARGIN + LEGEND_ROW * (row as f64 + 0.5) - 2.0;
        let mut x = (width - total(&widths)) / 2.0;
        for (column, label) in labels.iter().enumerate() {
            places.push((x, y, label.clone()));
            x += widths[column] + LEGEND_GAP;
        }
    }
    let rows = places.len().div_ceil(columns);
    (places, if rows == 0 { 0.0 } else { LEGEND_ROW * rows as f64 + 2.0 })
}
