//! `broadstream predict`: predictions of a saved model, one line per row.

use anyhow::{Context, Result};
use broadstream_store::read_model;

use super::{
    responder::{PredictionWriter, Responder},
    rows,
};
use crate::{args::PredictArguments, build::threads};

pub(crate) fn predict(arguments: &PredictArguments) -> Result<()> {
    let mut saved = read_model(&arguments.file)?;
    saved.model.set_threads(threads::given_or_all_cores(arguments.threads))?;
    // Categories that are new leave nothing behind, so there is nothing to limit.
    let mut rows = rows::open(&arguments.rows, &saved, Some(usize::MAX))?;
    let mut responder = Responder::new(&mut saved.model, false, Some(PredictionWriter::new()));
    let outcome = responder.read(&mut rows, u64::MAX);
    outcome.map(|_| ()).with_context(|| rows::name(&arguments.rows))
}
