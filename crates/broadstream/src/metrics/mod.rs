//! How well a model predicts: counts, rates and losses, kept up to date sample by sample.
//!
//! In test-then-train evaluation each sample is first predicted and then learned, so each
//! prediction is a fair test, and a metric describes the whole stream so far. The metrics of the
//! paper's appendix C are here (accuracy, error, balanced accuracy and its average, macro F1,
//! Matthews), with Cohen's kappa and those of MOA, the geometric mean of recalls, areas under
//! curves for rare classes, two losses of probabilities, and their calibration. Each is defined in
//! its own file, and equals scikit-learn's function of the same purpose if there is one.
//!
//! - [`Metrics`] holds everything at once, over the whole stream and over a [`Window`].
//! - [`ConfusionMatrix`] has the counts; [`oca`], [`oce`], [`bacc`], [`macro_f1`], [`mcc()`],
//!   [`kappa()`], [`gmean()`] and [`per_class()`] read them.
//! - [`AverageBalancedAccuracy`], [`LogLoss`], [`BrierScore`], [`Calibration`],
//!   [`ClassCalibration`] and [`Ranking`] need each sample as it comes.
//! - [`ObjectiveSummary`] says what decisions for another objective would have been worth.
//!
//! No metric is ever NaN or infinite: without samples, and where a formula gives 0/0, it is 0.

mod accuracy;
mod average_balanced_accuracy;
mod balanced_accuracy;
mod brier;
mod by_objective;
mod calibration;
mod class_calibration;
mod confusion;
mod f1;
mod gmean;
mod kappa;
mod log_loss;
mod mcc;
mod mean;
mod per_class;
mod ranking;
mod references;
mod sliding_sum;
mod window;

pub use self::{
    accuracy::{oca, oce},
    average_balanced_accuracy::AverageBalancedAccuracy,
    balanced_accuracy::bacc,
    brier::{BrierScore, brier_score},
    by_objective::ObjectiveSummary,
    calibration::{Calibration, ReliabilityBin},
    class_calibration::ClassCalibration,
    confusion::ConfusionMatrix,
    f1::macro_f1,
    gmean::gmean,
    kappa::kappa,
    log_loss::{LogLoss, log_loss},
    mcc::mcc,
    per_class::{PerClass, per_class},
    ranking::Ranking,
    window::{Window, WindowSummary},
};

use self::{by_objective::ByObjective, references::References};
use crate::{
    data::{Decisions, Objective},
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// The share of samples for which an alarm may be raised, in the recall at a fixed alarm rate.
pub const ALARM_RATE: f64 = 0.05;

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
    class_calibration: ClassCalibration,
    ranking: Ranking,
    references: References,
    /// The decisions under each objective, if the model has objectives.
    by_objective: Option<Box<ByObjective>>,
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
    /// The [geometric mean](gmean()) of the recalls.
    pub gmean: f64,
    /// Accuracy in relation to that of the majority classifier, as MOA defines it.
    pub kappa_m: f64,
    /// Accuracy in relation to that of the no-change classifier, as MOA defines it.
    pub kappa_t: f64,
    /// Mean [area under the ROC curve](Ranking::auc) of the classes.
    pub auc: f64,
    /// Mean [average precision](Ranking::average_precision) of the classes.
    pub auprc: f64,
    /// The [recall](Ranking::recall_at) of the rarest class at an alarm rate of [`ALARM_RATE`].
    pub recall_at_alarms: f64,
    /// [Class-wise calibration error](ClassCalibration).
    pub ece_by_class: f64,
    /// The share of samples for which something was decided.
    pub coverage: f64,
    /// The mean cost of the decisions, if costs were given.
    pub cost: Option<f64>,
}

impl Summary {
    /// The metrics under the names of their fields, which JSON and Python use too.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let metrics = [
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
            ("gmean", self.gmean),
            ("kappa_m", self.kappa_m),
            ("kappa_t", self.kappa_t),
            ("auc", self.auc),
            ("auprc", self.auprc),
            ("recall_at_alarms", self.recall_at_alarms),
            ("ece_by_class", self.ece_by_class),
            ("coverage", self.coverage),
        ];
        metrics.into_iter().chain(self.cost.map(|cost| ("cost", cost))).collect()
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
            class_calibration: ClassCalibration::new(),
            ranking: Ranking::new(),
            references: References::default(),
            by_objective: None,
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
        self.class_calibration.add(truth, probabilities);
        self.ranking.add(truth, probabilities);
        self.references.add(truth, &self.confusion);
        self.window.add(truth, predicted, probabilities);
    }

    /// Adds what the model would have decided for a sample of class `truth` under each objective.
    pub fn add_decisions(&mut self, truth: usize, decisions: &Decisions) {
        self.by_objective.get_or_insert_default().add(truth, decisions);
    }

    /// The counts of the decisions under an objective, if they were
    /// [added](Self::add_decisions).
    ///
    /// ```
    /// use broadstream::{
    ///     Objective, OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate,
    ///     metrics::ObjectiveSummary, stream::synth::Stagger,
    /// };
    ///
    /// let mut stream = Stagger::new(0, false, 42)?.take(300);
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// let result = evaluate(&mut stream, &mut model, &PrequentialOptions::default())?;
    /// let counts = result.metrics.by_objective(Objective::Accuracy).expect("a model with objectives");
    /// assert_eq!(ObjectiveSummary::of(counts).oca, result.metrics.summary().oca);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn by_objective(&self, objective: Objective) -> Option<&ConfusionMatrix> {
        self.by_objective.as_ref().map(|counts| counts.confusion(objective))
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

    /// How the probability of each class compares with its share, over all samples so far.
    pub fn class_calibration(&self) -> &ClassCalibration {
        &self.class_calibration
    }

    /// How the probability of each class ranks all samples so far.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
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
            gmean: gmean(&self.confusion),
            kappa_m: self.references.kappa_m(&self.confusion),
            kappa_t: self.references.kappa_t(&self.confusion),
            auc: self.ranking.auc(),
            auprc: self.ranking.average_precision(),
            recall_at_alarms: recall_of_rarest(&self.ranking, &self.confusion),
            ece_by_class: self.class_calibration.ece(),
            coverage: coverage(&self.confusion),
            cost: None,
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
        self.class_calibration.save(&mut to.scope("class_calibration"));
        self.ranking.save(&mut to.scope("ranking"));
        self.references.save(&mut to.scope("references"));
        if let Some(by_objective) = &self.by_objective {
            by_objective.save(&mut to.scope("by_objective"));
        }
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
        // Earlier files lack these, which then count the samples from here on.
        if from.has("ranking") {
            self.class_calibration.restore(&from.scope("class_calibration")?)?;
            self.ranking.restore(&from.scope("ranking")?)?;
            self.references.restore(&from.scope("references")?)?;
            from.check("ranking", self.ranking.samples() <= samples, "of at most all samples")?;
        }
        if from.has("by_objective") {
            let by_objective = self.by_objective.get_or_insert_default();
            by_objective.restore(&from.scope("by_objective")?)?;
            let sound = by_objective.samples() <= samples;
            from.check("by_objective", sound, "of at most all samples")?;
        }
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

/// The share of samples for which something was decided; 1 without samples.
fn coverage(confusion: &ConfusionMatrix) -> f64 {
    let undecided = confusion.unpredicted_in_all() as f64;
    1.0 - undecided / confusion.samples().max(1) as f64
}

/// The recall of the rarest class that has occurred, at a fixed alarm rate; of equals the first counts.
fn recall_of_rarest(ranking: &Ranking, confusion: &ConfusionMatrix) -> f64 {
    let occurred = confusion.class_counts().filter(|(_, counts)| counts.support > 0);
    let rarest = occurred.min_by_key(|(_, counts)| counts.support);
    rarest.and_then(|(class, _)| ranking.recall_at(class, ALARM_RATE)).unwrap_or(0.0)
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
            let truth = random.below(4) as usize;
            metrics.add(truth, predicted, &probabilities);
            metrics.add_decisions(truth, &Decisions::same(predicted));
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
            let others = all.named().into_iter().chain(last.named()).map(|(_, value)| value);
            let losses: Vec<f64> = losses.into_iter().chain(others).collect();
            assert!(losses.iter().all(|loss| loss.is_finite()), "{entry}: {losses:?}");
        }
        assert!(refused > alterations.len() / 2, "{refused} of {}", alterations.len());
    }
}
