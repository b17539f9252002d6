//! Prequential evaluation: each sample is first predicted, then learned.
//!
//! The stream is read in blocks and the model learns them as blocks, which for an exact learner is
//! many times faster and changes no prediction. The library has no clock: the caller brings one.
//!
//! [`evaluate`] runs a stream to its end. An [`Evaluator`] does the same step by step, with an
//! [`Observer`] and a clock, and can stop and go on later: between two steps an evaluation is its model and
//! an [`EvaluationState`]. With both, and the stream from its beginning, it ends with the result of an
//! evaluation that was never stopped, to the bit.

mod compare;
mod curve;
mod delayed_samples;
mod durations;
mod evaluation;
mod evaluator;
mod fingerprint;
mod observer;
mod options;
mod pass;
mod run;
mod state;
mod times;

pub use self::{
    compare::{Contestant, compare},
    curve::CurvePoint,
    durations::Durations,
    evaluation::Evaluation,
    evaluator::{Evaluator, Progress},
    observer::{Observer, Outcome},
    options::PrequentialOptions,
    state::EvaluationState,
    times::Times,
};

use crate::{classifier::Classifier, error::Error, stream::Stream};

/// Evaluates a model on a stream, and trains it on the way.
///
/// The model must be new. A stream in which only one class occurs is an error: there is nothing to tell
/// apart. An [`Evaluator`] also measures times and shows the evaluation to an observer.
///
/// ```
/// use broadstream::{OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate, stream::synth::Sea};
///
/// let mut stream = Sea::new(0, 0.0, 42)?.take(500);
/// let config = OnlineBlsConfig { enhancement_nodes: 50, ..OnlineBlsConfig::single() };
/// let mut model = OnlineBls::new(config)?;
/// let evaluation = evaluate(&mut stream, &mut model, &PrequentialOptions::default())?;
/// assert!(evaluation.metrics.summary().oca > 0.9);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub fn evaluate(
    stream: &mut dyn Stream,
    model: &mut dyn Classifier,
    options: &PrequentialOptions,
) -> Result<Evaluation, Error> {
    Evaluator::new(options)?.run(stream, model, &mut ())
}
