//! The class `Certificate`: the accuracy of unlearning.

use pyo3::prelude::*;

/// The accuracy of a model before and after unlearning.
///
/// The residual says how well the model solves the equations of the samples it has learned. It is zero, up
/// to rounding, if the model is the optimum of the remaining samples.
#[pyclass(frozen, get_all, module = "broadstream")]
pub(crate) struct Certificate {
    /// The number of unlearned or corrected samples.
    samples: u64,
    /// The residual before the call.
    residual_before: f64,
    /// The residual after the call, in the equations without the unlearned samples.
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
