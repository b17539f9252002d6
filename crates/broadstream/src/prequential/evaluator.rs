//! One model on one stream, step by step.

use std::time::Duration;

use super::{
    evaluation::Evaluation,
    observer::Observer,
    options::PrequentialOptions,
    pass::{Lane, Pass},
    run::Run,
    state::EvaluationState,
};
use crate::{classifier::Classifier, data::Schema, error::Error, stream::Stream};

/// An evaluation of one model on one stream, which can stop at checkpoints and go on later.
///
/// ```
/// use broadstream::{
///     Evaluator, OnlineBls, OnlineBlsConfig, PrequentialOptions, Progress, stream::synth::Sea,
/// };
///
/// let stream = || Sea::new(0, 0.0, 42).map(|sea| sea.take(500));
/// let new = || OnlineBls::new(OnlineBlsConfig { enhancement_nodes: 50, ..OnlineBlsConfig::single() });
/// let options = PrequentialOptions { checkpoint_every: Some(200), ..PrequentialOptions::default() };
/// let whole = Evaluator::new(&options)?.run(&mut stream()?, &mut new()?, &mut ())?;
///
/// // The same, stopped after 200 samples.
/// let (mut model, mut first) = (new()?, Evaluator::new(&options)?);
/// assert_eq!(first.advance(&mut stream()?, &mut model, &mut ())?, Progress::Checkpoint);
/// let state = first.state().clone();
/// assert_eq!(state.samples(), 200);
///
/// // The stream is opened again; what was evaluated is read and passed over, without the model.
/// let rest = Evaluator::resume(state, &options)?.run(&mut stream()?, &mut model, &mut ())?;
/// assert_eq!(rest.metrics.summary(), whole.metrics.summary());
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct Evaluator<'a> {
    run: Run,
    pass: Pass,
    clock: &'a dyn Fn() -> Duration,
    /// Whether the model and the stream have been compared with the state.
    checked: bool,
}

/// Why an [`Evaluator`] came to a halt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// It reached a checkpoint: with its [state](Evaluator::state) and the model as it is now, the
    /// evaluation can go on at any later time.
    Checkpoint,
    /// The stream or the limit has come to its end.
    Ended,
    /// The observer asked it to stop.
    Stopped,
}

/// Without a clock all times are 0.
const NO_CLOCK: &dyn Fn() -> Duration = &|| Duration::ZERO;

impl<'a> Evaluator<'a> {
    /// An evaluation of a new model.
    pub fn new(options: &PrequentialOptions) -> Result<Self, Error> {
        Ok(Evaluator {
            run: Run::new(EvaluationState::new(options)?),
            pass: Pass::new(options),
            clock: NO_CLOCK,
            checked: false,
        })
    }

    /// An evaluation that goes on from a checkpoint, and ends with the result that it would have had
    /// without a stop.
    ///
    /// The model is the one of the checkpoint, as it was then, and the stream is opened again. A stream
    /// that ends among the samples that were evaluated, or that differs there, is an error. The options
    /// are those that the evaluation began with; only block, limit and checkpoints may differ. Times
    /// are those of both parts, without that of passing over.
    pub fn resume(state: EvaluationState, options: &PrequentialOptions) -> Result<Self, Error> {
        options.check()?;
        options.check_continues(&state.options, state.samples())?;
        Ok(Evaluator {
            run: Run::new(state),
            pass: Pass::new(options),
            clock: NO_CLOCK,
            checked: false,
        })
    }

    /// Measures times by this clock, which returns the time since some fixed moment.
    #[must_use]
    pub fn with_clock(self, clock: &'a dyn Fn() -> Duration) -> Self {
        Evaluator { clock, ..self }
    }

    /// Predicts and learns up to the next checkpoint, if the options have any, or else to the end.
    pub fn advance(
        &mut self,
        stream: &mut dyn Stream,
        model: &mut dyn Classifier,
        observer: &mut dyn Observer,
    ) -> Result<Progress, Error> {
        if !self.checked {
            self.run.check_model(model)?;
            if self.run.state.samples() > 0 {
                self.pass.pass_over(stream, &self.run, observer)?;
            }
            self.checked = true;
        }
        let mut lane = [Lane { run: &mut self.run, model, observer }];
        self.pass.advance(stream, &mut lane, self.clock)
    }

    /// How far the evaluation has come. At a checkpoint this is all that it has to remember besides the
    /// model.
    pub fn state(&self) -> &EvaluationState {
        &self.run.state
    }

    /// The result for the samples so far, of a stream with that schema.
    pub fn finish(
        self,
        model: &dyn Classifier,
        schema: &Schema,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, Error> {
        self.run.finish(model, schema, observer)
    }

    /// Advances to the end, or until the observer stops it, and returns the result.
    pub fn run(
        mut self,
        stream: &mut dyn Stream,
        model: &mut dyn Classifier,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, Error> {
        while self.advance(stream, model, observer)? == Progress::Checkpoint {}
        self.finish(model, stream.schema(), observer)
    }
}
