//! The same predictions, decided under each objective.

use super::{
    accuracy::oca, balanced_accuracy::bacc, confusion::ConfusionMatrix, f1::macro_f1, gmean::gmean,
    kappa::kappa, mcc::mcc,
};
use crate::{
    data::{Decisions, Objective},
    error::ModelFileError,
    state::{ReadScope, WriteScope},
};

/// What the decisions under an objective would have been worth.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ObjectiveSummary {
    /// [Accuracy](oca).
    pub oca: f64,
    /// [Balanced accuracy](bacc).
    pub bacc: f64,
    /// [Macro F1](macro_f1).
    pub f1: f64,
    /// [Matthews correlation coefficient](mcc()).
    pub mcc: f64,
    /// [Cohen's kappa](kappa()).
    pub kappa: f64,
    /// [Geometric mean](gmean()) of the recalls.
    pub gmean: f64,
}

impl ObjectiveSummary {
    /// The values for decisions with these counts.
    ///
    /// ```
    /// use broadstream::metrics::{ConfusionMatrix, ObjectiveSummary};
    ///
    /// let mut confusion = ConfusionMatrix::new();
    /// confusion.add(0, Some(0));
    /// assert_eq!(ObjectiveSummary::of(&confusion).f1, 1.0);
    /// ```
    pub fn of(confusion: &ConfusionMatrix) -> Self {
        ObjectiveSummary {
            oca: oca(confusion),
            bacc: bacc(confusion),
            f1: macro_f1(confusion),
            mcc: mcc(confusion),
            kappa: kappa(confusion),
            gmean: gmean(confusion),
        }
    }

    /// The metrics under the names of their fields, which JSON and Python use too.
    pub fn named(&self) -> [(&'static str, f64); 6] {
        [
            ("oca", self.oca),
            ("bacc", self.bacc),
            ("f1", self.f1),
            ("mcc", self.mcc),
            ("kappa", self.kappa),
            ("gmean", self.gmean),
        ]
    }
}

/// The counts of the decisions under each objective.
#[derive(Clone, Debug, Default)]
pub(super) struct ByObjective {
    confusion: [ConfusionMatrix; Objective::ALL.len()],
}

impl ByObjective {
    pub(super) fn add(&mut self, truth: usize, decisions: &Decisions) {
        for (confusion, decided) in self.confusion.iter_mut().zip(decisions.all()) {
            confusion.add(truth, decided);
        }
    }

    pub(super) fn confusion(&self, objective: Objective) -> &ConfusionMatrix {
        &self.confusion[objective as usize]
    }

    pub(super) fn samples(&self) -> u64 {
        self.confusion[0].samples()
    }

    pub(super) fn save(&self, to: &mut WriteScope<'_>) {
        for (objective, confusion) in Objective::ALL.iter().zip(&self.confusion) {
            confusion.save(&mut to.scope(objective.as_str()));
        }
    }

    pub(super) fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        for (objective, confusion) in Objective::ALL.iter().zip(&mut self.confusion) {
            confusion.restore(&from.scope(objective.as_str())?)?;
        }
        let samples = self.samples();
        let alike = self.confusion.iter().all(|confusion| confusion.samples() == samples);
        from.check("accuracy", alike, "of as many samples as the others")
    }
}
