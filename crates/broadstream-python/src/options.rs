//! The options of a model, under the same names as in Rust and on the command line.

use broadstream::{ConfigOption, Error, OnlineBlsConfig, Preset, Values};
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString},
};
use serde_json::{Map, Number, Value, json};

use crate::error::to_python;

/// Resolves a preset and the options that are not `None` to a configuration.
pub(crate) fn configuration(
    preset: Option<&Bound<'_, PyAny>>,
    options: &Bound<'_, PyDict>,
) -> PyResult<OnlineBlsConfig> {
    let mut given = Map::new();
    for (name, value) in options {
        let name: String = name.extract()?;
        if OnlineBlsConfig::option(&name).is_none() {
            let message = format!("OnlineBLS got an unexpected keyword argument '{name}'");
            return Err(PyTypeError::new_err(message));
        }
        if !value.is_none() {
            given.insert(name, to_json(&value, 0)?);
        }
    }
    let preset = match preset.filter(|preset| !preset.is_none()) {
        Some(preset) => named_preset(preset)?,
        None => Preset::default(),
    };
    OnlineBlsConfig::resolve(preset, &given).map_err(to_python)
}

fn named_preset(name: &Bound<'_, PyAny>) -> PyResult<Preset> {
    let text = name.extract::<String>().unwrap_or_default();
    match Preset::named(&text) {
        Some(preset) => Ok(preset),
        None => {
            let value = name.repr()?.to_string();
            Err(to_python(Error::Config { option: "preset", rule: Preset::rule(), value }))
        }
    }
}

/// Describe all options of a model: name, help, type, values, choices, an example, and the default in each
/// preset.
///
/// Examples
/// --------
/// >>> import broadstream
/// >>> ridge = next(option for option in broadstream.options() if option["name"] == "ridge")
/// >>> ridge["defaults"]
/// {'default': 'auto', 'single': 1.0, 'paper': 1e-08, 'paper-drift': 1e-08}
#[pyfunction]
pub(crate) fn options(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let mut options = Vec::new();
    for option in OnlineBlsConfig::options() {
        let described = PyDict::new(py);
        described.set_item("name", option.name)?;
        described.set_item("help", option.help)?;
        described.set_item("values", values(&option.values))?;
        described.set_item("type", annotation(&option.values))?;
        let choices = PyDict::new(py);
        if let Values::Choice(names) | Values::Scaling(names) = option.values {
            for named in names {
                choices.set_item(named.name, named.help)?;
            }
        }
        described.set_item("choices", choices)?;
        described.set_item("example", from_json(py, &example(option))?)?;
        let defaults = PyDict::new(py);
        for (preset, named) in Preset::all() {
            defaults.set_item(named.name, from_json(py, &option.default_in(preset))?)?;
        }
        described.set_item("defaults", defaults)?;
        options.push(described);
    }
    Ok(options)
}

/// The presets and their meanings.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let presets = PyDict::new(py);
    for (_, named) in Preset::all() {
        presets.set_item(named.name, named.help)?;
    }
    Ok(presets)
}

/// The type of an option, as Python annotates it.
fn annotation(values: &Values) -> String {
    let literal = |names: &[broadstream::Named]| {
        let names: Vec<String> = names.iter().map(|named| format!("\"{}\"", named.name)).collect();
        format!("Literal[{}]", names.join(", "))
    };
    match values {
        Values::Count { .. } | Values::Bytes => "int".to_owned(),
        Values::CountOrAuto { .. } => "int | Literal[\"auto\"]".to_owned(),
        Values::Flag => "bool".to_owned(),
        Values::NumberOrAuto { .. } => "float | Literal[\"auto\"]".to_owned(),
        Values::Choice(names) => literal(names),
        Values::Scaling(names) => format!("{} | Mapping[str, Any]", literal(names)),
        _ => "Any".to_owned(),
    }
}

/// A value of an option that is not its default.
fn example(option: &ConfigOption) -> Value {
    let default = option.default_in(Preset::default());
    let count = |(low, high): (u64, u64)| {
        let usual = default.as_u64().map_or(1000, |default| default.saturating_mul(2).max(1));
        json!(usual.clamp(low, high))
    };
    match option.values {
        Values::Count { range, .. } | Values::CountOrAuto { range, .. } => count(range),
        Values::Bytes => json!(1_u64 << 31),
        Values::Flag => json!(default != true),
        Values::NumberOrAuto { range, .. } => json!(if range.1 > 1.0 { 0.5 } else { 0.999 }),
        Values::Choice(names) | Values::Scaling(names) => {
            let other = names
                .iter()
                .find(|named| default != named.name && default.get(named.name).is_none());
            json!(other.map(|named| named.name))
        }
        _ => Value::Null,
    }
}

/// The values that an option accepts, in words.
fn values(values: &Values) -> String {
    match values {
        Values::Count { rule, .. } => format!("int, {rule}"),
        Values::CountOrAuto { rule, .. } => format!("int, {rule}, or 'auto'"),
        Values::Bytes => "int, bytes".to_owned(),
        Values::Flag => "bool".to_owned(),
        Values::NumberOrAuto { rule, .. } => format!("float, {rule}, or 'auto'"),
        Values::Choice(names) => {
            let names: Vec<String> =
                names.iter().map(|named| format!("'{}'", named.name)).collect();
            names.join(", ")
        }
        Values::Scaling(names) => {
            let names: Vec<String> =
                names.iter().map(|named| format!("'{}'", named.name)).collect();
            format!("{}, or a dict with the parameters of one", names.join(", "))
        }
        _ => String::new(),
    }
}

/// The configuration in its shortest form: the nearest preset, and the options that differ from it.
pub(crate) fn describe<'py>(
    py: Python<'py>,
    config: &OnlineBlsConfig,
) -> PyResult<Vec<(String, Bound<'py, PyAny>)>> {
    let differing = |preset: Preset| {
        let options = OnlineBlsConfig::options().iter();
        options.filter(move |option| option.get(config) != option.default_in(preset))
    };
    let nearest = Preset::all().min_by_key(|(preset, _)| differing(*preset).count());
    let Some((preset, named)) = nearest else { return Ok(Vec::new()) };
    let mut options = Vec::new();
    if preset != Preset::default() {
        options.push(("preset".to_owned(), PyString::new(py, named.name).into_any()));
    }
    for option in differing(preset) {
        options.push((option.name.to_owned(), from_json(py, &option.get(config))?));
    }
    Ok(options)
}

/// All options with their values.
pub(crate) fn all<'py>(py: Python<'py>, config: &OnlineBlsConfig) -> PyResult<Bound<'py, PyDict>> {
    let options = PyDict::new(py);
    for (option, value) in &config.to_json() {
        options.set_item(option, from_json(py, value)?)?;
    }
    Ok(options)
}

/// Converts a Python value to JSON. A value that JSON cannot represent becomes its text, which no option
/// accepts.
fn to_json(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Value> {
    // The deepest option, a scaling given for each input, has three levels.
    const DEEPEST: usize = 4;
    if depth > DEEPEST {
        return Err(PyTypeError::new_err("an option must not be nested deeper than 4 levels"));
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
