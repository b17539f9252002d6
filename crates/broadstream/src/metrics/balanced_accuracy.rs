//! Accuracy that gives each class the same weight, however rare it is.
//!
//! BACC = (Σ_i correct_i / support_i) / c, the mean recall. The paper's appendix C takes c to be
//! the number of classes; here it is the number of classes that have occurred as truth, since early
//! in a stream the recall of the others is 0/0. This is the rule of scikit-learn's
//! `balanced_accuracy_score`, and it holds at every step, for windows too. A class that was only
//! ever predicted lowers the recall of other classes and is not averaged itself.

use super::confusion::ConfusionMatrix;

/// Balanced accuracy: the mean recall of the classes that have occurred; 0 without samples.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, bacc, oca};
///
/// // Always the majority class: right nine times in ten, and yet no better than chance.
/// let mut confusion = ConfusionMatrix::new();
/// for k in 0..10 {
///     confusion.add(usize::from(k == 9), Some(0));
/// }
/// assert_eq!(oca(&confusion), 0.9);
/// assert_eq!(bacc(&confusion), 0.5);
/// ```
pub fn bacc(confusion: &ConfusionMatrix) -> f64 {
    let mut recalls = 0.0;
    let mut classes = 0;
    for (_, counts) in confusion.class_counts().filter(|(_, counts)| counts.support > 0) {
        recalls += counts.correct as f64 / counts.support as f64;
        classes += 1;
    }
    if classes == 0 { 0.0 } else { recalls / f64::from(classes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_without_samples() {
        assert_eq!(bacc(&ConfusionMatrix::new()), 0.0);
    }

    #[test]
    fn a_class_that_never_occurred_is_not_averaged() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, Some(0));
        confusion.add(0, Some(1));
        assert_eq!(bacc(&confusion), 0.5);
        confusion.add(1, None);
        assert_eq!(bacc(&confusion), 0.25);
    }
}
