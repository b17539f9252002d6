//! The options of a run that save its model and its progress, and how any command stores a model.

use std::{ffi::OsString, path::PathBuf};

use broadstream::model_file::{ModelFile, Precision};
use clap::{Args, ValueEnum, ValueHint};

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

    #[command(flatten)]
    pub(crate) storage: StorageArguments,

    /// Continue a run from its checkpoint, as if it had never stopped
    ///
    /// The options of the run need not be repeated. Only --limit, --json, --quiet, --threads, --block,
    /// --every, --save, --precision and, if there is a curve, --report may differ. Metrics, curve and predictions are
    /// those of an uninterrupted run. The source is read from its start and must begin with the same samples.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) resume: Option<PathBuf>,

    /// What the command was called with after its name, which a checkpoint stores.
    #[arg(skip)]
    pub(crate) own_arguments: Vec<OsString>,
}

/// How a model is stored.
#[derive(Args, Clone, Debug)]
pub(crate) struct StorageArguments {
    /// Leave the random weights of the features out of model files; loading draws them again from the seed
    #[arg(long)]
    pub(crate) omit_feature_weights: bool,

    /// How precisely a model file stores what was learned
    ///
    /// A file in single precision takes about half the space. Its model predicts nearly the same and learns
    /// on, but does not continue to the bit, and cannot be merged or unlearn rows. Checkpoints are always in
    /// double precision.
    #[arg(long, value_enum, value_name = "PRECISION", default_value_t = PrecisionName::Double)]
    pub(crate) precision: PrecisionName,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionName {
    /// All digits
    Double,
    /// Seven digits
    Single,
}

impl StorageArguments {
    /// The file, stored as these arguments say.
    pub(crate) fn apply<'a>(&self, file: ModelFile<'a>) -> ModelFile<'a> {
        let precision = match self.precision {
            PrecisionName::Double => Precision::Double,
            PrecisionName::Single => Precision::Single,
        };
        ModelFile { feature_weights: !self.omit_feature_weights, precision, ..file }
    }
}
