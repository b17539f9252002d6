//! Predicts the most frequent class so far.

use super::shares;
use crate::{
    classifier::Classifier,
    data::{InputKind, Sample, check_class, check_weight},
    error::Error,
};

/// The majority-class classifier.
#[derive(Clone, Debug, Default)]
pub struct Majority {
    inputs: usize,
    /// The weight of each class so far.
    counts: Vec<f64>,
}

impl Majority {
    /// An untrained model.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Classifier for Majority {
    fn declare_input(&mut self, _name: &str, _kind: InputKind) -> Result<(), Error> {
        self.inputs += 1;
        Ok(())
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn classes(&self) -> usize {
        self.counts.len()
    }

    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        x.check(self.inputs)?;
        Ok(self.counts.clone())
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        shares(scores)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        x.check(self.inputs)?;
        check_weight(weight)?;
        let classes = check_class(class, self.counts.len())?;
        self.counts.resize(classes, 0.0);
        self.counts[class] += weight;
        Ok(())
    }
}
