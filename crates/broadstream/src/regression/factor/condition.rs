//! How much a factor's matrix amplifies rounding errors.
//!
//! Rounding disturbs each feature by a share of its own size, so what matters is the condition
//! number of K after its rows and columns are scaled to a diagonal of 1, S = E K E. Factorising E K E
//! instead of K would change nothing: every operation of a Cholesky factorisation commutes with such
//! a scaling, and so does its rounding if E consists of powers of two.

use super::{
    Factor,
    kernel::dot,
    panels::{PanelColumn, ROWS},
};
use crate::numeric::Column;

/// Steps of the power iterations. The estimates are off by little more than a factor of 2 after
/// them, which matters little where powers of ten decide.
const STEPS: usize = 4;

impl Factor {
    /// The estimated condition number of S, from a few products with K and K⁻¹, beginning with the
    /// given vector; infinite if the factor is broken.
    pub(super) fn condition(&self, start: &[f64]) -> f64 {
        let sizes: Vec<f64> = self.diagonal().iter().map(|entry| entry.sqrt()).collect();
        let solved = |x: &[f64]| {
            let scaled: Vec<f64> = x.iter().zip(&sizes).map(|(x, size)| x * size).collect();
            let mut solved = self.solve(&scaled).unwrap_or_default();
            solved.iter_mut().zip(&sizes).for_each(|(x, size)| *x *= size);
            solved
        };
        let multiplied = |x: &[f64]| {
            let scaled: Vec<_> = x.iter().zip(&sizes).map(|(x, size)| Column([x / size])).collect();
            let product = self.multiply_scaled(self.multiply_transposed(&scaled));
            product.iter().zip(&sizes).map(|(column, size)| column.0[0] / size).collect()
        };
        let number = largest_eigenvalue(start, solved) * largest_eigenvalue(start, multiplied);
        let sound = number.is_finite() && self.d_inverse.iter().all(|d_inverse| *d_inverse > 0.0);
        if sound { number.max(1.0) } else { f64::INFINITY }
    }

    /// The diagonal of K.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let mut diagonal = vec![0.0; self.order()];
        self.instructions.run(
            #[inline(always)]
            || {
                for (panel, rows) in diagonal.chunks_mut(ROWS).enumerate() {
                    let mut sums = PanelColumn::ZERO;
                    for (column, d_inverse) in self.l.panel(panel).iter().zip(&self.d_inverse) {
                        let d = 1.0 / d_inverse;
                        for i in 0..ROWS {
                            sums.0[i] = (column.0[i] * d).mul_add(column.0[i], sums.0[i]);
                        }
                    }
                    rows.copy_from_slice(&sums.0[..rows.len()]);
                }
            },
        );
        diagonal
    }
}

/// The largest eigenvalue of a symmetric positive matrix, given its products.
fn largest_eigenvalue(start: &[f64], multiply: impl Fn(&[f64]) -> Vec<f64>) -> f64 {
    let mut x = start.to_vec();
    let mut size = 0.0;
    for _ in 0..STEPS {
        let norm = dot(&x, &x).sqrt();
        x.iter_mut().for_each(|x| *x /= norm);
        x = multiply(&x);
        size = dot(&x, &x).sqrt();
    }
    size
}
