//! The class `OnlineBLS`.

use broadstream::{Classifier, OnlineBls, arg_max};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::{
    PyTraverseError, PyVisit,
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyTuple, PyType},
};

use crate::{
    certificate::Certificate,
    columns::Columns,
    error::to_python,
    guarded::Guarded,
    labels::Labels,
    learner::{Batch, Learner},
    numbers::Real,
    options,
    predictions::Predictions,
    rows::{self, Rows},
    saved,
};

/// An online broad learning system: a classifier that learns one sample at a time.
///
/// Random features of the inputs, and ridge regressions on them, each of which is after every sample the
/// exact optimum of what it remembers. There is nothing to tune: several memories and ridges learn side
/// by side. ``preset="single"`` is one regression on all samples.
///
/// Rows are dictionaries, arrays, or tables of pandas, polars and Arrow. Inputs are told apart by their
/// names; they may appear, vanish and come in any order. ``None`` and NaN are absent, text is a category.
/// Labels may be any hashable values, and new ones may come at any time.
///
/// >>> import broadstream
/// >>> model = broadstream.OnlineBLS(seed=1)
/// >>> for hour in range(48):
/// ...     x = {"volts": 230 + hour % 5, "mode": "eco" if hour % 24 > 11 else "full"}
/// ...     prediction = model.predict_one(x)  # None before the first label
/// ...     model.learn_one(x, "night" if hour % 24 > 11 else "day")
/// >>> model.predict_one({"volts": 231, "mode": "eco"})
/// 'night'
/// >>> model
/// OnlineBLS(seed=1)
#[pyclass(frozen, module = "broadstream")]
pub(crate) struct OnlineBLS {
    learner: Guarded<Learner>,
}

#[pymethods]
impl OnlineBLS {
    #[new]
    #[pyo3(signature = (*, preset = None, seed = None, **options))]
    fn new(
        py: Python<'_>,
        preset: Option<&Bound<'_, PyAny>>,
        seed: Option<&Bound<'_, PyAny>>,
        options: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let options = options.map_or_else(|| PyDict::new(py), Clone::clone);
        options.set_item("seed", seed)?;
        let config = options::configuration(preset, &options)?;
        let core = py.detach(|| OnlineBls::new(config)).map_err(to_python)?;
        Ok(OnlineBLS::of(Learner::new(core, Columns::new(py), Labels::new(py))))
    }

    /// Learn one sample: a dictionary of inputs by name, or their values in the order of numbered inputs.
    ///
    /// A weight of 2 counts as two such samples, 0 only announces the label.
    #[pyo3(signature = (x, y, sample_weight = Real(1.0)), text_signature = "($self, x, y, sample_weight=1.0)")]
    fn learn_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Real,
    ) -> PyResult<()> {
        let x = rows::row(x)?;
        self.learner.lock(x.py())?.learn_one(&x, y, sample_weight.0)
    }

    /// The most likely label of a sample; None before any label was learned.
    fn predict_one(&self, x: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let x = &rows::row(x)?;
        let mut learner = self.learner.lock(x.py())?;
        let scores = learner.look_at_one(x, |model, x| model.scores_one(x))?;
        Ok(arg_max(&scores).map(|class| learner.labels.label(x.py(), class)))
    }

    /// The probability of each label that was learned so far, by label.
    ///
    /// >>> import broadstream
    /// >>> model = broadstream.OnlineBLS()
    /// >>> model.predict_proba_one({"volts": 231.5})
    /// {}
    /// >>> model.learn_one({"volts": 231.5}, "on")
    /// >>> model.predict_proba_one({"volts": 231.5})
    /// {'on': 1.0}
    fn predict_proba_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let x = &rows::row(x)?;
        let mut learner = self.learner.lock(x.py())?;
        let probabilities = learner.look_at_one(x, |model, x| model.predict_proba_one(x))?;
        let by_label = PyDict::new(x.py());
        for (class, probability) in probabilities.into_iter().enumerate() {
            by_label.set_item(learner.labels.label(x.py(), class), probability)?;
        }
        Ok(by_label)
    }

    /// How unlike the past a sample is: 0 if it adds nothing new, more the newer it is.
    fn leverage_one(&self, x: &Bound<'_, PyAny>) -> PyResult<f64> {
        let x = rows::row(x)?;
        self.learner.lock(x.py())?.look_at_one(&x, |model, x| model.leverage_one(x))
    }

    /// Learn many samples, with exactly the result of learning them one by one, faster.
    ///
    /// If one of them is refused, none is learned. Ctrl-C leaves those learned that came before it.
    ///
    /// >>> import numpy as np, broadstream
    /// >>> X = np.random.default_rng(0).normal(size=(500, 3))
    /// >>> model = broadstream.OnlineBLS(preset="single")
    /// >>> model.learn_many(X, X[:, 0] > X[:, 1])
    /// >>> model.predict_many([[2.0, 0.0, 1.0], [0.0, 2.0, 1.0]])
    /// array([ True, False])
    #[pyo3(signature = (X, y, sample_weight = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn learn_many(
        &self,
        X: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let py = X.py();
        let (rows, labels) = (Rows::of(X)?, rows::labels(y)?);
        let weights = rows::weights(py, sample_weight)?;
        let batch = Batch { rows: &rows, labels: &labels, weights: weights.as_ref() };
        self.learner.lock(py)?.learn_many(py, &batch)
    }

    /// The most likely label of each row. Before any label was learned they are None.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn predict_many<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let mut learner = self.learner.lock(py)?;
        let answers = learner.predict_many(py, &rows)?;
        label_array(py, &learner.labels, answers.classes)
    }

    /// The probabilities of each row: a column for each of ``labels``, in their order.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn predict_proba_many<'py>(
        &self,
        X: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let mut learner = self.learner.lock(py)?;
        let answers = learner.predict_many(py, &rows)?;
        probability_array(py, &answers, learner.labels.len())
    }

    /// How unlike the past each row is; see ``leverage_one``.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn leverage_many<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let answers = self.learner.lock(py)?.predict_many(py, &rows)?;
        Ok(answers.leverages.into_pyarray(py))
    }

    /// Predict each row and then learn it: predictions, probabilities and leverages of before.
    ///
    /// They are those of ``predict_one`` and ``learn_one`` in turn, at the speed of blocks: predictions and
    /// probabilities to the bit, leverages but for rounding.
    /// Probabilities have a column for each label known in the end, 0 where it was not known yet.
    ///
    /// >>> import numpy as np, broadstream
    /// >>> X = np.random.default_rng(0).normal(size=(500, 3))
    /// >>> y = np.where(X[:, 0] > X[:, 1], "above", "below")
    /// >>> model = broadstream.OnlineBLS(preset="single")
    /// >>> predictions, probabilities, leverages = model.test_then_train(X, y)
    /// >>> bool(np.mean(predictions == y) > 0.9)
    /// True
    #[pyo3(signature = (X, y, sample_weight = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn test_then_train<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        y: &Bound<'py, PyAny>,
        sample_weight: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let py = X.py();
        let (rows, labels) = (Rows::of(X)?, rows::labels(y)?);
        let weights = rows::weights(py, sample_weight)?;
        let batch = Batch { rows: &rows, labels: &labels, weights: weights.as_ref() };
        let mut learner = self.learner.lock(py)?;
        let answers = learner.test_then_train(py, &batch)?;
        let probabilities = probability_array(py, &answers, learner.labels.len())?;
        let predictions = label_array(py, &learner.labels, answers.classes)?;
        (predictions, probabilities, answers.leverages.into_pyarray(py)).into_pyobject(py)
    }

    /// Fix the scaling by rows that are not learned yet, and keep it so.
    ///
    /// Afterwards the order of samples does not matter to the features, and models of the same scaling
    /// can be merged. Only a model that has learned nothing can do this.
    #[pyo3(signature = (X, sample_weight = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn fit_scaling(
        &self,
        X: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let weights = rows::weights(py, sample_weight)?;
        self.learner.lock(py)?.fit_scaling(py, &rows, weights.as_ref())
    }

    /// A new model whose features are those of this one, with its scaling as it is now, frozen: what it
    /// learns can be merged with what others of its kind learn.
    fn like(&self, py: Python<'_>) -> PyResult<Self> {
        let learner = self.learner.lock(py)?;
        let core = learner.core.like().map_err(to_python)?;
        Ok(OnlineBLS::of(Learner::new(core, Columns::new(py), Labels::new(py))))
    }

    /// Add what another model has learned: this one is then the model of the samples of both.
    ///
    /// Both must be sums over their samples, with the same features and a frozen scaling; anything else
    /// is refused with the reason. Labels and inputs are matched by what they are called.
    ///
    /// >>> import numpy as np, broadstream
    /// >>> X = np.random.default_rng(0).normal(size=(400, 3))
    /// >>> y = X[:, 0] > 0
    /// >>> one = broadstream.OnlineBLS(preset="single", nested_models=1)
    /// >>> one.fit_scaling(X)
    /// >>> here, there = one.like(), one.like()
    /// >>> one.learn_many(X, y)
    /// >>> here.learn_many(X[:200], y[:200])
    /// >>> there.learn_many(X[200:], y[200:])
    /// >>> here.merge(there)
    /// >>> bool(np.allclose(here.weights, one.weights))
    /// True
    fn merge(&self, py: Python<'_>, other: &OnlineBLS) -> PyResult<()> {
        // A copy, so that two threads which merge two models into each other do not wait for ever.
        let other = other.learner.lock(py)?.copy(py)?;
        self.learner.lock(py)?.merge(py, &other)
    }

    /// Take back a sample that was learned with that label and weight.
    ///
    /// That is exact while nothing is forgotten and the scaling is frozen, and refused otherwise.
    #[pyo3(signature = (x, y, sample_weight = Real(1.0)), text_signature = "($self, x, y, sample_weight=1.0)")]
    fn unlearn_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Real,
    ) -> PyResult<Certificate> {
        let py = x.py();
        let rows = PyList::new(py, [rows::row(x)?])?;
        let labels = PyList::new(py, [y])?;
        let weights = PyArray1::from_slice(py, &[sample_weight.0]).try_readonly()?;
        let rows = Rows::of(rows.as_any())?;
        let batch = Batch { rows: &rows, labels: &labels, weights: Some(&weights) };
        Ok(self.learner.lock(py)?.unlearn_many(py, &batch)?.into())
    }

    /// Take back samples, or none of them if one is refused.
    #[pyo3(signature = (X, y, sample_weight = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn unlearn_many(
        &self,
        X: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Certificate> {
        let py = X.py();
        let (rows, labels) = (Rows::of(X)?, rows::labels(y)?);
        let weights = rows::weights(py, sample_weight)?;
        let batch = Batch { rows: &rows, labels: &labels, weights: weights.as_ref() };
        Ok(self.learner.lock(py)?.unlearn_many(py, &batch)?.into())
    }

    /// Replace the label of a sample that was learned.
    #[pyo3(signature = (x, y, new_y, sample_weight = Real(1.0)), text_signature = "($self, x, y, new_y, sample_weight=1.0)")]
    fn correct_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        new_y: &Bound<'_, PyAny>,
        sample_weight: Real,
    ) -> PyResult<Certificate> {
        let x = rows::row(x)?;
        Ok(self.learner.lock(x.py())?.correct_one(&x, y, new_y, sample_weight.0)?.into())
    }

    /// Save the model, so that it can go on to the bit: a path, or a file open for writing bytes.
    ///
    /// The file is the one of the ``broadstream`` command, and replaces an older one as a whole. It keeps
    /// labels that are str, int, float or bool; pickle keeps any.
    fn save(&self, file: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = file.py();
        let bytes = {
            let learner = self.learner.lock(py)?;
            saved::to_bytes(py, &learner, true)?
        };
        files(py)?.call_method1("write", (file, PyBytes::new(py, &bytes)))?;
        Ok(())
    }

    /// Load a model that was saved here or by the ``broadstream`` command.
    #[classmethod]
    fn load(cls: &Bound<'_, PyType>, file: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = cls.py();
        let bytes = files(py)?.call_method1("read", (file,))?.cast_into::<PyBytes>()?;
        saved::from_bytes(py, bytes.as_bytes(), None).map(OnlineBLS::of)
    }

    /// A model that goes on by itself from where this one is.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(OnlineBLS::of(self.learner.lock(py)?.copy(py)?))
    }

    /// The labels in order of first appearance, which is that of the columns of probabilities.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        self.learner.lock(py)?.labels.list(py)
    }

    /// The names of the inputs; a category has one of its own, ``column=category``.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let learner = self.learner.lock(py)?;
        Ok(learner.core.declared_inputs().iter().map(|input| input.name.clone()).collect())
    }

    /// How many samples of positive weight were learned.
    #[getter]
    fn learned(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.learner.lock(py)?.core.learned())
    }

    /// Every option and its value.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options::all(py, self.learner.lock(py)?.core.config())
    }

    /// The output weights of the regression on all features: a row per feature, a column per label.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let learner = self.learner.lock(py)?;
        let core = &learner.core;
        let (features, classes) = (core.features(), core.classes());
        let weights = py.detach(|| core.weights());
        weights.into_pyarray(py).reshape([features, classes])
    }

    /// The parts whose predictions are combined, and what each is worth now: pairs of name and weight.
    #[getter]
    fn members(&self, py: Python<'_>) -> PyResult<Vec<(String, f64)>> {
        let members = self.learner.lock(py)?.core.members();
        Ok(members.into_iter().map(|member| (member.name, member.weight)).collect())
    }

    /// After how many samples a part of the model began anew, since it saw a drift.
    #[getter]
    fn restarts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.learner.lock(py)?.core.restarts().to_vec())
    }

    /// The largest relative residual of the regressions: what rounding has done, about 1e-15 if nothing.
    fn residual(&self, py: Python<'_>) -> PyResult<f64> {
        let learner = self.learner.lock(py)?;
        let core = &learner.core;
        let health = py.detach(|| core.health());
        let residuals = health.iter().map(|regression| regression.now.residual);
        // NaN is the worst of all.
        Ok(residuals.fold(0.0, |worst, residual| if residual <= worst { worst } else { residual }))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let learner = self.learner.lock(py)?;
        let mut texts = Vec::new();
        for (option, value) in options::describe(py, learner.core.config())? {
            texts.push(format!("{option}={}", value.repr()?));
        }
        Ok(format!("OnlineBLS({})", texts.join(", ")))
    }

    fn __copy__(&self, py: Python<'_>) -> PyResult<Self> {
        self.copy(py)
    }

    fn __deepcopy__(&self, memo: &Bound<'_, PyAny>) -> PyResult<Self> {
        self.copy(memo.py())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let learner = self.learner.lock(py)?;
        let bytes = PyBytes::new(py, &saved::to_bytes(py, &learner, false)?);
        let state = (bytes, learner.labels.list(py)?, learner.core.config().threads);
        let module = PyModule::import(py, "broadstream._broadstream")?;
        (module.getattr("restore_model")?, state).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // What is in use is reachable anyway.
        match self.learner.if_free() {
            Some(learner) => learner.labels.visit(visit),
            None => Ok(()),
        }
    }

    fn __clear__(&self, py: Python<'_>) {
        if let Some(mut learner) = self.learner.if_free() {
            learner.labels.release(py);
        }
    }

    fn __sizeof__(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.learner.lock(py)?.core.bytes())
    }
}

impl OnlineBLS {
    fn of(learner: Learner) -> Self {
        OnlineBLS { learner: Guarded::new(learner) }
    }

    pub(crate) fn learner(&self) -> &Guarded<Learner> {
        &self.learner
    }
}

/// The model of a pickle.
#[pyfunction]
pub(crate) fn restore_model(
    state: &Bound<'_, PyBytes>,
    labels: Vec<Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<OnlineBLS> {
    let mut learner = saved::from_bytes(state.py(), state.as_bytes(), Some(labels))?;
    learner.core.set_threads(threads).map_err(to_python)?;
    Ok(OnlineBLS::of(learner))
}

/// Labels of classes as an array; −1 is none.
fn label_array<'py>(
    py: Python<'py>,
    labels: &Labels,
    classes: Vec<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    rows::tables(py)?.call_method1("label_array", (labels.list(py)?, classes.into_pyarray(py)))
}

fn probability_array<'py>(
    py: Python<'py>,
    answers: &Predictions,
    labels: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    answers.table(labels).into_pyarray(py).reshape([answers.classes.len(), labels])
}

/// The part of the package that knows paths and files.
fn files(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    PyModule::import(py, "broadstream._files")
}
