//! The share of samples predicted correctly, and its complement.
//!
//! In the paper's appendix C these are online cumulative accuracy and online cumulative error: over
//! the n samples so far, OCA = #{k : ŷ_k = y_k} / n and OCE = #{k : ŷ_k ≠ y_k} / n. A sample for
//! which nothing was predicted counts as an error.

use super::confusion::ConfusionMatrix;

/// Online cumulative accuracy: the share of samples predicted correctly; 0 without samples.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, oca, oce};
///
/// let mut confusion = ConfusionMatrix::new();
/// for (truth, predicted) in [(0, None), (0, Some(0)), (1, Some(0)), (1, Some(1))] {
///     confusion.add(truth, predicted);
/// }
/// assert_eq!(oca(&confusion), 0.5);
/// assert_eq!(oce(&confusion), 0.5);
/// ```
pub fn oca(confusion: &ConfusionMatrix) -> f64 {
    share(confusion.correct(), confusion.samples())
}

/// Online cumulative error: the share of samples not predicted correctly; 0 without samples.
pub fn oce(confusion: &ConfusionMatrix) -> f64 {
    share(confusion.samples() - confusion.correct(), confusion.samples())
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_are_zero_without_samples() {
        let confusion = ConfusionMatrix::new();
        assert_eq!((oca(&confusion), oce(&confusion)), (0.0, 0.0));
    }
}
