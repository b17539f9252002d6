//! A Python value as the cell of a row.

use broadstream::stream::{Cell, Place, StreamError};
use pyo3::{
    prelude::*,
    types::{PyBool, PyFloat, PyInt, PyString},
};

use crate::error::{stream_error, wrong_type};

/// The cell that a value stands for: a number, a text, a truth value or nothing. `column` names its column
/// in messages.
pub(crate) fn cell<'a>(
    value: &'a Bound<'_, PyAny>,
    place: Place,
    column: &dyn Fn() -> String,
) -> PyResult<Cell<'a>> {
    if let Ok(number) = value.cast::<PyFloat>() {
        return Ok(Cell::Number(number.value()));
    }
    if let Ok(flag) = value.cast_exact::<PyBool>() {
        return Ok(Cell::Flag(flag.is_true()));
    }
    if value.cast_exact::<PyInt>().is_ok() {
        return integer(value, place, column);
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Cell::Text(text.to_str()?.as_bytes()));
    }
    if value.is_none() {
        return Ok(Cell::Missing);
    }
    other(value, place, column)
}

fn integer<'a>(
    value: &Bound<'_, PyAny>,
    place: Place,
    column: &dyn Fn() -> String,
) -> PyResult<Cell<'a>> {
    if let Ok(integer) = value.extract::<i64>() {
        return Ok(Cell::Integer(integer));
    }
    value.extract::<f64>().map(Cell::Number).map_err(|_| {
        let cell = "an integer too large for a float".to_owned();
        stream_error(StreamError::NotFinite { place, column: column(), cell })
    })
}

/// A value of a type other than Python's own, such as a number of numpy.
fn other<'a>(
    value: &Bound<'_, PyAny>,
    place: Place,
    column: &dyn Fn() -> String,
) -> PyResult<Cell<'a>> {
    let kind = value.get_type().name()?;
    let kind = kind.to_str()?;
    match kind {
        "float32" | "float16" | "longdouble" => return value.extract().map(Cell::Number),
        "bool" | "bool_" => return Ok(Cell::Flag(value.is_truthy()?)),
        // Missing values of pandas.
        "NAType" | "NaTType" => return Ok(Cell::Missing),
        _ => {}
    }
    if value.hasattr("__index__")?
        && let Ok(index) = value.call_method0("__index__")
    {
        return integer(&index, place, column);
    }
    if !kind.starts_with("complex")
        && value.hasattr("__float__")?
        && let Ok(number) = value.extract::<f64>()
    {
        return Ok(Cell::Number(number));
    }
    Err(wrong_type(place, &column(), "a number, a text, a truth value or None", kind))
}

/// Whether a value can be read without running Python code.
pub(crate) fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.cast::<PyFloat>().is_ok()
        || value.cast_exact::<PyInt>().is_ok()
        || value.cast::<PyString>().is_ok()
        || value.cast_exact::<PyBool>().is_ok()
        || value.is_none()
}

/// Whether a value is a date, a time or a duration, of Python, numpy or pandas.
pub(crate) fn is_moment(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    const KINDS: [&str; 8] = [
        "datetime",
        "date",
        "time",
        "timedelta",
        "datetime64",
        "timedelta64",
        "Timestamp",
        "Timedelta",
    ];
    if is_plain(value) {
        return Ok(false);
    }
    Ok(KINDS.contains(&value.get_type().name()?.to_str()?))
}
