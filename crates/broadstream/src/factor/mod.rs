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
//! solves for each class (equations 13 and 14). The weights are the same; the sweep costs a sixth.
//!
//! Parts: `panels` is the layout, `kernel` the inner loops, `solve` what reads the factor,
//! `refactor` builds it from a matrix, `gram` keeps that matrix.

mod gram;
mod kernel;
mod panels;
mod refactor;
mod solve;
#[cfg(test)]
mod tests;

pub use self::gram::Gram;
pub(crate) use self::panels::Column;

use self::{
    kernel::GROUP,
    panels::{Panels, ROWS, TARGET_ROWS},
};
use crate::{error::Error, simd::Path};

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
    z: Vec<Vec<Column<TARGET_ROWS>>>,
    targets: usize,
    /// After how many features predictions are read off, the last after all of them.
    readouts: Vec<usize>,
    path: Path,
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

/// What a sweep carries; kept between sweeps to spare allocations.
#[derive(Clone, Debug, Default)]
struct Scratch {
    /// The samples' features, panel by panel and within a panel sample by sample.
    w: Vec<Column<ROWS>>,
    /// p and β, group by group, within a group column by column.
    p: Vec<f64>,
    beta: Vec<f64>,
    gamma: Vec<f64>,
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
            path: Path::detect(),
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
    pub fn sweep(&mut self, update: Update<'_>, scores: &mut [f64]) -> Result<(), Error> {
        let samples = self.check(&update, scores)?;
        self.scratch.gamma.clear();
        self.scratch.gamma.extend(update.weights.iter().map(|weight| update.forgetting / weight));
        self.sweep_samples(update.features, update.targets, update.forgetting, samples, scores);
        Ok(())
    }

    /// Takes back a sample that was learned with that weight. Fails, and changes nothing, if the
    /// sample cannot have been learned.
    pub fn unlearn(&mut self, features: &[f64], targets: &[f64], weight: f64) -> Result<(), Error> {
        // So near to 1, what would remain of the sample's direction is rounding error.
        const LARGEST: f64 = 1.0 - 1e-10;
        let weights = [weight];
        let mut scores = vec![0.0; self.readouts.len() * self.targets];
        let update = Update { features, targets, weights: &weights, forgetting: 1.0 };
        self.check(&update, &scores)?;
        let weighted_leverage = weight * self.leverage(features)?;
        if weighted_leverage.is_nan() || weighted_leverage > LARGEST {
            return Err(Error::CannotUnlearn { weighted_leverage });
        }
        self.scratch.gamma.clear();
        self.scratch.gamma.push(-1.0 / weight);
        self.sweep_samples(features, targets, 1.0, 1, &mut scores);
        Ok(())
    }

    fn check(&self, update: &Update<'_>, scores: &[f64]) -> Result<usize, Error> {
        let samples = update.weights.len();
        let lengths = [
            ("features", samples * self.order(), update.features.len()),
            ("targets", samples * self.targets, update.targets.len()),
            ("scores", samples * self.readouts.len() * self.targets, scores.len()),
        ];
        for (what, expected, found) in lengths {
            check_length(what, expected, found)?;
        }
        Ok(samples)
    }

    fn sweep_samples(
        &mut self,
        features: &[f64],
        targets: &[f64],
        mu: f64,
        samples: usize,
        scores: &mut [f64],
    ) {
        let Factor { l, d_inverse, z, scratch, path, readouts, targets: target_count, .. } = self;
        let order = l.order();
        scratch.carry(features, order, samples);
        path.run(
            #[inline(always)]
            || {
                let Scratch { w, p, beta, gamma } = scratch;
                for (panel, w) in w.chunks_exact_mut(samples.max(1)).enumerate() {
                    let (left, block) = l.split_mut(panel);
                    let d_inverse = &mut d_inverse[panel * ROWS..][..block.len()];
                    for first in (0..samples).step_by(GROUP) {
                        let size = GROUP.min(samples - first);
                        let coefficients = first * order..(first + size) * order;
                        let step = PanelStep {
                            left,
                            block,
                            d_inverse,
                            mu,
                            w: &mut w[first..first + size],
                            gamma: &mut gamma[first..first + size],
                            p: &mut p[coefficients.clone()],
                            beta: &mut beta[coefficients],
                        };
                        match size {
                            1 => step.run::<1>(),
                            2 => step.run::<2>(),
                            3 => step.run::<3>(),
                            _ => step.run::<GROUP>(),
                        }
                    }
                }
                for first in (0..samples).step_by(GROUP) {
                    let size = GROUP.min(samples - first);
                    let coefficients = first * order..(first + size) * order;
                    let rows = |length: usize| first * length..(first + size) * length;
                    let step = TargetStep {
                        z,
                        targets: *target_count,
                        readouts,
                        p: &p[coefficients.clone()],
                        beta: &beta[coefficients],
                        y: &targets[rows(*target_count)],
                        scores: &mut scores[rows(readouts.len() * *target_count)],
                    };
                    match size {
                        1 => step.run::<1>(),
                        2 => step.run::<2>(),
                        3 => step.run::<3>(),
                        _ => step.run::<GROUP>(),
                    }
                }
            },
        );
    }
}

impl Scratch {
    /// Lays out the samples' features for the sweep, padded with zeros to whole panels.
    fn carry(&mut self, features: &[f64], order: usize, samples: usize) {
        self.w.clear();
        self.w.resize(panels::panels(order) * samples, Column::ZERO);
        for (s, row) in features.chunks_exact(order).enumerate() {
            for (panel, rows) in row.chunks(ROWS).enumerate() {
                self.w[panel * samples + s].0[..rows.len()].copy_from_slice(rows);
            }
        }
        self.p.resize(order * samples, 0.0);
        self.beta.resize(order * samples, 0.0);
    }
}

/// One panel and one group of samples.
struct PanelStep<'a> {
    left: &'a mut [Column<ROWS>],
    block: &'a mut [Column<ROWS>],
    d_inverse: &'a mut [f64],
    mu: f64,
    w: &'a mut [Column<ROWS>],
    gamma: &'a mut [f64],
    p: &'a mut [f64],
    beta: &'a mut [f64],
}

impl PanelStep<'_> {
    #[inline(always)]
    fn run<const G: usize>(self) {
        let mut w: [Column<ROWS>; G] = std::array::from_fn(|s| self.w[s]);
        let mut gamma: [f64; G] = std::array::from_fn(|s| self.gamma[s]);
        let (p_left, p_rest) = self.p.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
        let (beta_left, beta_rest) = self.beta.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
        kernel::sweep(self.left, p_left, beta_left, &mut w);
        kernel::sweep_diagonal(
            self.block,
            self.d_inverse,
            self.mu,
            &mut gamma,
            p_rest,
            beta_rest,
            &mut w,
        );
        self.gamma.copy_from_slice(&gamma);
    }
}

/// All targets and one group of samples.
struct TargetStep<'a> {
    z: &'a mut [Vec<Column<TARGET_ROWS>>],
    targets: usize,
    readouts: &'a [usize],
    p: &'a [f64],
    beta: &'a [f64],
    y: &'a [f64],
    scores: &'a mut [f64],
}

impl TargetStep<'_> {
    #[inline(always)]
    fn run<const G: usize>(self) {
        let TargetStep { targets, readouts, .. } = self;
        let (p, beta) = (self.p.as_chunks::<G>().0, self.beta.as_chunks::<G>().0);
        for (panel, z) in self.z.iter_mut().enumerate() {
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(targets - first);
            let mut w = [Column::ZERO; G];
            for s in 0..G {
                w[s].0[..size].copy_from_slice(&self.y[s * targets + first..][..size]);
            }
            let mut sums = [Column::ZERO; G];
            let mut start = 0;
            for (r, &end) in readouts.iter().enumerate() {
                let part = start..end;
                let (p, beta) = (&p[part.clone()], &beta[part.clone()]);
                kernel::sweep_targets(&mut z[part], p, beta, &mut w, &mut sums);
                start = end;
                for s in 0..G {
                    let row = (s * readouts.len() + r) * targets;
                    self.scores[row + first..][..size].copy_from_slice(&sums[s].0[..size]);
                }
            }
        }
    }
}

fn check_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}
