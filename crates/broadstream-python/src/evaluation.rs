//! Runs test-then-train evaluations in Rust, on streams and on Python's rows.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use broadstream::{
    Block, Classifier, CurvePoint, Error, Evaluation, Evaluator, Member, Observer, Outcome,
    PrequentialOptions, Schema,
    metrics::{Metrics, Summary, WindowSummary},
    stream::RowEncoding,
};
use numpy::IntoPyArray;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyDict, PyList},
};

use crate::{
    columns::Columns,
    error::to_python,
    labels::Labels,
    learner::Learner,
    members,
    model::OnlineBLS,
    numbers::{Real, Whole},
    rows::{self, Rows, place},
    saved,
    stream::{Stream, failed},
};

/// How often signals are checked and progress is reported.
const REPORT_INTERVAL: Duration = Duration::from_millis(100);

/// Evaluate and train a model on a stream, or on rows and their labels.
///
/// ``progress`` is called about ten times a second with the number of samples so far, the total number or
/// None if it is unknown, and the accuracy so far.
#[pyfunction]
#[pyo3(signature = (
    model,
    stream,
    y = None,
    sample_weight = None,
    *,
    limit = None,
    metrics_window = Whole(1000),
    curve_every = None,
    drift_confidence = Real(0.002),
    delay = Whole(0),
    progress = None,
), text_signature = "(model, stream, y=None, sample_weight=None, *, limit=None, metrics_window=1000, \
curve_every=None, drift_confidence=0.002, delay=0, progress=None)")]
#[expect(clippy::too_many_arguments, reason = "one argument per option of an evaluation")]
pub(crate) fn evaluate_stream<'py>(
    py: Python<'py>,
    model: &OnlineBLS,
    stream: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    sample_weight: Option<&Bound<'py, PyAny>>,
    limit: Option<Whole>,
    metrics_window: Whole,
    curve_every: Option<Whole>,
    drift_confidence: Real,
    delay: Whole,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = PrequentialOptions {
        limit: limit.map(|limit| limit.0),
        metrics_window: usize::try_from(metrics_window.0).unwrap_or(usize::MAX),
        curve_every: curve_every.map(|every| every.0),
        drift_confidence: drift_confidence.0,
        delay: delay.0,
        ..PrequentialOptions::default()
    };
    let failure = Failure::default();
    let source = if let Ok(stream) = stream.cast::<Stream>() {
        if y.is_some() || sample_weight.is_some() {
            let message = "a stream has its own labels and weights: leave y and sample_weight out";
            return Err(PyValueError::new_err(message));
        }
        let stream = stream.get();
        options.limit = [options.limit, stream.limit()].into_iter().flatten().min();
        Source::Stream(py.detach(|| stream.open())?)
    } else {
        let rows = RowStream::new(py, stream, y, sample_weight, failure.clone())?;
        Source::Rows(Box::new(rows))
    };
    let mut learner = model.learner().lock(py)?;
    let (inputs, classes) = (learner.core.inputs(), learner.core.classes());
    if inputs > 0 || classes > 0 {
        let rule = "new, since a stream numbers inputs and classes in its own order";
        let value = format!("one with {inputs} inputs and {classes} classes");
        return Err(to_python(Error::Config { option: "model", rule, value }));
    }
    let mut source = source;
    let total = [source.stream().remaining(), options.limit].into_iter().flatten().min();
    let block = options.block as u64;
    let hundredth = total.unwrap_or(100_000).div_ceil(100).max(1);
    // A block ends at each point of the curve. On a long stream the points are a whole number of blocks
    // apart, since partial blocks are slower; on a short one they are a hundredth of the stream apart.
    let apart = if hundredth < block { hundredth } else { hundredth.next_multiple_of(block) };
    options.curve_every.get_or_insert(apart);
    let mut observer = ProgressObserver {
        progress,
        total,
        failure: failure.clone(),
        ..ProgressObserver::default()
    };
    options.costs = learner.costs.clone();
    let core = &mut learner.core;
    let evaluation = py.detach(|| {
        let start = Instant::now();
        let clock = || start.elapsed();
        let evaluator = Evaluator::new(&options)?.with_clock(&clock);
        evaluator.run(source.stream(), core, &mut observer)
    });
    // Even if the evaluation failed, the model gets the names of what it has learned.
    let labels = source.labels(py)?;
    let named = source.name(py, &mut learner, &labels);
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let evaluation = evaluation.map_err(to_python)?;
    named?;
    describe(py, &evaluation, &labels, observer.predicted)
}

/// The samples that a model is evaluated on.
enum Source {
    Stream(Box<dyn broadstream::stream::Stream>),
    Rows(Box<RowStream>),
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
            Source::Rows(rows) => rows.labels.list(py),
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
            Source::Rows(rows) => (rows.columns.encoding(), None),
        };
        learner.labels = Labels::of(py, labels.iter().take(learner.core.classes()))?;
        let inputs = learner.core.declared_inputs();
        learner.columns = Columns::resume(py, inputs, encoding, target)?;
        Ok(())
    }
}

/// Stores an exception from a place that cannot raise one.
#[derive(Clone, Default)]
pub(crate) struct Failure(Arc<Mutex<Option<PyErr>>>);

impl Failure {
    fn set(&self, error: PyErr) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Reports progress to Python, checks its signals and records predictions.
struct ProgressObserver {
    progress: Option<Py<PyAny>>,
    total: Option<u64>,
    failure: Failure,
    predicted: Vec<i64>,
    last: Instant,
}

impl Default for ProgressObserver {
    fn default() -> Self {
        let (progress, total, failure, predicted) = Default::default();
        ProgressObserver { progress, total, failure, predicted, last: Instant::now() }
    }
}

impl Observer for ProgressObserver {
    fn sample(&mut self, outcome: Outcome<'_>) {
        self.predicted.push(outcome.predicted.map_or(-1, |class| class as i64));
    }

    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
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

/// Python's rows as a stream.
struct RowStream {
    rows: Rows,
    y: Py<PyList>,
    weights: Option<Vec<f64>>,
    columns: Columns,
    labels: Labels,
    schema: Schema,
    texts: HashSet<String>,
    next: usize,
    failure: Failure,
}

impl RowStream {
    fn new(
        py: Python<'_>,
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        weights: Option<&Bound<'_, PyAny>>,
        failure: Failure,
    ) -> PyResult<Self> {
        let rows = Rows::of(x)?;
        let y = match y {
            Some(y) => rows::labels(y)?,
            None => PyList::empty(py),
        };
        rows.check_length("y", y.len())?;
        let weights = rows::weights(py, weights)?.map(|weights| weights.as_array().to_vec());
        if let Some(weights) = &weights {
            rows.check_length("sample_weight", weights.len())?;
        }
        Ok(RowStream {
            rows,
            y: y.unbind(),
            weights,
            columns: Columns::new(py),
            labels: Labels::new(py),
            schema: Schema::new("y"),
            texts: HashSet::new(),
            next: 0,
            failure,
        })
    }

    fn read(&mut self, py: Python<'_>, block: &mut Block, most: usize) -> PyResult<usize> {
        let end = self.rows.len().min(self.next.saturating_add(most));
        let RowStream { rows, y, weights, columns, labels, schema, texts, .. } = self;
        let y = y.bind(py);
        let encoded = rows.encode(py, columns, self.next..end, |i, sample| {
            let class = labels.class_of(&y.get_item(i)?, place(i))?;
            if class == schema.labels().len() {
                schema.class_of(&saved::text(labels.label(py, class).bind(py), texts)?);
            }
            let weight = weights.as_ref().map_or(1.0, |weights| weights[i]);
            block.push(sample, class, weight).map_err(|source| {
                to_python(Error::Sample { sample: i as u64 + 1, reason: Box::new(source) })
            })
        });
        // Rows before an invalid one are learned, including the inputs that they added.
        for input in &columns.inputs()[schema.inputs().len()..] {
            schema.push_input(&input.name, input.kind);
        }
        encoded?;
        let read = end - self.next;
        self.next = end;
        Ok(read)
    }
}

impl broadstream::stream::Stream for RowStream {
    fn schema(&self) -> &Schema {
        &self.schema
    }

    fn inputs_per_sample(&self) -> usize {
        self.columns.inputs().len()
    }

    fn remaining(&self) -> Option<u64> {
        Some((self.rows.len() - self.next) as u64)
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        Python::attach(|py| self.read(py, block, most)).map_err(|error| {
            self.failure.set(error);
            failed(self.next)
        })
    }
}

/// The result as a dictionary, which Python wraps in a class.
fn describe<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
    labels: &Bound<'py, PyList>,
    predicted: Vec<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let metrics = &evaluation.metrics;
    result.set_item("metrics", summary(py, &evaluation.summary())?)?;
    result.set_item("window", window_summary(py, &evaluation.window_summary())?)?;
    result.set_item("objectives", objectives(py, evaluation)?)?;
    result.set_item("class_reliability", class_reliability(py, metrics, labels)?)?;
    result.set_item("curve", curve(py, &evaluation.curve, &evaluation.members)?)?;
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
) -> PyResult<Bound<'py, PyDict>> {
    let curve = PyDict::new(py);
    let samples: Vec<u64> = points.iter().map(|point| point.cumulative.samples).collect();
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
