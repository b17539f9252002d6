//! How well weights solve the regression of a factor, with or without some of its samples.
//!
//! K W = Q is the whole definition of the weights, so its residual measures how far any weights are
//! from the optimum, however they were computed. K and Q come from the factor, as L D Lᵀ and L D Z,
//! and the removed samples are subtracted one by one; nothing is solved.

#![allow(clippy::inline_always)]

use super::{
    Factor, Update, check_length,
    kernel::{add_outer_product, score},
    panels::TARGET_ROWS,
};
use crate::error::Error;
use crate::numeric::Column;

impl Factor {
    /// ‖K′W − Q′‖ / ‖Q′‖ for weights W (a row per feature, an entry per target), where K′ and Q′
    /// are the factor's K and Q without the samples in `removed`: near 0 if and only if W is the
    /// optimum of the other samples. If `removed` is empty, K and Q are the factor's own. The
    /// residual is not divided if Q′ is 0. The norm is Frobenius's; the cost is that of a
    /// multiplication by K for each target.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Update};
    ///
    /// let mut factor = Factor::new(2, 0.1);
    /// factor.add_targets(1);
    /// let first = Update { features: &[1.0, 2.0], targets: &[1.0], weights: &[1.0], forgetting: 1.0 };
    /// let second = Update { features: &[2.0, 0.5], targets: &[0.0], ..first };
    /// factor.sweep(first, &mut [0.0])?;
    /// factor.sweep(second, &mut [0.0])?;
    /// let before = factor.clone();
    /// factor.unlearn(second.features, second.targets, 1.0)?;
    /// assert!(before.residual_without(second, &factor.weights())? < 1e-14);
    /// assert!(before.residual_without(second, &before.weights())? > 0.01);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn residual_without(&self, removed: Update<'_>, weights: &[f64]) -> Result<f64, Error> {
        removed.check(self.order(), self.targets)?;
        check_length("weights", self.order() * self.targets, weights.len())?;
        let (mut residual, mut right) = (0.0, 0.0);
        for (panel, z) in self.z.iter().enumerate() {
            let w = self.target_columns(weights, panel);
            // K W − Q = L D (LᵀW − Z).
            let mut difference = self.multiply_transposed(&w);
            for (difference, z) in difference.iter_mut().zip(z) {
                for (difference, z) in difference.0.iter_mut().zip(z.0) {
                    *difference -= z;
                }
            }
            let mut sides = [self.multiply_scaled(difference), self.multiply_scaled(z.clone())];
            self.instructions.run(
                #[inline(always)]
                || {
                    for (a, y, weight) in removed.samples() {
                        let y = &y[panel * TARGET_ROWS..];
                        subtract(&mut sides, &w, a, &y[..y.len().min(TARGET_ROWS)], weight);
                    }
                    residual += squares(&sides[0]);
                    right += squares(&sides[1]);
                },
            );
        }
        let (residual, right) = (residual.sqrt(), right.sqrt());
        Ok(if right == 0.0 { residual } else { residual / right })
    }
}

/// K W − Q loses w·a·(aᵀW − y)ᵀ, and Q loses w·a·yᵀ.
#[inline(always)]
fn subtract(
    [residual, right]: &mut [Vec<Column<TARGET_ROWS>>; 2],
    weights: &[Column<TARGET_ROWS>],
    a: &[f64],
    y: &[f64],
    weight: f64,
) {
    let mut error = Column::ZERO;
    score(weights, a, &mut error);
    let mut target = Column::ZERO;
    for ((target, error), y) in target.0.iter_mut().zip(&mut error.0).zip(y) {
        *target = -weight * y;
        *error = -weight * (*error - y);
    }
    add_outer_product(residual, a, &error);
    add_outer_product(right, a, &target);
}

#[inline(always)]
fn squares(columns: &[Column<TARGET_ROWS>]) -> f64 {
    columns.iter().flat_map(|column| column.0).fold(0.0, |sum, x| x.mul_add(x, sum))
}
