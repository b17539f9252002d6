//! The options of a run that save its model and its progress.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Saving")]
pub(crate) struct SavingArguments {
    /// Write the model to FILE in the end, for 'predict', 'learn', 'merge' and 'inspect'
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save: Option<PathBuf>,

    /// Write the model and how far the run has come to FILE every so many samples, and in the end
    ///
    /// The file is replaced as a whole: a run that is killed at any moment leaves the checkpoint
    /// before, from which --resume goes on. One run at a time can have it.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Samples between two checkpoints [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,

    /// Leave the random weights of the features out of these files; they are drawn again from the seed
    #[arg(long)]
    pub(crate) omit_feature_weights: bool,

    /// Go on with a run from its checkpoint, as if it had never stopped
    ///
    /// The options are those of the run, which need not be repeated, and none may differ but --limit, --json,
    /// --quiet, --threads, --block, --every, --save and, if there is a curve, --report. Metrics, curve and predictions will be those of
    /// an uninterrupted run. The source is read from its start, and must begin as it did then.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
}
