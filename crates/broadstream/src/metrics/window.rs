//! Metrics over the last samples only, which reveal a drift that the whole past would hide.
//!
//! A sample enters the counts when it is added and leaves them after N newer ones, so each metric
//! is always what it would be if the stream had consisted of these N samples.

use super::{
    accuracy::{oca, oce},
    balanced_accuracy::bacc,
    brier::brier_score,
    confusion::{ConfusionMatrix, restored_classes, saved_class},
    f1::macro_f1,
    kappa::kappa,
    log_loss::log_loss,
    mcc::mcc,
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
    /// The true and predicted class of each sample held.
    ring: Vec<(usize, Option<usize>)>,
    /// Where in the ring the next sample goes.
    next: usize,
    confusion: ConfusionMatrix,
    log_loss: SlidingSum,
    brier: SlidingSum,
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
        match self.ring.get_mut(self.next) {
            Some(oldest) => {
                self.confusion.remove(oldest.0, oldest.1);
                *oldest = (truth, predicted);
            }
            None => self.ring.push((truth, predicted)),
        }
        self.next += 1;
        self.confusion.add(truth, predicted);
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
        }
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        to.integer("next", self.next);
        let classes = |&(truth, predicted)| [truth as u64, saved_class(predicted)];
        to.integers("ring", self.ring.iter().flat_map(classes).collect());
        self.log_loss.save(&mut to.scope("log_loss"));
        self.brier.save(&mut to.scope("brier"));
    }

    pub(crate) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let ring = from.any_integers("ring")?;
        let (ring, rest) = ring.as_chunks::<2>();
        from.check("ring", rest.is_empty(), "pairs of truth and prediction")?;
        self.next = restored_position(from, "next", "ring", ring.len(), self.capacity)?;
        (self.ring, self.confusion) = (Vec::new(), ConfusionMatrix::new());
        for &[truth, predicted] in ring {
            let (truth, predicted) = restored_classes(from, "ring", truth, predicted)?;
            self.ring.push((truth, predicted));
            self.confusion.add(truth, predicted);
        }
        self.log_loss.restore(&from.scope("log_loss")?)?;
        self.brier.restore(&from.scope("brier")?)?;
        let alike = [self.log_loss.len(), self.brier.len()] == [self.ring.len(); 2];
        from.check("ring", alike, "as long as those of the losses")
    }
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
