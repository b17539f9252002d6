//! Builds the factor from a matrix: K = P + λI = L D Lᵀ, panel by panel.
//!
//! For the tile of panel r and column block q, with M = L D of panel r as far as it is known,
//!
//! ```text
//! M_rq L_qqᵀ = K_rq − Σ_{t<q} M_rt L_qtᵀ
//! ```
//!
//! so that nearly all work is products of stored panels, which are already laid out as a matrix
//! product needs them. A general library's factorisation was rejected: it would cost two
//! conversions of layout, and its bits depend on the registers of the machine.

use std::sync::OnceLock;

use super::{
    Factor, Gram, Sums, check_length,
    kernel::{Kernel, with_kernel},
    panels::{PanelColumn, Panels, ROWS, SplitPanel},
};
use crate::{
    error::Error,
    numeric::{Counter, ReleaseOnPanic},
};

/// The columns of a tile that are computed together, chosen as in [`Gram::add`].
const TILE: usize = 3;

/// The columns of two panels that are multiplied in one go: 24 KB, which stay in the first-level
/// cache while all parts of a tile use them.
const DEPTH: usize = 128;

/// The panels that are computed at a time.
const PANELS: usize = 4;

impl Factor {
    /// Replaces the factor by that of P + ridge · I and keeps the weights unchanged.
    ///
    /// P has 16 digits, so a ridge below 1e-16 of its diagonal is lost in its rounding. It is raised
    /// to that size there, without which the factor would be meaningless, but the factor is then not
    /// that of P + ridge · I. [`pivot_share`](Self::pivot_share) tells how near that is, and a
    /// [probe](super::Probe) whether it was too near; [`raise_ridge`](Self::raise_ridge) has no such
    /// limit.
    pub fn refactor(&mut self, gram: &Gram, ridge: f64) -> Result<(), Error> {
        check_length("the rows of the matrix", self.order(), gram.order())?;
        let weights = self.weights();
        self.factorise(gram, ridge);
        self.set_weights(&weights);
        Ok(())
    }

    /// Makes the factor and its weights those of a regression that has summed this, with the limits
    /// of [`refactor`](Self::refactor). Targets that only the factor has count as 0 in all samples.
    ///
    /// ```
    /// use broadstream::factor::{Factor, Sums};
    ///
    /// let mut sums = Sums::new(2);
    /// sums.add_targets(1);
    /// sums.add(&[1.0, 2.0], &[1.0], &[1.0])?;
    /// let mut factor = Factor::new(2, 1.0);
    /// factor.rebuild(&sums, 0.1)?;
    /// let weights = factor.weights();
    /// assert!((weights[0] - 1.0 / 5.1).abs() < 1e-15 && (weights[1] - 2.0 / 5.1).abs() < 1e-15);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn rebuild(&mut self, sums: &Sums, ridge: f64) -> Result<(), Error> {
        check_length("the rows of the matrix", self.order(), sums.order())?;
        self.add_targets(sums.targets());
        self.factorise(sums.gram(), ridge);
        self.solve_targets(sums.q());
        Ok(())
    }

    /// The smallest entry of D relative to the entry of P's diagonal at its place: how much of a
    /// feature the features before it leave unexplained.
    pub fn pivot_share(&self, gram: &Gram) -> f64 {
        let pivots = gram.diagonal().zip(&self.d_inverse);
        pivots.map(|(entry, d_inverse)| 1.0 / (entry * d_inverse)).fold(f64::INFINITY, f64::min)
    }

    /// L and D of P + ridge · I.
    fn factorise(&mut self, gram: &Gram, ridge: f64) {
        with_kernel!(self.instructions, |kernel| self.factor_panels(kernel, &gram.p, ridge));
    }

    /// Several panels at a time, so that each earlier panel is fetched once for all of them.
    /// Threads may share these batches: a batch needs the results of the one before it only towards
    /// its end.
    fn factor_panels<'a, K: Kernel + Sync>(&'a mut self, kernel: K, k: &Panels, ridge: f64) {
        let Factor { l, d_inverse, instructions, threads, .. } = self;
        let (instructions, order, panels) = (*instructions, l.order(), l.len());
        let finished = Finished::new(panels);
        let mut rows = l.iter_mut().zip(d_inverse.chunks_mut(ROWS));
        let batches = (0..panels)
            .step_by(PANELS)
            .map(|first| PanelBatch { first, panels: rows.by_ref().take(PANELS).collect() });
        // M of the current panels.
        let room = || vec![PanelColumn::ZERO; PANELS * order];
        let start = || (room(), ReleaseOnPanic(|| finished.count.set(usize::MAX)));
        let batches: Vec<PanelBatch<'a>> = batches.collect();
        let multiply_adds = (order * order / 6 * order) as u64;
        threads.share(multiply_adds, batches.into_iter(), start, |(m, _), batch| {
            instructions.run(
                #[inline(always)]
                || batch.factor(kernel, &finished, k, ridge, m),
            );
        });
    }
}

/// The finished panels of L, and their 1/d.
struct Finished<'a> {
    panels: Vec<OnceLock<FinishedPanel<'a>>>,
    /// How many are finished; they finish in order.
    count: Counter,
}

struct FinishedPanel<'a> {
    left: &'a [PanelColumn],
    block: &'a [PanelColumn],
    d_inverse: &'a [f64],
}

impl<'a> Finished<'a> {
    fn new(panels: usize) -> Self {
        let panels = (0..panels).map(|_| OnceLock::new()).collect();
        Finished { panels, count: Counter::default() }
    }

    /// Panel q. Waits if another thread is still computing it.
    #[inline(always)]
    fn panel(&self, q: usize) -> &FinishedPanel<'a> {
        self.count.wait(q + 1);
        self.panels[q].get().expect("no thread before this one has panicked")
    }

    fn add(&self, q: usize, panel: FinishedPanel<'a>) {
        // A panel is added once, by the batch that owns it.
        let _ = self.panels[q].set(panel);
        self.count.set(q + 1);
    }
}

/// A few panels of L that are still to be computed.
struct PanelBatch<'a> {
    first: usize,
    panels: Vec<(SplitPanel<'a>, &'a mut [f64])>,
}

impl<'a> PanelBatch<'a> {
    #[inline(always)]
    fn factor<K: Kernel>(
        self,
        kernel: K,
        finished: &Finished<'a>,
        k: &Panels,
        ridge: f64,
        m: &mut [PanelColumn],
    ) {
        let order = k.order();
        let last = self.first + self.panels.len();
        for q in 0..self.first {
            let known = finished.panel(q);
            for (r, m) in (self.first..last).zip(m.chunks_exact_mut(order)) {
                left_tile(kernel, known, k, r, q, m);
            }
        }
        for (r, panel) in (self.first..).zip(self.panels) {
            let own = &mut m[(r - self.first) * order..][..order];
            finished.add(r, finish_panel(kernel, panel, finished, k, ridge, r, own));
            let rest = &mut m[(r + 1 - self.first) * order..];
            for (below, m) in (r + 1..last).zip(rest.chunks_exact_mut(order)) {
                left_tile(kernel, finished.panel(r), k, below, r, m);
            }
        }
    }
}

/// The tile of panel r and column block q < r.
#[inline(always)]
fn left_tile<K: Kernel>(
    kernel: K,
    finished: &FinishedPanel<'_>,
    k: &Panels,
    r: usize,
    q: usize,
    m: &mut [PanelColumn],
) {
    let mut tile = k.split(r).0.as_chunks::<ROWS>().0[q];
    let (known, new) = m.split_at_mut(q * ROWS);
    subtract_product(kernel, known, finished.left, &mut tile);
    divide_by_unit_block(&mut tile, finished.block);
    new[..ROWS].copy_from_slice(&tile);
}

/// L of a panel, including its diagonal block, once M is known left of that block.
#[inline(always)]
fn finish_panel<'a, K: Kernel>(
    kernel: K,
    ((l_left, l_block), d_inverse): (SplitPanel<'a>, &'a mut [f64]),
    finished: &Finished<'a>,
    k: &Panels,
    ridge: f64,
    panel: usize,
    m: &[PanelColumn],
) -> FinishedPanel<'a> {
    let start = panel * ROWS;
    for (q, (l, m)) in l_left.chunks_exact_mut(ROWS).zip(m.chunks_exact(ROWS)).enumerate() {
        for ((l, m), d_inverse) in l.iter_mut().zip(m).zip(finished.panel(q).d_inverse) {
            for i in 0..ROWS {
                l.0[i] = m.0[i] * d_inverse;
            }
        }
    }
    let k_block = k.split(panel).1;
    // Rows and columns past the order are those of the identity matrix.
    let mut tile: [PanelColumn; ROWS] =
        std::array::from_fn(|j| k_block.get(j).copied().unwrap_or(PanelColumn::ZERO));
    // A ridge below the rounding of P would be lost there. Since P is a sum of squares, no pivot can
    // be below what is added to it except by rounding.
    let rounding = f64::EPSILON * k.order() as f64;
    let least: [f64; ROWS] = std::array::from_fn(|j| ridge.max(rounding * tile[j].0[j]));
    for (j, (column, least)) in tile.iter_mut().zip(&least).enumerate() {
        column.0[j] += least;
    }
    subtract_product(kernel, &m[..start], l_left, &mut tile);
    factor_block(&tile, &least, l_block, d_inverse);
    FinishedPanel { left: l_left, block: l_block, d_inverse }
}

/// tile ← tile − M Lᵀ over the columns known so far.
#[inline(always)]
fn subtract_product<K: Kernel>(
    kernel: K,
    m: &[PanelColumn],
    l: &[PanelColumn],
    tile: &mut [PanelColumn; ROWS],
) {
    for (m, l) in m.chunks(DEPTH).zip(l.chunks(DEPTH)) {
        for (part, columns) in tile.as_chunks_mut::<TILE>().0.iter_mut().enumerate() {
            kernel.multiply::<true, TILE>(m, l, part * TILE, columns);
        }
    }
}

/// Solves M L_qqᵀ = tile in place: each column loses the contributions of the columns before it.
#[inline(always)]
fn divide_by_unit_block(tile: &mut [PanelColumn; ROWS], block: &[PanelColumn]) {
    for j in 1..ROWS {
        for t in 0..j {
            let l_jt = block[t].0[j];
            for i in 0..ROWS {
                tile[j].0[i] = (-l_jt).mul_add(tile[t].0[i], tile[j].0[i]);
            }
        }
    }
}

/// L and D of a diagonal block, whose pivots are at least this.
#[inline(always)]
fn factor_block(
    tile: &[PanelColumn; ROWS],
    least: &[f64; ROWS],
    block: &mut [PanelColumn],
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
        let inverse = 1.0 / m[j].0[j].max(least[j]);
        d_inverse[j] = inverse;
        block[j] = PanelColumn::ZERO;
        block[j].0[j] = 1.0;
        for i in j + 1..size {
            block[j].0[i] = m[j].0[i] * inverse;
        }
    }
}
