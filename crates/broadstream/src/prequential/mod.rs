//! Prequential evaluation: each sample is first predicted, then learned.
//!
//! The stream is read in blocks and the model learns them as blocks. For an exact learner this is
//! much faster and changes no prediction. The library has no clock: the caller provides one.
//!
//! [`evaluate`] evaluates a whole stream. An [`Evaluator`] does the same step by step, with an
//! [`Observer`] and a clock, and can be stopped and resumed. Between two steps an evaluation
//! consists of its model and an [`EvaluationState`]. With both, and the stream from its beginning,
//! a resumed evaluation has the same result, to the bit, as one that was never stopped.

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
    evaluation::{Evaluation, TradeOff},
    evaluator::{Evaluator, Progress},
    observer::{Observer, Outcome},
    options::PrequentialOptions,
    state::EvaluationState,
    times::Times,
};

use crate::{classifier::Classifier, error::Error, stream::Stream};

/// Evaluates a model on a stream: each sample is predicted, and then learned.
///
/// The model must be new. A stream with only one class is an error, since there is nothing to
/// distinguish. An [`Evaluator`] can also measure times and report to an observer.
///
/// ```
/// use broadstream::{
///     Nodes, OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate, stream::synth::Sea,
/// };
///
/// let mut stream = Sea::new(0, 0.0, 42)?.take(500);
/// let config = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(50), ..OnlineBlsConfig::single() };
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
