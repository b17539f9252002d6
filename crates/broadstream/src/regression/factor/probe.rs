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
//! r. An error of the factor has almost no chance to hide from random vectors.
//!
//! Differences are measured in a norm in which an error counts as much as it changes scores: that of
//! K⁻¹, or of K⁻¹P K⁻¹ where only samples like those learned matter. Without it, one column of large
//! numbers would hide the errors of all others. In that norm the sums must be far more precise than the factor,
//! so they have 32 digits ([`DoubleDoubles`]), and so has the product with L. The rounding of aᵀv
//! and of Lᵀv does not matter: it changes the result as much as a rounded sample would.
//!
//! For a factor that has learned its samples, the relative difference for K v is about as large as
//! K^(−½)(L D Lᵀ − K)K^(−½), which is the relative error of scores. For one that was built from sums
//! it is smaller than that by the square root of the condition number: the errors of K v and of K
//! in the weakest direction are of the same size, but only the former is divided by the size of K.
//!
//! Unlearning can damage a factor in a weak direction alone, where v tells little. So from then on a
//! second vector is followed, x = K^(−½)g with random g, which shows errors in all directions alike.
//! P x is taken from the factor at that moment.

#![allow(clippy::inline_always)]

use super::{Factor, Update, kernel::dot, panels::target_rows};
use crate::numeric::Column;
use crate::{
    error::{Error, ModelFileError},
    numeric::{DoubleDoubles, InstructionSet, Random},
    state::{ReadScope, WriteScope},
};

/// The samples that are summed together, since a group reduces memory traffic.
const GROUP: usize = 4;

/// Scores may be off by this times what random directions show: the first number if only directions
/// that samples have are counted, the second if all are. In thousands of random problems the largest
/// ratio of an error to its estimate was below 1.
const CAUTION: [f64; 2] = [16.0, 4.0];

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
/// assert!(health.residual < 1e-15 && health.error < 1e-14 && health.samples == 1);
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
    product: DoubleDoubles,
    /// r, for the targets seen so far.
    coefficients: Vec<f64>,
    /// Q r.
    moments: DoubleDoubles,
    ridge: f64,
    /// Whether the factor forgets.
    forgets: bool,
    /// x, and P x since it was chosen.
    aimed: Option<(Vec<f64>, DoubleDoubles)>,
    samples: u64,
    instructions: InstructionSet,
}

/// The result of a [`Probe::check`].
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Health {
    /// How far the factor is from what it has learned: the larger of ‖L D Lᵀv − K v‖ and
    /// ‖L D Z r − Q r‖, as far as they change scores, relative to K v and Q r. About 1e-16 for a new
    /// factor; NaN counts as the largest finite number.
    pub residual: f64,
    /// The estimated condition number of K after its rows and columns are scaled to a diagonal of
    /// 1; infinite for a broken factor.
    pub condition: f64,
    /// The estimated error of scores, relative to the largest: how far they may be from those of an
    /// exact solution for the same samples, if the factor has learned them and was not built from
    /// sums. This is for samples like those learned; for others the error grows with the square
    /// root of their leverage. NaN counts as the largest finite number.
    pub error: f64,
    /// The smallest entry of D.
    pub smallest_pivot: f64,
    /// The largest entry of D.
    pub largest_pivot: f64,
    /// The number of samples learned.
    pub samples: u64,
}

impl Probe {
    /// For a factor of that order and ridge that has learned nothing.
    pub fn new(order: usize, ridge: f64) -> Self {
        let mut random = Random::new(0, "probe", "direction");
        Probe {
            direction: (0..order).map(|_| random.signed_unit()).collect(),
            product: DoubleDoubles::zero(order),
            coefficients: Vec::new(),
            moments: DoubleDoubles::zero(order),
            ridge,
            forgets: false,
            aimed: None,
            samples: 0,
            instructions: InstructionSet::detect(),
        }
    }

    /// For a factor that forgets.
    pub(crate) fn forgetting(order: usize, ridge: f64) -> Self {
        Probe { forgets: true, ..Probe::new(order, ridge) }
    }

    /// For a factor that has learned `samples` samples with that ridge, and is assumed to be exact.
    pub fn of(factor: &Factor, ridge: f64, samples: u64) -> Self {
        let mut probe = Probe { samples, ..Probe::new(factor.order(), ridge) };
        let Products { product, moments, .. } = probe.products(factor);
        probe.product = product;
        probe.add_ridge(-1.0);
        probe.moments = moments;
        probe
    }

    /// For the [prefix](Factor::prefix) of its factor, which is assumed to be exact.
    pub(crate) fn prefix(&self, factor: &Factor) -> Self {
        Probe { forgets: self.forgets, ..Probe::of(factor, self.ridge, self.samples) }
    }

    /// For sums that count as exact: P as the rows of its lower triangle, and Q target by target.
    pub(super) fn of_sums(p: &[f64], q: &[f64], order: usize, ridge: f64, samples: u64) -> Self {
        let mut probe = Probe { samples, ..Probe::new(order, ridge) };
        let entry = |i: usize, j: usize| p[i.max(j) * (i.max(j) + 1) / 2 + i.min(j)];
        for (j, v) in probe.direction.iter().enumerate() {
            let column: Vec<f64> = (0..order).map(|i| entry(i, j)).collect();
            probe.product.add_rows(1.0, [&column], [*v]);
        }
        probe.moments = combine_rows(q, order, coefficient);
        probe
    }

    /// P v + sign · λv.
    fn add_ridge(&mut self, sign: f64) {
        self.product.add_rows(1.0, [&self.direction], [sign * self.ridge]);
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

    /// Records samples of which the factor sees only the first features.
    pub(crate) fn follow_prefix(&mut self, features: &[f64], targets: &[f64], weights: &[f64]) {
        let (order, length) = (self.order(), features.len().checked_div(weights.len()));
        let rows = features.chunks_exact(length.unwrap_or(1).max(1));
        let features: Vec<f64> = rows.flat_map(|row| &row[..order]).copied().collect();
        self.follow(Update { features: &features, targets, weights, forgetting: 1.0 });
    }

    /// Adds the samples of another probe of sums, whose Q is given target by target. `targets[k]` is
    /// the number here of the other's target k.
    pub(super) fn add_sums(&mut self, other: &Probe, q: &[f64], targets: &[usize]) {
        self.product.add(&other.product);
        if targets.iter().enumerate().all(|(target, number)| target == *number) {
            self.moments.add(&other.moments);
        } else {
            // The other's Q r has other coefficients, so its Q has to count as exact.
            let renumbered = |target: usize| coefficient(targets[target]);
            self.moments.add(&combine_rows(q, self.order(), renumbered));
        }
        self.samples = self.samples.saturating_add(other.samples);
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
        let (product, aimed) = (self.product.clone(), self.aimed.clone());
        self.add(update, 1.0, 1.0);
        (self.product, self.aimed) = (product, aimed);
        Ok(())
    }

    /// Records that the factor has [merged](Factor::merge) another, whose probe is given, with the
    /// same numbers of targets. What the other has lost to rounding is not counted here, and neither is
    /// what the factor has lost by unlearning before.
    pub fn merge(&mut self, other: &Probe, merged: &Factor, targets: &[usize]) {
        self.aimed = None;
        self.product.add(&other.product);
        // The other has numbered its targets differently, so its own Q r is of no use here.
        let renumbered =
            |target: usize| coefficient(targets.get(target).copied().unwrap_or(target));
        let moments = combine_targets(merged, renumbered);
        let [moments] = merged.multiply_precisely(&[merged.scaled(&moments)]);
        self.moments.add(&moments);
        self.samples = self.samples.saturating_add(other.samples);
    }

    /// Records that the ridge of the factor was raised to this while its weights were kept: its Q
    /// has grown by W times the growth of the ridge.
    pub fn ridge_was_raised(&mut self, factor: &Factor, ridge: f64) {
        let mut weights = combine_targets(factor, |target| self.coefficient(target));
        factor.back_substitute(&mut weights);
        self.moments.add_rows(1.0, [&weights], [ridge - self.ridge]);
        self.ridge = ridge;
    }

    /// Records that the factor has forgotten all samples and has that ridge.
    pub(crate) fn begin_anew(&mut self, ridge: f64) {
        let order = self.direction.len();
        self.product = DoubleDoubles::zero(order);
        self.moments = DoubleDoubles::zero(order);
        self.ridge = ridge;
    }

    /// Records a [`Weights::give_to`](super::Weights::give_to): the factor's weights are assumed
    /// exact.
    pub fn weights_were_given(&mut self, factor: &Factor) {
        self.moments = self.products(factor).moments;
    }

    /// The number of features.
    pub(crate) fn order(&self) -> usize {
        self.direction.len()
    }

    /// The estimated error of scores of a factor that was built from sums.
    pub(crate) fn error_from_sums(&self, factor: &Factor) -> f64 {
        // The weakest directions suffer most.
        let residual = Probe { forgets: true, ..self.clone() }.residual(factor);
        finite(residual * factor.condition(&self.direction).sqrt())
    }

    /// The number of samples learned.
    pub(crate) fn samples(&self) -> u64 {
        self.samples
    }

    /// The ridge that the factor should have now.
    pub(crate) fn ridge(&self) -> f64 {
        self.ridge
    }

    /// Compares the factor with what it should be, in O(m²). Meant for every few thousand samples.
    pub fn check(&self, factor: &Factor) -> Health {
        let residuals = self.residuals(factor);
        let error = self.error_of(residuals);
        let pivots = factor.d_inverse.iter().map(|d_inverse| 1.0 / d_inverse);
        Health {
            residual: residuals.iter().copied().map(finite).fold(0.0, f64::max),
            condition: factor.condition(&self.direction),
            error: finite(error),
            smallest_pivot: pivots.clone().fold(f64::INFINITY, f64::min),
            largest_pivot: pivots.fold(0.0, f64::max),
            samples: self.samples,
        }
    }

    /// The [residual](Health::residual) alone, which takes a third of the time.
    pub(crate) fn residual(&self, factor: &Factor) -> f64 {
        self.residuals(factor).into_iter().map(finite).fold(0.0, f64::max)
    }

    /// The errors of scores that learning has caused through K and through Q, counting also
    /// directions that no sample has yet.
    pub(crate) fn learning_errors(&self, factor: &Factor) -> [f64; 2] {
        let everywhere = Probe { forgets: true, aimed: None, ..self.clone() };
        let [product, moments, _] = everywhere.residuals(factor);
        [product, moments].map(|residual| finite(CAUTION[1] * residual))
    }

    /// The residual and the error of scores, which take half of the time of a check together.
    pub(crate) fn residual_and_error(&self, factor: &Factor) -> (f64, f64) {
        let residuals = self.residuals(factor);
        let residual = residuals.into_iter().map(finite).fold(0.0, f64::max);
        (residual, finite(self.error_of(residuals)))
    }

    /// The error of scores alone, which takes as long.
    pub(crate) fn error(&self, factor: &Factor) -> f64 {
        finite(self.error_of(self.residuals(factor)))
    }

    /// The error of scores that residuals indicate. What is removed later makes x less sensitive.
    fn error_of(&self, [product, moments, aimed]: [f64; 3]) -> f64 {
        let [of_samples, of_all] = CAUTION;
        match self.counts_all_directions() {
            true => of_all * (product + moments + of_all * aimed),
            false => of_samples * (product + moments),
        }
    }

    /// The relative differences of K v, of Q r and of K x.
    fn residuals(&self, factor: &Factor) -> [f64; 3] {
        let Products { product, moments, sizes } = self.products(factor);
        let mut expected = self.clone();
        expected.add_ridge(1.0);
        let differences = [product.minus(&expected.product), moments.minus(&self.moments)];
        // A model that has unlearned everything has no Q to be relative to. √λ is the size of a
        // single target there.
        let least = [f64::MIN_POSITIVE, self.ridge];
        let [product, moments] = std::array::from_fn(|k| {
            let difference = self.squared_effect(factor, &differences[k]);
            (difference / sizes[k].max(least[k])).sqrt()
        });
        [product, moments, self.aimed_residual(factor)]
    }

    /// The relative difference of K x; 0 if no x was chosen.
    fn aimed_residual(&self, factor: &Factor) -> f64 {
        let Some((x, product)) = &self.aimed else { return 0.0 };
        let (found, size) = multiply(factor, x);
        let mut expected = product.clone();
        expected.add_rows(1.0, [x], [self.ridge]);
        let difference = self.squared_effect(factor, &found.minus(&expected));
        (difference / size).sqrt()
    }

    /// Whether directions count that no sample has, in which K is the ridge alone. A factor that
    /// loses samples may meet such as it has lost. One that loses none has directions that no input
    /// ever has, and rounding errors that grow there without any effect.
    fn counts_all_directions(&self) -> bool {
        self.forgets || self.aimed.is_some()
    }

    /// How much an error e of K v or of Q r changes the scores of samples: eᵀK⁻¹e, or without the
    /// directions that no sample has eᵀK⁻¹P K⁻¹e.
    fn squared_effect(&self, factor: &Factor, error: &[f64]) -> f64 {
        let Ok(solved) = factor.solve(error) else { return f64::NAN };
        if self.counts_all_directions() {
            return dot(error, &solved);
        }
        let ridges = self.ridge * dot(&solved, &solved);
        (dot(error, &solved) - ridges).max(f64::EPSILON * ridges)
    }

    /// Follows a vector that shows errors in all directions of this factor alike. The factor counts
    /// as exact.
    pub(crate) fn aim(&mut self, factor: &Factor) {
        let mut random = Random::new(1, "probe", "direction");
        let scales = factor.d_inverse.iter().map(|d_inverse| d_inverse.sqrt());
        let mut x: Vec<f64> = scales.map(|scale| scale * random.signed_unit()).collect();
        factor.back_substitute(&mut x);
        let (mut product, _) = multiply(factor, &x);
        product.add_rows(1.0, [&x], [-self.ridge]);
        self.aimed = Some((x, product));
    }

    /// The error of scores that unlearning has added, given the factors before and after.
    pub(crate) fn unlearning_error(before: &Factor, after: &Factor, removed: Update<'_>) -> f64 {
        let mut probe = Probe::new(after.order(), 0.0);
        probe.aim(after);
        if let Some((x, product)) = &mut probe.aimed {
            *product = multiply(before, x).0;
        }
        probe.add(removed, -1.0, 1.0);
        finite(CAUTION[1] * probe.aimed_residual(after))
    }

    /// The error of scores that a merge has added, given the factors before, the other and after.
    pub(crate) fn merging_error(
        before: &Factor,
        other: &Factor,
        after: &Factor,
        ridge: f64,
    ) -> f64 {
        let mut probe = Probe::new(after.order(), 0.0);
        probe.aim(after);
        if let Some((x, product)) = &mut probe.aimed {
            *product = multiply(before, x).0;
            product.add(&multiply(other, x).0);
            product.add_rows(1.0, [x], [-ridge]);
        }
        finite(CAUTION[1] * probe.aimed_residual(after))
    }

    /// Whether such a vector is followed.
    pub(crate) fn is_aimed(&self) -> bool {
        self.aimed.is_some()
    }

    #[cfg(test)]
    pub(super) fn set_instructions(&mut self, instructions: InstructionSet) {
        self.instructions = instructions;
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        for (name, sums) in [("product", &self.product), ("moments", &self.moments)] {
            let (high, low) = sums.parts();
            to.floats(name, high);
            to.floats(&below(name), low);
        }
        if let Some((x, product)) = &self.aimed {
            let (high, low) = product.parts();
            to.floats("aimed", x.clone());
            to.floats("aimed_product", high);
            to.floats(&below("aimed_product"), low);
        }
        to.float("ridge", self.ridge);
        to.integer("samples", self.samples);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        for (name, sums) in [("product", &mut self.product), ("moments", &mut self.moments)] {
            let high = from.floats(name, sums.len())?;
            // Files of earlier versions have no further digits.
            let low = match from.length(&below(name)) {
                0 => vec![0.0; high.len()],
                _ => from.floats(&below(name), high.len())?,
            };
            *sums = DoubleDoubles::of(high, low);
        }
        self.aimed = None;
        if from.length("aimed") > 0 {
            let floats = |name: &str| from.floats(name, self.direction.len());
            let (high, low) = (floats("aimed_product")?, floats(&below("aimed_product"))?);
            self.aimed = Some((floats("aimed")?, DoubleDoubles::of(high, low)));
        }
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
        if let Some((x, product)) = &mut self.aimed {
            let mut u = dots(rows, x);
            (0..G).for_each(|s| u[s] *= samples[s].2);
            product.add_rows(mu, rows, u);
        }
        let (mut u, mut t) = (dots(rows, &self.direction), [0.0; G]);
        for (s, (_, y, weight)) in samples.iter().enumerate() {
            u[s] *= weight;
            t[s] = weight * dot(y, &self.coefficients[..y.len()]);
        }
        self.product.add_rows(mu, rows, u);
        self.moments.add_rows(mu, rows, t);
        for _ in 0..G {
            self.ridge *= mu;
        }
    }

    fn check_update(&self, update: &Update<'_>) -> Result<(), Error> {
        update.check(self.direction.len(), targets(update))?;
        Ok(())
    }

    /// The coefficient of a target.
    fn coefficient(&self, target: usize) -> f64 {
        self.coefficients.get(target).copied().unwrap_or_else(|| coefficient(target))
    }

    fn products(&self, factor: &Factor) -> Products {
        let (product, size) = multiply(factor, &self.direction);
        let combined = combine_targets(factor, |target| self.coefficient(target));
        let scaled = factor.scaled(&combined);
        let sizes = [size, dot(&combined, &scaled)];
        let [moments] = factor.multiply_precisely(&[scaled]);
        Products { product, moments, sizes }
    }
}

/// L D Lᵀx in 32 digits, and xᵀL D Lᵀx.
fn multiply(factor: &Factor, x: &[f64]) -> (DoubleDoubles, f64) {
    let columns: Vec<_> = x.iter().map(|x| Column([*x])).collect();
    let transposed = factor.multiply_transposed(&columns);
    let transposed: Vec<f64> = transposed.iter().map(|column| column.0[0]).collect();
    let scaled = factor.scaled(&transposed);
    let size = dot(&transposed, &scaled);
    let [product] = factor.multiply_precisely(&[scaled]);
    (product, size)
}

/// What a factor makes of the fixed vectors.
struct Products {
    /// L D Lᵀv.
    product: DoubleDoubles,
    /// L D Z r.
    moments: DoubleDoubles,
    /// The squares of both in the norm of K⁻¹: vᵀK v, and rᵀZᵀD Z r.
    sizes: [f64; 2],
}

/// Z r, given the entries of r.
fn combine_targets(factor: &Factor, coefficient: impl Fn(usize) -> f64) -> Vec<f64> {
    let order = factor.order();
    let mut sums = vec![0.0; order];
    let rows: Vec<f64> = target_rows(&factor.z, factor.targets).collect();
    for (target, row) in rows.chunks_exact(order.max(1)).enumerate() {
        let r = coefficient(target);
        for (sum, z) in sums.iter_mut().zip(row) {
            *sum += r * z;
        }
    }
    sums
}

/// Q r in 32 digits, given Q target by target and the entries of r.
fn combine_rows(q: &[f64], order: usize, coefficient: impl Fn(usize) -> f64) -> DoubleDoubles {
    let mut sums = DoubleDoubles::zero(order);
    for (target, row) in q.chunks_exact(order.max(1)).enumerate() {
        sums.add_rows(1.0, [row], [coefficient(target)]);
    }
    sums
}

/// The largest finite number instead of infinity and NaN.
pub(super) fn finite(value: f64) -> f64 {
    if value.is_finite() { value } else { f64::MAX }
}

/// The name of the array with the digits that another rounds off.
fn below(name: &str) -> String {
    format!("{name}_low")
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
