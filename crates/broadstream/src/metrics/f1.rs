//! Precision and recall in one number, each class counting the same.
//!
//! With precision P_i and recall R_i of class i, F1 = (1/c) Σ_i 2 P_i R_i / (P_i + R_i), and each
//! term is 2 correct_i / (support_i + predicted_i). This is the paper's definition and that of
//! scikit-learn's `f1_score(average="macro")`. MOA reports another number by the same name: the
//! harmonic mean of macro precision and macro recall.
//!
//! The mean is over the c classes that occur as truth or as prediction, as in scikit-learn. "No
//! prediction" is not a class: it lowers the recall of the true class and is not averaged itself.

use super::confusion::{ClassCounts, ConfusionMatrix};

/// Macro F1: the mean over classes of each class's F1; 0 without samples.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, macro_f1};
///
/// let mut confusion = ConfusionMatrix::new();
/// for (truth, predicted) in [(0, 0), (0, 0), (1, 1), (1, 0)] {
///     confusion.add(truth, Some(predicted));
/// }
/// assert!((macro_f1(&confusion) - (4.0 / 5.0 + 2.0 / 3.0) / 2.0).abs() < 1e-15);
/// ```
pub fn macro_f1(confusion: &ConfusionMatrix) -> f64 {
    if confusion.classes() == 0 {
        return 0.0;
    }
    let sum: f64 = confusion.class_counts().map(|(_, counts)| class_f1(counts)).sum();
    sum / confusion.classes() as f64
}

/// The F1 of one class that occurs.
pub(super) fn class_f1(counts: ClassCounts) -> f64 {
    2.0 * counts.correct as f64 / (counts.support + counts.predicted) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_without_samples() {
        assert_eq!(macro_f1(&ConfusionMatrix::new()), 0.0);
    }

    #[test]
    fn no_prediction_is_not_averaged_as_a_class() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, None);
        confusion.add(0, Some(0));
        assert_eq!(macro_f1(&confusion), 2.0 / 3.0);
    }
}
