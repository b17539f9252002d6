//! When a regression that remembers everything is to begin anew.
//!
//! After a drift, what was learned before it is in the way. That shows when a regression which forgets
//! does better: the sum of by how much, less an allowance per sample and never below zero, grows
//! steadily then, and stays near zero otherwise (Page's cumulative sum). Comparing two models on the
//! same samples cancels the noise of the labels, which an error rate alone would have to average out.

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// By how much the other must be better per sample, in squared error.
const ALLOWANCE: f64 = 0.01;

/// How much better in sum is taken for a drift.
const THRESHOLD: f64 = 20.0;

/// Samples that the regression is given before it is judged again.
const GRACE: u64 = 600;

/// Watches one regression beside others.
#[derive(Clone, Debug)]
pub(crate) struct Restart {
    /// For each of the others, by how much it was better in sum.
    sums: Vec<f64>,
    samples: u64,
    due: bool,
}

impl Restart {
    pub(crate) fn new(others: usize) -> Self {
        Restart { sums: vec![0.0; others], samples: 0, due: false }
    }

    /// Takes into account the squared errors of one sample.
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

    /// Whether the regression is to begin anew; if so, so does the watch.
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
