//! Everything that a regression has summed, without a factor.
//!
//! P = Σ w·a·aᵀ and Q = Σ w·a·yᵀ contain everything that a ridge regression can know about its
//! samples. They add up: samples may be summed in any number of places and brought together, and
//! the factor that is built from the result ([`Factor::rebuild`](super::Factor::rebuild)) is that of all samples. Adding to
//! the sums costs less than half of a sweep. The price is precision: a factor that was built from
//! sums is exact to their condition number times 1e-16, and one that has learned the samples, or has
//! [merged](super::Factor::merge) factors that have, to its square root times 1e-16.

#![allow(clippy::inline_always)]

use super::{
    Gram, Probe, Update, check_length,
    panels::{self, TARGET_ROWS, TargetPanels},
};
use crate::numeric::Column;
use crate::{
    error::{Error, ModelFileError},
    numeric::Threads,
    state::{ReadScope, WriteScope},
};

/// The samples that are added together, since a group reduces memory traffic.
const GROUP: usize = 4;

/// The sums P and Q of a regression.
///
/// ```
/// use broadstream::factor::{Factor, Sums, Update};
///
/// // One half is summed here, the other there.
/// let mut all = Sums::new(2);
/// all.add_targets(1);
/// let mut there = all.clone();
/// all.add(&[1.0, 2.0], &[1.0], &[1.0])?;
/// there.add(&[3.0, -1.0], &[0.0], &[2.0])?;
/// all.merge(&there)?;
/// let mut merged = Factor::new(2, 0.1);
/// merged.rebuild(&all, 0.1)?;
///
/// let mut whole = Factor::new(2, 0.1);
/// whole.add_targets(1);
/// let update = Update {
///     features: &[1.0, 2.0, 3.0, -1.0],
///     targets: &[1.0, 0.0],
///     weights: &[1.0, 2.0],
///     forgetting: 1.0,
/// };
/// whole.sweep(update, &mut [0.0; 2])?;
/// for (merged, whole) in merged.weights().iter().zip(whole.weights()) {
///     assert!((merged - whole).abs() < 1e-14);
/// }
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sums {
    gram: Gram,
    /// Q, transposed: panels of targets, one column per feature.
    q: TargetPanels,
    targets: usize,
}

impl Sums {
    /// The sums over no samples, without targets.
    pub fn new(order: usize) -> Self {
        Sums { gram: Gram::new(order), q: Vec::new(), targets: 0 }
    }

    /// Uses the given threads, which others use too.
    pub(crate) fn share_threads(&mut self, threads: &Threads) {
        self.gram.share_threads(threads);
    }

    /// The number of features.
    pub fn order(&self) -> usize {
        self.gram.order()
    }

    /// The number of targets.
    pub fn targets(&self) -> usize {
        self.targets
    }

    /// P.
    pub(super) fn gram(&self) -> &Gram {
        &self.gram
    }

    #[cfg(test)]
    pub(super) fn set_instructions(&mut self, instructions: crate::numeric::InstructionSet) {
        self.gram.instructions = instructions;
    }

    /// Q, in the layout of a factor's Z.
    pub(super) fn q(&self) -> &[Vec<Column<TARGET_ROWS>>] {
        &self.q
    }

    /// Raises the number of targets; the new ones count as 0 in all past samples.
    pub fn add_targets(&mut self, targets: usize) {
        self.targets = self.targets.max(targets);
        let order = self.order();
        self.q.resize_with(self.targets.div_ceil(TARGET_ROWS), || vec![Column::ZERO; order]);
    }

    /// Adds samples: a row of features, a row of targets and a positive weight for each. The result
    /// is the same, to the bit, however the rows are divided into calls.
    pub fn add(&mut self, features: &[f64], targets: &[f64], weights: &[f64]) -> Result<(), Error> {
        let update = Update { features, targets, weights, forgetting: 1.0 };
        update.check(self.order(), self.targets)?;
        self.gram.add(features, weights)?;
        let (order, all) = (self.order(), self.targets);
        for (panel, q) in self.q.iter_mut().enumerate() {
            let first = panel * TARGET_ROWS;
            let size = TARGET_ROWS.min(all - first);
            let groups = features.chunks((GROUP * order).max(1)).zip(weights.chunks(GROUP));
            for ((features, weights), targets) in groups.zip(targets.chunks(GROUP * all)) {
                let mut y = [Column::ZERO; GROUP];
                for (y, row) in y.iter_mut().zip(targets.chunks_exact(all)) {
                    y.0[..size].copy_from_slice(&row[first..first + size]);
                }
                self.gram.instructions.run(
                    #[inline(always)]
                    || match weights.len() {
                        1 => add_group::<1>(q, features, weights, &y),
                        2 => add_group::<2>(q, features, weights, &y),
                        3 => add_group::<3>(q, features, weights, &y),
                        _ => add_group::<GROUP>(q, features, weights, &y),
                    },
                );
            }
        }
        Ok(())
    }

    /// Adds other sums on the same features. Targets that only one side has count as 0 in the
    /// samples of the other.
    pub fn merge(&mut self, other: &Sums) -> Result<(), Error> {
        check_length("the rows of the matrix", self.order(), other.order())?;
        self.gram.merge(&other.gram);
        self.add_targets(other.targets);
        for (q, other) in self.q.iter_mut().flatten().zip(other.q.iter().flatten()) {
            for (entry, other) in q.0.iter_mut().zip(other.0) {
                *entry += other;
            }
        }
        Ok(())
    }

    /// The sums of a regression on the leading `order` features, or on all if there are fewer.
    pub fn prefix(&self, order: usize) -> Self {
        let gram = self.gram.prefix(order);
        let q = self.q.iter().map(|panel| panel[..gram.order()].to_vec()).collect();
        Sums { gram, q, targets: self.targets }
    }

    /// The same sums with target k as target `numbers[k]` of `targets`.
    pub(crate) fn renumbered(&self, numbers: &[usize], targets: usize) -> Self {
        let mut renumbered = Sums { gram: self.gram.clone(), q: Vec::new(), targets: 0 };
        renumbered.add_targets(targets);
        for (target, number) in numbers.iter().enumerate() {
            let row = self.q[target / TARGET_ROWS].iter();
            let to = renumbered.q[number / TARGET_ROWS].iter_mut();
            for (to, from) in to.zip(row) {
                to.0[number % TARGET_ROWS] = from.0[target % TARGET_ROWS];
            }
        }
        renumbered
    }

    /// The probe of a factor with that ridge that is built from these sums, which count as exact.
    pub(crate) fn probe(&self, ridge: f64, samples: u64) -> Probe {
        Probe::of_sums(&self.gram.p.rows(true), &self.q_rows(), self.order(), ridge, samples)
    }

    /// Adds to a probe, which watches over sums on the first features, that of these sums.
    /// `targets[k]` is the number there of target k.
    pub(crate) fn add_probe(&self, own: &Probe, to: &mut Probe, targets: &[usize]) {
        to.add_sums(own, &self.prefix(own.order()).q_rows(), targets);
    }

    /// Q target by target.
    fn q_rows(&self) -> Vec<f64> {
        panels::target_rows(&self.q, self.targets).collect()
    }

    /// Checks that the saved sums are of that order, before anything of that size is allocated.
    pub(crate) fn check_size(from: &ReadScope<'_>, order: usize) -> Result<(), ModelFileError> {
        let entries = order as u128 * (order as u128 + 1) / 2;
        let sound = from.length("p") as u128 == entries;
        from.check("p", sound, &format!("the triangle of {order} features"))
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.gram.save(to);
        to.floats("q", self.q_rows());
    }

    /// Takes over saved sums; the number of targets follows from the length of Q.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let order = self.order();
        let targets = from.length("q").checked_div(order).unwrap_or(0);
        let q = from.floats("q", targets * order)?;
        self.gram.restore(from)?;
        self.q.clear();
        self.targets = 0;
        self.add_targets(targets);
        panels::set_target_rows(&mut self.q, order, &q);
        Ok(())
    }
}

/// Adds w·a·yᵀ of up to four samples to a panel of targets.
#[inline(always)]
fn add_group<const G: usize>(
    q: &mut [Column<TARGET_ROWS>],
    features: &[f64],
    weights: &[f64],
    y: &[Column<TARGET_ROWS>; GROUP],
) {
    let rows: [&[f64]; G] = std::array::from_fn(|s| &features[s * q.len()..][..q.len()]);
    for (j, column) in q.iter_mut().enumerate() {
        let mut sums = column.0;
        for s in 0..G {
            let weighted = weights[s] * rows[s][j];
            for k in 0..TARGET_ROWS {
                sums[k] = weighted.mul_add(y[s].0[k], sums[k]);
            }
        }
        column.0 = sums;
    }
}
