//! The arguments of `broadstream compare`.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use super::{InputArguments, ModelName};

/// Evaluate several models on one stream, side by side, in one pass over the data.
///
/// Each model predicts every sample before it learns it. The results are those of separate runs.
#[derive(Args)]
#[command(after_long_help = COMPARE_EXAMPLES)]
pub(crate) struct CompareArguments {
    /// A file, '-' for standard input, or a generator; files are CSV, JSON lines, ARFF or LIBSVM (plain,
    /// gzip or zstd), Parquet or Arrow
    #[arg(default_value = "sea", value_hint = ValueHint::FilePath)]
    pub(crate) source: String,

    /// The models to compare, with their default options
    #[arg(long, value_name = "MODELS", value_enum, value_delimiter = ',',
          default_values_t = [ModelName::OnlineBls, ModelName::PassiveAggressive, ModelName::NoChange])]
    pub(crate) models: Vec<ModelName>,

    /// Another model as NAME=OPTIONS, with the model options of 'broadstream run'; may be repeated
    #[arg(long, value_name = "NAME=OPTIONS", value_parser = parse_named_options)]
    pub(crate) with: Vec<(String, String)>,

    #[command(flatten)]
    pub(crate) input: InputArguments,

    /// Number of recent samples in the windowed metrics
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub(crate) metrics_window: usize,

    /// Delay of the labels: a sample is learned just before the Nth sample after it is predicted
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) delay: u64,

    /// A CSV file with what decisions cost, by label: all models decide for the least expected cost
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) costs: Option<PathBuf>,

    /// Samples between two points of the curves
    #[arg(long, value_name = "N", default_value_t = 1000,
          value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) curve_every: u64,

    /// Learn one sample at a time and time each; slower, with the same results
    #[arg(long)]
    pub(crate) separate_times: bool,

    /// Print a JSON array with a record for each model instead of the table
    #[arg(long)]
    pub(crate) json: bool,

    /// Write an HTML page with figures
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) report: Option<PathBuf>,

    /// Show no progress
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

const COMPARE_EXAMPLES: &str = "\
Examples:
  broadstream compare
      Three models on the drifting SEA stream.
  broadstream compare elec.csv --models online-bls,no-change,perceptron --report elec.html
      Other models, and a page with the accuracy over time.
  broadstream compare sea --with 'short=--forgetting 0.99' --with 'long=--forgetting 0.9999'
      One model with different options.
  broadstream compare fraud.csv --models online-bls --with 'balanced=--objective balanced' --with 'f1=--objective f1'
      One model that decides for different objectives.";

fn parse_named_options(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, options)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), options.to_owned()))
        }
        _ => Err("expected NAME=OPTIONS, as in 'short=--forgetting 0.99'".to_owned()),
    }
}
