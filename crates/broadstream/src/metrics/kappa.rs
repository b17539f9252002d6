//! Agreement beyond what chance would give (Cohen's kappa).
//!
//! κ = (p_o - p_e) / (1 - p_e), where p_o is the accuracy and p_e the expected accuracy of
//! predictions made with the same frequencies but independently of the truth. With n samples, s
//! correct, t_i of class i and p_i predicted as class i, κ = (s n - Σ t_i p_i) / (n² - Σ t_i p_i).
//!
//! "No prediction" is a predicted label of its own, so it is never right. The value equals
//! scikit-learn's `cohen_kappa_score`, except where it is undefined, 0/0: there scikit-learn gives
//! NaN unless `replace_undefined_by` is set. JSON cannot represent NaN, so here it is 0, like the
//! Matthews coefficient.

use super::confusion::ConfusionMatrix;

/// Cohen's kappa, from -1 to 1; 0 where it is undefined, which is when all truths and predictions
/// are the same class, or there are no samples.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, kappa};
///
/// let mut confusion = ConfusionMatrix::new();
/// for (truth, predicted) in [(0, 0), (0, 0), (1, 1), (1, 0)] {
///     confusion.add(truth, Some(predicted));
/// }
/// assert_eq!(kappa(&confusion), 0.5);
/// ```
pub fn kappa(confusion: &ConfusionMatrix) -> f64 {
    // In integers, since the differences cancel.
    let n = u128::from(confusion.samples());
    let by_chance: u128 = confusion
        .class_counts()
        .map(|(_, counts)| u128::from(counts.support) * u128::from(counts.predicted))
        .sum();
    let room = n * n - by_chance;
    if room == 0 {
        return 0.0;
    }
    let gained = (n * u128::from(confusion.correct())) as i128 - by_chance as i128;
    gained as f64 / room as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_where_undefined() {
        let mut confusion = ConfusionMatrix::new();
        assert_eq!(kappa(&confusion), 0.0);
        confusion.add(3, Some(3));
        assert_eq!(kappa(&confusion), 0.0);
    }

    #[test]
    fn predicting_nothing_is_no_agreement() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, None);
        confusion.add(1, None);
        assert_eq!(kappa(&confusion), 0.0);
    }
}
