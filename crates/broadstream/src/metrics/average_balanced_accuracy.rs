//! How balanced the predictions were along the whole stream, not only at its end.
//!
//! AVRBACC = (Σ_k BACC_k) / n, where BACC_k is the [balanced accuracy](super::bacc) of the first k
//! samples. It rewards a model that became good early.

use super::{balanced_accuracy::bacc, confusion::ConfusionMatrix, mean::Mean};
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Average balanced accuracy, fed with the confusion matrix after each sample.
///
/// ```
/// use broadstream::metrics::{AverageBalancedAccuracy, ConfusionMatrix};
///
/// let mut confusion = ConfusionMatrix::new();
/// let mut average = AverageBalancedAccuracy::new();
/// for (truth, predicted) in [(0, None), (0, Some(0))] {
///     confusion.add(truth, predicted);
///     average.add(&confusion);
/// }
/// assert_eq!(average.value(), (0.0 + 0.5) / 2.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct AverageBalancedAccuracy(Mean);

impl AverageBalancedAccuracy {
    /// An average over no steps yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a step: the matrix holds all samples up to and including this step's.
    pub fn add(&mut self, confusion: &ConfusionMatrix) {
        self.0.add(bacc(confusion));
    }

    /// The average over the steps so far; 0 without any.
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
