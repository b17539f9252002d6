//! Paths and open files, which Python gives to `save` and `load`.

use std::path::PathBuf;

use broadstream::model_file::{self, Saved};
use broadstream_store::{read_model, write_bytes};
use pyo3::{exceptions::PyTypeError, prelude::*, types::PyBytes};

use crate::error::{store_error, to_python};

/// Writes to a path, or to a file that is open for writing bytes. A file at the path is replaced as a
/// whole, and not while another program has locked it.
pub(crate) fn write(file: &Bound<'_, PyAny>, content: &[u8]) -> PyResult<()> {
    let py = file.py();
    if file.hasattr("write")? {
        file.call_method1("write", (PyBytes::new(py, content),))?;
        return Ok(());
    }
    let path: PathBuf = file.extract()?;
    py.detach(|| write_bytes(&path, content)).map_err(|error| store_error(&error))
}

/// Reads the model at a path, or in a file that is open for reading bytes.
pub(crate) fn read(file: &Bound<'_, PyAny>) -> PyResult<Saved> {
    let py = file.py();
    if file.hasattr("read")? {
        let content = file.call_method0("read")?;
        let Ok(content) = content.cast::<PyBytes>() else {
            return Err(PyTypeError::new_err("expected a file that is open for reading bytes"));
        };
        let mut content = content.as_bytes();
        return py.detach(|| model_file::read(&mut content)).map_err(to_python);
    }
    let path: PathBuf = file.extract()?;
    py.detach(|| read_model(&path)).map_err(|error| store_error(&error))
}
