//! Those who watch an evaluation.

use std::ops::ControlFlow;

use super::curve::CurvePoint;
use crate::{data::Schema, metrics::Metrics};

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

    /// Called while an evaluation that is [resumed](super::Evaluator::resume) passes over the samples that
    /// were evaluated before, with the number of those that were passed.
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
