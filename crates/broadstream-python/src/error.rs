//! Converts errors of the library to Python exceptions with the same messages.

use std::io;

use broadstream::{
    Error,
    model_file::ModelFileError,
    stream::{Place, StreamError},
};
use broadstream_datasets::DatasetError;
use pyo3::{
    PyErr,
    exceptions::{PyOSError, PyRuntimeError, PyTypeError, PyValueError},
};

/// An invalid value becomes a `ValueError`, a source that cannot be read an `OSError`, and a failure to
/// start threads a `RuntimeError`.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Stream(StreamError::Read { place, source }) => read_error(place, &source),
        Error::ModelFile(ModelFileError::Read(source) | ModelFileError::Write(source)) => {
            source.into()
        }
        Error::Threads { .. } => PyRuntimeError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

pub(crate) fn stream_error(error: StreamError) -> PyErr {
    to_python(error.into())
}

pub(crate) fn dataset_error(error: &DatasetError) -> PyErr {
    match error {
        DatasetError::NotFound { .. } => PyOSError::new_err(error.to_string()),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A `TypeError` for a value of the wrong type.
pub(crate) fn wrong_type(place: Place, column: &str, expected: &str, found: &str) -> PyErr {
    let message = format!("{place}, column '{column}': expected {expected}, found {found}");
    PyTypeError::new_err(message)
}

fn read_error(place: Place, source: &io::Error) -> PyErr {
    PyOSError::new_err(format!("{place}: cannot read on: {source}"))
}
