//! The arguments of `broadstream run`.

use std::path::PathBuf;

use broadstream::drift::Adwin;
use clap::{Args, ValueHint};

use super::{InputArguments, ModelArguments, SavingArguments};

/// Evaluate a model on a stream: predict each sample, then learn it.
///
/// Every prediction is of a sample that the model has not seen (test-then-train). The metrics are printed
/// at the end.
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
      The same with one regression that remembers about a thousand samples.
  broadstream run flights.csv.gz --target delayed --drop id,date
      Your own file. Text columns become categories, missing cells stay missing.
  zcat log.gz | broadstream run - --json | jq .oca
      A pipe in, one JSON object out.
  broadstream run letter.csv --shuffle 1 --curve curve.csv
      Shuffled, with the metrics every 1000 samples in a file.
  broadstream run year.csv --checkpoint year.bsm, and after a crash: broadstream run --resume year.bsm
      A long run that can be continued after a crash.
  broadstream run today.csv --save model.bsm
      Save the model for 'broadstream predict model.bsm'.";

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

    /// Write an HTML page with figures
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Write every prediction as CSV
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) predictions: Option<PathBuf>,

    /// Number of recent samples in the windowed metrics
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) metrics_window: usize,

    /// Delay of the labels: a sample is learned just before the Nth sample after it is predicted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay: u64,

    /// A CSV file with what decisions cost, by label: each decision is the one with the least expected cost,
    /// and may be to abstain
    ///
    /// The header has a name for the true labels, the labels that may be decided, and 'abstain' if that is
    /// possible. A row for each true label follows.
    #[arg(long, value_name = "FILE", conflicts_with = "objective", value_hint = ValueHint::FilePath)]
    pub(crate) costs: Option<PathBuf>,

    /// Probability of a false drift alarm; smaller values detect fewer and later drifts
    #[arg(long, value_name = "PROBABILITY", default_value_t = Adwin::CONFIDENCE)]
    pub(crate) drift_confidence: f64,

    /// Samples per block; larger blocks are faster and give the same results
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub(crate) block: usize,

    /// Time predicting and learning separately, one sample at a time; slower, with the same results
    #[arg(long)]
    pub(crate) separate_times: bool,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
