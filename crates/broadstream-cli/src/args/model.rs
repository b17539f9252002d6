//! The model and its options.

use std::path::PathBuf;

use broadstream::{Forgetting, Ridge};
use clap::{Args, ValueEnum, ValueHint};

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

pub(super) fn parse_size(text: &str) -> Result<u64, String> {
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

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("512"), Ok(512));
        assert_eq!(parse_size("4GiB"), Ok(4 << 30));
        assert_eq!(parse_size("3 mb"), Ok(3_000_000));
        assert!(parse_size("GB").is_err());
        assert!(parse_size("1e3").is_err());
        assert!(parse_size("99999999999999999999").is_err());
    }
}
