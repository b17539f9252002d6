//! The arguments of the commands on saved models.

use std::path::PathBuf;

use clap::{Args, ValueEnum, ValueHint};

use super::{InputArguments, ModelArguments, input::parse_delimiter};

/// Say what is in a model file.
///
/// Its configuration, inputs, labels and samples, how far a run has come if it is a checkpoint, and whether
/// rounding has left its regressions what they should be.
#[derive(Args)]
pub(crate) struct InspectArguments {
    /// The file of a model, a checkpoint or sums
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
}

/// Predict rows by a saved model: a line in, a line out.
///
/// Rows are CSV or JSON lines with the columns that the model was trained on; labels are not looked at. Each
/// is answered as soon as it is there, by its prediction, the probability of that, and the leverage: how
/// unlike all that was learned the row is. The model file stays as it is.
#[derive(Args)]
#[command(after_long_help = PREDICT_EXAMPLES)]
pub(crate) struct PredictArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// How many threads predict, with the same result [default: as many as there are cores, at most 8]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

const PREDICT_EXAMPLES: &str = "\
Examples:
  broadstream predict model.bsm < today.csv
  broadstream predict model.bsm today.jsonl | jq -r .prediction
  tail -f log.csv | broadstream predict model.bsm --drop id
      One line in, one line out, at once.";

/// Have a saved model learn rows: a line in, a line out.
///
/// Rows are CSV or JSON lines with the columns that the model was trained on. Each is predicted, answered as
/// by 'predict', and then learned if it has a label. In the end the file is replaced; if a row is faulty, it
/// stays as it was, or as --every has saved it last.
#[derive(Args)]
#[command(after_long_help = LEARN_EXAMPLES)]
pub(crate) struct LearnArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Write the model to this file and leave the other as it is
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// Save the model after every N rows too, for a pipe that never ends
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) every: Option<u64>,

    /// How many threads learn, with the same result [default: as many as there are cores, at most 8]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    /// Learn without answering
    #[arg(long, short)]
    pub(crate) quiet: bool,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

const LEARN_EXAMPLES: &str = "\
Examples:
  broadstream learn model.bsm < today.csv > predictions.csv
      Predict and learn a day, and keep what was learned.
  broadstream learn model.bsm yesterday.csv --quiet -o newer.bsm
  collect | broadstream learn model.bsm --every 1000
      Rows with a label are learned, others only predicted.";

/// Take back rows that a saved model has learned.
///
/// The model becomes the one that never saw them, exactly. That needs a model that forgets nothing and
/// whose scaling is frozen (such as --preset single --scaling-file FILE); others are refused, and so is a row
/// that cannot have been learned. All rows are taken back, or none.
#[derive(Args)]
pub(crate) struct UnlearnArguments {
    /// The file of a model
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,

    /// Write the model to this file and leave the other as it is
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,

    /// The weight that the rows were learned with
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) weight: f64,

    /// Print the certificate as JSON
    #[arg(long)]
    pub(crate) json: bool,

    #[command(flatten)]
    pub(crate) rows: RowArguments,
}

/// Make one model of several that were trained apart.
///
/// It is the model that learned all their samples, in any order, exactly. They must have the same features
/// (seed, sizes, ridge) and the same frozen scaling, and forget nothing; 'run --like' and 'fit-partial'
/// make such. Inputs and classes that only one of them saw are no obstacle.
#[derive(Args)]
#[command(after_long_help = MERGE_EXAMPLES)]
pub(crate) struct MergeArguments {
    /// Files of models or of sums
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) files: Vec<PathBuf>,

    /// Where the merged model goes
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,

    /// Leave sums as sums, to be merged with more later
    #[arg(long)]
    pub(crate) sums: bool,
}

const MERGE_EXAMPLES: &str = "\
Examples:
  broadstream run monday.csv --preset single --freeze-scaling-after 1000 --save monday.bsm
  broadstream run tuesday.csv --like monday.bsm --save tuesday.bsm
  broadstream merge monday.bsm tuesday.bsm -o both.bsm
      The second model has the features and the scaling of the first.
  broadstream fit-partial wednesday.csv --like monday.bsm -o wednesday.bsm
  broadstream merge both.bsm wednesday.bsm -o three.bsm
      Sums are faster to make where no predictions are wanted.";

/// Add up a stream for a model to come, without predicting.
///
/// What is written are the sums that a model consists of. Adding them up is faster than learning, as many
/// workers can do it as there are parts of the data, and 'merge' makes a model of them.
#[derive(Args)]
pub(crate) struct FitPartialArguments {
    /// What 'run' takes: a file, '-' for standard input, or a generator
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    /// Where the sums go
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

    /// How the rows are written [default: JSON lines if they begin with '{']
    #[arg(long = "format", value_name = "FORMAT", value_enum)]
    pub(crate) rows_format: Option<RowFormat>,

    /// The character between cells, or 'tab' [default: found out]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// The first row holds the column names [default: if it looks like them]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first row is data, with the columns in the order of training
    #[arg(long)]
    pub(crate) no_header: bool,

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
    /// Pass over them
    Ignore,
    /// Take them for new inputs
    Learn,
}
