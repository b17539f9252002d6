//! Numeric arguments that report values out of range as a rule, not as a conversion error.

use pyo3::{
    exceptions::{PyOverflowError, PyValueError},
    prelude::*,
};

/// A non-negative integer.
#[derive(Clone, Copy)]
pub(crate) struct Whole(pub(crate) u64);

/// A number.
#[derive(Clone, Copy)]
pub(crate) struct Real(pub(crate) f64);

impl<'py> FromPyObject<'_, 'py> for Whole {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = value.extract::<u64>().map(Whole);
        number.map_err(|error| bounded(&value, error, "a whole number from 0 to 2^64 - 1"))
    }
}

impl<'py> FromPyObject<'_, 'py> for Real {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let number = value.extract::<f64>().map(Real);
        number.map_err(|error| bounded(&value, error, "a number of at most 1.8e308"))
    }
}

/// Turns an overflow into a `ValueError` that states the rule; other errors stay unchanged.
fn bounded(value: &Bound<'_, PyAny>, error: PyErr, rule: &str) -> PyErr {
    if !error.is_instance_of::<PyOverflowError>(value.py()) {
        return error;
    }
    let text = value.str().map(|text| text.to_string_lossy().chars().take(60).collect::<String>());
    PyValueError::new_err(format!("expected {rule}, got {}", text.unwrap_or_default()))
}
