//! Predicts the label of the previous sample.
//!
//! On streams whose labels persist this is hard to beat: a table without it flatters every model.

use super::shares;
use crate::{
    classifier::Classifier,
    data::{InputKind, Sample, check_class, check_weight},
    error::Error,
};

/// The no-change classifier.
#[derive(Clone, Debug, Default)]
pub struct NoChange {
    inputs: usize,
    classes: usize,
    last: Option<usize>,
}

impl NoChange {
    /// An untrained model.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Classifier for NoChange {
    fn declare_input(&mut self, _name: &str, _kind: InputKind) -> Result<(), Error> {
        self.inputs += 1;
        Ok(())
    }

    fn inputs(&self) -> usize {
        self.inputs
    }

    fn classes(&self) -> usize {
        self.classes
    }

    fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        x.check(self.inputs)?;
        Ok((0..self.classes).map(|class| f64::from(u8::from(Some(class) == self.last))).collect())
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        shares(scores)
    }

    fn learn_one(&mut self, x: Sample<'_>, class: usize, weight: f64) -> Result<(), Error> {
        x.check(self.inputs)?;
        check_weight(weight)?;
        self.classes = check_class(class, self.classes)?;
        if weight > 0.0 {
            self.last = Some(class);
        }
        Ok(())
    }
}
