//! An average of the members' predictions, weighted by their recent errors.
//!
//! The factor predicts not only with all features but also with only the first of them
//! ([`Factor::add_readout`](crate::regression::factor::Factor::add_readout)): with the linear nodes
//! alone, and with them and more and more enhancement nodes. A small model soon does well where the
//! concept is simple or the memory short; a large one wins in the end where it is not. Their scores
//! are averaged with weights exp(−rate · loss), where a member's loss is its squared error, decayed
//! with a memory of a few hundred samples.

#![allow(clippy::inline_always)]

use crate::{
    error::ModelFileError,
    numeric::exp_m1,
    state::{ReadScope, WriteScope},
};

/// The share of a member's loss that each sample keeps: a memory of about five hundred samples.
const DECAY: f64 = 0.998;

/// After this many samples nothing is left of a loss.
const FORGOTTEN: u64 = 20_000;

/// How strongly a smaller loss is preferred. At 0.5 a member whose error is larger by 0.01 per
/// sample keeps a twelfth of the weight; members that are equally good are averaged. Of rates from
/// 0.1 to 4, those between 0.3 and 1 did well on the first samples of eight streams.
const RATE: f64 = 0.5;

/// A loss that is too large for any weight.
const UNKNOWN: f64 = 1e9;

/// The members' recent losses.
#[derive(Clone, Debug)]
pub(crate) struct ErrorWeightedAverage {
    losses: Vec<f64>,
    /// The members' weights, which follow from the losses.
    weights: Vec<f64>,
}

impl ErrorWeightedAverage {
    pub(crate) fn new(members: usize) -> Self {
        let mut average = ErrorWeightedAverage { losses: vec![0.0; members], weights: Vec::new() };
        average.weigh();
        average
    }

    /// The weight of each member; they sum to 1.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Lets the weights follow the losses.
    #[inline(always)]
    fn weigh(&mut self) {
        weigh(&self.losses, &mut self.weights);
    }

    /// The members' losses.
    pub(crate) fn losses(&self) -> &[f64] {
        &self.losses
    }

    /// The weighted average of the members' scores, which are given one member after the other.
    #[inline(always)]
    pub(crate) fn combine(&self, scores: &[f64], classes: usize) -> Vec<f64> {
        let mut combined = vec![0.0; classes];
        for (row, weight) in scores.chunks_exact(classes.max(1)).zip(&self.weights) {
            for (combined, score) in combined.iter_mut().zip(row) {
                *combined = weight.mul_add(*score, *combined);
            }
        }
        combined
    }

    /// The number of members.
    pub(crate) fn members(&self) -> usize {
        self.losses.len()
    }

    /// Gives members of which nothing is known a loss so large that they have no weight before it has
    /// decayed.
    pub(crate) fn distrust(&mut self) {
        self.losses.fill(UNKNOWN);
        self.weigh();
    }

    /// Replaces the members' losses.
    pub(crate) fn reshape(&mut self, losses: Vec<f64>) {
        self.losses = losses;
        self.weigh();
    }

    /// A loss after one more sample with that squared error.
    #[inline(always)]
    pub(crate) fn decayed(loss: f64, weight: f64, error: f64) -> f64 {
        DECAY.mul_add(loss, weight * error)
    }

    /// The sum of the decayed weights of that many samples of weight 1.
    pub(crate) fn mass(samples: u64) -> f64 {
        let mut kept = 1.0;
        for _ in 0..samples.min(FORGOTTEN) {
            kept *= DECAY;
        }
        (1.0 - kept) / (1.0 - DECAY)
    }

    /// The squared error of a member's scores.
    #[inline(always)]
    pub(crate) fn squared_error(row: &[f64], class: usize) -> f64 {
        row.iter().enumerate().fold(0.0, |sum, (k, score)| {
            let truth = f64::from(u8::from(k == class));
            let error = truth - score.clamp(0.0, 1.0);
            error.mul_add(error, sum)
        })
    }

    /// A member's recent loss.
    pub(crate) fn loss(&self, member: usize) -> f64 {
        self.losses[member]
    }

    /// Updates the losses with the members' scores of a sample of that class, and returns each
    /// member's squared error. Scores are clamped to \[0, 1\], the range of the probabilities that
    /// they estimate, so that a score beyond it does no harm.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        scores: &[f64],
        classes: usize,
        class: usize,
        weight: f64,
    ) -> Vec<f64> {
        let rows = scores.chunks_exact(classes);
        let errors: Vec<f64> = rows.map(|row| Self::squared_error(row, class)).collect();
        for (loss, error) in self.losses.iter_mut().zip(&errors) {
            *loss = Self::decayed(*loss, weight, *error);
        }
        self.weigh();
        errors
    }

    /// Adds the losses of members that learned other samples.
    pub(crate) fn merge(&mut self, other: &ErrorWeightedAverage) {
        for (loss, other) in self.losses.iter_mut().zip(&other.losses) {
            *loss += other;
        }
        self.weigh();
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("losses", self.losses.clone());
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.losses = from.floats("losses", self.losses.len())?;
        self.weigh();
        Ok(())
    }
}

/// The weights that members of these losses have; they sum to 1.
#[inline(always)]
pub(crate) fn weigh(losses: &[f64], weights: &mut Vec<f64>) {
    let least = losses.iter().copied().fold(f64::INFINITY, f64::min);
    weights.clear();
    weights
        .extend(losses.iter().map(|loss| 1.0 / (1.0 + exp_m1((RATE * (loss - least)).min(700.0)))));
    let sum: f64 = weights.iter().sum();
    weights.iter_mut().for_each(|weight| *weight /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_single_member_is_left_as_it_is() {
        let mut average = ErrorWeightedAverage::new(1);
        average.observe(&[0.3, 0.9], 2, 0, 1.0);
        assert_eq!(average.combine(&[0.1, 0.7], 2), [0.1, 0.7]);
        assert!(average.combine(&[], 0).is_empty());
    }

    #[test]
    fn the_better_member_prevails_and_can_be_overtaken() {
        let mut average = ErrorWeightedAverage::new(2);
        let (good, bad) = ([0.9, 0.1], [0.4, 0.6]);
        for _ in 0..50 {
            average.observe(&[good, bad].concat(), 2, 0, 1.0);
        }
        assert!(average.weights()[0] > 0.99);
        for _ in 0..100 {
            average.observe(&[bad, good].concat(), 2, 0, 1.0);
        }
        assert!(average.weights()[1] > 0.99, "{:?}", average.weights());
        let sum: f64 = average.weights().iter().sum();
        assert!((sum - 1.0).abs() < 1e-15);
    }

    #[test]
    fn absurd_losses_stay_finite() {
        let mut average = ErrorWeightedAverage::new(2);
        average.observe(&[1e300, -1e300, 0.5, 0.5], 2, 1, 1e100);
        assert!(average.weights().iter().all(|weight| weight.is_finite()));
    }
}
