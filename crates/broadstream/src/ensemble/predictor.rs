//! An ensemble that only predicts, from the weights of its regressions.

use super::{
    Ensemble,
    combiner::{Combiner, Prediction},
};
use crate::{
    error::Error,
    features::Features,
    regression::{RegressionPlan, factor::Weights},
};

/// What an ensemble predicts with. A prediction from weights takes m·c multiplications for m
/// features and c classes, where one from a factor takes m²/2.
#[derive(Clone, Debug)]
pub(crate) struct EnsemblePredictor {
    regressions: Vec<(RegressionPlan, Weights)>,
    combiner: Combiner,
    classes: usize,
}

impl Ensemble {
    /// What it would predict with now.
    pub(crate) fn predictor(&self) -> EnsemblePredictor {
        let parts = self.regressions.iter();
        EnsemblePredictor {
            regressions: parts
                .map(|regression| (regression.plan().clone(), regression.kept_weights()))
                .collect(),
            combiner: self.combiner.clone(),
            classes: self.classes,
        }
    }
}

impl EnsemblePredictor {
    /// The number of classes.
    pub(crate) fn classes(&self) -> usize {
        self.classes
    }

    /// The combined predictions for several samples, given their features. Classes of which nothing
    /// is remembered are excluded.
    pub(crate) fn predict(
        &self,
        features: &Features,
        samples: usize,
        absent: &[usize],
    ) -> Result<Vec<Prediction>, Error> {
        let rows = |(plan, weights): &(RegressionPlan, Weights)| {
            let rows = plan.features_of(features, samples);
            let scores = rows.chunks_exact(plan.features).map(|row| weights.scores(row));
            scores.collect::<Result<Vec<_>, Error>>()
        };
        let parts = self.regressions.iter().map(rows).collect::<Result<Vec<_>, Error>>()?;
        let combined = (0..samples).map(|i| {
            let scores: Vec<f64> = parts.iter().flat_map(|rows| &rows[i]).copied().collect();
            let mut prediction = self.combiner.predict(&scores, self.classes, self.classes);
            if !absent.is_empty() {
                self.combiner.exclude(&mut prediction, absent);
            }
            prediction
        });
        Ok(combined.collect())
    }

    /// Turns scores into probabilities.
    pub(crate) fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.combiner.probabilities(scores)
    }
}
