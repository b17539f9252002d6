//! The classes `LateLabels` and `LatePrediction`: samples whose labels arrive later.

use std::sync::{Mutex, MutexGuard, PoisonError};

use broadstream::LateLabels as Waiting;
use pyo3::{prelude::*, types::PyDict};

use crate::{
    error::to_python,
    model::OnlineBLS,
    numbers::{Real, Whole},
    rows,
};

/// Predicts samples now and learns them when their labels arrive.
///
/// A prediction comes with a ticket, and the label that arrives for the ticket is learned with the features that
/// the sample had when it was predicted. Learning the row again would use what the model has seen since: another
/// scaling, and other recent labels. At most ``capacity`` samples wait; one more evicts the oldest, and the
/// prediction says which that was.
///
/// The model may be used otherwise meanwhile. Inputs that a row brings are kept, since it may be learned.
///
/// Parameters
/// ----------
/// model : OnlineBLS
///     The model that predicts and learns.
/// capacity : int
///     The maximum number of samples that wait.
///
/// Examples
/// --------
/// >>> import broadstream
/// >>> model = broadstream.OnlineBLS(preset="single")
/// >>> late = broadstream.LateLabels(model, capacity=1000)
/// >>> first = late.predict_one({"amount": 12.5})
/// >>> second = late.predict_one({"amount": 990.0})
/// >>> first.probabilities, late.waiting
/// ({}, 2)
/// >>> late.learn_one(second.ticket, "fraud")
/// >>> model.labels, late.waiting
/// (['fraud'], 1)
#[pyclass(frozen, module = "broadstream")]
pub(crate) struct LateLabels {
    #[pyo3(get)]
    model: Py<OnlineBLS>,
    /// It is locked only while the model is, so that nobody waits for it with the interpreter in hand.
    late: Mutex<Waiting>,
}

/// The prediction of a sample whose label arrives later.
#[pyclass(frozen, get_all, module = "broadstream")]
pub(crate) struct LatePrediction {
    /// What identifies the sample when its label arrives.
    ticket: u64,
    /// The probability of each label known so far.
    probabilities: Py<PyDict>,
    /// The ticket of the sample that was evicted to make room, or None.
    evicted: Option<u64>,
}

#[pymethods]
impl LateLabels {
    #[new]
    fn new(model: Py<OnlineBLS>, capacity: Whole) -> Self {
        let capacity = usize::try_from(capacity.0).unwrap_or(usize::MAX);
        LateLabels { model, late: Mutex::new(Waiting::new(capacity)) }
    }

    /// Predict a sample, which waits for its label from now on.
    fn predict_one(&self, x: &Bound<'_, PyAny>) -> PyResult<LatePrediction> {
        let (py, x) = (x.py(), rows::row(x)?);
        let mut learner = self.model.get().learner().whole(py)?;
        let found = learner.predict_late(&x, &mut self.waiting_samples())?;
        let probabilities = PyDict::new(py);
        for (class, probability) in found.probabilities.into_iter().enumerate() {
            probabilities.set_item(learner.labels.label(py, class), probability)?;
        }
        let (ticket, evicted) = (found.ticket, found.evicted);
        Ok(LatePrediction { ticket, probabilities: probabilities.unbind(), evicted })
    }

    /// Learn the sample of a ticket, whose label has arrived. A ticket that does not wait is a ValueError.
    #[pyo3(signature = (ticket, y, sample_weight = Real(1.0)), text_signature = "($self, ticket, y, sample_weight=1.0)")]
    fn learn_one(&self, ticket: Whole, y: &Bound<'_, PyAny>, sample_weight: Real) -> PyResult<()> {
        let mut learner = self.model.get().learner().whole(y.py())?;
        learner.learn_late(ticket.0, y, sample_weight.0, &mut self.waiting_samples())
    }

    /// Drop the sample of a ticket, whose label will never arrive. Returns whether it was waiting.
    fn discard(&self, py: Python<'_>, ticket: Whole) -> PyResult<bool> {
        let _learner = self.model.get().learner().whole(py)?;
        Ok(self.waiting_samples().discard(ticket.0))
    }

    /// The number of samples that wait for their labels.
    #[getter]
    fn waiting(&self, py: Python<'_>) -> PyResult<usize> {
        let _learner = self.model.get().learner().whole(py)?;
        Ok(self.waiting_samples().waiting())
    }

    /// The number of samples that were evicted before their labels arrived.
    #[getter]
    fn evicted(&self, py: Python<'_>) -> PyResult<u64> {
        let _learner = self.model.get().learner().whole(py)?;
        Ok(self.waiting_samples().evicted())
    }
}

impl LateLabels {
    fn waiting_samples(&self) -> MutexGuard<'_, Waiting> {
        self.late.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl LatePrediction {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let probabilities = self.probabilities.bind(py).repr()?;
        Ok(format!("LatePrediction(ticket={}, probabilities={probabilities})", self.ticket))
    }
}

impl crate::learner::Learner {
    /// Predicts a sample that will be learned later, so its inputs stay.
    fn predict_late(
        &mut self,
        x: &Bound<'_, PyAny>,
        late: &mut Waiting,
    ) -> PyResult<broadstream::LatePrediction> {
        let py = x.py();
        self.attempt(py, |learner| {
            learner.fill_one(x, 0, 1.0)?;
            learner.declare_inputs()?;
            let (core, block) = learner.core_and_block();
            py.detach(|| late.predict(core, block.sample(0))).map_err(to_python)
        })
    }

    fn learn_late(
        &mut self,
        ticket: u64,
        y: &Bound<'_, PyAny>,
        weight: f64,
        late: &mut Waiting,
    ) -> PyResult<()> {
        let py = y.py();
        self.attempt(py, |learner| {
            let class = learner.labels.class_of(y, rows::place(0))?;
            let (core, _) = learner.core_and_block();
            py.detach(|| late.learn(core, ticket, class, weight)).map_err(to_python)
        })
    }
}
