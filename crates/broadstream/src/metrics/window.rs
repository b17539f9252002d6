//! Metrics over the last samples only, which reveal a drift that the whole past would hide.
//!
//! A sample enters the counts when it is added and leaves them after N newer ones, so each metric
//! is always what it would be if the stream had consisted of these N samples.

use super::{
    accuracy::{oca, oce},
    balanced_accuracy::bacc,
    brier::brier_score,
    confusion::{ConfusionMatrix, restored_classes, saved_class},
    coverage,
    f1::macro_f1,
    gmean::gmean,
    kappa::kappa,
    log_loss::log_loss,
    mcc::mcc,
    ranking::{self, Ranking},
    recall_of_rarest,
    references::{References, Right},
    sliding_sum::{SlidingSum, restored_position},
};
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// Metrics over a window of the last samples.
///
/// ```
/// use broadstream::metrics::Window;
///
/// let mut window = Window::new(2);
/// window.add(0, None, &[]);
/// window.add(0, Some(0), &[1.0]);
/// window.add(1, Some(1), &[0.25, 0.75]);
/// let summary = window.summary();
/// assert_eq!((summary.samples, summary.oca), (2, 1.0));
/// ```
#[derive(Clone, Debug)]
pub struct Window {
    capacity: usize,
    /// What is needed of each sample held to remove it.
    ring: Vec<Held>,
    /// Where in the ring the next sample goes.
    next: usize,
    confusion: ConfusionMatrix,
    log_loss: SlidingSum,
    brier: SlidingSum,
    references: References,
    ranking: Ranking,
}

/// A sample in a window.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Held {
    truth: usize,
    predicted: Option<usize>,
    /// Which references were right about it.
    right: Right,
    /// The bins of its probabilities.
    bins: Box<[u16]>,
}

/// The values of the metrics over the samples in a window.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WindowSummary {
    /// The number of samples in the window.
    pub samples: u64,
    /// The number of classes among them, as truth or as prediction.
    pub classes: usize,
    /// [Accuracy](super::oca) within the window.
    pub oca: f64,
    /// [Error rate](super::oce) within the window.
    pub oce: f64,
    /// [Balanced accuracy](super::bacc).
    pub bacc: f64,
    /// [Macro F1](super::macro_f1).
    pub f1: f64,
    /// [Matthews correlation coefficient](super::mcc()).
    pub mcc: f64,
    /// [Cohen's kappa](super::kappa()).
    pub kappa: f64,
    /// Mean [log loss](super::log_loss()).
    pub log_loss: f64,
    /// Mean [Brier score](super::brier_score).
    pub brier: f64,
    /// The [geometric mean](super::gmean()) of the recalls.
    pub gmean: f64,
    /// Accuracy in relation to that of the majority classifier.
    pub kappa_m: f64,
    /// Accuracy in relation to that of the no-change classifier.
    pub kappa_t: f64,
    /// Mean [area under the ROC curve](Ranking::auc) of the classes.
    pub auc: f64,
    /// Mean [average precision](Ranking::average_precision) of the classes.
    pub auprc: f64,
    /// The [recall](Ranking::recall_at) of the rarest class at an alarm rate of
    /// [`ALARM_RATE`](super::ALARM_RATE).
    pub recall_at_alarms: f64,
    /// The share of samples for which something was decided.
    pub coverage: f64,
    /// The mean cost of the decisions, if costs were given.
    pub cost: Option<f64>,
}

impl WindowSummary {
    /// The metrics under the names of their fields, which JSON and Python use too.
    pub fn named(&self) -> Vec<(&'static str, f64)> {
        let metrics = [
            ("oca", self.oca),
            ("oce", self.oce),
            ("bacc", self.bacc),
            ("f1", self.f1),
            ("mcc", self.mcc),
            ("kappa", self.kappa),
            ("log_loss", self.log_loss),
            ("brier", self.brier),
            ("gmean", self.gmean),
            ("kappa_m", self.kappa_m),
            ("kappa_t", self.kappa_t),
            ("auc", self.auc),
            ("auprc", self.auprc),
            ("recall_at_alarms", self.recall_at_alarms),
            ("coverage", self.coverage),
        ];
        metrics.into_iter().chain(self.cost.map(|cost| ("cost", cost))).collect()
    }
}

impl Window {
    /// A window of the last `capacity` samples. Memory grows with the samples. A window of 0
    /// samples stays empty.
    pub fn new(capacity: usize) -> Self {
        Window {
            capacity,
            ring: Vec::new(),
            next: 0,
            confusion: ConfusionMatrix::new(),
            log_loss: SlidingSum::new(capacity),
            brier: SlidingSum::new(capacity),
            references: References::default(),
            ranking: Ranking::new(),
        }
    }

    /// Adds a sample; the oldest one leaves if the window is full. `probabilities` are those of the
    /// classes known to the model, which may be fewer than there are.
    pub fn add(&mut self, truth: usize, predicted: Option<usize>, probabilities: &[f64]) {
        if self.capacity == 0 {
            return;
        }
        if self.next == self.capacity {
            self.next = 0;
        }
        if let Some(oldest) = self.ring.get(self.next) {
            self.confusion.remove(oldest.truth, oldest.predicted);
            self.references.remove(oldest.right);
            self.ranking.remove_bins(oldest.truth, &oldest.bins);
        }
        self.confusion.add(truth, predicted);
        let right = self.references.add_in_window(truth, &self.confusion);
        let bins = ranking::bins(probabilities).into_boxed_slice();
        self.ranking.add_bins(truth, &bins);
        let held = Held { truth, predicted, right, bins };
        match self.ring.get_mut(self.next) {
            Some(oldest) => *oldest = held,
            None => self.ring.push(held),
        }
        self.next += 1;
        self.log_loss.add(log_loss(probabilities, truth));
        self.brier.add(brier_score(probabilities, truth));
    }

    /// The largest number of samples that the window holds.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// The counts of the samples held.
    pub fn confusion(&self) -> &ConfusionMatrix {
        &self.confusion
    }

    /// Mean log loss of the samples held; 0 without any.
    pub fn log_loss(&self) -> f64 {
        self.log_loss.mean()
    }

    /// Mean Brier score of the samples held; 0 without any.
    pub fn brier(&self) -> f64 {
        self.brier.mean()
    }

    /// All metrics of the samples held.
    pub fn summary(&self) -> WindowSummary {
        WindowSummary {
            samples: self.confusion.samples(),
            classes: self.confusion.classes(),
            oca: oca(&self.confusion),
            oce: oce(&self.confusion),
            bacc: bacc(&self.confusion),
            f1: macro_f1(&self.confusion),
            mcc: mcc(&self.confusion),
            kappa: kappa(&self.confusion),
            log_loss: self.log_loss(),
            brier: self.brier(),
            gmean: gmean(&self.confusion),
            kappa_m: self.references.kappa_m(&self.confusion),
            kappa_t: self.references.kappa_t(&self.confusion),
            auc: self.ranking.auc(),
            auprc: self.ranking.average_precision(),
            recall_at_alarms: recall_of_rarest(&self.ranking, &self.confusion),
            coverage: coverage(&self.confusion),
            cost: None,
        }
    }

    /// How the probability of each class ranks the samples held.
    pub fn ranking(&self) -> &Ranking {
        &self.ranking
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("next", self.next);
        let classes = |held: &Held| [held.truth as u64, saved_class(held.predicted)];
        to.integers("ring", self.ring.iter().flat_map(classes).collect());
        let right =
            |held: &Held| u64::from(held.right.majority) + 2 * u64::from(held.right.no_change);
        to.integers("right", self.ring.iter().map(right).collect());
        to.integers("known", self.ring.iter().map(|held| held.bins.len() as u64).collect());
        let bins = self.ring.iter().flat_map(|held| &held.bins);
        to.integers("bins", bins.map(|bin| u64::from(*bin)).collect());
        to.integer("last", self.references.last());
        self.log_loss.save(&mut to.scope("log_loss"));
        self.brier.save(&mut to.scope("brier"));
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let ring = from.any_integers("ring")?;
        let (ring, rest) = ring.as_chunks::<2>();
        from.check("ring", rest.is_empty(), "pairs of truth and prediction")?;
        self.next = restored_position(from, "next", "ring", ring.len(), self.capacity)?;
        let (rights, bins) = restored_details(from, ring.len())?;
        *self = Window { next: self.next, ..Window::new(self.capacity) };
        if from.has("last") {
            self.references.set_last(from.count("last", u32::MAX as usize)?);
        }
        for ((&[truth, predicted], right), bins) in ring.iter().zip(rights).zip(bins) {
            let (truth, predicted) = restored_classes(from, "ring", truth, predicted)?;
            self.confusion.add(truth, predicted);
            self.references.count(right);
            self.ranking.add_bins(truth, &bins);
            self.ring.push(Held { truth, predicted, right, bins });
        }
        self.log_loss.restore(&from.scope("log_loss")?)?;
        self.brier.restore(&from.scope("brier")?)?;
        let alike = [self.log_loss.len(), self.brier.len()] == [self.ring.len(); 2];
        from.check("ring", alike, "as long as those of the losses")
    }
}

/// For each of the samples held which references were right about it, and the bins of its probabilities.
type Details = (Vec<Right>, Vec<Box<[u16]>>);

/// Which references were right about each of the samples held, and the bins of their probabilities. Earlier
/// files have neither: no reference was right then, and no class had a probability.
fn restored_details(from: &ReadScope<'_>, held: usize) -> Result<Details, ModelFileError> {
    if !from.has("last") {
        return Ok((vec![Right::default(); held], vec![Box::default(); held]));
    }
    let right = |right: u64| Right { majority: right & 1 > 0, no_change: right & 2 > 0 };
    let rights = from.integers("right", held, 3)?.into_iter().map(right).collect();
    let known = from.integers("known", held, ranking::MOST_CLASSES as u64)?;
    let all = from.any_integers("bins")?;
    from.check_each("bins", &all, "numbers of bins", |bin| ranking::is_bin(*bin))?;
    let sound = known.iter().sum::<u64>() == all.len() as u64;
    from.check("bins", sound, "as many as there are known classes")?;
    let mut rest = all.as_slice();
    let mut bins = Vec::new();
    for known in known {
        let (own, others) = rest.split_at(known as usize);
        bins.push(own.iter().map(|bin| *bin as u16).collect());
        rest = others;
    }
    Ok((rights, bins))
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, option, prelude::*};

    use super::*;

    /// A window that saw only the given samples, and so never had to remove one.
    fn recomputed(samples: &[(usize, Option<usize>, Vec<f64>)]) -> Window {
        let mut window = Window::new(usize::MAX);
        for (truth, predicted, probabilities) in samples {
            window.add(*truth, *predicted, probabilities);
        }
        window
    }

    proptest! {
        #[test]
        fn equals_the_metrics_of_its_samples_alone(
            capacity in 0_usize..12,
            samples in vec((0_usize..5, option::of(0_usize..5), vec(0.0..1.0, 0..5)), 0..60),
        ) {
            let mut window = Window::new(capacity);
            for (k, (truth, predicted, probabilities)) in samples.iter().enumerate() {
                window.add(*truth, *predicted, probabilities);
                let expected = recomputed(&samples[(k + 1).saturating_sub(capacity)..=k]);
                prop_assert_eq!(&window.confusion, &expected.confusion);
                prop_assert_eq!(&window.ranking, &expected.ranking);
                prop_assert!((window.log_loss() - expected.log_loss()).abs() < 1e-13);
                prop_assert!((window.brier() - expected.brier()).abs() < 1e-13);
            }
        }
    }

    #[test]
    fn a_class_that_left_the_window_is_gone() {
        let mut window = Window::new(2);
        window.add(3, Some(4), &[]);
        window.add(0, Some(0), &[1.0]);
        assert_eq!(window.summary().classes, 3);
        window.add(0, Some(0), &[1.0]);
        assert_eq!(window.summary().classes, 1);
        assert_eq!(window.summary().bacc, 1.0);
    }

    #[test]
    fn an_empty_window_has_only_zeros() {
        let mut window = Window::new(0);
        window.add(0, Some(1), &[0.5, 0.5]);
        let summary = window.summary();
        assert_eq!((summary.samples, summary.classes), (0, 0));
        let rates = [summary.oca, summary.oce, summary.bacc, summary.f1, summary.mcc];
        assert_eq!(rates, [0.0; 5]);
        assert_eq!([summary.kappa, summary.log_loss, summary.brier], [0.0; 3]);
    }
}
