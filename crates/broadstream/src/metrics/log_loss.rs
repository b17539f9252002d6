//! How surprised the model was by the truth: the mean of -ln p, where p is the probability that it
//! gave the true class.
//!
//! A class that is not in the list, because the model never saw it, has probability 0, and -ln 0 is
//! infinite. As scikit-learn's `log_loss` does for float64, p is therefore clipped to [ε, 1 - ε]
//! with ε = 2⁻⁵²: no sample costs more than 36.04.

use super::mean::Mean;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Mean log loss; lower is better.
///
/// ```
/// use broadstream::metrics::LogLoss;
///
/// let mut loss = LogLoss::new();
/// loss.add(&[0.5, 0.5], 0);
/// loss.add(&[0.75, 0.25], 1);
/// assert!((loss.value() - (2.0_f64.ln() + 4.0_f64.ln()) / 2.0).abs() < 1e-15);
/// ```
#[derive(Clone, Debug, Default)]
pub struct LogLoss(Mean);

impl LogLoss {
    /// The loss of no samples yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sample of class `truth`, given the probability of each class known to the model.
    pub fn add(&mut self, probabilities: &[f64], truth: usize) {
        self.0.add(log_loss(probabilities, truth));
    }

    /// The mean over the samples so far; 0 without any.
    pub fn value(&self) -> f64 {
        self.0.value()
    }

    /// The number of samples added.
    pub(super) fn count(&self) -> u64 {
        self.0.count()
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.0.save(to);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.0.restore(from)
    }
}

/// The log loss of one sample of class `truth`: always finite and above 0. NaN counts as
/// probability 0.
///
/// ```
/// use broadstream::metrics::log_loss;
///
/// assert!((log_loss(&[0.5, 0.5], 1) - 2.0_f64.ln()).abs() < 1e-15);
/// assert!((log_loss(&[], 0) - 52.0 * 2.0_f64.ln()).abs() < 1e-13);
/// ```
#[expect(clippy::manual_clamp, reason = "clamp would let a NaN through")]
pub fn log_loss(probabilities: &[f64], truth: usize) -> f64 {
    let p = probabilities.get(truth).copied().unwrap_or(0.0);
    -p.max(f64::EPSILON).min(1.0 - f64::EPSILON).ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_probability_makes_it_infinite_or_undefined() {
        let highest = -f64::EPSILON.ln();
        for p in [0.0, -1.0, f64::NAN, f64::NEG_INFINITY] {
            assert_eq!(log_loss(&[p], 0), highest);
        }
        for p in [1.0, 7.0, f64::INFINITY] {
            assert_eq!(log_loss(&[p], 0), -(1.0 - f64::EPSILON).ln());
        }
        assert_eq!(log_loss(&[1.0], usize::MAX), highest);
        assert_eq!(LogLoss::new().value(), 0.0);
    }
}
