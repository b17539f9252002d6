//! The command line, as the user types it.

mod compare;
mod datasets;
mod experiment;
mod saved;
mod saving;

pub(crate) use self::{
    compare::CompareArguments,
    datasets::{DatasetsCommand, FetchArguments, ListArguments, VerifyArguments},
    experiment::ExperimentArguments,
    saved::{
        FitPartialArguments, InspectArguments, LearnArguments, MergeArguments, PredictArguments,
        RowArguments, RowFormat, UnknownColumns, UnlearnArguments,
    },
    saving::SavingArguments,
};

use std::path::PathBuf;

use broadstream::drift::Adwin;
use broadstream::{Forgetting, Ridge};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use crate::generator;

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
      Shuffled, with the metrics every 1000 samples in a file.";

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

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArguments {
    /// The model
    #[arg(long, value_enum, default_value_t = ModelName::OnlineBls)]
    pub(crate) model: ModelName,

    /// The configuration that the options below start from
    #[arg(long, value_enum, default_value_t = Preset::Default)]
    pub(crate) preset: Preset,

    /// The share of the past that each sample leaves: 1 forgets nothing, 0.999 remembers about a
    /// thousand samples, 'auto' has several memories share in predictions [default: auto; 1 in single
    /// and paper, 0.99 in paper-drift]
    #[arg(long, value_name = "MU", allow_negative_numbers = true, value_parser = parse_forgetting)]
    pub(crate) forgetting: Option<Forgetting>,

    /// How strongly the output weights are drawn to zero; 'auto' has several ridges share in
    /// predictions [default: auto; 1 in single, 1e-8 in the paper's presets]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true, value_parser = parse_ridge)]
    pub(crate) ridge: Option<Ridge>,

    /// Whether a regression on the members' predictions and the last labels has the final say, and
    /// calibrates it; otherwise members are averaged [default: true; false in the other presets]
    #[arg(long, value_name = "BOOL")]
    pub(crate) stacking: Option<bool>,

    /// How many of the labels before take part in stacking, and are inputs of a regression or two of
    /// their own; at most 100 [default: 1; 0 without stacking]
    #[arg(long, value_name = "K")]
    pub(crate) label_lags: Option<usize>,

    /// What samples count by how rare their class is [default: none]
    #[arg(long, value_enum)]
    pub(crate) class_weight: Option<ClassWeightArgument>,

    /// Learn exactly the last N samples: the optimum of these alone, after every sample. Implies
    /// --forgetting 1 and --label-lags 0
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<usize>,

    /// Take all options of the model from a saved one, with its scaling as it is there, frozen: what is
    /// learned can be merged with it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) like: Option<PathBuf>,

    /// The seed of all random weights [default: 0]
    #[arg(long)]
    pub(crate) seed: Option<u64>,

    /// Groups of linear feature nodes [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) feature_groups: Option<usize>,

    /// Nodes per feature group [default: 10]
    #[arg(long, value_name = "N")]
    pub(crate) feature_nodes: Option<usize>,

    /// Groups of non-linear enhancement nodes [default: 1]
    #[arg(long, value_name = "N")]
    pub(crate) enhancement_groups: Option<usize>,

    /// Nodes per enhancement group [default: 2000; 1000 in the other presets]
    #[arg(long, value_name = "N")]
    pub(crate) enhancement_nodes: Option<usize>,

    /// What the enhancement nodes see [default: inputs; feature-nodes in the paper's presets]
    #[arg(long, value_enum)]
    pub(crate) enhancement_source: Option<EnhancementSourceArgument>,

    /// The non-linearity of the enhancement nodes [default: tanh]
    #[arg(long, value_enum)]
    pub(crate) activation: Option<ActivationArgument>,

    /// How numeric inputs are scaled [default: robust; standard for models
    /// without broad features, min-max-whole in the paper's presets]
    #[arg(long, value_enum)]
    pub(crate) scaling: Option<ScalingArgument>,

    /// A CSV file with the columns input, centre, scale: each input becomes (x - centre) / scale
    #[arg(long, value_name = "FILE", conflicts_with = "scaling", value_hint = ValueHint::FilePath)]
    pub(crate) scaling_file: Option<PathBuf>,

    /// Keep a running scaling as it is after N samples
    #[arg(long, value_name = "N")]
    pub(crate) freeze_scaling_after: Option<u64>,

    /// Samples between two exact refreshes while forgetting; 1 is the paper's Algorithm 2
    #[arg(long, value_name = "N")]
    pub(crate) refresh_every: Option<usize>,

    /// Steps per sample that correct for the ridge fading between two refreshes; 2 to 4 come near the
    /// paper's Algorithm 2, and need --preset single --nested-models 1 [default: 0]
    #[arg(long, value_name = "N")]
    pub(crate) correction_steps: Option<usize>,

    /// Keep the output weights up to date: predicting alone is then much faster and learning slower
    #[arg(long)]
    pub(crate) keep_weights: bool,

    /// How many threads learn a block, with the same result [default: as many as there are cores, at
    /// most 8; 1 where several models are at work]
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<usize>,

    /// How many nested models, on ever fewer nodes, each regression has; 1 is the largest alone
    /// [default: 5; 1 in the paper's presets]
    #[arg(long, value_name = "N")]
    pub(crate) nested_models: Option<usize>,

    /// Up to which share of its features a sample counts as nothing new to i-bls [default: 1e-5]
    #[arg(long, value_name = "SHARE", allow_negative_numbers = true)]
    pub(crate) zero_tolerance: Option<f64>,

    /// How strongly bls-cil draws successive samples of different classes apart [default: 0.1]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) separation: Option<f64>,

    /// How strongly bls-cil draws successive samples of one class together [default: 0.1]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) compactness: Option<f64>,

    /// The largest step of passive-aggressive [default: 1]
    #[arg(long, value_name = "C", allow_negative_numbers = true)]
    pub(crate) aggressiveness: Option<f64>,

    /// Hidden layers of a network [default: 2 in multilayer-perceptron, 20 in
    /// hedge-backpropagation]
    #[arg(long, value_name = "N")]
    pub(crate) hidden_layers: Option<usize>,

    /// Nodes per hidden layer [default: 100]
    #[arg(long, value_name = "N")]
    pub(crate) hidden_nodes: Option<usize>,

    /// The length of a network's gradient steps [default: 0.01]
    #[arg(long, value_name = "ETA", allow_negative_numbers = true)]
    pub(crate) learning_rate: Option<f64>,

    /// What hedge-backpropagation leaves of a classifier's share after a loss of 1 [default: 0.99]
    #[arg(long, value_name = "BETA", allow_negative_numbers = true)]
    pub(crate) discount: Option<f64>,

    /// How much of its share each classifier of hedge-backpropagation keeps [default: 0.2]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub(crate) smoothing: Option<f64>,

    /// The most memory the model may take, as in 500MB or 4GB [default: 4GiB]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) memory_limit: Option<u64>,
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

/// Write a generator's stream as CSV to standard output.
///
/// The streams are those of River's generators of the same names, to the bit; in random-rbf and
/// waveform, where the C library has a part in it, on the same machine.
#[derive(Args)]
#[command(after_long_help = generator::HELP)]
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
  broadstream export sea --limit 5000 | peers/.venv/bin/python peers/stream_learners.py \\
      --method river-hoeffding-tree
      Another library on the same stream.";

#[derive(Args)]
pub(crate) struct DataFolder {
    /// The folder with the datasets [default: BROADSTREAM_DATA, or the user's cache]
    #[arg(long = "data", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ModelName {
    /// The online broad learning system
    OnlineBls,
    /// The same as the paper writes it: Givens rotations, then substitutions for every class
    Eous,
    /// The same with a new factorisation for each sample: the paper's ablation
    Refactorise,
    /// Incremental BLS: a pseudoinverse that grows with the stream
    IBls,
    /// Robust incremental BLS: an explicit inverse for each sample
    RiBls,
    /// Class-incremental BLS: draws classes apart, with an explicit inverse for each sample
    BlsCil,
    /// The multiclass perceptron
    Perceptron,
    /// Passive-aggressive learning, PA-I
    PassiveAggressive,
    /// Online gradient descent on a multilayer perceptron
    MultilayerPerceptron,
    /// A network with a classifier at every depth
    HedgeBackpropagation,
    /// Predicts the label of the sample before
    NoChange,
    /// Predicts the most frequent label so far
    Majority,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum Preset {
    /// Nothing to tune: several memories and ridges side by side, stacked and calibrated
    Default,
    /// One regression that forgets nothing, with ridge 1: the exact optimum of all samples
    Single,
    /// The paper's settings for stationary streams: ridge 1e-8, min-max scaling over the whole
    /// stream, categories as integer codes
    Paper,
    /// The paper's settings for drifting streams: the same with forgetting 0.99
    PaperDrift,
}

impl Preset {
    /// Whether it is one of the paper's.
    pub(crate) fn is_paper(self) -> bool {
        matches!(self, Preset::Paper | Preset::PaperDrift)
    }
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

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ClassWeightArgument {
    /// Nothing: every class alike
    None,
    /// Rare classes count as much as frequent ones, at a cost in plain accuracy
    Balanced,
    /// Halfway: the square root of that, at most 10
    Auto,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum EnhancementSourceArgument {
    /// The inputs
    Inputs,
    /// The linear feature nodes
    FeatureNodes,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ActivationArgument {
    Tanh,
    Sigmoid,
    Relu,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScalingArgument {
    /// (x - mean) / standard deviation of the samples so far
    Standard,
    /// The mean of that and the rank of x among the samples so far, brought to variance 1: for
    /// outliers, heavy tails and nearly constant inputs
    Robust,
    /// (x - min) / (max - min) of the samples so far
    MinMax,
    /// The same over the whole stream, which is read twice
    MinMaxWhole,
    /// None
    None,
}

fn parse_forgetting(text: &str) -> Result<Forgetting, String> {
    number_or_auto(text).map(|number| number.map_or(Forgetting::Auto, Forgetting::Fixed))
}

fn parse_ridge(text: &str) -> Result<Ridge, String> {
    number_or_auto(text).map(|number| number.map_or(Ridge::Auto, Ridge::Fixed))
}

/// `None` for 'auto'.
fn number_or_auto(text: &str) -> Result<Option<f64>, String> {
    if text == "auto" {
        return Ok(None);
    }
    text.parse().map(Some).map_err(|_| "expected a number or 'auto'".to_owned())
}

fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character or 'tab'".to_owned()),
    }
}

fn parse_size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        _ => return Err("expected a number of bytes, or one with KB, MB, GB, KiB, MiB, GiB".into()),
    };
    let number: u64 = number.parse().map_err(|_| "expected a whole number".to_owned())?;
    number.checked_mul(factor).ok_or_else(|| "too large".to_owned())
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
    fn sizes_have_units() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("3 mb"), Ok(3_000_000));
        assert!(parse_size("GB").is_err());
        assert!(parse_size("1e3").is_err());
        assert!(parse_size("99999999999999999999").is_err());
    }

    #[test]
    fn delimiters_are_single_characters() {
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert!(parse_delimiter(";;").is_err());
        assert!(parse_delimiter("é").is_err());
    }
}
