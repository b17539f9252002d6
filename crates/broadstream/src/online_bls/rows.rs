//! Samples as regressions take them: rows of features and of targets, and weights.

use super::regression::Run;
use crate::{factor::Update, features::Features};

/// Samples that are learned or taken back together.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) features: Features,
    pub(super) targets: Vec<f64>,
    pub(super) weights: Vec<f64>,
}

impl Rows {
    pub(super) fn clear(&mut self) {
        self.features.plain.clear();
        self.features.labelled.clear();
        self.targets.clear();
        self.weights.clear();
    }

    /// Adds the target of a sample that is of one class of so many, and its weight.
    pub(super) fn push_target(&mut self, class: usize, classes: usize, weight: f64) {
        self.targets.extend((0..classes).map(|k| f64::from(u8::from(k == class))));
        self.weights.push(weight);
    }

    pub(super) fn run(&self) -> Run<'_> {
        Run { features: &self.features, targets: &self.targets, weights: &self.weights }
    }

    /// Each sample by itself, as a regression on the first features sees it.
    pub(super) fn updates(&self, features: usize) -> impl Iterator<Item = Update<'_>> {
        let (length, classes) = match self.weights.len() {
            0 => (1, 1),
            samples => (self.features.plain.len() / samples, self.targets.len() / samples),
        };
        let rows = self.features.plain.chunks_exact(length.max(1));
        rows.zip(&self.weights).enumerate().map(move |(i, (row, weight))| Update {
            features: &row[..features],
            targets: &self.targets[i * classes..][..classes],
            weights: std::slice::from_ref(weight),
            forgetting: 1.0,
        })
    }
}
