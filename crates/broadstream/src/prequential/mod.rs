//! Prequential evaluation: each sample is first predicted, then learned.
//!
//! The stream is read in blocks and the model learns them as blocks, which for an exact learner is
//! many times faster and changes no prediction. The library has no clock: the caller brings one.
//!
//! An evaluation can be stopped and go on later. Between two blocks it is its model and an
//! [`EvaluationState`]; with both, and the stream from its beginning, [`resume`] ends with the result of
//! an evaluation that was never stopped, to the bit.

mod curve;
mod durations;
mod fingerprint;
mod observer;
mod options;
mod run;
mod state;
mod times;
mod waiting;

pub use self::{
    curve::CurvePoint,
    durations::Durations,
    observer::{Checkpoint, Observer, Outcome},
    options::PrequentialOptions,
    state::EvaluationState,
    times::Times,
};

use std::time::Duration;

use self::{fingerprint::Fingerprint, run::Run};
use crate::{
    classifier::{Classifier, Member},
    data::Block,
    error::Error,
    metrics::Metrics,
    stream::{Stream, StreamError},
};

/// The result of an evaluation.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// The metrics of the whole stream and of its last window.
    pub metrics: Metrics,
    /// The metrics over time, if asked for.
    pub curve: Vec<CurvePoint>,
    /// The samples, by their number from 1, at which the model was seen to err more than before. That
    /// it errs less is no drift, and left out.
    pub drifts: Vec<u64>,
    /// After how many samples a part of the model [began anew](Classifier::restarts), since the model saw
    /// a drift itself. Where it answers that fast enough, errors show none.
    pub restarts: Vec<u64>,
    /// The [members](Classifier::members) of the model in the end.
    pub members: Vec<Member>,
    /// Where the time went.
    pub times: Times,
}

/// Evaluates a model on a stream, and trains it on the way.
///
/// The model must be new. `clock` returns the time since some fixed moment. A stream in which only one class occurs is an
/// error: there is nothing to tell apart.
///
/// ```
/// use std::time::Instant;
/// use broadstream::{OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate, stream::synth::Sea};
///
/// let mut stream = Sea::new(0, 0.0, 42)?.take(500);
/// let config = OnlineBlsConfig { enhancement_nodes: 50, ..OnlineBlsConfig::single() };
/// let mut model = OnlineBls::new(config)?;
/// let start = Instant::now();
/// let options = PrequentialOptions::default();
/// let evaluation = evaluate(&mut stream, &mut model, &options, &|| start.elapsed(), &mut ())?;
/// assert!(evaluation.metrics.summary().oca > 0.9);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub fn evaluate(
    stream: &mut dyn Stream,
    model: &mut dyn Classifier,
    options: &PrequentialOptions,
    clock: &dyn Fn() -> Duration,
    observer: &mut dyn Observer,
) -> Result<Evaluation, Error> {
    let mut contestants = [Contestant { model, observer }];
    let mut evaluations = compare(stream, &mut contestants, options, clock)?;
    Ok(evaluations.remove(0))
}

/// One of several models that are evaluated side by side.
pub struct Contestant<'a> {
    /// The model, which must be new.
    pub model: &'a mut dyn Classifier,
    /// What watches its evaluation.
    pub observer: &'a mut dyn Observer,
}

/// Evaluates several models on a stream that is read once, each as [`evaluate`] would. The results are
/// in the models' order. An observer that ends its evaluation ends all of them.
pub fn compare(
    stream: &mut dyn Stream,
    contestants: &mut [Contestant<'_>],
    options: &PrequentialOptions,
    clock: &dyn Fn() -> Duration,
) -> Result<Vec<Evaluation>, Error> {
    let mut runs = Vec::new();
    for Contestant { model, observer } in contestants {
        let state = EvaluationState::new(options)?;
        runs.push(Run::new(&mut **model, &mut **observer, state, clock)?);
    }
    go_on(stream, runs, Fingerprint::new(), options, clock)
}

/// Goes on with an evaluation from a [checkpoint](Observer::checkpoint), and ends with the result that it
/// would have had without a stop.
///
/// The model is the one of the checkpoint, as it was then. The stream is opened anew: the samples that
/// were evaluated are read and passed over, without the model. A stream that ends among them, or that
/// differs there from the one of before, is an error. The options are those of before, but block, limit and
/// checkpoints may differ. Times are those of both parts, without that of passing over.
///
/// ```
/// use std::{any::Any, ops::ControlFlow, time::Duration};
/// use broadstream::{
///     Checkpoint, EvaluationState, Observer, OnlineBls, OnlineBlsConfig, PrequentialOptions, evaluate,
///     resume, stream::synth::Sea,
/// };
///
/// #[derive(Default)]
/// struct Stop(Option<(OnlineBls, EvaluationState)>);
///
/// impl Observer for Stop {
///     fn checkpoint(&mut self, checkpoint: Checkpoint<'_>) -> ControlFlow<()> {
///         let model: &dyn Any = checkpoint.model;
///         let model = model.downcast_ref::<OnlineBls>();
///         self.0 = model.map(|model| (model.clone(), checkpoint.state.clone()));
///         ControlFlow::Break(())
///     }
/// }
///
/// let stream = || Sea::new(0, 0.0, 42).map(|sea| sea.take(500));
/// let new = || OnlineBls::new(OnlineBlsConfig { enhancement_nodes: 50, ..OnlineBlsConfig::single() });
/// let (clock, mut stop) = (|| Duration::ZERO, Stop::default());
/// let options = PrequentialOptions { checkpoint_every: Some(200), ..PrequentialOptions::default() };
/// let whole = evaluate(&mut stream()?, &mut new()?, &options, &clock, &mut ())?;
/// evaluate(&mut stream()?, &mut new()?, &options, &clock, &mut stop)?;
///
/// let (mut model, state) = stop.0.expect("there are more than 200 samples");
/// assert_eq!(state.samples(), 200);
/// let rest = resume(&mut stream()?, &mut model, state, &options, &clock, &mut ())?;
/// assert_eq!(rest.metrics.summary(), whole.metrics.summary());
/// # Ok::<(), broadstream::Error>(())
/// ```
pub fn resume(
    stream: &mut dyn Stream,
    model: &mut dyn Classifier,
    state: EvaluationState,
    options: &PrequentialOptions,
    clock: &dyn Fn() -> Duration,
    observer: &mut dyn Observer,
) -> Result<Evaluation, Error> {
    options.check()?;
    options.check_continues(&state.options, state.samples())?;
    let run = Run::new(model, observer, state, clock)?;
    let fingerprint = pass_over(stream, &run.state, &mut *run.observer)?;
    let mut evaluations = go_on(stream, vec![run], fingerprint, options, clock)?;
    Ok(evaluations.remove(0))
}

/// Reads the samples that were evaluated before, and checks that they are the same.
fn pass_over(
    stream: &mut dyn Stream,
    state: &EvaluationState,
    observer: &mut dyn Observer,
) -> Result<Fingerprint, Error> {
    const BLOCK: u64 = 1024;
    let samples = state.samples();
    let (mut fingerprint, mut block) = (Fingerprint::new(), Block::new());
    let mut passed = 0;
    while passed < samples {
        block.clear();
        if stream.read_block(&mut block, BLOCK.min(samples - passed) as usize)? == 0 {
            return Err(StreamError::EndsBefore { samples, found: passed }.into());
        }
        fingerprint.add(&block, stream.schema());
        passed += block.len() as u64;
        observer.passed(passed);
    }
    // The model may have been told of inputs that no sample has used yet.
    let same_inputs = stream.schema().inputs().starts_with(&state.inputs);
    if same_inputs && fingerprint.value() == state.fingerprint {
        Ok(fingerprint)
    } else {
        Err(StreamError::Differs { samples }.into())
    }
}

/// Reads the stream to its end, or to the limit, and has all models predict and learn it. They have
/// seen as many samples as were read, and these have the given fingerprint.
fn go_on(
    stream: &mut dyn Stream,
    mut runs: Vec<Run<'_>>,
    mut fingerprint: Fingerprint,
    options: &PrequentialOptions,
    clock: &dyn Fn() -> Duration,
) -> Result<Vec<Evaluation>, Error> {
    let mut block = Block::new();
    let mut seen = runs.first().map_or(0, |run| run.state.samples());
    let limit = options.limit.unwrap_or(u64::MAX);
    // Within a block a model is ahead of the sample that is counted. So a block ends at a point of the
    // curve, if there are members whose weights are to be those of just then.
    let members = runs.iter().any(|run| !run.model.members().is_empty());
    let ends = [options.curve_every.filter(|_| members), options.checkpoint_every];
    let longest = |seen: u64| {
        let to_ends = ends.iter().flatten().map(|every| every - seen % every);
        to_ends.fold((options.block as u64).min(limit - seen), u64::min)
    };
    let (begun, mut stopped) = (seen, false);
    while seen < limit && !stopped {
        let started = clock();
        block.clear();
        let read = stream.read_block(&mut block, longest(seen) as usize);
        let reading = clock().saturating_sub(started);
        if options.checkpoint_every.is_some() {
            fingerprint.add(&block, stream.schema());
        }
        // What was read before a fault is evaluated too, so that the fault is met at the same
        // sample whatever the block size.
        for run in &mut runs {
            run.state.times.reading += reading;
            stopped |= run.block(&block, stream.schema())?.is_break();
        }
        let ended = read? == 0;
        seen += block.len() as u64;
        // The end is a checkpoint too, unless there was one just before.
        let due = |every: u64| match seen.is_multiple_of(every) {
            true => !ended,
            false => seen > begun && (ended || seen == limit),
        };
        if !stopped && options.checkpoint_every.is_some_and(due) {
            let fingerprint = fingerprint.value();
            for run in &mut runs {
                stopped |= run.checkpoint(stream, fingerprint).is_break();
            }
        }
        if ended {
            break;
        }
    }
    runs.into_iter().map(|run| run.finish(stream.schema())).collect()
}
