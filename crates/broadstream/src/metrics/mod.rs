//! How well a model predicts: counts, rates and losses, kept up to date sample by sample.
//!
//! In test-then-train evaluation each sample is first predicted and then learned, so each
//! prediction is a fair test, and a metric describes the whole stream so far. The metrics of the
//! paper's appendix C are here (accuracy, error, balanced accuracy and its average, macro F1,
//! Matthews), with Cohen's kappa, two losses of probabilities, and their calibration. Each is
//! defined in its own file, and equals scikit-learn's function of the same purpose if there is one.
//!
//! - [`Metrics`] holds everything at once, over the whole stream and over a [`Window`].
//! - [`ConfusionMatrix`] has the counts; [`oca`], [`oce`], [`bacc`], [`macro_f1`], [`mcc()`],
//!   [`kappa()`] and [`per_class()`] read them.
//! - [`AverageBalancedAccuracy`], [`LogLoss`], [`BrierScore`] and [`Calibration`] need each sample
//!   as it comes.
//!
//! No metric is ever NaN or infinite: without samples, and where a formula gives 0/0, it is 0.

mod accuracy;
mod average_balanced_accuracy;
mod balanced_accuracy;
mod brier;
mod calibration;
mod confusion;
mod f1;
mod kappa;
mod log_loss;
mod mcc;
mod mean;
mod per_class;
mod sliding_sum;
mod window;

pub use self::{
    accuracy::{oca, oce},
    average_balanced_accuracy::AverageBalancedAccuracy,
    balanced_accuracy::bacc,
    brier::{BrierScore, brier_score},
    calibration::{Calibration, ReliabilityBin},
    confusion::ConfusionMatrix,
    f1::macro_f1,
    kappa::kappa,
    log_loss::{LogLoss, log_loss},
    mcc::mcc,
    per_class::{PerClass, per_class},
    window::{Window, WindowSummary},
};

use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The most samples that a restored metric may have counted: more than any run has, and few enough
/// that counts can grow further and are exact as floating-point numbers.
const MOST_SAMPLES: u64 = 1 << 53;

/// All metrics, over the whole stream and over a window of its last samples.
///
/// ```
/// use broadstream::metrics::Metrics;
///
/// let mut metrics = Metrics::new(2);
/// metrics.add(0, None, &[]);
/// metrics.add(1, Some(0), &[1.0]);
/// metrics.add(1, Some(1), &[0.25, 0.75]);
/// metrics.add(0, Some(0), &[0.5, 0.5]);
/// assert_eq!(metrics.summary().oca, 0.5);
/// assert_eq!(metrics.window_summary().oca, 1.0);
/// ```
#[derive(Clone, Debug)]
pub struct Metrics {
    confusion: ConfusionMatrix,
    average_balanced_accuracy: AverageBalancedAccuracy,
    log_loss: LogLoss,
    brier: BrierScore,
    calibration: Calibration,
    window: Window,
}

/// The values of all metrics over all samples so far.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The number of samples.
    pub samples: u64,
    /// The number of classes that occurred, as truth or as prediction.
    pub classes: usize,
    /// [Online cumulative accuracy](oca).
    pub oca: f64,
    /// [Online cumulative error](oce).
    pub oce: f64,
    /// [Balanced accuracy](bacc).
    pub bacc: f64,
    /// [Average balanced accuracy](AverageBalancedAccuracy).
    pub avrbacc: f64,
    /// [Macro F1](macro_f1).
    pub f1: f64,
    /// [Matthews correlation coefficient](mcc()).
    pub mcc: f64,
    /// [Cohen's kappa](kappa()).
    pub kappa: f64,
    /// Mean [log loss](LogLoss).
    pub log_loss: f64,
    /// Mean [Brier score](BrierScore).
    pub brier: f64,
    /// [Expected calibration error](Calibration).
    pub ece: f64,
}

impl Summary {
    /// The metrics under the names of their fields, which JSON and Python use too.
    pub fn named(&self) -> [(&'static str, f64); 10] {
        [
            ("oca", self.oca),
            ("oce", self.oce),
            ("bacc", self.bacc),
            ("avrbacc", self.avrbacc),
            ("f1", self.f1),
            ("mcc", self.mcc),
            ("kappa", self.kappa),
            ("log_loss", self.log_loss),
            ("brier", self.brier),
            ("ece", self.ece),
        ]
    }
}

impl Metrics {
    /// Metrics without samples, with a window of the last `window` samples.
    pub fn new(window: usize) -> Self {
        Metrics {
            confusion: ConfusionMatrix::new(),
            average_balanced_accuracy: AverageBalancedAccuracy::new(),
            log_loss: LogLoss::new(),
            brier: BrierScore::new(),
            calibration: Calibration::new(),
            window: Window::new(window),
        }
    }

    /// Adds a sample: its class, what the model predicted (`None` for nothing), and the
    /// probabilities of the classes known to the model, which may be fewer than there are.
    pub fn add(&mut self, truth: usize, predicted: Option<usize>, probabilities: &[f64]) {
        self.confusion.add(truth, predicted);
        self.average_balanced_accuracy.add(&self.confusion);
        self.log_loss.add(probabilities, truth);
        self.brier.add(probabilities, truth);
        self.calibration.add(truth, predicted, probabilities);
        self.window.add(truth, predicted, probabilities);
    }

    /// The counts of all samples so far.
    pub fn confusion(&self) -> &ConfusionMatrix {
        &self.confusion
    }

    /// How confidence and accuracy compare over all samples so far.
    ///
    /// ```
    /// use broadstream::metrics::Metrics;
    ///
    /// let mut metrics = Metrics::new(2);
    /// metrics.add(0, Some(0), &[0.9, 0.1]);
    /// let filled: Vec<_> = metrics.calibration().bins().filter(|bin| bin.count > 0).collect();
    /// assert_eq!((filled[0].confidence, filled[0].accuracy), (0.9, 1.0));
    /// ```
    pub fn calibration(&self) -> &Calibration {
        &self.calibration
    }

    /// The metrics of the last samples.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// All metrics of all samples so far.
    pub fn summary(&self) -> Summary {
        Summary {
            samples: self.confusion.samples(),
            classes: self.confusion.classes(),
            oca: oca(&self.confusion),
            oce: oce(&self.confusion),
            bacc: bacc(&self.confusion),
            avrbacc: self.average_balanced_accuracy.value(),
            f1: macro_f1(&self.confusion),
            mcc: mcc(&self.confusion),
            kappa: kappa(&self.confusion),
            log_loss: self.log_loss.value(),
            brier: self.brier.value(),
            ece: self.calibration.ece(),
        }
    }

    /// All metrics of the last samples.
    pub fn window_summary(&self) -> WindowSummary {
        self.window.summary()
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        self.confusion.save(&mut to.scope("confusion"));
        self.average_balanced_accuracy.save(&mut to.scope("average_balanced_accuracy"));
        self.log_loss.save(&mut to.scope("log_loss"));
        self.brier.save(&mut to.scope("brier"));
        self.calibration.save(&mut to.scope("calibration"));
        self.window.save(&mut to.scope("window"));
    }

    /// Takes over saved metrics; all parts must have counted the same samples.
    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        self.confusion.restore(&from.scope("confusion")?)?;
        self.average_balanced_accuracy.restore(&from.scope("average_balanced_accuracy")?)?;
        self.log_loss.restore(&from.scope("log_loss")?)?;
        self.brier.restore(&from.scope("brier")?)?;
        self.calibration.restore(&from.scope("calibration")?)?;
        self.window.restore(&from.scope("window")?)?;
        let samples = self.confusion.samples();
        let within = samples.min(self.window.capacity() as u64);
        let counts = [
            ("average_balanced_accuracy", self.average_balanced_accuracy.count(), samples),
            ("log_loss", self.log_loss.count(), samples),
            ("brier", self.brier.count(), samples),
            (
                "calibration",
                self.calibration.count(),
                samples - self.confusion.unpredicted_in_all(),
            ),
            ("window", self.window.confusion().samples(), within),
        ];
        for (part, found, expected) in counts {
            let rule =
                format!("of {expected} samples, as the confusion matrix has it, not {found}");
            from.check(part, found == expected, &rule)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{numeric::Random, state::StateWriter};

    /// Adds samples of four classes with unusual predictions and probabilities.
    fn add(metrics: &mut Metrics, random: &mut Random, samples: usize) {
        for _ in 0..samples {
            let known = random.below(5) as usize;
            let probabilities: Vec<f64> = (0..known).map(|_| random.signed_unit().abs()).collect();
            let predicted = (known > 0).then(|| random.below(known as u64) as usize);
            metrics.add(random.below(4) as usize, predicted, &probabilities);
        }
    }

    #[test]
    fn restored_metrics_are_those_that_were_saved() {
        for capacity in [0, 1, 7, 50] {
            let mut random = Random::new(capacity as u64, "test", "saved metrics");
            let mut metrics = Metrics::new(capacity);
            for _ in 0..12 {
                let mut state = StateWriter::default();
                metrics.save(&mut state.root());
                let mut restored = Metrics::new(capacity);
                state.read_back(|from| restored.restore(from)).unwrap();
                assert_eq!(format!("{restored:?}"), format!("{metrics:?}"));
                add(&mut metrics, &mut random, 9);
            }
        }
    }

    #[test]
    fn altered_metrics_are_refused_or_can_go_on() {
        let mut random = Random::new(1, "test", "altered metrics");
        let mut metrics = Metrics::new(7);
        add(&mut metrics, &mut random, 31);
        let mut state = StateWriter::default();
        metrics.save(&mut state.root());
        let alterations = state.alterations();
        let mut refused = 0;
        for (entry, altered) in &alterations {
            let mut restored = Metrics::new(7);
            match altered.read_back(|from| restored.restore(from)) {
                Ok(()) => add(&mut restored, &mut random, 40),
                Err(_) => refused += 1,
            }
            let (all, last) = (restored.summary(), restored.window_summary());
            let losses = [all.avrbacc, all.log_loss, all.brier, all.ece, last.log_loss, last.brier];
            assert!(losses.iter().all(|loss| loss.is_finite()), "{entry}: {losses:?}");
        }
        assert!(refused > alterations.len() / 2, "{refused} of {}", alterations.len());
    }
}
