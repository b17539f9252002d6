//! The options of a model, under the names that Rust and the command line use.

use broadstream::{Error, OnlineBlsConfig};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString},
};
use serde_json::{Map, Number, Value, json};

use crate::error::to_python;

type Preset = fn() -> OnlineBlsConfig;

/// The presets by their names.
const PRESETS: [(&str, Preset); 3] = [
    ("default", OnlineBlsConfig::default),
    ("single", OnlineBlsConfig::single),
    ("paper", OnlineBlsConfig::paper),
];

/// The configuration of a preset with those options that are not `None`.
pub(crate) fn configuration(
    preset: Option<&Bound<'_, PyAny>>,
    options: &[(&str, Option<&Bound<'_, PyAny>>)],
) -> PyResult<OnlineBlsConfig> {
    let mut given = Map::new();
    for (name, value) in options {
        if let Some(value) = value.filter(|value| !value.is_none()) {
            given.insert((*name).to_owned(), to_json(value, 0)?);
        }
    }
    let mut config = match preset.filter(|preset| !preset.is_none()) {
        Some(preset) => self::preset(preset)?,
        None => OnlineBlsConfig::default(),
    };
    // What a window rules out is not asked of the default.
    if given.contains_key("window") && !given.contains_key("forgetting") {
        config.forgetting = broadstream::Forgetting::Fixed(1.0);
    }
    let without_lags = given.contains_key("window") || given.get("stacking") == Some(&json!(false));
    if without_lags && !given.contains_key("label_lags") {
        config.label_lags = 0;
    }
    config.with_json(&given).map_err(to_python)
}

fn preset(name: &Bound<'_, PyAny>) -> PyResult<OnlineBlsConfig> {
    let text = name.extract::<String>().unwrap_or_default();
    match PRESETS.iter().find(|(known, _)| *known == text) {
        Some((_, preset)) => Ok(preset()),
        None => {
            let (option, rule) = ("preset", "one of default, single, paper");
            let value = name.repr()?.to_string();
            Err(to_python(Error::Config { option, rule, value }))
        }
    }
}

/// The configuration as it would be written: the nearest preset, and what differs from it.
pub(crate) fn describe<'py>(
    py: Python<'py>,
    config: &OnlineBlsConfig,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let own = config.to_json();
    let differing = |preset: &Preset| {
        let preset = preset().to_json();
        own.iter().filter(move |(name, value)| preset.get(*name) != Some(value)).count()
    };
    let nearest = PRESETS.iter().min_by_key(|(_, preset)| differing(preset));
    let Some((name, preset)) = nearest else { return Ok(Vec::new()) };
    let preset = preset().to_json();
    let mut options = Vec::new();
    if *name != "default" {
        options.push(("preset".to_owned(), PyString::new(py, name).into_any()));
    }
    for (option, value) in &own {
        if preset.get(option) != Some(value) {
            options.push((option.clone(), from_json(py, value)?));
        }
    }
    Ok(options)
}

/// Every option with its value.
pub(crate) fn all<'py>(py: Python<'py>, config: &OnlineBlsConfig) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    for (option, value) in &config.to_json() {
        options.set_item(option, from_json(py, value)?)?;
    }
    Ok(options)
}

/// A value of Python as JSON. What JSON does not have becomes its text, which no option takes.
fn to_json(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    // A scaling that is given for each input has three levels.
    const DEEPEST: usize = 4;
    if depth > DEEPEST {
        return Err(PyTypeError::new_err("an option must not be nested so deep"));
    }
    if let Ok(flag) = value.cast::<PyBool>() {
        return Ok(json!(flag.is_true()));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(json!(text.to_str()?));
    }
    if let Ok(mapping) = value.cast::<PyDict>() {
        let mut object = Map::new();
        for pair in mapping.items() {
            let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = pair.extract()?;
            object.insert(key.str()?.to_string(), to_json(&value, depth + 1)?);
        }
        return Ok(Value::Object(object));
    }
    let is_own = value.cast::<PyInt>().is_ok() || value.cast::<PyFloat>().is_ok();
    if !is_own && value.hasattr("item")? && value.hasattr("dtype")? {
        return to_json(&value.call_method0("item")?, depth + 1);
    }
    if value.cast::<PyInt>().is_ok() {
        if let Ok(number) = value.extract::<u64>() {
            return Ok(json!(number));
        }
        if let Ok(number) = value.extract::<i64>() {
            return Ok(json!(number));
        }
    }
    if let Ok(number) = value.extract::<f64>()
        && let Some(number) = Number::from_f64(number)
    {
        return Ok(Value::Number(number));
    }
    let text: String = value.str()?.to_string_lossy().chars().take(60).collect();
    Ok(json!(text))
}

pub(crate) fn from_json<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Null => py.None().into_bound(py),
        Value::Bool(flag) => PyBool::new(py, *flag).to_owned().into_any(),
        Value::Number(number) => match (number.as_u64(), number.as_i64()) {
            (Some(number), _) => number.into_pyobject(py)?.into_any(),
            (_, Some(number)) => number.into_pyobject(py)?.into_any(),
            _ => PyFloat::new(py, number.as_f64().unwrap_or(f64::NAN)).into_any(),
        },
        Value::String(text) => PyString::new(py, text).into_any(),
        Value::Array(values) => {
            let values: Vec<_> =
                values.iter().map(|value| from_json(py, value)).collect::<PyResult<_>>()?;
            PyList::new(py, values)?.into_any()
        }
        Value::Object(object) => {
            let mapping = PyDict::new(py);
            for (key, value) in object {
                mapping.set_item(key, from_json(py, value)?)?;
            }
            mapping.into_any()
        }
    })
}
