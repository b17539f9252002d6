//! The arguments of `broadstream run`.

use std::path::PathBuf;

use broadstream::drift::Adwin;
use clap::{Args, ValueHint};

use super::{InputArguments, ModelArguments, SavingArguments};

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
