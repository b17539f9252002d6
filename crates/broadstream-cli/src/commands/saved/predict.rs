//! `broadstream predict`: predictions of a saved model, one line per row.

use anyhow::Result;
use broadstream_store::{read_journal, read_model};

use super::{
    journal,
    responder::{Output, Responder},
    rows,
};
use crate::{
    args::PredictArguments,
    build::{decisions, threads},
    output::{failure::within, printable::note},
};

pub(crate) fn predict(arguments: &PredictArguments) -> Result<()> {
    let mut saved = read_model(&arguments.file)?;
    saved.model.set_threads(threads::given_or_all_cores(arguments.threads))?;
    decisions::apply(&arguments.decisions, &mut saved)?;
    let left = journal::count(&read_journal(&arguments.file)?);
    if left > 0 {
        let (name, left) = (arguments.file.display(), rows::counted(left));
        let rule = "were learned that the model lacks; 'learn' adds them";
        note(&format!("{name}.journal: {left} {rule}"));
    }
    // Categories that are new leave nothing behind, so there is nothing to limit.
    let mut rows = rows::open(&arguments.rows, &saved, Some(usize::MAX))?;
    let mut responder = Responder::new(&mut saved.model, false, Output::Needed)
        .deciding_by(saved.costs.as_ref())
        .explaining(arguments.explain.unwrap_or(0) as usize);
    let outcome = responder.read(&mut rows, u64::MAX);
    within(outcome.map(|_| ()), || rows::name(&arguments.rows))
}
