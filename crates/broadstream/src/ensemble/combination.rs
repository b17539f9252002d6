//! Which of several nested models to believe.
//!
//! The factor predicts not only with all features but also with only the first of them
//! ([`Factor::add_readout`](crate::regression::factor::Factor::add_readout)): with the linear nodes alone, and
//! with them and ever more enhancement nodes. A small model is soon right where the concept is plain
//! or the memory short; a large one wins in the end where it is not. Their scores are averaged with
//! weights exp(−rate · loss), where a member's loss is its squared error, faded over the last some
//! hundred samples.

use crate::{
    error::ModelFileError,
    numeric::exp_m1,
    state::{ReadScope, WriteScope},
};

/// What is left of a member's loss after one more sample: a memory of about five hundred samples.
const FADING: f64 = 0.998;

/// How decidedly a smaller loss is preferred. At 0.5 a member that errs by 0.01 more per sample
/// keeps a twelfth of the weight; several that are equally good are averaged.
const RATE: f64 = 0.5;

/// The members' standing.
#[derive(Clone, Debug)]
pub(crate) struct Combination {
    losses: Vec<f64>,
}

impl Combination {
    pub(crate) fn new(members: usize) -> Self {
        Combination { losses: vec![0.0; members] }
    }

    /// The weight of each member; they sum to 1.
    pub(crate) fn weights(&self) -> Vec<f64> {
        let least = self.losses.iter().copied().fold(f64::INFINITY, f64::min);
        let mut weights: Vec<f64> = self
            .losses
            .iter()
            .map(|loss| 1.0 / (1.0 + exp_m1((RATE * (loss - least)).min(700.0))))
            .collect();
        let sum: f64 = weights.iter().sum();
        weights.iter_mut().for_each(|weight| *weight /= sum);
        weights
    }

    /// The average of the members' scores, which are given one member after the other.
    pub(crate) fn combine(&self, scores: &[f64], classes: usize) -> Vec<f64> {
        let mut combined = vec![0.0; classes];
        for (row, weight) in scores.chunks_exact(classes.max(1)).zip(self.weights()) {
            for (combined, score) in combined.iter_mut().zip(row) {
                *combined = weight.mul_add(*score, *combined);
            }
        }
        combined
    }

    /// A member's loss.
    pub(crate) fn loss(&self, member: usize) -> f64 {
        self.losses[member]
    }

    /// Takes into account how the members scored a sample of that class, and returns each member's
    /// squared error. Scores are judged as the probabilities they stand for, so that what lies beyond
    /// 0 and 1 does no harm.
    pub(crate) fn observe(
        &mut self,
        scores: &[f64],
        classes: usize,
        class: usize,
        weight: f64,
    ) -> Vec<f64> {
        let squared_error = |row: &[f64]| {
            row.iter().enumerate().fold(0.0, |sum, (k, score)| {
                let truth = f64::from(u8::from(k == class));
                let error = truth - score.clamp(0.0, 1.0);
                error.mul_add(error, sum)
            })
        };
        let errors: Vec<f64> = scores.chunks_exact(classes).map(squared_error).collect();
        for (loss, error) in self.losses.iter_mut().zip(&errors) {
            *loss = FADING.mul_add(*loss, weight * error);
        }
        errors
    }

    /// Takes over the experience of members that learned other samples.
    pub(crate) fn merge(&mut self, other: &Combination) {
        for (loss, other) in self.losses.iter_mut().zip(&other.losses) {
            *loss += other;
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("losses", self.losses.clone());
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.losses = from.floats("losses", self.losses.len())?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_member_is_left_as_it_is() {
        let mut combination = Combination::new(1);
        combination.observe(&[0.3, 0.9], 2, 0, 1.0);
        assert_eq!(combination.combine(&[0.1, 0.7], 2), [0.1, 0.7]);
        assert!(combination.combine(&[], 0).is_empty());
    }

    #[test]
    fn the_better_member_prevails_and_can_be_overtaken() {
        let mut combination = Combination::new(2);
        let (good, bad) = ([0.9, 0.1], [0.4, 0.6]);
        for _ in 0..50 {
            combination.observe(&[good, bad].concat(), 2, 0, 1.0);
        }
        assert!(combination.weights()[0] > 0.99);
        for _ in 0..100 {
            combination.observe(&[bad, good].concat(), 2, 0, 1.0);
        }
        assert!(combination.weights()[1] > 0.99, "{:?}", combination.weights());
        let sum: f64 = combination.weights().iter().sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }

    #[test]
    fn absurd_losses_stay_finite() {
        let mut combination = Combination::new(2);
        combination.observe(&[1e300, -1e300, 0.5, 0.5], 2, 1, 1e100);
        assert!(combination.weights().iter().all(|weight| weight.is_finite()));
    }
}
