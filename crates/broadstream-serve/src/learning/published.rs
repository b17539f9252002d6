//! What readers see: a model as it was after some record, which never changes.
//!
//! Readers share it and never wait for the one who learns. It is replaced as a whole. Everything that depends
//! on how the library publishes a model is in this file.

use std::sync::{Mutex, OnceLock, PoisonError};

use broadstream::{
    Block, Classifier, Error, Member, OnlineBls, OnlineBlsConfig, Predictor, Reason, Sample,
    Schema, arg_max,
    stream::{JsonRows, Place},
};

use super::{ServeError, state::State};

/// The most readers of rows that are kept for the next requests.
const MOST_READERS: usize = 16;

/// A model that does not change.
pub(crate) struct Published {
    model: OnlineBls,
    /// What predictions are explained from, once that is asked for.
    predictor: OnceLock<Predictor>,
    /// What rows mean, and copies of it that are at work or waiting for it. Reading a row may note what is
    /// new in it, which is undone before the copy is used again.
    rows: JsonRows,
    readers: Mutex<Vec<JsonRows>>,
    pub(crate) version: u64,
    pub(crate) rows_learned: u64,
    pub(crate) pending: usize,
}

/// What a model predicts for a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RowPrediction {
    pub(crate) class: Option<usize>,
    pub(crate) probabilities: Vec<f64>,
    pub(crate) leverage: f64,
    /// What is needed to learn the row later with the features that it has now; `None` if it has something
    /// that the model does not know.
    pub(crate) prepared: Option<Box<[u8]>>,
    /// The inputs present and their values.
    pub(crate) inputs: Vec<(usize, f64)>,
}

/// What is wanted besides the prediction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// What is needed to learn the row later.
    pub(crate) prepared: bool,
}

impl Published {
    /// The model of a state as it is now.
    pub(crate) fn of(state: &State) -> Self {
        Published {
            model: state.model.clone(),
            predictor: OnceLock::new(),
            rows: state.rows.clone(),
            readers: Mutex::default(),
            version: state.version,
            rows_learned: state.rows_learned,
            pending: state.pending.len(),
        }
    }

    /// Predicts rows, each the text of a JSON object. Labels are passed over.
    pub(crate) fn predict<'r>(
        &self,
        rows: impl IntoIterator<Item = &'r str>,
        wanted: Wanted,
    ) -> Result<Vec<RowPrediction>, ServeError> {
        let mut reader = self.reader();
        let predicted = self.predict_with(&mut reader, rows, wanted);
        self.put_back(reader);
        predicted
    }

    fn predict_with<'r>(
        &self,
        reader: &mut JsonRows,
        rows: impl IntoIterator<Item = &'r str>,
        wanted: Wanted,
    ) -> Result<Vec<RowPrediction>, ServeError> {
        let known = self.model.inputs();
        let mut block = Block::new();
        let mut is_known = Vec::new();
        for (row, number) in rows.into_iter().zip(1..) {
            let sample = reader.read_inputs(row.as_bytes(), Place::Row(number))?;
            let in_row = |reason| Error::Sample { sample: number, reason: Box::new(reason) };
            // What the model does not know has no weights yet, and no part in the prediction.
            match known_part(sample, known) {
                None => block.push(sample, 0, 1.0).map_err(in_row)?,
                Some((inputs, values)) => {
                    let sample = Sample::sparse(&inputs, &values).map_err(in_row)?;
                    block.push(sample, 0, 1.0).map_err(in_row)?;
                }
            }
            is_known.push(reader.schema().inputs().len() == known);
            reader.undo();
        }
        let (scores, leverages) = self.model.scores_many(&block)?;
        let mut predictions = Vec::with_capacity(block.len());
        for (i, (scores, leverage)) in scores.iter().zip(leverages).enumerate() {
            let prepared = match wanted.prepared && is_known[i] {
                true => Some(self.model.prepare(block.sample(i))?.to_bytes().into()),
                false => None,
            };
            predictions.push(RowPrediction {
                class: arg_max(scores),
                probabilities: self.model.probabilities(scores),
                leverage,
                prepared,
                inputs: block.sample(i).iter().collect(),
            });
        }
        Ok(predictions)
    }

    /// What speaks for the prediction of a row: how the probability of its class changes when a column is
    /// left out. Of the columns with the largest changes, at most `most` are returned.
    pub(crate) fn explain(
        &self,
        prediction: &RowPrediction,
        most: usize,
    ) -> Result<Vec<Reason>, ServeError> {
        let Some(class) = prediction.class else { return Ok(Vec::new()) };
        let inputs = prediction.inputs.iter().map(|(input, value)| (*input as u32, *value));
        let (inputs, values): (Vec<u32>, Vec<f64>) = inputs.unzip();
        let predictor = self.predictor.get_or_init(|| self.model.predictor());
        let explanation = predictor.explain_class(Sample::sparse(&inputs, &values)?, class)?;
        let mut reasons = explanation.reasons;
        reasons.truncate(most);
        Ok(reasons)
    }

    /// The inputs and labels.
    pub(crate) fn schema(&self) -> &Schema {
        self.rows.schema()
    }

    /// The columns of rows and what they become.
    pub(crate) fn encoding(&self) -> broadstream::stream::RowEncoding {
        self.rows.encoding()
    }

    pub(crate) fn config(&self) -> &OnlineBlsConfig {
        self.model.config()
    }

    /// The model itself, for what is asked rarely.
    pub(crate) fn model(&self) -> &OnlineBls {
        &self.model
    }

    pub(crate) fn learned(&self) -> u64 {
        self.model.learned()
    }

    pub(crate) fn members(&self) -> Vec<Member> {
        self.model.members()
    }

    pub(crate) fn restarts(&self) -> &[u64] {
        self.model.restarts()
    }

    fn reader(&self) -> JsonRows {
        let reader = self.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        reader.unwrap_or_else(|| self.rows.clone())
    }

    fn put_back(&self, mut reader: JsonRows) {
        reader.undo();
        let mut readers = self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if readers.len() < MOST_READERS {
            readers.push(reader);
        }
    }
}

/// The inputs of a sample that a model knows, if it has others too.
fn known_part(sample: Sample<'_>, known: usize) -> Option<(Vec<u32>, Vec<f64>)> {
    let is_known = |(input, _): &(usize, f64)| *input < known;
    if sample.iter().all(|input| is_known(&input)) {
        return None;
    }
    Some(sample.iter().filter(is_known).map(|(input, value)| (input as u32, value)).unzip())
}
