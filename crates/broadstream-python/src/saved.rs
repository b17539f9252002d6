//! Model files, in the format that the command line reads and writes.
//!
//! Labels in a model file are text. The text of each Python label is stored, which the command line can
//! print, together with its type and value, so that Python gets back the labels it gave. A pickle stores
//! the labels themselves.
//!
//! Labels that the command line adds are text alone. If all others have one type, they are read as values of
//! that type, or refused if their text is not exactly how that type is written.

use std::collections::HashSet;

use broadstream::{
    Classifier, OnlineBls, Schema,
    model_file::{Content, ModelFile, Precision, Saved},
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

/// How a model is stored.
#[derive(Clone, Copy)]
pub(crate) struct Storage {
    feature_weights: bool,
    precision: Precision,
}

impl Storage {
    /// What Python calls `weights` and `precision`.
    pub(crate) fn named(weights: &str, precision: &str) -> PyResult<Self> {
        let feature_weights = match weights {
            "keep" => true,
            "omit" => false,
            _ => {
                let message = format!("weights must be 'keep' or 'omit', got '{weights}'");
                return Err(PyValueError::new_err(message));
            }
        };
        let precision = match precision {
            "double" => Precision::Double,
            "single" => Precision::Single,
            _ => {
                let message = format!("precision must be 'double' or 'single', got '{precision}'");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(Storage { feature_weights, precision })
    }

    /// What `small_pickles` has set for pickles.
    pub(crate) fn of_pickles(py: Python<'_>) -> PyResult<Self> {
        let set = PyModule::import(py, "broadstream._pickles")?.getattr("storage")?.call0()?;
        let (weights, precision): (String, String) = set.extract()?;
        Storage::named(&weights, &precision)
    }
}

/// The bytes of a model file. Without `label_texts` the caller must store the labels itself.
pub(crate) fn to_bytes(
    py: Python<'_>,
    learner: &Learner,
    label_texts: bool,
    Storage { feature_weights, precision }: Storage,
) -> PyResult<Vec<u8>> {
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
            feature_weights,
            precision,
            costs,
            ..ModelFile::of(Content::Model(core), &schema)
        };
        file.write(&mut bytes)?;
        Ok(bytes)
    })
    .map_err(to_python)
}

/// The labels that a loaded model gets.
pub(crate) enum LabelsOf<'py> {
    /// Those given.
    Given(Vec<Bound<'py, PyAny>>),
    /// Those of the file, all of that type if there is one.
    File(Option<LabelType>),
}

/// The type of labels in a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum LabelType {
    Text,
    Integer,
    Float,
    Flag,
}

/// The model of a file.
pub(crate) fn learner<'py>(
    py: Python<'py>,
    saved: Saved,
    labels: LabelsOf<'py>,
) -> PyResult<Learner> {
    let Saved { model, schema, encoding, notes, costs, .. } = saved;
    let labels = match labels {
        LabelsOf::Given(labels) => Labels::of(py, labels)?,
        LabelsOf::File(kind) => Labels::of(py, stored_labels(py, &model, &schema, &notes, kind)?)?,
    };
    let own = notes.get("python") == Some(&json!(true));
    let target = (!own).then(|| schema.target().to_owned());
    let labels = if own { labels } else { labels.uniform() };
    let encoding = encoding.unwrap_or_else(|| RowEncoding::of_schema(&schema));
    let columns = Columns::resume(py, schema.inputs(), encoding, target)?;
    let (found, classes) = (labels.len(), model.classes());
    if found != classes {
        let message = format!("the labels must be {classes}, one for each class, got {found}");
        return Err(PyValueError::new_err(message));
    }
    Ok(Learner::new(model, columns, labels).with_costs(costs))
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

/// The labels of a file: as given in Python, or as text if another program wrote the file. With a type they are
/// all of that type.
fn stored_labels<'py>(
    py: Python<'py>,
    model: &OnlineBls,
    schema: &Schema,
    notes: &Map<String, Value>,
    wanted: Option<LabelType>,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let known = model.classes();
    let texts = schema.labels().get(..known).ok_or_else(|| {
        PyValueError::new_err("the file does not state the labels of its classes")
    })?;
    if let Some(wanted) = wanted {
        return texts.iter().map(|text| wanted.read(py, text)).collect();
    }
    let Some(types) = notes.get(LABEL_TYPES).and_then(Value::as_array) else {
        return Ok(texts.iter().map(|text| PyString::new(py, text).into_any()).collect());
    };
    let own: Vec<_> = types.iter().take(known).map_while(|kind| typed(py, kind)).collect();
    let mut kinds = own.iter().map(LabelType::of);
    let first = kinds.next().unwrap_or(LabelType::Text);
    let same = kinds.all(|kind| kind == first);
    let mut labels = own;
    // Labels that the command line has learned since then are text.
    for text in &texts[labels.len()..] {
        if !same {
            let message = format!(
                "the command line has added the label '{text}', and the others are of several types: load \
                 the model with labels=str, which reads all labels as text"
            );
            return Err(PyValueError::new_err(message));
        }
        labels.push(first.read(py, text)?);
    }
    Ok(labels)
}

impl LabelType {
    const ALL: [LabelType; 4] =
        [LabelType::Text, LabelType::Integer, LabelType::Float, LabelType::Flag];

    /// The type that Python calls by this name.
    pub(crate) fn named(kind: &Bound<'_, PyAny>) -> PyResult<Self> {
        let name = kind.getattr("__name__").and_then(|name| name.extract::<String>());
        let known = |kind: &LabelType| name.as_ref().is_ok_and(|name| name == kind.name());
        Self::ALL.into_iter().find(known).ok_or_else(|| {
            let found = kind.repr().map(|text| text.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("labels must be str, int, float or bool, got {found}"))
        })
    }

    fn of(label: &Bound<'_, PyAny>) -> Self {
        if label.cast_exact::<PyBool>().is_ok() {
            LabelType::Flag
        } else if label.cast_exact::<PyInt>().is_ok() {
            LabelType::Integer
        } else if label.cast_exact::<PyFloat>().is_ok() {
            LabelType::Float
        } else {
            LabelType::Text
        }
    }

    fn name(self) -> &'static str {
        match self {
            LabelType::Text => "str",
            LabelType::Integer => "int",
            LabelType::Float => "float",
            LabelType::Flag => "bool",
        }
    }

    /// The label of this type that a text stands for.
    fn read<'py>(self, py: Python<'py>, text: &str) -> PyResult<Bound<'py, PyAny>> {
        let label = match self {
            LabelType::Text => Some(PyString::new(py, text).into_any()),
            // 007 and 7 are different texts, so only one of them is the number 7.
            LabelType::Integer => py
                .get_type::<PyInt>()
                .call1((text,))
                .ok()
                .filter(|number| number.str().is_ok_and(|written| written == text)),
            LabelType::Float => {
                let number = text.parse().ok().filter(|number: &f64| !number.is_nan());
                number.map(|number| PyFloat::new(py, number).into_any())
            }
            LabelType::Flag => match text {
                "true" | "True" | "TRUE" => Some(PyBool::new(py, true).to_owned().into_any()),
                "false" | "False" | "FALSE" => Some(PyBool::new(py, false).to_owned().into_any()),
                _ => None,
            },
        };
        label.ok_or_else(|| {
            let name = self.name();
            PyValueError::new_err(format!(
                "the file has a label '{text}' that is no {name}, and all labels must have one type: load \
                 the model with labels=str, which reads all labels as text"
            ))
        })
    }
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
