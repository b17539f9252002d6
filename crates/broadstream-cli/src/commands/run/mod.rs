//! `broadstream run`: test-then-train over a stream.
//!
//! [`prepare`] checks the arguments and opens or resumes everything, [`evaluate`] runs the stream through the
//! model and writes files on the way, [`report`] saves the model and shows the results. [`checkpoint`] lets
//! a run survive being killed, with [`resumed_arguments`] for the run that continues it.

mod checkpoint;
mod evaluate;
mod prepare;
mod report;
mod resumed_arguments;

use anyhow::Result;

pub(crate) use self::checkpoint::RUN_NOTE;
use crate::args::RunArguments;

pub(crate) fn run(given: &RunArguments) -> Result<()> {
    let prepared = prepare::prepare(given)?;
    let finished = evaluate::evaluate(prepared)?;
    report::report(&finished)
}
