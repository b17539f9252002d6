//! The correlation between truth and prediction (Matthews, for any number of classes).
//!
//! With n samples, s of them correct, t_i of class i and p_i predicted as class i,
//! MCC = (s n - Σ t_i p_i) / √((n² - Σ p_i²)(n² - Σ t_i²)). It is 1 for perfect predictions, 0 for
//! predictions unrelated to the truth, and for two classes -1 when every prediction is wrong.
//!
//! "No prediction" is a predicted label of its own (t = 0), so it is never right. The value equals
//! scikit-learn's `matthews_corrcoef`, which the paper uses.

use super::confusion::ConfusionMatrix;

/// Matthews correlation coefficient, from -1 to 1; 0 where it is undefined, which is when all
/// samples are of one class, all predictions are the same, or there are none.
///
/// ```
/// use broadstream::metrics::{ConfusionMatrix, mcc};
///
/// let mut confusion = ConfusionMatrix::new();
/// confusion.add(0, Some(0));
/// assert_eq!(mcc(&confusion), 0.0);
/// confusion.add(1, Some(1));
/// assert_eq!(mcc(&confusion), 1.0);
/// ```
pub fn mcc(confusion: &ConfusionMatrix) -> f64 {
    // In integers, since the differences cancel: with one error in 10⁸ samples both sides of each
    // minus agree in more digits than a float has.
    let n = u128::from(confusion.samples());
    let unpredicted = u128::from(confusion.unpredicted_in_all());
    let mut truth_by_prediction = 0;
    let mut prediction_squared = unpredicted * unpredicted;
    let mut truth_squared = 0;
    for (_, counts) in confusion.class_counts() {
        let (t, p) = (u128::from(counts.support), u128::from(counts.predicted));
        truth_by_prediction += t * p;
        prediction_squared += p * p;
        truth_squared += t * t;
    }
    let covariance = (n * u128::from(confusion.correct())) as i128 - truth_by_prediction as i128;
    let prediction_variance = n * n - prediction_squared;
    let truth_variance = n * n - truth_squared;
    if prediction_variance == 0 || truth_variance == 0 {
        return 0.0;
    }
    let scale = (prediction_variance as f64 * truth_variance as f64).sqrt();
    // Rounding may push a nearly perfect value just past 1.
    (covariance as f64 / scale).clamp(-1.0, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_zero_where_undefined() {
        let mut confusion = ConfusionMatrix::new();
        assert_eq!(mcc(&confusion), 0.0);
        confusion.add(0, None);
        confusion.add(1, None);
        assert_eq!(mcc(&confusion), 0.0);
    }

    #[test]
    fn two_classes_always_confused_give_minus_one() {
        let mut confusion = ConfusionMatrix::new();
        confusion.add(0, Some(1));
        confusion.add(1, Some(0));
        assert_eq!(mcc(&confusion), -1.0);
    }
}
