//! A symmetric sum of outer products, kept beside a factor that forgets.

use super::{
    check_length,
    kernel::{Kernel, with_kernel},
    panels::{self, PanelColumn, Panels, ROWS, SplitPanel},
};
use crate::{
    error::{Error, ModelFileError},
    numeric::{InstructionSet, Threads},
    state::{ReadScope, WriteScope},
};

/// The columns of the triangle that are updated together: nine registers of sums hide the latency
/// of a multiply-add, and with twelve the compiler spills one of AVX2's sixteen.
const TILE: usize = 3;

/// The lower triangle of P = Σ w·a·aᵀ.
///
/// ```
/// use broadstream::factor::{Factor, Gram};
///
/// let mut gram = Gram::new(2);
/// gram.add(&[1.0, 2.0], &[1.0])?;
/// let mut factor = Factor::new(2, 1.0);
/// factor.refactor(&gram, 0.1)?;
/// // K = [[1.1, 2], [2, 4.1]] now.
/// let x = factor.solve(&[3.1, 6.1])?;
/// assert!((x[0] - 1.0).abs() < 1e-14 && (x[1] - 1.0).abs() < 1e-14);
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Gram {
    /// Entries above the diagonal within a diagonal block equal those below up to rounding, and are
    /// not read.
    pub(super) p: Panels,
    pub(super) instructions: InstructionSet,
    threads: Threads,
    /// The samples' features and weighted features, panel by panel.
    features: Vec<PanelColumn>,
    weighted: Vec<PanelColumn>,
}

impl Gram {
    /// P = 0.
    pub fn new(order: usize) -> Self {
        Self::of(Panels::zero(order))
    }

    /// The sum P, of which only the lower triangle is read.
    pub(super) fn of(p: Panels) -> Self {
        Gram {
            p,
            instructions: InstructionSet::detect(),
            threads: Threads::default(),
            features: Vec::new(),
            weighted: Vec::new(),
        }
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.threads = threads.clone();
    }

    /// The number of features.
    pub fn order(&self) -> usize {
        self.p.order()
    }

    /// Adds w·a·aᵀ for each row of features and its weight, in their order. The result is the same,
    /// to the bit, however the rows are divided into calls.
    pub fn add(&mut self, features: &[f64], weights: &[f64]) -> Result<(), Error> {
        let order = self.order();
        let samples = weights.len();
        check_length("features", samples * order, features.len())?;
        if samples == 0 {
            return Ok(());
        }
        self.lay_out(features, weights);
        with_kernel!(self.instructions, |kernel| self.add_samples(kernel, samples));
        Ok(())
    }

    /// The panels are independent, so threads may share them.
    fn add_samples<K: Kernel + Sync>(&mut self, kernel: K, samples: usize) {
        let Gram { p, features, weighted, instructions, threads } = self;
        let (instructions, order, weighted) = (*instructions, p.order(), weighted.as_slice());
        let add = |(panel, rows): (SplitPanel<'_>, &[PanelColumn])| {
            instructions.run(
                #[inline(always)]
                || add_panel(kernel, panel, rows, weighted, samples),
            );
        };
        let panels = p.iter_mut().zip(features.chunks_exact(samples));
        let multiply_adds = (order * order / 2 * samples) as u64;
        threads.share(multiply_adds, panels, || (), |(), panel| add(panel));
    }

    /// P ← 0.
    pub(crate) fn clear(&mut self) {
        self.p.columns_mut().fill(PanelColumn::ZERO);
    }

    /// P ← factor · P.
    pub fn scale(&mut self, factor: f64) {
        for column in self.p.columns_mut() {
            for entry in &mut column.0 {
                *entry *= factor;
            }
        }
    }

    /// P ← P − ridge · I, if that leaves a sum of squares but for rounding.
    pub(super) fn lower_diagonal(&mut self, ridge: f64) {
        for panel in 0..self.p.len() {
            let (_, block) = self.p.split_mut(panel);
            for (row, column) in block.iter_mut().enumerate() {
                column.0[row] = (column.0[row] - ridge).max(0.0);
            }
        }
    }

    /// Adds another sum of the same order.
    pub(super) fn merge(&mut self, other: &Gram) {
        for (column, other) in self.p.columns_mut().iter_mut().zip(other.p.columns()) {
            for (entry, other) in column.0.iter_mut().zip(other.0) {
                *entry += other;
            }
        }
    }

    /// The sum of the leading `order` features, or of all if there are fewer.
    pub(crate) fn prefix(&self, order: usize) -> Self {
        Gram::of(self.p.prefix(order))
    }

    /// The sum of some of the features, in the given order. A feature may occur several times.
    pub(crate) fn select(&self, features: &[usize]) -> Self {
        let rows = self.p.rows(true);
        let entry = |i: usize, j: usize| {
            let (row, column) = (i.max(j), i.min(j));
            rows[row * (row + 1) / 2 + column]
        };
        let chosen = features.iter().enumerate();
        let chosen: Vec<f64> =
            chosen.flat_map(|(k, i)| features[..=k].iter().map(move |j| entry(*i, *j))).collect();
        let mut p = Panels::zero(features.len());
        p.set_rows(&chosen, true);
        Gram { threads: self.threads.clone(), ..Gram::of(p) }
    }

    #[cfg(test)]
    pub(crate) fn p_rows(&self) -> Vec<f64> {
        self.p.rows(true)
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("p", self.p.rows(true));
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let rows = from.floats("p", panels::entries(self.order(), true))?;
        self.p.set_rows(&rows, true);
        Ok(())
    }

    /// The entries on the diagonal.
    pub(super) fn diagonal(&self) -> impl Iterator<Item = f64> {
        (0..self.p.len()).flat_map(|panel| {
            self.p.split(panel).1.iter().enumerate().map(|(row, column)| column.0[row])
        })
    }

    fn lay_out(&mut self, features: &[f64], weights: &[f64]) {
        let order = self.order();
        let samples = weights.len();
        let columns = panels::panels(order) * samples;
        for laid_out in [&mut self.features, &mut self.weighted] {
            laid_out.clear();
            laid_out.resize(columns, PanelColumn::ZERO);
        }
        for (s, (row, weight)) in features.chunks_exact(order.max(1)).zip(weights).enumerate() {
            for (panel, rows) in row.chunks(ROWS).enumerate() {
                let column = panel * samples + s;
                for (i, feature) in rows.iter().enumerate() {
                    self.features[column].0[i] = *feature;
                    self.weighted[column].0[i] = weight * feature;
                }
            }
        }
    }
}

/// Adds all samples to a panel of P.
#[inline(always)]
fn add_panel<K: Kernel>(
    kernel: K,
    (left, block): SplitPanel<'_>,
    rows: &[PanelColumn],
    weighted: &[PanelColumn],
    samples: usize,
) {
    for (k, columns) in left.chunks_exact_mut(ROWS).chain([block]).enumerate() {
        add_tile(kernel, columns, rows, &weighted[k * samples..][..samples]);
    }
}

/// Adds the outer products to up to `ROWS` columns of P.
#[inline(always)]
fn add_tile<K: Kernel>(
    kernel: K,
    columns: &mut [PanelColumn],
    rows: &[PanelColumn],
    weighted: &[PanelColumn],
) {
    let (tiles, rest) = columns.as_chunks_mut::<TILE>();
    let mut first = 0;
    for tile in tiles {
        kernel.multiply::<false, TILE>(rows, weighted, first, tile);
        first += TILE;
    }
    for column in rest {
        let mut tile = [*column];
        kernel.multiply::<false, 1>(rows, weighted, first, &mut tile);
        *column = tile[0];
        first += 1;
    }
}
