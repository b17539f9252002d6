//! The arguments of the commands on saved models.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{
    DecisionArguments, InputArguments, ModelArguments, StorageArguments, input::parse_delimiter,
};

/// Describe a model file.
///
/// Prints its configuration, inputs, labels and number of samples, what its decisions are made for and would
/// be made by under other objectives, how important its columns are, the progress of the run if it is a
/// checkpoint, and how far rounding has moved its regressions.
#[derive(Args)]
pub(crate) struct InspectArguments {
    /// The file of a model, a checkpoint or sums
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Predict rows with a saved model: a line in, a line out.
///
/// Rows are CSV or JSON lines with the columns that the model was trained on; labels are ignored. For each
/// row, as soon as it arrives, the prediction is written, its probability, and the leverage: how much the row
/// differs from everything that was learned. --explain adds what speaks for and against the prediction. The
/// model file does not change.
#[derive(Args)]
#[command(after_long_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Also write the K columns without which the probability of the prediction would change most
    ///
    /// The change of a column is the probability less what it would be if the cell were missing, exactly:
    /// positive if the column speaks for the prediction. CSV has them as 'column:change' in a column named
    /// 'reasons', separated by spaces, the largest first; spaces, colons and percent signs in the name of a
    /// column are written as %20, %3A and %25. Where less than K cells of a row are present, there are fewer.
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) explain: Option<u32>,

    /// Number of threads; the results are the same [default: the number of cores, at most 8]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    #[command(flatten)]
    pub(crate) decisions: DecisionArguments,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  broadstream predict model.bsm < today.csv
  broadstream predict model.bsm today.jsonl | jq -r .prediction
  tail -f log.csv | broadstream predict model.bsm --drop id
      A prediction as soon as a row arrives.
  broadstream predict model.bsm --explain 3 < today.csv
      With the three columns that matter most to each prediction.
  broadstream predict model.bsm --costs costs.csv < today.csv
      The decision with the least expected cost for each row, or none where abstaining costs less.";

/// Predict rows with a saved model and learn them: a line in, a line out.
///
/// Rows are CSV or JSON lines with the columns that the model was trained on. Each is predicted as by
/// 'predict', and then learned if it has a label. At the end the file is replaced. If a row is faulty, the
/// file stays as it was, or as --every saved it last. SIGINT (Ctrl-C), SIGTERM and SIGHUP save the model and
/// end the program. If the rows come from a pipe, it also ends when nobody reads its output any more.
#[derive(Args)]
#[command(after_long_help = LEARN_EXAMPLES)]
pub(crate) struct LearnArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Write the model to this file instead of replacing the first
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Also save the model after every N rows, for a pipe that never ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,

    /// Keep every row in MODEL.journal before it is answered, so that none is lost if the program is killed
    ///
    /// The next 'learn' of the model learns the rows of the journal that were not saved, and continues to the
    /// bit as if nothing had happened. A row is on the disk before its prediction is written, which takes as
    /// long as the disk does. The journal grows until the model is saved: --every N bounds it.
    #[arg(long)]
    pub(crate) journal: bool,

    /// Number of threads; the results are the same [default: the number of cores, at most 8]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    /// The most categories that a column may have, those that the model knows included; one more is an
    /// error [default: 50000]
    #[arg(long, value_name = "N")]
    pub(crate) max_categories: Option<usize>,

    /// Do not write predictions
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) storage: StorageArguments,

    #[command(flatten)]
    pub(crate) decisions: DecisionArguments,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

const LEARN_EXAMPLES: &str = "\
Examples:
  broadstream learn model.bsm < today.csv > predictions.csv
      Predict and learn the rows of a day, and update the model.
  broadstream learn model.bsm yesterday.csv --quiet -o newer.bsm
  broadstream learn model.bsm -o small.bsm --precision single --omit-feature-weights < /dev/null
      A small copy of a model, without learning anything.
  collect | broadstream learn model.bsm --every 1000 --journal
      Rows with a label are learned, others only predicted. A crash loses no row that was answered.";

/// Unlearn rows that a saved model has learned.
///
/// The result is exactly the model that never saw them. This needs a model without forgetting and with a
/// frozen scaling (such as --preset single --scaling-file FILE); others are refused, and so is a row that
/// cannot have been learned. Either all rows are unlearned or none.
#[derive(Args)]
pub(crate) struct UnlearnArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Write the model to this file instead of replacing the first
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The weight that the rows were learned with
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) weight: f64,

    /// Print the certificate as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) storage: StorageArguments,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

/// Merge models that were trained separately.
///
/// The result is exactly the model that learned all their samples, in any order. The models must have the
/// same features (seed, sizes, ridge), the same frozen scaling and no forgetting, as those of 'run --like'
/// and 'fit-partial' do. Each may have inputs and classes that the others have not seen.
#[derive(Args)]
#[command(after_long_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArguments {
    /// Files of models or of sums
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// The file of the merged model
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Keep sums as sums, to merge more files later
    #[arg(long)]
    pub(crate) sums: bool,

    #[command(flatten)]
    pub(crate) storage: StorageArguments,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  broadstream run monday.csv --preset single --freeze-scaling-after 1000 --save monday.bsm
  broadstream run tuesday.csv --like monday.bsm --save tuesday.bsm
  broadstream merge monday.bsm tuesday.bsm -o both.bsm
      The second model has the features and the scaling of the first.
  broadstream fit-partial wednesday.csv --like monday.bsm -o wednesday.bsm
  broadstream merge both.bsm wednesday.bsm -o three.bsm
      Sums are faster to compute, if no predictions are needed.";

/// Compute the sums of a stream from which 'merge' makes a model.
///
/// Computing sums is faster than learning, makes no predictions, and can be done in parallel for the parts
/// of a dataset.
#[derive(Args)]
pub(crate) struct FitPartialArguments {
    /// What 'run' takes: a file, '-' for standard input, or a generator
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    /// The file of the sums
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    #[command(flatten)]
    pub(crate) model: ModelArguments,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Rows for a model.
#[derive(Args)]
#[command(next_help_heading = "Rows")]
pub(crate) struct RowArguments {
    /// The rows: a CSV or JSON lines file, or '-' for standard input
    #[arg(default_value = "-", value_name = "ROWS", value_hint = ValueHint::FilePath)]
    pub(crate) source: PathBuf,

    /// The format of the rows [default: JSON lines if they begin with '{']
    #[arg(long = "format", value_name = "FORMAT", value_enum)]
    pub(crate) rows_format: Option<RowFormat>,

    /// The character between cells, or 'tab' [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// The first row holds the column names [default: detected]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first row is data, with the columns in the order of training
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Numbers have a decimal comma, as in '3,14' [default: as in the rows of training]
    #[arg(long, conflicts_with = "no_decimal_comma")]
    pub(crate) decimal_comma: bool,

    /// Numbers have a decimal point
    #[arg(long)]
    pub(crate) no_decimal_comma: bool,

    /// Columns to leave out
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,

    /// What to do about columns that the model does not know
    #[arg(long, value_enum, default_value_t = UnknownColumns::Refuse)]
    pub(crate) unknown: UnknownColumns,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum RowFormat {
    /// CSV or TSV
    Csv,
    /// A JSON object per line
    Jsonl,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum UnknownColumns {
    /// An error: a misspelt name would otherwise go unnoticed
    Refuse,
    /// Ignore them
    Ignore,
    /// Learn them as new inputs
    Learn,
}
