//! Whether rounding errors have damaged the regressions.
//!
//! A regression that forgets is checked by its [`RidgeRefresh`](crate::regression::RidgeRefresh).
//! One that forgets nothing is checked here: at regular intervals its product with a random vector
//! is compared with the true one. If it covers a window, it is rebuilt from the window's samples
//! when the check fails. Without a window there is nothing to rebuild it from, so the result is
//! only reported. What a check no longer shows later is kept as [`PastErrors`]. Learning adds up
//! positive numbers, so rounding errors grow slowly: after ten million samples they are at 1e-13.

use crate::{
    error::{Error, ModelFileError},
    regression::factor::{Factor, Health, PastErrors, Probe, Update},
    state::{ReadScope, WriteScope},
};

/// The number of samples between two checks, and before the first. In between the intervals double. A
/// check costs as much as learning some fifty samples.
const CHECK_EVERY: usize = 4096;
const FIRST_CHECK: usize = 64;

/// The same for a regression that covers a window, since unlearning loses digits sooner.
const CHECK_WINDOW_EVERY: usize = 256;

/// Scores that may be off by more than this, relative to the largest, cannot be trusted. Operations
/// that promise exactness are refused then.
pub const LARGEST_ERROR: f64 = 1e-7;

/// A regression that covers a window is rebuilt long before that.
const REBUILD_ERROR: f64 = LARGEST_ERROR / 100.0;

/// By how much the error that a rebuild could not remove may grow before the next one.
const GROWTH: f64 = 4.0;

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

/// What is known of the rounding errors of a factor that is merged into another.
pub(crate) struct Inherited<'a> {
    pub(crate) probe: &'a Probe,
    /// The errors that the probe will not show in the merged factor.
    pub(crate) past: PastErrors,
}

/// Monitors the rounding errors of a regression that forgets nothing.
#[derive(Clone, Debug)]
pub(crate) struct RoundingMonitor {
    probe: Probe,
    since_check: usize,
    worst_residual: f64,
    /// The error of scores at the last check, if the regression covers a window.
    error: f64,
    /// The same right after the last rebuild.
    rebuilt_error: f64,
    /// The errors that the probe does not show any more, or never did.
    past: PastErrors,
    /// Whether `past` has what learning has lost until now.
    learning_counted: bool,
    rebuilds: u64,
}

impl RoundingMonitor {
    pub(crate) fn new(order: usize, ridge: f64) -> Self {
        RoundingMonitor {
            probe: Probe::new(order, ridge),
            since_check: CHECK_EVERY - FIRST_CHECK,
            worst_residual: 0.0,
            error: 0.0,
            rebuilt_error: 0.0,
            past: PastErrors::default(),
            learning_counted: false,
            rebuilds: 0,
        }
    }

    /// What the [prefix](Factor::prefix) of its factor needs. The prefix counts as exact.
    pub(crate) fn prefix(&self, factor: &Factor) -> Self {
        let (probe, past) = (self.probe.prefix(factor), self.past.prefix(factor));
        RoundingMonitor { probe, past, ..*self }
    }

    /// How many samples may be learned at once, so that checks happen after the same samples
    /// whatever the block size.
    pub(crate) fn until_check(&self) -> usize {
        CHECK_EVERY - self.since_check
    }

    /// Records that the factor has learned samples.
    pub(crate) fn learn(&mut self, factor: &Factor, learned: Update<'_>) {
        self.probe.follow(learned);
        self.learning_counted = false;
        if self.is_due(learned) {
            let (residual, error) = self.probe.residual_and_error(factor);
            self.worst_residual = self.worst_residual.max(residual);
            self.remember_error(factor, error);
            let samples = usize::try_from(self.probe.samples()).unwrap_or(CHECK_EVERY);
            self.since_check = CHECK_EVERY - samples.clamp(FIRST_CHECK, CHECK_EVERY);
        }
    }

    /// Counts the error as past if scores cannot be trusted. Samples that improve the condition later
    /// make the probe see less of it, and do not undo it.
    fn remember_error(&mut self, factor: &Factor, error: f64) {
        let known = self.past.of_scores(factor, self.probe.ridge());
        if error > LARGEST_ERROR.max(known) {
            // The probe shows all directions together already, which past errors count once more.
            self.past.add(factor, (error - known) / (factor.order() as f64).sqrt());
        }
    }

    /// Records that the factor has learned a sample and unlearned another. Returns whether it is
    /// still sound; otherwise it must be rebuilt from the samples.
    pub(crate) fn slide(
        &mut self,
        factor: &Factor,
        learned: Update<'_>,
        removed: Update<'_>,
    ) -> Result<bool, Error> {
        self.probe.follow(learned);
        self.probe.unlearn(removed)?;
        if self.is_due(learned) {
            self.since_check = CHECK_EVERY - CHECK_WINDOW_EVERY;
            self.check_window(factor);
        }
        // If a rebuild has left a larger error, another one would not help before it has grown.
        Ok(self.error <= REBUILD_ERROR.max(GROWTH * self.rebuilt_error))
    }

    fn is_due(&mut self, learned: Update<'_>) -> bool {
        self.since_check += learned.weights.len();
        let due = self.since_check >= CHECK_EVERY;
        if due {
            self.since_check = 0;
        }
        due
    }

    fn check_window(&mut self, factor: &Factor) {
        self.error = self.error_now(factor);
        self.worst_residual = self.worst_residual.max(self.error);
    }

    /// The error of scores at the last check, if the regression covers a window.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// Records that the factor has unlearned samples.
    pub(crate) fn unlearn(&mut self, removed: Update<'_>) -> Result<(), Error> {
        self.probe.unlearn(removed)
    }

    /// Records that the factor is about to unlearn samples, or its window to lose one. What learning
    /// has lost can count for more afterwards.
    pub(crate) fn prepare_to_unlearn(&mut self, factor: &Factor) {
        self.count_learning(factor);
        if !self.probe.is_aimed() {
            self.probe.aim(factor);
        }
    }

    /// Counts what learning has lost as past. The errors of Q stay visible to the probe.
    fn count_learning(&mut self, factor: &Factor) {
        if !self.learning_counted {
            let [of_k, _] = self.probe.learning_errors(factor);
            self.past.add(factor, of_k);
            self.learning_counted = true;
        }
    }

    /// Records what unlearning has cost.
    pub(crate) fn unlearned(&mut self, before: &Factor, after: &Factor, removed: Update<'_>) {
        self.past.add(after, Probe::unlearning_error(before, after, removed));
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

    /// Records that the factor was rebuilt from the samples that it represents.
    pub(crate) fn rebuilt(&mut self, factor: &Factor) {
        self.probe.aim(factor);
        self.past = PastErrors::default();
        self.learning_counted = false;
        self.count_learning(factor);
        self.check_window(factor);
        self.rebuilt_error = self.error;
        self.rebuilds = self.rebuilds.saturating_add(1);
    }

    /// Records that the factor has merged another. The factors before, the other and after are given,
    /// and the other's numbers of targets here.
    pub(crate) fn merge(
        &mut self,
        inherited: &Inherited<'_>,
        [before, other, after]: [&Factor; 3],
        classes: &[usize],
    ) {
        if self.probe.is_aimed() {
            self.count_learning(before);
        }
        self.past.merge(&inherited.past);
        self.past.add(after, Probe::merging_error(before, other, after, self.probe.ridge()));
        self.probe.merge(inherited.probe, other, classes);
        self.learning_counted = false;
        self.rebuilds = self.rebuilds.saturating_add(1);
    }

    /// What another regression that merges this one, with its factor, needs to know.
    pub(crate) fn to_inherit(&self, factor: &Factor) -> Inherited<'_> {
        let mut past = self.past.clone();
        // What unlearning has cost is among the past errors, so the vector that shows it is left out.
        let error = match self.probe.is_aimed() {
            true => self.probe.learning_errors(factor).iter().sum(),
            false => self.probe.error(factor),
        };
        past.add(factor, error);
        Inherited { probe: &self.probe, past }
    }

    /// How far scores may be off now.
    fn error_now(&self, factor: &Factor) -> f64 {
        (self.probe.error(factor) + self.past.of_scores(factor, self.probe.ridge())).min(f64::MAX)
    }

    pub(crate) fn health(&self, name: String, factor: &Factor) -> RegressionHealth {
        let mut now = self.probe.check(factor);
        now.error = (now.error + self.past.of_scores(factor, self.probe.ridge())).min(f64::MAX);
        RegressionHealth {
            name,
            features: factor.order(),
            now,
            worst_residual: self.worst_residual,
            refreshes: self.rebuilds,
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.probe.save(&mut to.scope("probe"));
        to.integer("since_check", self.since_check);
        to.float("worst_residual", self.worst_residual);
        to.float("error", self.error);
        to.float("rebuilt_error", self.rebuilt_error);
        self.past.save(to);
        to.value("learning_counted", self.learning_counted);
        to.integer("rebuilds", self.rebuilds);
    }

    /// Restores the monitor of this factor.
    pub(crate) fn restore(
        &mut self,
        from: &ReadScope<'_>,
        factor: &Factor,
    ) -> Result<(), ModelFileError> {
        self.probe.restore(&from.scope("probe")?)?;
        self.since_check = from.count("since_check", CHECK_EVERY - 1)?;
        self.worst_residual = from.float("worst_residual", 0.0..=f64::MAX)?;
        self.error = from.optional_float("error", 0.0..=f64::MAX)?;
        self.rebuilt_error = from.optional_float("rebuilt_error", 0.0..=f64::MAX)?;
        self.past = PastErrors::restore(from, factor)?;
        // Files of earlier versions do not tell it; then it is counted once more.
        self.learning_counted = from.has("learning_counted") && from.flag("learning_counted")?;
        self.rebuilds = from.integer("rebuilds")?;
        Ok(())
    }
}
