//! Removing samples, and correcting labels.
//!
//! A sweep that starts at γ = −1/w instead of 1/w removes a sample of weight w: the factor is then
//! that of K − w·a·aᵀ, with the optimum of the remaining samples. If only the targets of a sample
//! change, K does not, and Z = D⁻¹L⁻¹Q follows Q: with p = L⁻¹a, row j of Z grows by
//! w·(p_j/d_j)·change.

use super::{Factor, Update, kernel::add_outer_product, panels::TARGET_ROWS};
use crate::error::Error;
use crate::numeric::Column;

/// With less than this share left of a sample's direction, the remainder is rounding error.
const LEAST_REMAINDER: f64 = 1e-10;

impl Factor {
    /// Removes a sample that was learned with that weight. Fails, and changes nothing, if the
    /// sample cannot have been learned.
    pub fn unlearn(&mut self, features: &[f64], targets: &[f64], weight: f64) -> Result<(), Error> {
        let weights = [weight];
        let mut scores = vec![0.0; self.readouts.len() * self.targets];
        let update = Update { features, targets, weights: &weights, forgetting: 1.0 };
        self.check(&update, &scores)?;
        let weighted_leverage = weight * self.leverage(features)?;
        if weighted_leverage.is_nan() || weighted_leverage > 1.0 - LEAST_REMAINDER {
            return Err(Error::CannotUnlearn { weighted_leverage });
        }
        self.scratch.start(self.order(), std::iter::once((features, -1.0 / weight)));
        self.sweep_samples(targets, 1.0, &mut scores);
        Ok(())
    }

    /// Changes the targets of a sample that was learned with that weight, by adding `change` to
    /// them. To correct a label, that is −1 for the wrong class and 1 for the right one. The factor
    /// is then the one that would have learned the sample with the new targets.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Update};
    ///
    /// let mut factor = Factor::new(2, 0.1);
    /// factor.add_targets(2);
    /// let wrong = Update {
    ///     features: &[1.0, 2.0],
    ///     targets: &[1.0, 0.0],
    ///     weights: &[1.0],
    ///     forgetting: 1.0,
    /// };
    /// factor.sweep(wrong, &mut [0.0; 2])?;
    /// factor.correct(&[1.0, 2.0], &[-1.0, 1.0], 1.0)?;
    /// let scores = factor.scores(&[1.0, 2.0])?;
    /// assert!(scores[0].abs() < 1e-15 && (scores[1] - 5.0 / 5.1).abs() < 1e-15);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn correct(&mut self, features: &[f64], change: &[f64], weight: f64) -> Result<(), Error> {
        let update = Update { features, targets: change, weights: &[weight], forgetting: 1.0 };
        update.check(self.order(), self.targets)?;
        let mut q = self.forward_substitute(features)?;
        for (q, d_inverse) in q.iter_mut().zip(&self.d_inverse) {
            *q *= d_inverse * weight;
        }
        let instructions = self.instructions;
        for (z, change) in self.z.iter_mut().zip(change.chunks(TARGET_ROWS)) {
            let mut padded = Column::ZERO;
            padded.0[..change.len()].copy_from_slice(change);
            instructions.run(
                #[inline(always)]
                || add_outer_product(z, &q, &padded),
            );
        }
        Ok(())
    }
}
