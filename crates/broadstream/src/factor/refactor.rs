//! Builds the factor from a matrix: K = P + λI = L D Lᵀ, panel by panel.
//!
//! For the tile of panel r and column block q, with M = L D of panel r as far as it is known,
//!
//! ```text
//! M_rq L_qqᵀ = K_rq − Σ_{t<q} M_rt L_qtᵀ
//! ```
//!
//! so that nearly all work is products of stored panels, which are already laid out as a matrix
//! product wants them. A general library's factorisation was not taken: it would cost two
//! conversions of layout, and its bits depend on the registers that the machine at hand has.

use std::cmp::Ordering;

use super::{
    Factor, Gram, check_length,
    kernel::Kernel,
    panels::{Column, Panels, ROWS},
    portable::Portable,
};
use crate::{error::Error, simd::Path};

/// Columns of a tile that are computed together, chosen as in [`Gram::add`].
const TILE: usize = 3;

/// Columns of two panels that are multiplied at a stretch: 24 KB, which stay in the first cache while
/// all parts of a tile use them.
const DEPTH: usize = 128;

/// Panels that are worked on at a time.
const PANELS: usize = 4;

impl Factor {
    /// Replaces the factor by that of P + ridge · I and keeps the weights as they are. A ridge that
    /// would be lost in the rounding of P is raised to where it is not.
    pub fn refactor(&mut self, gram: &Gram, ridge: f64) -> Result<(), Error> {
        check_length("the rows of the matrix", self.order(), gram.order())?;
        let weights = self.weights();
        let ridge = ridge.max(gram.largest_diagonal() * f64::EPSILON * self.order() as f64);
        match self.path {
            Path::Portable => self.factor_panels(Portable, &gram.p, ridge),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(avx2) => avx2.run(
                #[inline(always)]
                || self.factor_panels(avx2, &gram.p, ridge),
            ),
        }
        self.set_weights(&weights);
        Ok(())
    }

    /// Several panels at a time, so that each panel before them is fetched once for all of them.
    #[inline(always)]
    fn factor_panels<K: Kernel>(&mut self, kernel: K, k: &Panels, ridge: f64) {
        let Factor { l, d_inverse, .. } = self;
        let (order, panels) = (l.order(), l.len());
        // M of the panels at hand.
        let mut m = vec![Column::ZERO; PANELS * order];
        for first in (0..panels).step_by(PANELS) {
            let last = panels.min(first + PANELS);
            for q in 0..last {
                for (r, m) in (first..last).zip(m.chunks_exact_mut(order)) {
                    match r.cmp(&q) {
                        Ordering::Less => {}
                        Ordering::Equal => finish_panel(kernel, l, d_inverse, k, ridge, r, m),
                        Ordering::Greater => left_tile(kernel, l, k, r, q, m),
                    }
                }
            }
        }
    }
}

/// The tile of panel r and column block q < r.
#[inline(always)]
fn left_tile<K: Kernel>(
    kernel: K,
    l: &Panels,
    k: &Panels,
    r: usize,
    q: usize,
    m: &mut [Column<ROWS>],
) {
    let mut tile = k.split(r).0.as_chunks::<ROWS>().0[q];
    let (known, new) = m.split_at_mut(q * ROWS);
    let (l_left, l_block) = l.split(q);
    subtract_product(kernel, known, l_left, &mut tile);
    divide_by_unit_block(&mut tile, l_block);
    new[..ROWS].copy_from_slice(&tile);
}

/// L of a panel whose M is known left of the diagonal block, and the block.
#[inline(always)]
fn finish_panel<K: Kernel>(
    kernel: K,
    l: &mut Panels,
    d_inverse: &mut [f64],
    k: &Panels,
    ridge: f64,
    panel: usize,
    m: &[Column<ROWS>],
) {
    let start = panel * ROWS;
    let (l_left, l_block) = l.split_mut(panel);
    for ((l, m), d_inverse) in l_left.iter_mut().zip(m).zip(d_inverse.iter()) {
        for i in 0..ROWS {
            l.0[i] = m.0[i] * d_inverse;
        }
    }
    let k_block = k.split(panel).1;
    // Rows and columns past the order are those of the unit matrix.
    let mut tile: [Column<ROWS>; ROWS] = std::array::from_fn(|j| {
        let mut column = k_block.get(j).copied().unwrap_or(Column::ZERO);
        column.0[j] += ridge;
        column
    });
    subtract_product(kernel, &m[..start], l_left, &mut tile);
    factor_block(&tile, ridge, l_block, &mut d_inverse[start..]);
}

/// tile ← tile − M Lᵀ over the columns known so far.
#[inline(always)]
fn subtract_product<K: Kernel>(
    kernel: K,
    m: &[Column<ROWS>],
    l: &[Column<ROWS>],
    tile: &mut [Column<ROWS>; ROWS],
) {
    for (m, l) in m.chunks(DEPTH).zip(l.chunks(DEPTH)) {
        for (part, columns) in tile.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
            kernel.multiply::<true, TILE>(m, l, part * TILE, columns);
        }
    }
}

/// Solves M L_qqᵀ = tile in place: column j loses its share of the columns before it.
#[inline(always)]
fn divide_by_unit_block(tile: &mut [Column<ROWS>; ROWS], block: &[Column<ROWS>]) {
    for j in 1..ROWS {
        for t in 0..j {
            let l_jt = block[t].0[j];
            for i in 0..ROWS {
                tile[j].0[i] = (-l_jt).mul_add(tile[t].0[i], tile[j].0[i]);
            }
        }
    }
}

/// L and D of a diagonal block.
#[inline(always)]
fn factor_block(
    tile: &[Column<ROWS>; ROWS],
    ridge: f64,
    block: &mut [Column<ROWS>],
    d_inverse: &mut [f64],
) {
    let size = block.len();
    let mut m = *tile;
    for j in 0..size {
        for t in 0..j {
            let l_jt = block[t].0[j];
            for i in j..size {
                m[j].0[i] = (-l_jt).mul_add(m[t].0[i], m[j].0[i]);
            }
        }
        // P is a sum of squares, so no pivot of P + λI can be below λ: less is rounding error.
        let inverse = 1.0 / m[j].0[j].max(ridge);
        d_inverse[j] = inverse;
        block[j] = Column::ZERO;
        block[j].0[j] = 1.0;
        for i in j + 1..size {
            block[j].0[i] = m[j].0[i] * inverse;
        }
    }
}
