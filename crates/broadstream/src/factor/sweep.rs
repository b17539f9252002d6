//! The sweep of a group of samples through all panels, and then through the targets.

#![allow(clippy::inline_always)]

use super::{
    Factor,
    kernel::{GROUP, Kernel, sweep_targets},
    panels::{self, Column, ROWS, TARGET_ROWS},
    portable::Portable,
};
use crate::simd::Path;

/// What a sweep carries; kept between sweeps to spare allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// The samples' features, panel by panel and within a panel sample by sample.
    w: Vec<Column<ROWS>>,
    /// p and β, group by group, within a group column by column.
    p: Vec<f64>,
    beta: Vec<f64>,
    gamma: Vec<f64>,
}

impl Factor {
    /// Learns the samples that the scratch carries.
    pub(super) fn sweep_samples(&mut self, targets: &[f64], mu: f64, scores: &mut [f64]) {
        match self.path {
            Path::Portable => self.sweep_panels(Portable, mu),
            #[cfg(target_arch = "x86_64")]
            Path::Avx2(avx2) => avx2.run(
                #[inline(always)]
                || self.sweep_panels(avx2, mu),
            ),
        }
        self.path.run(
            #[inline(always)]
            || self.sweep_targets(targets, scores),
        );
    }

    /// Panel by panel, and through each panel group by group: the panel then stays in the cache.
    #[inline(always)]
    fn sweep_panels<K: Kernel>(&mut self, kernel: K, mu: f64) {
        let Factor { l, d_inverse, scratch: Scratch { w, p, beta, gamma }, .. } = self;
        let order = l.order();
        let samples = gamma.len();
        let mu_inverse = 1.0 / mu;
        for (panel, w) in w.chunks_exact_mut(samples.max(1)).enumerate() {
            let (left, block) = l.split_mut(panel);
            let d_inverse = &mut d_inverse[panel * ROWS..][..block.len()];
            for first in (0..samples).step_by(GROUP) {
                let size = GROUP.min(samples - first);
                let coefficients = first * order..(first + size) * order;
                let step = PanelStep {
                    left,
                    block,
                    d_inverse,
                    mu_inverse,
                    w: &w[first..first + size],
                    gamma: &mut gamma[first..first + size],
                    p: &mut p[coefficients.clone()],
                    beta: &mut beta[coefficients],
                };
                match size {
                    1 => step.run::<K, 1>(kernel),
                    2 => step.run::<K, 2>(kernel),
                    3 => step.run::<K, 3>(kernel),
                    _ => step.run::<K, GROUP>(kernel),
                }
            }
        }
    }

    #[inline(always)]
    fn sweep_targets(&mut self, y: &[f64], scores: &mut [f64]) {
        let Factor { l, z, targets, readouts, scratch: Scratch { p, beta, gamma, .. }, .. } = self;
        let order = l.order();
        for first in (0..gamma.len()).step_by(GROUP) {
            let size = GROUP.min(gamma.len() - first);
            let rows = |length: usize| first * length..(first + size) * length;
            let step = TargetStep {
                z,
                targets: *targets,
                readouts,
                p: &p[rows(order)],
                beta: &beta[rows(order)],
                y: &y[rows(*targets)],
                scores: &mut scores[rows(readouts.len() * *targets)],
            };
            match size {
                1 => step.run::<1>(),
                2 => step.run::<2>(),
                3 => step.run::<3>(),
                _ => step.run::<GROUP>(),
            }
        }
    }
}

impl Scratch {
    /// Lays out the samples' features for the sweep, padded with zeros to whole panels, with the γ
    /// that each starts from.
    pub(super) fn start(
        &mut self,
        features: &[f64],
        order: usize,
        samples: usize,
        gamma: impl Iterator<Item = f64>,
    ) {
        self.gamma.clear();
        self.gamma.extend(gamma);
        self.w.clear();
        self.w.resize(panels::panels(order) * samples, Column::ZERO);
        for (s, row) in features.chunks_exact(order.max(1)).enumerate() {
            for (panel, rows) in row.chunks(ROWS).enumerate() {
                self.w[panel * samples + s].0[..rows.len()].copy_from_slice(rows);
            }
        }
        self.p.resize(order * samples, 0.0);
        self.beta.resize(order * samples, 0.0);
    }
}

/// One panel and one group of samples.
struct PanelStep<'a> {
    left: &'a mut [Column<ROWS>],
    block: &'a mut [Column<ROWS>],
    d_inverse: &'a mut [f64],
    mu_inverse: f64,
    w: &'a [Column<ROWS>],
    gamma: &'a mut [f64],
    p: &'a mut [f64],
    beta: &'a mut [f64],
}

impl PanelStep<'_> {
    #[inline(always)]
    fn run<K: Kernel, const G: usize>(self, kernel: K) {
        let mut w: [Column<ROWS>; G] = std::array::from_fn(|s| self.w[s]);
        let mut gamma: [f64; G] = std::array::from_fn(|s| self.gamma[s]);
        let (p_left, p_rest) = self.p.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
        let (beta_left, beta_rest) = self.beta.as_chunks_mut::<G>().0.split_at_mut(self.left.len());
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
        self.gamma.copy_from_slice(&gamma);
    }
}

/// All targets and one group of samples.
struct TargetStep<'a> {
    z: &'a mut [Vec<Column<TARGET_ROWS>>],
    targets: usize,
    readouts: &'a [usize],
    p: &'a [f64],
    beta: &'a [f64],
    y: &'a [f64],
    scores: &'a mut [f64],
}

impl TargetStep<'_> {
    #[inline(always)]
    fn run<const G: usize>(self) {
        let TargetStep { targets, readouts, .. } = self;
        let (p, beta) = (self.p.as_chunks::<G>().0, self.beta.as_chunks::<G>().0);
        for (panel, z) in self.z.iter_mut().enumerate() {
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(targets - first);
            let mut w = [Column::ZERO; G];
            for s in 0..G {
                w[s].0[..size].copy_from_slice(&self.y[s * targets + first..][..size]);
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
                    self.scores[row + first..][..size].copy_from_slice(&sums[s].0[..size]);
                }
            }
        }
    }
}
