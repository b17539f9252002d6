//! The inner loops of the factor as plain loops over arrays. They run where there is nothing
//! faster, and are the reference for the faster ones.

#![allow(clippy::inline_always)]

use super::{
    kernel::Kernel,
    panels::{PanelColumn, ROWS},
};

/// The kernels that run on every processor.
#[derive(Clone, Copy)]
pub(super) struct Portable;

impl Kernel for Portable {
    #[inline(always)]
    fn sweep<const G: usize>(
        self,
        l: &mut [PanelColumn],
        p: &[[f64; G]],
        beta: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        for ((column, p), beta) in l.iter_mut().zip(p).zip(beta) {
            for s in 0..G {
                for i in 0..ROWS {
                    w[s].0[i] = (-p[s]).mul_add(column.0[i], w[s].0[i]);
                }
                for i in 0..ROWS {
                    column.0[i] = beta[s].mul_add(w[s].0[i], column.0[i]);
                }
            }
        }
    }

    #[inline(always)]
    fn sweep_diagonal<const G: usize>(
        self,
        block: &mut [PanelColumn],
        d_inverse: &mut [f64],
        mu_inverse: f64,
        gamma: &mut [f64; G],
        p: &mut [[f64; G]],
        beta: &mut [[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        for (j, column) in block.iter_mut().enumerate() {
            for s in 0..G {
                let p_j = w[s].0[j];
                let q = p_j * d_inverse[j];
                let gamma_next = p_j.mul_add(q, gamma[s]);
                let gamma_inverse = 1.0 / gamma_next;
                let beta_j = q * gamma_inverse;
                d_inverse[j] *= gamma[s] * gamma_inverse * mu_inverse;
                gamma[s] = gamma_next;
                p[j][s] = p_j;
                beta[j][s] = beta_j;
                for i in 0..ROWS {
                    w[s].0[i] = (-p_j).mul_add(column.0[i], w[s].0[i]);
                }
                for i in 0..ROWS {
                    column.0[i] = beta_j.mul_add(w[s].0[i], column.0[i]);
                }
            }
        }
    }

    #[inline(always)]
    fn forward(self, l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]) {
        for (l, w) in l.iter().zip(w) {
            for (column, p) in l.iter().zip(p) {
                for i in 0..ROWS {
                    w.0[i] = (-p).mul_add(column.0[i], w.0[i]);
                }
            }
        }
    }

    #[inline(always)]
    fn forward_group<const G: usize>(
        self,
        l: &[PanelColumn],
        p: &[[f64; G]],
        w: &mut [PanelColumn; G],
    ) {
        for (column, p) in l.iter().zip(p) {
            for s in 0..G {
                for i in 0..ROWS {
                    w[s].0[i] = (-p[s]).mul_add(column.0[i], w[s].0[i]);
                }
            }
        }
    }

    #[inline(always)]
    fn backward(self, l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]) {
        for (column, out) in l.iter().zip(out) {
            let lanes: [f64; 8] = std::array::from_fn(|k| {
                let sum = column.0[8 + k].mul_add(x.0[8 + k], column.0[k] * x.0[k]);
                column.0[16 + k].mul_add(x.0[16 + k], sum)
            });
            let lanes: [f64; 4] = std::array::from_fn(|k| lanes[k] + lanes[4 + k]);
            *out -= (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
        }
    }

    #[inline(always)]
    fn multiply<const SUBTRACT: bool, const C: usize>(
        self,
        a: &[PanelColumn],
        b: &[PanelColumn],
        first: usize,
        tile: &mut [PanelColumn; C],
    ) {
        for (a, b) in a.iter().zip(b) {
            for c in 0..C {
                let factor = if SUBTRACT { -b.0[first + c] } else { b.0[first + c] };
                for i in 0..ROWS {
                    tile[c].0[i] = factor.mul_add(a.0[i], tile[c].0[i]);
                }
            }
        }
    }
}
