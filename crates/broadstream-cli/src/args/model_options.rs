//! The options of a model as flags. The library defines them; nothing about a single option stands here
//! but what the command line adds to it.

use std::sync::LazyLock;

use broadstream::{ConfigOption, Named, OnlineBlsConfig, Preset, Topic, Values};
use clap::{
    Arg, ArgMatches, Args, Command, FromArgMatches,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser, ValueParser},
};
use serde_json::{Map, Value, json};

/// The options that were given, by the names of the library.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelOptions {
    pub(crate) given: Map<String, Value>,
}

/// A scaling that only a program which reads its source twice can offer.
pub(crate) const WHOLE_STREAM: Named = Named {
    name: "min-max-whole",
    help: "(x - min) / (max - min) of the whole stream, which is read twice",
};

/// What the options are about, in the order in which the help shows them.
const TOPICS: [(Topic, &str); 5] = [
    (Topic::Memory, "Memory and forgetting"),
    (Topic::Prediction, "Prediction"),
    (Topic::Features, "Random features"),
    (Topic::Inputs, "Scaling of the inputs"),
    (Topic::Resources, "Resources"),
];

impl ModelOptions {
    /// How many threads were asked for.
    pub(crate) fn threads(&self) -> Option<usize> {
        self.given.get("threads").and_then(Value::as_u64).map(|threads| threads as usize)
    }

    /// Gives an option a value, unless it has one.
    pub(crate) fn give_default(&mut self, option: &str, value: impl Into<Value>) {
        self.given.entry(option).or_insert_with(|| value.into());
    }
}

impl Args for ModelOptions {
    fn augment_args(command: Command) -> Command {
        TOPICS.iter().fold(command, |command, (topic, heading)| {
            let options = FLAGS.iter().filter(|flag| flag.option.topic == *topic);
            command.args(options.map(|flag| flag.argument().help_heading(*heading)))
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ModelOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut options = ModelOptions::default();
        options.update_from_arg_matches(matches)?;
        Ok(options)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        for option in OnlineBlsConfig::options() {
            if let Some(value) = matches.get_one::<Value>(option.name) {
                self.given.insert(option.name.to_owned(), value.clone());
            }
        }
        Ok(())
    }
}

/// An option with its spelling on the command line, which must live as long as the program.
struct Flag {
    option: &'static ConfigOption,
    long: String,
    value_name: String,
}

static FLAGS: LazyLock<Vec<Flag>> = LazyLock::new(|| {
    let options = OnlineBlsConfig::options().iter();
    let flag = |option: &'static ConfigOption| Flag {
        option,
        long: option.name.replace('_', "-"),
        value_name: option.name.to_uppercase(),
    };
    options.map(flag).collect()
});

impl Flag {
    fn argument(&'static self) -> Arg {
        let option = self.option;
        let argument = Arg::new(option.name)
            .long(self.long.as_str())
            .help(format!("{}{}", option.help, default_text(option)))
            .value_parser(value_parser(option));
        match option.values {
            Values::Count { .. } | Values::CountOrAuto { .. } => argument.value_name("N"),
            Values::Bytes => argument.value_name("SIZE"),
            Values::NumberOrAuto { symbol, .. } => {
                argument.value_name(symbol).allow_negative_numbers(true)
            }
            // An option that is off everywhere is turned on by its name alone.
            Values::Flag if is_off_everywhere(option) => argument
                .value_name("BOOL")
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true"),
            Values::Flag => argument.value_name("BOOL"),
            _ => argument.value_name(self.value_name.as_str()),
        }
    }
}

fn is_off_everywhere(option: &ConfigOption) -> bool {
    Preset::all().all(|(preset, _)| option.default_in(preset) == json!(false))
}

fn value_parser(option: &'static ConfigOption) -> ValueParser {
    let possible = |names: Vec<Named>| {
        let values = names.into_iter().map(|named| PossibleValue::new(named.name).help(named.help));
        ValueParser::new(PossibleValuesParser::new(values).map(Value::String))
    };
    match option.values {
        Values::Choice(names) => possible(names.to_vec()),
        Values::Scaling(names) => possible(names.iter().copied().chain([WHOLE_STREAM]).collect()),
        _ => ValueParser::new(move |text: &str| {
            option.parse(text).map_err(|rule| format!("expected {rule}"))
        }),
    }
}

/// What the option is if it is not given, in each preset, as the help shows it.
fn default_text(option: &ConfigOption) -> String {
    if option.name == "threads" {
        return " [default: as many as there are cores, at most 8; 1 where several models are at work]"
            .to_owned();
    }
    let mut defaults: Vec<(String, Vec<&str>)> = Vec::new();
    for (preset, named) in Preset::all() {
        let by_whole_stream =
            matches!(option.values, Values::Scaling(_)) && preset.scales_by_whole_stream();
        let value = match by_whole_stream {
            true => json!(WHOLE_STREAM.name),
            false => option.default_in(preset),
        };
        let Some(text) = shown(option, &value) else { continue };
        match defaults.iter_mut().find(|(known, _)| *known == text) {
            Some((_, presets)) => presets.push(named.name),
            None => defaults.push((text, vec![named.name])),
        }
    }
    let others = defaults.iter().skip(1);
    let others: Vec<String> =
        others.map(|(value, presets)| format!("{value} in {}", listed(presets))).collect();
    match defaults.first() {
        None => String::new(),
        Some((value, _)) if others.is_empty() => format!(" [default: {value}]"),
        Some((value, _)) => format!(" [default: {value}; {}]", others.join(", ")),
    }
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}

/// A value as the user would type it; `None` for an option that is left out.
fn shown(option: &ConfigOption, value: &Value) -> Option<String> {
    match (option.values, value) {
        (_, Value::Null) => None,
        (Values::Bytes, value) => value.as_u64().map(|bytes| format!("{}GiB", bytes >> 30)),
        (Values::Flag, Value::Bool(false)) if is_off_everywhere(option) => None,
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Object(object)) => object.keys().next().cloned(),
        (_, Value::Number(number)) if number.is_f64() => number
            .as_f64()
            .map(|x| if x != 0.0 && x.abs() < 1e-4 { format!("{x:e}") } else { x.to_string() }),
        (_, value) => Some(value.to_string()),
    }
}
