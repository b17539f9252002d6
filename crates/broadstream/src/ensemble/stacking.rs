//! Stacking: a ridge regression on the members' predictions.
//!
//! Averaging members by their recent error can only find the best of them. A ridge regression of
//! the truth on their predictions can do better: it learns which of them are right together, and
//! can include predictors that are not models, such as the previous label. With uᵢₖ the probability
//! that predictor i gives to class k of c, xᵢₖ = uᵢₖ − 1/c and yₖ likewise for the truth, and w the
//! weight of a sample, it keeps
//!
//! ```text
//! G = Σ w·μ^age Σₖ xₖ xₖᵀ     b = Σ w·μ^age Σₖ xₖ yₖ     (G + ρI) v = b + ρ v₀
//! ```
//!
//! and predicts sₖ = 1/c + vᵀxₖ. All classes share the weights v, so that even a class that was
//! seen only once uses all that was learned. v₀ are the weights of the average, so that without
//! experience, and in every direction where experience does not matter, the result is the average.

#![allow(clippy::inline_always)]

use crate::{
    error::{Error, ModelFileError},
    regression::factor::{Factor, Gram},
    state::{ReadScope, WriteScope},
};

/// The share μ of the past that each sample keeps: a memory of a thousand samples. This and the
/// ridge are the middle of a flat range: from 0.998 to 0.9995 and from 5 to 20 accuracies moved by
/// a tenth or two of a percent, on Covertype by 0.4 in one corner.
const DECAY: f64 = 0.999;

/// The ridge ρ, which pulls the weights towards those of the average.
const RIDGE: f64 = 10.0;

/// What a predictor gains by chance, as a share of the error of one sample. With 1, krkopt (18 classes)
/// lost two points of accuracy in its first 8000 samples, with 0 streams kept regressions that gain
/// nothing.
const NOISE: f64 = 0.3;

/// A larger sample weight would drown out all other samples.
pub(crate) const LARGEST_WEIGHT: f64 = 1e6;

/// The regression on the members' predictions.
#[derive(Clone, Debug)]
pub(crate) struct Stacking {
    gram: Gram,
    /// b.
    moments: Vec<f64>,
    factor: Factor,
    /// v.
    weights: Vec<f64>,
    /// Σ w·μ^age, and Σ w·μ^age Σₖ yₖ².
    total: f64,
    squares: f64,
}

impl Stacking {
    /// A regression for predictors that start with these weights.
    pub(crate) fn new(weights: Vec<f64>) -> Self {
        let order = weights.len();
        Stacking {
            gram: Gram::new(order),
            moments: vec![0.0; order],
            factor: Factor::new(order, RIDGE),
            weights,
            total: 0.0,
            squares: 0.0,
        }
    }

    /// Replaces the predictors: `sources[i]` is the earlier one that predictor i was, or that it
    /// is taken to have agreed with so far. Weights are shared by those of the same source.
    pub(crate) fn reshape(&mut self, sources: &[usize]) -> Result<(), Error> {
        let share = |source: &usize| {
            let sharing = sources.iter().filter(|other| *other == source).count();
            self.weights[*source] / sharing as f64
        };
        self.weights = sources.iter().map(share).collect();
        self.moments = sources.iter().map(|source| self.moments[*source]).collect();
        self.gram = self.gram.select(sources);
        self.factor = Factor::new(sources.len(), RIDGE);
        self.factor.refactor(&self.gram, RIDGE)
    }

    /// The mean squared error over recent samples if only these predictors took part and had the
    /// best weights. `prior` are the weights v₀ of all predictors; those that take part share what
    /// the others leave.
    ///
    /// With (G + ρI) v = b + ρ v₀ the sum Σ (y − vᵀx)² is Σ y² − bᵀv + ρ vᵀ(v₀ − v).
    pub(crate) fn loss_with(&self, predictors: &[usize], prior: &[f64]) -> Result<f64, Error> {
        let select = |all: &[f64]| predictors.iter().map(|i| all[*i]).collect::<Vec<f64>>();
        let (moments, mut prior_weights) = (select(&self.moments), select(prior));
        let left: f64 = prior_weights.iter().sum();
        let share = if left > 0.0 { prior.iter().sum::<f64>() / left } else { 0.0 };
        prior_weights.iter_mut().for_each(|weight| *weight *= share);
        let mut factor = Factor::new(predictors.len(), RIDGE);
        factor.refactor(&self.gram.select(predictors), RIDGE)?;
        let drawn = moments.iter().zip(&prior_weights).map(|(b, v)| RIDGE.mul_add(*v, *b));
        let weights = factor.solve(&drawn.collect::<Vec<f64>>())?;
        let terms = weights.iter().zip(&moments).zip(&prior_weights);
        let sum: f64 = terms.map(|((v, b), prior)| RIDGE * v * (prior - v) - b * v).sum();
        Ok((self.squares + sum) / self.total.max(1.0))
    }

    /// By how much a predictor reduces a mean squared error by chance, and increases that of later
    /// samples. With two classes this is the error divided by the number of samples, and with many
    /// classes it is a fraction of that.
    pub(crate) fn noise(&self, loss: f64) -> f64 {
        NOISE * loss / self.total.max(1.0)
    }

    /// The score of each class, given one row of probabilities per predictor.
    #[inline(always)]
    pub(crate) fn scores(&self, predictions: &[f64], classes: usize) -> Vec<f64> {
        let even = 1.0 / classes as f64;
        let mut scores = vec![even; classes];
        for (row, weight) in predictions.chunks_exact(classes).zip(&self.weights) {
            for (score, u) in scores.iter_mut().zip(row) {
                *score = weight.mul_add(u - even, *score);
            }
        }
        scores
    }

    /// Learns that a sample was of that class, which may be the first one beyond the `classes` that
    /// were predicted. `prior` are the weights v₀.
    #[inline(always)]
    pub(crate) fn observe(
        &mut self,
        predictions: &[f64],
        classes: usize,
        class: usize,
        weight: f64,
        prior: &[f64],
    ) -> Result<(), Error> {
        // Without a known class nothing was predicted.
        if classes == 0 {
            return Ok(());
        }
        let order = self.weights.len();
        let (all, weight) = (classes.max(class + 1), weight.min(LARGEST_WEIGHT));
        let even = 1.0 / all as f64;
        let mut x = vec![-even; all * order];
        for (i, row) in predictions.chunks_exact(classes).enumerate() {
            for (k, u) in row.iter().enumerate() {
                x[k * order + i] += u;
            }
        }
        self.gram.scale(DECAY);
        self.total = DECAY.mul_add(self.total, weight);
        self.squares *= DECAY;
        self.gram.add(&x, &vec![weight; all])?;
        self.moments.iter_mut().for_each(|moment| *moment *= DECAY);
        for (k, x) in x.chunks_exact(order).enumerate() {
            let y = f64::from(u8::from(k == class)) - even;
            self.squares = (weight * y).mul_add(y, self.squares);
            for (moment, x) in self.moments.iter_mut().zip(x) {
                *moment = (weight * x).mul_add(y, *moment);
            }
        }
        self.factor.refactor(&self.gram, RIDGE)?;
        let drawn = self.moments.iter().zip(prior).map(|(b, v)| RIDGE.mul_add(*v, *b));
        self.weights = self.factor.solve(&drawn.collect::<Vec<f64>>())?;
        Ok(())
    }

    /// The factor is rebuilt for each sample, so it is not part of the state.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.gram.save(&mut to.scope("gram"));
        to.floats("moments", self.moments.clone());
        to.floats("weights", self.weights.clone());
        to.float("total", self.total);
        to.float("squares", self.squares);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.gram.restore(&from.scope("gram")?)?;
        self.moments = from.floats("moments", self.moments.len())?;
        self.weights = from.floats("weights", self.weights.len())?;
        // Files of earlier versions do not tell these, and their models do not need them.
        self.total = from.optional_float("total", 0.0..=f64::MAX)?;
        self.squares = from.optional_float("squares", 0.0..=f64::MAX)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_experience_it_is_the_average() {
        let stacking = Stacking::new(vec![0.75, 0.25]);
        let scores = stacking.scores(&[0.2, 0.8, 1.0, 0.0], 2);
        assert!((scores[0] - 0.4).abs() < 1e-15 && (scores[1] - 0.6).abs() < 1e-15);
    }

    #[test]
    fn its_weights_are_those_of_the_definition() {
        let prior = [0.5, 0.3, 0.2];
        let mut stacking = Stacking::new(prior.to_vec());
        let (mut g, mut b) = ([[0.0; 3]; 3], [0.0; 3]);
        for t in 0..40 {
            let class = t % 3;
            let unit = |k: usize| f64::from(u8::from(k == class));
            let rows: [[f64; 3]; 3] = std::array::from_fn(|i| {
                let sure = 0.3 + 0.2 * i as f64 - 0.01 * (t % 7) as f64;
                std::array::from_fn(|k| sure * unit(k) + (1.0 - sure) * [0.5, 0.3, 0.2][k])
            });
            let weight = 1.0 + (t % 2) as f64;
            stacking.observe(&rows.concat(), 3, class, weight, &prior).unwrap();
            for i in 0..3 {
                b[i] *= DECAY;
                for j in 0..3 {
                    g[i][j] *= DECAY;
                    for k in 0..3 {
                        let (x, z) = (rows[i][k] - 1.0 / 3.0, rows[j][k] - 1.0 / 3.0);
                        g[i][j] += weight * x * z;
                    }
                }
                for k in 0..3 {
                    b[i] += weight * (rows[i][k] - 1.0 / 3.0) * (unit(k) - 1.0 / 3.0);
                }
            }
        }
        for i in 0..3 {
            let v = &stacking.weights;
            let left = g[i][0] * v[0] + g[i][1] * v[1] + g[i][2] * v[2] + RIDGE * v[i];
            assert!((left - b[i] - RIDGE * prior[i]).abs() < 1e-12);
        }
    }

    #[test]
    fn without_some_predictors_its_loss_is_that_of_the_others_alone() {
        let prior = [0.5, 0.3, 0.2];
        let selected = [0, 2];
        let share = 1.0 / (prior[0] + prior[2]);
        let prior_alone = [prior[0] * share, prior[2] * share];
        let mut all = Stacking::new(prior.to_vec());
        let mut alone = Stacking::new(prior_alone.to_vec());
        let mut samples = Vec::new();
        for t in 0..50 {
            let class = usize::from(t % 5 < 2);
            let rows: [[f64; 2]; 3] = std::array::from_fn(|i| {
                let first = 0.1 + 0.2 * ((t * (i + 2)) % 5) as f64;
                [first, 1.0 - first]
            });
            let (weight, few) = (1.0 + (t % 3) as f64, [rows[0], rows[2]].concat());
            all.observe(&rows.concat(), 2, class, weight, &prior).unwrap();
            alone.observe(&few, 2, class, weight, &prior_alone).unwrap();
            samples.push((few, class, weight));
        }
        let (mut loss, mut total) = (0.0, 0.0);
        for (few, class, weight) in &samples {
            let error = |(k, s): (usize, &f64)| (f64::from(u8::from(k == *class)) - s).powi(2);
            let errors: f64 = alone.scores(few, 2).iter().enumerate().map(error).sum();
            (loss, total) = (loss * DECAY + weight * errors, total * DECAY + weight);
        }
        let found = all.loss_with(&selected, &prior).unwrap();
        assert!((found - loss / total).abs() < 1e-12, "{found} is not {}", loss / total);
        let with_all = all.loss_with(&[0, 1, 2], &prior).unwrap();
        assert!(with_all < found);
    }

    #[test]
    fn a_class_seen_for_the_first_time_is_learned_from() {
        let mut stacking = Stacking::new(vec![1.0, 0.0]);
        stacking.observe(&[], 0, 0, 1e6, &[1.0, 0.0]).unwrap();
        assert_eq!(stacking.weights, [1.0, 0.0], "there was nothing to be wrong about");
        stacking.observe(&[1.0, 1.0], 1, 1, 1.0, &[1.0, 0.0]).unwrap();
        stacking.observe(&[0.9, 0.1, 0.5, 0.5], 2, 1, 1e100, &[1.0, 0.0]).unwrap();
        assert!(stacking.weights.iter().all(|weight| weight.is_finite()));
    }
}
