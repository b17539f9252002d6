//! The description of a chart in the units of its data, before layout.

use crate::figure::{axis::Axis, style::Style};

/// Panels with one shared legend.
pub(crate) struct Chart {
    /// The name of the file, and the prefix that makes ids unique on a page.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) x_title: String,
    pub(crate) y_title: String,
    pub(crate) panels: Vec<Panel>,
    pub(crate) legend: Vec<(String, Key)>,
    pub(crate) shape: Shape,
}

/// The size of the panels, and how many are placed side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Two or three side by side.
    Grid,
    /// Each as wide as the figure.
    Wide,
    /// One wide, low panel.
    Strip,
    /// One panel, about as high as it is wide.
    Square,
}

/// The symbol before a label of the legend.
#[derive(Clone, Copy)]
pub(crate) enum Key {
    Line(Style),
    Bar(Style),
    /// Points with a fitted line.
    Points(Style),
    /// A thin line without markers.
    Trend(Style),
    /// The vertical line of an event.
    Event,
}

pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
}

/// An element of a panel. Elements are drawn in the order of the panel's list.
pub(crate) enum Mark {
    /// An area between two lines: (x, low, high).
    Band { points: Vec<(f64, f64, f64)>, style: Style },
    /// A line, with markers at some of its points.
    Line { points: Vec<(f64, f64)>, style: Style, markers: Vec<usize> },
    /// A thin line without markers.
    Trend { points: Vec<(f64, f64)>, style: Style },
    /// Points alone.
    Points { points: Vec<(f64, f64)>, style: Style },
    /// A disc whose area is `share` of the largest disc's.
    Disc { x: f64, y: f64, share: f64, style: Style },
    /// A vertical error bar at x from low to high; without a style, in the colour of text.
    ErrorBar { x: f64, low: f64, high: f64, style: Option<Style> },
    /// A bar from zero to a height, between two positions on the x axis.
    Bar { from: f64, to: f64, height: f64, style: Style },
    /// A small text at x, above a height.
    Caption { x: f64, above: f64, label: String },
    /// A vertical line through the panel.
    Event { x: f64, label: String },
}
