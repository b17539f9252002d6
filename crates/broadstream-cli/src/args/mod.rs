//! The command line, as the user types it.

mod compare;
mod datasets;
mod experiment;
mod model;
mod saved;
mod saving;

pub(crate) use self::{
    compare::CompareArguments,
    datasets::{DatasetsCommand, FetchArguments, ListArguments, VerifyArguments},
    experiment::ExperimentArguments,
    model::{
        ActivationArgument, ClassWeightArgument, EnhancementSourceArgument, ModelArguments,
        ModelName, Preset, ScalingArgument,
    },
    saved::{
        FitPartialArguments, InspectArguments, LearnArguments, MergeArguments, PredictArguments,
        RowArguments, RowFormat, UnknownColumns, UnlearnArguments,
    },
    saving::SavingArguments,
};

use std::path::PathBuf;

use broadstream::drift::Adwin;
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

/// Classify data streams online, one sample at a time.
#[derive(Parser)]
#[command(name = "broadstream", version, after_help = EXAMPLES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXAMPLES: &str = "\
Examples:
  broadstream run                             the drifting SEA stream, 100 000 samples
  broadstream run sensors.csv --target state  your own data
  broadstream compare sensors.csv             several models side by side
  broadstream experiment                      the tables and figures of the paper
  broadstream predict model.bsm < rows.csv    by a model that 'run --save' has saved
  broadstream generate sea | head             what a generator makes
  broadstream datasets fetch letter           one of the streams that the paper uses

'broadstream help COMMAND' says more about each command.";

#[derive(Subcommand)]
pub(crate) enum Command {
    Run(Box<RunArguments>),
    Compare(Box<CompareArguments>),
    Experiment(ExperimentArguments),
    Predict(PredictArguments),
    Learn(LearnArguments),
    Unlearn(UnlearnArguments),
    Merge(MergeArguments),
    FitPartial(Box<FitPartialArguments>),
    Inspect(InspectArguments),
    Generate(GenerateArguments),
    Export(ExportArguments),
    #[command(subcommand)]
    Datasets(DatasetsCommand),
    /// Write completions for a shell to standard output
    Completions {
        /// The shell
        shell: Shell,
    },
}

/// Predict and learn a stream, sample by sample, and report how well that went.
///
/// Each sample is first predicted and then learned (test-then-train), so every prediction is of a
/// sample the model has not seen. A table of metrics is printed at the end.
#[derive(Args, Clone)]
#[command(after_long_help = RUN_EXAMPLES)]
pub(crate) struct RunArguments {
    /// A file, '-' for standard input, or a generator; files are CSV, JSON lines, ARFF or LIBSVM (plain,
    /// gzip or zstd), Parquet or Arrow
    ///
    /// Generators are sea, hyperplane, stagger, sine, mixed, agrawal, led, waveform, random-rbf and
    /// random-tree, with parameters as in 'sea:variant=2,noise=0,seed=7,samples=5000' or, for drifts
    /// between variants, 'agrawal:variants=0-3-7,every=10000,width=500' and
    /// 'stagger:drift=recurring,every=5000'; see 'broadstream generate --help'. For a file of that
    /// name write './sea'.
    #[arg(default_value = "sea", value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    #[command(flatten)]
    pub(crate) model: ModelArguments,

    #[command(flatten)]
    pub(crate) evaluation: EvaluationArguments,

    #[command(flatten)]
    pub(crate) saving: SavingArguments,
}

const RUN_EXAMPLES: &str = "\
Examples:
  broadstream run
      The drifting SEA stream of the paper: 100 000 samples, 10 % noise, three drifts.
  broadstream run --preset single --forgetting 0.999
      The same by one regression with a memory of about a thousand samples.
  broadstream run flights.csv.gz --target delayed --drop id,date
      A file of your own. Columns of text become categories, missing cells stay absent.
  zcat log.gz | broadstream run - --json | jq .oca
      A pipe in, one JSON object out.
  broadstream run letter.csv --shuffle 1 --curve curve.csv
      Shuffled, with the metrics every 1000 samples in a file.
  broadstream run year.csv --checkpoint year.bsm, and after a crash: broadstream run --resume year.bsm
      A long run that loses nothing.
  broadstream run today.csv --save model.bsm
      Keep what was learned, for 'broadstream predict model.bsm'.";

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArguments {
    /// The column to predict, by name or by position (-1 is the last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) target: Option<String>,

    /// Columns to leave out, by name or by position
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) drop: Vec<String>,

    /// Columns to read as categories even where they hold numbers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) categorical: Vec<String>,

    /// Columns to read as numbers; a cell that is none is then an error
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) numeric: Vec<String>,

    /// How categories become inputs [default: one-hot; integer-codes in the paper's presets]
    #[arg(long, value_enum)]
    pub(crate) categories: Option<CategoriesArgument>,

    /// The format of the source [default: found out from its first bytes, then from its name]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArgument>,

    /// The character between cells, or 'tab' [default: found out]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// The first row holds the column names [default: unless one of its cells is a number that
    /// does not just count the columns]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first row is data; columns are then named 1, 2, 3, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Stop after N samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Read everything into memory and put it into a random order, before --limit applies
    #[arg(long, value_name = "SEED")]
    pub(crate) shuffle: Option<u64>,
}

#[derive(Args, Clone)]
#[command(next_help_heading = "Evaluation and output")]
pub(crate) struct EvaluationArguments {
    /// Print one JSON object instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Write the metrics over time as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) curve: Option<PathBuf>,

    /// Samples between two points of the curve [default: 1000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) curve_every: Option<u64>,

    /// Write a page with figures that any browser opens
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Write every prediction as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) predictions: Option<PathBuf>,

    /// Samples that the windowed metrics look back over
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) metrics_window: usize,

    /// How late labels come: a sample is learned just before the one N after it is predicted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay: u64,

    /// How likely a drift may be reported where there is none: less is more careful and slower
    #[arg(long, value_name = "PROBABILITY", default_value_t = Adwin::CONFIDENCE)]
    pub(crate) drift_confidence: f64,

    /// Samples that are learned at once; faster when larger, with the same result
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) block: usize,

    /// Measure predicting and learning apart, one sample at a time; slower, with the same result
    #[arg(long)]
    pub(crate) separate_times: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// The generators and their parameters.
const GENERATORS: &str = include_str!("generators.txt");

/// Write a generator's stream as CSV to standard output.
///
/// The streams are those of River's generators of the same names, to the bit; in random-rbf and
/// waveform, where the C library has a part in it, on the same machine.
#[derive(Args)]
#[command(after_long_help = GENERATORS)]
pub(crate) struct GenerateArguments {
    /// The generator, with parameters if any: 'sea', 'sea:variant=2,noise=0', 'random-tree'
    pub(crate) generator: String,

    /// How many samples to write [default: the generator's own, 100 000]
    #[arg(long, value_name = "N")]
    pub(crate) samples: Option<u64>,
}

/// Write a stream as CSV to standard output, in the order in which 'run' would take it.
///
/// Other programs can so learn the very same samples in the very same order. Numbers are written
/// as they are read, categories as their text, missing cells empty; the target is the last column.
#[derive(Args)]
#[command(after_long_help = EXPORT_EXAMPLES)]
pub(crate) struct ExportArguments {
    /// A file, '-' for standard input, or a generator; files are CSV, JSON lines, ARFF or LIBSVM (plain,
    /// gzip or zstd), Parquet or Arrow
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    #[command(flatten)]
    pub(crate) input: InputArguments,
}

const EXPORT_EXAMPLES: &str = "\
Examples:
  broadstream export letter.csv.gz --shuffle 1 > shuffled.csv
      What 'broadstream run letter.csv.gz --shuffle 1' learns, in its order.
  broadstream export adult.csv --categories integer-codes --limit 5000
      Categories as numbers 0, 1, 2, … in order of appearance.
  broadstream export sea --limit 5000 | .venv/bin/python peers/stream_learners.py \\
      --method river-hoeffding-tree
      Another library on the same stream.";

#[derive(Args)]
pub(crate) struct DataFolder {
    /// The folder with the datasets [default: BROADSTREAM_DATA, or the user's cache]
    #[arg(long = "data", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// Cells between commas, tabs or another character
    Csv,
    /// JSON lines: an object per line
    Jsonl,
    /// Weka's format, dense or sparse
    Arff,
    /// 'label index:value …' per line
    Libsvm,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow, a file (Feather) or a stream
    Arrow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CategoriesArgument {
    /// One input 'column=value' per value
    OneHot,
    /// One input per column: 0, 1, 2, … in order of appearance
    IntegerCodes,
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character or 'tab'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn delimiters_are_single_characters() {
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert!(parse_delimiter(";;").is_err());
        assert!(parse_delimiter("é").is_err());
    }
}
