//! The options of an evaluation.

use std::fmt::Debug;

use crate::{decision::Costs, drift::Adwin, error::Error};

/// The options of an evaluation.
#[derive(Clone, Debug)]
pub struct PrequentialOptions {
    /// The number of samples that are read and learned at once. It affects the speed, never the
    /// result. Default 64.
    pub block: usize,
    /// The largest number of samples to take from the stream. Default `None`: all.
    pub limit: Option<u64>,
    /// The number of last samples that the windowed metrics cover. Default 1000.
    pub metrics_window: usize,
    /// The number of samples between two points of the curve; the last point is at the end. Default
    /// `None`: no curve.
    pub curve_every: Option<u64>,
    /// The probability of reporting a drift where there is none: the δ of [`Adwin`], which watches
    /// the model's errors. A smaller value makes detection more cautious and slower. Default 0.002.
    pub drift_confidence: f64,
    /// Whether the times of predicting and of learning are measured separately. The model then gets
    /// one sample at a time, which is slower and gives the same result. Default false.
    pub separate_times: bool,
    /// By how many samples labels are delayed: with a delay of n, a sample is learned just before
    /// the n-th sample after it is predicted. Until then its class is not predicted if it is new.
    /// Samples whose labels have not arrived by the end are not learned. 0 and 1 are the same:
    /// each sample is learned before the next one is predicted. Default 0.
    ///
    /// ```
    /// use broadstream::{
    ///     PrequentialOptions, baselines::NoChange, evaluate, stream::synth::Stagger,
    /// };
    ///
    /// let errors = |delay| {
    ///     let mut stream = Stagger::new(0, false, 42)?.take(500);
    ///     let options = PrequentialOptions { delay, ..PrequentialOptions::default() };
    ///     let found = evaluate(&mut stream, &mut NoChange::new(), &options)?;
    ///     Ok::<_, broadstream::Error>(found.metrics.summary().oce)
    /// };
    /// assert_eq!(errors(0)?, errors(1)?);
    /// assert!(errors(100)? > 100.0 / 500.0, "for 100 samples no class is known");
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub delay: u64,
    /// Whether a sample that the model could not answer, because it had seen no label yet, counts as an
    /// error. Without delay that is the first sample alone; with late labels it is every sample before the
    /// first label arrives. Not with checkpoints. Default true.
    ///
    /// ```
    /// use broadstream::{
    ///     PrequentialOptions, baselines::NoChange, evaluate, stream::synth::Stagger,
    /// };
    ///
    /// let counted = |count_unanswered| {
    ///     let mut stream = Stagger::new(0, false, 42)?.take(500);
    ///     let options =
    ///         PrequentialOptions { delay: 100, count_unanswered, ..PrequentialOptions::default() };
    ///     let found = evaluate(&mut stream, &mut NoChange::new(), &options)?;
    ///     Ok::<_, broadstream::Error>(found.metrics.summary().samples)
    /// };
    /// assert_eq!((counted(true)?, counted(false)?), (500, 400));
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub count_unanswered: bool,
    /// What decisions cost, by label. Each is then the one with the least expected cost, which may be to
    /// abstain, whatever the model's objective is. It is an error if a label of the stream has no
    /// costs. Default `None`: decisions are the model's own.
    pub costs: Option<Costs>,
    /// The number of samples between two [checkpoints](super::Progress::Checkpoint), at which an
    /// [`Evaluator`](super::Evaluator) stops; the last one is at the end. Blocks end at
    /// checkpoints, which does not change the result. Default `None`: no checkpoints.
    pub checkpoint_every: Option<u64>,
}

impl Default for PrequentialOptions {
    fn default() -> Self {
        PrequentialOptions {
            block: 64,
            limit: None,
            metrics_window: 1000,
            curve_every: None,
            drift_confidence: Adwin::CONFIDENCE,
            separate_times: false,
            delay: 0,
            count_unanswered: true,
            costs: None,
            checkpoint_every: None,
        }
    }
}

impl PrequentialOptions {
    /// Checks all rules, as [`evaluate`](super::evaluate) does.
    pub fn check(&self) -> Result<(), Error> {
        let sizes = [
            ("block", self.block as u64),
            ("metrics_window", self.metrics_window as u64),
            ("limit", self.limit.unwrap_or(1)),
            ("curve_every", self.curve_every.unwrap_or(1)),
            ("checkpoint_every", self.checkpoint_every.unwrap_or(1)),
        ];
        if !self.count_unanswered && self.checkpoint_every.is_some() {
            let (option, rule) = ("count_unanswered", "true with checkpoints");
            return Err(Error::Config { option, rule, value: "false".to_owned() });
        }
        match sizes.into_iter().find(|(_, value)| *value == 0) {
            Some((option, value)) => {
                Err(Error::Config { option, rule: "at least 1", value: value.to_string() })
            }
            None => Adwin::new(self.drift_confidence).map(|_| ()),
        }
    }

    /// Checks that an evaluation which started with the options `first` can continue with these
    /// after `samples` samples: options that affect the result must be the same.
    pub(super) fn check_continues(&self, first: &Self, samples: u64) -> Result<(), Error> {
        let seen = |given: &dyn Debug, first: &dyn Debug| format!("{given:?} instead of {first:?}");
        let changed = [
            (
                "metrics_window",
                self.metrics_window != first.metrics_window,
                seen(&self.metrics_window, &first.metrics_window),
            ),
            (
                "curve_every",
                self.curve_every != first.curve_every,
                seen(&self.curve_every, &first.curve_every),
            ),
            (
                "drift_confidence",
                self.drift_confidence != first.drift_confidence,
                seen(&self.drift_confidence, &first.drift_confidence),
            ),
            (
                "separate_times",
                self.separate_times != first.separate_times,
                seen(&self.separate_times, &first.separate_times),
            ),
            ("delay", self.delay != first.delay, seen(&self.delay, &first.delay)),
            ("costs", self.costs != first.costs, seen(&self.costs, &first.costs)),
        ];
        if let Some((option, _, value)) = changed.into_iter().find(|(_, changed, _)| *changed) {
            let rule = "the one that the evaluation started with";
            return Err(Error::Config { option, rule, value });
        }
        match self.limit {
            Some(limit) if limit < samples => Err(Error::Config {
                option: "limit",
                rule: "at least the number of samples that were already evaluated",
                value: format!("{limit} after {samples} samples"),
            }),
            _ => Ok(()),
        }
    }

    /// After how many samples a label is known: 1 means before the next sample, also if the option
    /// is 0.
    pub(super) fn label_delay(&self) -> u64 {
        self.delay.max(1)
    }
}
