//! An ensemble that only predicts, from the weights of its regressions.

use super::{
    Ensemble,
    combiner::{Combiner, Prediction},
    multiply_adds,
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
        let mut weights: Vec<Option<Weights>> = self.regressions.iter().map(|_| None).collect();
        // Solving for four classes takes as long as predicting a sample.
        let multiply_adds = multiply_adds(&self.regressions, self.classes.div_ceil(4)) / 2;
        let work = self.regressions.iter().zip(&mut weights);
        self.threads.spread(multiply_adds, work, |(regression, weights)| {
            *weights = Some(regression.kept_weights());
        });
        let parts = self.regressions.iter().zip(weights);
        EnsemblePredictor {
            regressions: parts
                .filter_map(|(regression, weights)| Some((regression.plan().clone(), weights?)))
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

    /// The combined predictions for several samples, given their features, for the first `known` classes.
    /// Classes of which nothing is remembered are excluded.
    pub(crate) fn predict(
        &self,
        features: &Features,
        samples: usize,
        known: usize,
        absent: &[usize],
    ) -> Result<Vec<Prediction>, Error> {
        let rows = |(plan, weights): &(RegressionPlan, Weights)| {
            weights.scores_many(&plan.features_of(features, samples))
        };
        let parts = self.regressions.iter().map(rows).collect::<Result<Vec<_>, Error>>()?;
        let combined = (0..samples).map(|i| {
            let mut scores = Vec::new();
            for rows in &parts {
                let row = rows.len().checked_div(samples).unwrap_or(0);
                scores.extend_from_slice(&rows[i * row..][..row]);
            }
            let mut prediction = self.combiner.predict(&scores, self.classes, known);
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
