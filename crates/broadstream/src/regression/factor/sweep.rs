//! The sweep of a group of samples through all panels, and then through the targets.

#![allow(clippy::inline_always)]

use rayon::ThreadPool;

use super::{
    Factor,
    kernel::{GROUP, Kernel, group_sizes, sweep_targets, with_kernel},
    panels::{self, PanelColumn, ROWS, TARGET_ROWS},
};
use crate::numeric::{Column, InstructionSet, Wavefront};

/// The buffers of a sweep, reused to avoid allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// The samples' features, panel by panel and within a panel sample by sample.
    w: Vec<PanelColumn>,
    /// p and β, group by group, within a group column by column.
    p: Vec<f64>,
    beta: Vec<f64>,
    gamma: Vec<f64>,
    /// The γ that each sample started from.
    first_gamma: Vec<f64>,
}

impl Factor {
    /// Learns the samples in the scratch buffers.
    pub(super) fn sweep_samples(&mut self, targets: &[f64], mu: f64, scores: &mut [f64]) {
        let multiply_adds = (self.order() * self.order() * self.scratch.gamma.len()) as u64;
        let threads = self.threads.clone();
        let Some(pool) = threads.for_work(multiply_adds) else {
            return with_kernel!(self.instructions, |kernel| {
                self.sweep_alone(kernel, targets, mu, scores);
            });
        };
        let instructions = self.instructions;
        // The threads choose the instructions for themselves.
        let long_waits = with_kernel!(instructions, |kernel| {
            self.sweep_together(kernel, instructions, pool, targets, mu, scores)
        });
        threads.worked_together(multiply_adds, long_waits);
    }

    /// Panel by panel, and through each panel group by group, so that the panel stays in the cache.
    #[inline(always)]
    fn sweep_alone<K: Kernel>(&mut self, kernel: K, y: &[f64], mu: f64, scores: &mut [f64]) {
        let (rows, targets, mut groups) = self.parts(y, mu, scores);
        for mut panel in rows {
            for group in &mut groups {
                panel.sweep(kernel, group);
            }
        }
        for mut panel in targets {
            for group in &mut groups {
                panel.sweep(group);
            }
        }
    }

    /// The same with several threads. Returns how often one had to wait for long. A panel meets the
    /// groups in their order, and a group the panels, so no bit depends on the threads.
    fn sweep_together<K: Kernel + Sync>(
        &mut self,
        kernel: K,
        instructions: InstructionSet,
        pool: &ThreadPool,
        y: &[f64],
        mu: f64,
        scores: &mut [f64],
    ) -> u32 {
        let (rows, targets, mut groups) = self.parts(y, mu, scores);
        let panels = rows.map(AnyPanel::Rows).chain(targets.map(AnyPanel::Targets));
        Wavefront::new(panels).run(pool, &mut groups, |panel, group| {
            instructions.run(
                #[inline(always)]
                || match panel {
                    AnyPanel::Rows(panel) => panel.sweep(kernel, group),
                    AnyPanel::Targets(panel) => panel.sweep(group),
                },
            );
        })
    }

    /// The data of a sweep: the panels of rows, those of targets, and the groups of samples.
    #[inline(always)]
    fn parts<'a>(
        &'a mut self,
        y: &'a [f64],
        mu: f64,
        scores: &'a mut [f64],
    ) -> (
        impl Iterator<Item = RowPanel<'a>> + Send,
        impl Iterator<Item = TargetPanel<'a>> + Send,
        Vec<SweepGroup<'a>>,
    ) {
        let Factor { l, d_inverse, z, targets, readouts, scratch, .. } = self;
        let Scratch { w, p, beta, gamma, .. } = scratch;
        let (order, targets, samples) = (l.order(), *targets, gamma.len());
        let mu_inverse = 1.0 / mu;
        let rows = l.iter_mut().zip(d_inverse.chunks_mut(ROWS)).zip(w.chunks(samples.max(1)));
        let rows = rows.map(move |(((left, block), d_inverse), w)| RowPanel {
            left,
            block,
            d_inverse,
            mu_inverse,
            w,
        });
        let readouts: &[usize] = readouts;
        let target_panels = z.iter_mut().enumerate().map(move |(panel, z)| {
            let first = panel * TARGET_ROWS;
            TargetPanel { z, first, size: TARGET_ROWS.min(targets - first), readouts }
        });
        let row = readouts.len() * targets;
        let mut rest = SweepGroup { first: 0, gamma, p, beta, y, scores };
        let groups = group_sizes(samples).map(|size| rest.split_off(size, order, targets, row));
        let groups = groups.collect();
        (rows, target_panels, groups)
    }
}

/// One group of samples, with the values that it carries from panel to panel.
struct SweepGroup<'a> {
    /// The index of its first sample.
    first: usize,
    gamma: &'a mut [f64],
    p: &'a mut [f64],
    beta: &'a mut [f64],
    y: &'a [f64],
    scores: &'a mut [f64],
}

impl<'a> SweepGroup<'a> {
    /// Takes the first samples away, given how many numbers of each kind belong to a sample.
    fn split_off(&mut self, size: usize, order: usize, targets: usize, row: usize) -> Self {
        fn first<'a>(rest: &mut &'a mut [f64], length: usize) -> &'a mut [f64] {
            rest.split_off_mut(..length).unwrap_or_default()
        }
        let group = SweepGroup {
            first: self.first,
            gamma: first(&mut self.gamma, size),
            p: first(&mut self.p, size * order),
            beta: first(&mut self.beta, size * order),
            y: self.y.split_off(..size * targets).unwrap_or_default(),
            scores: first(&mut self.scores, size * row),
        };
        self.first += size;
        group
    }
}

enum AnyPanel<'a> {
    Rows(RowPanel<'a>),
    Targets(TargetPanel<'a>),
}

impl Scratch {
    /// β of the sample that was swept last, if it was swept alone.
    pub(super) fn beta(&self) -> &[f64] {
        &self.beta
    }

    /// The initial and the final γ of each sample that was swept last.
    pub(super) fn gammas(&self) -> impl Iterator<Item = (f64, f64)> {
        self.first_gamma.iter().copied().zip(self.gamma.iter().copied())
    }

    /// Lays out samples for the sweep, padded with zeros to whole panels, each with its features
    /// and its initial γ.
    pub(super) fn start<'a>(
        &mut self,
        order: usize,
        rows: impl Iterator<Item = (&'a [f64], f64)> + Clone,
    ) {
        self.first_gamma.clear();
        self.first_gamma.extend(rows.clone().map(|(_, gamma)| gamma));
        self.gamma.clone_from(&self.first_gamma);
        let samples = self.gamma.len();
        self.w.resize(panels::panels(order) * samples, PanelColumn::ZERO);
        for (s, (row, _)) in rows.enumerate() {
            let (whole, rest) = row.as_chunks::<ROWS>();
            let mut columns = self.w.iter_mut().skip(s).step_by(samples);
            // In this order, so that no column is taken without rows for it.
            for (rows, column) in whole.iter().zip(columns.by_ref()) {
                column.0 = *rows;
            }
            if let Some(column) = columns.next() {
                column.0[..rest.len()].copy_from_slice(rest);
                column.0[rest.len()..].fill(0.0);
            }
        }
        self.p.resize(order * samples, 0.0);
        self.beta.resize(order * samples, 0.0);
    }
}

/// A panel of the triangle, and the corresponding entries of all samples.
struct RowPanel<'a> {
    left: &'a mut [PanelColumn],
    block: &'a mut [PanelColumn],
    d_inverse: &'a mut [f64],
    mu_inverse: f64,
    w: &'a [PanelColumn],
}

impl RowPanel<'_> {
    #[inline(always)]
    fn sweep<K: Kernel>(&mut self, kernel: K, group: &mut SweepGroup<'_>) {
        match group.gamma.len() {
            1 => self.sweep_group::<K, 1>(kernel, group),
            2 => self.sweep_group::<K, 2>(kernel, group),
            4 => self.sweep_group::<K, 4>(kernel, group),
            _ => self.sweep_group::<K, GROUP>(kernel, group),
        }
    }

    #[inline(always)]
    fn sweep_group<K: Kernel, const G: usize>(&mut self, kernel: K, group: &mut SweepGroup<'_>) {
        let mut w: [PanelColumn; G] = std::array::from_fn(|s| self.w[group.first + s]);
        let mut gamma: [f64; G] = std::array::from_fn(|s| group.gamma[s]);
        let (p_left, p_rest) = group.p.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
        let (beta_left, beta_rest) =
            group.beta.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
        kernel.sweep(self.left, p_left, beta_left, &mut w);
        kernel.sweep_diagonal(
            self.block,
            self.d_inverse,
            self.mu_inverse,
            &mut gamma,
            p_rest,
            beta_rest,
            &mut w,
        );
        group.gamma.copy_from_slice(&gamma);
    }
}

/// A panel of targets: their rows of Z, and their position among all targets.
struct TargetPanel<'a> {
    z: &'a mut [Column<TARGET_ROWS>],
    first: usize,
    size: usize,
    readouts: &'a [usize],
}

impl TargetPanel<'_> {
    #[inline(always)]
    fn sweep(&mut self, group: &mut SweepGroup<'_>) {
        match group.gamma.len() {
            1 => self.sweep_group::<1>(group),
            2 => self.sweep_group::<2>(group),
            4 => self.sweep_group::<4>(group),
            _ => self.sweep_group::<GROUP>(group),
        }
    }

    #[inline(always)]
    fn sweep_group<const G: usize>(&mut self, group: &mut SweepGroup<'_>) {
        let TargetPanel { ref mut z, first, size, readouts } = *self;
        let (p, beta) = (group.p.as_chunks::<G>().0, group.beta.as_chunks::<G>().0);
        let targets = group.y.len() / G;
        let mut w = [Column::ZERO; G];
        for s in 0..G {
            w[s].0[..size].copy_from_slice(&group.y[s * targets + first..][..size]);
        }
        let mut sums = [Column::ZERO; G];
        let mut start = 0;
        for (r, &end) in readouts.iter().enumerate() {
            let part = start..end;
            let (p, beta) = (&p[part.clone()], &beta[part.clone()]);
            sweep_targets(&mut z[part], p, beta, &mut w, &mut sums);
            start = end;
            for s in 0..G {
                let row = (s * readouts.len() + r) * targets;
                group.scores[row + first..][..size].copy_from_slice(&sums[s].0[..size]);
            }
        }
    }
}
