//! The class `OnlineBLS`.

use broadstream::{
    Classifier, Error, Objective, OnlineBls,
    model_file::{self, Precision},
};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::{
    PyTraverseError, PyVisit,
    prelude::*,
    types::{PyBytes, PyDict, PyList, PyTuple, PyType},
};

use crate::{
    certificate::Certificate,
    columns::Columns,
    costs,
    error::to_python,
    explanations, files,
    labels::Labels,
    learner::{Batch, Learner},
    members,
    numbers::Real,
    options,
    predictions::Predictions,
    rows::{self, Rows},
    saved::{self, LabelType, LabelsOf, Storage},
    shared::Shared,
};

/// An online broad learning system: a classifier that learns one sample at a time.
///
/// The model computes random features of the inputs and fits ridge regressions to them. After every
/// sample each regression is the exact optimum for the samples it remembers. Nothing needs tuning:
/// regressions with different forgetting factors and ridges learn side by side. ``preset="single"`` is one
/// regression on all samples.
///
/// Rows are dictionaries, arrays, or tables of pandas, polars and Arrow. Inputs are identified by name;
/// they may appear, disappear and come in any order. ``None`` and NaN are missing values, and text is
/// categorical. Labels may be any hashable values, and new labels may appear at any time.
///
/// Examples
/// --------
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
    learner: Shared,
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
        let costs = options.get_item("costs")?.filter(|costs| !costs.is_none());
        if options.contains("costs")? {
            options.del_item("costs")?;
        }
        let costs = costs.map(|costs| costs::from_python(&costs)).transpose()?;
        let columns = Columns::with_options(py, &options)?;
        let config = options::configuration(preset, &options)?;
        let core = py.detach(|| OnlineBls::new(config)).map_err(to_python)?;
        let learner = Learner::new(core, columns, Labels::new(py));
        Ok(OnlineBLS::of(learner.with_costs(costs)))
    }

    /// Learn one sample.
    ///
    /// Parameters
    /// ----------
    /// x : dict or array-like
    ///     The inputs by name, or their values if the inputs are numbered.
    /// y : hashable
    ///     The label.
    /// sample_weight : float, default=1.0
    ///     A weight of 2 counts as two such samples. A weight of 0 only announces the label.
    #[pyo3(signature = (x, y, sample_weight = Real(1.0)), text_signature = "($self, x, y, sample_weight=1.0)")]
    fn learn_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        sample_weight: Real,
    ) -> PyResult<()> {
        let x = rows::row(x)?;
        self.learner.learn_one(&x, y, sample_weight.0)
    }

    /// Predict the label of one sample.
    ///
    /// Returns
    /// -------
    /// label
    ///     The most likely label, or what the objective or the costs decide for; None before any label was
    ///     learned, and where abstaining costs least.
    fn predict_one(&self, x: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let x = &rows::row(x)?;
        let mut learner = self.learner.read(x.py())?;
        let class = match learner.class_costs(x.py())? {
            Some(costs) => {
                let p = learner.look_at_one(x, |model, x| model.predict_proba_one(x))?;
                costs.decide(&p)
            }
            None => learner.look_at_one(x, |model, x| model.predict_one(x))?,
        };
        Ok(class.map(|class| learner.labels.label(x.py(), class)))
    }

    /// Predict the probability of each label for one sample.
    ///
    /// Returns
    /// -------
    /// dict
    ///     The probabilities of all labels learned so far, by label.
    ///
    /// Examples
    /// --------
    /// >>> import broadstream
    /// >>> model = broadstream.OnlineBLS()
    /// >>> model.predict_proba_one({"volts": 231.5})
    /// {}
    /// >>> model.learn_one({"volts": 231.5}, "on")
    /// >>> model.predict_proba_one({"volts": 231.5})
    /// {'on': 1.0}
    fn predict_proba_one<'py>(&self, x: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyDict>> {
        let x = &rows::row(x)?;
        let mut learner = self.learner.read(x.py())?;
        let probabilities = learner.look_at_one(x, |model, x| model.predict_proba_one(x))?;
        let by_label = PyDict::new(x.py());
        for (class, probability) in probabilities.into_iter().enumerate() {
            by_label.set_item(learner.labels.label(x.py(), class), probability)?;
        }
        Ok(by_label)
    }

    /// Return the leverage of one sample, which measures how unlike the past it is.
    ///
    /// It is 0 for a sample that adds nothing new, and larger the more a sample differs from those learned.
    fn leverage_one(&self, x: &Bound<'_, PyAny>) -> PyResult<f64> {
        let x = rows::row(x)?;
        self.learner.read(x.py())?.look_at_one(&x, |model, x| model.leverage_one(x))
    }

    /// Explain the prediction of one sample: what each column contributes to its probability.
    ///
    /// The change of a column is the probability of the predicted label, less what it would be if the column
    /// were missing, exactly. It is positive if the column speaks for the label. Columns that the sample lacks
    /// are left out.
    ///
    /// Parameters
    /// ----------
    /// x : dict or array-like
    ///     The inputs by name, or their values if the inputs are numbered.
    /// k : int, optional
    ///     How many columns to return, those with the largest changes; all by default.
    /// label : hashable, optional
    ///     The label to explain instead of the predicted one. It must have been learned.
    ///
    /// Returns
    /// -------
    /// dict
    ///     The change of each column by its name, the largest first. It is empty if nothing is predicted:
    ///     before any label was learned, and where abstaining costs least.
    ///
    /// Examples
    /// --------
    /// >>> import broadstream
    /// >>> model = broadstream.OnlineBLS(preset="single")
    /// >>> for i in range(300):
    /// ...     model.learn_one({"amount": i % 10, "city": "Rome"}, "fraud" if i % 10 > 5 else "ok")
    /// >>> reasons = model.explain_one({"amount": 9, "city": "Rome"}, k=1)
    /// >>> list(reasons), reasons["amount"] > 0.1
    /// (['amount'], True)
    #[pyo3(signature = (x, k = None, label = None))]
    fn explain_one<'py>(
        &self,
        x: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        label: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = x.py();
        let most = explanations::most(k)?;
        let x = &rows::row(x)?;
        let mut learner = self.learner.read(py)?;
        let label = label.map(|label| learner.known_class(label, 0)).transpose()?;
        let costs = learner.class_costs(py)?;
        let explanation = learner.look_at_one(x, |model, x| {
            explanations::decided(model, x, label, costs.as_ref())?
                .map(|class| model.explain_class(x, class))
                .transpose()
        })?;
        explanations::to_python(py, explanation, most)
    }

    /// Explain the prediction of each row; see ``explain_one``.
    ///
    /// This is much faster than one row at a time.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     What ``explain_one`` returns for each row.
    #[pyo3(signature = (X, k = None, label = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn explain_many<'py>(
        &self,
        X: &Bound<'py, PyAny>,
        k: Option<&Bound<'py, PyAny>>,
        label: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let most = explanations::most(k)?;
        let explained = self.learner.explain_many(py, &rows, label)?;
        let explained = explained.into_iter();
        let explained = explained.map(|explanation| explanations::to_python(py, explanation, most));
        PyList::new(py, explained.collect::<PyResult<Vec<_>>>()?)
    }

    /// Learn many samples.
    ///
    /// The result is exactly that of learning them one by one, but faster. If a sample is invalid, none is
    /// learned. Ctrl-C stops after a prefix of the samples, which stay learned.
    ///
    /// Parameters
    /// ----------
    /// X : array, table or sequence of dicts
    ///     The rows.
    /// y : array-like
    ///     The label of each row.
    /// sample_weight : array-like, optional
    ///     The weight of each row, 1 by default.
    ///
    /// Examples
    /// --------
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
        self.learner.write(py)?.learn_many(py, &batch)
    }

    /// Predict the label of each row.
    ///
    /// Returns
    /// -------
    /// ndarray
    ///     What ``predict_one`` returns for each row.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn predict_many<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let answers = self.learner.predict_many(py, &rows)?;
        label_array(py, &self.learner.read(py)?.labels, answers.classes)
    }

    /// Predict the probability of each label for each row.
    ///
    /// Returns
    /// -------
    /// ndarray of shape (rows, labels)
    ///     The columns follow the order of ``labels``.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn predict_proba_many<'py>(
        &self,
        X: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let answers = self.learner.predict_many(py, &rows)?;
        probability_array(py, &answers, self.learner.read(py)?.core.classes())
    }

    /// Return the leverage of each row; see ``leverage_one``.
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn leverage_many<'py>(&self, X: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let answers = self.learner.predict_many(py, &rows)?;
        Ok(answers.leverages.into_pyarray(py))
    }

    /// Predict each row, then learn it.
    ///
    /// The result is that of alternating ``predict_one`` and ``learn_one``, at the speed of blocks:
    /// predictions and probabilities are identical to the bit, leverages up to rounding.
    ///
    /// Returns
    /// -------
    /// predictions : ndarray
    ///     The predicted label of each row, made before the row was learned.
    /// probabilities : ndarray of shape (rows, labels)
    ///     A column for each label known at the end; 0 where a label was not yet known.
    /// leverages : ndarray
    ///     The leverage of each row before it was learned.
    ///
    /// Examples
    /// --------
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
        let writer = self.learner.write(py)?;
        let answers = writer.test_then_train(py, &batch)?;
        let learner = self.learner.read(py)?;
        let probabilities = probability_array(py, &answers, learner.labels.len())?;
        let predictions = label_array(py, &learner.labels, answers.classes)?;
        (predictions, probabilities, answers.leverages.into_pyarray(py)).into_pyobject(py)
    }

    /// Change what decisions are made for: ``accuracy``, ``balanced``, ``f1`` or ``mcc``.
    ///
    /// Nothing is learned again, and probabilities stay the same. Costs, if there are any, are dropped.
    ///
    /// Examples
    /// --------
    /// >>> import broadstream
    /// >>> model = broadstream.OnlineBLS()
    /// >>> model.set_objective("balanced")
    /// >>> model
    /// OnlineBLS(objective='balanced')
    fn set_objective(&self, py: Python<'_>, objective: &str) -> PyResult<()> {
        let named = Objective::ALL.into_iter().find(|known| known.as_str() == objective);
        let Some(named) = named else {
            let (rule, value) = ("one of accuracy, balanced, f1, mcc", format!("'{objective}'"));
            return Err(to_python(Error::Config { option: "objective", rule, value }));
        };
        let mut learner = self.learner.whole(py)?;
        learner.core.set_objective(named);
        learner.costs = None;
        Ok(())
    }

    /// Decide for the least expected cost from now on, or for the objective again if ``costs`` is None.
    ///
    /// Parameters
    /// ----------
    /// costs : dict or None
    ///     For each true label a dictionary with the cost of each decision, by label. ``abstain`` in each of
    ///     them is the cost of deciding nothing, which is predicted as None.
    ///
    /// Examples
    /// --------
    /// >>> import broadstream
    /// >>> model = broadstream.OnlineBLS()
    /// >>> model.set_costs({"ok": {"ok": 0, "fraud": 1}, "fraud": {"ok": 50, "fraud": 0}})
    /// >>> model.costs["fraud"]
    /// {'ok': 50.0, 'fraud': 0.0}
    #[pyo3(signature = (costs))]
    fn set_costs(&self, py: Python<'_>, costs: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let costs = costs.map(costs::from_python).transpose()?;
        self.learner.whole(py)?.costs = costs;
        Ok(())
    }

    /// What decisions cost, by the text of each label; None unless costs were given.
    #[getter]
    fn costs<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let learner = self.learner.read(py)?;
        learner.costs.as_ref().map(|costs| costs::to_python_dict(py, costs)).transpose()
    }

    /// Fit the scaling to rows without learning them, and freeze it.
    ///
    /// Afterwards the features do not depend on the order of samples, and models with the same scaling can
    /// be merged. The model must not have learned anything yet.
    #[pyo3(signature = (X, sample_weight = None))]
    #[expect(non_snake_case, reason = "X is what Python's libraries call it")]
    fn fit_scaling(
        &self,
        X: &Bound<'_, PyAny>,
        sample_weight: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let (py, rows) = (X.py(), Rows::of(X)?);
        let weights = rows::weights(py, sample_weight)?;
        self.learner.whole(py)?.fit_scaling(py, &rows, weights.as_ref())
    }

    /// Return a new model that can be merged with this one.
    ///
    /// It has the same features, and the current scaling, frozen. Models made this way can be merged with
    /// each other.
    fn like(&self, py: Python<'_>) -> PyResult<Self> {
        let learner = self.learner.whole(py)?;
        let core = learner.core.like().map_err(to_python)?;
        let costs = learner.costs.clone();
        let like = Learner::new(core, Columns::new(py), Labels::new(py));
        Ok(OnlineBLS::of(like.with_costs(costs)))
    }

    /// Add what another model has learned, so that this model has learned the samples of both.
    ///
    /// Both models must be sums over their samples, with the same features and a frozen scaling; otherwise a
    /// ValueError states the reason. Labels and inputs are matched by name.
    ///
    /// Examples
    /// --------
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
        // A copy, so that two threads that merge two models into each other do not deadlock.
        let other = other.learner.whole(py)?.copy(py)?;
        self.learner.whole(py)?.merge(py, &other)
    }

    /// Unlearn a sample that was learned with this label and weight.
    ///
    /// This requires a model that forgets nothing and has a frozen scaling; it is then exact. Any other
    /// model raises a ValueError.
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
        Ok(self.learner.whole(py)?.unlearn_many(py, &batch)?.into())
    }

    /// Unlearn many samples, or none of them if one is invalid; see ``unlearn_one``.
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
        Ok(self.learner.whole(py)?.unlearn_many(py, &batch)?.into())
    }

    /// Replace the label of a learned sample: unlearn it with ``y`` and learn it with ``new_y``.
    #[pyo3(signature = (x, y, new_y, sample_weight = Real(1.0)), text_signature = "($self, x, y, new_y, sample_weight=1.0)")]
    fn correct_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        new_y: &Bound<'_, PyAny>,
        sample_weight: Real,
    ) -> PyResult<Certificate> {
        let x = rows::row(x)?;
        Ok(self.learner.whole(x.py())?.correct_one(&x, y, new_y, sample_weight.0)?.into())
    }

    /// Save the model to a path or to a file open for writing bytes.
    ///
    /// A loaded model continues exactly, to the bit. The ``broadstream`` command reads and writes the same
    /// format. An existing file is replaced atomically and keeps its mode. Saves to one path wait for each
    /// other; if another program has the file locked for more than ten seconds, ``BlockingIOError`` is raised.
    /// Labels must be str, int, float or bool; use pickle for any others.
    ///
    /// Parameters
    /// ----------
    /// file : path or file
    ///     A path, or a file that is open for writing bytes.
    /// weights : {"keep", "omit"}, default="keep"
    ///     Whether the random weights of the features are stored. Without them the file is smaller, and loading
    ///     draws them again from the seed, with the same bits.
    /// precision : {"double", "single"}, default="double"
    ///     How precisely the file stores what was learned. A file in single precision takes about half
    ///     the space. Its model predicts nearly the same and learns on, but it does not continue to the bit, and
    ///     refuses to merge, unlearn and correct, which need an exact model.
    ///
    /// Examples
    /// --------
    /// >>> import io
    /// >>> from broadstream import OnlineBLS
    /// >>> model = OnlineBLS()
    /// >>> model.learn_one({"volts": 231.5}, "on")
    /// >>> exact, small = io.BytesIO(), io.BytesIO()
    /// >>> model.save(exact)
    /// >>> model.save(small, weights="omit", precision="single")
    /// >>> len(small.getvalue()) < len(exact.getvalue())
    /// True
    #[pyo3(signature = (file, *, weights = "keep", precision = "double"))]
    fn save(&self, file: &Bound<'_, PyAny>, weights: &str, precision: &str) -> PyResult<()> {
        let py = file.py();
        let storage = Storage::named(weights, precision)?;
        let bytes = {
            let learner = self.learner.whole(py)?;
            saved::to_bytes(py, &learner, true, storage)?
        };
        // The model is free again while the file is written.
        files::write(file, &bytes)
    }

    /// Load a model saved by ``save`` or by the ``broadstream`` command.
    ///
    /// Labels come back with the types that they had in Python. The labels of a model that the command line
    /// has trained are text. Those that it has added to a model of Python get the type of the others; if
    /// their text is no value of that type, this is a ValueError.
    ///
    /// Parameters
    /// ----------
    /// file : path or file
    ///     A path, or a file that is open for reading bytes.
    /// labels : {str, int, float, bool}, optional
    ///     The type that all labels get.
    #[classmethod]
    #[pyo3(signature = (file, labels = None))]
    fn load(
        cls: &Bound<'_, PyType>,
        file: &Bound<'_, PyAny>,
        labels: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        let labels = LabelsOf::File(labels.map(LabelType::named).transpose()?);
        saved::learner(cls.py(), files::read(file)?, labels).map(OnlineBLS::of)
    }

    /// Return an independent copy of the model.
    fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(OnlineBLS::of(self.learner.whole(py)?.copy(py)?))
    }

    /// The labels in order of first appearance, which is the order of the columns of probabilities.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let learner = self.learner.read(py)?;
        learner.labels.list(py, learner.core.classes())
    }

    /// The names of the inputs. Each category of a column is an input of its own, ``column=category``.
    #[getter]
    fn inputs(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let learner = self.learner.read(py)?;
        Ok(learner.core.declared_inputs().iter().map(|input| input.name.clone()).collect())
    }

    /// The number of learned samples with a positive weight.
    #[getter]
    fn learned(&self, py: Python<'_>) -> PyResult<u64> {
        Ok(self.learner.read(py)?.core.learned())
    }

    /// How important each column has been lately, the most important first: the mean size of its change in
    /// explanations of some of the samples that were learned.
    ///
    /// About one of 256 samples is explained, and more of the first ones. The last hundred make up most of
    /// the mean.
    #[getter]
    fn importance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let by_column = PyDict::new(py);
        for (column, importance) in self.learner.read(py)?.core.importance() {
            by_column.set_item(column, importance)?;
        }
        Ok(by_column)
    }

    /// All options and their values.
    #[getter]
    fn config<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        options::all(py, self.learner.read(py)?.core.config())
    }

    /// "single" if the model, or the one that it continues, was ever stored in single precision. What it learned
    /// before that has seven digits, so it refuses to merge, unlearn and correct.
    #[getter]
    fn precision(&self, py: Python<'_>) -> PyResult<&'static str> {
        Ok(match self.learner.read(py)?.core.precision() {
            Precision::Double => "double",
            Precision::Single => "single",
        })
    }

    /// The weights of the regression on all features, with a row per feature and a column per label.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let learner = self.learner.read(py)?;
        let core = &learner.core;
        let weights = py.detach(|| core.weights());
        let (features, classes) = weights.shape();
        weights.into_values().into_pyarray(py).reshape([features, classes])
    }

    /// The members whose predictions are combined, as dictionaries: ``name``, current ``weight``, number of
    /// ``features``, kind of ``nodes``, and whether it ``rests``.
    #[getter]
    fn members<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        members::members(py, &self.learner.read(py)?.core.members())
    }

    /// How the members have changed, as dictionaries: after how many ``learned`` samples, which ``member``,
    /// its ``features_before`` and its ``features`` from then on (0 while it rests), the kind of its ``nodes``,
    /// the ``event`` and its ``reason``. Only the last 1000 are kept.
    #[getter]
    fn changes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        members::changes(py, self.learner.read(py)?.core.changes())
    }

    /// The numbers of samples after which a regression restarted because the model detected a drift.
    #[getter]
    fn restarts(&self, py: Python<'_>) -> PyResult<Vec<u64>> {
        Ok(self.learner.read(py)?.core.restarts().to_vec())
    }

    /// Return the numerical state of each regression, as a list of dictionaries.
    ///
    /// ``error`` estimates how far scores may be from those of an exact solution, relative to the
    /// largest: above 1e-7 they cannot be trusted, and merging or unlearning is refused. ``condition``
    /// is the estimated condition number.
    fn health<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let learner = self.learner.read(py)?;
        let core = &learner.core;
        let health = py.detach(|| core.health());
        let mut regressions = Vec::with_capacity(health.len());
        for regression in health {
            let state = PyDict::new(py);
            state.set_item("name", regression.name)?;
            state.set_item("features", regression.features)?;
            state.set_item("error", regression.now.error)?;
            state.set_item("residual", regression.now.residual)?;
            state.set_item("worst_residual", regression.worst_residual)?;
            state.set_item("condition", regression.now.condition)?;
            state.set_item("refreshes", regression.refreshes)?;
            regressions.push(state);
        }
        Ok(regressions)
    }

    /// Return the largest relative residual of the regressions, a measure of accumulated rounding error.
    ///
    /// About 1e-15 is as good as double precision allows.
    fn residual(&self, py: Python<'_>) -> PyResult<f64> {
        let learner = self.learner.read(py)?;
        let core = &learner.core;
        let health = py.detach(|| core.health());
        let residuals = health.iter().map(|regression| regression.now.residual);
        // NaN counts as the worst.
        Ok(residuals.fold(0.0, |worst, residual| if residual <= worst { worst } else { residual }))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let learner = self.learner.read(py)?;
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
        let learner = self.learner.whole(py)?;
        let storage = Storage::of_pickles(py)?;
        let bytes = PyBytes::new(py, &saved::to_bytes(py, &learner, false, storage)?);
        let state =
            (bytes, learner.labels.list(py, learner.labels.len())?, learner.core.config().threads);
        let module = PyModule::import(py, "broadstream._broadstream")?;
        (module.getattr("restore_model")?, state).into_pyobject(py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        // A model in use is reachable from that call anyway.
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
        Ok(self.learner.read(py)?.core.bytes())
    }
}

impl OnlineBLS {
    fn of(learner: Learner) -> Self {
        OnlineBLS { learner: Shared::new(learner) }
    }

    pub(crate) fn learner(&self) -> &Shared {
        &self.learner
    }
}

/// Restore a model from a pickle.
#[pyfunction]
pub(crate) fn restore_model(
    state: &Bound<'_, PyBytes>,
    labels: Vec<Bound<'_, PyAny>>,
    threads: usize,
) -> PyResult<OnlineBLS> {
    let mut content = state.as_bytes();
    let saved = state.py().detach(|| model_file::read(&mut content)).map_err(to_python)?;
    let mut learner = saved::learner(state.py(), saved, LabelsOf::Given(labels))?;
    learner.core.set_threads(threads).map_err(to_python)?;
    Ok(OnlineBLS::of(learner))
}

/// The labels of classes as an array; −1 becomes None.
fn label_array<'py>(
    py: Python<'py>,
    labels: &Labels,
    classes: Vec<i64>,
) -> PyResult<Bound<'py, PyAny>> {
    rows::tables(py)?
        .call_method1("label_array", (labels.list(py, labels.len())?, classes.into_pyarray(py)))
}

fn probability_array<'py>(
    py: Python<'py>,
    answers: &Predictions,
    labels: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    answers.table(labels).into_pyarray(py).reshape([answers.classes.len(), labels])
}
