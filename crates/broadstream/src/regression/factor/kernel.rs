//! The inner loops of the factor, on plain arrays.
//!
//! Each handles a group of `G` samples. For each entry of the factor the samples of a group come
//! one after the other, with the very operations that each would meet alone: grouping changes no
//! bit of the result and only reduces memory traffic.
//!
//! The hottest loops are behind the trait [`Kernel`], with an implementation for every processor,
//! one for AVX2 and one for AVX-512; the others are the free functions here.

#![allow(clippy::inline_always)]

use super::panels::{PanelColumn, ROWS};
use crate::numeric::Column;

/// The samples that go through a panel together. With AVX-512, eight samples of three registers each,
/// the current column and a coefficient fill the register file; fewer samples would wait for the
/// second-level cache. AVX2 takes four of them at a time.
pub(super) const GROUP: usize = 8;

/// The sizes of the groups that samples go through a panel in: as many of [`GROUP`] as there are, and
/// then powers of two.
pub(super) fn group_sizes(mut samples: usize) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let size = GROUP.min(1 << samples.checked_ilog2()?);
        samples -= size;
        Some(size)
    })
}

/// Runs `work` with the kernels of an instruction set, compiled for it.
macro_rules! with_kernel {
    ($instructions:expr, |$kernel:ident| $work:expr) => {
        match $instructions {
            $crate::numeric::InstructionSet::Portable => {
                let $kernel = $crate::regression::factor::portable::Portable;
                $work
            }
            #[cfg(target_arch = "x86_64")]
            $crate::numeric::InstructionSet::Avx2($kernel) => $kernel.run(
                #[inline(always)]
                || $work,
            ),
            #[cfg(target_arch = "x86_64")]
            $crate::numeric::InstructionSet::Avx512($kernel) => $kernel.run(
                #[inline(always)]
                || $work,
            ),
        }
    };
}
pub(super) use with_kernel;

/// The loops that take nearly all of the time.
pub(super) trait Kernel: Copy {
    /// Columns left of the diagonal block, whose p and β are known:
    /// w ← w − p·l, then l ← l + β·w.
    fn sweep<const G: usize>(
        self,
        l: &mut [PanelColumn],
        p: &[[f64; G]],
        beta: &[[f64; G]],
        w: &mut [PanelColumn; G],
    );

    /// The diagonal block, where p and β are computed: with the sample's running γ, p = w_j, q =
    /// p/d_j, γ' = γ + p·q, β = q/γ', d_j ← μ·d_j·γ'/γ.
    ///
    /// 1/d is stored rather than d, so that no division delays the next column's p and γ, and the
    /// one division 1/γ' serves both β and 1/d. Entries on and above the diagonal need no mask: at
    /// column j the carried w_j becomes exactly 0, and entries that are 0 or 1 then receive β·0.
    #[expect(clippy::too_many_arguments, reason = "one for each letter of the equations")]
    fn sweep_diagonal<const G: usize>(
        self,
        block: &mut [PanelColumn],
        d_inverse: &mut [f64],
        mu_inverse: f64,
        gamma: &mut [f64; G],
        p: &mut [[f64; G]],
        beta: &mut [[f64; G]],
        w: &mut [PanelColumn; G],
    );

    /// [`sweep`](Self::sweep) of two panels for one sample, without learning: w ← w − p·l. One
    /// panel alone would have too few rows to hide the latency of a multiply-add.
    fn forward(self, l: [&[PanelColumn]; 2], p: &[f64], w: &mut [PanelColumn; 2]);

    /// [`sweep`](Self::sweep) without learning, for several samples: w ← w − p·l.
    fn forward_group<const G: usize>(
        self,
        l: &[PanelColumn],
        p: &[[f64; G]],
        w: &mut [PanelColumn; G],
    );

    /// A panel's share of a back substitution: subtracts Σ_i l_ij·x_i from entry j of `out`. The
    /// products are summed in eight lanes, whose upper four are then added to the lower four, and
    /// then (lane 0 + lane 1) + (lane 2 + lane 3).
    /// The number of columns must be a multiple of four.
    fn backward(self, l: &[PanelColumn], x: &PanelColumn, out: &mut [f64]);

    /// `C` columns of a tile of a product of two panels: tile ← tile ± Σ_t a_t · b_tᵀ, where
    /// `first` selects the rows of b.
    fn multiply<const SUBTRACT: bool, const C: usize>(
        self,
        a: &[PanelColumn],
        b: &[PanelColumn],
        first: usize,
        tile: &mut [PanelColumn; C],
    );
}

/// The rows of targets: as [`Kernel::sweep`], with the scores Σ p·z summed apart from the residual
/// w = y − Σ p·z. They could be computed as y − w, but then the label's rounding would reach the
/// prediction, and between equal scores it would reveal the label.
#[inline(always)]
pub(super) fn sweep_targets<const R: usize, const G: usize>(
    z: &mut [Column<R>],
    p: &[[f64; G]],
    beta: &[[f64; G]],
    w: &mut [Column<R>; G],
    scores: &mut [Column<R>; G],
) {
    let mut carried = *w;
    let mut sums = *scores;
    for ((column, p), beta) in z.iter_mut().zip(p).zip(beta) {
        let mut entries = column.0;
        for s in 0..G {
            for i in 0..R {
                sums[s].0[i] = p[s].mul_add(entries[i], sums[s].0[i]);
            }
            for i in 0..R {
                carried[s].0[i] = (-p[s]).mul_add(entries[i], carried[s].0[i]);
            }
            for i in 0..R {
                entries[i] = beta[s].mul_add(carried[s].0[i], entries[i]);
            }
        }
        column.0 = entries;
    }
    *w = carried;
    *scores = sums;
}

/// [`Kernel::sweep_diagonal`] without learning: fills the block's p.
#[inline(always)]
pub(super) fn forward_diagonal(block: &[PanelColumn], p: &mut [f64], w: &mut PanelColumn) {
    for (j, (column, p)) in block.iter().zip(p).enumerate() {
        *p = w.0[j];
        for i in 0..ROWS {
            w.0[i] = (-*p).mul_add(column.0[i], w.0[i]);
        }
    }
}

/// [`sweep_targets`] without learning: scores ← scores + p·z.
#[inline(always)]
pub(super) fn score<const R: usize>(z: &[Column<R>], p: &[f64], scores: &mut Column<R>) {
    let mut sums = *scores;
    for (column, p) in z.iter().zip(p) {
        for i in 0..R {
            sums.0[i] = p.mul_add(column.0[i], sums.0[i]);
        }
    }
    *scores = sums;
}

/// Subtracts (`SIGN` = -1) or adds a panel's share of Lᵀx: entry j of `out` receives Σ_i l_ij·x_i
/// over the panel's rows i, for `R` right-hand sides at once.
#[inline(always)]
pub(super) fn transposed<const R: usize>(
    l: &[PanelColumn],
    sign: f64,
    x: &[Column<R>; ROWS],
    out: &mut [Column<R>],
) {
    for (column, out) in l.iter().zip(out) {
        let mut sum = *out;
        for i in 0..ROWS {
            let l_ij = sign * column.0[i];
            for k in 0..R {
                sum.0[k] = l_ij.mul_add(x[i].0[k], sum.0[k]);
            }
        }
        *out = sum;
    }
}

/// A panel's share of Lx, for `R` vectors at once: entry i of `out` receives sign·Σ_j l_ij·x_j.
#[inline(always)]
pub(super) fn lower<const R: usize>(
    l: &[PanelColumn],
    sign: f64,
    x: &[Column<R>],
    out: &mut [Column<R>; ROWS],
) {
    let mut sums = *out;
    for (column, x) in l.iter().zip(x) {
        for i in 0..ROWS {
            let l_ij = sign * column.0[i];
            for k in 0..R {
                sums[i].0[k] = l_ij.mul_add(x.0[k], sums[i].0[k]);
            }
        }
    }
    *out = sums;
}

/// rows ← rows + factor · rightᵀ, a column for each feature.
#[inline(always)]
pub(super) fn add_outer_product<const R: usize>(
    rows: &mut [Column<R>],
    factor: &[f64],
    right: &Column<R>,
) {
    for (row, factor) in rows.iter_mut().zip(factor) {
        for k in 0..R {
            row.0[k] = factor.mul_add(right.0[k], row.0[k]);
        }
    }
}

/// Σ a·b in four lanes, which a register can hold; the order of the sum is fixed.
#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    for (a, b) in a.chunks(4).zip(b.chunks(4)) {
        for (lane, (a, b)) in lanes.iter_mut().zip(a.iter().zip(b)) {
            *lane = a.mul_add(*b, *lane);
        }
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}
