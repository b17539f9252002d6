//! Figures: a chart is described in the units of its data (`chart`), laid out and drawn as SVG
//! (`layout`, `draw`, `svg`), and that SVG turned into pixels (`pixels`), so that both are the same
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
#[cfg(feature = "png")]
mod pixels;
mod reliability;
mod run;
mod style;
mod svg;

pub(crate) use self::{
    bars::bars,
    curves::curves,
    lines::lines,
    members::member_weights,
    reliability::reliability,
    run::{accuracy_over_time, histogram},
    style::Styles,
};

#[cfg(feature = "png")]
pub(crate) use self::pixels::png;

use crate::table::Table;

/// A drawn figure.
pub(crate) struct Figure {
    pub(crate) svg: String,
    pub(crate) csv: String,
    /// What the figure shows, in words.
    pub(crate) description: String,
    /// The exponents of fitted power laws.
    pub(crate) table: Option<Table>,
}
