//! Merging factors, and changing their ridge.
//!
//! A factor is equivalent to m samples: K = Σ d_j·l_j·l_jᵀ and Q = Σ d_j·l_j·z_jᵀ, where l_j is
//! column j of L and z_j row j of Z. So another factor learns everything that this one has learned
//! by learning those samples. The ridge is then counted twice, and is removed once by unlearning
//! √λ times each unit vector, whose weighted leverage is at most a half at that moment.
//!
//! Adding K and K' instead and factorising the sum costs less, but has to represent K itself. That
//! squares the condition number: with K in 16 digits, scores are exact to the condition number times
//! 1e-16. A factor that only learns and unlearns samples is exact to its square root times 1e-16, as
//! if it had been computed from the samples themselves.

use super::{Factor, Gram, Update, check_length, panels::ROWS};
use crate::error::Error;

/// How many rows are swept together.
const BLOCK: usize = 64;

impl Factor {
    /// Learns everything that another factor has learned: K + K' − ridge · I is then factorised,
    /// with the optimum of all samples. `targets[k]` is the number here of the other's target k.
    /// Both must have that ridge.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Update};
    ///
    /// let mut one = Factor::new(2, 0.1);
    /// one.add_targets(1);
    /// let [mut all, mut other] = [one.clone(), one.clone()];
    /// let first = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
    /// let second = Update { features: &[3.0, -1.0], weights: &[2.0], ..first };
    /// one.sweep(first, &mut [0.0])?;
    /// other.sweep(second, &mut [0.0])?;
    /// one.merge(&other, 0.1, &[0])?;
    /// all.sweep(first, &mut [0.0])?;
    /// all.sweep(second, &mut [0.0])?;
    /// for (merged, whole) in one.weights().iter().zip(all.weights()) {
    ///     assert!((merged - whole).abs() < 1e-14);
    /// }
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn merge(&mut self, other: &Factor, ridge: f64, targets: &[usize]) -> Result<(), Error> {
        check_length("the features of the other", self.order(), other.order())?;
        check_length("the numbers of the other's targets", other.targets(), targets.len())?;
        self.add_targets(targets.iter().map(|target| target + 1).fold(0, usize::max));
        let (order, all) = (self.order(), self.targets());
        for first in (0..order).step_by(BLOCK) {
            let rows = first..order.min(first + BLOCK);
            let mut features = vec![0.0; rows.len() * order];
            let mut y = vec![0.0; rows.len() * all];
            for (s, j) in rows.clone().enumerate() {
                other.copy_column(j, &mut features[s * order..][..order]);
                for (k, target) in targets.iter().enumerate() {
                    y[s * all + target] = other.target_entry(j, k);
                }
            }
            let weights: Vec<f64> = rows.map(|j| 1.0 / other.d_inverse[j]).collect();
            self.learn_rows(&features, &y, &weights)?;
        }
        let weights = vec![ridge; order];
        self.sweep_unit_vectors(&weights, &vec![0.0; order * all], -1.0);
        Ok(())
    }

    /// Adds `growth` to the ridge, and keeps the weights. Unlike [`refactor`](Self::refactor), this
    /// needs no sums, and is exact however badly they are conditioned; it takes several times as
    /// long.
    pub fn raise_ridge(&mut self, growth: f64) {
        // A sample whose target is already predicted leaves the weights as they are.
        let weights = self.weights();
        self.sweep_unit_vectors(&vec![growth; self.order()], &weights, 1.0);
    }

    /// The sums P of a factor that is that of P + ridge · I.
    pub(crate) fn sums_without_ridge(&self, ridge: f64) -> Gram {
        let (order, mut gram) = (self.order(), Gram::new(self.order()));
        gram.share_threads(&self.threads);
        for first in (0..order).step_by(BLOCK) {
            let rows = first..order.min(first + BLOCK);
            let mut features = vec![0.0; rows.len() * order];
            for (s, j) in rows.clone().enumerate() {
                self.copy_column(j, &mut features[s * order..][..order]);
            }
            let weights: Vec<f64> = rows.map(|j| 1.0 / self.d_inverse[j]).collect();
            let added = gram.add(&features, &weights);
            debug_assert!(added.is_ok(), "there is a weight for each column");
        }
        gram.lower_diagonal(ridge);
        gram
    }

    fn learn_rows(
        &mut self,
        features: &[f64],
        targets: &[f64],
        weights: &[f64],
    ) -> Result<(), Error> {
        let mut scores = vec![0.0; weights.len() * self.readouts.len() * self.targets];
        let update = Update { features, targets, weights, forgetting: 1.0 };
        self.sweep(update, &mut scores).map(|_| ())
    }

    /// Learns (`sign` = 1) or unlearns (−1) the unit vectors with these weights and rows of targets.
    fn sweep_unit_vectors(&mut self, weights: &[f64], targets: &[f64], sign: f64) {
        let (order, all) = (self.order(), self.targets);
        let mut scores = vec![0.0; BLOCK * self.readouts.len() * all];
        for first in (0..order).step_by(BLOCK) {
            let rows = order.min(first + BLOCK) - first;
            let mut features = vec![0.0; rows * order];
            (0..rows).for_each(|s| features[s * order + first + s] = 1.0);
            let gammas = weights[first..first + rows].iter().map(|weight| sign / weight);
            self.scratch.start(order, features.chunks_exact(order).zip(gammas));
            let scores = &mut scores[..rows * self.readouts.len() * all];
            self.sweep_samples(&targets[first * all..][..rows * all], 1.0, scores);
        }
    }

    /// Column j of L, into zeros.
    fn copy_column(&self, j: usize, column: &mut [f64]) {
        for panel in j / ROWS..self.l.len() {
            let rows = column[panel * ROWS..].iter_mut();
            rows.zip(self.l.panel(panel)[j].0).for_each(|(row, entry)| *row = entry);
        }
    }

    /// Z of feature j and target k.
    fn target_entry(&self, j: usize, k: usize) -> f64 {
        use super::panels::TARGET_ROWS;
        self.z[k / TARGET_ROWS][j].0[k % TARGET_ROWS]
    }
}
