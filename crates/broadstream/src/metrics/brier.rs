//! The squared distance between the probabilities and the truth.
//!
//! For one sample it is Σ_i (p_i - y_i)², where y_i is 1 for the true class and 0 for the others;
//! the score is the mean. This is Brier's original definition (1950), from 0 to 2 also for two
//! classes. It equals scikit-learn's `brier_score_loss` with `scale_by_half=False`; the form often
//! used for two classes, (p_1 - y_1)², is half of it, and is what scikit-learn's default gives
//! there.
//!
//! A class that is not in the list, because the model never saw it, has probability 0: if it is the
//! true one it adds (0 - 1)² = 1.

use super::mean::Mean;
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Mean Brier score; lower is better.
///
/// ```
/// use broadstream::metrics::BrierScore;
///
/// let mut score = BrierScore::new();
/// score.add(&[0.5, 0.5], 0);
/// score.add(&[0.0, 1.0], 1);
/// assert_eq!(score.value(), 0.25);
/// ```
#[derive(Clone, Debug, Default)]
pub struct BrierScore(Mean);

impl BrierScore {
    /// The score of no samples yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a sample of class `truth`, given the probability of each class known to the model.
    pub fn add(&mut self, probabilities: &[f64], truth: usize) {
        self.0.add(brier_score(probabilities, truth));
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

/// The Brier score of one sample of class `truth`: always finite. A probability outside [0, 1] is
/// clamped, and NaN counts as 0.
///
/// ```
/// use broadstream::metrics::brier_score;
///
/// assert_eq!(brier_score(&[0.5, 0.5], 0), 0.5);
/// assert_eq!(brier_score(&[0.5, 0.5], 2), 1.5);
/// assert_eq!(brier_score(&[], 0), 1.0);
/// ```
#[expect(clippy::manual_clamp, reason = "clamp would let a NaN through")]
pub fn brier_score(probabilities: &[f64], truth: usize) -> f64 {
    let mut sum = if truth < probabilities.len() { 0.0 } else { 1.0 };
    for (class, &p) in probabilities.iter().enumerate() {
        let p = p.max(0.0).min(1.0);
        let distance = if class == truth { 1.0 - p } else { p };
        sum += distance * distance;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_from_zero_to_two() {
        assert_eq!(brier_score(&[1.0, 0.0, 0.0], 0), 0.0);
        assert_eq!(brier_score(&[1.0, 0.0, 0.0], 1), 2.0);
    }

    #[test]
    fn no_probability_makes_it_infinite_or_undefined() {
        assert_eq!(brier_score(&[f64::NAN, f64::INFINITY, -3.0], 0), 2.0);
        assert_eq!(brier_score(&[1.0], usize::MAX), 2.0);
        assert_eq!(BrierScore::new().value(), 0.0);
    }
}
