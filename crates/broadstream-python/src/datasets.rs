//! The catalogue of datasets, and the names of generators.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use broadstream::stream::synth::NamedGenerator;
use broadstream_datasets::{
    FetchObserver, Fetcher, Origin, catalogue, dataset, find, storage_folder,
};
use pyo3::{prelude::*, types::PyDict};

use crate::error::dataset_error;

/// Return the names of all generators.
#[pyfunction]
pub(crate) fn generators() -> Vec<&'static str> {
    NamedGenerator::NAMES.to_vec()
}

/// Return the catalogue's description of each dataset.
#[pyfunction]
pub(crate) fn datasets(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    let entry = |dataset: &broadstream_datasets::Dataset| {
        let entry = PyDict::new(py);
        entry.set_item("name", dataset.name)?;
        entry.set_item("title", dataset.title)?;
        entry.set_item("kind", dataset.kind.name())?;
        entry.set_item("rows", dataset.rows)?;
        entry.set_item("inputs", dataset.inputs())?;
        entry.set_item("classes", dataset.classes)?;
        entry.set_item("target", dataset.target)?;
        entry.set_item("drop", dataset.drop)?;
        entry.set_item("page", dataset.page)?;
        entry.set_item("licence", dataset.licence)?;
        entry.set_item("citation", dataset.citation)?;
        let generator = match dataset.origin {
            Origin::Generator(generator) => Some(generator),
            _ => None,
        };
        entry.set_item("generator", generator)?;
        Ok(entry)
    };
    catalogue().iter().map(entry).collect()
}

/// Download a dataset, prepare it and check it, unless an intact file is there already. ``progress`` is called
/// about ten times a second with the name of the file, the bytes so far and the total number or None.
#[pyfunction]
#[pyo3(signature = (name, data = None, *, mirror = None, progress = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's paths become owned ones")]
pub(crate) fn fetch_dataset(
    py: Python<'_>,
    name: &str,
    data: Option<PathBuf>,
    mirror: Option<String>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let dataset = dataset(name).map_err(|error| dataset_error(&error))?;
    let mut observer = Download { progress, ..Download::default() };
    let fetched = py.detach(|| {
        let folder = storage_folder(data.as_deref())?;
        Fetcher { mirror, ..Fetcher::default() }.fetch(dataset, &folder, &mut observer)
    });
    // A download cannot be interrupted. What was raised meanwhile is raised now.
    if let Some(raised) = observer.raised {
        return Err(raised);
    }
    fetched.map_err(|error| dataset_error(&error))
}

/// Reports a download to Python.
#[derive(Default)]
struct Download {
    progress: Option<Py<PyAny>>,
    file: String,
    have: u64,
    total: Option<u64>,
    last: Option<Instant>,
    raised: Option<PyErr>,
}

impl FetchObserver for Download {
    fn begin(&mut self, file: &str, have: u64, total: Option<u64>) {
        (self.file, self.have, self.total) = (file.to_owned(), have, total);
    }

    fn advance(&mut self, bytes: u64) {
        const INTERVAL: Duration = Duration::from_millis(100);
        self.have += bytes;
        let soon = self.last.is_some_and(|last| last.elapsed() < INTERVAL);
        let Some(progress) = self.progress.as_ref().filter(|_| !soon && self.raised.is_none())
        else {
            return;
        };
        self.last = Some(Instant::now());
        let arguments = (self.file.as_str(), self.have, self.total);
        let called = Python::attach(|py| progress.call1(py, arguments).map(|_| ()));
        self.raised = called.err();
    }
}

/// Find the file of a dataset in ``data``, in the folder named by BROADSTREAM_DATA, or in the user's cache.
#[pyfunction]
#[pyo3(signature = (name, data = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's paths become owned ones")]
pub(crate) fn find_dataset(name: &str, data: Option<PathBuf>) -> PyResult<PathBuf> {
    find(name, data.as_deref()).map_err(|error| dataset_error(&error))
}
