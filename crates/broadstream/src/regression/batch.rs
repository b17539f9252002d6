//! Samples in the form that regressions take: rows of features and of targets, and weights.

use super::factor::Update;
use crate::features::Features;

/// Samples that are learned or unlearned together.
#[derive(Clone, Debug, Default)]
pub(crate) struct Batch {
    /// The scaled inputs that the features were made of, one sample after the other.
    pub(crate) scaled: Vec<f64>,
    pub(crate) features: Features,
    pub(crate) targets: Vec<f64>,
    pub(crate) weights: Vec<f64>,
}

/// Samples of positive weight, one row each.
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

    /// Adds the one-hot target of a sample, with `classes` entries, and its weight.
    pub(crate) fn push_target(&mut self, class: usize, classes: usize, weight: f64) {
        self.targets.extend((0..classes).map(|k| f64::from(u8::from(k == class))));
        self.weights.push(weight);
    }

    pub(crate) fn view(&self) -> BatchView<'_> {
        BatchView { features: &self.features, targets: &self.targets, weights: &self.weights }
    }

    /// The first `features` features of each sample.
    pub(crate) fn prefix(&self, features: usize) -> Vec<f64> {
        let length = self.features.plain.len() / self.weights.len().max(1);
        let rows = self.features.plain.chunks_exact(length.max(1));
        rows.flat_map(|row| &row[..features]).copied().collect()
    }

    /// Each sample on its own, as a regression on the first `features` features sees it.
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
