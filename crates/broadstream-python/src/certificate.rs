//! What taking samples back has left.

use pyo3::prelude::*;

/// How well a model solves the equations of what it has learned, before samples were taken back and after.
///
/// The residual is zero but for rounding if the model is the optimum of the samples that are left.
#[pyclass(frozen, get_all, module = "broadstream")]
pub(crate) struct Certificate {
    /// How many samples were taken back or put right.
    samples: u64,
    /// The residual of the model as it was.
    residual_before: f64,
    /// The residual of the model as it is, in the equations without the samples taken back.
    residual_after: f64,
}

#[pymethods]
impl Certificate {
    fn __repr__(&self) -> String {
        let Certificate { samples, residual_before, residual_after } = self;
        format!(
            "Certificate(samples={samples}, residual_before={residual_before:.1e}, \
             residual_after={residual_after:.1e})"
        )
    }
}

impl From<broadstream::Certificate> for Certificate {
    fn from(certificate: broadstream::Certificate) -> Self {
        let broadstream::Certificate { samples, residual_before, residual_after } = certificate;
        Certificate { samples, residual_before, residual_after }
    }
}
