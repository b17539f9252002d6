//! The geometric mean of the recalls.
//!
//! (Π_i recall_i)^(1/c) over the c classes that have occurred. Unlike the balanced accuracy, which
//! is their arithmetic mean, it is 0 as soon as one class is never recognised. It equals
//! imbalanced-learn's `geometric_mean_score`.

use super::confusion::ConfusionMatrix;

/// The geometric mean of the recalls of the classes that have occurred; 0 without samples.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, gmean};
///
/// let mut confusion = ConfusionMatrix::new();
/// for (truth, predicted) in [(0, 0), (1, 1), (1, 0), (1, 0), (1, 0)] {
///     confusion.add(truth, Some(predicted));
/// }
/// assert_eq!(gmean(&confusion), 0.5);
/// ```
pub fn gmean(confusion: &ConfusionMatrix) -> f64 {
    let (mut logarithms, mut classes) = (0.0, 0);
    for (_, counts) in confusion.class_counts().filter(|(_, counts)| counts.support > 0) {
        if counts.correct == 0 {
            return 0.0;
        }
        logarithms += (counts.correct as f64 / counts.support as f64).ln();
        classes += 1;
    }
    if classes == 0 { 0.0 } else { (logarithms / f64::from(classes)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_without_samples_or_if_a_class_is_never_recognised() {
        let mut confusion = ConfusionMatrix::new();
        assert_eq!(gmean(&confusion), 0.0);
        confusion.add(0, Some(0));
        assert_eq!(gmean(&confusion), 1.0);
        confusion.add(1, Some(0));
        assert_eq!(gmean(&confusion), 0.0);
    }
}
