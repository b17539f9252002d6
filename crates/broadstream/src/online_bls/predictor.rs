//! A model as it was at one moment, for predictions alone.

use super::{OnlineBls, explain::Explainer};
use crate::{
    data::{Block, Input, Sample, Scores, arg_max},
    ensemble::EnsemblePredictor,
    error::Error,
    features::BroadFeatures,
};

/// What a model knew at one moment, for predictions alone.
///
/// A model predicts by a pass over its factors, which it has to read anyway to learn. A predictor
/// has solved for the output weights instead: making one takes about as long as a few predictions
/// of the model, and each of its own predictions a fraction. It can be shared among threads while the
/// model goes on learning. Its scores are those of the model up to rounding.
///
/// ```
/// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
///
/// let mut model = OnlineBls::new(OnlineBlsConfig::default())?;
/// model.declare_input("load", InputKind::Numeric)?;
/// for i in 0..40 {
///     model.learn_one(Sample::dense(&[f64::from(i % 8)]), usize::from(i % 8 > 3), 1.0)?;
/// }
/// let predictor = model.predictor();
/// let x = Sample::dense(&[6.0]);
/// assert_eq!(predictor.predict_one(x)?, Some(1));
/// let (fast, slow) = (predictor.predict_proba_one(x)?, model.predict_proba_one(x)?);
/// assert!((fast[1] - slow[1]).abs() < 1e-9);
///
/// model.learn_one(x, 0, 1.0)?;
/// assert_eq!((predictor.learned(), model.learned()), (40, 41));
/// # Ok::<(), broadstream::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Predictor {
    features: BroadFeatures,
    ensemble: EnsemblePredictor,
    /// The classes that were seen, but of which nothing is remembered.
    absent: Vec<usize>,
    learned: u64,
}

impl OnlineBls {
    /// What the model knows now, for predictions while it goes on learning.
    pub fn predictor(&self) -> Predictor {
        Predictor {
            features: self.features.clone(),
            ensemble: self.ensemble.predictor(),
            absent: self.absent_classes(),
            learned: self.learned(),
        }
    }
}

impl Predictor {
    /// The number of samples of positive weight that the model had learned.
    pub fn learned(&self) -> u64 {
        self.learned
    }

    /// The number of classes that the model had seen.
    pub fn classes(&self) -> usize {
        self.ensemble.classes()
    }

    /// The inputs that the model knew, in the order of their declaration. A sample that uses others is
    /// refused.
    pub fn declared_inputs(&self) -> &[Input] {
        self.features.inputs().declared()
    }

    /// A score for each class. The class with the highest score is predicted.
    pub fn scores_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        let features = self.features.of(x)?;
        let mut predictions = self.ensemble.predict(&features, 1, self.classes(), &self.absent)?;
        Ok(predictions.pop().map(|prediction| prediction.scores).unwrap_or_default())
    }

    /// The scores of a block's samples, the same to the bit as one by one. Classes and weights are
    /// ignored.
    pub fn scores_many(&self, block: &Block) -> Result<Scores, Error> {
        let features = self.features.of_all(block)?;
        let mut scores = Scores::new();
        let classes = self.classes();
        for prediction in self.ensemble.predict(&features, block.len(), classes, &self.absent)? {
            scores.push(&prediction.scores);
        }
        Ok(scores)
    }

    /// Turns scores into probabilities, which are not negative and sum to 1.
    pub fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        self.ensemble.probabilities(scores)
    }

    /// The most likely class, or `None` if the model had seen no class.
    pub fn predict_one(&self, x: Sample<'_>) -> Result<Option<usize>, Error> {
        Ok(arg_max(&self.scores_one(x)?))
    }

    /// What its predictions are explained from.
    pub(super) fn explainer(&self) -> Explainer<'_> {
        Explainer {
            features: &self.features,
            ensemble: &self.ensemble,
            known: self.classes(),
            absent: &self.absent,
        }
    }

    /// The probability of each class.
    pub fn predict_proba_one(&self, x: Sample<'_>) -> Result<Vec<f64>, Error> {
        Ok(self.probabilities(&self.scores_one(x)?))
    }
}
