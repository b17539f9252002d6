//! A model's configuration as JSON, under the names that Rust and the command line use.

use serde_json::{Map, Value, json};

use super::ModelFileError;
use crate::{
    activation::Activation,
    class_weight::ClassWeight,
    features::{EnhancementSource, WeightScale},
    forgetting::Forgetting,
    online_bls::OnlineBlsConfig,
    ridge::Ridge,
    scaling::{Affine, Scaling},
    state::ReadScope,
};

const SOURCES: [(&str, EnhancementSource); 2] =
    [("inputs", EnhancementSource::Inputs), ("feature-nodes", EnhancementSource::FeatureNodes)];
const ACTIVATIONS: [(&str, Activation); 3] =
    [("tanh", Activation::Tanh), ("sigmoid", Activation::Sigmoid), ("relu", Activation::Relu)];
const WEIGHT_SCALES: [(&str, WeightScale); 2] =
    [("fan-in", WeightScale::FanIn), ("paper", WeightScale::Paper)];
const CLASS_WEIGHTS: [(&str, ClassWeight); 3] =
    [("none", ClassWeight::None), ("balanced", ClassWeight::Balanced), ("auto", ClassWeight::Auto)];

impl OnlineBlsConfig {
    /// Every option as JSON.
    ///
    /// ```
    /// use broadstream::OnlineBlsConfig;
    ///
    /// let config = OnlineBlsConfig::single().to_json();
    /// assert_eq!(config["ridge"], 1.0);
    /// assert_eq!(config["scaling"]["robust"]["clip"], 4.0);
    /// ```
    pub fn to_json(&self) -> Map<String, Value> {
        let number_or_auto = |number: Option<f64>| number.map_or(json!("auto"), |x| json!(x));
        let ridge = match self.ridge {
            Ridge::Auto => None,
            Ridge::Fixed(ridge) => Some(ridge),
        };
        let options = [
            ("feature_groups", json!(self.feature_groups)),
            ("feature_nodes", json!(self.feature_nodes)),
            ("enhancement_groups", json!(self.enhancement_groups)),
            ("enhancement_nodes", json!(self.enhancement_nodes)),
            ("enhancement_source", name(&SOURCES, self.enhancement_source)),
            ("activation", name(&ACTIVATIONS, self.activation)),
            ("weight_scale", name(&WEIGHT_SCALES, self.weight_scale)),
            ("inputs_per_sample", json!(self.inputs_per_sample)),
            ("scaling", describe_scaling(&self.scaling)),
            ("freeze_scaling_after", json!(self.freeze_scaling_after)),
            ("ridge", number_or_auto(ridge)),
            ("forgetting", number_or_auto(self.forgetting.fixed())),
            ("window", json!(self.window)),
            ("refresh_every", json!(self.refresh_every)),
            ("correction_steps", json!(self.correction_steps)),
            ("nested_models", json!(self.nested_models)),
            ("stacking", json!(self.stacking)),
            ("label_lags", json!(self.label_lags)),
            ("class_weight", name(&CLASS_WEIGHTS, self.class_weight)),
            ("keep_weights", json!(self.keep_weights)),
            ("threads", json!(self.threads)),
            ("seed", json!(self.seed)),
            ("memory_limit", json!(self.memory_limit)),
        ];
        options.into_iter().map(|(option, value)| (option.to_owned(), value)).collect()
    }

    /// The configuration that was saved. Its rules are checked by whoever makes a model of it.
    pub(super) fn from_state(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let count = |name| from.count(name, usize::MAX);
        let optional = |name| match from.value(name)?.is_null() {
            true => Ok(None),
            false => from.integer(name).map(Some),
        };
        let optional_count = |name| match from.value(name)?.is_null() {
            true => Ok(None),
            false => count(name).map(Some),
        };
        let any_integer = |name| {
            let value = from.value(name)?.as_u64();
            value.ok_or_else(|| from.invalid(name, "a whole number"))
        };
        Ok(OnlineBlsConfig {
            feature_groups: count("feature_groups")?,
            feature_nodes: count("feature_nodes")?,
            enhancement_groups: count("enhancement_groups")?,
            enhancement_nodes: count("enhancement_nodes")?,
            enhancement_source: named(from, "enhancement_source", &SOURCES)?,
            activation: named(from, "activation", &ACTIVATIONS)?,
            weight_scale: named(from, "weight_scale", &WEIGHT_SCALES)?,
            inputs_per_sample: optional_count("inputs_per_sample")?,
            scaling: scaling(from)?,
            freeze_scaling_after: optional("freeze_scaling_after")?,
            ridge: auto_or_number(from, "ridge")?.map_or(Ridge::Auto, Ridge::Fixed),
            forgetting: auto_or_number(from, "forgetting")?
                .map_or(Forgetting::Auto, Forgetting::Fixed),
            window: optional_count("window")?,
            refresh_every: optional_count("refresh_every")?,
            correction_steps: count("correction_steps")?,
            nested_models: count("nested_models")?,
            stacking: from.flag("stacking")?,
            label_lags: count("label_lags")?,
            class_weight: named(from, "class_weight", &CLASS_WEIGHTS)?,
            keep_weights: from.flag("keep_weights")?,
            threads: count("threads")?,
            seed: any_integer("seed")?,
            memory_limit: any_integer("memory_limit")?,
        })
    }
}

fn name<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> Value {
    names.iter().find(|(_, known)| *known == value).map_or(Value::Null, |(name, _)| json!(name))
}

fn named<T: Copy>(
    from: &ReadScope<'_>,
    option: &str,
    names: &[(&str, T)],
) -> Result<T, ModelFileError> {
    let text = from.text(option)?;
    let known = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
    known.ok_or_else(|| from.invalid(option, "one that this program has"))
}

fn auto_or_number(from: &ReadScope<'_>, option: &str) -> Result<Option<f64>, ModelFileError> {
    if from.value(option)? == "auto" {
        return Ok(None);
    }
    from.float(option, f64::MIN..=f64::MAX).map(Some)
}

fn describe_scaling(scaling: &Scaling) -> Value {
    match scaling {
        Scaling::None => json!("none"),
        Scaling::Standard { clip } => json!({ "standard": { "clip": clip } }),
        Scaling::Robust { clip } => json!({ "robust": { "clip": clip } }),
        Scaling::MinMax => json!("min-max"),
        Scaling::Given(given) => {
            let inputs = given.iter().map(|(input, affine)| {
                (input.clone(), json!({ "centre": affine.centre, "scale": affine.scale }))
            });
            json!({ "given": Value::Object(inputs.collect()) })
        }
    }
}

fn scaling(from: &ReadScope<'_>) -> Result<Scaling, ModelFileError> {
    let value = from.value("scaling")?;
    let unknown = || from.invalid("scaling", "one that this program has");
    let clip = |rule: &Value| rule["clip"].as_f64().ok_or_else(unknown);
    if let Some(text) = value.as_str() {
        return match text {
            "none" => Ok(Scaling::None),
            "min-max" => Ok(Scaling::MinMax),
            _ => Err(unknown()),
        };
    }
    let rule = value.as_object().and_then(|object| object.iter().next()).ok_or_else(unknown)?;
    match (rule.0.as_str(), rule.1) {
        ("standard", rule) => Ok(Scaling::Standard { clip: clip(rule)? }),
        ("robust", rule) => Ok(Scaling::Robust { clip: clip(rule)? }),
        ("given", Value::Object(inputs)) => {
            let affine = |(input, affine): (&String, &Value)| {
                let number = |name: &str| affine[name].as_f64().ok_or_else(unknown);
                let affine = Affine { centre: number("centre")?, scale: number("scale")? };
                Ok((input.clone(), affine))
            };
            inputs.iter().map(affine).collect::<Result<_, _>>().map(Scaling::Given)
        }
        _ => Err(unknown()),
    }
}
