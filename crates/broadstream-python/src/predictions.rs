//! What a model predicts for a batch.

use broadstream::{ClassCosts, Classifier, OnlineBls, Scores};

/// The predictions for several samples.
#[derive(Default)]
pub(crate) struct Predictions {
    /// The class that was decided for each sample; −1 if no class was known, or if the model abstains.
    pub(crate) classes: Vec<i64>,
    /// A row per sample. It is shorter for a sample that came when fewer classes were known.
    probabilities: Scores,
    pub(crate) leverages: Vec<f64>,
}

impl Predictions {
    /// Adds the scores of a model for some samples, which are decided for the least cost if there are costs.
    pub(crate) fn add(&mut self, model: &OnlineBls, scores: &Scores, costs: Option<&ClassCosts>) {
        for (i, row) in scores.iter().enumerate() {
            let probabilities = model.probabilities(row);
            let class = match costs {
                Some(costs) => costs.decide(&probabilities),
                None => scores.decisions(i).of(model.config().objective),
            };
            self.classes.push(class.map_or(-1, |class| class as i64));
            self.probabilities.push(&probabilities);
        }
    }

    /// The probabilities as a matrix with a row per sample and that many columns. A class that was not
    /// known yet when a sample came has probability 0.
    pub(crate) fn table(&self, classes: usize) -> Vec<f64> {
        let mut table = vec![0.0; self.classes.len() * classes];
        for (i, row) in self.probabilities.iter().enumerate() {
            table[i * classes..][..row.len()].copy_from_slice(row);
        }
        table
    }
}
