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
    /// The heading of the labels of rows.
    pub(crate) corner: String,
    /// Headings over several columns, with how many; empty if there are none.
    pub(crate) groups: Vec<(String, usize)>,
    pub(crate) columns: Vec<Heading>,
    pub(crate) rows: Vec<Row>,
    /// What is shown and how it is marked, in one line.
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
    /// As measured: fractions and seconds.
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

/// What stands where a method was not run on a stream.
pub(crate) const MISSING: &str = "–";
