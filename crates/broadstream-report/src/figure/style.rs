//! How the methods of an experiment look: the same in each of its figures, and distinct without
//! colour.

use crate::{
    record::Record,
    select::{Series, distinct},
};

/// The colours of text, axes and ground. Pages replace them in dark mode by these very names.
pub(crate) const INK: &str = "#1f2328";
pub(crate) const MUTED: &str = "#59636e";
pub(crate) const GRID: &str = "#e4e7eb";
pub(crate) const AXIS: &str = "#8c959f";
pub(crate) const GROUND: &str = "#ffffff";

/// Okabe and Ito's colours for every kind of colour vision, without the yellow, which paper hides.
const COLOURS: [&str; 7] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6b6f76"];

const DASHES: [&str; 5] = ["", "7 3", "2 2.6", "9 3 2 3", "4.5 2"];

/// The form of the points on a line.
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

/// How bars are filled, so that they differ in print.
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

/// The look of one method. The cycles have different lengths: looks repeat after 210 methods.
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

/// The looks of all methods, in their order of appearance among the records.
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
