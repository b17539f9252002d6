//! The results of a run: a table for people ([`table`]), a JSON object for programs ([`json`]), and a page
//! with figures ([`page`]).

mod json;
mod page;
mod table;

use std::io::{self, Write};

use anyhow::Result;
use broadstream::{Evaluation, OnlineBls, Schema};

use super::failure::to_stdout;
use crate::build::model::Model;

/// All results of a run.
pub(crate) struct Report<'a> {
    pub(crate) source: String,
    pub(crate) schema: &'a Schema,
    pub(crate) model: &'a Model,
    pub(crate) evaluation: &'a Evaluation,
    pub(crate) metrics_window: usize,
    pub(crate) delay: u64,
    pub(crate) seconds: f64,
}

impl Report<'_> {
    pub(crate) fn print_json(&self) -> Result<()> {
        let text = format!("{}\n", self.json());
        to_stdout(io::stdout().write_all(text.as_bytes()))
    }

    pub(crate) fn print_table(&self) -> Result<()> {
        to_stdout(io::stdout().write_all(self.table().as_bytes()))
    }

    /// How important each column is for the model; empty for a model that does not tell.
    fn importance(&self) -> Vec<(String, f64)> {
        self.model.online_bls().map_or_else(Vec::new, OnlineBls::importance)
    }

    fn samples_per_second(&self) -> f64 {
        self.evaluation.metrics.confusion().samples() as f64 / self.seconds.max(1e-9)
    }
}
