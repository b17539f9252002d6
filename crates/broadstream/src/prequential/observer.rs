//! Following an evaluation while it runs.

use std::ops::ControlFlow;

use super::curve::CurvePoint;
use crate::{data::Schema, metrics::Metrics};

/// Follows an evaluation while it runs. Every method does nothing by default.
pub trait Observer {
    /// Called for every sample after its prediction.
    fn sample(&mut self, _outcome: Outcome<'_>) {}

    /// Called for every drift, with the number of the sample at which it was detected, after
    /// [`sample`](Self::sample) was called for that sample.
    fn drift(&mut self, _sample: u64) {}

    /// Called for every point of the curve, if there is one.
    fn curve(&mut self, _point: &CurvePoint) {}

    /// Called after every block. `Break` stops the evaluation.
    fn block(&mut self, _metrics: &Metrics) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }

    /// Called while a [resumed](super::Evaluator::resume) evaluation skips the samples that were
    /// evaluated before, with the number of samples skipped so far.
    fn passed(&mut self, _samples: u64) {}
}

/// Ignores everything.
impl Observer for () {}

/// The prediction of one sample, and its true class.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The sample's number in the stream, from 1.
    pub sample: u64,
    /// Its true class.
    pub truth: usize,
    /// The predicted class; `None` before any class was seen.
    pub predicted: Option<usize>,
    /// The probability of each class known before the sample.
    pub probabilities: &'a [f64],
    /// The names of inputs and classes.
    pub schema: &'a Schema,
}
