//! The model and its options.

use std::path::PathBuf;

use broadstream::Preset;
use clap::{
    Args, ValueEnum, ValueHint,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use super::{baseline::BaselineArguments, model_options::ModelOptions};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Model")]
pub(crate) struct ModelArguments {
    /// The model
    #[arg(long, value_enum, default_value_t = ModelName::OnlineBls)]
    pub(crate) model: ModelName,

    /// The configuration that the options below start from
    #[arg(long, default_value = "default", value_parser = preset_parser())]
    pub(crate) preset: Preset,

    /// Take all options of the model from a saved one, with its scaling as it is there, frozen: what is
    /// learned can be merged with it
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) like: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) options: ModelOptions,

    /// A CSV file with the columns input, centre, scale: each input becomes (x - centre) / scale
    #[arg(long, value_name = "FILE", conflicts_with = "scaling", value_hint = ValueHint::FilePath)]
    #[arg(help_heading = "Scaling of the inputs")]
    pub(crate) scaling_file: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) baseline: BaselineArguments,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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

impl ModelName {
    /// The name as the user types it.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

fn preset_parser() -> impl TypedValueParser<Value = Preset> {
    let values = Preset::all().map(|(_, named)| PossibleValue::new(named.name).help(named.help));
    PossibleValuesParser::new(values)
        .try_map(|name| Preset::named(&name).ok_or_else(|| Preset::rule().to_owned()))
}
