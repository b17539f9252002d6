//! The evaluation of one model, block by block.

use std::{ops::ControlFlow, time::Duration};

use super::{
    curve::CurvePoint,
    evaluation::{Evaluation, summary, window_summary},
    observer::{Observer, Outcome},
    state::EvaluationState,
};
use crate::{
    classifier::{Classifier, Member},
    data::{Block, Objective, Schema, Scores},
    decision::ClassCosts,
    error::{Error, StreamError},
};

/// A running evaluation, without its model.
pub(super) struct Run {
    pub(super) state: EvaluationState,
    /// The scores of the samples of the current block that were predicted.
    scores: Scores,
    /// How long learning took after the prediction of each sample of the block, if times are
    /// measured separately; `None` if no label had arrived.
    block_updates: Vec<Option<Duration>>,
    /// What decisions cost, by the classes known so far.
    costs: Option<ClassCosts>,
}

impl Run {
    /// Continues from a state, which may be a new one.
    pub(super) fn new(state: EvaluationState) -> Self {
        Run { state, scores: Scores::new(), block_updates: Vec::new(), costs: None }
    }

    /// Checks that the model belongs to the state.
    pub(super) fn check_model(&self, model: &dyn Classifier) -> Result<(), Error> {
        let (inputs, classes) = (model.inputs(), model.classes());
        if inputs == self.state.inputs.len() && classes == self.state.classes {
            return Ok(());
        }
        let rule = if self.state.samples() == 0 {
            "new, since a stream numbers inputs and classes in its own order"
        } else {
            "the one that was evaluated, as it was at the checkpoint"
        };
        let value = format!("one with {inputs} inputs and {classes} classes");
        Err(Error::Config { option: "model", rule, value })
    }

    /// Predicts and learns a block. `Break` means that the observer stops the evaluation.
    pub(super) fn block(
        &mut self,
        model: &mut dyn Classifier,
        observer: &mut dyn Observer,
        block: &Block,
        schema: &Schema,
        clock: &dyn Fn() -> Duration,
    ) -> Result<ControlFlow<()>, Error> {
        if block.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        for input in schema.inputs().iter().skip(model.inputs()) {
            model.declare_input(&input.name, input.kind)?;
        }
        self.scores.clear();
        self.block_updates.clear();
        // If a label has no costs, the samples before it are evaluated first.
        let sound = self.find_costs(schema.labels()).is_ok();
        let options = &self.state.options;
        let at_once = sound && !options.separate_times && options.label_delay() == 1;
        let started = clock();
        let learned = if at_once {
            // A refused block has left the model unchanged, so it can be repeated one by one. The
            // samples before the refused one are then evaluated for any block size, and the error
            // can name the sample.
            model.test_then_train(block, &mut self.scores).or_else(|_| {
                self.scores.clear();
                self.one_by_one(model, block, schema, clock)
            })
        } else {
            self.one_by_one(model, block, schema, clock)
        };
        self.state.times.test_then_train += clock().saturating_sub(started);
        // Samples that were predicted before an error count; only then is the error returned.
        self.count(model, observer, block, schema)?;
        learned?;
        Ok(observer.block(&self.state.metrics))
    }

    /// Records what is needed to resume the evaluation from here.
    pub(super) fn mark_checkpoint(
        &mut self,
        model: &dyn Classifier,
        schema: &Schema,
        fingerprint: u64,
    ) {
        // The schema may have inputs that were not declared to the model yet.
        let known = schema.inputs().iter().take(model.inputs());
        self.state.inputs = known.cloned().collect();
        self.state.classes = model.classes();
        self.state.fingerprint = fingerprint;
    }

    /// Predicts each sample of a block, and then learns the one whose label has arrived: this
    /// sample itself, unless labels are delayed.
    fn one_by_one(
        &mut self,
        model: &mut dyn Classifier,
        block: &Block,
        schema: &Schema,
        clock: &dyn Fn() -> Duration,
    ) -> Result<(), Error> {
        // The clock is read for each sample only if predicting and learning are measured
        // separately.
        let separate_times = self.state.options.separate_times;
        let time = || if separate_times { clock() } else { Duration::ZERO };
        let (mut predicting, mut learning) = (Duration::ZERO, Duration::ZERO);
        for i in 0..block.len() {
            let sample = self.state.samples() + i as u64 + 1;
            let labels = schema.labels().get(..=block.class(i)).unwrap_or(schema.labels());
            self.find_costs(labels).map_err(|error| at(sample, error))?;
            let started = time();
            let scores = model.scores_one(block.sample(i)).map_err(|error| at(sample, error))?;
            let decisions = model.decide(&scores);
            let predicted = time();
            let learned = self.learn_next(model, block, i, sample)?;
            let update = time().saturating_sub(predicted);
            self.scores.push_decided(&scores, decisions);
            if separate_times {
                predicting += predicted.saturating_sub(started);
                learning += update;
                self.block_updates.push(learned.then_some(update));
            }
        }
        if separate_times {
            let times = &mut self.state.times;
            *times.predicting.get_or_insert_default() += predicting;
            *times.learning.get_or_insert_default() += learning;
            self.block_updates.iter().flatten().for_each(|update| times.updates.add(*update));
        }
        Ok(())
    }

    /// Learns the sample whose label is known once `sample`, at position `i` of the block, has been
    /// predicted. Returns whether there is one.
    fn learn_next(
        &mut self,
        model: &mut dyn Classifier,
        block: &Block,
        i: usize,
        sample: u64,
    ) -> Result<bool, Error> {
        let (x, class, weight) = (block.sample(i), block.class(i), block.weight(i));
        let delay = self.state.options.label_delay();
        if delay == 1 {
            model.learn_one(x, class, weight).map_err(|error| at(sample, error))?;
            return Ok(true);
        }
        let delayed = &mut self.state.delayed;
        delayed.push(x, class, weight)?;
        match delayed.oldest() {
            Some((x, class, weight)) if delayed.len() as u64 == delay => {
                let oldest = sample + 1 - delay;
                model.learn_one(x, class, weight).map_err(|error| at(oldest, error))?;
                delayed.drop_oldest()?;
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Adds the predicted samples of a block to metrics, drift detection and curve.
    fn count(
        &mut self,
        model: &dyn Classifier,
        observer: &mut dyn Observer,
        block: &Block,
        schema: &Schema,
    ) -> Result<(), Error> {
        for i in 0..self.scores.len() {
            let scores = self.scores.row(i);
            let (truth, decisions) = (block.class(i), self.scores.decisions(i));
            let probabilities = model.probabilities(scores);
            let predicted = match &self.costs {
                Some(costs) => costs.decide(&probabilities),
                None => decisions.of(model.objective().unwrap_or_default()),
            };
            let state = &mut self.state;
            let skipped =
                predicted.is_none() && self.costs.is_none() && !state.options.count_unanswered;
            if skipped {
                state.unanswered += 1;
            } else {
                state.metrics.add(truth, predicted, &probabilities);
                if model.objective().is_some() {
                    state.metrics.add_decisions(truth, &decisions);
                }
            }
            let sample = state.samples();
            let probabilities = &probabilities;
            observer.sample(Outcome { sample, truth, predicted, probabilities, schema });
            if skipped {
                continue;
            }
            // Drifts show in how good the probabilities are, whatever decisions are made for.
            let error = f64::from(u8::from(decisions.of(Objective::Accuracy) != Some(truth)));
            if state.detector.add(error)?.is_some_and(|change| change.is_rise()) {
                state.drifts.push(sample);
                observer.drift(sample);
            }
            if let Some(Some(update)) = self.block_updates.get(i) {
                let (time, updates) = &mut state.updates_since_point;
                (*time, *updates) = (*time + *update, updates.saturating_add(1));
            }
            if state.options.curve_every.is_some_and(|every| sample.is_multiple_of(every)) {
                self.add_point(model, observer);
            }
        }
        Ok(())
    }

    /// Finds the costs of the classes with these labels.
    fn find_costs(&mut self, labels: &[String]) -> Result<(), Error> {
        let Some(costs) = &self.state.options.costs else { return Ok(()) };
        if self.costs.as_ref().is_none_or(|known| known.classes() < labels.len()) {
            self.costs = Some(costs.by_class(labels)?);
        }
        Ok(())
    }

    /// Adds a point to the curve, for the samples counted so far.
    fn add_point(&mut self, model: &dyn Classifier, observer: &mut dyn Observer) {
        let state = &mut self.state;
        let (time, updates) = std::mem::take(&mut state.updates_since_point);
        let members = model.members();
        let features = |member: &Member| match member.rests {
            true => Some(0),
            false => member.features,
        };
        let point = CurvePoint {
            cumulative: summary(&state.metrics, self.costs.as_ref()),
            window: window_summary(&state.metrics, self.costs.as_ref()),
            drifts: state.drifts.len() as u64,
            weights: members.iter().map(|member| member.weight).collect(),
            features: members.iter().filter_map(features).collect(),
            update_time: (updates > 0).then(|| time / updates),
        };
        observer.curve(&point);
        state.curve.push(point);
    }

    /// The result for the samples so far.
    pub(super) fn finish(
        mut self,
        model: &dyn Classifier,
        schema: &Schema,
        observer: &mut dyn Observer,
    ) -> Result<Evaluation, Error> {
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
            self.add_point(model, observer);
        }
        self.find_costs(schema.labels())?;
        let EvaluationState { metrics, curve, drifts, times, .. } = self.state;
        Ok(Evaluation {
            costs: self.costs,
            objective: model.objective(),
            metrics,
            curve,
            drifts,
            restarts: model.restarts().to_vec(),
            members: model.members(),
            changes: model.changes().to_vec(),
            times,
        })
    }
}

/// An error that names the sample, numbered from 1.
fn at(sample: u64, reason: Error) -> Error {
    Error::Sample { sample, reason: Box::new(reason) }
}
