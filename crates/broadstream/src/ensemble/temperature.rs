//! Temperature scaling: calibrates probabilities as the stream goes on.
//!
//! A regression on indicators is underconfident: with many classes even the most certain one gets
//! half of the probability, and is right nine times out of ten. Probabilities q are therefore
//! sharpened or softened by a temperature,
//!
//! ```text
//! pₖ = qₖᵃ / Σⱼ qⱼᵃ
//! ```
//!
//! which keeps their order. The exponent a minimises the log loss by Newton's method: its slope is
//! E(ln q) − ln q_truth and its curvature the variance of ln q, both under p, with a memory of a
//! few thousand samples.

#![allow(clippy::inline_always)]

use crate::{
    ensemble::stacking::LARGEST_WEIGHT,
    error::ModelFileError,
    numeric::{ln, probability::softmax},
    state::{ReadScope, WriteScope},
};

/// The share of the curvature that each sample keeps.
const DECAY: f64 = 0.9995;

/// The curvature of the prior belief in a = 1.
const BELIEF: f64 = 50.0;

/// The smallest and the largest exponent.
const BOUNDS: (f64, f64) = (0.25, 8.0);

/// A temperature that adapts to the stream.
#[derive(Clone, Debug)]
pub(crate) struct Temperature {
    exponent: f64,
    curvature: f64,
}

/// What a temperature makes of probabilities q.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tempered {
    /// ln q, to learn from.
    logarithms: Vec<f64>,
    pub(crate) probabilities: Vec<f64>,
}

impl Temperature {
    pub(crate) fn new() -> Self {
        Temperature { exponent: 1.0, curvature: 0.0 }
    }

    /// The probabilities for q > 0.
    #[inline(always)]
    pub(crate) fn apply(&self, q: &[f64]) -> Tempered {
        let logarithms: Vec<f64> = q.iter().map(|q| ln(*q)).collect();
        let scores: Vec<f64> = logarithms.iter().map(|log| self.exponent * log).collect();
        Tempered { probabilities: softmax(&scores), logarithms }
    }

    /// Learns that a sample for which it made this was of that class.
    #[inline(always)]
    pub(crate) fn observe(&mut self, tempered: &Tempered, class: usize, weight: f64) {
        let weight = weight.min(LARGEST_WEIGHT);
        let Tempered { logarithms: logs, probabilities: p } = tempered;
        let mean: f64 = logs.iter().zip(p).map(|(log, p)| p * log).sum();
        let variance: f64 =
            logs.iter().zip(p).map(|(log, p)| p * (log - mean) * (log - mean)).sum();
        self.curvature = DECAY.mul_add(self.curvature, weight * variance);
        let step = weight * (logs[class] - mean) / (self.curvature + BELIEF);
        self.exponent = (self.exponent + step).clamp(BOUNDS.0, BOUNDS.1);
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.float("exponent", self.exponent);
        to.float("curvature", self.curvature);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.exponent = from.float("exponent", BOUNDS.0..=BOUNDS.1)?;
        self.curvature = from.float("curvature", 0.0..=f64::MAX)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Follows samples whose first class is true with probability `truth`, alternating in a fixed
    /// pattern instead of at random.
    fn follow(stated: f64, truth: f64) -> f64 {
        let mut temperature = Temperature::new();
        let q = [stated, 1.0 - stated];
        let mut owed = 0.0;
        for _ in 0..20_000 {
            owed += truth;
            let class = usize::from(owed < 1.0);
            owed -= f64::from(u8::from(class == 0));
            let tempered = temperature.apply(&q);
            temperature.observe(&tempered, class, 1.0);
        }
        temperature.apply(&q).probabilities[0]
    }

    #[test]
    fn stated_probabilities_become_true_ones() {
        for (stated, truth) in [(0.6, 0.9), (0.9, 0.7), (0.8, 0.8), (0.7, 0.55)] {
            let found = follow(stated, truth);
            assert!((found - truth).abs() < 0.01, "{stated} became {found}, not {truth}");
        }
    }

    #[test]
    fn nothing_is_changed_before_the_first_sample() {
        let p = Temperature::new().apply(&[0.2, 0.5, 0.3]).probabilities;
        assert!(p.iter().zip([0.2, 0.5, 0.3]).all(|(p, q)| (p - q).abs() < 1e-15));
    }
}
