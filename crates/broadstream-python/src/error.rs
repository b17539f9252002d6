//! Converts errors of the library to Python exceptions with the same messages.

use std::{io, path::Path};

use broadstream::{
    Error,
    model_file::ModelFileError,
    stream::{Place, StreamError},
};
use broadstream_datasets::DatasetError;
use broadstream_store::StoreError;
use pyo3::{
    PyErr,
    exceptions::{
        PyBlockingIOError, PyIsADirectoryError, PyOSError, PyRuntimeError, PyTypeError,
        PyValueError,
    },
};

/// An invalid value becomes a `ValueError`, a source that cannot be read an `OSError`, and a failure to
/// start threads a `RuntimeError`.
pub(crate) fn to_python(error: Error) -> PyErr {
    match error {
        Error::Stream(StreamError::Read { place, source }) => read_error(place, &source),
        Error::ModelFile(ModelFileError::Read(source) | ModelFileError::Write(source)) => {
            source.into()
        }
        Error::Stream(StreamError::NotANumber { place, column, cell }) => {
            PyValueError::new_err(format!(
                "{place}, column '{column}': expected a number, found '{cell}' (if the column holds \
                 categories, give all its values as text; a Stream takes categorical=['{column}'])"
            ))
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
        DatasetError::Given { source, .. } => PyValueError::new_err(format!("{error}: {source}")),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// A file that could not be read or written, as the subclass of `OSError` that says why. Content that is no
/// model is a `ValueError`.
pub(crate) fn store_error(error: &StoreError) -> PyErr {
    match error {
        StoreError::Directory { .. } => PyIsADirectoryError::new_err(error.to_string()),
        StoreError::Locked { .. } => PyBlockingIOError::new_err(error.to_string()),
        StoreError::InvalidModel { source, .. } | StoreError::UnsavableModel { source, .. } => {
            PyValueError::new_err(format!("{error}: {source}"))
        }
        StoreError::Lock { path, source }
        | StoreError::Read { path, source }
        | StoreError::Write { path, source }
        | StoreError::Folder { folder: path, source } => os_error(path, source),
        _ => PyOSError::new_err(error.to_string()),
    }
}

/// What the system said about a path, as Python's own functions say it.
fn os_error(path: &Path, source: &io::Error) -> PyErr {
    let text = source.to_string();
    match source.raw_os_error() {
        // Python finds the subclass by the number, which Rust has at the end of the text too.
        Some(number) => {
            let text = text.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, text, path.as_os_str().to_owned()))
        }
        None => PyOSError::new_err(format!("{}: {text}", path.display())),
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
