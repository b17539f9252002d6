//! Evaluating one model on one stream, step by step.

use std::time::Duration;

use super::{
    evaluation::Evaluation,
    observer::Observer,
    options::PrequentialOptions,
    pass::{Lane, Pass},
    run::Run,
    state::EvaluationState,
};
use crate::{
    classifier::Classifier,
    data::{Input, Schema},
    error::Error,
    stream::Stream,
};

/// An evaluation of one model on one stream, which can stop at checkpoints and resume later.
///
/// ```
/// use broadstream::{
///     Evaluator, Nodes, OnlineBls, OnlineBlsConfig, PrequentialOptions, Progress,
///     stream::synth::Sea,
/// };
///
/// let stream = || Sea::new(0, 0.0, 42).map(|sea| sea.take(500));
/// let config = OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(50), ..OnlineBlsConfig::single() };
/// let new = || OnlineBls::new(config.clone());
/// let checkpoint_every = Some(200);
/// let options = PrequentialOptions { checkpoint_every, ..PrequentialOptions::default() };
/// let whole = Evaluator::new(&options)?.run(&mut stream()?, &mut new()?, &mut ())?;
///
/// // The same, stopped after 200 samples.
/// let (mut model, mut first) = (new()?, Evaluator::new(&options)?);
/// assert_eq!(first.advance(&mut stream()?, &mut model, &mut ())?, Progress::Checkpoint);
/// let state = first.state().clone();
/// assert_eq!(state.samples(), 200);
///
/// // The stream is opened again; samples that were evaluated are read and skipped.
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

/// Why an [`Evaluator`] stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// It reached a checkpoint. With its [state](Evaluator::state) and the model as they are now,
    /// the evaluation can be resumed at any later time.
    Checkpoint,
    /// The stream has ended, or the limit was reached.
    Ended,
    /// The observer asked it to stop.
    Stopped,
}

/// Used without a clock: all times are 0.
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

    /// An evaluation that continues from a checkpoint. Its result is the same as if it had not been
    /// stopped.
    ///
    /// The model must be as it was at the checkpoint, and the stream must be opened again from its
    /// beginning. It is an error if the stream ends before the checkpoint, or if its samples before
    /// the checkpoint are not those that were evaluated. The options must be those that the
    /// evaluation started with; only `block`, `limit` and `checkpoint_every` may differ. Times
    /// include those before the checkpoint, but not the time of skipping samples.
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

    /// Evaluates a model that has learned before, with these inputs and that many classes. The schema of the
    /// stream must begin with the same inputs and classes.
    #[must_use]
    pub fn of_learned(mut self, inputs: &[Input], classes: usize) -> Self {
        self.run.state.inputs = inputs.to_vec();
        self.run.state.classes = classes;
        self
    }

    /// Measures times with this clock, which returns the time since some fixed moment.
    #[must_use]
    pub fn with_clock(self, clock: &'a dyn Fn() -> Duration) -> Self {
        Evaluator { clock, ..self }
    }

    /// Predicts and learns up to the next checkpoint, or up to the end without checkpoints.
    ///
    /// If the observer stops the evaluation, or if the stream fails, all samples before that have been
    /// evaluated. With checkpoints the evaluation can be resumed from there too.
    pub fn advance(
        &mut self,
        stream: &mut dyn Stream,
        model: &mut dyn Classifier,
        observer: &mut dyn Observer,
    ) -> Result<Progress, Error> {
        if !self.checked {
            self.run.check_model(model)?;
            if self.run.state.samples() > 0 {
                self.pass.skip_evaluated(stream, &self.run, observer)?;
            }
            self.checked = true;
        }
        let mut lane = [Lane { run: &mut self.run, model, observer }];
        self.pass.advance(stream, &mut lane, self.clock)
    }

    /// The state of the evaluation. At a checkpoint, and wherever an evaluation with checkpoints halted, this
    /// is all that is needed to resume, besides the model.
    pub fn state(&self) -> &EvaluationState {
        &self.run.state
    }

    /// The result for the samples so far, of a stream with this schema.
    pub fn finish(
        self,
        model: &dyn Classifier,
        schema: &Schema,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, Error> {
        self.run.finish(model, schema, observer)
    }

    /// Advances to the end, or until the observer stops the evaluation, and returns the result.
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
