//! Those who watch an evaluation.

use std::ops::ControlFlow;

use super::{curve::CurvePoint, state::EvaluationState};
use crate::{classifier::Classifier, data::Schema, metrics::Metrics, stream::RowEncoding};

/// Watches an evaluation.
pub trait Observer {
    /// Called for every sample after its prediction.
    fn sample(&mut self, _outcome: Outcome<'_>) {}

    /// Called for every drift, after the sample at which it was seen.
    fn drift(&mut self, _sample: u64) {}

    /// Called for every point of the curve, if one was asked for.
    fn curve(&mut self, _point: &CurvePoint) {}

    /// Called after every block; `Break` ends the evaluation there.
    fn block(&mut self, _metrics: &Metrics) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called after every so many samples and at the end, if
    /// [checkpoints](super::PrequentialOptions::checkpoint_every) were asked for: what is kept of it is all that is needed to [resume](super::resume()). `Break`
    /// ends the evaluation there.
    fn checkpoint(&mut self, _checkpoint: Checkpoint<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called while an evaluation that is [resumed](super::resume()) passes over the samples of before,
    /// with the number of those that were passed.
    fn passed(&mut self, _samples: u64) {}
}

/// Watches nothing.
impl Observer for () {}

/// What became of one sample.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The sample's number in the stream, from 1.
    pub sample: u64,
    /// Its class.
    pub truth: usize,
    /// The class predicted; `None` before any class was seen.
    pub predicted: Option<usize>,
    /// The probability of each class known before the sample.
    pub probabilities: &'a [f64],
    /// The names of inputs and classes.
    pub schema: &'a Schema,
}

/// An evaluation between two samples.
#[derive(Clone)]
pub struct Checkpoint<'a> {
    /// The model. As `&dyn Any` it can be asked for its type.
    pub model: &'a dyn Classifier,
    /// The names of inputs and classes so far.
    pub schema: &'a Schema,
    /// What the rows of the stream looked like so far, if it has rows.
    pub encoding: Option<RowEncoding>,
    /// All else that the evaluation has to remember.
    pub state: &'a EvaluationState,
}
