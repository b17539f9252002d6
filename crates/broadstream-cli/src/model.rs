//! From the model options to a model.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
#[cfg(feature = "dense-baselines")]
use broadstream::baselines::{Refactorise, RiBls};
use broadstream::{
    Activation, Affine, ClassWeight, Classifier, EnhancementSource, Forgetting, OnlineBls,
    OnlineBlsConfig, Ridge, Scaling,
    baselines::{Eous, Majority, NoChange},
    stream::Stream,
};
use clap::Parser;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    applicable,
    args::{
        ActivationArgument, ClassWeightArgument, EnhancementSourceArgument, InputArguments,
        ModelArguments, ModelName, Preset, ScalingArgument,
    },
    baseline,
    failure::{BadUsage, first_paragraph},
    merge,
    source::Source,
};

/// A model and its configuration as the output shows it.
pub(crate) struct Model {
    pub(crate) classifier: Box<dyn Classifier>,
    /// One line for people.
    pub(crate) title: String,
    /// Every option for programs.
    pub(crate) config: Value,
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
    let name = applicable::name(arguments.model);
    let blind = |classifier| {
        let config = json!({ "model": name });
        Ok(Model { classifier, title: name.clone(), config })
    };
    let config = || {
        let config = configure(arguments, source, input, stream)?;
        check_options(arguments, &config).map(|()| config)
    };
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
        let mut model = merge::like(path)?;
        model.set_threads(arguments.threads.unwrap_or(1))?;
        return Ok(model);
    }
    let config = configure(arguments, source, input, stream)?;
    check_options(arguments, &config)?;
    Ok(OnlineBls::new(config)?)
}

fn configure(
    arguments: &ModelArguments,
    source: &Source,
    input: &InputArguments,
    stream: &dyn Stream,
) -> Result<OnlineBlsConfig> {
    let preset = match (arguments.preset, arguments.model) {
        (Preset::Default, ModelName::OnlineBls) => OnlineBlsConfig::default(),
        // What is to be compared with has one regression.
        (Preset::Default | Preset::Single, _) => OnlineBlsConfig::single(),
        (Preset::Paper, _) => OnlineBlsConfig::paper(),
        (Preset::PaperDrift, _) => {
            OnlineBlsConfig { forgetting: Forgetting::Fixed(0.99), ..OnlineBlsConfig::paper() }
        }
    };
    let activation = match arguments.activation {
        None => preset.activation,
        Some(ActivationArgument::Tanh) => Activation::Tanh,
        Some(ActivationArgument::Sigmoid) => Activation::Sigmoid,
        Some(ActivationArgument::Relu) => Activation::Relu,
    };
    let enhancement_source = match arguments.enhancement_source {
        None => preset.enhancement_source,
        Some(EnhancementSourceArgument::Inputs) => EnhancementSource::Inputs,
        Some(EnhancementSourceArgument::FeatureNodes) => EnhancementSource::FeatureNodes,
    };
    let class_weight = match arguments.class_weight {
        None => preset.class_weight,
        Some(ClassWeightArgument::None) => ClassWeight::None,
        Some(ClassWeightArgument::Balanced) => ClassWeight::Balanced,
        Some(ClassWeightArgument::Auto) => ClassWeight::Auto,
    };
    let stacking = arguments.stacking.unwrap_or(preset.stacking);
    let windowed = arguments.window.is_some();
    let label_lags = usize::from(stacking && !windowed);
    let forgetting = if windowed { Forgetting::Fixed(1.0) } else { preset.forgetting };
    Ok(OnlineBlsConfig {
        feature_groups: arguments.feature_groups.unwrap_or(preset.feature_groups),
        feature_nodes: arguments.feature_nodes.unwrap_or(preset.feature_nodes),
        enhancement_groups: arguments.enhancement_groups.unwrap_or(preset.enhancement_groups),
        enhancement_nodes: arguments.enhancement_nodes.unwrap_or(preset.enhancement_nodes),
        enhancement_source,
        activation,
        inputs_per_sample: Some(stream.inputs_per_sample()),
        scaling: scaling(arguments, source, input)?,
        freeze_scaling_after: arguments.freeze_scaling_after,
        ridge: arguments.ridge.unwrap_or(preset.ridge),
        forgetting: arguments.forgetting.unwrap_or(forgetting),
        window: arguments.window,
        refresh_every: arguments.refresh_every,
        correction_steps: arguments.correction_steps.unwrap_or(preset.correction_steps),
        nested_models: arguments.nested_models.unwrap_or(preset.nested_models),
        stacking,
        label_lags: arguments.label_lags.unwrap_or(label_lags),
        class_weight,
        keep_weights: arguments.keep_weights,
        threads: arguments.threads.unwrap_or(preset.threads),
        seed: arguments.seed.unwrap_or(preset.seed),
        memory_limit: arguments.memory_limit.unwrap_or(preset.memory_limit),
        ..preset
    })
}

fn scaling(arguments: &ModelArguments, source: &Source, input: &InputArguments) -> Result<Scaling> {
    if let Some(path) = &arguments.scaling_file {
        return read_scaling(path).with_context(|| path.display().to_string());
    }
    let default = match arguments.preset {
        Preset::Default | Preset::Single if applicable::is_broad(arguments.model) => {
            ScalingArgument::Robust
        }
        Preset::Default | Preset::Single => ScalingArgument::Standard,
        Preset::Paper | Preset::PaperDrift => ScalingArgument::MinMaxWhole,
    };
    Ok(match arguments.scaling.unwrap_or(default) {
        ScalingArgument::Standard => Scaling::STANDARD,
        ScalingArgument::Robust => Scaling::ROBUST,
        ScalingArgument::MinMax => Scaling::MinMax,
        ScalingArgument::None => Scaling::None,
        ScalingArgument::MinMaxWhole if source.can_reopen() => {
            let mut first_pass = source.open(input, arguments.preset)?;
            Scaling::fit_min_max(&mut *first_pass.stream, input.limit)
                .with_context(|| source.name())?
        }
        ScalingArgument::MinMaxWhole => {
            let rule = "min-max scaling over the whole stream reads it twice, which standard input \
                        does not allow: give a file, or another --scaling";
            return Err(BadUsage(rule.to_owned()).into());
        }
    })
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

/// Options that could not have any effect are refused: whoever gives one expects something of it.
fn check_options(arguments: &ModelArguments, config: &OnlineBlsConfig) -> Result<()> {
    let compared = !matches!(arguments.model, ModelName::OnlineBls);
    if compared && arguments.ridge == Some(Ridge::Auto) {
        let name = applicable::name(arguments.model);
        return Err(BadUsage(format!("the model {name} needs a number for --ridge")).into());
    }
    let remembers = config.forgetting == Forgetting::Fixed(1.0);
    let ignored = if arguments.refresh_every.is_some() && remembers {
        "--refresh-every needs --forgetting below 1: without it nothing is refreshed"
    } else if config.correction_steps > 0 && remembers {
        "--correction-steps needs --forgetting below 1: without it the ridge does not fade"
    } else if arguments.freeze_scaling_after.is_some()
        && matches!(config.scaling, Scaling::None | Scaling::Given(_))
    {
        "--freeze-scaling-after needs a running scaling: --scaling standard, robust or min-max"
    } else {
        return Ok(());
    };
    Err(BadUsage(ignored.to_owned()).into())
}

fn title(model: &OnlineBls) -> String {
    let config = model.config();
    let forgetting = match (config.window, config.forgetting) {
        (Some(window), _) => format!("window of {window} samples"),
        (None, Forgetting::Fixed(1.0)) => "no forgetting".to_owned(),
        (None, forgetting) => format!("forgetting {forgetting}"),
    };
    format!("Online-BLS, {} features, ridge {}, {forgetting}", model.features(), config.ridge)
}

/// A model as the output shows it.
pub(crate) fn describe_model(model: OnlineBls) -> Model {
    let name = applicable::name(ModelName::OnlineBls);
    Model {
        title: title(&model),
        config: describe(&name, model.config()),
        classifier: Box::new(model),
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
