//! The options of a run that save its model and its progress.

use std::path::PathBuf;

use clap::{Args, ValueHint};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Saving")]
pub(crate) struct SavingArguments {
    /// Write the final model to FILE, for 'predict', 'learn', 'merge' and 'inspect'
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) save: Option<PathBuf>,

    /// Write the model and the progress of the run to FILE, after every N samples (--every) and at the end
    ///
    /// The file is replaced as a whole: a run that is killed at any moment leaves its last checkpoint,
    /// from which --resume continues. SIGINT (Ctrl-C), SIGTERM and SIGHUP write a checkpoint before they end
    /// the run. Only one run at a time can use the file. A file that exists is refused, unless --overwrite
    /// is given.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) checkpoint: Option<PathBuf>,

    /// Replace the file of --checkpoint if it exists
    #[arg(long)]
    pub(crate) overwrite: bool,

    /// Samples between two checkpoints [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,

    /// Leave the random weights of the features out of these files; loading draws them again from the seed
    #[arg(long)]
    pub(crate) omit_feature_weights: bool,

    /// Continue a run from its checkpoint, as if it had never stopped
    ///
    /// The options of the run need not be repeated. Only --limit, --json, --quiet, --threads, --block,
    /// --every, --save and, if there is a curve, --report may differ. Metrics, curve and predictions are
    /// those of an uninterrupted run. The source is read from its start and must begin with the same samples.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,
}
