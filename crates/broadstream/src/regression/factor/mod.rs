//! The triangular factor that represents everything a ridge regression has learned.
//!
//! With features a ∈ Rᵐ, targets y ∈ Rᶜ and sample weights w, the optimum of Σ w·|aᵀW − y|² + λ|W|²
//! solves K W = Q with K = λI + Σ w·a·aᵀ and Q = Σ w·a·yᵀ. The factor keeps K = L D Lᵀ (L unit
//! lower triangular, D diagonal) and Z = LᵀW, whose rows are stored below L as if they were rows of
//! it. One sweep over the columns j then does everything. It carries w = \[a; y\], and γ starting
//! from μ/w, where μ is the share of the past that is kept:
//!
//! ```text
//! p = w_j;  q = p/d_j;  γ' = γ + p·q;  β = q/γ';  d_j ← μ·d_j·γ'/γ
//! rows i > j, those of Z included:  w_i ← w_i − p·l_ij;  l_ij ← l_ij + β·w_i
//! ```
//!
//! Afterwards the factor is that of μK + w·a·aᵀ, Z belongs to the new optimum, and what is left of
//! y is the residual y − aᵀW before the update: one pass predicts and learns. There is no square
//! root and no cancellation. γ has grown by the leverage aᵀK⁻¹a.
//!
//! The paper keeps K = L Lᵀ instead, updates it by Givens rotations (its equation 15) and then
//! solves for each class (equations 13 and 14). The weights are the same.
//!
//! Parts: `panels` is the memory layout, `sweep` the update, `kernel` its inner loops (`portable`,
//! `avx2`, `avx512`). `solve` reads predictions and weights from the factor, `many` does so for many samples,
//! `weights` follows it. `unlearn` removes samples, `slide` moves a window of samples, `merge`
//! brings two factors together. `refactor` builds the factor from a matrix, `gram` keeps that
//! matrix, `sums` is everything that a regression has summed, `product` multiplies by the factor.
//! `correction` compensates for a ridge that decays between two refreshes. `probe` measures rounding
//! errors, `past_errors` carries them over to what the factor becomes, and `condition` tells how
//! much it amplifies them.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod condition;
mod correction;
mod gram;
mod kernel;
mod many;
mod merge;
mod panels;
mod past_errors;
mod portable;
mod probe;
mod product;
mod refactor;
mod slide;
mod solve;
mod sums;
mod sweep;
#[cfg(test)]
pub(crate) mod tests;
mod unlearn;
mod weights;

pub(crate) use self::past_errors::PastErrors;
pub use self::{
    gram::Gram,
    probe::{Health, Probe},
    slide::Slide,
    sums::Sums,
    weights::Weights,
};

use self::{
    panels::{Panels, TARGET_ROWS, TargetPanels},
    sweep::Scratch,
};
use crate::{
    error::{Error, ModelFileError},
    numeric::{Column, InstructionSet, Threads},
    state::{ReadScope, WriteScope},
};

/// A ridge regression kept as a triangular factor, exact after every sample.
///
/// ```
/// use broadstream::factor::{Factor, Update};
///
/// // Two features, one target, ridge 0.1.
/// let mut factor = Factor::new(2, 0.1);
/// factor.add_targets(1);
/// let mut scores = [0.0];
/// let update = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
/// factor.sweep(update, &mut scores)?;
/// assert_eq!(scores, [0.0], "the score from before the sample was learned");
/// // K = [[1.1, 2], [2, 4.1]] and Q = [1, 2] have the solution [1, 2] / 5.1.
/// let weights = factor.weights();
/// assert!((weights[0] - 1.0 / 5.1).abs() < 1e-15 && (weights[1] - 2.0 / 5.1).abs() < 1e-15);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Factor {
    /// Strictly lower part of L with its unit diagonal.
    l: Panels,
    /// 1/d_j.
    d_inverse: Vec<f64>,
    /// Z = LᵀW, transposed: panels of `TARGET_ROWS` targets, one column per feature.
    z: TargetPanels,
    targets: usize,
    /// The numbers of features after which predictions are read off, in increasing order; the last
    /// is all.
    readouts: Vec<usize>,
    instructions: InstructionSet,
    threads: Threads,
    scratch: Scratch,
}

/// Samples for [`Factor::sweep`], all in row-major order.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// One row of features per sample.
    pub features: &'a [f64],
    /// One row of targets per sample.
    pub targets: &'a [f64],
    /// One positive weight per sample.
    pub weights: &'a [f64],
    /// The share μ of the past that each sample keeps, in (0, 1].
    pub forgetting: f64,
}

impl Factor {
    /// The factor of ridge · I, with no targets yet.
    pub fn new(order: usize, ridge: f64) -> Self {
        Factor {
            l: Panels::identity(order),
            d_inverse: vec![1.0 / ridge; order],
            z: Vec::new(),
            targets: 0,
            readouts: vec![order],
            instructions: InstructionSet::detect(),
            threads: Threads::default(),
            scratch: Scratch::default(),
        }
    }

    /// Forgets all samples: the factor is that of ridge · I again, and all weights are 0.
    pub(crate) fn reset(&mut self, ridge: f64) {
        self.l = Panels::identity(self.order());
        self.d_inverse.fill(1.0 / ridge);
        self.z.iter_mut().for_each(|z| z.fill(Column::ZERO));
    }

    /// Whether D and Z are usable numbers. A NaN anywhere in L reaches them with the next sample.
    pub(crate) fn is_finite(&self) -> bool {
        self.d_inverse.iter().all(|d_inverse| d_inverse.is_finite() && *d_inverse > 0.0)
            && self.z.iter().flatten().all(|column| column.0.iter().all(|z| z.is_finite()))
    }

    /// The factor of the leading features alone: the exact regression on them. The readouts beyond
    /// them are gone.
    pub(crate) fn prefix(&self, order: usize) -> Self {
        let readouts = self.readouts.iter().copied().filter(|readout| *readout < order);
        Factor {
            l: self.l.prefix(order),
            d_inverse: self.d_inverse[..order].to_vec(),
            z: self.z.iter().map(|panel| panel[..order].to_vec()).collect(),
            readouts: readouts.chain([order]).collect(),
            scratch: Scratch::default(),
            threads: self.threads.clone(),
            ..*self
        }
    }

    /// Reads predictions off after `features` features as well as after all of them.
    ///
    /// The leading part of a triangular factor is the factor of the leading features. The partial
    /// sums of a prediction are therefore the predictions of exact ridge regressions on the first
    /// features alone, and cost nothing.
    pub fn add_readout(&mut self, features: usize) {
        if features < self.order()
            && let Err(place) = self.readouts.binary_search(&features)
        {
            self.readouts.insert(place, features);
        }
    }

    /// The numbers of features after which predictions are read off, in increasing order.
    pub fn readouts(&self) -> &[usize] {
        &self.readouts
    }

    /// Sweeps blocks of samples with several threads. They change no bit, and help for blocks of
    /// eight samples and more on a few hundred features and more. The default is one.
    pub fn set_threads(&mut self, count: usize) -> Result<(), Error> {
        self.threads = Threads::new(count)?;
        Ok(())
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    /// The bytes that a factor of that order takes, without targets.
    pub fn bytes(order: usize) -> u128 {
        panels::bytes(order).saturating_add(order as u128 * size_of::<f64>() as u128)
    }

    /// The number of features.
    pub fn order(&self) -> usize {
        self.l.order()
    }

    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// Raises the number of targets to `targets`. The new ones count as 0 in all past samples, so
    /// their weights are 0 and nothing else changes.
    pub fn add_targets(&mut self, targets: usize) {
        self.targets = self.targets.max(targets);
        let order = self.order();
        self.z.resize_with(self.targets.div_ceil(TARGET_ROWS), || vec![Column::ZERO; order]);
    }

    /// Learns samples in their order, and writes to `scores` the predictions just before each was
    /// learned: one row of targets for each sample and [readout](Self::readouts). The result is the
    /// same, to the bit, however a sequence of samples is divided into calls.
    ///
    /// Returns the leverage aᵀK⁻¹a of each sample just before it was learned: how unlike the past it
    /// was. It costs nothing, since γ grows by it.
    pub fn sweep(&mut self, update: Update<'_>, scores: &mut [f64]) -> Result<Vec<f64>, Error> {
        self.check(&update, scores)?;
        let rows = update.samples().map(|(a, _, weight)| (a, update.forgetting / weight));
        self.scratch.start(self.order(), rows);
        self.sweep_samples(update.targets, update.forgetting, scores);
        Ok(self.leverages())
    }

    /// The leverages of the samples that were just swept.
    fn leverages(&self) -> Vec<f64> {
        // Samples that are unlearned start from a negative γ.
        let learned = self.scratch.gammas().filter(|(first, _)| *first > 0.0);
        learned.map(|(first, last)| bounded(last - first)).collect()
    }

    /// Saves L without its diagonal, 1/D, and Z target by target.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.rounded_floats("l", self.l.rows(false));
        to.floats("d_inverse", self.d_inverse.clone());
        to.check("d_inverse", self.d_inverse.iter().all(|d_inverse| *d_inverse > 0.0));
        to.rounded_floats("z", panels::target_rows(&self.z, self.targets).collect());
    }

    /// Takes over a saved factor, into one that has no targets yet. The number of targets follows
    /// from the length of Z; the order, readouts and threads stay the same.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let order = self.order();
        let l = from.floats("l", panels::entries(order, false))?;
        let d_inverse = from.floats("d_inverse", order)?;
        from.check_each("d_inverse", &d_inverse, "positive numbers", |d_inverse| *d_inverse > 0.0)?;
        let targets = from.length("z").checked_div(order).unwrap_or(0);
        let z = from.floats("z", targets * order)?;
        self.l.set_rows(&l, false);
        self.d_inverse = d_inverse;
        self.z.clear();
        self.targets = 0;
        self.add_targets(targets);
        panels::set_target_rows(&mut self.z, order, &z);
        Ok(())
    }

    fn check(&self, update: &Update<'_>, scores: &[f64]) -> Result<usize, Error> {
        let samples = update.check(self.order(), self.targets)?;
        check_length("scores", samples * self.readouts.len() * self.targets, scores.len())?;
        Ok(samples)
    }
}

impl Update<'_> {
    /// Checks all samples for a regression of that order, and returns their number.
    fn check(&self, order: usize, targets: usize) -> Result<usize, Error> {
        let samples = self.weights.len();
        check_length("features", samples * order, self.features.len())?;
        check_length("targets", samples * targets, self.targets.len())?;
        if let Some(&value) = self.weights.iter().find(|w| !(w.is_finite() && **w > 0.0)) {
            return Err(Error::Weight { value });
        }
        for (values, length) in [(self.features, order), (self.targets, targets)] {
            if let Some(place) = values.iter().position(|value| !value.is_finite()) {
                let (input, value) = (place % length, values[place]);
                return Err(Error::InputNotFinite { input, value });
            }
        }
        Ok(samples)
    }

    /// Each sample's features, targets and weight.
    fn samples(&self) -> impl Iterator<Item = (&[f64], &[f64], f64)> + Clone {
        let samples = self.weights.len().max(1);
        let (order, targets) = (self.features.len() / samples, self.targets.len() / samples);
        self.weights.iter().enumerate().map(move |(i, weight)| {
            (&self.features[i * order..][..order], &self.targets[i * targets..][..targets], *weight)
        })
    }
}

/// A leverage that is beyond the range of `f64` counts as its largest number.
fn bounded(leverage: f64) -> f64 {
    if leverage.is_finite() { leverage } else { f64::MAX }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
