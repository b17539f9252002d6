//! A model that several threads share.
//!
//! There are two locks. Whoever changes a model has its turn for a whole call, so that no other change comes
//! between the check of a batch and the last of its rows. The model itself is locked for one piece of rows at a
//! time. A prediction needs no turn: it waits for the current piece, and sees the model after that piece.
//! Between two pieces the inputs and labels of later rows may be announced already, which no prediction shows.

use broadstream::{Classifier, Explanation, Scores};
use pyo3::{
    prelude::*,
    types::{PyAny, PyList},
};
use std::ops::{Deref, DerefMut};

use crate::{
    error::to_python,
    guarded::{Forked, Guarded, Held},
    interrupt::in_pieces,
    learner::{Batch, Learner},
    predictions::Predictions,
    rows::Rows,
};

/// A model and the locks on it.
pub(crate) struct Shared {
    turn: Guarded<Turn>,
    learner: Guarded<Learner>,
}

/// The turn of the thread that changes a model.
pub(crate) struct Turn;

impl Forked for Turn {
    fn forked(&mut self) -> PyResult<()> {
        Ok(())
    }
}

/// A thread that changes a model piece by piece.
pub(crate) struct Writer<'a> {
    learner: &'a Guarded<Learner>,
    _turn: Held<'a, Turn>,
}

/// A model that no other thread uses or changes, until this is dropped. The fields are dropped in this order.
pub(crate) struct Exclusive<'a> {
    learner: Held<'a, Learner>,
    _turn: Held<'a, Turn>,
}

impl Deref for Exclusive<'_> {
    type Target = Learner;

    fn deref(&self) -> &Learner {
        &self.learner
    }
}

impl DerefMut for Exclusive<'_> {
    fn deref_mut(&mut self) -> &mut Learner {
        &mut self.learner
    }
}

impl Shared {
    pub(crate) fn new(learner: Learner) -> Self {
        Shared { turn: Guarded::new(Turn), learner: Guarded::new(learner) }
    }

    /// The model as it is now: at the latest when the current piece of rows is learned.
    pub(crate) fn read(&self, py: Python<'_>) -> PyResult<Held<'_, Learner>> {
        self.learner.lock(py)
    }

    /// The right to change the model piece by piece.
    pub(crate) fn write(&self, py: Python<'_>) -> PyResult<Writer<'_>> {
        Ok(Writer { _turn: self.turn.lock(py)?, learner: &self.learner })
    }

    /// The model between two calls that change it.
    pub(crate) fn whole(&self, py: Python<'_>) -> PyResult<Exclusive<'_>> {
        let turn = self.turn.lock(py)?;
        Ok(Exclusive { learner: self.learner.lock(py)?, _turn: turn })
    }

    /// The model if no thread uses it, without waiting.
    pub(crate) fn if_free(&self) -> Option<std::sync::MutexGuard<'_, Learner>> {
        self.learner.if_free()
    }

    /// Learns one sample.
    pub(crate) fn learn_one(
        &self,
        x: &Bound<'_, PyAny>,
        y: &Bound<'_, PyAny>,
        weight: f64,
    ) -> PyResult<()> {
        self.whole(x.py())?.learn_one(x, y, weight)?;
        // A loop of this alone would leave others no time between two samples.
        self.learner.give_way(x.py());
        Ok(())
    }

    /// Predicts rows, each piece of them with the model as it is then.
    pub(crate) fn predict_many(&self, py: Python<'_>, rows: &Rows) -> PyResult<Predictions> {
        let labels = PyList::empty(py);
        let batch = Batch { rows, labels: &labels, weights: None };
        let mut predictions = Predictions::default();
        self.read(py)?.check_width(rows)?;
        in_pieces(py, rows.len(), |range| {
            self.read(py)?.predict_piece(py, &batch, range, &mut predictions)?;
            self.learner.give_way(py);
            Ok(())
        })?;
        Ok(predictions)
    }

    /// Explains the predictions of rows, or a label for them, each piece with the model as it is then.
    pub(crate) fn explain_many(
        &self,
        py: Python<'_>,
        rows: &Rows,
        label: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Vec<Option<Explanation>>> {
        let labels = PyList::empty(py);
        let batch = Batch { rows, labels: &labels, weights: None };
        let mut explanations = Vec::with_capacity(rows.len());
        self.read(py)?.check_width(rows)?;
        in_pieces(py, rows.len(), |range| {
            let mut learner = self.read(py)?;
            let class = label.map(|label| learner.known_class(label, 0)).transpose()?;
            explanations.extend(learner.explain_piece(py, &batch, range, class)?);
            drop(learner);
            self.learner.give_way(py);
            Ok(())
        })?;
        Ok(explanations)
    }
}

impl Writer<'_> {
    /// Learns a batch. If a sample is refused, none is learned. After Ctrl-C the samples before it stay
    /// learned.
    pub(crate) fn learn_many(&self, py: Python<'_>, batch: &Batch<'_, '_>) -> PyResult<()> {
        self.in_checked_pieces(py, batch, |learner| {
            let (core, block) = learner.core_and_block();
            py.detach(|| core.learn_many(block)).map_err(to_python)
        })
    }

    /// Predicts each sample of a batch and then learns it.
    pub(crate) fn test_then_train(
        &self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
    ) -> PyResult<Predictions> {
        let mut predictions = Predictions::default();
        self.in_checked_pieces(py, batch, |learner| {
            let costs = learner.class_costs(py)?;
            let (core, block) = learner.core_and_block();
            let predictions = &mut predictions;
            py.detach(|| {
                let mut scores = Scores::new();
                let leverages = &mut predictions.leverages;
                core.test_then_train_with_leverages(block, &mut scores, leverages)?;
                predictions.add(core, &scores, costs.as_ref());
                Ok(())
            })
            .map_err(to_python)
        })?;
        Ok(predictions)
    }

    /// Checks a batch as a whole, then calls `work` for each piece of it, with the piece in the block.
    fn in_checked_pieces(
        &self,
        py: Python<'_>,
        batch: &Batch<'_, '_>,
        mut work: impl FnMut(&mut Learner) -> PyResult<()>,
    ) -> PyResult<()> {
        let begun = {
            let mut learner = self.learner.lock(py)?;
            let begun = learner.begin(batch)?;
            if batch.rows.len() <= crate::interrupt::FIRST {
                // One piece, which need not be encoded twice.
                return learner.in_one_piece(py, batch, begun, work);
            }
            begun
        };
        let (mut classes, mut known) = (Vec::with_capacity(batch.rows.len()), begun.classes);
        let checked = in_pieces(py, batch.rows.len(), |range| {
            let mut learner = self.learner.lock(py)?;
            known = learner.check_piece(py, batch, range, &mut classes, known)?;
            drop(learner);
            self.learner.give_way(py);
            Ok(())
        });
        if checked.is_err() {
            self.learner.lock_for_repair(py)?.abandon(py, begun)?;
            return checked;
        }
        let done = in_pieces(py, batch.rows.len(), |range| {
            let mut learner = self.learner.lock(py)?;
            learner.fill(py, batch, &classes, range)?;
            work(&mut learner)?;
            drop(learner);
            self.learner.give_way(py);
            Ok(())
        });
        if done.is_err() {
            self.learner.lock_for_repair(py)?.forget_unreached(py)?;
        }
        done
    }
}
