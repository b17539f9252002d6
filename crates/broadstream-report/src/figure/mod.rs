//! Figures. A chart is described in the units of its data (`chart`), laid out and drawn as SVG
//! (`layout`, `draw`, `svg`), and the SVG is converted to PNG (`png`), so that both show the same
//! picture.

mod axis;
mod bars;
mod chart;
mod curves;
mod draw;
mod events;
mod fit;
mod font;
mod layout;
mod lines;
mod members;
mod png;
mod reliability;
mod run;
mod style;
mod svg;

pub(crate) use self::{
    bars::bars,
    curves::curves,
    lines::lines,
    members::member_weights,
    png::png,
    reliability::reliability,
    run::{accuracy_over_time, histogram},
    style::Styles,
};

use crate::table::Table;

/// A drawn figure.
pub(crate) struct Figure {
    pub(crate) svg: String,
    pub(crate) csv: String,
    /// A text description of the figure.
    pub(crate) description: String,
    /// The exponents of the fitted power laws.
    pub(crate) table: Option<Table>,
}
