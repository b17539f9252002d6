//! From the model options to a model to compare with.

use anyhow::Result;
#[cfg(feature = "dense-baselines")]
use broadstream::baselines::{BlsCil, BlsCilOptions};
use broadstream::{
    OnlineBlsConfig, Scope,
    baselines::{
        BroadBaseline, HedgeBackpropagation, HedgeOptions, IBls, IBlsOptions, Learner,
        MultilayerPerceptron, NetworkOptions, PassiveAggressive, PassiveAggressiveOptions,
        Perceptron, ScaledBaseline, ScaledBaselineConfig, Solver,
    },
};
use serde_json::{Value, json};

use crate::{
    args::ModelArguments,
    build::model::{AnyModel, Model, describe, describe_scaling},
};

/// A broad learning system with a solver that has nothing to set but the ridge.
pub(crate) fn broad<S: Solver + 'static>(
    name: &str,
    arguments: &ModelArguments,
    config: OnlineBlsConfig,
) -> Result<Model> {
    let ridge = config.ridge;
    let model = BroadBaseline::<S>::new(config)?;
    Ok(Model {
        title: format!("{name}, {} features, ridge {ridge}", model.features()),
        config: describe_broad(arguments, model.config()),
        learner: AnyModel::Baseline(Box::new(model)),
    })
}

/// I-BLS, which has to tell what is nothing new.
pub(crate) fn i_bls(arguments: &ModelArguments, config: OnlineBlsConfig) -> Result<Model> {
    let default = IBlsOptions::default();
    let zero_tolerance = arguments.baseline.zero_tolerance.unwrap_or(default.zero_tolerance);
    let ridge = config.ridge;
    let model = BroadBaseline::<IBls>::with_options(config, IBlsOptions { zero_tolerance })?;
    let mut config = describe_broad(arguments, model.config());
    config["zero_tolerance"] = json!(zero_tolerance);
    let title = format!("I-BLS, {} features, ridge {ridge}", model.features());
    Ok(Model { title, config, learner: AnyModel::Baseline(Box::new(model)) })
}

/// BLS-CIL, which has no ridge but two terms of its own.
#[cfg(feature = "dense-baselines")]
pub(crate) fn bls_cil(arguments: &ModelArguments, config: OnlineBlsConfig) -> Result<Model> {
    let default = BlsCilOptions::default();
    let options = BlsCilOptions {
        separation: arguments.baseline.separation.unwrap_or(default.separation),
        compactness: arguments.baseline.compactness.unwrap_or(default.compactness),
    };
    let model = BroadBaseline::<BlsCil>::with_options(config, options)?;
    let BlsCilOptions { separation, compactness } = options;
    let mut config = describe_broad(arguments, model.config());
    if let Some(fields) = config.as_object_mut() {
        fields.shift_remove("ridge");
        fields.insert("separation".to_owned(), json!(separation));
        fields.insert("compactness".to_owned(), json!(compactness));
    }
    let features = model.features();
    let title =
        format!("BLS-CIL, {features} features, separation {separation}, compactness {compactness}");
    Ok(Model { title, config, learner: AnyModel::Baseline(Box::new(model)) })
}

pub(crate) fn perceptron(arguments: &ModelArguments, config: OnlineBlsConfig) -> Result<Model> {
    scaled::<Perceptron>(arguments, config, (), "Perceptron".to_owned(), json!({}))
}

pub(crate) fn passive_aggressive(
    arguments: &ModelArguments,
    config: OnlineBlsConfig,
) -> Result<Model> {
    let default = PassiveAggressiveOptions::default();
    let aggressiveness = arguments.baseline.aggressiveness.unwrap_or(default.aggressiveness);
    let options = PassiveAggressiveOptions { aggressiveness };
    let title = format!("Passive-aggressive, aggressiveness {aggressiveness}");
    let fields = json!({ "aggressiveness": aggressiveness });
    scaled::<PassiveAggressive>(arguments, config, options, title, fields)
}

pub(crate) fn multilayer_perceptron(
    arguments: &ModelArguments,
    config: OnlineBlsConfig,
) -> Result<Model> {
    let options = network(arguments, &config, &NetworkOptions::default());
    let title = format!("Multilayer perceptron, {}", network_title(&options));
    let fields = describe_network(&options);
    scaled::<MultilayerPerceptron>(arguments, config, options, title, fields)
}

pub(crate) fn hedge_backpropagation(
    arguments: &ModelArguments,
    config: OnlineBlsConfig,
) -> Result<Model> {
    let default = HedgeOptions::default();
    let options = HedgeOptions {
        network: network(arguments, &config, &default.network),
        discount: arguments.baseline.discount.unwrap_or(default.discount),
        smoothing: arguments.baseline.smoothing.unwrap_or(default.smoothing),
    };
    let title = format!("Hedge backpropagation, {}", network_title(&options.network));
    let mut fields = describe_network(&options.network);
    fields["discount"] = json!(options.discount);
    fields["smoothing"] = json!(options.smoothing);
    scaled::<HedgeBackpropagation>(arguments, config, options, title, fields)
}

/// A model on scaled inputs; `fields` are those of its options in the JSON output.
fn scaled<L: Learner + 'static>(
    arguments: &ModelArguments,
    config: OnlineBlsConfig,
    options: L::Options,
    title: String,
    fields: Value,
) -> Result<Model> {
    let OnlineBlsConfig { scaling, freeze_scaling_after, memory_limit, .. } = config;
    let mut config = json!({ "model": arguments.model.name() });
    if let (Some(config), Value::Object(fields)) = (config.as_object_mut(), fields) {
        config.extend(fields);
        config.insert("scaling".to_owned(), describe_scaling(&scaling));
        config.insert("freeze_scaling_after".to_owned(), json!(freeze_scaling_after));
        config.insert("memory_limit".to_owned(), json!(memory_limit));
    }
    let scaled = ScaledBaselineConfig { scaling, freeze_scaling_after, memory_limit };
    let model = Box::new(ScaledBaseline::<L>::new(scaled, options)?);
    Ok(Model { learner: AnyModel::Baseline(model), title, config })
}

fn network(
    arguments: &ModelArguments,
    config: &OnlineBlsConfig,
    default: &NetworkOptions,
) -> NetworkOptions {
    NetworkOptions {
        hidden_layers: arguments.baseline.hidden_layers.unwrap_or(default.hidden_layers),
        hidden_nodes: arguments.baseline.hidden_nodes.unwrap_or(default.hidden_nodes),
        learning_rate: arguments.baseline.learning_rate.unwrap_or(default.learning_rate),
        inputs_per_sample: config.inputs_per_sample,
        seed: config.seed,
    }
}

fn network_title(options: &NetworkOptions) -> String {
    let NetworkOptions { hidden_layers, hidden_nodes, learning_rate, .. } = options;
    format!("hidden layers {hidden_layers} × {hidden_nodes}, learning rate {learning_rate}")
}

fn describe_network(options: &NetworkOptions) -> Value {
    json!({
        "hidden_layers": options.hidden_layers,
        "hidden_nodes": options.hidden_nodes,
        "learning_rate": options.learning_rate,
        "inputs_per_sample": options.inputs_per_sample,
        "seed": options.seed,
    })
}

/// The configuration without what only Online-BLS has.
fn describe_broad(arguments: &ModelArguments, config: &OnlineBlsConfig) -> Value {
    let mut described = describe(&arguments.model.name(), config);
    if let Some(fields) = described.as_object_mut() {
        let options = OnlineBlsConfig::options().iter();
        for option in options.filter(|option| option.scope == Scope::OnlineBls) {
            fields.shift_remove(option.name);
        }
    }
    described
}
