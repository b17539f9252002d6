//! Explanations of predictions as Python's dictionaries.

use broadstream::{ClassCosts, Classifier, Error, Explanation, OnlineBls, Sample};
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyAny, PyDict, PyInt},
};

/// How many columns are wanted; without a number, all.
pub(crate) fn most(k: Option<&Bound<'_, PyAny>>) -> PyResult<usize> {
    let Some(k) = k else { return Ok(usize::MAX) };
    let index = k.call_method0("__index__");
    let whole =
        index.map_err(|_| PyTypeError::new_err(format!("k must be a whole number, got {k}")))?;
    if whole.lt(1)? {
        return Err(PyValueError::new_err(format!("k must be at least 1, got {k}")));
    }
    // There are never that many columns.
    Ok(whole.cast::<PyInt>()?.extract().unwrap_or(usize::MAX))
}

/// The class to explain: the given one, or what is decided for the sample.
pub(crate) fn decided(
    model: &OnlineBls,
    x: Sample<'_>,
    given: Option<usize>,
    costs: Option<&ClassCosts>,
) -> Result<Option<usize>, Error> {
    match (given, costs) {
        (Some(class), _) => Ok(Some(class)),
        (None, Some(costs)) => Ok(costs.decide(&model.predict_proba_one(x)?)),
        (None, None) => model.predict_one(x),
    }
}

/// The changes of the first `most` columns by name.
pub(crate) fn to_python(
    py: Python<'_>,
    explanation: Option<Explanation>,
    most: usize,
) -> PyResult<Bound<'_, PyDict>> {
    let changes = PyDict::new(py);
    for reason in explanation.into_iter().flat_map(|found| found.reasons).take(most) {
        changes.set_item(reason.column, reason.change)?;
    }
    Ok(changes)
}
