//! When a regression that remembers everything should restart.
//!
//! After a drift, what was learned before it does harm. This shows when a regression that forgets
//! does better. The sum of its advantage, less an allowance per sample and never below zero, then
//! grows steadily, and stays near zero otherwise (Page's cumulative sum). Comparing two models on
//! the same samples cancels the noise of the labels, which an error rate alone would have to
//! average out: on SEA ADWIN finds one of three drifts from the errors of the whole model, and this
//! comparison finds all.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The advantage per sample, in squared error, that the other regression may have without
/// consequence.
const ALLOWANCE: f64 = 0.01;

/// The accumulated advantage that counts as a drift.
const THRESHOLD: f64 = 20.0;

/// The number of samples after a restart during which the regression is not compared.
const GRACE: u64 = 600;

/// Compares one regression with others.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    /// The accumulated advantage of each of the others.
    sums: Vec<f64>,
    samples: u64,
    due: bool,
}

impl Restart {
    pub(crate) fn new(others: usize) -> Self {
        Restart { sums: vec![0.0; others], samples: 0, due: false }
    }

    /// The comparison with other members, given the earlier one that each was or resembles, if it
    /// took part.
    pub(crate) fn reshape(&mut self, sources: impl Iterator<Item = Option<usize>>) {
        self.sums = sources.map(|source| source.map_or(0.0, |source| self.sums[source])).collect();
    }

    /// The number of members that it compares with.
    pub(crate) fn others(&self) -> usize {
        self.sums.len()
    }

    /// Compares the squared errors of one sample.
    pub(crate) fn observe(&mut self, own: f64, others: impl Iterator<Item = f64>) {
        self.samples += 1;
        if self.samples <= GRACE {
            return;
        }
        for (sum, other) in self.sums.iter_mut().zip(others) {
            *sum = (*sum + own - other - ALLOWANCE).max(0.0);
            self.due |= *sum > THRESHOLD;
        }
    }

    /// Whether the regression should restart; if so, the comparison restarts too.
    pub(crate) fn take(&mut self) -> bool {
        let due = self.due;
        if due {
            *self = Restart::new(self.sums.len());
        }
        due
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.floats("sums", self.sums.clone());
        to.integer("samples", self.samples);
        to.value("due", self.due);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.sums = from.floats("sums", self.sums.len())?;
        self.samples = from.integer("samples")?;
        self.due = from.flag("due")?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drift_is_met_and_noise_is_not() {
        let mut restart = Restart::new(2);
        for t in 0..10_000 {
            // Worse in turns, and never by much on average.
            let noise = if t % 2 == 0 { 0.4 } else { -0.4 };
            restart.observe(0.5, [0.5 + noise, 0.52].into_iter());
            assert!(!restart.take(), "sample {t}");
        }
        let drift = (0..).find(|_| {
            restart.observe(0.5, [0.6, 0.3].into_iter());
            restart.take()
        });
        assert_eq!(drift, Some(105), "0.19 a sample reaches 20 with the 106th");
        for _ in 0..GRACE {
            restart.observe(1.0, [0.0, 0.0].into_iter());
            assert!(!restart.take());
        }
    }
}
