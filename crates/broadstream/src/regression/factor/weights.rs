//! Weights that follow their factor sample by sample.
//!
//! A factor predicts by a forward substitution, which reads all of it. With the weights themselves
//! a prediction is a product of m × c numbers, some microseconds. They cost one back substitution
//! per learned sample: the gain g = w·K⁻¹a, and W ← W + g·rᵀ with the residual r = y − aᵀW. That
//! pays where samples are predicted more often than learned.

#![allow(clippy::inline_always)]

use super::{
    Factor, Update, check_length,
    kernel::{add_outer_product, score},
    panels::{TARGET_ROWS, TargetPanels, set_target_rows, target_rows},
};
use crate::numeric::Column;
use crate::{
    error::{Error, ModelFileError},
    state::{ReadScope, WriteScope},
};

/// After this many samples the weights are solved for again, so that rounding errors do not add up.
const SOLVE_EVERY: u32 = 1024;

/// How many rows of features go through the weights together: enough to hide the latency of a multiply-add.
const TOGETHER: usize = 8;

/// The weights of a factor, for all of its [readouts](Factor::readouts).
///
/// ```
/// use broadstream::factor::{Factor, Update, Weights};
///
/// let mut factor = Factor::new(2, 0.1);
/// factor.add_targets(1);
/// let mut weights = Weights::of(&factor);
/// let update = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
/// weights.learn(&mut factor, update, &mut [0.0])?;
/// let (fast, exact) = (weights.scores(&[3.0, 1.0])?, factor.scores(&[3.0, 1.0])?);
/// assert!((fast[0] - exact[0]).abs() < 1e-15);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Weights {
    readouts: Vec<Readout>,
    targets: usize,
    instructions: crate::numeric::InstructionSet,
    since_solved: u32,
}

/// The weights of the regression on the first features.
#[derive(Clone, Debug)]
struct Readout {
    features: usize,
    /// For each panel of targets a column per feature.
    panels: TargetPanels,
}

impl Weights {
    /// Solves for the weights of a factor.
    pub fn of(factor: &Factor) -> Self {
        let readout = |&features: &usize| Readout {
            features,
            panels: (0..factor.z.len()).map(|z| factor.solve_weights(z, features)).collect(),
        };
        Weights {
            readouts: factor.readouts.iter().map(readout).collect(),
            targets: factor.targets,
            instructions: factor.instructions,
            since_solved: 0,
        }
    }

    /// Raises the number of targets, as [`Factor::add_targets`] does.
    pub fn add_targets(&mut self, targets: usize) {
        self.targets = self.targets.max(targets);
        for Readout { features, panels } in &mut self.readouts {
            panels
                .resize_with(self.targets.div_ceil(TARGET_ROWS), || vec![Column::ZERO; *features]);
        }
    }

    /// The predictions for one row of features, arranged as by [`Factor::scores`] and equal to them
    /// up to rounding.
    pub fn scores(&self, features: &[f64]) -> Result<Vec<f64>, Error> {
        let order = self.readouts.last().map_or(0, |readout| readout.features);
        check_length("features", order, features.len())?;
        let mut scores = vec![0.0; self.readouts.len() * self.targets];
        let rows = scores.chunks_exact_mut(self.targets.max(1));
        for (row, readout) in rows.zip(&self.readouts) {
            let targets = row.chunks_mut(TARGET_ROWS);
            for (targets, weights) in targets.zip(&readout.panels) {
                let mut sums = Column::ZERO;
                self.instructions.run(
                    #[inline(always)]
                    || score(weights, features, &mut sums),
                );
                targets.copy_from_slice(&sums.0[..targets.len()]);
            }
        }
        Ok(scores)
    }

    /// The predictions for several rows of features, one after the other, with the bits of
    /// [`scores`](Self::scores). Several rows share each read of the weights.
    pub fn scores_many(&self, features: &[f64]) -> Result<Vec<f64>, Error> {
        let order = self.readouts.last().map_or(0, |readout| readout.features);
        let samples = features.len().checked_div(order).unwrap_or(0);
        check_length("features", samples * order, features.len())?;
        let row = self.readouts.len() * self.targets;
        let mut scores = vec![0.0; samples * row];
        let rows = features.chunks((TOGETHER * order).max(1));
        for (features, scores) in rows.zip(scores.chunks_mut((TOGETHER * row).max(1))) {
            if features.len() < TOGETHER * order {
                let rows = features.chunks_exact(order).zip(scores.chunks_exact_mut(row.max(1)));
                for (features, scores) in rows {
                    scores.copy_from_slice(&self.scores(features)?);
                }
                continue;
            }
            let rows: [&[f64]; TOGETHER] = std::array::from_fn(|s| &features[s * order..][..order]);
            for (r, readout) in self.readouts.iter().enumerate() {
                for (panel, weights) in readout.panels.iter().enumerate() {
                    let mut sums = [Column::ZERO; TOGETHER];
                    self.instructions.run(
                        #[inline(always)]
                        || score_together(weights, &rows, &mut sums),
                    );
                    let first = panel * TARGET_ROWS;
                    let size = TARGET_ROWS.min(self.targets - first);
                    for (scores, sums) in scores.chunks_exact_mut(row).zip(&sums) {
                        scores[r * self.targets + first..][..size].copy_from_slice(&sums.0[..size]);
                    }
                }
            }
        }
        Ok(scores)
    }

    /// Lets the factor learn one sample and updates the weights. `scores` receives the predictions
    /// before that, which are those of [`scores`](Self::scores). Returns the leverage of the sample,
    /// as [`sweep`](Factor::sweep) does.
    pub fn learn(
        &mut self,
        factor: &mut Factor,
        update: Update<'_>,
        scores: &mut [f64],
    ) -> Result<Vec<f64>, Error> {
        check_length("weights", 1, update.weights.len())?;
        let leverages = factor.sweep(update, scores)?;
        scores.copy_from_slice(&self.scores(update.features)?);
        self.since_solved += 1;
        if self.since_solved == SOLVE_EVERY {
            *self = Weights::of(factor);
            return Ok(leverages);
        }
        let gains: Vec<Vec<f64>> =
            self.readouts.iter().map(|readout| factor.gain(readout.features)).collect();
        self.follow(&gains, update.targets, scores);
        Ok(leverages)
    }

    /// The same with the gain that the factor would have if its ridge were larger by
    /// `missing_ridge`, approximated by `steps` steps of conjugate gradients. The factor's own
    /// weights are then those of the smaller ridge until [`give_to`](Self::give_to). The factor
    /// must have no readout except that of all features.
    pub fn learn_corrected(
        &mut self,
        factor: &mut Factor,
        update: Update<'_>,
        missing_ridge: f64,
        steps: usize,
        scores: &mut [f64],
    ) -> Result<Vec<f64>, Error> {
        check_length("weights", 1, update.weights.len())?;
        check_length("readouts", 1, self.readouts.len())?;
        let leverages = factor.sweep(update, scores)?;
        scores.copy_from_slice(&self.scores(update.features)?);
        let gain = factor.corrected_gain(missing_ridge, steps)?;
        self.follow(&[gain], update.targets, scores);
        Ok(leverages)
    }

    /// Gives the factor these weights.
    pub fn give_to(&self, factor: &mut Factor) {
        factor.set_weights(&self.rows());
    }

    /// W ← W + g·(y − ŷ)ᵀ for each readout's gain g.
    fn follow(&mut self, gains: &[Vec<f64>], targets: &[f64], scores: &[f64]) {
        let scores = scores.chunks_exact(self.targets.max(1));
        for ((readout, gain), scores) in self.readouts.iter_mut().zip(gains).zip(scores) {
            let panels = targets.chunks(TARGET_ROWS).zip(scores.chunks(TARGET_ROWS));
            for (weights, (targets, scores)) in readout.panels.iter_mut().zip(panels) {
                let mut residual = Column::ZERO;
                for ((residual, y), score) in residual.0.iter_mut().zip(targets).zip(scores) {
                    *residual = y - score;
                }
                self.instructions.run(
                    #[inline(always)]
                    || add_outer_product(weights, gain, &residual),
                );
            }
        }
    }

    /// Saves the weights readout by readout, target by target.
    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        let mut weights = Vec::new();
        for readout in &self.readouts {
            weights.extend(target_rows(&readout.panels, self.targets));
        }
        to.rounded_floats("weights", weights);
        to.integer("since_solved", self.since_solved);
    }

    /// Takes over saved weights, into those of a factor that has learned nothing.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let features: usize = self.readouts.iter().map(|readout| readout.features).sum();
        let targets = from.length("weights").checked_div(features).unwrap_or(0);
        let weights = from.floats("weights", targets * features)?;
        let since_solved = from.count("since_solved", SOLVE_EVERY as usize - 1)?;
        self.targets = 0;
        self.readouts.iter_mut().for_each(|readout| readout.panels.clear());
        self.add_targets(targets);
        let mut rest = weights.as_slice();
        for Readout { features, panels } in &mut self.readouts {
            let (rows, others) = rest.split_at(targets * *features);
            set_target_rows(panels, *features, rows);
            rest = others;
        }
        self.since_solved = since_solved as u32;
        Ok(())
    }

    /// The number of targets.
    pub(crate) fn targets(&self) -> usize {
        self.targets
    }

    /// The weights on all features: one row per feature, one entry per target.
    pub fn rows(&self) -> Vec<f64> {
        let Some(Readout { features, panels }) = self.readouts.last() else { return Vec::new() };
        let mut rows = vec![0.0; features * self.targets];
        for (j, row) in rows.chunks_exact_mut(self.targets.max(1)).enumerate() {
            for (targets, weights) in row.chunks_mut(TARGET_ROWS).zip(panels) {
                targets.copy_from_slice(&weights[j].0[..targets.len()]);
            }
        }
        rows
    }
}

/// [`score`] for several rows of features.
#[inline(always)]
fn score_together(
    weights: &[Column<TARGET_ROWS>],
    rows: &[&[f64]; TOGETHER],
    scores: &mut [Column<TARGET_ROWS>; TOGETHER],
) {
    let rows = rows.map(|row| &row[..weights.len()]);
    let mut sums = *scores;
    for (j, weights) in weights.iter().enumerate() {
        for s in 0..TOGETHER {
            for i in 0..TARGET_ROWS {
                sums[s].0[i] = rows[s][j].mul_add(weights.0[i], sums[s].0[i]);
            }
        }
    }
    *scores = sums;
}
