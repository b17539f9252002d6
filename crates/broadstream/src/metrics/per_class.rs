//! How well each class is told apart from the others.
//!
//! For class i, precision is correct_i / predicted_i, recall is correct_i / support_i, and F1 is
//! their harmonic mean, 2 correct_i / (support_i + predicted_i). A 0/0 counts as 0, as with
//! scikit-learn's `zero_division=0`.

use super::{
    confusion::{ClassCounts, ConfusionMatrix},
    f1::class_f1,
};

/// The metrics of one class.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct PerClass {
    /// The class.
    pub class: usize,
    /// The share of samples predicted as this class that belong to it; 0 if it was never predicted.
    pub precision: f64,
    /// The share of the samples of this class that were predicted as it; 0 if it never occurred.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// The number of samples of this class.
    pub support: u64,
}

/// Precision, recall, F1 and support of each class that occurs as truth or as prediction, in
/// ascending order of class.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, per_class};
///
/// let mut confusion = ConfusionMatrix::new();
/// for (truth, predicted) in [(0, 0), (0, 0), (1, 1), (1, 0), (1, 0), (1, 0)] {
///     confusion.add(truth, Some(predicted));
/// }
/// let classes = per_class(&confusion);
/// assert_eq!((classes[0].precision, classes[0].recall), (0.4, 1.0));
/// assert_eq!((classes[1].precision, classes[1].recall), (1.0, 0.25));
/// ```
pub fn per_class(confusion: &ConfusionMatrix) -> Vec<PerClass> {
    confusion.class_counts().map(|(class, counts)| of_class(class, counts)).collect()
}

fn of_class(class: usize, counts: ClassCounts) -> PerClass {
    // Without samples there is nothing correct either, so dividing by 1 instead gives the 0.
    let correct = counts.correct as f64;
    PerClass {
        class,
        precision: correct / counts.predicted.max(1) as f64,
        recall: correct / counts.support.max(1) as f64,
        f1: class_f1(counts),
        support: counts.support,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zero_by_zero_is_zero() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, Some(4));
        let zero =
            |class, support| PerClass { class, precision: 0.0, recall: 0.0, f1: 0.0, support };
        assert_eq!(per_class(&confusion), [zero(0, 1), zero(4, 0)]);
    }
}
