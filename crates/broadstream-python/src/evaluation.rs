//! Test-then-train evaluation in Rust, of streams and of Python's rows.

use std::{
    collections::HashSet,
    ops::ControlFlow,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use broadstream::{
    Block, Classifier, CurvePoint, Error, Evaluation, Observer, Outcome, PrequentialOptions,
    Schema, evaluate,
    metrics::{Metrics, Summary, WindowSummary},
    stream::RowEncoding,
};
use numpy::{IntoPyArray, PyArrayMethods};
use pyo3::{
    prelude::*,
    types::{PyDict, PyList, PyString},
};

use crate::{
    columns::Columns,
    error::to_python,
    labels::Labels,
    learner::Learner,
    model::OnlineBLS,
    rows::{self, Rows, place},
    saved,
    stream::{Stream, failed},
};

/// How often Python is asked for signals and shown progress.
const PAUSE: Duration = Duration::from_millis(100);

/// Evaluate a model on a stream, or on rows and their labels, and train it on the way.
///
/// ``progress`` is called now and then with the number of samples, how many there will be if that is
/// known, and the accuracy so far.
#[pyfunction]
#[pyo3(signature = (
    model,
    stream,
    y = None,
    sample_weight = None,
    *,
    limit = None,
    metrics_window = 1000,
    curve_every = None,
    drift_confidence = 0.002,
    delay = 0,
    progress = None,
))]
#[expect(clippy::too_many_arguments, reason = "as many as an evaluation has options")]
pub(crate) fn evaluate_stream<'py>(
    py: Python<'py>,
    model: &OnlineBLS,
    stream: &Bound<'py, PyAny>,
    y: Option<&Bound<'py, PyAny>>,
    sample_weight: Option<&Bound<'py, PyAny>>,
    limit: Option<u64>,
    metrics_window: usize,
    curve_every: Option<u64>,
    drift_confidence: f64,
    delay: u64,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let mut options = PrequentialOptions {
        limit,
        metrics_window,
        curve_every,
        drift_confidence,
        delay,
        ..PrequentialOptions::default()
    };
    let mut learner = model.learner().lock(py)?;
    let failure = Failure::default();
    let mut watch = Watch { progress, failure: failure.clone(), ..Watch::default() };
    let evaluation = if let Ok(stream) = stream.cast::<Stream>() {
        let stream = stream.get();
        options.limit = [limit, stream.limit()].into_iter().flatten().min();
        let mut stream = py.detach(|| stream.open())?;
        watch.total = total(stream.remaining(), options.limit);
        let evaluation = run(py, &mut learner, &mut *stream, &options, &mut watch);
        let schema = stream.schema();
        let encoding = stream.encoding().unwrap_or_else(|| RowEncoding::of_schema(schema));
        take_over(py, &mut learner, schema, &encoding)?;
        evaluation
    } else {
        let mut stream = RowStream::new(py, stream, y, sample_weight, failure.clone())?;
        watch.total = total(broadstream::stream::Stream::remaining(&stream), options.limit);
        let evaluation = run(py, &mut learner, &mut stream, &options, &mut watch);
        stream.hand_over(py, &mut learner)?;
        evaluation
    };
    if let Some(error) = failure.take() {
        return Err(error);
    }
    let evaluation = evaluation.map_err(to_python)?;
    describe(py, &evaluation, &learner, watch.predicted)
}

fn total(remaining: Option<u64>, limit: Option<u64>) -> Option<u64> {
    [remaining, limit].into_iter().flatten().min()
}

fn run(
    py: Python<'_>,
    learner: &mut Learner,
    stream: &mut dyn broadstream::stream::Stream,
    options: &PrequentialOptions,
    watch: &mut Watch,
) -> Result<Evaluation, Error> {
    let core = &mut learner.core;
    py.detach(|| {
        let start = Instant::now();
        evaluate(stream, core, options, &|| start.elapsed(), watch)
    })
}

/// Gives a model that was trained on a stream the names of the stream.
fn take_over(
    py: Python<'_>,
    learner: &mut Learner,
    schema: &Schema,
    encoding: &RowEncoding,
) -> PyResult<()> {
    if learner.core.inputs() == 0 && learner.core.classes() == 0 {
        return Ok(());
    }
    if learner.labels.len() == learner.core.classes() && learner.labels.len() > 0 {
        // The model was not new, and was refused.
        return Ok(());
    }
    let known = learner.core.classes();
    let labels = schema.labels().iter().take(known);
    learner.labels = Labels::of(py, labels.map(|label| PyString::new(py, label).into_any()))?;
    let target = Some(schema.target().to_owned());
    let mut own = Schema::new(schema.target());
    for input in learner.core.declared_inputs() {
        own.push_input(&input.name, input.kind);
    }
    learner.columns = Columns::resume(py, own, encoding, target)?;
    Ok(())
}

/// An exception that was raised where none can be.
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

/// Watches an evaluation on behalf of Python.
struct Watch {
    progress: Option<Py<PyAny>>,
    total: Option<u64>,
    failure: Failure,
    predicted: Vec<i64>,
    last: Instant,
}

impl Default for Watch {
    fn default() -> Self {
        let (progress, total, failure, predicted) = Default::default();
        Watch { progress, total, failure, predicted, last: Instant::now() }
    }
}

impl Observer for Watch {
    fn sample(&mut self, outcome: Outcome<'_>) {
        self.predicted.push(outcome.predicted.map_or(-1, |class| class as i64));
    }

    fn block(&mut self, metrics: &Metrics) -> ControlFlow<()> {
        if self.last.elapsed() < PAUSE {
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
        rows.encode(py, columns, self.next..end, |i, sample| {
            let class = labels.class_of(&y.get_item(i)?, place(i))?;
            if class == schema.labels().len() {
                schema.class_of(&saved::text(labels.label(py, class).bind(py), texts)?);
            }
            let weight = weights.as_ref().map_or(1.0, |weights| weights[i]);
            block.push(sample, class, weight).map_err(|source| {
                to_python(Error::Sample { sample: i as u64 + 1, source: Box::new(source) })
            })
        })?;
        for input in &columns.inputs()[schema.inputs().len()..] {
            schema.push_input(&input.name, input.kind);
        }
        let read = end - self.next;
        self.next = end;
        Ok(read)
    }

    /// Gives a model that was trained on these rows their columns and labels.
    fn hand_over(mut self, py: Python<'_>, learner: &mut Learner) -> PyResult<()> {
        let known = learner.core.classes();
        let trained = learner.labels.len() == 0 && known > 0;
        if trained {
            self.labels.truncate(py, known)?;
            self.columns.settle();
            (learner.columns, learner.labels) = (self.columns, self.labels);
            let inputs = learner.columns.inputs()[learner.core.inputs()..].to_vec();
            learner.core.declare_inputs(&inputs).map_err(to_python)?;
        }
        Ok(())
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

/// The result for Python to wrap.
fn describe<'py>(
    py: Python<'py>,
    evaluation: &Evaluation,
    learner: &Learner,
    predicted: Vec<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let result = PyDict::new(py);
    let metrics = &evaluation.metrics;
    result.set_item("metrics", summary(py, &metrics.summary())?)?;
    result.set_item("window", window_summary(py, &metrics.window_summary())?)?;
    result.set_item("curve", curve(py, &evaluation.curve)?)?;
    result.set_item("drifts", &evaluation.drifts)?;
    result.set_item("restarts", &evaluation.restarts)?;
    let members = evaluation.members.iter().map(|member| (&member.name, member.weight));
    result.set_item("members", members.collect::<Vec<_>>())?;
    let confusion = metrics.confusion();
    let classes = confusion.class_numbers().max().map_or(0, |class| class + 1);
    let counts: Vec<u64> = (0..classes)
        .flat_map(|truth| (0..classes).map(move |predicted| confusion.count(truth, predicted)))
        .collect();
    result.set_item("confusion", counts.into_pyarray(py).reshape([classes, classes])?)?;
    let bins = metrics.calibration().bins().filter(|bin| bin.count > 0);
    let bins = bins.map(|bin| (bin.confidence, bin.accuracy, bin.count));
    result.set_item("reliability", bins.collect::<Vec<_>>())?;
    result.set_item("labels", learner.labels.list(py)?)?;
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
    for (name, value) in numbers(summary) {
        metrics.set_item(name, value)?;
    }
    Ok(metrics)
}

fn window_summary<'py>(py: Python<'py>, summary: &WindowSummary) -> PyResult<Bound<'py, PyDict>> {
    let metrics = PyDict::new(py);
    metrics.set_item("samples", summary.samples)?;
    metrics.set_item("classes", summary.classes)?;
    for (name, value) in window_numbers(summary) {
        metrics.set_item(name, value)?;
    }
    Ok(metrics)
}

/// The metrics over time, an array for each.
fn curve<'py>(py: Python<'py>, points: &[CurvePoint]) -> PyResult<Bound<'py, PyDict>> {
    let curve = PyDict::new(py);
    let samples: Vec<u64> = points.iter().map(|point| point.cumulative.samples).collect();
    curve.set_item("sample", samples.into_pyarray(py))?;
    let Some(first) = points.first() else { return Ok(curve) };
    for (k, (name, _)) in numbers(&first.cumulative).into_iter().enumerate() {
        let values: Vec<f64> = points.iter().map(|p| numbers(&p.cumulative)[k].1).collect();
        curve.set_item(name, values.into_pyarray(py))?;
    }
    for (k, (name, _)) in window_numbers(&first.window).into_iter().enumerate() {
        let values: Vec<f64> = points.iter().map(|p| window_numbers(&p.window)[k].1).collect();
        curve.set_item(format!("window_{name}"), values.into_pyarray(py))?;
    }
    Ok(curve)
}

fn numbers(summary: &Summary) -> [(&'static str, f64); 10] {
    [
        ("oca", summary.oca),
        ("oce", summary.oce),
        ("bacc", summary.bacc),
        ("avrbacc", summary.avrbacc),
        ("f1", summary.f1),
        ("mcc", summary.mcc),
        ("kappa", summary.kappa),
        ("log_loss", summary.log_loss),
        ("brier", summary.brier),
        ("ece", summary.ece),
    ]
}

fn window_numbers(summary: &WindowSummary) -> [(&'static str, f64); 8] {
    [
        ("oca", summary.oca),
        ("oce", summary.oce),
        ("bacc", summary.bacc),
        ("f1", summary.f1),
        ("mcc", summary.mcc),
        ("kappa", summary.kappa),
        ("log_loss", summary.log_loss),
        ("brier", summary.brier),
    ]
}
