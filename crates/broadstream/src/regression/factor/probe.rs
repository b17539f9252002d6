//! How far rounding has carried a factor from what it has learned.
//!
//! A factor alone cannot tell whether it still represents its samples, since they are gone. A probe
//! keeps two sums that cost O(m) per sample and never pass through the factor. For a fixed random
//! vector v and fixed random coefficients r of the targets these are
//!
//! ```text
//! P v,  which becomes  μ·P v + w·a·(aᵀv),   and   Q r,  which becomes  μ·Q r + w·a·(yᵀr)
//! ```
//!
//! and the ridge λ, which becomes μλ. The factor should satisfy L D Lᵀv = P v + λv and L D Z r = Q
//! r. An error of the factor has almost no chance to hide from random vectors. The sums are rounded
//! only once per sample, so they serve as the truth.

#![allow(clippy::inline_always)]

use super::{
    Factor, Update,
    kernel::{GROUP, dot},
    panels::target_rows,
};
use crate::numeric::Column;
use crate::{
    error::{Error, ModelFileError},
    numeric::{InstructionSet, Random},
    state::{ReadScope, WriteScope},
};

/// Checks a factor for rounding errors. Every change of the factor must be reported to it.
///
/// ```
/// use broadstream::factor::{Factor, Probe, Update};
///
/// let mut factor = Factor::new(2, 0.1);
/// factor.add_targets(1);
/// let mut probe = Probe::new(2, 0.1);
/// let update = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
/// factor.sweep(update, &mut [0.0])?;
/// probe.learn(update)?;
/// let health = probe.check(&factor);
/// assert!(health.residual < 1e-15 && health.samples == 1);
/// // The factor learns something that the probe was not told of.
/// factor.sweep(update, &mut [0.0])?;
/// assert!(probe.check(&factor).residual > 0.4);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Probe {
    /// v.
    direction: Vec<f64>,
    /// P v.
    product: Vec<f64>,
    /// r, for the targets seen so far.
    coefficients: Vec<f64>,
    /// Q r.
    moments: Vec<f64>,
    ridge: f64,
    samples: u64,
    instructions: InstructionSet,
}

/// The result of a [`Probe::check`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// How far the factor is from what it has learned: the larger of ‖L D Lᵀv − K v‖ / ‖K v‖ and ‖L
    /// D Z r − Q r‖ / ‖Q r‖. About 1e-16 for a new factor; NaN counts as the largest finite number.
    pub residual: f64,
    /// The smallest entry of D.
    pub smallest_pivot: f64,
    /// The largest entry of D.
    pub largest_pivot: f64,
    /// Their ratio, a lower bound of the condition number of K; infinite for a broken factor.
    pub condition: f64,
    /// The number of samples learned.
    pub samples: u64,
}

impl Probe {
    /// For a factor of that order and ridge that has learned nothing.
    pub fn new(order: usize, ridge: f64) -> Self {
        let mut random = Random::new(0, "probe", "direction");
        Probe {
            direction: (0..order).map(|_| random.signed_unit()).collect(),
            product: vec![0.0; order],
            coefficients: Vec::new(),
            moments: vec![0.0; order],
            ridge,
            samples: 0,
            instructions: InstructionSet::detect(),
        }
    }

    /// For a factor that has learned `samples` samples with that ridge, and is assumed to be exact.
    pub fn of(factor: &Factor, ridge: f64, samples: u64) -> Self {
        let mut probe = Probe { samples, ..Probe::new(factor.order(), ridge) };
        let [product, moments] = probe.products(factor);
        let ridges = probe.direction.iter().map(|v| ridge * v);
        probe.product = product.into_iter().zip(ridges).map(|(u, ridge)| u - ridge).collect();
        probe.moments = moments;
        probe
    }

    /// Records a [`Factor::sweep`].
    pub fn learn(&mut self, update: Update<'_>) -> Result<(), Error> {
        self.check_update(&update)?;
        self.follow(update);
        Ok(())
    }

    /// [`learn`](Self::learn) without checks, for samples that the factor has already checked.
    pub(crate) fn follow(&mut self, update: Update<'_>) {
        self.add(update, 1.0, update.forgetting);
        self.samples = self.samples.saturating_add(update.weights.len() as u64);
    }

    /// Records a [`Factor::unlearn`] of these samples.
    pub fn unlearn(&mut self, update: Update<'_>) -> Result<(), Error> {
        self.check_update(&update)?;
        self.add(update, -1.0, 1.0);
        self.samples = self.samples.saturating_sub(update.weights.len() as u64);
        Ok(())
    }

    /// Records a [`Factor::correct`].
    pub fn correct(&mut self, features: &[f64], change: &[f64], weight: f64) -> Result<(), Error> {
        let update = Update { features, targets: change, weights: &[weight], forgetting: 1.0 };
        self.check_update(&update)?;
        let product = self.product.clone();
        self.add(update, 1.0, 1.0);
        self.product = product;
        Ok(())
    }

    /// Records a [`Factor::refactor`] that gave the factor this ridge and kept its weights: its Q
    /// has grown by W times the growth of the ridge.
    pub fn refactored(&mut self, factor: &Factor, ridge: f64) {
        let mut weights = self.combine_targets(factor);
        factor.back_substitute(&mut weights);
        let growth = ridge - self.ridge;
        for (moment, weight) in self.moments.iter_mut().zip(weights) {
            *moment += growth * weight;
        }
        self.ridge = ridge;
    }

    /// Records a [`Weights::give_to`](super::Weights::give_to): the factor's weights are assumed
    /// exact.
    pub fn weights_were_given(&mut self, factor: &Factor) {
        let [_, moments] = self.products(factor);
        self.moments = moments;
    }

    /// Compares the factor with what it should be, in O(m²). Meant for every few thousand samples.
    pub fn check(&self, factor: &Factor) -> Health {
        let [product, moments] = self.products(factor);
        let whole = self.product.iter().zip(&self.direction).map(|(u, v)| u + self.ridge * v);
        let residuals =
            [distance(&product, whole), distance(&moments, self.moments.iter().copied())];
        let sound = residuals.iter().all(|residual| residual.is_finite());
        let pivots = factor.d_inverse.iter().map(|d_inverse| 1.0 / d_inverse);
        let smallest_pivot = pivots.clone().fold(f64::INFINITY, f64::min);
        let largest_pivot = pivots.fold(0.0, f64::max);
        let broken = smallest_pivot.is_nan() || smallest_pivot <= 0.0;
        Health {
            residual: if sound { residuals[0].max(residuals[1]) } else { f64::MAX },
            smallest_pivot,
            largest_pivot,
            condition: if broken { f64::INFINITY } else { largest_pivot / smallest_pivot },
            samples: self.samples,
        }
    }

    #[cfg(test)]
    pub(super) fn set_instructions(&mut self, instructions: InstructionSet) {
        self.instructions = instructions;
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("product", self.product.clone());
        to.floats("moments", self.moments.clone());
        to.float("ridge", self.ridge);
        to.integer("samples", self.samples);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.product = from.floats("product", self.product.len())?;
        self.moments = from.floats("moments", self.moments.len())?;
        self.ridge = from.float("ridge", 0.0..=f64::MAX)?;
        self.samples = from.integer("samples")?;
        Ok(())
    }

    /// Updates the sums: the past decays by `mu`, and samples are added with the given sign.
    fn add(&mut self, update: Update<'_>, sign: f64, mu: f64) {
        let known = self.coefficients.len();
        self.coefficients.extend((known..targets(&update)).map(coefficient));
        let samples: Vec<_> = update.samples().map(|(a, y, w)| (a, y, sign * w)).collect();
        let instructions = self.instructions;
        instructions.run(
            #[inline(always)]
            || {
                let (groups, rest) = samples.as_chunks::<GROUP>();
                for group in groups {
                    self.add_group(group, mu);
                }
                for sample in rest {
                    self.add_group(&[*sample], mu);
                }
            },
        );
    }

    /// Several samples, with the operations of each in their order.
    #[inline(always)]
    fn add_group<const G: usize>(&mut self, samples: &[(&[f64], &[f64], f64); G], mu: f64) {
        let order = self.direction.len();
        let rows: [&[f64]; G] = std::array::from_fn(|s| &samples[s].0[..order]);
        let (mut u, mut t) = (dots(rows, &self.direction), [0.0; G]);
        for (s, (_, y, weight)) in samples.iter().enumerate() {
            u[s] *= weight;
            t[s] = weight * dot(y, &self.coefficients[..y.len()]);
        }
        let (product, moments) = (&mut self.product[..order], &mut self.moments[..order]);
        for j in 0..order {
            for s in 0..G {
                product[j] = rows[s][j].mul_add(u[s], mu * product[j]);
                moments[j] = rows[s][j].mul_add(t[s], mu * moments[j]);
            }
        }
        for _ in 0..G {
            self.ridge *= mu;
        }
    }

    fn check_update(&self, update: &Update<'_>) -> Result<(), Error> {
        update.check(self.direction.len(), targets(update))?;
        Ok(())
    }

    /// Z r.
    fn combine_targets(&self, factor: &Factor) -> Vec<f64> {
        let order = factor.order();
        let mut sums = vec![0.0; order];
        let rows: Vec<f64> = target_rows(&factor.z, factor.targets).collect();
        for (target, row) in rows.chunks_exact(order.max(1)).enumerate() {
            let known = self.coefficients.get(target).copied();
            let r = known.unwrap_or_else(|| coefficient(target));
            for (sum, z) in sums.iter_mut().zip(row) {
                *sum += r * z;
            }
        }
        sums
    }

    /// L D Lᵀv and L D Z r.
    fn products(&self, factor: &Factor) -> [Vec<f64>; 2] {
        let direction: Vec<_> = self.direction.iter().map(|v| Column([*v])).collect();
        let transposed = factor.multiply_transposed(&direction);
        let pairs = transposed.iter().zip(self.combine_targets(factor));
        let both = pairs.map(|(lv, zr)| Column([lv.0[0], zr])).collect();
        let products = factor.multiply_scaled(both);
        [0, 1].map(|k| products.iter().map(|column| column.0[k]).collect())
    }
}

/// The number of targets of a sample.
fn targets(update: &Update<'_>) -> usize {
    update.targets.len().checked_div(update.weights.len()).unwrap_or(0)
}

/// [`dot`] of several rows with one.
#[inline(always)]
fn dots<const G: usize>(rows: [&[f64]; G], v: &[f64]) -> [f64; G] {
    let mut lanes = [[0.0; 4]; G];
    let (fours, rest) = v.as_chunks::<4>();
    for (c, v) in fours.iter().enumerate() {
        for s in 0..G {
            for k in 0..4 {
                lanes[s][k] = rows[s][4 * c + k].mul_add(v[k], lanes[s][k]);
            }
        }
    }
    for (k, v) in rest.iter().enumerate() {
        for s in 0..G {
            lanes[s][k] = rows[s][4 * fours.len() + k].mul_add(*v, lanes[s][k]);
        }
    }
    lanes.map(|lanes| (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]))
}

/// The coefficient of a target: the same whenever the target appears.
fn coefficient(target: usize) -> f64 {
    Random::new(target as u64, "probe", "target").signed_unit()
}

/// ‖found − expected‖ / ‖expected‖, not divided if that is 0.
fn distance(found: &[f64], expected: impl Iterator<Item = f64>) -> f64 {
    let (mut difference, mut size) = (0.0, 0.0);
    for (found, expected) in found.iter().zip(expected) {
        difference += (found - expected) * (found - expected);
        size += expected * expected;
    }
    if size == 0.0 { difference.sqrt() } else { (difference / size).sqrt() }
}
