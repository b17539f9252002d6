//! Errors of the library as Python's exceptions, with the same messages.

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

/// What went wrong, as Python has it: a value that breaks a rule is a `ValueError`, a source that
/// failed an `OSError`, a system out of threads a `RuntimeError`.
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

/// A value of a type that cannot stand there.
pub(crate) fn wrong_type(place: Place, column: &str, expected: &str, found: &str) -> PyErr {
    let message = format!("{place}, column '{column}': expected {expected}, found {found}");
    PyTypeError::new_err(message)
}

fn read_error(place: Place, source: &io::Error) -> PyErr {
    PyOSError::new_err(format!("{place}: cannot read on: {source}"))
}
