//! A model of another library as a classifier.
//!
//! An evaluation passes samples in the order of the stream, first to be predicted and then, maybe later, to be
//! learned. The model needs the rows as Python has them, so these wait in a queue in the same order, and the
//! samples themselves are empty.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use broadstream::{Classifier, Error, InputKind, Sample};
use pyo3::{prelude::*, types::PyDict};

use crate::{evaluation::Failure, labels::Labels, rows::place, stream::failed};

/// Rows and labels on their way to a model.
#[derive(Clone, Default)]
pub(crate) struct Queue(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    pairs: VecDeque<(Py<PyAny>, Py<PyAny>)>,
    /// How many of the pairs were predicted.
    predicted: usize,
}

impl Queue {
    pub(crate) fn add(&self, x: Bound<'_, PyAny>, y: Bound<'_, PyAny>) {
        self.lock().pairs.push_back((x.unbind(), y.unbind()));
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A model of another library, behind the methods `predict_proba(x)` and `learn(x, y)`.
pub(crate) struct Foreign {
    model: Py<PyAny>,
    queue: Queue,
    labels: Labels,
    learned: usize,
    failure: Failure,
}

impl Foreign {
    pub(crate) fn new(py: Python<'_>, model: Py<PyAny>, queue: Queue, failure: Failure) -> Self {
        Foreign { model, queue, labels: Labels::new(py), learned: 0, failure }
    }

    /// The scores of the next row: its probabilities, of which the first largest one is the largest.
    fn scores(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        let x = {
            let mut waiting = self.queue.lock();
            let x = waiting.pairs.get(waiting.predicted).map(|(x, _)| x.clone_ref(py));
            waiting.predicted += 1;
            x
        };
        let found =
            self.model.bind(py).call_method1("predict_proba", (x,))?.cast_into::<PyDict>()?;
        let mut scores = vec![0.0; self.labels.len()];
        let (mut best, mut largest) = (None, f64::NEG_INFINITY);
        for (label, probability) in found {
            let probability: f64 = probability.extract()?;
            // A label that was announced and never learned is none that could be right.
            let Some(class) = self.labels.find(&label, place(self.learned))? else { continue };
            scores[class] = probability;
            if probability > largest {
                (best, largest) = (Some(class), probability);
            }
        }
        let Some(best) = best else { return Ok(Vec::new()) };
        if scores[..best].contains(&largest) {
            scores[best] = largest.next_up();
        }
        Ok(scores)
    }

    fn learn(&mut self, py: Python<'_>) -> PyResult<()> {
        let pair = {
            let mut waiting = self.queue.lock();
            waiting.predicted = waiting.predicted.saturating_sub(1);
            waiting.pairs.pop_front()
        };
        let Some((x, y)) = pair else { return Ok(()) };
        self.labels.class_of(y.bind(py), place(self.learned))?;
        self.model.bind(py).call_method1("learn", (x, y))?;
        self.learned += 1;
        Ok(())
    }

    fn failed(&self, error: PyErr) -> Error {
        self.failure.set(error);
        failed(self.learned)
    }
}

impl Classifier for Foreign {
    fn declare_input(&mut self, _name: &str, _kind: InputKind) -> Result<(), Error> {
        Ok(())
    }

    fn inputs(&self) -> usize {
        0
    }

    fn classes(&self) -> usize {
        self.labels.len()
    }

    fn scores_one(&self, _x: Sample<'_>) -> Result<Vec<f64>, Error> {
        if self.failure.is_set() {
            return Err(failed(self.learned));
        }
        Python::attach(|py| self.scores(py)).map_err(|error| self.failed(error))
    }

    fn probabilities(&self, scores: &[f64]) -> Vec<f64> {
        let total: f64 = scores.iter().sum();
        match total > 0.0 {
            true => scores.iter().map(|score| score / total).collect(),
            false => scores.to_vec(),
        }
    }

    fn learn_one(&mut self, _x: Sample<'_>, _class: usize, _weight: f64) -> Result<(), Error> {
        Python::attach(|py| self.learn(py)).map_err(|error| self.failed(error))
    }
}
