//! Prequential evaluation: each sample is first predicted, then learned.
//!
//! The stream is read in blocks and the model learns them as blocks, which for an exact learner is
//! many times faster and changes no prediction. The library has no clock: the caller brings one.

use std::{ops::ControlFlow, time::Duration};

use crate::{
    block::Block,
    classifier::Classifier,
    drift::Adwin,
    durations::Durations,
    error::Error,
    member::Member,
    metrics::{Metrics, Summary, WindowSummary},
    schema::Schema,
    scores::{Scores, arg_max},
    stream::{Stream, StreamError},
};

/// How a stream is evaluated.
#[derive(Clone, Debug)]
pub struct PrequentialOptions {
    /// Samples that are read and learned at once. It changes the speed, never the result. Default 64.
    pub block: usize,
    /// The most samples to take from the stream. Default `None`: all.
    pub limit: Option<u64>,
    /// Samples over which the windowed metrics look back. Default 1000.
    pub metrics_window: usize,
    /// A point of the curve every so many samples, and one at the end. Default `None`: no curve.
    pub curve_every: Option<u64>,
    /// How likely a drift may be reported where there is none: the δ of [`Adwin`], which watches the
    /// model's errors. Less is more careful and slower. Default 0.002.
    pub drift_confidence: f64,
    /// Measure predicting and learning apart. The model then gets one sample at a time, which is
    /// slower and gives the same result. Default off.
    pub separate_times: bool,
}

impl Default for PrequentialOptions {
    fn default() -> Self {
        PrequentialOptions {
            block: 64,
            limit: None,
            metrics_window: 1000,
            curve_every: None,
            drift_confidence: Adwin::CONFIDENCE,
            separate_times: false,
        }
    }
}

/// What became of one sample.
#[derive(Clone, Copy, Debug)]
pub struct Outcome<'a> {
    /// The sample's number in the stream, from 1.
    pub sample: u64,
    /// Its class.
    pub truth: usize,
    /// The class predicted; `None` before any class was seen.
    pub predicted: Option<usize>,
    /// The probability of each class known before the sample.
    pub probabilities: &'a [f64],
    /// The names of inputs and classes.
    pub schema: &'a Schema,
}

/// Watches an evaluation.
pub trait Observer {
    /// Called for every sample after its prediction.
    fn sample(&mut self, _outcome: Outcome<'_>) {}

    /// Called for every drift, after the sample at which it was seen.
    fn drift(&mut self, _sample: u64) {}

    /// Called for every point of the curve, if one was asked for.
    fn curve(&mut self, _point: &CurvePoint) {}

    /// Called after every block; `Break` ends the evaluation there.
    fn block(&mut self, _metrics: &Metrics) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
impl Observer for () {}

/// The metrics at one moment of the stream.
#[derive(Clone, Debug)]
pub struct CurvePoint {
    /// All samples so far.
    pub cumulative: Summary,
    /// The last samples.
    pub window: WindowSummary,
    /// How many drifts were seen so far.
    pub drifts: u64,
    /// The weights of the model's [members](Classifier::members) right after this sample, in their
    /// order.
    pub weights: Vec<f64>,
    /// The mean time of learning a sample since the point before, if the times are measured apart.
    pub update_time: Option<Duration>,
}

/// Where the time went.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// Reading the stream.
    pub reading: Duration,
    /// Predicting and learning.
    pub test_then_train: Duration,
    /// Of that, predicting; known when the times are measured apart.
    pub predicting: Option<Duration>,
    /// Of that, learning; known when the times are measured apart.
    pub learning: Option<Duration>,
    /// How long learning took sample by sample; empty unless the times are measured apart.
    pub updates: Durations,
}

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
    options.check()?;
    let mut runs = Vec::new();
    for Contestant { model, observer } in contestants {
        runs.push(Run::new(&mut **model, &mut **observer, options, clock)?);
    }
    let mut block = Block::new();
    let members = runs.iter().any(|run| !run.evaluation.members.is_empty());
    let (mut seen, mut left) = (0, options.limit.unwrap_or(u64::MAX));
    // Within a block a model is ahead of the sample that is counted. So a block ends at a point of the
    // curve, if there are members whose weights are to be those of just then.
    let longest = |seen: u64| match options.curve_every {
        Some(every) if members => (options.block as u64).min(every - seen % every),
        _ => options.block as u64,
    };
    while left > 0 {
        let started = clock();
        block.clear();
        let most = left.min(longest(seen)) as usize;
        let read = stream.read_block(&mut block, most);
        let reading = clock().saturating_sub(started);
        // What was read before a fault is evaluated too, so that the fault is met at the same
        // sample whatever the block size.
        let mut ended = false;
        for run in &mut runs {
            run.evaluation.times.reading += reading;
            ended |= run.block(&block, stream.schema(), options.separate_times)?.is_break();
        }
        if read? == 0 || ended {
            break;
        }
        left -= block.len() as u64;
        seen += block.len() as u64;
    }
    runs.into_iter().map(|run| run.finish(stream.schema())).collect()
}

impl PrequentialOptions {
    /// Checks every rule; [`evaluate`] does that too.
    pub fn check(&self) -> Result<(), Error> {
        let sizes = [
            ("block", self.block as u64),
            ("metrics_window", self.metrics_window as u64),
            ("limit", self.limit.unwrap_or(1)),
            ("curve_every", self.curve_every.unwrap_or(1)),
        ];
        match sizes.into_iter().find(|(_, value)| *value == 0) {
            Some((option, value)) => {
                Err(Error::Config { option, rule: "at least 1", value: value.to_string() })
            }
            None => Adwin::new(self.drift_confidence).map(|_| ()),
        }
    }
}

/// An evaluation under way.
struct Run<'a> {
    model: &'a mut dyn Classifier,
    clock: &'a dyn Fn() -> Duration,
    observer: &'a mut dyn Observer,
    curve_every: Option<u64>,
    scores: Scores,
    /// Watches the errors.
    detector: Adwin,
    /// How long learning took for each sample of the block, if measured.
    block_updates: Vec<Duration>,
    /// The sum and the number of these since the last point of the curve.
    updates_since_point: (Duration, u32),
    evaluation: Evaluation,
}

impl<'a> Run<'a> {
    fn new(
        model: &'a mut dyn Classifier,
        observer: &'a mut dyn Observer,
        options: &PrequentialOptions,
        clock: &'a dyn Fn() -> Duration,
    ) -> Result<Self, Error> {
        let (inputs, classes) = (model.inputs(), model.classes());
        if inputs > 0 || classes > 0 {
            return Err(Error::Config {
                option: "model",
                rule: "new, since a stream numbers inputs and classes in its own order",
                value: format!("one with {inputs} inputs and {classes} classes"),
            });
        }
        let evaluation = Evaluation {
            metrics: Metrics::new(options.metrics_window),
            curve: Vec::new(),
            drifts: Vec::new(),
            restarts: Vec::new(),
            members: model.members(),
            times: Times::default(),
        };
        Ok(Run {
            model,
            clock,
            observer,
            curve_every: options.curve_every,
            scores: Scores::new(),
            detector: Adwin::new(options.drift_confidence)?,
            block_updates: Vec::new(),
            updates_since_point: (Duration::ZERO, 0),
            evaluation,
        })
    }

    fn block(
        &mut self,
        block: &Block,
        schema: &Schema,
        separate_times: bool,
    ) -> Result<ControlFlow<()>, Error> {
        if block.is_empty() {
            return Ok(ControlFlow::Continue(()));
        }
        for input in &schema.inputs()[self.model.inputs()..] {
            self.model.declare_input(&input.name, input.kind)?;
        }
        self.scores.clear();
        let started = (self.clock)();
        let learned = if separate_times {
            self.test_and_train_apart(block)
        } else {
            // A refused block is gone through one by one: it is met at the same sample then,
            // whatever the block size, and that sample can be named.
            match self.model.test_then_train(block, &mut self.scores) {
                Err(_) => {
                    self.scores.clear();
                    self.test_and_train_apart(block)
                }
                learned => learned,
            }
        };
        self.evaluation.times.test_then_train += (self.clock)().saturating_sub(started);
        self.count(block, schema)?;
        learned?;
        Ok(self.observer.block(&self.evaluation.metrics))
    }

    fn test_and_train_apart(&mut self, block: &Block) -> Result<(), Error> {
        self.block_updates.clear();
        let (mut predicting, mut learning) = (Duration::ZERO, Duration::ZERO);
        for i in 0..block.len() {
            let sample = self.evaluation.metrics.confusion().samples() + i as u64 + 1;
            let place = |source| Error::Sample { sample, source: Box::new(source) };
            let started = (self.clock)();
            let scores = self.model.scores_one(block.sample(i)).map_err(place)?;
            let predicted = (self.clock)();
            let (class, weight) = (block.class(i), block.weight(i));
            self.model.learn_one(block.sample(i), class, weight).map_err(place)?;
            self.scores.push(&scores);
            predicting += predicted.saturating_sub(started);
            let update = (self.clock)().saturating_sub(predicted);
            learning += update;
            self.evaluation.times.updates.add(update);
            self.block_updates.push(update);
        }
        let times = &mut self.evaluation.times;
        *times.predicting.get_or_insert_default() += predicting;
        *times.learning.get_or_insert_default() += learning;
        Ok(())
    }

    fn count(&mut self, block: &Block, schema: &Schema) -> Result<(), Error> {
        for i in 0..self.scores.len() {
            let scores = self.scores.row(i);
            let (truth, predicted) = (block.class(i), arg_max(scores));
            let probabilities = self.model.probabilities(scores);
            let metrics = &mut self.evaluation.metrics;
            metrics.add(truth, predicted, &probabilities);
            let sample = metrics.confusion().samples();
            let probabilities = &probabilities;
            self.observer.sample(Outcome { sample, truth, predicted, probabilities, schema });
            let error = f64::from(u8::from(predicted != Some(truth)));
            if self.detector.add(error)?.is_some_and(|change| change.is_rise()) {
                self.evaluation.drifts.push(sample);
                self.observer.drift(sample);
            }
            if let Some(update) = self.block_updates.get(i) {
                self.updates_since_point.0 += *update;
                self.updates_since_point.1 += 1;
            }
            if self.curve_every.is_some_and(|every| sample.is_multiple_of(every)) {
                self.add_point();
            }
        }
        Ok(())
    }

    fn add_point(&mut self) {
        let metrics = &self.evaluation.metrics;
        let (time, updates) = std::mem::take(&mut self.updates_since_point);
        let point = CurvePoint {
            cumulative: metrics.summary(),
            window: metrics.window_summary(),
            drifts: self.evaluation.drifts.len() as u64,
            weights: self.model.members().iter().map(|member| member.weight).collect(),
            update_time: (updates > 0).then(|| time / updates),
        };
        self.observer.curve(&point);
        self.evaluation.curve.push(point);
    }

    fn finish(mut self, schema: &Schema) -> Result<Evaluation, Error> {
        let samples = self.evaluation.metrics.confusion().samples();
        match schema.labels() {
            _ if samples == 0 => return Err(StreamError::Empty.into()),
            [label] => {
                let (target, label) = (schema.target().to_owned(), label.clone());
                return Err(StreamError::SingleClass { target, label, samples }.into());
            }
            _ => {}
        }
        if self.curve_every.is_some_and(|every| !samples.is_multiple_of(every)) {
            self.add_point();
        }
        self.evaluation.members = self.model.members();
        self.evaluation.restarts = self.model.restarts().to_vec();
        Ok(self.evaluation)
    }
}
