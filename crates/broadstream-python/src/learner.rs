//! A model together with the columns and labels that Python gave it.

use std::ops::Range;

use broadstream::{Block, Certificate, Classifier, Error, OnlineBls, Scores, arg_max};
use numpy::PyReadonlyArray1;
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyAny, PyList},
};

use crate::{
    columns::Columns,
    error::to_python,
    guarded::Forked,
    interrupt::{FIRST, in_pieces},
    labels::Labels,
    rows::{Rows, encode_one, place},
};

pub(crate) struct Learner {
    pub(crate) core: OnlineBls,
    pub(crate) columns: Columns,
    pub(crate) labels: Labels,
    /// The samples at hand; kept to spare allocations.
    block: Block,
}

/// Rows that are to be learned, with their labels and weights.
pub(crate) struct Batch<'a, 'py> {
    pub(crate) rows: &'a Rows,
    pub(crate) labels: &'a Bound<'py, PyList>,
    pub(crate) weights: Option<&'a PyReadonlyArray1<'py, f64>>,
}

/// What a model said of several samples.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) classes: Vec<i64>,
    /// A row per sample; the rows of samples for which fewer classes were known are shorter.
    pub(crate) probabilities: Scores,
    pub(crate) leverages: Vec<f64>,
}

impl Forked for Learner {
    /// The threads of before the fork are not there any more.
    fn forked(&mut self) -> PyResult<()> {
        match self.core.config().threads {
            1 => Ok(()),
            threads => self.core.set_threads(threads).map_err(to_python),
        }
    }
}

impl Learner {
    pub(crate) fn new(core: OnlineBls, columns: Columns, labels: Labels) -> Self {
        Learner { core, columns, labels, block: Block::new() }
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        Ok(Learner::new(self.core.clone(), self.columns.copy(py), self.labels.copy(py)?))
    }

    /// Learns one sample.
    pub(crate) fn learn_one(
        &mut self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        weight: f64,
    ) -> PyResult<()> {
        let py = x.py();
        self.attempt(py, |learner| {
            let class = learner.labels.class_of(y, place(0))?;
            encode_one(&mut learner.columns, x)?;
            learner.block.clear();
            let sample = learner.columns.encoder().sample();
            learner.block.push(sample, class, weight).map_err(to_python)?;
            learner.declare_inputs()?;
            let checked = learner.core.check_many(&learner.block, learner.core.classes());
            checked.map(|_| ()).map_err(|error| to_python(without_place(error)))
        })?;
        let Learner { core, block, .. } = self;
        py.detach(|| core.learn_many(block)).map_err(to_python)
    }

    /// Learns a batch. If a sample is refused, none is learned; Ctrl-C leaves those before it learned.
    pub(crate) fn learn_many(&mut self, py: Python<'_>, batch: &Batch<'_, '_>) -> PyResult<()> {
        self.in_checked_pieces(py, batch, |learner| {
            let Learner { core, block, .. } = learner;
            py.detach(|| core.learn_many(block)).map_err(to_python)
        })
    }

    /// Predicts each sample of a batch and then learns it.
    pub(crate) fn test_then_train(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
    ) -> PyResult<Answers> {
        let mut answers = Answers::default();
        self.in_checked_pieces(py, batch, |learner| {
            let Learner { core, block, .. } = learner;
            let answers = &mut answers;
            py.detach(|| {
                let mut scores = Scores::new();
                let leverages = &mut answers.leverages;
                core.test_then_train_with_leverages(block, &mut scores, leverages)?;
                answers.add(core, &scores);
                Ok(())
            })
            .map_err(to_python)
        })?;
        Ok(answers)
    }

    /// Shows the inputs of rows to the scaling, and freezes it.
    pub(crate) fn fit_scaling(
        &mut self,
        py: Python<'_>,
        rows: &Rows,
        weights: Option<&PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<()> {
        let labels = PyList::empty(py);
        let batch = Batch { rows, labels: &labels, weights };
        let before = self.core.clone();
        let fitted = self.attempt(py, |learner| {
            in_pieces(py, rows.len(), |range| {
                learner.fill(py, &batch, &[], range)?;
                learner.declare_inputs()?;
                let Learner { core, block, .. } = &mut *learner;
                py.detach(|| core.observe_scaling(block)).map_err(to_python)
            })
        });
        match fitted {
            Ok(()) => self.core.freeze_scaling(),
            // Some rows may have been shown already.
            Err(_) => self.core = before,
        }
        fitted
    }

    /// Has `work` answer for one sample, and leaves nothing of it behind.
    pub(crate) fn look_at_one<T: Send>(
        &mut self,
        x: &Bound<'_, PyAny>,
        work: impl Fn(&OnlineBls, broadstream::Sample<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let py = x.py();
        self.look(py, |learner| {
            encode_one(&mut learner.columns, x)?;
            learner.block.clear();
            let sample = learner.columns.encoder().sample();
            learner.block.push(sample, 0, 1.0).map_err(to_python)?;
            learner.declare_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(move || work(core, block.sample(0))).map_err(to_python)
        })
    }

    /// Predicts rows.
    pub(crate) fn predict_many(&mut self, py: Python<'_>, rows: &Rows) -> PyResult<Answers> {
        let labels = PyList::empty(py);
        let batch = Batch { rows, labels: &labels, weights: None };
        let mut answers = Answers::default();
        self.look(py, |learner| {
            in_pieces(py, rows.len(), |range| {
                learner.fill(py, &batch, &[], range)?;
                learner.declare_inputs()?;
                let (Learner { core, block, .. }, answers) = (&mut *learner, &mut answers);
                py.detach(|| {
                    let (scores, leverages) = core.scores_many(block)?;
                    answers.leverages.extend(leverages);
                    answers.add(core, &scores);
                    Ok(())
                })
                .map_err(to_python)
            })
        })?;
        Ok(answers)
    }

    /// Takes a batch back, or nothing of it.
    pub(crate) fn unlearn_many(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
    ) -> PyResult<Certificate> {
        self.look(py, |learner| {
            let mut classes = Vec::with_capacity(batch.labels.len());
            for (i, label) in batch.labels.iter().enumerate() {
                classes.push(learner.known_class(&label, i)?);
            }
            learner.fill(py, batch, &classes, 0..batch.rows.len())?;
            learner.check_known_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(|| core.unlearn_many(block)).map_err(to_python)
        })
    }

    /// Replaces the label of a sample that was learned.
    pub(crate) fn correct_one(
        &mut self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        new_y: &Bound<'_, PyAny>,
        weight: f64,
    ) -> PyResult<Certificate> {
        let py = x.py();
        self.attempt(py, |learner| {
            let class = learner.known_class(y, 0)?;
            let new_class = learner.labels.class_of(new_y, place(0))?;
            encode_one(&mut learner.columns, x)?;
            learner.block.clear();
            let sample = learner.columns.encoder().sample();
            learner.block.push(sample, 0, 1.0).map_err(to_python)?;
            learner.check_known_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(|| core.correct_one(block.sample(0), class, new_class, weight))
                .map_err(to_python)
        })
    }

    /// Adds what another model has learned.
    pub(crate) fn merge(&mut self, py: Python<'_>, other: &Learner) -> PyResult<()> {
        let mut encoding = self.columns.encoding();
        encoding.merge(other.columns.encoding()).map_err(|error| to_python(error.into()))?;
        self.attempt(py, |learner| {
            let mut classes = Vec::with_capacity(other.labels.len());
            for label in other.labels.iter(py) {
                classes.push(learner.labels.class_of(label, place(0))?);
            }
            let core = &mut learner.core;
            py.detach(|| core.merge(&other.core, &classes)).map_err(to_python)
        })?;
        let mut schema = broadstream::Schema::new(encoding.target.as_str());
        for input in self.core.declared_inputs() {
            schema.push_input(&input.name, input.kind);
        }
        let target = self.columns.target().map(str::to_owned);
        self.columns = Columns::resume(py, schema, &encoding, target)?;
        Ok(())
    }

    /// Checks a batch as a whole, then has `work` do something with each piece of it, which is in the
    /// block then.
    fn in_checked_pieces(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        mut work: impl FnMut(&mut Self) -> PyResult<()>,
    ) -> PyResult<()> {
        let samples = batch.rows.len();
        let classes = self.attempt(py, |learner| learner.check(py, batch))?;
        // A small batch is still in the block.
        let filled = samples <= FIRST;
        let done = in_pieces(py, samples, |range| {
            if !filled {
                self.fill(py, batch, &classes, range)?;
            }
            work(self)
        });
        // Labels of samples that were not reached are not known.
        let known = self.core.classes();
        self.labels.truncate(py, known)?;
        done
    }

    /// Checks that a batch can be learned, and returns the classes of its samples.
    fn check(&mut self, py: Python<'_>, batch: &Batch<'_, '_>) -> PyResult<Vec<usize>> {
        batch.rows.check_length("y", batch.labels.len())?;
        if let Some(weights) = batch.weights {
            batch.rows.check_length("sample_weight", weights.as_array().len())?;
        }
        let mut classes = Vec::with_capacity(batch.labels.len());
        for (i, label) in batch.labels.iter().enumerate() {
            classes.push(self.labels.class_of(&label, place(i))?);
        }
        let mut known = self.core.classes();
        in_pieces(py, batch.rows.len(), |range| {
            let start = range.start;
            self.fill(py, batch, &classes, range)?;
            self.declare_inputs()?;
            known = self.core.check_many(&self.block, known).map_err(|error| {
                to_python(match error {
                    Error::Sample { sample, source } => {
                        Error::Sample { sample: sample + start as u64, source }
                    }
                    error => error,
                })
            })?;
            Ok(())
        })?;
        Ok(classes)
    }

    /// Fills the block with some of the rows. Without classes all are of class 0.
    fn fill(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        classes: &[usize],
        range: Range<usize>,
    ) -> PyResult<()> {
        let Learner { columns, block, .. } = self;
        block.clear();
        batch.rows.encode(py, columns, range, |i, sample| {
            let class = classes.get(i).copied().unwrap_or(0);
            let weight = batch.weights.map_or(1.0, |weights| weights.as_array()[i]);
            block.push(sample, class, weight).map_err(|source| {
                to_python(Error::Sample { sample: i as u64 + 1, source: Box::new(source) })
            })
        })
    }

    /// Tells the model of the inputs that rows have brought.
    fn declare_inputs(&mut self) -> PyResult<()> {
        let known = self.core.inputs();
        let inputs = self.columns.inputs();
        match inputs.get(known..) {
            Some(new) if !new.is_empty() => self.core.declare_inputs(new).map_err(to_python),
            _ => Ok(()),
        }
    }

    /// Checks that rows have brought no input.
    fn check_known_inputs(&self) -> PyResult<()> {
        match self.columns.inputs().get(self.core.inputs()) {
            Some(input) => {
                let message = format!("input '{}' was never learned", input.name);
                Err(PyValueError::new_err(message))
            }
            None => Ok(()),
        }
    }

    fn known_class(&self, label: &Bound<'_, PyAny>, row: usize) -> PyResult<usize> {
        self.labels.find(label, place(row))?.ok_or_else(|| {
            let label = label.repr().map(|label| label.to_string()).unwrap_or_default();
            PyValueError::new_err(format!("{}: label {label} was never learned", place(row)))
        })
    }

    /// Does something that may be refused, and leaves no input, column or label behind then.
    fn attempt<T>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> PyResult<T>,
    ) -> PyResult<T> {
        self.columns.settle();
        let (inputs, labels) = (self.core.inputs(), self.labels.len());
        let done = work(self);
        if done.is_err() {
            self.columns.undo(py);
            self.core.withdraw_inputs(inputs);
            self.labels.truncate(py, labels)?;
        }
        done
    }

    /// Does something that leaves no input or column behind in any case.
    fn look<T>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> PyResult<T>,
    ) -> PyResult<T> {
        self.columns.settle();
        let inputs = self.core.inputs();
        let done = work(self);
        self.columns.undo(py);
        self.core.withdraw_inputs(inputs);
        done
    }
}

impl Answers {
    /// Adds scores of a model.
    fn add(&mut self, model: &OnlineBls, scores: &Scores) {
        for scores in scores.iter() {
            self.classes.push(arg_max(scores).map_or(-1, |class| class as i64));
            self.probabilities.push(&model.probabilities(scores));
        }
    }

    /// The probabilities of so many classes, a row per sample; those that a sample knew nothing of have
    /// none.
    pub(crate) fn table(&self, classes: usize) -> Vec<f64> {
        let mut table = vec![0.0; self.classes.len() * classes];
        for (i, row) in self.probabilities.iter().enumerate() {
            table[i * classes..][..row.len()].copy_from_slice(row);
        }
        table
    }
}

/// An error about a sample that is the only one.
fn without_place(error: Error) -> Error {
    match error {
        Error::Sample { source, .. } => *source,
        error => error,
    }
}
