//! A scaling as JSON: a name, or an object with a name and its parameters.

use serde_json::{Value, json};

use super::choice::Named;
use crate::preprocessing::{Affine, Scaling};

/// The scalings that need nothing but a name.
pub(super) const NAMES: [Named; 4] = [
    Named::new("none", "The inputs as they are"),
    Named::new("min-max", "(x - min) / (max - min) of the samples so far"),
    Named::new("standard", "(x - mean) / standard deviation of the samples so far"),
    Named::new(
        "robust",
        "The average of the standard scaling and the rank of x among the samples so far, both with \
         variance 1: for outliers, heavy tails and nearly constant inputs",
    ),
];

const RULE: &str = "one of none, min-max, standard, robust, the latter two also with their clip, \
                    or given for each input by its centre and scale";

pub(super) fn to_json(scaling: &Scaling) -> Value {
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

pub(super) fn from_json(value: &Value) -> Result<Scaling, &'static str> {
    read(value).ok_or(RULE)
}

fn read(value: &Value) -> Option<Scaling> {
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
