//! What decisions cost, by label: dictionaries of Python as the library's costs.

use std::collections::HashSet;

use broadstream::Costs;
use pyo3::{
    exceptions::PyTypeError,
    prelude::*,
    types::{PyDict, PyMapping},
};
use serde_json::{Map, Value};

use crate::{error::to_python, saved::text};

/// Reads costs: for each true label a dictionary with the cost of each decision, of which one may be called
/// `abstain`.
pub(crate) fn from_python(costs: &Bound<'_, PyAny>) -> PyResult<Costs> {
    let mut rows = Map::new();
    let mut seen = HashSet::new();
    for (truth, row) in items(costs)? {
        let mut decisions = Map::new();
        let mut decided = HashSet::new();
        for (decision, cost) in items(&row)? {
            // JSON has no NaN, and an error should show what was given.
            let value = match cost.extract::<f64>() {
                Ok(cost) if cost.is_finite() => Value::from(cost),
                _ => Value::String(cost.str()?.to_string()),
            };
            decisions.insert(text(&decision, &mut decided)?, value);
        }
        rows.insert(text(&truth, &mut seen)?, Value::Object(decisions));
    }
    Costs::from_json(&rows).map_err(|error| to_python(error.into()))
}

/// The same as dictionaries, with the text of each label.
pub(crate) fn to_python_dict<'py>(py: Python<'py>, costs: &Costs) -> PyResult<Bound<'py, PyDict>> {
    let rows = PyDict::new(py);
    for (truth, row) in costs.to_json() {
        let decisions = PyDict::new(py);
        for (decision, cost) in row.as_object().into_iter().flatten() {
            decisions.set_item(decision, cost.as_f64())?;
        }
        rows.set_item(truth, decisions)?;
    }
    Ok(rows)
}

type Items<'py> = Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>;

fn items<'py>(mapping: &Bound<'py, PyAny>) -> PyResult<Items<'py>> {
    let Ok(mapping) = mapping.cast::<PyMapping>() else {
        let name = mapping.get_type().name()?;
        let message = format!(
            "expected costs as a dictionary with a dictionary for each true label, got {name}"
        );
        return Err(PyTypeError::new_err(message));
    };
    mapping.items()?.iter().map(|item| item.extract()).collect()
}
