//! The class `Certificate`: the accuracy of unlearning.

use pyo3::prelude::*;

/// How exact a model is after unlearning.
///
/// Unlearning is refused if scores could be off by more than 1e-7.
#[pyclass(frozen, get_all, module = "broadstream")]
pub(crate) struct Certificate {
    /// The number of unlearned or corrected samples.
    samples: u64,
    /// How far scores may be from those of a model that was trained on the remaining samples alone,
    /// relative to the largest score.
    error: f64,
    /// The estimated condition number of the regression.
    condition: f64,
}

#[pymethods]
impl Certificate {
    fn __repr__(&self) -> String {
        let Certificate { samples, error, condition } = self;
        format!("Certificate(samples={samples}, error={error:.1e}, condition={condition:.1e})")
    }
}

impl From<broadstream::Certificate> for Certificate {
    fn from(certificate: broadstream::Certificate) -> Self {
        let broadstream::Certificate { samples, error, condition } = certificate;
        Certificate { samples, error, condition }
    }
}
