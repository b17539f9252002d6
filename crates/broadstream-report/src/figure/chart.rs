//! A chart in the units of its data, before it has a size.

use crate::figure::{axis::Axis, style::Style};

/// Panels under one legend.
pub(crate) struct Chart {
    /// Names the file, and keeps ids apart on a page.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) x_title: String,
    pub(crate) y_title: String,
    pub(crate) panels: Vec<Panel>,
    pub(crate) legend: Vec<(String, Key)>,
    pub(crate) shape: Shape,
}

/// How large panels are, and how many stand side by side.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Two or three beside each other.
    Grid,
    /// Each as wide as the figure.
    Wide,
    /// One long low panel.
    Strip,
    /// One panel, about as high as wide.
    Square,
}

/// What stands before a label of the legend.
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

/// What is drawn in a panel, in this order.
pub(crate) enum Mark {
    /// An area between two lines: (x, low, high).
    Band { points: Vec<(f64, f64, f64)>, style: Style },
    /// A line, with markers at some of its points.
    Line { points: Vec<(f64, f64)>, style: Style, markers: Vec<usize> },
    /// A thin line without markers.
    Trend { points: Vec<(f64, f64)>, style: Style },
    /// Points alone.
    Points { points: Vec<(f64, f64)>, style: Style },
    /// A disc whose area is that share of the largest one's.
    Disc { x: f64, y: f64, share: f64, style: Style },
    /// A vertical whisker at x from low to high,
    /// without a style in the colour of text.
    Whisker { x: f64, low: f64, high: f64, style: Option<Style> },
    /// A bar from the ground up, between two places on the x axis.
    Bar { from: f64, to: f64, height: f64, style: Style },
    /// A small text at x, above a height.
    Caption { x: f64, above: f64, label: String },
    /// A vertical line through the panel.
    Event { x: f64, label: String },
}
