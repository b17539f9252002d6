//! Whether rounding errors have damaged the regressions.
//!
//! A regression that forgets is checked by its [`RidgeRefresh`](crate::regression::RidgeRefresh).
//! One that forgets nothing is checked here: at regular intervals its product with a random vector
//! is compared with the true one. If it covers a window, it is rebuilt from the window's samples
//! when the check fails. Without a window there is nothing to rebuild it from, so the result is
//! only reported. Learning adds up positive numbers, so rounding errors grow slowly: after ten
//! million samples they are at 1e-13.

use crate::{
    error::{Error, ModelFileError},
    regression::factor::{Factor, Health, Probe, Update},
    state::{ReadScope, WriteScope},
};

/// The number of samples between two checks.
const CHECK_EVERY: usize = 1024;

/// A regression with a larger residual is rebuilt, if possible.
const LARGEST_RESIDUAL: f64 = 1e-8;

/// The numerical state of one regression of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RegressionHealth {
    /// The regression's name among the [members](crate::Classifier::members) of its model.
    pub name: String,
    /// The number of features it sees.
    pub features: usize,
    /// The state of its factor now.
    pub now: Health,
    /// The largest residual of all checks so far.
    pub worst_residual: f64,
    /// How often it was rebuilt from its sums or samples.
    pub refreshes: u64,
}

/// Monitors the rounding errors of a regression that forgets nothing.
#[derive(Clone, Debug)]
pub(crate) struct RoundingMonitor {
    probe: Probe,
    ridge: f64,
    since_check: usize,
    worst_residual: f64,
    rebuilds: u64,
}

impl RoundingMonitor {
    pub(crate) fn new(order: usize, ridge: f64) -> Self {
        let probe = Probe::new(order, ridge);
        RoundingMonitor { probe, ridge, since_check: 0, worst_residual: 0.0, rebuilds: 0 }
    }

    /// How many samples may be learned at once, so that checks happen after the same samples
    /// whatever the block size.
    pub(crate) fn until_check(&self) -> usize {
        CHECK_EVERY - self.since_check
    }

    /// Records that the factor has learned samples and unlearned others. Returns whether it is
    /// sound.
    pub(crate) fn follow(
        &mut self,
        factor: &Factor,
        learned: Update<'_>,
        removed: Option<Update<'_>>,
    ) -> Result<bool, Error> {
        self.probe.learn(learned)?;
        if let Some(removed) = removed {
            self.probe.unlearn(removed)?;
        }
        self.since_check += learned.weights.len();
        if self.since_check < CHECK_EVERY {
            return Ok(true);
        }
        self.since_check = 0;
        let residual = self.probe.check(factor).residual;
        self.worst_residual = self.worst_residual.max(residual);
        Ok(residual <= LARGEST_RESIDUAL)
    }

    /// Records that the factor has unlearned samples.
    pub(crate) fn unlearn(&mut self, removed: Update<'_>) -> Result<(), Error> {
        self.probe.unlearn(removed)
    }

    /// Records that the targets of a sample were corrected.
    pub(crate) fn correct(
        &mut self,
        features: &[f64],
        change: &[f64],
        weight: f64,
    ) -> Result<(), Error> {
        self.probe.correct(features, change, weight)
    }

    /// Records that the factor was rebuilt and now represents `samples` samples.
    pub(crate) fn rebuilt(&mut self, factor: &Factor, samples: u64) {
        self.probe = Probe::of(factor, self.ridge, samples);
        self.rebuilds = self.rebuilds.saturating_add(1);
    }

    pub(crate) fn health(&self, name: String, factor: &Factor) -> RegressionHealth {
        RegressionHealth {
            name,
            features: factor.order(),
            now: self.probe.check(factor),
            worst_residual: self.worst_residual,
            refreshes: self.rebuilds,
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.probe.save(&mut to.scope("probe"));
        to.integer("since_check", self.since_check);
        to.float("worst_residual", self.worst_residual);
        to.integer("rebuilds", self.rebuilds);
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.probe.restore(&from.scope("probe")?)?;
        self.since_check = from.count("since_check", CHECK_EVERY - 1)?;
        self.worst_residual = from.float("worst_residual", 0.0..=f64::MAX)?;
        self.rebuilds = from.integer("rebuilds")?;
        Ok(())
    }
}
