//! The memory layout of the triangle.
//!
//! The lower triangle is cut into panels of [`ROWS`] rows. A panel is stored column by column, from
//! column 0 to the last column that its rows reach, so that a sweep reads and writes memory once,
//! from front to back. The panel's last `ROWS` columns hold its diagonal block. The unit diagonal
//! and the zeros above it are stored, so that the kernels need no masks.

use crate::numeric::Column;

/// The rows of a panel of the triangle: three registers of eight with AVX-512. AVX2 takes half of
/// them at a time, which with the current columns just fills its sixteen registers of four.
pub(super) const ROWS: usize = 24;

/// The rows of a panel in one column, aligned to a line of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct PanelColumn(pub(super) [f64; ROWS]);

impl PanelColumn {
    pub(super) const ZERO: Self = PanelColumn([0.0; ROWS]);
}

/// The rows of a panel of targets: there are few classes, so padding to 24 would be wasteful.
pub(super) const TARGET_ROWS: usize = 4;

/// The panels of a lower triangle of some order.
#[derive(Clone, Debug)]
pub(super) struct Panels {
    order: usize,
    columns: Vec<PanelColumn>,
}

impl Panels {
    pub(super) fn zero(order: usize) -> Self {
        let columns = vec![PanelColumn::ZERO; first_column(order, panels(order))];
        Panels { order, columns }
    }

    pub(super) fn identity(order: usize) -> Self {
        let mut identity = Self::zero(order);
        for panel in 0..identity.len() {
            for (row, column) in identity.split_mut(panel).1.iter_mut().enumerate() {
                column.0[row] = 1.0;
            }
        }
        identity
    }

    pub(super) fn order(&self) -> usize {
        self.order
    }

    /// The number of panels.
    pub(super) fn len(&self) -> usize {
        panels(self.order)
    }

    /// A panel's columns left of its diagonal block, and the block itself.
    pub(super) fn split(&self, panel: usize) -> (&[PanelColumn], &[PanelColumn]) {
        self.columns[range(self.order, panel)].split_at(panel * ROWS)
    }

    /// The same, for writing.
    pub(super) fn split_mut(&mut self, panel: usize) -> SplitPanel<'_> {
        self.columns[range(self.order, panel)].split_at_mut(panel * ROWS)
    }

    /// All panels in their order, each as [`split_mut`](Self::split_mut) gives it.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = SplitPanel<'_>> {
        let (order, panels) = (self.order, self.len());
        let mut rest = self.columns.as_mut_slice();
        (0..panels).map(move |panel| {
            let columns = rest.split_off_mut(..range(order, panel).len());
            columns.expect("panels tile the columns").split_at_mut(panel * ROWS)
        })
    }

    /// The entries row by row, each row up to its diagonal, with or without the diagonal itself.
    pub(super) fn rows(&self, diagonal: bool) -> Vec<f64> {
        let mut rows = Vec::with_capacity(entries(self.order, diagonal));
        for i in 0..self.order {
            let columns = &self.columns[range(self.order, i / ROWS)][..i + usize::from(diagonal)];
            rows.extend(columns.iter().map(|column| column.0[i % ROWS]));
        }
        rows
    }

    /// Sets the entries from [`rows`](Self::rows), of which there must be exactly [`entries`].
    pub(super) fn set_rows(&mut self, rows: &[f64], diagonal: bool) {
        let mut rows = rows.iter();
        for i in 0..self.order {
            let panel = range(self.order, i / ROWS);
            let columns = &mut self.columns[panel][..i + usize::from(diagonal)];
            for (column, entry) in columns.iter_mut().zip(rows.by_ref()) {
                column.0[i % ROWS] = *entry;
            }
        }
    }

    /// All columns of a panel, left of its diagonal block and in it.
    pub(super) fn panel(&self, panel: usize) -> &[PanelColumn] {
        &self.columns[range(self.order, panel)]
    }

    /// All columns of all panels.
    pub(super) fn columns(&self) -> &[PanelColumn] {
        &self.columns
    }

    /// The same, for writing.
    pub(super) fn columns_mut(&mut self) -> &mut [PanelColumn] {
        &mut self.columns
    }

    /// The leading `order` rows and columns, or all if there are fewer.
    pub(super) fn prefix(&self, order: usize) -> Self {
        let mut prefix = Self::zero(order.min(self.order));
        let order = prefix.order;
        for panel in 0..prefix.len() {
            let rows = ROWS.min(order - panel * ROWS);
            let columns = prefix.columns[range(order, panel)].iter_mut();
            for (column, whole) in columns.zip(self.panel(panel)) {
                column.0[..rows].copy_from_slice(&whole.0[..rows]);
            }
        }
        prefix
    }

    /// The entry in row i, column j ≤ i.
    #[cfg(test)]
    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        self.columns[range(self.order, i / ROWS)][j].0[i % ROWS]
    }
}

/// A panel's columns left of its diagonal block, and the block itself.
pub(super) type SplitPanel<'a> = (&'a mut [PanelColumn], &'a mut [PanelColumn]);

/// A row of numbers for each target, as panels of targets: one column per feature.
pub(super) type TargetPanels = Vec<Vec<Column<TARGET_ROWS>>>;

/// All rows, target by target.
pub(super) fn target_rows(
    panels: &[Vec<Column<TARGET_ROWS>>],
    targets: usize,
) -> impl Iterator<Item = f64> {
    (0..targets).flat_map(move |target| {
        let panel = &panels[target / TARGET_ROWS];
        panel.iter().map(move |column| column.0[target % TARGET_ROWS])
    })
}

/// The inverse of [`target_rows`], for as many targets as there are numbers.
pub(super) fn set_target_rows(
    panels: &mut [Vec<Column<TARGET_ROWS>>],
    features: usize,
    rows: &[f64],
) {
    for (target, row) in rows.chunks_exact(features.max(1)).enumerate() {
        let panel = &mut panels[target / TARGET_ROWS];
        for (column, entry) in panel.iter_mut().zip(row) {
            column.0[target % TARGET_ROWS] = *entry;
        }
    }
}

/// The number of panels that cover `order` rows.
pub(super) fn panels(order: usize) -> usize {
    order.div_ceil(ROWS)
}

/// The number of entries in a triangle of that order, with or without its diagonal.
pub(super) fn entries(order: usize, diagonal: bool) -> usize {
    let all = order * (order + 1) / 2;
    if diagonal { all } else { all - order }
}

/// The bytes that the panels of a triangle take.
pub(super) fn bytes(order: usize) -> u128 {
    let panels = order.div_ceil(ROWS) as u128;
    (panels * (panels + 1) / 2).saturating_mul((ROWS * ROWS * size_of::<f64>()) as u128)
}

fn range(order: usize, panel: usize) -> std::ops::Range<usize> {
    first_column(order, panel)..first_column(order, panel + 1)
}

/// Where a panel starts: panel k has (k + 1) · ROWS columns, except for the last, which ends at the
/// order.
fn first_column(order: usize, panel: usize) -> usize {
    let full = ROWS * panel * (panel + 1) / 2;
    full - (panel * ROWS).saturating_sub(order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_tile_the_triangle() {
        for order in 1..60 {
            let panels = Panels::identity(order);
            let mut columns = 0;
            for panel in 0..panels.len() {
                let (left, block) = panels.split(panel);
                assert_eq!(left.len(), panel * ROWS);
                assert_eq!(block.len(), (order - panel * ROWS).min(ROWS));
                columns += left.len() + block.len();
            }
            assert_eq!(columns, panels.columns.len());
            for i in 0..order {
                assert_eq!(panels.entry(i, i), 1.0);
                assert!((0..i).all(|j| panels.entry(i, j) == 0.0));
            }
        }
    }
}
