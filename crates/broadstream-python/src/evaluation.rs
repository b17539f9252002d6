//! Runs test-then-train evaluations in Rust, on streams and on Python's rows.

use std::{
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use broadstream::{
    Classifier, CurvePoint, Evaluation, Evaluator, Member, Observer, Outcome, PrequentialOptions,
    metrics::{Metrics, Summary, WindowSummary},
    stream::RowEncoding,
};
use numpy::IntoPyArray;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBool, PyDict, PyList},
};

use crate::{
    columns::Columns,
    error::to_python,
    foreign::{Foreign, Queue},
    labels::Labels,
    learner::Learner,
    members,
    model::OnlineBLS,
    numbers::{Real, Whole},
    row_source::RowSource,
    stream::Stream,
};

/// How often signals are checked and progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Evaluate and train a model on a stream, on rows and their labels, or on pairs of these.
///
/// ``pairs`` is an iterable of pairs ``(x, y)``, of which there are ``total`` if that is known. A model that is
/// no OnlineBLS has the methods ``predict_proba(x)``, which returns a dictionary, and ``learn(x, y)``.
/// ``progress`` is called about ten times a second with the number of samples so far, the total number or
/// None if it is unknown, and the accuracy so far. ``callback`` is called with each point of the curve as a
/// dictionary, and ends the evaluation if it returns False.
#[pyfunction]
#[pyo3(signature = (
    model,
    stream = None,
    y = None,
    sample_weight = None,
    *,
    pairs = None,
    total = None,
    limit = None,
    metrics_window = Whole(1000),
    curve_every = None,
    drift_confidence = Real(0.002),
    delay = Whole(0),
    progress = None,
    callback = None,
), text_signature = "(model, stream=None, y=None, sample_weight=None, *, pairs=None, total=None, limit=None, \
metrics_window=1000, curve_every=None, drift_confidence=0.002, delay=0, progress=None, callback=None)")]
#[expect(clippy::too_many_arguments, reason = "one argument per option of an evaluation")]
pub(crate) fn evaluate_stream<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    stream: Option<&Bound<'py, PyAny>>,
    y: Option<&Bound<'py, PyAny>>,
    sample_weight: Option<&Bound<'py, PyAny>>,
    pairs: Option<&Bound<'py, PyAny>>,
    total: Option<u64>,
    limit: Option<Whole>,
    metrics_window: Whole,
    curve_every: Option<Whole>,
    drift_confidence: Real,
    delay: Whole,
    progress: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = PrequentialOptions {
        limit: limit.map(|limit| limit.0),
        metrics_window: usize::try_from(metrics_window.0).unwrap_or(usize::MAX),
        curve_every: curve_every.map(|every| every.0),
        drift_confidence: drift_confidence.0,
        delay: delay.0,
        // As in River. Without late labels the first sample counts, as on the command line.
        count_unanswered: delay.0 <= 1,
        ..PrequentialOptions::default()
    };
    let failure = Failure::default();
    let own = model.cast::<OnlineBLS>().ok();
    let queue = if own.is_some() { None } else { Some(Queue::default()) };
    let mut source = match (pairs, stream) {
        (Some(pairs), _) => {
            let rows = RowSource::pairs(pairs, total, queue.clone(), failure.clone())?;
            Source::Rows(Box::new(rows))
        }
        (None, Some(stream)) if let Ok(stream) = stream.cast::<Stream>() => {
            if y.is_some() || sample_weight.is_some() {
                let message =
                    "a stream has its own labels and weights: leave y and sample_weight out";
                return Err(PyValueError::new_err(message));
            }
            let stream = stream.get();
            options.limit = [options.limit, stream.limit()].into_iter().flatten().min();
            let model = own.map(|model| -> PyResult<_> {
                Ok(model.get().learner().whole(py)?.columns.encoding())
            });
            let stream = stream.for_model(model.transpose()?.as_ref());
            Source::Stream(py.detach(|| stream.open())?)
        }
        (None, Some(rows)) => {
            let rows = RowSource::rows(py, rows, y, sample_weight, failure.clone())?;
            Source::Rows(Box::new(rows))
        }
        (None, None) => return Err(PyValueError::new_err("there is nothing to evaluate on")),
    };
    let mut learner = own.map(|model| model.get().learner().whole(py)).transpose()?;
    let (mut inputs, mut classes) = (Vec::new(), 0);
    if let (Source::Rows(rows), Some(learner)) = (&mut source, &learner) {
        rows.follow(py, learner)?;
        inputs = learner.core.declared_inputs().to_vec();
        classes = learner.core.classes();
    }
    let total = [source.stream().remaining(), options.limit].into_iter().flatten().min();
    options.curve_every.get_or_insert(between_points(total, options.block as u64));
    let mut observer = ProgressObserver {
        progress,
        callback,
        total,
        failure: failure.clone(),
        ..ProgressObserver::default()
    };
    options.costs = learner.as_ref().and_then(|learner| learner.costs.clone());
    let mut foreign =
        queue.map(|queue| Foreign::new(py, model.clone().unbind(), queue, failure.clone()));
    let evaluation = {
        let core: Option<&mut dyn Classifier> = match (&mut learner, &mut foreign) {
            (Some(learner), _) => Some(&mut learner.core),
            (None, foreign) => foreign.as_mut().map(|foreign| foreign as &mut dyn Classifier),
        };
        let Some(core) = core else {
            return Err(PyValueError::new_err("there is nothing to evaluate"));
        };
        py.detach(|| {
            let start = Instant::now();
            let clock = || start.elapsed();
            let evaluator = Evaluator::new(&options)?.of_learned(&inputs, classes);
            evaluator.with_clock(&clock).run(source.stream(), core, &mut observer)
        })
    };
    // Even if the evaluation failed, the model gets the names of what it has learned.
    let labels = source.labels(py)?;
    let named = match &mut learner {
        Some(learner) => source.name(py, learner, &labels),
        None => Ok(()),
    };
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let evaluation = evaluation.map_err(to_python)?;
    named?;
    let unanswered = match options.count_unanswered {
        true => 0,
        false => observer.predicted.iter().filter(|class| **class < 0).count() as u64,
    };
    describe(py, &evaluation, &labels, observer.predicted, unanswered)
}

/// How many samples apart the points of a curve are. A block ends at each of them. On a long stream the points
/// are a whole number of blocks apart, since partial blocks are slower; on a short one they are a hundredth of
/// the stream apart.
fn between_points(total: Option<u64>, block: u64) -> u64 {
    let hundredth = total.unwrap_or(100_000).div_ceil(100).max(1);
    if hundredth < block { hundredth } else { hundredth.next_multiple_of(block) }
}

/// The samples that a model is evaluated on.
enum Source {
    Stream(Box<dyn broadstream::stream::Stream>),
    Rows(Box<RowSource>),
}

impl Source {
    fn stream(&mut self) -> &mut dyn broadstream::stream::Stream {
        match self {
            Source::Stream(stream) => &mut **stream,
            Source::Rows(rows) => &mut **rows,
        }
    }

    /// The labels of all samples read so far, in order of appearance.
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        match self {
            Source::Stream(stream) => PyList::new(py, stream.schema().labels()),
            Source::Rows(rows) => rows.labels.list(py, rows.labels.len()),
        }
    }

    /// Gives the labels and columns to the model that was trained on them.
    fn name(
        &self,
        py: Python<'_>,
        learner: &mut Learner,
        labels: &Bound<'_, PyList>,
    ) -> PyResult<()> {
        let (encoding, target) = match self {
            Source::Stream(stream) => {
                let schema = stream.schema();
                let encoding = stream.encoding().unwrap_or_else(|| RowEncoding::of_schema(schema));
                (encoding, Some(schema.target().to_owned()))
            }
            Source::Rows(rows) => {
                (rows.columns.encoding(), rows.columns.target().map(str::to_owned))
            }
        };
        let known = Labels::of(py, labels.iter().take(learner.core.classes()))?;
        learner.labels = if target.is_some() { known.uniform() } else { known };
        let inputs = learner.core.declared_inputs();
        learner.columns = Columns::resume(py, inputs, encoding, target)?;
        Ok(())
    }
}

/// Stores an exception from a place that cannot raise one.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    /// Stores an exception, unless there is one: what follows the first is its consequence.
    pub(crate) fn set(&self, error: PyErr) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reports progress to Python, checks its signals and records predictions.
struct ProgressObserver {
    progress: Option<Py<PyAny>>,
    callback: Option<Py<PyAny>>,
    /// Whether the callback has ended the evaluation.
    ended: bool,
    /// The number of the last sample.
    sample: u64,
    total: Option<u64>,
    failure: Failure,
    predicted: Vec<i64>,
    last: Instant,
}

impl Default for ProgressObserver {
    fn default() -> Self {
        ProgressObserver {
            progress: None,
            callback: None,
            ended: false,
            sample: 0,
            total: None,
            failure: Failure::default(),
            predicted: Vec::new(),
            last: Instant::now(),
        }
    }
}

impl Observer for ProgressObserver {
    fn sample(&mut self, outcome: Outcome<'_>) {
        self.predicted.push(outcome.predicted.map_or(-1, |class| class as i64));
        self.sample = outcome.sample;
    }

    fn curve(&mut self, point: &CurvePoint) {
        let Some(callback) = &self.callback else { return };
        let called = Python::attach(|py| {
            let shown = PyDict::new(py);
            shown.set_item("sample", self.sample)?;
            for (name, value) in point.cumulative.named() {
                shown.set_item(name, value)?;
            }
            for (name, value) in point.window.named() {
                shown.set_item(format!("window_{name}"), value)?;
            }
            let answer = callback.call1(py, (shown,))?;
            Ok(answer.bind(py).is(PyBool::new(py, false)))
        });
        match called {
            Ok(ended) => self.ended |= ended,
            Err(error) => self.failure.set(error),
        }
    }

    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        if self.ended || self.failure.is_set() {
            return ControlFlow::Break(());
        }
        if self.last.elapsed() < REPORT_INTERVAL {
            return ControlFlow::Continue(());
        }
        self.last = Instant::now();
        let summary = metrics.confusion();
        let shown = Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = &self.progress {
                let accuracy = broadstream::metrics::oca(summary);
                progress.call1(py, (summary.samples(), self.total, accuracy))?;
            }
            Ok(())
        });
        match shown {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.failure.set(error);
                ControlFlow::Break(())
            }
        }
    }
}

/// The result as a dictionary, which Python wraps in a class.
fn describe<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
    labels: &Bound<'py, PyList>,
    predicted: Vec<i64>,
    unanswered: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    result.set_item("unanswered", unanswered)?;
    let metrics = &evaluation.metrics;
    result.set_item("metrics", summary(py, &evaluation.summary())?)?;
    result.set_item("window", window_summary(py, &evaluation.window_summary())?)?;
    result.set_item("objectives", objectives(py, evaluation)?)?;
    result.set_item("class_reliability", class_reliability(py, metrics, labels)?)?;
    result.set_item("curve", curve(py, &evaluation.curve, &evaluation.members, unanswered)?)?;
    result.set_item("drifts", &evaluation.drifts)?;
    result.set_item("restarts", &evaluation.restarts)?;
    result.set_item("members", members::members(py, &evaluation.members)?)?;
    result.set_item("changes", members::changes(py, &evaluation.changes)?)?;
    let counts = metrics.confusion().cells().collect::<Vec<_>>();
    result.set_item("counts", counts)?;
    let bins = metrics.calibration().bins().filter(|bin| bin.count > 0);
    let bins = bins.map(|bin| (bin.confidence, bin.accuracy, bin.count));
    result.set_item("reliability", bins.collect::<Vec<_>>())?;
    result.set_item("labels", labels)?;
    result.set_item("predicted", predicted.into_pyarray(py))?;
    let times = &evaluation.times;
    result.set_item("seconds_reading", times.reading.as_secs_f64())?;
    result.set_item("seconds_learning", times.test_then_train.as_secs_f64())?;
    Ok(result)
}

fn summary<'py>(py: Python<'py>, summary: &Summary) -> PyResult<Bound<'py, PyDict>> {
    let metrics = PyDict::new(py);
    metrics.set_item("samples", summary.samples)?;
    metrics.set_item("classes", summary.classes)?;
    for (name, value) in summary.named() {
        metrics.set_item(name, value)?;
    }
    Ok(metrics)
}

/// The metrics under each objective, by its name.
fn objectives<'py>(py: Python<'py>, evaluation: &Evaluation) -> PyResult<Bound<'py, PyDict>> {
    let objectives = PyDict::new(py);
    for row in evaluation.trade_offs() {
        let metrics = PyDict::new(py);
        for (name, value) in row.summary.named() {
            metrics.set_item(name, value)?;
        }
        if let Some(cost) = row.cost {
            metrics.set_item("cost", cost)?;
        }
        objectives.set_item(row.name, metrics)?;
    }
    Ok(objectives)
}

/// By label, the mean probability, the share and the count of samples in each bin that has some.
fn class_reliability<'py>(
    py: Python<'py>,
    metrics: &Metrics,
    labels: &Bound<'py, PyList>,
) -> PyResult<Bound<'py, PyDict>> {
    let by_label = PyDict::new(py);
    for (label, calibration) in labels.iter().zip(metrics.class_calibration().classes()) {
        let bins = calibration.bins().filter(|bin| bin.count > 0);
        let bins = bins.map(|bin| (bin.confidence, bin.accuracy, bin.count));
        by_label.set_item(label, bins.collect::<Vec<_>>())?;
    }
    Ok(by_label)
}

fn window_summary<'py>(py: Python<'py>, summary: &WindowSummary) -> PyResult<Bound<'py, PyDict>> {
    let metrics = PyDict::new(py);
    metrics.set_item("samples", summary.samples)?;
    metrics.set_item("classes", summary.classes)?;
    for (name, value) in summary.named() {
        metrics.set_item(name, value)?;
    }
    Ok(metrics)
}

/// The metrics over time, as one array each.
fn curve<'py>(
    py: Python<'py>,
    points: &[CurvePoint],
    members: &[Member],
    unanswered: u64,
) -> PyResult<Bound<'py, PyDict>> {
    let curve = PyDict::new(py);
    // Samples that are not counted all come before the first point.
    let samples = points.iter().map(|point| point.cumulative.samples + unanswered);
    let samples: Vec<u64> = samples.collect();
    curve.set_item("sample", samples.into_pyarray(py))?;
    let Some(first) = points.first() else { return Ok(curve) };
    for (k, (name, _)) in first.cumulative.named().into_iter().enumerate() {
        let values: Vec<f64> = points.iter().map(|p| p.cumulative.named()[k].1).collect();
        curve.set_item(name, values.into_pyarray(py))?;
    }
    for (k, (name, _)) in first.window.named().into_iter().enumerate() {
        let values: Vec<f64> = points.iter().map(|p| p.window.named()[k].1).collect();
        curve.set_item(format!("window_{name}"), values.into_pyarray(py))?;
    }
    let sized = members.iter().filter(|member| member.features.is_some());
    for (k, member) in sized.enumerate() {
        let features = points.iter().map(|p| p.features.get(k).copied().unwrap_or(0) as u64);
        let features: Vec<u64> = features.collect();
        curve.set_item(format!("features:{}", member.name), features.into_pyarray(py))?;
    }
    for (k, member) in members.iter().enumerate() {
        let weights = points.iter().map(|p| p.weights.get(k).copied().unwrap_or(f64::NAN));
        let weights: Vec<f64> = weights.collect();
        curve.set_item(format!("weight:{}", member.name), weights.into_pyarray(py))?;
    }
    Ok(curve)
}
