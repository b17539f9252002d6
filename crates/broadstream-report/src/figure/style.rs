//! The styles of an experiment's methods: the same in all its figures, and distinguishable without
//! colour.

use crate::{
    record::Record,
    select::{Series, distinct},
};

/// The colours of text, axes and background. The pages' style sheet replaces exactly these values in
/// dark mode.
pub(crate) const INK: &str = "#1f2328";
pub(crate) const MUTED: &str = "#59636e";
pub(crate) const GRID: &str = "#e4e7eb";
pub(crate) const AXIS: &str = "#8c959f";
pub(crate) const BACKGROUND: &str = "#ffffff";

/// Okabe and Ito's colours for all kinds of colour vision, without the yellow, which is hard to see on
/// paper.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6f76"];

const DASHES: [&str; 5] = ["", "7 3", "2 2.6", "9 3 2 3", "4.5 2"];

/// The shape of the markers on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Marker {
    Circle,
    Square,
    Triangle,
    Diamond,
    Cross,
    Plus,
}

const MARKERS: [Marker; 6] = [
    Marker::Circle,
    Marker::Square,
    Marker::Triangle,
    Marker::Diamond,
    Marker::Cross,
    Marker::Plus,
];

/// The hatching of bars, so that they differ in black and white.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hatch {
    Solid,
    Rising,
    Falling,
    Crossed,
    Level,
    Dotted,
}

const HATCHES: [Hatch; 6] =
    [Hatch::Solid, Hatch::Rising, Hatch::Falling, Hatch::Level, Hatch::Crossed, Hatch::Dotted];

/// The style of one method. The cycles have different lengths, so that styles repeat only after 210
/// methods.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Style {
    pub(crate) index: usize,
}

impl Style {
    pub(crate) fn colour(self) -> &'static str {
        COLOURS[self.index % COLOURS.len()]
    }

    pub(crate) fn dash(self) -> &'static str {
        DASHES[self.index % DASHES.len()]
    }

    pub(crate) fn marker(self) -> Marker {
        MARKERS[self.index % MARKERS.len()]
    }

    pub(crate) fn hatch(self) -> Hatch {
        HATCHES[self.index % HATCHES.len()]
    }
}

/// The styles of all methods, in the order of the records.
pub(crate) struct Styles(Vec<Series>);

impl Styles {
    pub(crate) fn new(records: &[Record]) -> Styles {
        let own = records.iter().filter(|record| !record.cited);
        Styles(distinct(own.map(|record| Series { method: record.method.clone(), cited: false })))
    }

    pub(crate) fn of(&self, series: &Series) -> Style {
        Style { index: self.0.iter().position(|known| known == series).unwrap_or(self.0.len()) }
    }
}
