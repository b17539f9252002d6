//! Model files, in the format that the command line reads and writes.
//!
//! Labels in a model file are text. The text of each Python label is stored, which the command line can
//! print, together with its type and value, so that Python gets back the labels it gave. A pickle stores
//! the labels themselves.

use std::collections::HashSet;

use broadstream::{
    Classifier, OnlineBls, Schema,
    model_file::{Content, ModelFile, Saved},
    stream::RowEncoding,
};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyString},
};
use serde_json::{Map, Value, json};

use crate::{columns::Columns, error::to_python, labels::Labels, learner::Learner};

/// The key of the file's notes under which the types of labels are stored.
const LABEL_TYPES: &str = "python_label_types";

/// The bytes of a model file. Without `label_texts` the caller must store the labels itself.
pub(crate) fn to_bytes(py: Python<'_>, learner: &Learner, label_texts: bool) -> PyResult<Vec<u8>> {
    let encoding = learner.columns.encoding();
    let mut schema = Schema::new(encoding.target.as_str());
    for input in learner.core.declared_inputs() {
        schema.push_input(&input.name, input.kind);
    }
    let mut notes = Map::new();
    if learner.columns.target().is_none() {
        notes.insert("python".to_owned(), json!(true));
    }
    if label_texts {
        let mut seen = HashSet::new();
        for label in learner.labels.iter(py) {
            schema.class_of(&text(label, &mut seen)?);
        }
        notes.insert(LABEL_TYPES.to_owned(), json!(types(py, &learner.labels)?));
    }
    let (core, costs) = (&learner.core, learner.costs.as_ref());
    py.detach(|| {
        let mut bytes = Vec::new();
        let file = ModelFile {
            encoding: Some(&encoding),
            notes: Some(&notes),
            costs,
            ..ModelFile::of(Content::Model(core), &schema)
        };
        file.write(&mut bytes)?;
        Ok(bytes)
    })
    .map_err(to_python)
}

/// The model of a file, with the given labels or else with those of the file.
pub(crate) fn learner<'py>(
    py: Python<'py>,
    saved: Saved,
    labels: Option<Vec<Bound<'py, PyAny>>>,
) -> PyResult<Learner> {
    let Saved { model, schema, encoding, notes, costs, .. } = saved;
    let labels = match labels {
        Some(labels) => Labels::of(py, labels)?,
        None => Labels::of(py, stored_labels(py, &model, &schema, &notes)?)?,
    };
    let own = notes.get("python") == Some(&json!(true));
    let target = (!own).then(|| schema.target().to_owned());
    let encoding = encoding.unwrap_or_else(|| RowEncoding::of_schema(&schema));
    let columns = Columns::resume(py, schema.inputs(), encoding, target)?;
    let (found, classes) = (labels.len(), model.classes());
    if found != classes {
        let message = format!("the labels must be {classes}, one for each class, got {found}");
        return Err(PyValueError::new_err(message));
    }
    Ok(Learner { costs, ..Learner::new(model, columns, labels) })
}

/// A text for a label, different from all texts seen before.
pub(crate) fn text(label: &Bound<'_, PyAny>, seen: &mut HashSet<String>) -> PyResult<String> {
    let mut text = match label.cast::<PyString>() {
        Ok(text) => text.to_str()?.to_owned(),
        Err(_) => label.str()?.to_str()?.to_owned(),
    };
    // The number 1 and the text '1' are different labels.
    if seen.contains(&text) {
        text = label.repr()?.to_string();
    }
    while !seen.insert(text.clone()) {
        text.push('\'');
    }
    Ok(text)
}

/// The type and value of each label; an error for types that cannot be restored from JSON.
fn types(py: Python<'_>, labels: &Labels) -> PyResult<Vec<Value>> {
    labels
        .iter(py)
        .map(|label| {
            if let Ok(text) = label.cast_exact::<PyString>() {
                return Ok(json!({ "str": text.to_str()? }));
            }
            if let Ok(flag) = label.cast_exact::<PyBool>() {
                return Ok(json!({ "bool": flag.is_true() }));
            }
            if label.cast_exact::<PyInt>().is_ok() {
                return Ok(json!({ "int": label.str()?.to_str()? }));
            }
            if let Ok(number) = label.cast_exact::<PyFloat>() {
                return Ok(
                    json!({ "float": label.str()?.to_str()?, "bits": number.value().to_bits() }),
                );
            }
            let message = format!(
                "a model file can store labels that are str, int, float or bool, not {}: use pickle \
                 for others",
                label.get_type().name()?
            );
            Err(PyTypeError::new_err(message))
        })
        .collect()
}

/// The labels of a file: as given in Python, or as text if another program wrote the file.
fn stored_labels<'py>(
    py: Python<'py>,
    model: &OnlineBls,
    schema: &Schema,
    notes: &Map<String, Value>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let known = model.classes();
    let texts = schema.labels().get(..known).ok_or_else(|| {
        PyValueError::new_err("the file does not state the labels of its classes")
    })?;
    let Some(types) = notes.get(LABEL_TYPES).and_then(Value::as_array) else {
        return Ok(texts.iter().map(|text| PyString::new(py, text).into_any()).collect());
    };
    // Labels that the command line has learned since then are text.
    let mut labels = Vec::with_capacity(known);
    for (i, text) in texts.iter().enumerate() {
        let label = types.get(i).and_then(|kind| typed(py, kind));
        labels.push(label.unwrap_or_else(|| PyString::new(py, text).into_any()));
    }
    Ok(labels)
}

fn typed<'py>(py: Python<'py>, kind: &Value) -> Option<Bound<'py, PyAny>> {
    if let Some(text) = kind["str"].as_str() {
        return Some(PyString::new(py, text).into_any());
    }
    if let Some(flag) = kind["bool"].as_bool() {
        return Some(PyBool::new(py, flag).to_owned().into_any());
    }
    if let Some(bits) = kind["bits"].as_u64() {
        return Some(PyFloat::new(py, f64::from_bits(bits)).into_any());
    }
    // Integers of any length.
    let digits = kind["int"].as_str()?;
    py.get_type::<PyInt>().call1((digits,)).ok()
}
