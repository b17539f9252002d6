//! Calibrates the probability of each class as the stream goes on.
//!
//! A temperature moves all probabilities by the same rule, but the classes of a stream are off in
//! different directions: those of a rare class are often too small by a factor, those of two
//! classes that resemble each other too far apart. Here each class has a slope and an offset,
//!
//! ```text
//! rₖ = pₖ^aₖ · e^bₖ / Σⱼ pⱼ^aⱼ · e^bⱼ
//! ```
//!
//! which minimise the log loss by Newton's method with a diagonal curvature and a memory of ten
//! thousand samples: the slope for bₖ is gₖ = yₖ − rₖ, and for aₖ it is gₖ·ln pₖ.
//!
//! That helps on most streams and does harm on a few, so both predictions are mixed by how good
//! they have been: p + v·(r − p) with v = 1 / (1 + e^(2 − A)), where A is by how much the log loss of
//! r has been lower in total over the same memory. Without forgetting this is the Bayesian mixture
//! with a prior of 0.88 for p, whose log loss exceeds that of p by at most −ln 0.88 = 0.13 over the
//! *whole* stream, however bad r is.

#![allow(clippy::inline_always)]

use super::stacking::LARGEST_WEIGHT;
use crate::{
    error::ModelFileError,
    numeric::{exp_m1, ln, probability::softmax},
    state::{ReadScope, WriteScope},
};

/// The share of curvatures and of the advantage that each sample keeps.
const DECAY: f64 = 0.9999;

/// The curvature of the prior belief in aₖ = 1 and bₖ = 0.
const BELIEF: f64 = 200.0;

/// The prior disadvantage of the calibrated probabilities: the logarithm of their odds.
const RESERVE: f64 = 2.0;

/// The largest advantage either way that is remembered, so that a drift is noticed soon.
const LARGEST_ADVANTAGE: f64 = 50.0;

/// The smallest and the largest slope, and the largest offset.
const SLOPES: (f64, f64) = (0.25, 4.0);
const LARGEST_OFFSET: f64 = 3.0;

/// The smallest probability that is told apart from 0.
const LEAST: f64 = 1e-12;

/// A slope and an offset for each class that adapt to the stream.
#[derive(Clone, Debug)]
pub(crate) struct ClassCalibration {
    classes: Vec<Class>,
    advantage: f64,
}

#[derive(Clone, Copy, Debug)]
struct Class {
    slope: f64,
    offset: f64,
    /// The curvatures of the loss in the slope and in the offset.
    curvatures: [f64; 2],
}

/// What the calibration makes of probabilities p.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calibrated {
    /// ln p and r, to learn from.
    logarithms: Vec<f64>,
    calibrated: Vec<f64>,
    /// The mixture of p and r.
    pub(crate) probabilities: Vec<f64>,
}

impl Class {
    const NEW: Class = Class { slope: 1.0, offset: 0.0, curvatures: [0.0; 2] };
}

impl ClassCalibration {
    pub(crate) fn new() -> Self {
        ClassCalibration { classes: Vec::new(), advantage: 0.0 }
    }

    /// The mixture of p and of the calibrated probabilities.
    #[inline(always)]
    pub(crate) fn apply(&self, p: &[f64]) -> Calibrated {
        let logarithms: Vec<f64> = p.iter().map(|p| ln(p.max(LEAST))).collect();
        let scores = logarithms.iter().enumerate().map(|(k, logarithm)| {
            let Class { slope, offset, .. } = self.classes.get(k).unwrap_or(&Class::NEW);
            slope.mul_add(*logarithm, *offset)
        });
        let calibrated = softmax(&scores.collect::<Vec<f64>>());
        // Not even in its last digits does anything change before the first sample.
        let probabilities = if self.classes.is_empty() {
            p.to_vec()
        } else {
            let odds = (RESERVE - self.advantage).min(700.0);
            let share = 1.0 / (2.0 + exp_m1(odds));
            p.iter().zip(&calibrated).map(|(p, r)| share.mul_add(r - p, *p)).collect()
        };
        Calibrated { logarithms, calibrated, probabilities }
    }

    /// Learns that a sample for which it made this was of that class.
    #[inline(always)]
    pub(crate) fn observe(&mut self, made: &Calibrated, class: usize, weight: f64) {
        let weight = weight.min(LARGEST_WEIGHT);
        let Calibrated { logarithms, calibrated, .. } = made;
        if self.classes.len() < calibrated.len() {
            self.classes.resize(calibrated.len(), Class::NEW);
        }
        let gained = ln(calibrated[class].max(LEAST)) - logarithms[class];
        self.advantage = (DECAY.mul_add(self.advantage, weight * gained))
            .clamp(-LARGEST_ADVANTAGE, LARGEST_ADVANTAGE);
        for (k, (own, r)) in self.classes.iter_mut().zip(calibrated).enumerate() {
            let logarithm = logarithms[k];
            let variance = weight * r * (1.0 - r);
            let gradient = weight * (f64::from(u8::from(k == class)) - r);
            let [slope, offset] = &mut own.curvatures;
            *offset = DECAY.mul_add(*offset, variance);
            *slope = DECAY.mul_add(*slope, variance * logarithm * logarithm);
            let change = gradient / (*offset + BELIEF);
            own.offset = (own.offset + change).clamp(-LARGEST_OFFSET, LARGEST_OFFSET);
            let change = gradient * logarithm / (*slope + BELIEF);
            own.slope = (own.slope + change).clamp(SLOPES.0, SLOPES.1);
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.float("advantage", self.advantage);
        let numbers = self.classes.iter().flat_map(|class| {
            [class.slope, class.offset, class.curvatures[0], class.curvatures[1]]
        });
        to.floats("classes", numbers.collect());
    }

    /// Takes over the saved state of a model with at most `classes` classes.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        classes: usize,
    ) -> Result<(), ModelFileError> {
        let advantage = from.float("advantage", -LARGEST_ADVANTAGE..=LARGEST_ADVANTAGE)?;
        let numbers = from.any_floats("classes")?;
        let (rows, rest) = numbers.as_chunks::<4>();
        let sound = rest.is_empty() && rows.len() <= classes;
        from.check("classes", sound, "four numbers for each known class")?;
        let offsets = -LARGEST_OFFSET..=LARGEST_OFFSET;
        let sound = |row: &[f64; 4]| {
            (SLOPES.0..=SLOPES.1).contains(&row[0])
                && offsets.contains(&row[1])
                && row[2..].iter().all(|curvature| (0.0..=f64::MAX / 2.0).contains(curvature))
        };
        from.check_each("classes", rows, "slopes, offsets and curvatures within bounds", sound)?;
        let class =
            |row: &[f64; 4]| Class { slope: row[0], offset: row[1], curvatures: [row[2], row[3]] };
        *self = ClassCalibration { classes: rows.iter().map(class).collect(), advantage };
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::Random, state::StateWriter};

    /// Follows samples that state `stated` where the probability of class 1 is `truth`, and returns the
    /// mean log loss of the stated probabilities and of the calibrated ones, over the second half.
    fn follow(calibration: &mut ClassCalibration, truth: impl Fn(f64) -> f64) -> (f64, f64) {
        let mut random = Random::new(1, "test", "class calibration");
        let (mut stated_loss, mut loss) = (0.0, 0.0);
        for i in 0..20_000 {
            let stated = random.signed_unit().abs().clamp(0.01, 0.99);
            let class = usize::from(random.signed_unit().abs() < truth(stated));
            let p = [1.0 - stated, stated];
            let made = calibration.apply(&p);
            let q = &made.probabilities;
            assert!((q.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            if i >= 10_000 {
                stated_loss -= ln(p[class]) / 1e4;
                loss -= ln(q[class]) / 1e4;
            }
            calibration.observe(&made, class, 1.0);
        }
        (stated_loss, loss)
    }

    #[test]
    fn a_class_that_is_stated_too_rarely_is_put_right() {
        let mut calibration = ClassCalibration::new();
        // The odds are three times as high as stated.
        let truth = |p: f64| 3.0 * p / (1.0 + 2.0 * p);
        let (stated, loss) = follow(&mut calibration, truth);
        assert!(loss < stated - 0.05, "{loss}, {stated}");
        for p in [0.1, 0.3, 0.7] {
            let found = calibration.apply(&[1.0 - p, p]).probabilities[1];
            assert!((found - truth(p)).abs() < 0.05, "{p} became {found}, not {}", truth(p));
        }
    }

    #[test]
    fn calibrated_probabilities_lose_next_to_nothing() {
        let mut calibration = ClassCalibration::new();
        let (stated, loss) = follow(&mut calibration, |p| p);
        assert!(loss < stated + 2e-4, "{loss}, {stated}");
    }

    #[test]
    fn nothing_is_changed_before_the_first_sample() {
        let p = [0.2, 0.5, 0.3];
        assert_eq!(ClassCalibration::new().apply(&p).probabilities, p);
    }

    #[test]
    fn a_class_of_probability_0_and_huge_weights_leave_everything_finite() {
        let mut calibration = ClassCalibration::new();
        for i in 0..2000 {
            let p = if i % 2 == 0 { [1.0, 0.0] } else { [0.0, 1.0] };
            let made = calibration.apply(&p);
            calibration.observe(&made, usize::from(i % 3 == 0), 1e300);
        }
        assert!(calibration.apply(&[0.0, 1.0]).probabilities.iter().all(|p| p.is_finite()));
        let mut state = StateWriter::default();
        calibration.save(&mut state.root());
        let mut restored = ClassCalibration::new();
        state.read_back(|from| restored.restore(from, 2)).unwrap();
        assert_eq!(format!("{restored:?}"), format!("{calibration:?}"));
        assert!(state.read_back(|from| restored.restore(from, 1)).is_err());
    }
}
