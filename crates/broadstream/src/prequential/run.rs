//! One model on its way along a stream.

use std::{ops::ControlFlow, time::Duration};

use super::{
    Evaluation,
    curve::CurvePoint,
    observer::{Checkpoint, Observer, Outcome},
    state::EvaluationState,
};
use crate::{
    classifier::Classifier,
    data::{Block, Schema, Scores, arg_max},
    error::Error,
    stream::{Stream, StreamError},
};

/// An evaluation under way.
pub(super) struct Run<'a> {
    pub(super) model: &'a mut dyn Classifier,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) state: EvaluationState,
    clock: &'a dyn Fn() -> Duration,
    scores: Scores,
    /// For each sample of the block how long learning took, if that was measured and a label had come.
    block_updates: Vec<Option<Duration>>,
}

impl<'a> Run<'a> {
    /// Goes on from a state with the model that belongs to it.
    pub(super) fn new(
        model: &'a mut dyn Classifier,
        observer: &'a mut dyn Observer,
        state: EvaluationState,
        clock: &'a dyn Fn() -> Duration,
    ) -> Result<Self, Error> {
        let (inputs, classes) = (model.inputs(), model.classes());
        if inputs != state.inputs.len() || classes != state.classes {
            let rule = if state.samples() == 0 {
                "new, since a stream numbers inputs and classes in its own order"
            } else {
                "the one that was evaluated, as it was at the checkpoint"
            };
            let value = format!("one with {inputs} inputs and {classes} classes");
            return Err(Error::Config { option: "model", rule, value });
        }
        let (scores, block_updates) = (Scores::new(), Vec::new());
        Ok(Run { model, observer, state, clock, scores, block_updates })
    }

    /// Predicts and learns a block.
    pub(super) fn block(
        &mut self,
        block: &Block,
        schema: &Schema,
    ) -> Result<ControlFlow<()>, Error> {
        if block.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        for input in schema.inputs().iter().skip(self.model.inputs()) {
            self.model.declare_input(&input.name, input.kind)?;
        }
        self.scores.clear();
        self.block_updates.clear();
        let options = &self.state.options;
        let at_once = !options.separate_times && options.label_delay() == 1;
        let started = (self.clock)();
        let learned = if at_once {
            // A refused block is gone through one by one: it is met at the same sample then,
            // whatever the block size, and that sample can be named.
            self.model.test_then_train(block, &mut self.scores).or_else(|_| {
                self.scores.clear();
                self.one_by_one(block)
            })
        } else {
            self.one_by_one(block)
        };
        self.state.times.test_then_train += (self.clock)().saturating_sub(started);
        self.count(block, schema)?;
        learned?;
        Ok(self.observer.block(&self.state.metrics))
    }

    /// Shows the evaluation to the observer, so that it can be resumed from here.
    pub(super) fn checkpoint(&mut self, stream: &dyn Stream, fingerprint: u64) -> ControlFlow<()> {
        let (schema, encoding) = (stream.schema(), stream.encoding());
        let known = schema.inputs().iter().take(self.model.inputs());
        self.state.inputs = known.cloned().collect();
        self.state.classes = self.model.classes();
        self.state.fingerprint = fingerprint;
        let state = &self.state;
        self.observer.checkpoint(Checkpoint { model: self.model, schema, encoding, state })
    }

    /// Predicts each sample of a block, and then learns the one whose label has come: this sample
    /// itself, unless labels are late.
    fn one_by_one(&mut self, block: &Block) -> Result<(), Error> {
        let (mut predicting, mut learning) = (Duration::ZERO, Duration::ZERO);
        for i in 0..block.len() {
            let sample = self.state.samples() + i as u64 + 1;
            let started = self.time();
            let scores =
                self.model.scores_one(block.sample(i)).map_err(|error| at(sample, error))?;
            let predicted = self.time();
            let learned = self.learn_next(block, i, sample)?;
            let update = self.time().saturating_sub(predicted);
            self.scores.push(&scores);
            if self.state.options.separate_times {
                predicting += predicted.saturating_sub(started);
                learning += update;
                self.block_updates.push(learned.then_some(update));
            }
        }
        if self.state.options.separate_times {
            let times = &mut self.state.times;
            *times.predicting.get_or_insert_default() += predicting;
            *times.learning.get_or_insert_default() += learning;
            self.block_updates.iter().flatten().for_each(|update| times.updates.add(*update));
        }
        Ok(())
    }

    /// Learns the sample whose label is known after `sample`, which is at position `i` of the block,
    /// was predicted. Returns whether there is one.
    fn learn_next(&mut self, block: &Block, i: usize, sample: u64) -> Result<bool, Error> {
        let (x, class, weight) = (block.sample(i), block.class(i), block.weight(i));
        let delay = self.state.options.label_delay();
        if delay == 1 {
            self.model.learn_one(x, class, weight).map_err(|error| at(sample, error))?;
            return Ok(true);
        }
        let waiting = &mut self.state.waiting;
        waiting.push(x, class, weight)?;
        match waiting.oldest() {
            Some((x, class, weight)) if waiting.len() as u64 == delay => {
                let oldest = sample + 1 - delay;
                self.model.learn_one(x, class, weight).map_err(|error| at(oldest, error))?;
                waiting.drop_oldest()?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// The time, if predicting and learning are to be told apart.
    fn time(&self) -> Duration {
        if self.state.options.separate_times { (self.clock)() } else { Duration::ZERO }
    }

    fn count(&mut self, block: &Block, schema: &Schema) -> Result<(), Error> {
        for i in 0..self.scores.len() {
            let scores = self.scores.row(i);
            let (truth, predicted) = (block.class(i), arg_max(scores));
            let probabilities = self.model.probabilities(scores);
            let state = &mut self.state;
            state.metrics.add(truth, predicted, &probabilities);
            let sample = state.samples();
            let probabilities = &probabilities;
            self.observer.sample(Outcome { sample, truth, predicted, probabilities, schema });
            let error = f64::from(u8::from(predicted != Some(truth)));
            if state.detector.add(error)?.is_some_and(|change| change.is_rise()) {
                state.drifts.push(sample);
                self.observer.drift(sample);
            }
            if let Some(Some(update)) = self.block_updates.get(i) {
                let (time, updates) = &mut state.updates_since_point;
                (*time, *updates) = (*time + *update, updates.saturating_add(1));
            }
            if state.options.curve_every.is_some_and(|every| sample.is_multiple_of(every)) {
                self.add_point();
            }
        }
        Ok(())
    }

    fn add_point(&mut self) {
        let state = &mut self.state;
        let (time, updates) = std::mem::take(&mut state.updates_since_point);
        let point = CurvePoint {
            cumulative: state.metrics.summary(),
            window: state.metrics.window_summary(),
            drifts: state.drifts.len() as u64,
            weights: self.model.members().iter().map(|member| member.weight).collect(),
            update_time: (updates > 0).then(|| time / updates),
        };
        self.observer.curve(&point);
        state.curve.push(point);
    }

    pub(super) fn finish(mut self, schema: &Schema) -> Result<Evaluation, Error> {
        let samples = self.state.samples();
        match schema.labels() {
            _ if samples == 0 => return Err(StreamError::Empty.into()),
            [label] => {
                let (target, label) = (schema.target().to_owned(), label.clone());
                return Err(StreamError::SingleClass { target, label, samples }.into());
            }
            _ => {}
        }
        if self.state.options.curve_every.is_some_and(|every| !samples.is_multiple_of(every)) {
            self.add_point();
        }
        let EvaluationState { metrics, curve, drifts, times, .. } = self.state;
        Ok(Evaluation {
            metrics,
            curve,
            drifts,
            restarts: self.model.restarts().to_vec(),
            members: self.model.members(),
            times,
        })
    }
}

fn at(sample: u64, source: Error) -> Error {
    Error::Sample { sample, source: Box::new(source) }
}
