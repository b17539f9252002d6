//! The triangular factor that carries everything a ridge regression has learned.
//!
//! With features a ∈ Rᵐ, targets y ∈ Rᶜ and sample weights w, the optimum of
//! Σ w·|aᵀW − y|² + λ|W|² solves K W = Q with K = λI + Σ w·a·aᵀ and Q = Σ w·a·yᵀ. The factor keeps
//! K = L D Lᵀ (L unit lower triangular, D diagonal) and Z = LᵀW, whose rows hang below L as if they
//! were rows of it. One sweep over the columns j then does everything. It carries w = \[a; y\], and
//! γ from μ/w, where μ is the share of the past that is kept:
//!
//! ```text
//! p = w_j;  q = p/d_j;  γ' = γ + p·q;  β = q/γ';  d_j ← μ·d_j·γ'/γ
//! rows i > j, those of Z included:  w_i ← w_i − p·l_ij;  l_ij ← l_ij + β·w_i
//! ```
//!
//! Afterwards the factor is that of μK + w·a·aᵀ, Z belongs to the new optimum, and what is left of y
//! is the residual y − aᵀW before the update: one pass predicts and learns. There is no square root
//! and no cancellation. γ grew by the leverage aᵀK⁻¹a.
//!
//! The paper this follows keeps K = L Lᵀ, updates it by Givens rotations (its equation 15) and then
//! solves for each class (equations 13 and 14). The weights are the same.
//!
//! Parts: `panels` is the layout, `sweep` the update, `kernel` its inner loops (`portable`, `avx2`),
//! `solve` what reads the factor, `many` the same for many samples, `weights` what follows it,
//! `unlearn` what takes samples back, `slide` a window of samples, `certificate` what proves it. `refactor` builds the factor from a matrix, `gram` keeps that matrix,
//! `sums` all that a regression has summed, `product` multiplies by the factor again, `correction`
//! makes up for a ridge that fades between two refreshes, `probe` sees how far rounding has gone.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod certificate;
mod correction;
mod gram;
mod kernel;
mod many;
mod panels;
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
/// assert_eq!(scores, [0.0], "the score is that of before the sample");
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
    /// After how many features predictions are read off, the last after all of them.
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

    /// Has predictions read off after `features` features as well as after all of them.
    ///
    /// The leading part of a triangular factor is the factor of the leading features: the sums on
    /// the way to a prediction are the predictions of ridge regressions on the first features
    /// alone, exact ones, and cost nothing.
    pub fn add_readout(&mut self, features: usize) {
        if features < self.order()
            && let Err(place) = self.readouts.binary_search(&features)
        {
            self.readouts.insert(place, features);
        }
    }

    /// After how many features predictions are read off, in increasing order.
    pub fn readouts(&self) -> &[usize] {
        &self.readouts
    }

    /// Has several threads sweep a block of samples. They change no bit, and are of use for blocks of
    /// eight samples and more on some hundred features and more. Default one.
    pub fn set_threads(&mut self, count: usize) -> Result<(), Error> {
        self.threads = Threads::new(count)?;
        Ok(())
    }

    /// Shares threads with others.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    /// How many bytes a factor of that order takes, targets apart.
    pub fn bytes(order: usize) -> u128 {
        panels::bytes(order).saturating_add(order as u128 * size_of::<f64>() as u128)
    }

    /// How many features there are.
    pub fn order(&self) -> usize {
        self.l.order()
    }

    /// How many targets there are.
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

    /// Learns samples in their order, and writes to `scores` what the predictions were just before
    /// a sample was learned: for each sample and [readout](Self::readouts) a row of targets. The
    /// result is the same, to the bit, however a sequence of samples is divided into calls.
    ///
    /// Returns the leverage aᵀK⁻¹a of each sample just before it was learned: how unlike the past it
    /// was. It comes with the sweep, as what γ grew by.
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
        learned.map(|(first, last)| last - first).collect()
    }

    /// Saves L without its diagonal, 1/D, and Z target by target.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("l", self.l.rows(false));
        to.floats("d_inverse", self.d_inverse.clone());
        to.check("d_inverse", self.d_inverse.iter().all(|d_inverse| *d_inverse > 0.0));
        to.floats("z", panels::target_rows(&self.z, self.targets).collect());
    }

    /// Takes over what was saved, into a factor that has no targets yet. How many there are is seen
    /// from the length of Z; its order, readouts and threads are the factor's own.
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
    /// Checks all samples for a regression of that order, and returns how many there are.
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

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
