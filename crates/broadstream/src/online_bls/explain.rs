//! Why a model predicts what it predicts.
//!
//! The change that a column makes to a prediction is the difference between two predictions: for the
//! sample, and for the sample without the column, as if its cell were missing. Nothing is sampled or
//! approximated, and no other sample takes part. What changes is the probability of one class, after all
//! combination and calibration:
//!
//! ```text
//! change = p(class | sample) − p(class | sample without the column)
//! ```
//!
//! Where a probability is close to its bound a column may change it little, so the change of the score
//! behind it is given too, which has no bounds: the output of the stacking before it becomes a probability
//! and is calibrated, or aᵀW without stacking.

use std::{ops::Range, slice::from_ref};

use super::{OnlineBls, Predictor};
use crate::{
    classifier::Classifier,
    data::{Sample, arg_max},
    ensemble::EnsemblePredictor,
    error::Error,
    features::{BroadFeatures, PreparedSample, SampleColumns},
};

/// What the columns of a sample contribute to the probability of a class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Explanation {
    /// The class.
    pub class: usize,
    /// Its probability.
    pub probability: f64,
    /// All columns that the sample has, the one with the largest change first. Absent columns are not
    /// listed: they change nothing.
    pub reasons: Vec<Reason>,
}

/// What a column contributes to the probability of a class.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Reason {
    /// The name of the [column](crate::Input::column).
    pub column: String,
    /// By how much the probability of the class is larger than without the column: negative if the
    /// column speaks against the class.
    pub change: f64,
    /// The same for the score behind the probability, which is not calibrated and has no bounds.
    pub score_change: f64,
}

impl OnlineBls {
    /// Why the model predicts what it predicts for a sample: by how much the probability of the
    /// predicted class would change if a column were missing, exactly, for every column of the sample.
    /// `None` before any class was seen.
    ///
    /// The categories of a column are [one column](crate::Input::column). Earlier labels are no
    /// columns, and stay as they are. The model solves for its weights first, which takes about as long as
    /// a few predictions; to explain many samples, let a [`predictor`](Self::predictor) do it.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// for name in ["amount", "hour"] {
    ///     model.declare_input(name, InputKind::Numeric)?;
    /// }
    /// for i in 0..300 {
    ///     let x = [f64::from(i % 10), f64::from(i % 7)];
    ///     model.learn_one(Sample::dense(&x), usize::from(x[0] > 5.0), 1.0)?;
    /// }
    /// let x = Sample::dense(&[9.0, 3.0]);
    /// let explanation = model.explain_one(x)?.expect("classes were seen");
    /// assert_eq!(explanation.class, 1);
    /// assert_eq!(explanation.reasons[0].column, "amount");
    ///
    /// // The definition.
    /// let without = Sample::sparse(&[1], &[3.0])?;
    /// let change = model.predict_proba_one(x)?[1] - model.predict_proba_one(without)?[1];
    /// assert!((explanation.reasons[0].change - change).abs() < 1e-9);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn explain_one(&self, x: Sample<'_>) -> Result<Option<Explanation>, Error> {
        let scores = self.scores_one(x)?;
        match self.decide(&scores).of(self.config.objective) {
            Some(class) => self.explain(x, class, &scores).map(Some),
            None => Ok(None),
        }
    }

    /// What speaks for and against a class that may not be the predicted one. A class that was not seen
    /// is an error.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("amount", InputKind::Numeric)?;
    /// for i in 0..100 {
    ///     model.learn_one(Sample::dense(&[f64::from(i % 10)]), usize::from(i % 10 > 5), 1.0)?;
    /// }
    /// let x = Sample::dense(&[9.0]);
    /// assert!(model.explain_class(x, 1)?.reasons[0].change > 0.0);
    /// assert!(model.explain_class(x, 0)?.reasons[0].change < 0.0);
    /// assert!(model.explain_class(x, 2).is_err());
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn explain_class(&self, x: Sample<'_>, class: usize) -> Result<Explanation, Error> {
        check_seen(class, self.classes())?;
        self.explain(x, class, &self.scores_one(x)?)
    }

    fn explain(&self, x: Sample<'_>, class: usize, scores: &[f64]) -> Result<Explanation, Error> {
        let (ensemble, absent) = (self.ensemble.predictor(), self.absent_classes());
        let explainer = Explainer {
            features: &self.features,
            ensemble: &ensemble,
            known: self.classes(),
            absent: &absent,
        };
        let explanation = explainer.explain(x, class)?;
        // As the model predicts it, to the last bit.
        let probability = self.probabilities(scores).get(class).copied().unwrap_or(0.0);
        Ok(Explanation { probability, ..explanation })
    }
}

impl Predictor {
    /// Why the most likely class is so likely, as [`OnlineBls::explain_one`] tells it, in some
    /// microseconds per column. `None` if the model had seen no class.
    ///
    /// ```
    /// use broadstream::{Classifier, InputKind, OnlineBls, OnlineBlsConfig, Sample};
    ///
    /// let mut model = OnlineBls::new(OnlineBlsConfig::single())?;
    /// model.declare_input("city=Rome", InputKind::Indicator)?;
    /// model.declare_input("city=Oslo", InputKind::Indicator)?;
    /// for i in 0..100 {
    ///     model.learn_one(Sample::sparse(&[i % 2], &[1.0])?, (i % 2) as usize, 1.0)?;
    /// }
    /// let predictor = model.predictor();
    /// let explanation = predictor.explain_one(Sample::sparse(&[1], &[1.0])?)?.expect("a class");
    /// assert_eq!((explanation.class, explanation.reasons.len()), (1, 1));
    /// assert_eq!(explanation.reasons[0].column, "city");
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn explain_one(&self, x: Sample<'_>) -> Result<Option<Explanation>, Error> {
        match self.predict_one(x)? {
            Some(class) => self.explainer().explain(x, class).map(Some),
            None => Ok(None),
        }
    }

    /// What speaks for and against a class, as [`OnlineBls::explain_class`] tells it.
    pub fn explain_class(&self, x: Sample<'_>, class: usize) -> Result<Explanation, Error> {
        check_seen(class, self.classes())?;
        self.explainer().explain(x, class)
    }
}

fn check_seen(class: usize, classes: usize) -> Result<(), Error> {
    if class < classes { Ok(()) } else { Err(Error::UnknownClass { class, classes }) }
}

/// What explanations are computed from.
pub(super) struct Explainer<'a> {
    pub(super) features: &'a BroadFeatures,
    pub(super) ensemble: &'a EnsemblePredictor,
    /// The number of classes that were seen.
    pub(super) known: usize,
    /// The classes of which nothing is remembered.
    pub(super) absent: &'a [usize],
}

/// What a column of a sample changes: its number, and the changes of a probability and of a score.
pub(super) struct ColumnChange {
    pub(super) column: usize,
    pub(super) change: f64,
    score_change: f64,
}

impl ColumnChange {
    /// A change of a probability alone.
    #[cfg(test)]
    pub(super) fn of(column: usize, change: f64) -> Self {
        ColumnChange { column, change, score_change: 0.0 }
    }
}

impl Explainer<'_> {
    fn explain(&self, x: Sample<'_>, class: usize) -> Result<Explanation, Error> {
        let prepared = self.features.prepare(x)?;
        let columns = self.features.columns_of(&prepared);
        let all = 0..columns.numbers().len();
        let prediction = self.predict(&prepared)?;
        let mut changes = self.changes(&prepared, &prediction, class, &columns, from_ref(&all))?;
        let known = self.features.inputs().columns();
        // The columns that the sample has and that contribute nothing.
        let mut others: Vec<usize> = x.iter().map(|(input, _)| known.of_input(input)).collect();
        others.sort_unstable();
        others.dedup();
        others.retain(|column| columns.numbers().binary_search(column).is_err());
        let nothing = |column| ColumnChange { column, change: 0.0, score_change: 0.0 };
        changes.extend(others.into_iter().map(nothing));
        changes.sort_by(|a, b| {
            let by_change = b.change.abs().total_cmp(&a.change.abs());
            let by_score = b.score_change.abs().total_cmp(&a.score_change.abs());
            by_change.then(by_score).then(a.column.cmp(&b.column))
        });
        let reasons = changes.into_iter().map(|ColumnChange { column, change, score_change }| {
            let column = known.names()[column].clone();
            Reason { column, change, score_change }
        });
        let probability = prediction.probabilities.get(class).copied().unwrap_or(0.0);
        Ok(Explanation { class, probability, reasons: reasons.collect() })
    }

    /// The prediction for a sample, from the weights as those without its columns are.
    fn predict(&self, prepared: &PreparedSample) -> Result<Explained, Error> {
        let features = self.features.of_prepared(prepared);
        let mut predictions = self.ensemble.predict(&features, 1, self.known, self.absent)?;
        let prediction = predictions.pop().unwrap_or_default();
        Ok(Explained {
            probabilities: self.ensemble.probabilities(&prediction.scores),
            scores: prediction.raw_scores().to_vec(),
        })
    }

    /// What some of the columns of a sample change about its most likely class.
    pub(super) fn changes_of_likeliest(
        &self,
        prepared: &PreparedSample,
        columns: &SampleColumns,
        selected: &[Range<usize>],
    ) -> Result<Vec<ColumnChange>, Error> {
        let prediction = self.predict(prepared)?;
        match arg_max(&prediction.probabilities) {
            Some(class) => self.changes(prepared, &prediction, class, columns, selected),
            None => Ok(Vec::new()),
        }
    }

    /// What some of the columns of a sample change about the prediction of a class.
    fn changes(
        &self,
        prepared: &PreparedSample,
        prediction: &Explained,
        class: usize,
        columns: &SampleColumns,
        selected: &[Range<usize>],
    ) -> Result<Vec<ColumnChange>, Error> {
        let mut changes = Vec::new();
        let difference = |with: &[f64], without: &[f64]| match (with.get(class), without.get(class))
        {
            (Some(with), Some(without)) => with - without,
            _ => 0.0,
        };
        self.features.without_each(prepared, columns, selected, |part, features| {
            let samples = part.len();
            let predictions = self.ensemble.predict(features, samples, self.known, self.absent)?;
            for (place, without) in part.zip(predictions) {
                let probabilities = self.ensemble.probabilities(&without.scores);
                changes.push(ColumnChange {
                    column: columns.numbers()[place],
                    change: difference(&prediction.probabilities, &probabilities),
                    score_change: difference(&prediction.scores, without.raw_scores()),
                });
            }
            Ok(())
        })?;
        Ok(changes)
    }
}

/// A prediction that is compared with those without a column.
struct Explained {
    probabilities: Vec<f64>,
    /// The scores behind the probabilities.
    scores: Vec<f64>,
}
