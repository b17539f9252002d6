//! A model together with the columns and labels that Python gave it.

use std::{collections::HashSet, ops::Range};

use broadstream::{
    Block, Certificate, ClassCosts, Classifier, Costs, Error, Explanation, OnlineBls,
    stream::ColumnCoding,
};
use numpy::PyReadonlyArray1;
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError},
    prelude::*,
    types::{PyAny, PyList},
};

use crate::{
    columns::Columns,
    error::to_python,
    explanations,
    guarded::Forked,
    interrupt::in_pieces,
    labels::Labels,
    predictions::Predictions,
    rows::{Rows, encode_one, place},
    saved::text,
};

/// A model, and what its inputs and classes are called in Python.
pub(crate) struct Learner {
    pub(crate) core: OnlineBls,
    pub(crate) columns: Columns,
    pub(crate) labels: Labels,
    /// What decisions cost, if they are made for the least cost.
    pub(crate) costs: Option<Costs>,
    /// The samples of the current piece. It is kept for its memory.
    block: Block,
}

/// Rows with their labels and weights.
pub(crate) struct Batch<'a, 'py> {
    pub(crate) rows: &'a Rows,
    pub(crate) labels: &'a Bound<'py, PyList>,
    pub(crate) weights: Option<&'a PyReadonlyArray1<'py, f64>>,
}

/// What a model had when a change to it began.
#[derive(Clone, Copy)]
pub(crate) struct Begun {
    inputs: usize,
    labels: usize,
    /// How many classes it had learned.
    pub(crate) classes: usize,
}

impl Batch<'_, '_> {
    fn check_lengths(&self) -> PyResult<()> {
        self.rows.check_length("y", self.labels.len())?;
        self.check_weights()
    }

    fn check_weights(&self) -> PyResult<()> {
        match self.weights {
            Some(weights) => self.rows.check_length("sample_weight", weights.as_array().len()),
            None => Ok(()),
        }
    }
}

impl Forked for Learner {
    /// The threads that the model had before the fork do not exist in the child process.
    fn forked(&mut self) -> PyResult<()> {
        match self.core.config().threads {
            1 => Ok(()),
            threads => self.core.set_threads(threads).map_err(to_python),
        }
    }
}

impl Learner {
    pub(crate) fn new(core: OnlineBls, columns: Columns, labels: Labels) -> Self {
        Learner { core, columns, labels, costs: None, block: Block::new() }
    }

    pub(crate) fn copy(&self, py: Python<'_>) -> PyResult<Self> {
        let copy = Learner::new(self.core.clone(), self.columns.copy(py), self.labels.copy(py)?);
        Ok(Learner { costs: self.costs.clone(), ..copy })
    }

    /// The same model, whose decisions have these costs.
    pub(crate) fn with_costs(self, costs: Option<Costs>) -> Self {
        Learner { costs, ..self }
    }

    /// What decisions cost by class. A label that has no costs is an error.
    pub(crate) fn class_costs(&self, py: Python<'_>) -> PyResult<Option<ClassCosts>> {
        let Some(costs) = &self.costs else { return Ok(None) };
        let mut seen = HashSet::new();
        let labels = self.labels.iter(py).map(|label| text(label, &mut seen));
        let labels: Vec<String> = labels.collect::<PyResult<_>>()?;
        costs.by_class(&labels).map(Some).map_err(|error| to_python(error.into()))
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
            learner.fill_one(x, class, weight)?;
            learner.declare_inputs()?;
            let checked = learner.core.check_many(&learner.block, learner.core.classes());
            checked.map(|_| ()).map_err(|error| to_python(without_place(error)))
        })?;
        let Learner { core, block, .. } = self;
        py.detach(|| core.learn_many(block)).map_err(to_python)
    }

    /// The model, and the samples of the current piece.
    pub(crate) fn core_and_block(&mut self) -> (&mut OnlineBls, &Block) {
        (&mut self.core, &self.block)
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
        batch.check_weights()?;
        // Refuses a model whose scaling cannot be fitted, even if there are no rows.
        self.core.observe_scaling(&Block::new()).map_err(to_python)?;
        let counts = |i| weights.is_none_or(|weights| weights.as_array()[i] > 0.0);
        if !(0..rows.len()).any(counts) {
            let message = "cannot fit the scaling: there is no sample of positive weight";
            return Err(PyValueError::new_err(message));
        }
        let before = self.core.clone();
        let fitted = self.attempt(py, |learner| {
            learner.check_width(rows)?;
            in_pieces(py, rows.len(), |range| {
                learner.fill(py, &batch, &[], range)?;
                learner.declare_inputs()?;
                let Learner { core, block, .. } = &mut *learner;
                py.detach(|| core.observe_scaling(block)).map_err(to_python)
            })
        });
        match fitted {
            Ok(()) => self.core.freeze_scaling(),
            // The scaling may have seen some of the rows already.
            Err(_) => self.core = before,
        }
        fitted
    }

    /// Calls `work` with the model and one sample, which leaves nothing behind.
    pub(crate) fn look_at_one<T: Send>(
        &mut self,
        x: &Bound<'_, PyAny>,
        work: impl Fn(&OnlineBls, broadstream::Sample<'_>) -> Result<T, Error> + Send,
    ) -> PyResult<T> {
        let py = x.py();
        self.look(py, |learner| {
            learner.fill_one(x, 0, 1.0)?;
            learner.declare_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(move || work(core, block.sample(0))).map_err(to_python)
        })
    }

    /// Predicts some of the rows of a batch.
    pub(crate) fn predict_piece(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        range: Range<usize>,
        predictions: &mut Predictions,
    ) -> PyResult<()> {
        let costs = self.class_costs(py)?;
        self.look(py, |learner| {
            learner.fill(py, batch, &[], range)?;
            learner.declare_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(|| {
                let (scores, leverages) = core.scores_many(block)?;
                predictions.leverages.extend(leverages);
                predictions.add(core, &scores, costs.as_ref());
                Ok(())
            })
            .map_err(to_python)
        })
    }

    /// Explains the predictions of some of the rows of a batch, or a given class for them.
    pub(crate) fn explain_piece(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        range: Range<usize>,
        class: Option<usize>,
    ) -> PyResult<Vec<Option<Explanation>>> {
        let costs = self.class_costs(py)?;
        self.look(py, |learner| {
            learner.fill(py, batch, &[], range)?;
            learner.declare_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(|| {
                let predictor = core.predictor();
                let explain = |row| {
                    let x = block.sample(row);
                    let class = explanations::decided(core, x, class, costs.as_ref())?;
                    class.map(|class| predictor.explain_class(x, class)).transpose()
                };
                (0..block.len()).map(explain).collect::<Result<Vec<_>, Error>>()
            })
            .map_err(to_python)
        })
    }

    /// Unlearns a batch, or nothing of it if a sample is refused.
    pub(crate) fn unlearn_many(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
    ) -> PyResult<Certificate> {
        batch.check_lengths()?;
        // A copy unlearns piece by piece and replaces the model in the end, so that a refusal of a later
        // piece leaves the model as it was.
        let mut left = self.core.clone();
        let mut certificate: Option<Certificate> = None;
        self.look(py, |learner| {
            let mut classes = Vec::with_capacity(batch.labels.len());
            for (i, label) in batch.labels.iter().enumerate() {
                classes.push(learner.known_class(&label, i)?);
            }
            learner.check_width(batch.rows)?;
            // An empty batch is passed to the model too, which refuses it if it cannot unlearn at all.
            let mut take_back = |learner: &Learner, start: usize| {
                let (left, block) = (&mut left, &learner.block);
                let piece = py.detach(|| left.unlearn_many(block));
                let piece = piece.map_err(|error| to_python(moved(error, start)))?;
                let before = certificate.map_or(0, |certificate| certificate.samples);
                certificate = Some(Certificate { samples: before + piece.samples, ..piece });
                Ok(())
            };
            if classes.is_empty() {
                learner.block.clear();
                return take_back(learner, 0);
            }
            in_pieces(py, batch.rows.len(), |range| {
                let start = range.start;
                learner.fill(py, batch, &classes, range)?;
                learner.check_known_inputs()?;
                take_back(learner, start)
            })
        })?;
        self.core = left;
        certificate.ok_or_else(|| PyValueError::new_err("there is nothing to take back"))
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
        let certificate = self.attempt(py, |learner| {
            let class = learner.known_class(y, 0)?;
            let new_class = learner.labels.class_of(new_y, place(0))?;
            learner.fill_one(x, 0, 1.0)?;
            learner.check_known_inputs()?;
            let Learner { core, block, .. } = learner;
            py.detach(|| core.correct_one(block.sample(0), class, new_class, weight))
                .map_err(to_python)
        })?;
        // With a weight of 0 nothing was corrected, so the new label stays unknown.
        let known = self.core.classes();
        self.labels.truncate(py, known)?;
        Ok(certificate)
    }

    /// Adds what another model has learned.
    pub(crate) fn merge(&mut self, py: Python<'_>, other: &Learner) -> PyResult<()> {
        let mut encoding = self.columns.encoding();
        encoding.merge(other.columns.encoding()).map_err(|error| to_python(error.into()))?;
        // The columns are built before the models are merged, from the inputs in the order that they will
        // have, so that nothing can fail afterwards.
        let mut inputs = self.core.declared_inputs().to_vec();
        let known: HashSet<&str> =
            self.core.declared_inputs().iter().map(|input| input.name.as_str()).collect();
        let new = other.core.declared_inputs().iter();
        inputs.extend(new.filter(|input| !known.contains(input.name.as_str())).cloned());
        let target = self.columns.target().map(str::to_owned);
        let columns = Columns::resume(py, &inputs, encoding, target)?;
        self.attempt(py, |learner| {
            let mut classes = Vec::with_capacity(other.labels.len());
            for label in other.labels.iter(py) {
                classes.push(learner.labels.class_of(label, place(0))?);
            }
            let core = &mut learner.core;
            py.detach(|| core.merge(&other.core, &classes)).map_err(to_python)
        })?;
        self.columns = columns;
        Ok(())
    }

    /// Begins to check a batch.
    pub(crate) fn begin(&mut self, batch: &Batch<'_, '_>) -> PyResult<Begun> {
        batch.check_lengths()?;
        self.check_width(batch.rows)?;
        Ok(self.begun())
    }

    /// Checks a batch that is one piece, and calls `work` with it in the block.
    pub(crate) fn in_one_piece(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        begun: Begun,
        mut work: impl FnMut(&mut Self) -> PyResult<()>,
    ) -> PyResult<()> {
        if batch.rows.len() == 0 {
            return Ok(());
        }
        let (range, mut classes) = (0..batch.rows.len(), Vec::new());
        if let Err(error) = self.check_piece(py, batch, range, &mut classes, begun.classes) {
            self.abandon(py, begun)?;
            return Err(error);
        }
        let done = work(self);
        if done.is_err() {
            self.forget_unreached(py)?;
        }
        done
    }

    /// Forgets the labels and inputs that only came with samples after Ctrl-C.
    pub(crate) fn forget_unreached(&mut self, py: Python<'_>) -> PyResult<()> {
        self.labels.truncate(py, self.core.classes())?;
        self.core.withdraw_inputs(0);
        let inputs = self.core.declared_inputs();
        let mut encoding = self.columns.encoding();
        for column in &mut encoding.columns {
            let prefix = format!("{}=", column.name);
            let met = || inputs.iter().any(|input| input.name.starts_with(&prefix));
            if column.coding == ColumnCoding::OneHot && !met() {
                column.coding = ColumnCoding::Undecided;
            }
        }
        let target = self.columns.target().map(str::to_owned);
        self.columns = Columns::resume(py, inputs, encoding, target)?;
        Ok(())
    }

    /// Checks that some of the rows of a batch can be learned after those before them, with which `known`
    /// classes are known. Adds the classes of the rows, and returns how many classes are known then.
    pub(crate) fn check_piece(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        range: Range<usize>,
        classes: &mut Vec<usize>,
        known: usize,
    ) -> PyResult<usize> {
        let start = range.start;
        for i in range.clone() {
            classes.push(self.labels.class_of(&batch.labels.get_item(i)?, place(i))?);
        }
        self.fill(py, batch, classes, range)?;
        self.declare_inputs()?;
        let checked = self.core.check_many(&self.block, known);
        checked.map_err(|error| to_python(moved(error, start)))
    }

    /// Fills the block with one sample.
    pub(crate) fn fill_one(
        &mut self,
        x: &Bound<'_, PyAny>,
        class: usize,
        weight: f64,
    ) -> PyResult<()> {
        let Learner { columns, block, .. } = self;
        block.clear();
        block.push(encode_one(columns, x, place(0))?, class, weight).map_err(to_python)
    }

    /// Fills the block with some of the rows. Without classes they all have class 0.
    pub(crate) fn fill(
        &mut self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        classes: &[usize],
        range: Range<usize>,
    ) -> PyResult<()> {
        let Learner { columns, block, .. } = self;
        block.clear();
        batch.rows.encode(py, columns, range, |i, sample| {
            let class = if classes.is_empty() { 0 } else { classes[i] };
            let weight = batch.weights.map_or(1.0, |weights| weights.as_array()[i]);
            block.push(sample, class, weight).map_err(|source| {
                to_python(Error::Sample { sample: i as u64 + 1, reason: Box::new(source) })
            })
        })
    }

    /// Declares to the model the inputs that rows have added.
    pub(crate) fn declare_inputs(&mut self) -> PyResult<()> {
        match self.columns.inputs().get(self.core.inputs()..) {
            Some([]) => Ok(()),
            Some(new) => self.core.declare_inputs(new).map_err(to_python),
            None => Err(PyRuntimeError::new_err("the model has inputs without columns")),
        }
    }

    /// Refuses an array that is far too wide, before its columns are added.
    pub(crate) fn check_width(&self, rows: &Rows) -> PyResult<()> {
        let width = rows.width().max(self.core.inputs());
        self.core.check_room(width, self.core.classes()).map_err(to_python)
    }

    /// Checks that rows have added no input.
    fn check_known_inputs(&self) -> PyResult<()> {
        match self.columns.inputs().get(self.core.inputs()) {
            Some(input) => {
                let message = format!("input '{}' was never learned", input.name);
                Err(PyValueError::new_err(message))
            }
            None => Ok(()),
        }
    }

    pub(crate) fn known_class(&self, label: &Bound<'_, PyAny>, row: usize) -> PyResult<usize> {
        self.labels.find(label, place(row))?.ok_or_else(|| {
            let label = label.repr().map(|label| label.to_string()).unwrap_or_default();
            PyValueError::new_err(format!("{}: label {label} was never learned", place(row)))
        })
    }

    /// Does something that may fail, in which case it leaves no input, column or label behind.
    pub(crate) fn attempt<T>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> PyResult<T>,
    ) -> PyResult<T> {
        let begun = self.begun();
        let done = work(self);
        if done.is_err() {
            self.abandon(py, begun)?;
        }
        done
    }

    /// What the model has now, to which [`abandon`](Self::abandon) returns.
    fn begun(&mut self) -> Begun {
        self.columns.settle();
        let classes = self.core.classes();
        Begun { inputs: self.core.inputs(), labels: self.labels.len(), classes }
    }

    /// Removes the inputs, columns and labels that have come since something began.
    pub(crate) fn abandon(&mut self, py: Python<'_>, begun: Begun) -> PyResult<()> {
        self.columns.undo(py, 0);
        self.core.withdraw_inputs(begun.inputs);
        self.labels.truncate(py, begun.labels)
    }

    /// Does something that leaves no input or column behind, whether it fails or not. Those of a batch that is
    /// being checked stay.
    fn look<T>(
        &mut self,
        py: Python<'_>,
        work: impl FnOnce(&mut Self) -> PyResult<T>,
    ) -> PyResult<T> {
        let (unsettled, inputs) = (self.columns.unsettled(), self.core.inputs());
        self.columns.begin_look();
        let done = work(self);
        self.columns.undo(py, unsettled);
        self.core.withdraw_inputs(inputs);
        self.columns.end_look(py)?;
        done
    }
}

/// An error about a sample of a piece, with the sample counted from the start of the batch. `start` is the
/// row where the piece begins.
fn moved(error: Error, start: usize) -> Error {
    match error {
        Error::Sample { sample, reason } => Error::Sample { sample: sample + start as u64, reason },
        error => error,
    }
}

/// An error about the only sample of a call, which needs no place.
fn without_place(error: Error) -> Error {
    match error {
        Error::Sample { reason, .. } => *reason,
        error => error,
    }
}
