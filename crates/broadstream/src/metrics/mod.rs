//! How well a model predicts: counts, rates and losses, kept up to date sample by sample.
//!
//! In test-then-train evaluation each sample is first predicted and then learned, so each
//! prediction is a fair test, and a metric is a running statement about the whole stream so far.
//! Those of the paper's appendix C are here (accuracy, error, balanced accuracy and its average,
//! macro F1, Matthews), with Cohen's kappa, two losses that judge probabilities, and the calibration of
//! these. Each is written down in its own file, and equals scikit-learn's function of the same purpose,
//! if it has one.
//!
//! - [`Metrics`] holds everything at once, over the whole stream and over a [`Window`].
//! - [`ConfusionMatrix`] has the counts; [`oca`], [`oce`], [`bacc`], [`macro_f1`], [`mcc()`],
//!   [`kappa()`] and [`per_class()`] read them.
//! - [`AverageBalancedAccuracy`], [`LogLoss`], [`BrierScore`] and [`Calibration`] need each sample as
//!   it comes.
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

/// What the metrics say of all samples so far.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// How many samples there were.
    pub samples: u64,
    /// How many classes occurred, as truth or as prediction.
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

impl Metrics {
    /// Metrics without samples, with a window of the last `window` ones.
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
}
