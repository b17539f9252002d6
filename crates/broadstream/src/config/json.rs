//! A model's configuration as JSON, under the names that Rust and the command line use.

use serde_json::{Map, Value, json};

use crate::{
    config::{ClassWeight, EnhancementSource, Forgetting, OnlineBlsConfig, Ridge, WeightScale},
    error::{Error, ModelFileError},
    numeric::Activation,
    preprocessing::{Affine, Scaling},
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

    /// The same configuration with other values for the options given, under the names and in the form
    /// of [`to_json`](Self::to_json). Their rules are checked by whoever makes a model of it.
    ///
    /// ```
    /// use broadstream::{OnlineBlsConfig, Ridge};
    /// use serde_json::json;
    ///
    /// let options = json!({ "ridge": 0.5, "scaling": "standard" });
    /// let config = OnlineBlsConfig::single().with_json(options.as_object().unwrap())?;
    /// assert_eq!(config.ridge, Ridge::Fixed(0.5));
    ///
    /// let options = json!({ "activation": "sine" });
    /// let refused = config.with_json(options.as_object().unwrap()).unwrap_err();
    /// let message = "activation must be one of tanh, sigmoid, relu, got \"sine\"";
    /// assert_eq!(refused.to_string(), message);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn with_json(mut self, options: &Map<String, Value>) -> Result<Self, Error> {
        for (option, value) in options {
            self.set(option, value).map_err(|(option, rule)| Error::Config {
                option,
                rule,
                value: value.to_string(),
            })?;
        }
        Ok(self)
    }

    /// The configuration that was saved. Its rules are checked by whoever makes a model of it.
    pub(crate) fn from_state(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let mut config = OnlineBlsConfig::default();
        for option in OnlineBlsConfig::default().to_json().keys() {
            let set = config.set(option, from.value(option)?);
            set.map_err(|(option, rule)| from.invalid(option, rule))?;
        }
        Ok(config)
    }

    /// Sets one option, or says which rule the value breaks.
    fn set(&mut self, option: &str, value: &Value) -> Result<(), Broken> {
        match option {
            "feature_groups" => self.feature_groups = count("feature_groups", value)?,
            "feature_nodes" => self.feature_nodes = count("feature_nodes", value)?,
            "enhancement_groups" => self.enhancement_groups = count("enhancement_groups", value)?,
            "enhancement_nodes" => self.enhancement_nodes = count("enhancement_nodes", value)?,
            "enhancement_source" => {
                let rule = ("enhancement_source", "one of inputs, feature-nodes");
                self.enhancement_source = named(&SOURCES, value).ok_or(rule)?;
            }
            "activation" => {
                let rule = ("activation", "one of tanh, sigmoid, relu");
                self.activation = named(&ACTIVATIONS, value).ok_or(rule)?;
            }
            "weight_scale" => {
                let rule = ("weight_scale", "one of fan-in, paper");
                self.weight_scale = named(&WEIGHT_SCALES, value).ok_or(rule)?;
            }
            "inputs_per_sample" => {
                self.inputs_per_sample = optional_count("inputs_per_sample", value)?;
            }
            "scaling" => {
                let rule = "one of none, min-max, standard, robust, the latter two also with their \
                            clip, or given for each input by its centre and scale";
                self.scaling = scaling(value).ok_or(("scaling", rule))?;
            }
            "freeze_scaling_after" => {
                let samples = optional_count("freeze_scaling_after", value)?;
                self.freeze_scaling_after = samples.map(|samples| samples as u64);
            }
            "ridge" => {
                let number = number_or_auto("ridge", value)?;
                self.ridge = number.map_or(Ridge::Auto, Ridge::Fixed);
            }
            "forgetting" => {
                let number = number_or_auto("forgetting", value)?;
                self.forgetting = number.map_or(Forgetting::Auto, Forgetting::Fixed);
            }
            "window" => self.window = optional_count("window", value)?,
            "refresh_every" => self.refresh_every = optional_count("refresh_every", value)?,
            "correction_steps" => self.correction_steps = count("correction_steps", value)?,
            "nested_models" => self.nested_models = count("nested_models", value)?,
            "stacking" => self.stacking = flag("stacking", value)?,
            "label_lags" => self.label_lags = count("label_lags", value)?,
            "class_weight" => {
                let rule = ("class_weight", "one of none, balanced, auto");
                self.class_weight = named(&CLASS_WEIGHTS, value).ok_or(rule)?;
            }
            "keep_weights" => self.keep_weights = flag("keep_weights", value)?,
            "threads" => self.threads = count("threads", value)?,
            "seed" => self.seed = value.as_u64().ok_or(("seed", WHOLE))?,
            "memory_limit" => {
                self.memory_limit = value.as_u64().ok_or(("memory_limit", WHOLE))?;
            }
            _ => return Err(("options", "those that a model has")),
        }
        Ok(())
    }
}

/// What numbers of things must be, so that sums of them do not overflow.
const COUNT: &str = "a whole number from 0 to 2^60";

/// What other whole numbers must be.
const WHOLE: &str = "a whole number from 0 to 2^64 - 1";

/// An option and the rule that its value breaks.
type Broken = (&'static str, &'static str);

fn count(option: &'static str, value: &Value) -> Result<usize, Broken> {
    let count = value.as_u64().filter(|count| *count <= 1 << 60);
    count.and_then(|count| usize::try_from(count).ok()).ok_or((option, COUNT))
}

fn optional_count(option: &'static str, value: &Value) -> Result<Option<usize>, Broken> {
    if value.is_null() { Ok(None) } else { count(option, value).map(Some) }
}

fn flag(option: &'static str, value: &Value) -> Result<bool, Broken> {
    value.as_bool().ok_or((option, "true or false"))
}

/// `None` is "auto".
fn number_or_auto(option: &'static str, value: &Value) -> Result<Option<f64>, Broken> {
    if value == "auto" {
        return Ok(None);
    }
    value.as_f64().map(Some).ok_or((option, "a number or \"auto\""))
}

fn name<T: PartialEq + Copy>(names: &[(&'static str, T)], value: T) -> Value {
    names.iter().find(|(_, known)| *known == value).map_or(Value::Null, |(name, _)| json!(name))
}

fn named<T: Copy>(names: &[(&str, T)], value: &Value) -> Option<T> {
    let text = value.as_str()?;
    names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value)
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

fn scaling(value: &Value) -> Option<Scaling> {
    if let Some(text) = value.as_str() {
        return match text {
            "none" => Some(Scaling::None),
            "min-max" => Some(Scaling::MinMax),
            "standard" => Some(Scaling::STANDARD),
            "robust" => Some(Scaling::ROBUST),
            _ => None,
        };
    }
    let (rule, parameters) = value.as_object()?.iter().next()?;
    let clip = || parameters["clip"].as_f64();
    match (rule.as_str(), parameters) {
        ("standard", _) => Some(Scaling::Standard { clip: clip()? }),
        ("robust", _) => Some(Scaling::Robust { clip: clip()? }),
        ("given", Value::Object(inputs)) => {
            let affine = |(input, affine): (&String, &Value)| {
                let number = |name: &str| affine[name].as_f64();
                let affine = Affine { centre: number("centre")?, scale: number("scale")? };
                Some((input.clone(), affine))
            };
            inputs.iter().map(affine).collect::<Option<_>>().map(Scaling::Given)
        }
        _ => None,
    }
}
