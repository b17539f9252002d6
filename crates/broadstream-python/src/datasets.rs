//! The catalogue of datasets, and the names of generators.

use std::path::PathBuf;

use broadstream::stream::synth::NamedGenerator;
use broadstream_datasets::{Origin, catalogue, find};
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

/// Find the file of a dataset in ``data``, in the folder named by BROADSTREAM_DATA, or in the user's cache.
#[pyfunction]
#[pyo3(signature = (name, data = None))]
#[expect(clippy::needless_pass_by_value, reason = "Python's paths become owned ones")]
pub(crate) fn find_dataset(name: &str, data: Option<PathBuf>) -> PyResult<PathBuf> {
    find(name, data.as_deref()).map_err(|error| dataset_error(&error))
}
