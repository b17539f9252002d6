//! How often everything happened.

use std::{fmt, ops::Add};

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    pub(super) seeds: u64,
    pub(super) operations: u64,
    pub(super) learned: u64,
    pub(super) unlearned: u64,
    pub(super) corrected: u64,
    pub(super) merges: u64,
    pub(super) predictions: u64,
    pub(super) saves: u64,
    pub(super) appends: u64,
    pub(super) disk_failures: u64,
    pub(super) kills: u64,
    pub(super) power_failures: u64,
    /// Refused because nothing else would have been right.
    pub(super) refused: u64,
    /// Refused because the result could not be trusted, and how many of these in easy problems.
    pub(super) distrusted: u64,
    pub(super) distrusted_easy: u64,
    pub(super) exact: u64,
    /// Off by more than allowed, as the model's health said.
    pub(super) warned: u64,
}

impl Tally {
    /// Checks that enough happened for the simulation to mean something.
    pub(super) fn check(&self) {
        for (count, what) in [
            (self.unlearned, "samples were unlearned"),
            (self.corrected, "labels were corrected"),
            (self.merges, "models were merged"),
            (self.disk_failures, "operations of the disk failed"),
            (self.power_failures, "power failures happened"),
            (self.refused, "calls had to be refused"),
            (self.exact, "comparisons were exact"),
        ] {
            assert!(count > self.seeds / 2, "only {count} {what} in {} seeds", self.seeds);
        }
        // What is refused or warned of on well-behaved data is a nuisance.
        let unneeded = self.distrusted_easy;
        assert!(unneeded * 50 < self.merges, "{unneeded} calls were refused on well-behaved data");
    }
}

impl Add for Tally {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Tally {
            seeds: self.seeds + other.seeds,
            operations: self.operations + other.operations,
            learned: self.learned + other.learned,
            unlearned: self.unlearned + other.unlearned,
            corrected: self.corrected + other.corrected,
            merges: self.merges + other.merges,
            predictions: self.predictions + other.predictions,
            saves: self.saves + other.saves,
            appends: self.appends + other.appends,
            disk_failures: self.disk_failures + other.disk_failures,
            kills: self.kills + other.kills,
            power_failures: self.power_failures + other.power_failures,
            refused: self.refused + other.refused,
            distrusted: self.distrusted + other.distrusted,
            distrusted_easy: self.distrusted_easy + other.distrusted_easy,
            exact: self.exact + other.exact,
            warned: self.warned + other.warned,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (count, what) in [
            (self.seeds, "seeds"),
            (self.operations, "operations"),
            (self.learned, "samples learned"),
            (self.unlearned, "samples unlearned"),
            (self.corrected, "labels corrected"),
            (self.merges, "merges"),
            (self.predictions, "samples predicted"),
            (self.saves, "saves"),
            (self.appends, "entries of journals"),
            (self.disk_failures, "failures of the disk"),
            (self.kills, "kills"),
            (self.power_failures, "of them with a power failure"),
            (self.refused, "calls refused that had to be"),
            (self.distrusted, "calls refused because the result could not be trusted"),
            (self.distrusted_easy, "of them on well-behaved data"),
            (self.exact, "comparisons with a refit that were exact"),
            (self.warned, "that were not, as the model said"),
        ] {
            writeln!(f, "{count:>10} {what}")?;
        }
        Ok(())
    }
}
