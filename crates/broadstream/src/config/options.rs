//! Every option of a model, defined once: its name, its values, its meaning and the field it sets.
//!
//! Each becomes a flag of the command line, a keyword argument in Python and a key in JSON.
//! Defaults come from the presets. Ranges are checked here, and rules that involve several options
//! when a model is made.

use serde_json::{Map, Value, json};

use super::{
    ClassWeight, EnhancementSource, Forgetting, Nodes, OnlineBlsConfig, Preset, Ridge, WeightScale,
    choice::{self, Named},
    scaling,
};
use crate::{data::Objective, error::Error, numeric::Activation};

/// One option of a model.
///
/// ```
/// use broadstream::{OnlineBlsConfig, Preset};
///
/// let option = OnlineBlsConfig::option("label_lags").unwrap();
/// assert_eq!(option.default_in(Preset::Default), 1);
/// assert_eq!(option.default_in(Preset::Single), 0);
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct ConfigOption {
    /// The name of the option: a field of [`OnlineBlsConfig`], a key in JSON and an argument in
    /// Python. The command line writes it with hyphens.
    pub name: &'static str,
    /// The values that it can have.
    pub values: Values,
    /// Its meaning, without its default.
    pub help: &'static str,
    /// The topic under which help texts list it.
    pub topic: Topic,
    /// Which models have it.
    pub scope: Scope,
    get: fn(&OnlineBlsConfig) -> Value,
    set: fn(&mut OnlineBlsConfig, &Value) -> Result<(), &'static str>,
}

/// The values that an option can have.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Values {
    /// A whole number.
    Count {
        /// The smallest and the largest allowed value.
        range: (u64, u64),
        /// The range in words.
        rule: &'static str,
    },
    /// A whole number, or `"auto"`.
    CountOrAuto {
        /// The smallest and the largest allowed value.
        range: (u64, u64),
        /// The range in words.
        rule: &'static str,
    },
    /// A whole number of bytes.
    Bytes,
    /// `true` or `false`.
    Flag,
    /// A number, or `"auto"`.
    NumberOrAuto {
        /// The symbol of the number in help texts.
        symbol: &'static str,
        /// The smallest and the largest allowed value.
        range: (f64, f64),
        /// The range in words.
        rule: &'static str,
    },
    /// One of these names.
    Choice(&'static [Named]),
    /// One of these names, or an object with a name and its parameters.
    Scaling(&'static [Named]),
}

/// What an option is about. Help texts group options by topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Topic {
    /// How much of the past counts.
    Memory,
    /// How the predictions of several regressions are combined.
    Prediction,
    /// The random features.
    Features,
    /// How inputs are prepared.
    Inputs,
    /// Time and memory.
    Resources,
}

/// Which models have an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// [`OnlineBls`](crate::OnlineBls) alone.
    OnlineBls,
    /// Every model with a ridge.
    Ridge,
    /// Every broad learning system, including those among the baselines.
    Broad,
    /// Every model that draws random numbers.
    Seeded,
    /// Every model that uses its inputs.
    Inputs,
}

/// The largest count, so that sums of counts do not overflow.
const MOST: u64 = 1 << 60;

const AT_LEAST_1: Values = Values::Count { range: (1, u64::MAX), rule: "at least 1" };

/// The rule for counts.
const COUNT: &str = "a whole number from 0 to 2^60";

/// The rule for counts that the model may choose.
const COUNT_OR_AUTO: &str = "a whole number from 0 to 2^60, or 'auto'";

/// The rule for other whole numbers.
const WHOLE: &str = "a whole number from 0 to 2^64 - 1";

/// All options, in their order in JSON.
static OPTIONS: [ConfigOption; 25] = [
    ConfigOption {
        name: "feature_groups",
        values: AT_LEAST_1,
        help: "Groups of linear feature nodes",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| json!(config.feature_groups),
        set: |config, value| count(value).map(|n| config.feature_groups = n),
    },
    ConfigOption {
        name: "feature_nodes",
        values: AT_LEAST_1,
        help: "Nodes per feature group",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| json!(config.feature_nodes),
        set: |config, value| count(value).map(|n| config.feature_nodes = n),
    },
    ConfigOption {
        name: "enhancement_groups",
        values: AT_LEAST_1,
        help: "Groups of non-linear enhancement nodes",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| json!(config.enhancement_groups),
        set: |config, value| count(value).map(|n| config.enhancement_groups = n),
    },
    ConfigOption {
        name: "enhancement_nodes",
        values: Values::CountOrAuto { range: (1, u64::MAX), rule: "at least 1" },
        help: "Nodes per enhancement group; with 'auto', each regression gets as many as pay, and \
               nodes drawn from pairs of the first samples are tried beside random ones",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| config.enhancement_nodes.fixed().map_or(json!(AUTO), |n| json!(n)),
        set: |config, value| {
            let nodes =
                if value == AUTO { Nodes::Auto } else { Nodes::Fixed(count_or_auto(value)?) };
            config.enhancement_nodes = nodes;
            Ok(())
        },
    },
    ConfigOption {
        name: "most_nodes",
        values: AT_LEAST_1,
        help: "The largest number of enhancement nodes of a regression, where enhancement_nodes is \
               'auto'",
        topic: Topic::Resources,
        scope: Scope::OnlineBls,
        get: |config| json!(config.most_nodes),
        set: |config, value| count(value).map(|n| config.most_nodes = n),
    },
    ConfigOption {
        name: "enhancement_source",
        values: Values::Choice(&choice::names::<EnhancementSource, 2>()),
        help: "What the enhancement nodes see",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| choice::to_json(config.enhancement_source),
        set: |config, value| choice::from_json(value).map(|c| config.enhancement_source = c),
    },
    ConfigOption {
        name: "activation",
        values: Values::Choice(&choice::names::<Activation, 3>()),
        help: "The non-linearity of the enhancement nodes",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| choice::to_json(config.activation),
        set: |config, value| choice::from_json(value).map(|c| config.activation = c),
    },
    ConfigOption {
        name: "weight_scale",
        values: Values::Choice(&choice::names::<WeightScale, 2>()),
        help: "The size of the random weights; 'paper' needs the enhancement source feature-nodes",
        topic: Topic::Features,
        scope: Scope::Broad,
        get: |config| choice::to_json(config.weight_scale),
        set: |config, value| choice::from_json(value).map(|c| config.weight_scale = c),
    },
    ConfigOption {
        name: "inputs_per_sample",
        values: AT_LEAST_1,
        help: "How many inputs are usually present in a sample, which determines the size of the \
               first layer's weights; if left out, the number of the source's columns or of the \
               first sample's inputs",
        topic: Topic::Inputs,
        scope: Scope::Broad,
        get: |config| json!(config.inputs_per_sample),
        set: |config, value| optional_count(value).map(|n| config.inputs_per_sample = n),
    },
    ConfigOption {
        name: "scaling",
        values: Values::Scaling(&scaling::NAMES),
        help: "How numeric inputs are scaled",
        topic: Topic::Inputs,
        scope: Scope::Inputs,
        get: |config| scaling::to_json(&config.scaling),
        set: |config, value| scaling::from_json(value).map(|scaling| config.scaling = scaling),
    },
    ConfigOption {
        name: "freeze_scaling_after",
        // One sample has no spread: scaled by it alone, every input would be 0 forever.
        values: Values::Count { range: (2, u64::MAX), rule: "at least 2" },
        help: "Freeze a running scaling after this many samples; if left out, it is never frozen",
        topic: Topic::Inputs,
        scope: Scope::Inputs,
        get: |config| json!(config.freeze_scaling_after),
        set: |config, value| {
            optional_count(value).map(|n| config.freeze_scaling_after = n.map(|n| n as u64))
        },
    },
    ConfigOption {
        name: "ridge",
        values: Values::NumberOrAuto {
            symbol: "LAMBDA",
            range: (1e-100, 1e100),
            rule: "above 0, from 1e-100 to 1e100",
        },
        help: "How strongly the output weights are pulled towards zero; with 'auto', regressions \
               with several ridges are combined",
        topic: Topic::Memory,
        scope: Scope::Ridge,
        get: |config| number_or_auto(config.ridge.fixed()),
        set: |config, value| {
            let number = from_number_or_auto(value)?;
            config.ridge = number.map_or(Ridge::Auto, Ridge::Fixed);
            Ok(())
        },
    },
    ConfigOption {
        name: "forgetting",
        // With a smaller one, a single step could lose the state to underflow.
        values: Values::NumberOrAuto {
            symbol: "MU",
            range: (1e-6, 1.0),
            rule: "in (0, 1], and at least 1e-6",
        },
        help: "The factor by which each new sample multiplies the weight of all earlier ones: 1 \
               forgets nothing, 0.999 remembers about a thousand samples; with 'auto', regressions \
               with several factors are combined",
        topic: Topic::Memory,
        scope: Scope::OnlineBls,
        get: |config| number_or_auto(config.forgetting.fixed()),
        set: |config, value| {
            let number = from_number_or_auto(value)?;
            config.forgetting = number.map_or(Forgetting::Auto, Forgetting::Fixed);
            Ok(())
        },
    },
    ConfigOption {
        name: "window",
        values: AT_LEAST_1,
        help: "Remember exactly this many samples: after every sample the model is the optimum of \
               the last ones alone. Implies a forgetting of 1 and no label lags",
        topic: Topic::Memory,
        scope: Scope::OnlineBls,
        get: |config| json!(config.window),
        set: |config, value| optional_count(value).map(|n| config.window = n),
    },
    ConfigOption {
        name: "refresh_every",
        values: AT_LEAST_1,
        help: "Samples between two exact refreshes of a regression that forgets, where 1 is the \
               paper's Algorithm 2; if left out, as many as leave a quarter of the ridge",
        topic: Topic::Memory,
        scope: Scope::OnlineBls,
        get: |config| json!(config.refresh_every),
        set: |config, value| optional_count(value).map(|n| config.refresh_every = n),
    },
    ConfigOption {
        name: "correction_steps",
        values: Values::Count { range: (0, 100), rule: "at most 100" },
        help: "Steps per sample that correct for the ridge fading between two refreshes: 2 to 4 \
               steps come close to the paper's Algorithm 2. They need the preset single and one \
               nested model",
        topic: Topic::Memory,
        scope: Scope::OnlineBls,
        get: |config| json!(config.correction_steps),
        set: |config, value| count(value).map(|n| config.correction_steps = n),
    },
    ConfigOption {
        name: "nested_models",
        values: AT_LEAST_1,
        help: "How many nested models, on fewer and fewer nodes, each regression has; 1 is the \
               largest alone",
        topic: Topic::Prediction,
        scope: Scope::OnlineBls,
        get: |config| json!(config.nested_models),
        set: |config, value| count(value).map(|n| config.nested_models = n),
    },
    ConfigOption {
        name: "stacking",
        values: Values::Flag,
        help: "Whether a regression on the members' predictions and the last labels makes the \
               final prediction, which is then calibrated; otherwise the members are averaged",
        topic: Topic::Prediction,
        scope: Scope::OnlineBls,
        get: |config| json!(config.stacking),
        set: |config, value| flag(value).map(|flag| config.stacking = flag),
    },
    ConfigOption {
        name: "label_lags",
        values: Values::Count { range: (0, 100), rule: "at most 100" },
        help: "How many of the last labels are inputs of stacking, and of one or two regressions \
               of their own; 0 without stacking or with a window",
        topic: Topic::Prediction,
        scope: Scope::OnlineBls,
        get: |config| json!(config.label_lags),
        set: |config, value| count(value).map(|n| config.label_lags = n),
    },
    ConfigOption {
        name: "class_weight",
        values: Values::Choice(&choice::names::<ClassWeight, 3>()),
        help: "How much a sample counts, by how rare its class is",
        topic: Topic::Prediction,
        scope: Scope::OnlineBls,
        get: |config| choice::to_json(config.class_weight),
        set: |config, value| choice::from_json(value).map(|c| config.class_weight = c),
    },
    ConfigOption {
        name: "objective",
        values: Values::Choice(&choice::names::<Objective, 4>()),
        help: "What decisions are made for; probabilities do not depend on it, and a saved model \
               can change it",
        topic: Topic::Prediction,
        scope: Scope::OnlineBls,
        get: |config| choice::to_json(config.objective),
        set: |config, value| choice::from_json(value).map(|c| config.objective = c),
    },
    ConfigOption {
        name: "keep_weights",
        values: Values::Flag,
        help: "Keep the output weights up to date, which makes predicting much faster and learning \
               slower",
        topic: Topic::Resources,
        scope: Scope::OnlineBls,
        get: |config| json!(config.keep_weights),
        set: |config, value| flag(value).map(|flag| config.keep_weights = flag),
    },
    ConfigOption {
        name: "threads",
        values: Values::Count { range: (1, 1024), rule: "from 1 to 1024" },
        help: "How many threads learn a block; the result does not depend on it",
        topic: Topic::Resources,
        scope: Scope::OnlineBls,
        get: |config| json!(config.threads),
        set: |config, value| count(value).map(|n| config.threads = n),
    },
    ConfigOption {
        name: "seed",
        values: Values::Count { range: (0, u64::MAX), rule: WHOLE },
        help: "The seed of all random weights",
        topic: Topic::Features,
        scope: Scope::Seeded,
        get: |config| json!(config.seed),
        set: |config, value| whole(value).map(|seed| config.seed = seed),
    },
    ConfigOption {
        name: "memory_limit",
        values: Values::Bytes,
        help: "The largest amount of memory that the model may take",
        topic: Topic::Resources,
        scope: Scope::Inputs,
        get: |config| json!(config.memory_limit),
        set: |config, value| whole(value).map(|bytes| config.memory_limit = bytes),
    },
];

impl OnlineBlsConfig {
    /// All options of a model.
    pub fn options() -> &'static [ConfigOption] {
        &OPTIONS
    }

    /// The option of this name.
    pub fn option(name: &str) -> Option<&'static ConfigOption> {
        OPTIONS.iter().find(|option| option.name == name)
    }

    /// The values of all options, as JSON.
    ///
    /// ```
    /// use broadstream::OnlineBlsConfig;
    ///
    /// let config = OnlineBlsConfig::single().to_json();
    /// assert_eq!(config["ridge"], 1.0);
    /// assert_eq!(config["scaling"]["robust"]["clip"], 4.0);
    /// ```
    pub fn to_json(&self) -> Map<String, Value> {
        OPTIONS.iter().map(|option| (option.name.to_owned(), option.get(self))).collect()
    }
}

impl ConfigOption {
    /// The option's value in a configuration, as JSON; null if it is left out.
    pub fn get(&self, config: &OnlineBlsConfig) -> Value {
        (self.get)(config)
    }

    /// The option's default in a preset, as JSON.
    pub fn default_in(&self, preset: Preset) -> Value {
        self.get(&preset.config())
    }

    /// Reads a value as a user would type it, and returns it as JSON. An error is the rule that the
    /// value breaks.
    ///
    /// ```
    /// use broadstream::OnlineBlsConfig;
    ///
    /// let option = OnlineBlsConfig::option("memory_limit").unwrap();
    /// assert_eq!(option.parse("2MiB").unwrap(), 2 << 20);
    /// let option = OnlineBlsConfig::option("stacking").unwrap();
    /// assert_eq!(option.parse("maybe").unwrap_err(), "true or false");
    /// ```
    pub fn parse(&self, text: &str) -> Result<Value, &'static str> {
        let value = match self.values {
            Values::Count { .. } => text.parse::<u64>().map(|n| json!(n)).map_err(|_| WHOLE)?,
            Values::CountOrAuto { .. } => {
                text.parse::<u64>().map_or_else(|_| json!(text), |n| json!(n))
            }
            Values::Bytes => json!(super::parse_bytes(text)?),
            Values::Flag => text.parse::<bool>().map(|flag| json!(flag)).map_err(|_| FLAG)?,
            Values::NumberOrAuto { .. } => match text.parse::<f64>() {
                Ok(number) => {
                    serde_json::Number::from_f64(number).map(Value::Number).ok_or(NUMBER)?
                }
                Err(_) => json!(text),
            },
            Values::Choice(_) | Values::Scaling(_) => json!(text),
        };
        self.set(&mut OnlineBlsConfig::default(), &value)?;
        Ok(value)
    }

    /// Sets the option, or returns the rule that the value breaks. [`check`](Self::check) checks
    /// the range.
    pub(super) fn set(
        &self,
        config: &mut OnlineBlsConfig,
        value: &Value,
    ) -> Result<(), &'static str> {
        (self.set)(config, value)
    }

    /// Checks that the option is within its range. Rules that involve several options are checked
    /// when a model is made.
    pub(crate) fn check(&self, config: &OnlineBlsConfig) -> Result<(), Error> {
        let value = self.get(config);
        let broken = match self.values {
            Values::Count { range: (least, most), rule }
            | Values::CountOrAuto { range: (least, most), rule } => {
                value.as_u64().filter(|count| !(least..=most).contains(count)).map(|_| rule)
            }
            // JSON has no NaN and no infinities. They become null, which is outside every range.
            Values::NumberOrAuto { range: (least, most), rule, .. } if value != AUTO => {
                let within = value.as_f64().is_some_and(|x| (least..=most).contains(&x));
                (!within).then_some(rule)
            }
            _ => None,
        };
        let Some(rule) = broken else { return Ok(()) };
        // For the same reason the error prints these two from the configuration: NaN, not null.
        let value = match self.name {
            "ridge" => config.ridge.to_string(),
            "forgetting" => config.forgetting.to_string(),
            _ => value.to_string(),
        };
        Err(Error::Config { option: self.name, rule, value })
    }
}

const AUTO: &str = "auto";

const FLAG: &str = "true or false";

const NUMBER: &str = "a number or 'auto'";

fn whole(value: &Value) -> Result<u64, &'static str> {
    value.as_u64().ok_or(WHOLE)
}

fn count(value: &Value) -> Result<usize, &'static str> {
    let count = value.as_u64().filter(|count| *count <= MOST);
    count.and_then(|count| usize::try_from(count).ok()).ok_or(COUNT)
}

fn count_or_auto(value: &Value) -> Result<usize, &'static str> {
    count(value).map_err(|_| COUNT_OR_AUTO)
}

fn optional_count(value: &Value) -> Result<Option<usize>, &'static str> {
    if value.is_null() { Ok(None) } else { count(value).map(Some) }
}

fn flag(value: &Value) -> Result<bool, &'static str> {
    value.as_bool().ok_or(FLAG)
}

fn number_or_auto(number: Option<f64>) -> Value {
    number.map_or(json!(AUTO), |x| json!(x))
}

/// Reads a number, or "auto" as `None`.
fn from_number_or_auto(value: &Value) -> Result<Option<f64>, &'static str> {
    if value == AUTO {
        return Ok(None);
    }
    value.as_f64().map(Some).ok_or(NUMBER)
}
