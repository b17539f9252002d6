//! A table of results, built once and printed as Markdown, LaTeX, CSV and HTML.

mod build;
mod csv;
mod latex;
mod markdown;
mod rank;

use serde::Serialize;

pub(crate) use build::build;

/// A table ready to print: labels are not yet escaped.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Table {
    /// The heading of the column of row labels.
    pub(crate) corner: String,
    /// Headings that span several columns, with the number of columns; empty if there are none.
    pub(crate) groups: Vec<(String, usize)>,
    pub(crate) columns: Vec<Heading>,
    pub(crate) rows: Vec<Row>,
    /// One line that explains the values and the ranks.
    pub(crate) legend: String,
    /// Notes below the table, each with its mark.
    pub(crate) notes: Vec<(String, String)>,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Heading {
    pub(crate) label: String,
    pub(crate) cited: bool,
    /// The key of a stream, a method or a parameter's value; empty for a metric alone.
    pub(crate) key: String,
    pub(crate) metric: String,
}

#[derive(Clone, Debug, Serialize)]
pub(crate) struct Row {
    pub(crate) label: String,
    pub(crate) key: String,
    pub(crate) cited: bool,
    pub(crate) cells: Vec<Option<Cell>>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Cell {
    pub(crate) mean: String,
    pub(crate) sd: Option<String>,
    pub(crate) rank: Rank,
    pub(crate) stopped: bool,
    /// The mean as measured: a fraction or seconds.
    pub(crate) raw_mean: f64,
    pub(crate) raw_sd: Option<f64>,
    pub(crate) runs: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rank {
    Best,
    Second,
    #[default]
    Other,
}

/// Printed where a method was not run on a stream.
pub(crate) const MISSING: &str = "–";
