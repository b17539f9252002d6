//! From the model options to a model.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
#[cfg(feature = "dense-baselines")]
use broadstream::baselines::{Refactorise, RiBls};
use broadstream::{
    Affine, Classifier, Forgetting, Nodes, OnlineBls, OnlineBlsConfig, Preset, Scaling, Scope,
    baselines::{Eous, Majority, NoChange, ScaledBaselineConfig},
    stream::Stream,
};
use clap::Parser;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    args::{BadUsage, InputArguments, ModelArguments, ModelName, WHOLE_STREAM, first_paragraph},
    build::{applicable, baseline, like::like, source::Source},
};

/// A model and its configuration as the output shows it.
pub(crate) struct Model {
    pub(crate) learner: AnyModel,
    /// One line for people.
    pub(crate) title: String,
    /// Every option for programs.
    pub(crate) config: Value,
}

/// A model that learns: the online broad learning system, which can also be saved, or a baseline.
pub(crate) enum AnyModel {
    OnlineBls(Box<OnlineBls>),
    Baseline(Box<dyn Classifier>),
}

impl Model {
    pub(crate) fn classifier(&self) -> &dyn Classifier {
        match &self.learner {
            AnyModel::OnlineBls(model) => &**model,
            AnyModel::Baseline(model) => &**model,
        }
    }

    pub(crate) fn classifier_mut(&mut self) -> &mut dyn Classifier {
        match &mut self.learner {
            AnyModel::OnlineBls(model) => &mut **model,
            AnyModel::Baseline(model) => &mut **model,
        }
    }

    /// The model as one that has a file format, if it has one.
    pub(crate) fn online_bls(&self) -> Option<&OnlineBls> {
        match &self.learner {
            AnyModel::OnlineBls(model) => Some(model),
            AnyModel::Baseline(_) => None,
        }
    }
}

/// Reads model options as they would stand on a command line.
pub(crate) fn parse_options(options: impl IntoIterator<Item = String>) -> Result<ModelArguments> {
    #[derive(Parser)]
    #[command(no_binary_name = true)]
    struct Options {
        #[command(flatten)]
        model: ModelArguments,
    }
    let parsed = Options::try_parse_from(options).map_err(|error| first_paragraph(&error))?;
    Ok(parsed.model)
}

/// Makes the model that the options describe, for that stream.
pub(crate) fn build(
    arguments: &ModelArguments,
    source: &Source,
    input: &InputArguments,
    stream: &dyn Stream,
) -> Result<Model> {
    applicable::check(arguments)?;
    let name = arguments.model.name();
    let blind = |model| {
        let config = json!({ "model": name });
        Ok(Model { learner: AnyModel::Baseline(model), title: name.clone(), config })
    };
    let config = || configure(arguments, source, input, stream);
    match arguments.model {
        ModelName::OnlineBls => Ok(describe_model(online_bls(arguments, source, input, stream)?)),
        ModelName::Eous => baseline::broad::<Eous>("Online-BLS with EOUS", arguments, config()?),
        ModelName::IBls => baseline::i_bls(arguments, config()?),
        #[cfg(feature = "dense-baselines")]
        ModelName::Refactorise => {
            baseline::broad::<Refactorise>("Online-BLS without EOUS", arguments, config()?)
        }
        #[cfg(feature = "dense-baselines")]
        ModelName::RiBls => baseline::broad::<RiBls>("RI-BLS", arguments, config()?),
        #[cfg(feature = "dense-baselines")]
        ModelName::BlsCil => baseline::bls_cil(arguments, config()?),
        #[cfg(not(feature = "dense-baselines"))]
        ModelName::Refactorise | ModelName::RiBls | ModelName::BlsCil => {
            Err(applicable::not_built(&format!("the model {name}")))
        }
        ModelName::Perceptron => baseline::perceptron(arguments, config()?),
        ModelName::PassiveAggressive => baseline::passive_aggressive(arguments, config()?),
        ModelName::MultilayerPerceptron => baseline::multilayer_perceptron(arguments, config()?),
        ModelName::HedgeBackpropagation => baseline::hedge_backpropagation(arguments, config()?),
        ModelName::NoChange => blind(Box::new(NoChange::new())),
        ModelName::Majority => blind(Box::new(Majority::new())),
    }
}

/// Makes an online broad learning system.
pub(crate) fn online_bls(
    arguments: &ModelArguments,
    source: &Source,
    input: &InputArguments,
    stream: &dyn Stream,
) -> Result<OnlineBls> {
    if let Some(path) = &arguments.like {
        applicable::check(arguments)?;
        let mut model = like(path)?;
        model.set_threads(arguments.options.threads().unwrap_or(1))?;
        return Ok(model);
    }
    Ok(OnlineBls::new(configure(arguments, source, input, stream)?)?)
}

/// What the options amount to, for that stream.
fn configure(
    arguments: &ModelArguments,
    source: &Source,
    input: &InputArguments,
    stream: &dyn Stream,
) -> Result<OnlineBlsConfig> {
    let is_baseline = arguments.model != ModelName::OnlineBls;
    let preset = match arguments.preset {
        // A baseline has at most one regression.
        Preset::Default if is_baseline => Preset::Single,
        preset => preset,
    };
    let mut options = arguments.options.clone();
    if is_baseline && options.given.get("ridge") == Some(&json!("auto")) {
        let name = arguments.model.name();
        return Err(BadUsage(format!("the model {name} needs a number for --ridge")).into());
    }
    options.give_default("inputs_per_sample", stream.inputs_per_sample());
    let by_whole_stream = json!(WHOLE_STREAM.name);
    if preset.scales_by_whole_stream() {
        options.give_default("scaling", by_whole_stream.clone());
    } else if !applicable::has(arguments.model, Scope::Broad) {
        let default = ScaledBaselineConfig::default().scaling;
        options.give_default("scaling", describe_scaling(&default));
    }
    let given = if let Some(path) = &arguments.scaling_file {
        Some(read_scaling(path).with_context(|| path.display().to_string())?)
    } else if options.given.get("scaling") == Some(&by_whole_stream) {
        Some(fit_scaling(arguments.preset, source, input)?)
    } else {
        None
    };
    if let Some(given) = given {
        options.given.insert("scaling".to_owned(), describe_scaling(&given));
    }
    Ok(OnlineBlsConfig::resolve(preset, &options.given)?)
}

/// The min-max scaling of the whole stream, which takes a first pass over it.
fn fit_scaling(preset: Preset, source: &Source, input: &InputArguments) -> Result<Scaling> {
    if !source.can_reopen() {
        let rule = "min-max scaling over the whole stream reads it twice, which standard input does not \
                    allow: give a file, or another --scaling";
        return Err(BadUsage(rule.to_owned()).into());
    }
    let mut first_pass = source.open(input, preset)?;
    Scaling::fit_min_max(&mut *first_pass.stream, input.limit).with_context(|| source.name())
}

/// Reads a scaling from a CSV file with the columns input, centre and scale.
fn read_scaling(path: &Path) -> Result<Scaling> {
    #[derive(Deserialize)]
    struct Row {
        input: String,
        centre: f64,
        scale: f64,
    }
    let mut scaling = BTreeMap::new();
    for row in csv::Reader::from_path(path)?.deserialize() {
        let Row { input, centre, scale } = row?;
        if scaling.insert(input.clone(), Affine { centre, scale }).is_some() {
            anyhow::bail!("input '{input}' is listed twice");
        }
    }
    Ok(Scaling::Given(scaling))
}

fn title(model: &OnlineBls) -> String {
    let config = model.config();
    let forgetting = match (config.window, config.forgetting) {
        (Some(window), _) => format!("window of {window} samples"),
        (None, Forgetting::Fixed(1.0)) => "no forgetting".to_owned(),
        (None, forgetting) => format!("forgetting {forgetting}"),
    };
    let size = match config.enhancement_nodes {
        Nodes::Auto => "nodes auto".to_owned(),
        Nodes::Fixed(_) => format!("{} features", model.features()),
    };
    format!("Online-BLS, {size}, ridge {}, {forgetting}", config.ridge)
}

/// A model as the output shows it.
pub(crate) fn describe_model(model: OnlineBls) -> Model {
    let name = ModelName::OnlineBls.name();
    Model {
        title: title(&model),
        config: describe(&name, model.config()),
        learner: AnyModel::OnlineBls(Box::new(model)),
    }
}

/// The configuration as JSON, under the names that Rust and the command line use.
pub(crate) fn describe(name: &str, config: &OnlineBlsConfig) -> Value {
    let options = config.to_json();
    Value::Object([("model".to_owned(), json!(name))].into_iter().chain(options).collect())
}

pub(crate) fn describe_scaling(scaling: &Scaling) -> Value {
    let config = OnlineBlsConfig { scaling: scaling.clone(), ..OnlineBlsConfig::default() };
    config.to_json()["scaling"].clone()
}
