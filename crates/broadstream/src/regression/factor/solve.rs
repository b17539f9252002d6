//! Reading the factor: predictions, leverage, weights, solutions.

use super::{
    Factor, bounded, check_length,
    kernel::{Kernel, forward_diagonal, lower, score, transposed, with_kernel},
    panels::{PanelColumn, Panels, ROWS, TARGET_ROWS},
    product::padded,
};
use crate::{
    error::Error,
    numeric::{Column, InstructionSet},
};

impl Factor {
    /// The predictions aᵀW = (L⁻¹a)ᵀZ for one row of features, as one row of targets for each
    /// [readout](Self::readouts): the same bits that [`sweep`](Self::sweep) would report before
    /// learning it.
    pub fn scores(&self, features: &[f64]) -> Result<Vec<f64>, Error> {
        let p = self.forward_substitute(features)?;
        let mut scores = vec![0.0; self.readouts.len() * self.targets];
        for (panel, z) in self.z.iter().enumerate() {
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(self.targets - first);
            let mut sums = Column::ZERO;
            let mut start = 0;
            for (row, &end) in scores.chunks_exact_mut(self.targets).zip(&self.readouts) {
                self.instructions.run(
                    #[inline(always)]
                    || score(&z[start..end], &p[start..end], &mut sums),
                );
                start = end;
                row[first..first + size].copy_from_slice(&sums.0[..size]);
            }
        }
        Ok(scores)
    }

    /// The leverage aᵀK⁻¹a of one row of features: how unlike the past it is.
    pub fn leverage(&self, features: &[f64]) -> Result<f64, Error> {
        let p = self.forward_substitute(features)?;
        Ok(bounded(p.iter().zip(&self.d_inverse).fold(0.0, |sum, (p, d_inverse)| {
            let q = p * d_inverse;
            p.mul_add(q, sum)
        })))
    }

    /// Solves K x = b.
    pub fn solve(&self, b: &[f64]) -> Result<Vec<f64>, Error> {
        let mut x = self.forward_substitute(b)?;
        x.iter_mut().zip(&self.d_inverse).for_each(|(x, d_inverse)| *x *= d_inverse);
        self.back_substitute(&mut x);
        Ok(x)
    }

    /// The gain g = w·K⁻¹a of the sample that was swept last, if it was swept alone: its residual r
    /// has changed the weights by g·rᵀ. If `features` is smaller than the order, the gain is that
    /// of the regression on the first features.
    pub(super) fn gain(&self, features: usize) -> Vec<f64> {
        let mut g = self.scratch.beta()[..features].to_vec();
        self.back_substitute(&mut g);
        g
    }

    /// Solves Lᵀx = b in place, for the leading part of L if x is shorter than its order.
    pub(super) fn back_substitute(&self, x: &mut [f64]) {
        with_kernel!(self.instructions, |kernel| self.back_substitute_panels(kernel, x));
    }

    #[inline(always)]
    fn back_substitute_panels<K: Kernel>(&self, kernel: K, x: &mut [f64]) {
        for panel in (0..x.len().div_ceil(ROWS)).rev() {
            let (left, block) = self.l.split(panel);
            let (above, rest) = x.split_at_mut(panel * ROWS);
            let size = block.len().min(rest.len());
            let rows = &mut rest[..size];
            for j in (0..rows.len()).rev() {
                for i in j + 1..rows.len() {
                    rows[j] = (-block[j].0[i]).mul_add(rows[i], rows[j]);
                }
            }
            let mut padded = PanelColumn::ZERO;
            padded.0[..rows.len()].copy_from_slice(rows);
            kernel.backward(left, &padded, above);
        }
    }

    /// The weights W = L⁻ᵀZ: one row per feature, one entry per target.
    pub fn weights(&self) -> Vec<f64> {
        let mut weights = vec![0.0; self.order() * self.targets];
        for panel in 0..self.z.len() {
            let x = self.solve_weights(panel, self.order());
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(self.targets - first);
            for (row, x) in weights.chunks_exact_mut(self.targets).zip(&x) {
                row[first..first + size].copy_from_slice(&x.0[..size]);
            }
        }
        weights
    }

    /// The weights of a panel of targets in the regression on the first features.
    pub(super) fn solve_weights(&self, panel: usize, features: usize) -> Vec<Column<TARGET_ROWS>> {
        let mut x = self.z[panel][..features].to_vec();
        back_substitute_all(&self.l, self.instructions, &mut x);
        x
    }

    /// Sets the weights, by Z = LᵀW.
    pub(super) fn set_weights(&mut self, weights: &[f64]) {
        for panel in 0..self.z.len() {
            let w = self.target_columns(weights, panel);
            self.z[panel] = self.multiply_transposed(&w);
        }
    }

    /// Sets the weights to the solution of K W = Q, by Z = D⁻¹L⁻¹Q. Targets that Q does not have
    /// get weights of 0.
    pub(super) fn solve_targets(&mut self, q: &[Vec<Column<TARGET_ROWS>>]) {
        for (panel, z) in self.z.iter_mut().enumerate() {
            match q.get(panel) {
                Some(q) => z.copy_from_slice(q),
                None => z.fill(Column::ZERO),
            }
            forward_substitute_all(&self.l, self.instructions, z);
            for (z, d_inverse) in z.iter_mut().zip(&self.d_inverse) {
                z.0.iter_mut().for_each(|z| *z *= d_inverse);
            }
        }
    }

    /// L⁻¹b, with the operations of the sweep in the sweep's order.
    pub(super) fn forward_substitute(&self, b: &[f64]) -> Result<Vec<f64>, Error> {
        check_length("features", self.order(), b.len())?;
        let mut p = vec![0.0; self.order()];
        with_kernel!(self.instructions, |kernel| self.substitute_panels(kernel, b, &mut p));
        Ok(p)
    }

    /// Two panels at a time; if their number is odd, the last is paired with itself.
    #[inline(always)]
    fn substitute_panels<K: Kernel>(&self, kernel: K, b: &[f64], p: &mut [f64]) {
        for (pair, rows) in b.chunks(2 * ROWS).enumerate() {
            let (known, new) = p.split_at_mut(pair * 2 * ROWS);
            let (upper, lower) = rows.split_at(rows.len().min(ROWS));
            let mut w = [upper, lower].map(|rows| {
                let mut w = PanelColumn::ZERO;
                w.0[..rows.len()].copy_from_slice(rows);
                w
            });
            let (upper_left, upper_block) = self.l.split(2 * pair);
            let (upper_p, lower_p) = new[..rows.len()].split_at_mut(upper.len());
            if lower.is_empty() {
                kernel.forward([upper_left, upper_left], known, &mut w);
                forward_diagonal(upper_block, upper_p, &mut w[0]);
                break;
            }
            let (lower_left, lower_block) = self.l.split(2 * pair + 1);
            kernel.forward([upper_left, lower_left], known, &mut w);
            forward_diagonal(upper_block, upper_p, &mut w[0]);
            // The columns of the lower panel beside the upper one's diagonal block.
            let beside = &lower_left[known.len()..];
            subtract_columns(beside, upper_p, &mut w[1]);
            forward_diagonal(lower_block, lower_p, &mut w[1]);
        }
    }
}

/// w ← w − p·l for a few columns.
#[inline(always)]
fn subtract_columns(l: &[PanelColumn], p: &[f64], w: &mut PanelColumn) {
    for (column, p) in l.iter().zip(p) {
        for i in 0..ROWS {
            w.0[i] = (-p).mul_add(column.0[i], w.0[i]);
        }
    }
}

/// Solves Lx = b in place, for `R` right-hand sides.
fn forward_substitute_all<const R: usize>(
    l: &Panels,
    instructions: InstructionSet,
    x: &mut [Column<R>],
) {
    instructions.run(
        #[inline(always)]
        || {
            for panel in 0..l.len() {
                let (left, block) = l.split(panel);
                let (above, rest) = x.split_at_mut(panel * ROWS);
                let rows = &mut rest[..block.len()];
                let mut sums = padded(rows);
                lower(left, -1.0, above, &mut sums);
                rows.copy_from_slice(&sums[..block.len()]);
                for j in 0..rows.len() {
                    for i in j + 1..rows.len() {
                        for k in 0..R {
                            rows[i].0[k] = (-block[j].0[i]).mul_add(rows[j].0[k], rows[i].0[k]);
                        }
                    }
                }
            }
        },
    );
}

/// Solves Lᵀx = b in place, for `R` right-hand sides, from the last panel to the first. If x is
/// shorter than the order of L, only the leading part of L is used.
fn back_substitute_all<const R: usize>(
    l: &Panels,
    instructions: InstructionSet,
    x: &mut [Column<R>],
) {
    instructions.run(
        #[inline(always)]
        || {
            for panel in (0..x.len().div_ceil(ROWS)).rev() {
                let (left, block) = l.split(panel);
                let (above, rest) = x.split_at_mut(panel * ROWS);
                let size = block.len().min(rest.len());
                let rows = &mut rest[..size];
                for j in (0..rows.len()).rev() {
                    for i in j + 1..rows.len() {
                        for k in 0..R {
                            rows[j].0[k] = (-block[j].0[i]).mul_add(rows[i].0[k], rows[j].0[k]);
                        }
                    }
                }
                transposed(left, -1.0, &padded(rows), above);
            }
        },
    );
}
