//! How a stream is evaluated.

use std::fmt::Debug;

use crate::{drift::Adwin, error::Error};

/// How a stream is evaluated.
#[derive(Clone, Debug)]
pub struct PrequentialOptions {
    /// Samples that are read and learned at once. It changes the speed, never the result. Default 64.
    pub block: usize,
    /// The most samples to take from the stream. Default `None`: all.
    pub limit: Option<u64>,
    /// Samples over which the windowed metrics look back. Default 1000.
    pub metrics_window: usize,
    /// A point of the curve every so many samples, and one at the end. Default `None`: no curve.
    pub curve_every: Option<u64>,
    /// How likely a drift may be reported where there is none: the δ of [`Adwin`], which watches the
    /// model's errors. Less is more careful and slower. Default 0.002.
    pub drift_confidence: f64,
    /// Measure predicting and learning apart. The model then gets one sample at a time, which is
    /// slower and gives the same result. Default off.
    pub separate_times: bool,
    /// How late labels come: a sample is learned just before the one that follows it by so many is
    /// predicted. Until then its class does not compete if it is new, and those that still wait in the
    /// end are not learned. With 0 and with 1 the sample before is known, which is test-then-train.
    /// Default 0.
    ///
    /// ```
    /// use broadstream::{PrequentialOptions, baselines::NoChange, evaluate, stream::synth::Stagger};
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
    /// After how many samples an [`Evaluator`](super::Evaluator) halts for a
    /// [checkpoint](super::Progress::Checkpoint), again and again, and at the end. Blocks end there, which
    /// does not change the result. Default `None`: no checkpoints.
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
            checkpoint_every: None,
        }
    }
}

impl PrequentialOptions {
    /// Checks every rule; [`evaluate`](super::evaluate) does that too.
    pub fn check(&self) -> Result<(), Error> {
        let sizes = [
            ("block", self.block as u64),
            ("metrics_window", self.metrics_window as u64),
            ("limit", self.limit.unwrap_or(1)),
            ("curve_every", self.curve_every.unwrap_or(1)),
            ("checkpoint_every", self.checkpoint_every.unwrap_or(1)),
        ];
        match sizes.into_iter().find(|(_, value)| *value == 0) {
            Some((option, value)) => {
                Err(Error::Config { option, rule: "at least 1", value: value.to_string() })
            }
            None => Adwin::new(self.drift_confidence).map(|_| ()),
        }
    }

    /// Checks that an evaluation which began with the options `first` can go on with these after so
    /// many samples: what has a part in the result must be the same.
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
        ];
        if let Some((option, _, value)) = changed.into_iter().find(|(_, changed, _)| *changed) {
            let rule = "the one that the evaluation began with";
            return Err(Error::Config { option, rule, value });
        }
        match self.limit {
            Some(limit) if limit < samples => Err(Error::Config {
                option: "limit",
                rule: "at least the number of samples that were evaluated before",
                value: format!("{limit} after {samples} samples"),
            }),
            _ => Ok(()),
        }
    }

    /// After how many samples labels are known, whatever they were told: 1 is the next.
    pub(super) fn label_delay(&self) -> u64 {
        self.delay.max(1)
    }
}
