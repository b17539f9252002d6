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
mod legend;
mod lines;
mod members;
#[cfg(feature = "png")]
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
    reliability::reliability,
    run::{accuracy_over_time, histogram},
    style::Styles,
};

#[cfg(feature = "png")]
pub(crate) use self::png::png;

use self::{chart::Chart, draw::draw};
use crate::{
    labels::Labels,
    record::Record,
    select::{Filter, Selection},
    table::Table,
};

/// What every figure of an experiment is drawn from.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The name of the figure's file.
    pub(crate) name: &'a str,
    pub(crate) records: &'a [Record],
    pub(crate) labels: &'a Labels,
    pub(crate) styles: &'a Styles,
}

/// A drawn figure.
pub(crate) struct Figure {
    pub(crate) svg: String,
    pub(crate) csv: String,
    /// A text description of the figure.
    pub(crate) description: String,
    /// The exponents of the fitted power laws.
    pub(crate) table: Option<Table>,
}

impl<'a> Context<'a> {
    /// Selects the runs of a view. Cited results are not drawn, since they have no curves or sweeps.
    fn select(self, filter: Filter<'a>) -> Selection<'a> {
        filter.select(self.records).without_cited()
    }
}

impl Figure {
    /// Draws a chart whose plotted values are `csv`.
    fn new(chart: Chart, csv: String, table: Option<Table>) -> Figure {
        Figure { svg: draw(&chart), csv, description: chart.description, table }
    }
}
