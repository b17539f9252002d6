//! Samples as regressions take them: rows of features and of targets, and weights.

use super::factor::Update;
use crate::features::Features;

/// Samples that are learned or taken back together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// The scaled inputs that the features were made of, one sample after the other.
    pub(crate) scaled: Vec<f64>,
    pub(crate) features: Features,
    pub(crate) targets: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

/// Samples of positive weight, a row each.
#[derive(Clone, Copy)]
pub(crate) struct BatchView<'a> {
    pub(crate) features: &'a Features,
    pub(crate) targets: &'a [f64],
    pub(crate) weights: &'a [f64],
}

impl Batch {
    pub(crate) fn clear(&mut self) {
        self.scaled.clear();
        self.features.plain.clear();
        self.features.labelled.clear();
        self.targets.clear();
        self.weights.clear();
    }

    /// Adds the target of a sample that is of one class of so many, and its weight.
    pub(crate) fn push_target(&mut self, class: usize, classes: usize, weight: f64) {
        self.targets.extend((0..classes).map(|k| f64::from(u8::from(k == class))));
        self.weights.push(weight);
    }

    pub(crate) fn view(&self) -> BatchView<'_> {
        BatchView { features: &self.features, targets: &self.targets, weights: &self.weights }
    }

    /// Each sample by itself, as a regression on the first features sees it.
    pub(crate) fn updates(&self, features: usize) -> impl Iterator<Item = Update<'_>> {
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
