//! Evaluating several models in one pass over a stream.

use std::time::Duration;

use super::{
    evaluation::Evaluation,
    evaluator::Progress,
    observer::Observer,
    options::PrequentialOptions,
    pass::{Lane, Pass},
    run::Run,
    state::EvaluationState,
};
use crate::{classifier::Classifier, error::Error, stream::Stream};

/// One of several models that are evaluated side by side.
pub struct Contestant<'a> {
    /// The model, which must be new.
    pub model: &'a mut dyn Classifier,
    /// The observer of its evaluation.
    pub observer: &'a mut dyn Observer,
}

/// Evaluates several models on a stream that is read once, each as [`evaluate`](super::evaluate())
/// would. The results are in the order of the models. An observer that stops its evaluation stops
/// all of them. `clock` returns the time since some fixed moment.
pub fn compare(
    stream: &mut dyn Stream,
    contestants: &mut [Contestant<'_>],
    options: &PrequentialOptions,
    clock: &dyn Fn() -> Duration,
) -> Result<Vec<Evaluation>, Error> {
    let mut runs = Vec::new();
    for Contestant { model, .. } in &*contestants {
        let run = Run::new(EvaluationState::new(options)?);
        run.check_model(&**model)?;
        runs.push(run);
    }
    let mut lanes: Vec<Lane<'_>> = runs
        .iter_mut()
        .zip(&mut *contestants)
        .map(|(run, Contestant { model, observer })| Lane {
            run,
            model: &mut **model,
            observer: &mut **observer,
        })
        .collect();
    let mut pass = Pass::new(options);
    while pass.advance(stream, &mut lanes, clock)? == Progress::Checkpoint {}
    drop(lanes);
    let schema = stream.schema();
    let contestants = contestants.iter_mut();
    runs.into_iter()
        .zip(contestants)
        .map(|(run, Contestant { model, observer })| run.finish(&**model, schema, &mut **observer))
        .collect()
}
