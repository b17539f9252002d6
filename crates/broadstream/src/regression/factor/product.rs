//! Products with the factor, which recover the matrix that it factorises.

#![allow(clippy::inline_always)]

use super::{
    Factor,
    kernel::{lower, transposed},
    panels::{PanelColumn, ROWS, TARGET_ROWS},
};
use crate::numeric::{Column, DoubleDoubles, two_product, two_sum};

impl Factor {
    /// A panel of targets of a matrix with a row per feature and an entry per target.
    pub(super) fn target_columns(&self, rows: &[f64], panel: usize) -> Vec<Column<TARGET_ROWS>> {
        let first = panel * TARGET_ROWS;
        let size = TARGET_ROWS.min(self.targets - first);
        let mut columns = vec![Column::ZERO; self.order()];
        for (column, row) in columns.iter_mut().zip(rows.chunks_exact(self.targets)) {
            column.0[..size].copy_from_slice(&row[first..first + size]);
        }
        columns
    }

    /// Lᵀx for `R` vectors.
    pub(super) fn multiply_transposed<const R: usize>(&self, x: &[Column<R>]) -> Vec<Column<R>> {
        let mut out = vec![Column::ZERO; self.order()];
        self.instructions.run(
            #[inline(always)]
            || {
                for panel in 0..self.l.len() {
                    let (left, block) = self.l.split(panel);
                    let rows = padded(&x[panel * ROWS..][..block.len()]);
                    let (above, rest) = out.split_at_mut(panel * ROWS);
                    transposed(left, 1.0, &rows, above);
                    // The block stores its unit diagonal and the zeros above it, so it is
                    // multiplied as a whole.
                    transposed(block, 1.0, &rows, rest);
                }
            },
        );
        out
    }

    /// L D x for `R` vectors.
    pub(super) fn multiply_scaled<const R: usize>(&self, mut x: Vec<Column<R>>) -> Vec<Column<R>> {
        for (x, d_inverse) in x.iter_mut().zip(&self.d_inverse) {
            x.0.iter_mut().for_each(|x| *x /= d_inverse);
        }
        let mut out = vec![Column::ZERO; self.order()];
        self.instructions.run(
            #[inline(always)]
            || {
                for (panel, rows) in out.chunks_mut(ROWS).enumerate() {
                    let mut sums = [Column::ZERO; ROWS];
                    lower(self.l.panel(panel), 1.0, &x, &mut sums);
                    rows.copy_from_slice(&sums[..rows.len()]);
                }
            },
        );
        out
    }

    /// D x.
    pub(super) fn scaled(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.d_inverse).map(|(x, d_inverse)| x / d_inverse).collect()
    }

    /// L x for `R` vectors, in 32 digits.
    pub(super) fn multiply_precisely<const R: usize>(
        &self,
        x: &[Vec<f64>; R],
    ) -> [DoubleDoubles; R] {
        let mut out = std::array::from_fn(|_| DoubleDoubles::zero(self.order()));
        self.instructions.run(
            #[inline(always)]
            || {
                for (out, x) in out.iter_mut().zip(x) {
                    for panel in 0..self.l.len() {
                        let mut sums = [PanelColumn::ZERO; 2];
                        add_precisely(self.l.panel(panel), x, &mut sums);
                        out.set(panel * ROWS, &sums[0].0, &sums[1].0);
                    }
                }
            },
        );
        out
    }
}

/// Adds a panel's share of L x to sums, the second of which hold what the first round off.
#[inline(always)]
fn add_precisely(l: &[PanelColumn], x: &[f64], [high, low]: &mut [PanelColumn; 2]) {
    for (column, x) in l.iter().zip(x) {
        for i in 0..ROWS {
            let (product, rounded) = two_product(column.0[i], *x);
            let (sum, error) = two_sum(high.0[i], product);
            high.0[i] = sum;
            low.0[i] += rounded + error;
        }
    }
}

/// A panel's rows of x; the last panel's missing rows are 0.
#[inline(always)]
pub(super) fn padded<const R: usize>(rows: &[Column<R>]) -> [Column<R>; ROWS] {
    std::array::from_fn(|i| rows.get(i).copied().unwrap_or(Column::ZERO))
}
