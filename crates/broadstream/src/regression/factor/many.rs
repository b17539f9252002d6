//! Predictions for many samples at once.
//!
//! A prediction reads all of the factor for two operations per entry, so beyond the caches memory
//! bandwidth limits it. Several samples share the reads: a panel is read once for all of them, and
//! four go through it together. Each meets the same operations as it would alone, in the same
//! order.

#![allow(clippy::inline_always)]

use super::{
    Factor, bounded, check_length,
    kernel::{GROUP, Kernel, group_sizes, with_kernel},
    panels::{PanelColumn, ROWS, TARGET_ROWS},
};
use crate::{error::Error, numeric::Column};

/// The samples for which a panel is read once: more would evict each other from the caches.
const TOGETHER: usize = 4 * GROUP;

impl Factor {
    /// The predictions and the leverage of several rows of features, with the same bits as
    /// [`scores`](Self::scores) and [`leverage`](Self::leverage) for each.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Update};
    ///
    /// let mut factor = Factor::new(2, 0.1);
    /// factor.add_targets(1);
    /// let update = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
    /// factor.sweep(update, &mut [0.0])?;
    /// let (scores, leverages) = factor.scores_many(&[1.0, 2.0, 3.0, -1.0])?;
    /// assert_eq!(scores[1..], factor.scores(&[3.0, -1.0])?);
    /// assert_eq!(leverages[1], factor.leverage(&[3.0, -1.0])?);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn scores_many(&self, features: &[f64]) -> Result<(Vec<f64>, Vec<f64>), Error> {
        let order = self.order();
        let samples = features.len().checked_div(order).unwrap_or(0);
        check_length("features", samples * order, features.len())?;
        let mut predictions = Predictions {
            scores: Vec::with_capacity(samples * self.readouts.len() * self.targets),
            leverages: Vec::with_capacity(samples),
        };
        let mut p = Vec::new();
        for features in features.chunks((TOGETHER * order).max(1)) {
            p.resize(features.len(), 0.0);
            with_kernel!(self.instructions, |kernel| {
                self.predict_many(kernel, features, &mut p, &mut predictions);
            });
        }
        Ok((predictions.scores, predictions.leverages))
    }

    /// p is L⁻¹a of each sample, group by group and within a group column by column.
    #[inline(always)]
    fn predict_many<K: Kernel>(
        &self,
        kernel: K,
        features: &[f64],
        p: &mut [f64],
        predictions: &mut Predictions,
    ) {
        let order = self.order();
        for panel in 0..self.l.len() {
            let mut end = 0;
            for size in group_sizes(features.len() / order) {
                let start = end;
                end += size * order;
                let (rows, p) = (&features[start..end], &mut p[start..end]);
                match size {
                    1 => self.substitute_group::<K, 1>(kernel, panel, rows, p),
                    2 => self.substitute_group::<K, 2>(kernel, panel, rows, p),
                    4 => self.substitute_group::<K, 4>(kernel, panel, rows, p),
                    _ => self.substitute_group::<K, GROUP>(kernel, panel, rows, p),
                }
            }
        }
        let mut rest = &*p;
        for size in group_sizes(p.len() / order) {
            let p;
            (p, rest) = rest.split_at(size * order);
            match size {
                1 => self.predict_group::<1>(p, predictions),
                2 => self.predict_group::<2>(p, predictions),
                4 => self.predict_group::<4>(p, predictions),
                _ => self.predict_group::<GROUP>(p, predictions),
            }
        }
    }

    /// A panel's share of L⁻¹a.
    #[inline(always)]
    fn substitute_group<K: Kernel, const G: usize>(
        &self,
        kernel: K,
        panel: usize,
        rows: &[f64],
        p: &mut [f64],
    ) {
        let (left, block) = self.l.split(panel);
        let mut w = [PanelColumn::ZERO; G];
        for (w, row) in w.iter_mut().zip(rows.chunks_exact(self.order())) {
            w.0[..block.len()].copy_from_slice(&row[panel * ROWS..][..block.len()]);
        }
        let (known, new) = p.as_chunks_mut::<G>().0.split_at_mut(left.len());
        kernel.forward_group(left, known, &mut w);
        for (j, (column, p)) in block.iter().zip(new).enumerate() {
            for s in 0..G {
                p[s] = w[s].0[j];
                for i in 0..ROWS {
                    w[s].0[i] = (-p[s]).mul_add(column.0[i], w[s].0[i]);
                }
            }
        }
    }

    /// The predictions of a group whose p is known.
    #[inline(always)]
    fn predict_group<const G: usize>(&self, p: &[f64], predictions: &mut Predictions) {
        let p = p.as_chunks::<G>().0;
        let row = self.readouts.len() * self.targets;
        let start = predictions.scores.len();
        predictions.scores.resize(start + G * row, 0.0);
        let scores = &mut predictions.scores[start..];
        for (panel, z) in self.z.iter().enumerate() {
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(self.targets - first);
            let mut sums = [Column::ZERO; G];
            let mut start = 0;
            for (r, &end) in self.readouts.iter().enumerate() {
                score_group(&z[start..end], &p[start..end], &mut sums);
                start = end;
                for s in 0..G {
                    let place = s * row + r * self.targets + first;
                    scores[place..place + size].copy_from_slice(&sums[s].0[..size]);
                }
            }
        }
        let mut leverages = [0.0; G];
        for (p, d_inverse) in p.iter().zip(&self.d_inverse) {
            for s in 0..G {
                leverages[s] = p[s].mul_add(p[s] * d_inverse, leverages[s]);
            }
        }
        predictions.leverages.extend(leverages.map(bounded));
    }
}

/// The results of [`Factor::scores_many`].
struct Predictions {
    scores: Vec<f64>,
    leverages: Vec<f64>,
}

/// scores ← scores + p·z for several samples.
#[inline(always)]
fn score_group<const G: usize>(
    z: &[Column<TARGET_ROWS>],
    p: &[[f64; G]],
    scores: &mut [Column<TARGET_ROWS>; G],
) {
    let mut sums = *scores;
    for (column, p) in z.iter().zip(p) {
        for s in 0..G {
            for i in 0..TARGET_ROWS {
                sums[s].0[i] = p[s].mul_add(column.0[i], sums[s].0[i]);
            }
        }
    }
    *scores = sums;
}
