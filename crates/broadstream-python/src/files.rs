//! Paths and open files, which Python gives to `save` and `load`.

use std::{
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use broadstream::model_file::{self, Saved};
use broadstream_store::{StoreError, read_model, write_bytes};
use pyo3::{
    exceptions::{PyBlockingIOError, PyTypeError},
    prelude::*,
    types::PyBytes,
};

use crate::error::{store_error, to_python};

/// How long a save waits for one holder of a file. Another thread that saves needs it for a moment, a
/// program that learns needs it for as long as it runs. Savers that take turns may last longer together.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it waits before it looks again, and checks for signals.
const INTERVAL: Duration = Duration::from_millis(5);

/// Writes to a path, or to a file that is open for writing bytes. A file at the path is replaced as a
/// whole, and not while another program has locked it.
pub(crate) fn write(file: &Bound<'_, PyAny>, content: &[u8]) -> PyResult<()> {
    if file.hasattr("write")? {
        return write_open(file, content);
    }
    let (py, path) = (file.py(), file.extract::<PathBuf>()?);
    let (mut start, mut holder) = (Instant::now(), None);
    while let Err(error) = py.detach(|| write_bytes(&path, content)) {
        let StoreError::Locked { since, .. } = error else { return Err(store_error(&error)) };
        if since != holder {
            (start, holder) = (Instant::now(), since);
        }
        if start.elapsed() > PATIENCE {
            return Err(store_error(&error));
        }
        py.check_signals()?;
        py.detach(|| thread::sleep(INTERVAL));
    }
    Ok(())
}

/// Writes to an open file. One without a buffer may take a part at a time.
fn write_open(file: &Bound<'_, PyAny>, mut content: &[u8]) -> PyResult<()> {
    let py = file.py();
    loop {
        let written = file.call_method1("write", (PyBytes::new(py, content),))?;
        match written.extract::<usize>() {
            Ok(count @ 1..) if count < content.len() => content = &content[count..],
            Ok(0) | Err(_) if is_raw(file)? => {
                let rule = "the file takes nothing more, and a part of the model is missing";
                return Err(PyBlockingIOError::new_err(rule));
            }
            // Whatever else a file of somebody's own returns, it has taken everything.
            _ => return Ok(()),
        }
    }
}

fn is_raw(file: &Bound<'_, PyAny>) -> PyResult<bool> {
    file.is_instance(&file.py().import("io")?.getattr("RawIOBase")?)
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
