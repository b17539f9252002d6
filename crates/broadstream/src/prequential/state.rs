//! Everything that an evaluation remembers between two samples, besides the model.

use std::time::Duration;

use super::{
    curve::{self, CurvePoint},
    delayed_samples::DelayedSamples,
    options::PrequentialOptions,
    times::{Times, nanoseconds},
};
use crate::{
    data::{Input, InputKind},
    decision::Costs,
    drift::Adwin,
    error::{Error, ModelFileError},
    metrics::Metrics,
    state::{ReadScope, WriteScope},
};

/// The state of an evaluation after some samples of a stream, without the model.
///
/// An [`Evaluator`](super::Evaluator) has one, and can [resume](super::Evaluator::resume) from it.
#[derive(Clone, Debug)]
pub struct EvaluationState {
    pub(super) options: PrequentialOptions,
    pub(super) metrics: Metrics,
    pub(super) curve: Vec<CurvePoint>,
    pub(super) drifts: Vec<u64>,
    /// The samples without a prediction that are not counted.
    pub(super) unanswered: u64,
    /// Detects drifts in the model's errors.
    pub(super) detector: Adwin,
    pub(super) times: Times,
    /// How long learning took since the last point of the curve, and for how many samples.
    pub(super) updates_since_point: (Duration, u32),
    /// Samples whose labels are delayed.
    pub(super) delayed: DelayedSamples,
    /// The model's inputs and its number of classes at the checkpoint.
    pub(super) inputs: Vec<Input>,
    pub(super) classes: usize,
    /// The fingerprint of the samples up to the checkpoint.
    pub(super) fingerprint: u64,
}

impl EvaluationState {
    /// The state before the first sample.
    pub(super) fn new(options: &PrequentialOptions) -> Result<Self, Error> {
        options.check()?;
        Ok(EvaluationState {
            options: options.clone(),
            metrics: Metrics::new(options.metrics_window),
            curve: Vec::new(),
            drifts: Vec::new(),
            unanswered: 0,
            detector: Adwin::new(options.drift_confidence)?,
            times: Times::default(),
            updates_since_point: (Duration::ZERO, 0),
            delayed: DelayedSamples::default(),
            inputs: Vec::new(),
            classes: 0,
            fingerprint: 0,
        })
    }

    /// The number of samples evaluated so far.
    pub fn samples(&self) -> u64 {
        self.metrics.confusion().samples() + self.unanswered
    }

    /// The samples that are not counted, since the model could not answer them; see
    /// [`count_unanswered`](PrequentialOptions::count_unanswered).
    pub fn unanswered(&self) -> u64 {
        self.unanswered
    }

    /// The options that the evaluation started with. `block`, `limit` and `checkpoint_every` may
    /// differ when it is resumed.
    pub fn options(&self) -> &PrequentialOptions {
        &self.options
    }

    /// The metrics so far.
    pub fn metrics(&self) -> &Metrics {
        &self.metrics
    }

    /// The curve so far.
    pub fn curve(&self) -> &[CurvePoint] {
        &self.curve
    }

    /// The samples, numbered from 1, at which drifts were detected so far.
    pub fn drifts(&self) -> &[u64] {
        &self.drifts
    }

    /// How many samples wait for their labels after this many were predicted.
    fn waiting(&self, samples: u64) -> u64 {
        samples.min(self.options.label_delay() - 1)
    }

    pub(crate) fn save(&self, to: &mut WriteScope<'_>) {
        save_options(&self.options, &mut to.scope("options"));
        to.texts("inputs", self.inputs.iter().map(|input| input.name.as_str()));
        let indicator = |input: &Input| u64::from(input.kind == InputKind::Indicator);
        to.integers("indicators", self.inputs.iter().map(indicator).collect());
        to.integer("classes", self.classes);
        to.integers("fingerprint", vec![self.fingerprint]);
        self.metrics.save(&mut to.scope("metrics"));
        curve::save(&self.curve, &mut to.scope("curve"));
        to.integers("drifts", self.drifts.clone());
        self.detector.save(&mut to.scope("detector"));
        self.times.save(&mut to.scope("times"));
        let (time, updates) = self.updates_since_point;
        to.integer("time_since_point", nanoseconds(time));
        to.integer("updates_since_point", updates);
        self.delayed.save(&mut to.scope("waiting"));
    }

    /// The state as it was saved, with the options that the evaluation started with.
    pub(crate) fn restored(from: &ReadScope<'_>) -> Result<Self, ModelFileError> {
        let options = restored_options(&from.scope("options")?)?;
        let refused = |error| from.invalid("options", &format!("sound: {error}"));
        let mut state = EvaluationState::new(&options).map_err(refused)?;
        state.restore(from)?;
        Ok(state)
    }

    fn restore(&mut self, from: &ReadScope<'_>) -> Result<(), ModelFileError> {
        let names = from.texts("inputs")?;
        let indicators = from.integers("indicators", names.len(), 1)?;
        let kind = |indicator| [InputKind::Numeric, InputKind::Indicator][indicator as usize];
        let inputs = names.iter().zip(indicators);
        self.inputs = inputs
            .map(|(name, indicator)| Input { name: (*name).to_owned(), kind: kind(indicator) })
            .collect();
        self.classes = from.count("classes", u32::MAX as usize)?;
        self.fingerprint = from.integers("fingerprint", 1, u64::MAX)?[0];
        self.metrics.restore(&from.scope("metrics")?)?;
        let samples = self.samples();
        self.curve = self.restored_curve(&from.scope("curve")?)?;
        self.drifts = from.any_integers("drifts")?;
        let sound = self.drifts.is_sorted_by(|a, b| a < b)
            && self.drifts.iter().all(|drift| (1..=samples).contains(drift));
        from.check("drifts", sound, &format!("increasing numbers from 1 to {samples}"))?;
        self.detector.restore(&from.scope("detector")?)?;
        self.times.restore(&from.scope("times")?)?;
        let updates = from.count("updates_since_point", u32::MAX as usize)? as u32;
        self.updates_since_point =
            (Duration::from_nanos(from.integer("time_since_point")?), updates);
        let (waiting, inputs) = (self.waiting(samples), self.inputs.len());
        self.delayed.restore(&from.scope("waiting")?, waiting, inputs, self.classes)
    }

    /// The saved curve, with a point after every multiple of `curve_every`. The point at the end is
    /// added when the evaluation finishes.
    fn restored_curve(&self, from: &ReadScope<'_>) -> Result<Vec<CurvePoint>, ModelFileError> {
        let samples = self.samples();
        let every = self.options.curve_every;
        let points = every.map_or(0, |every| samples / every);
        // A forged number of samples must not reserve memory for points that the file does not
        // contain.
        from.check("weights", points <= from.length("floats") as u64, "as long as the curve")?;
        let at: Vec<u64> = (1..=points).map(|point| point * every.unwrap_or(1)).collect();
        curve::restore(from, &at)
    }
}

/// Writes the options that affect the result.
fn save_options(options: &PrequentialOptions, to: &mut WriteScope<'_>) {
    to.integer("metrics_window", options.metrics_window);
    to.value("curve_every", options.curve_every);
    to.float("drift_confidence", options.drift_confidence);
    to.value("separate_times", options.separate_times);
    to.integer("delay", options.delay);
    if let Some(costs) = &options.costs {
        costs.save(&mut to.scope("costs"));
    }
}

fn restored_options(from: &ReadScope<'_>) -> Result<PrequentialOptions, ModelFileError> {
    let curve_every = match from.value("curve_every")? {
        serde_json::Value::Null => None,
        _ => Some(from.integer("curve_every")?),
    };
    Ok(PrequentialOptions {
        metrics_window: from.count("metrics_window", usize::MAX)?,
        curve_every,
        drift_confidence: from.float("drift_confidence", 0.0..=1.0)?,
        separate_times: from.flag("separate_times")?,
        delay: from.integer("delay")?,
        costs: match from.has("costs") {
            true => Some(Costs::restored(&from.scope("costs")?)?),
            false => None,
        },
        ..PrequentialOptions::default()
    })
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, io::Cursor};

    use super::*;
    use crate::{
        config::OnlineBlsConfig,
        online_bls::OnlineBls,
        prequential::{Evaluator, Progress},
        state::StateWriter,
        stream::{TableOptions, csv::CsvStream},
    };

    /// A table in which new categories and classes appear one after the other.
    fn table() -> CsvStream {
        let mut text = String::from("size,colour,class\n");
        for i in 0..150 {
            text += &format!("{}.5,c{},{}\n", i * 7 % 31, i * 5 % (2 + i / 30), i % (2 + i / 60));
        }
        CsvStream::new(Box::new(Cursor::new(text)), TableOptions::default()).unwrap()
    }

    fn model() -> OnlineBls {
        let (feature_groups, feature_nodes) = (2, 2);
        let enhancement_nodes = crate::Nodes::Fixed(5);
        let single = OnlineBlsConfig::single();
        let config = OnlineBlsConfig { feature_groups, feature_nodes, enhancement_nodes, ..single };
        OnlineBls::new(config).unwrap()
    }

    fn options() -> PrequentialOptions {
        PrequentialOptions {
            metrics_window: 20,
            curve_every: Some(7),
            separate_times: true,
            delay: 6,
            checkpoint_every: Some(10),
            ..PrequentialOptions::default()
        }
    }

    /// The model, the state and the saved state at every checkpoint.
    fn saved() -> Vec<(OnlineBls, EvaluationState, StateWriter)> {
        let now = Cell::new(Duration::ZERO);
        let clock = || now.replace(now.get() + Duration::from_nanos(1111));
        let (mut table, mut model) = (table(), model());
        let mut evaluator = Evaluator::new(&options()).unwrap().with_clock(&clock);
        let mut saved = Vec::new();
        while evaluator.advance(&mut table, &mut model, &mut ()).unwrap() == Progress::Checkpoint {
            let mut state = StateWriter::default();
            evaluator.state().save(&mut state.root());
            saved.push((model.clone(), evaluator.state().clone(), state));
        }
        saved
    }

    #[test]
    fn a_restored_state_is_the_one_that_was_saved() {
        let saved = saved();
        assert_eq!(saved.len(), 15);
        for (_, state, written) in saved {
            let restored = written.read_back(EvaluationState::restored).unwrap();
            let mut again = StateWriter::default();
            restored.save(&mut again.root());
            assert_eq!(format!("{again:?}"), format!("{written:?}"));
            // `block`, `limit` and `checkpoint_every` are not saved, nor are samples that have left
            // the queue.
            assert_eq!(restored.delayed.len(), state.delayed.len());
            let EvaluationState { options, delayed, .. } = state.clone();
            let restored = EvaluationState { options, delayed, ..restored };
            assert_eq!(format!("{restored:?}"), format!("{state:?}"));
        }
    }

    #[test]
    fn an_altered_state_is_refused_or_can_be_resumed() {
        let (model, _, written) = saved().swap_remove(12);
        let alterations = written.alterations();
        let mut refused = 0;
        for (_, altered) in &alterations {
            let Ok(state) = altered.read_back(EvaluationState::restored) else {
                refused += 1;
                continue;
            };
            let options = state.options().clone();
            // An alteration that is not detected may change the result, but must not cause a panic.
            let _ = Evaluator::resume(state, &options)
                .and_then(|evaluator| evaluator.run(&mut table(), &mut model.clone(), &mut ()));
        }
        assert!(refused > alterations.len() / 2, "{refused} of {}", alterations.len());
    }
}
