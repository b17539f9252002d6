//! Accuracy in relation to two classifiers that look at no input.
//!
//! κ = (p₀ − p) / (1 − p), where p₀ is the accuracy of the model and p that of a reference:
//!
//! - κ_m: the majority classifier, which predicts the most frequent class so far, the sample itself
//!   included (Bifet, de Francisci Morales, Read, Holmes and Pfahringer, KDD 2015);
//! - κ_t, the temporal kappa: the no-change classifier, which predicts the class of the sample before
//!   (Žliobaitė, Bifet, Read, Pfahringer and Holmes, Machine Learning 2015).
//!
//! A model that is no better than the reference has 0, and one that is worse a negative value. Both
//! are defined as in MOA's `BasicClassificationPerformanceEvaluator`: of equally frequent classes
//! the first is the majority, and before the first sample the no-change classifier predicts
//! class 0.

use super::{MOST_SAMPLES, confusion::ConfusionMatrix};
use crate::{
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// How often the references were right.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct References {
    /// The samples whose class was the majority, and those whose class was that of the sample before.
    majority: u64,
    no_change: u64,
    /// The class of the last sample.
    last: usize,
    /// The most frequent class, and how often it occurred.
    most_frequent: (usize, u64),
}

/// Which references were right about a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Right {
    pub(super) majority: bool,
    pub(super) no_change: bool,
}

impl References {
    /// Adds a sample of class `truth`, which the matrix already contains.
    pub(super) fn add(&mut self, truth: usize, confusion: &ConfusionMatrix) -> Right {
        // Counts only grow, so only this class can have become the most frequent one.
        let support = confusion.support(truth);
        let (class, most) = self.most_frequent;
        if support > most || (support == most && truth < class) {
            self.most_frequent = (truth, support);
        }
        let right =
            Right { majority: self.most_frequent.0 == truth, no_change: self.last == truth };
        self.last = truth;
        self.count(right);
        right
    }

    /// The same in a window, where counts also fall.
    pub(super) fn add_in_window(&mut self, truth: usize, confusion: &ConfusionMatrix) -> Right {
        let supports = confusion.class_counts().map(|(class, counts)| (class, counts.support));
        let majority =
            supports.fold((0, 0), |best, class| if class.1 > best.1 { class } else { best });
        let right = Right { majority: majority.0 == truth, no_change: self.last == truth };
        self.last = truth;
        self.count(right);
        right
    }

    /// Adds what is known of a sample.
    pub(super) fn count(&mut self, right: Right) {
        self.majority += u64::from(right.majority);
        self.no_change += u64::from(right.no_change);
    }

    /// Removes a sample about which these were right.
    pub(super) fn remove(&mut self, right: Right) {
        self.majority -= u64::from(right.majority);
        self.no_change -= u64::from(right.no_change);
    }

    /// κ_m of a model with this confusion matrix.
    pub(super) fn kappa_m(&self, confusion: &ConfusionMatrix) -> f64 {
        beyond(confusion, self.majority)
    }

    /// The temporal κ of a model with this confusion matrix.
    pub(super) fn kappa_t(&self, confusion: &ConfusionMatrix) -> f64 {
        beyond(confusion, self.no_change)
    }

    /// The class of the last sample.
    pub(super) fn last(&self) -> usize {
        self.last
    }

    pub(super) fn set_last(&mut self, last: usize) {
        self.last = last;
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        let (class, support) = self.most_frequent;
        let classes = [self.last as u64, class as u64];
        to.integers("counts", vec![self.majority, self.no_change, support]);
        to.integers("classes", classes.to_vec());
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let counts = from.integers("counts", 3, MOST_SAMPLES)?;
        let classes = from.integers("classes", 2, u64::from(u32::MAX))?;
        *self = References {
            majority: counts[0],
            no_change: counts[1],
            last: classes[0] as usize,
            most_frequent: (classes[1] as usize, counts[2]),
        };
        Ok(())
    }
}

/// (correct − reference) / (samples − reference), and 0 where that is 0/0 or infinite: if the
/// reference was always right.
fn beyond(confusion: &ConfusionMatrix, reference: u64) -> f64 {
    let room = confusion.samples().saturating_sub(reference);
    if room == 0 {
        return 0.0;
    }
    (confusion.correct() as f64 - reference as f64) / room as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_the_definition() {
        let (mut references, mut confusion) = (References::default(), ConfusionMatrix::new());
        let truths = [0, 1, 1, 2, 1, 0, 0, 0];
        let predicted = [0, 1, 0, 2, 1, 1, 0, 0];
        for (truth, predicted) in truths.into_iter().zip(predicted) {
            confusion.add(truth, Some(predicted));
            references.add(truth, &confusion);
        }
        // The majority is right about samples 1, 3, 5, 7 and 8 (of equals the first class), and no
        // change about 1, 3, 7 and 8. Six predictions are.
        let majority = [0, 0, 1, 1, 1, 1, 0, 0];
        let right = truths.iter().zip(majority).filter(|(truth, class)| **truth == *class).count();
        assert_eq!(references.majority, right as u64);
        assert_eq!(references.no_change, 4);
        assert_eq!(references.kappa_t(&confusion), (6.0 - 4.0) / (8.0 - 4.0));
        assert_eq!(references.kappa_m(&confusion), (6.0 - right as f64) / (8.0 - right as f64));
    }

    #[test]
    fn a_reference_that_is_always_right_leaves_no_room() {
        let (mut references, mut confusion) = (References::default(), ConfusionMatrix::new());
        confusion.add(0, None);
        references.add(0, &confusion);
        assert_eq!((references.kappa_m(&confusion), references.kappa_t(&confusion)), (0.0, 0.0));
    }
}
