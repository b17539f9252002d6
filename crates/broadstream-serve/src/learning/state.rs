//! A model that learns records: the state that the log and the snapshots describe.
//!
//! Nothing here knows files, threads or the clock. The same records give the same state, to the bit.

use broadstream::{
    Block, Certificate, Classifier, Error, OnlineBls, PreparedSample, Schema, Scores, arg_max,
    model_file::{self, ModelFile, Saved},
    stream::{JsonRows, LiveOptions, Place, RowEncoding, RowPurpose, StreamError, UnknownColumns},
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    ServeError,
    answers::{AnswerLimits, Answers},
    codec::{Decoder, Encoder},
    pending::{Fate, Lookup, Pending, PendingLimits},
    record::{Change, Label, LabelledRow, Prediction, Record},
};

/// The rules that a model keeps for as long as it exists. They are part of what a record means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StateRules {
    pub(crate) unknown: UnknownColumns,
    pub(crate) max_categories: usize,
    pub(crate) pending: PendingLimits,
    pub(crate) answers: AnswerLimits,
}

/// A model, what its rows and labels mean, and what it waits for.
pub(crate) struct State {
    pub(crate) model: OnlineBls,
    pub(crate) rows: JsonRows,
    pub(crate) pending: Pending,
    rules: StateRules,
    /// The sequence number of the last record that was applied.
    pub(crate) version: u64,
    /// How many rows were learned, those that were unlearned later included.
    pub(crate) rows_learned: u64,
    /// What other programs noted beside the model.
    notes: Map<String, Value>,
    block: Block,
}

/// What became of a record that was applied.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    /// Rows were learned. With it comes what was predicted for each just before.
    Rows(Vec<RowOutcome>),
    /// Predictions wait.
    Predictions,
    /// What became of each label.
    Labels(Vec<LabelOutcome>),
    /// Rows were unlearned: how many, how exact scores are now, and the condition number.
    Unlearned { rows: u64, error: f64, condition: f64 },
    /// The model has taken over another one, and has learned this many samples with it.
    Taken { learned: u64 },
}

/// What a model predicted for a row just before it learned it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct RowOutcome {
    pub(crate) class: usize,
    pub(crate) predicted: Option<usize>,
    pub(crate) probabilities: Vec<f64>,
    pub(crate) leverage: f64,
}

/// What became of a label.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum LabelOutcome {
    /// The row was learned.
    Learned {
        class: usize,
        predicted: Option<usize>,
        probabilities: Vec<f64>,
        /// How long the label took, in milliseconds.
        delay: u64,
    },
    /// The prediction was labelled before.
    Repeated,
    /// The time of the prediction was over.
    Expired,
    /// Newer predictions needed the place of this one.
    Evicted,
    /// The prediction is so old that nobody knows what became of it.
    Forgotten,
    /// There was no such prediction.
    Unknown,
    /// The label or its row cannot be learned. The prediction still waits.
    Refused(String),
}

impl State {
    /// The state that a model file describes, to which nothing was done yet.
    pub(crate) fn new(saved: Saved, rules: StateRules) -> Result<Self, ServeError> {
        let Saved { model, schema, encoding, notes, .. } = saved;
        check_labels(&schema, &model)?;
        let encoding = encoding.unwrap_or_else(|| RowEncoding::of_schema(&schema));
        Ok(State {
            rows: reader(&rules, schema, encoding)?,
            model,
            pending: Pending::new(rules.pending),
            rules,
            version: 0,
            rows_learned: 0,
            notes,
            block: Block::new(),
        })
    }

    /// Applies a record. One that is refused leaves no trace, except that its time has come.
    pub(crate) fn apply(&mut self, version: u64, record: Record) -> Result<Outcome, ServeError> {
        self.version = version;
        self.pending.expire(record.at);
        match record.change {
            Change::Rows(rows) => self.learn(&rows).map(Outcome::Rows),
            Change::Predictions(predictions) => {
                for prediction in predictions {
                    self.pending.add(record.at, prediction);
                }
                Ok(Outcome::Predictions)
            }
            Change::Labels(labels) => {
                let outcomes = labels.iter().zip(1..);
                let outcomes = outcomes.map(|(label, row)| self.label(record.at, label, row));
                Ok(Outcome::Labels(outcomes.collect()))
            }
            Change::Unlearn(rows) => self.unlearn(&rows),
            Change::Merge(file) => self.merge(&file),
            Change::Replace(file) => self.replace(&file),
        }
    }

    /// Predicts and learns rows, all or none.
    fn learn(&mut self, rows: &[LabelledRow]) -> Result<Vec<RowOutcome>, ServeError> {
        let known = self.model.inputs();
        match self.learn_or_leave_traces(rows) {
            Ok(outcomes) => {
                self.rows.settle();
                self.rows_learned += rows.len() as u64;
                Ok(outcomes)
            }
            Err(error) => {
                self.model.withdraw_inputs(known);
                self.rows.undo();
                Err(error)
            }
        }
    }

    fn learn_or_leave_traces(
        &mut self,
        rows: &[LabelledRow],
    ) -> Result<Vec<RowOutcome>, ServeError> {
        self.block.clear();
        for (row, number) in rows.iter().zip(1..) {
            let place = Place::Row(number);
            let target = self.rows.schema().target().to_owned();
            let (sample, class) = self.rows.read(row.text.as_bytes(), place)?;
            let class = class.ok_or(StreamError::MissingLabel { place, column: target })?;
            self.block.push(sample, class, row.weight).map_err(|reason| in_row(number, reason))?;
        }
        self.declare_inputs()?;
        self.model.check_many(&self.block, self.model.classes())?;
        let (mut scores, mut leverages) = (Scores::new(), Vec::new());
        self.model.test_then_train_with_leverages(&self.block, &mut scores, &mut leverages)?;
        let rows = scores.iter().zip(leverages).enumerate();
        Ok(rows
            .map(|(i, (scores, leverage))| RowOutcome {
                class: self.block.class(i),
                predicted: arg_max(scores),
                probabilities: self.model.probabilities(scores),
                leverage,
            })
            .collect())
    }

    /// Learns the row of a prediction, now that its label is known.
    fn label(&mut self, at: u64, label: &Label, number: u64) -> LabelOutcome {
        let (prediction, made) = match self.pending.look_up(label.id) {
            Lookup::Waiting(prediction, made) => (prediction.clone(), made),
            Lookup::Gone(Fate::Labelled) => return LabelOutcome::Repeated,
            Lookup::Gone(Fate::Expired) => return LabelOutcome::Expired,
            Lookup::Gone(Fate::Evicted) => return LabelOutcome::Evicted,
            Lookup::Forgotten => return LabelOutcome::Forgotten,
            Lookup::Unknown => return LabelOutcome::Unknown,
        };
        let known = self.model.inputs();
        match self.learn_prediction(&prediction, label, Place::Row(number)) {
            Ok(class) => {
                self.rows.settle();
                self.rows_learned += 1;
                self.pending.remove(label.id, Fate::Labelled);
                LabelOutcome::Learned {
                    class,
                    predicted: prediction.class.map(|class| class as usize),
                    probabilities: prediction.probabilities,
                    delay: at.saturating_sub(made),
                }
            }
            Err(error) => {
                self.model.withdraw_inputs(known);
                self.rows.undo();
                LabelOutcome::Refused(error.to_string())
            }
        }
    }

    fn learn_prediction(
        &mut self,
        prediction: &Prediction,
        label: &Label,
        place: Place,
    ) -> Result<usize, ServeError> {
        let class = self.rows.class_of(&label.label, place)?;
        let missing =
            || StreamError::MissingLabel { place, column: self.rows.schema().target().to_owned() };
        let class = class.ok_or_else(missing)?;
        if let Some(prepared) = &prediction.prepared {
            // With the features that it had when it was predicted.
            let prepared = PreparedSample::from_bytes(prepared).map_err(Error::from)?;
            self.model.learn_prepared(&prepared, class, label.weight)?;
            return Ok(class);
        }
        // It had something that the model did not know, and so no features for that. It is learned as a row
        // that arrives now.
        self.block.clear();
        let sample = self.rows.read_inputs(prediction.row.as_bytes(), place)?;
        self.block.push(sample, class, label.weight)?;
        self.declare_inputs()?;
        self.model.check_many(&self.block, self.model.classes())?;
        self.model.learn_many(&self.block)?;
        Ok(class)
    }

    /// Takes rows out of the model again, all or none.
    fn unlearn(&mut self, rows: &[LabelledRow]) -> Result<Outcome, ServeError> {
        self.rows.set_purpose(RowPurpose::Unlearn);
        let block = self.read_known(rows);
        self.rows.set_purpose(RowPurpose::Learn);
        self.rows.undo();
        let Certificate { samples, error, condition } = self.model.unlearn_many(&block?)?;
        Ok(Outcome::Unlearned { rows: samples, error, condition })
    }

    /// Rows that have nothing that is new to the model: others cannot have been learned.
    fn read_known(&mut self, rows: &[LabelledRow]) -> Result<Block, ServeError> {
        let mut block = Block::new();
        for (row, number) in rows.iter().zip(1..) {
            let place = Place::Row(number);
            let target = self.rows.schema().target().to_owned();
            let (sample, class) = self.rows.read(row.text.as_bytes(), place)?;
            let class = class.ok_or(StreamError::MissingLabel { place, column: target })?;
            block.push(sample, class, row.weight).map_err(|reason| in_row(number, reason))?;
            let schema = self.rows.schema();
            let input = schema.inputs().get(self.model.inputs());
            let label = schema.labels().get(self.model.classes());
            if let Some(new) = input.map(|input| &input.name).or(label) {
                return Err(ServeError::Form {
                    place: place.to_string(),
                    rule: "one that the model has learned".to_owned(),
                    value: format!("'{new}', which the model does not know"),
                });
            }
        }
        Ok(block)
    }

    /// Adds what another model has learned. Classes are matched by label.
    fn merge(&mut self, file: &[u8]) -> Result<Outcome, ServeError> {
        let Saved { model, schema: theirs, encoding: other, .. } = read_file(file)?;
        check_labels(&theirs, &model)?;
        let mut schema = self.rows.schema().clone();
        if theirs.target() != schema.target() {
            return Err(ServeError::Form {
                place: "the target of the other model".to_owned(),
                rule: format!("'{}'", schema.target()),
                value: format!("'{}'", theirs.target()),
            });
        }
        let classes = theirs.labels().iter().take(model.classes());
        let classes: Vec<usize> = classes.map(|label| schema.class_of(label)).collect();
        let mut encoding = self.rows.encoding();
        encoding.merge(other.unwrap_or_else(|| RowEncoding::of_schema(&theirs)))?;
        // The model is merged as a copy, so that nothing can fail afterwards.
        let mut merged = self.model.clone();
        merged.merge(&model, &classes)?;
        for input in &merged.declared_inputs()[schema.inputs().len()..] {
            schema.push_input(&input.name, input.kind);
        }
        self.rows = reader(&self.rules, schema, encoding)?;
        self.model = merged;
        Ok(Outcome::Taken { learned: self.model.learned() })
    }

    /// Becomes the model of a file. What waits for labels goes on waiting.
    fn replace(&mut self, file: &[u8]) -> Result<Outcome, ServeError> {
        let other = State::new(read_file(file)?, self.rules.clone())?;
        (self.model, self.rows, self.notes) = (other.model, other.rows, other.notes);
        // Their features were those of another model.
        self.pending.forget_prepared();
        Ok(Outcome::Taken { learned: self.model.learned() })
    }

    /// Declares to the model what rows have brought.
    fn declare_inputs(&mut self) -> Result<(), Error> {
        let inputs = self.rows.schema().inputs().get(self.model.inputs()..).unwrap_or_default();
        self.model.declare_inputs(inputs)
    }

    /// The rows that were learned last.
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    /// Calls `write` with the model and the meaning of its rows as a model file.
    pub(crate) fn with_file<T>(&self, write: impl FnOnce(&ModelFile<'_>) -> T) -> T {
        let encoding = self.rows.encoding();
        write(&ModelFile {
            encoding: Some(&encoding),
            notes: Some(&self.notes),
            ..ModelFile::new(&self.model, self.rows.schema())
        })
    }

    /// Everything else: what waits for labels, and the answers to requests with a key.
    pub(crate) fn write(&self, answers: &Answers) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.version);
        to.number(self.rows_learned);
        self.pending.write(&mut to);
        answers.write(&mut to);
        to.0
    }

    /// Takes over what was written beside the model file that this state was made of, and returns the
    /// answers. `None` if these are not the bytes that were written.
    pub(crate) fn restore(&mut self, bytes: &[u8]) -> Option<Answers> {
        let mut from = Decoder(bytes);
        let (version, rows_learned) = (from.number()?, from.number()?);
        let pending = Pending::read(self.rules.pending, &mut from)?;
        let answers = Answers::read(self.rules.answers, &mut from)?;
        from.end()?;
        (self.version, self.rows_learned, self.pending) = (version, rows_learned, pending);
        Some(answers)
    }
}

/// The model of a file.
fn read_file(mut file: &[u8]) -> Result<Saved, ServeError> {
    Ok(model_file::read(&mut file)?)
}

/// Rows for a model.
fn reader(
    rules: &StateRules,
    schema: Schema,
    encoding: RowEncoding,
) -> Result<JsonRows, ServeError> {
    let options = LiveOptions {
        unknown: rules.unknown,
        max_categories: Some(rules.max_categories),
        ..LiveOptions::default()
    };
    Ok(JsonRows::new(options, schema, encoding)?)
}

/// Rows name their classes by label, so a model needs one for each class.
fn check_labels(schema: &Schema, model: &OnlineBls) -> Result<(), ServeError> {
    let (labels, classes) = (schema.labels().len(), model.classes());
    if labels >= classes {
        return Ok(());
    }
    Err(ServeError::Form {
        place: "the model file".to_owned(),
        rule: format!("one with a label for each of its {classes} classes"),
        value: format!("{labels} labels"),
    })
}

fn in_row(row: u64, reason: Error) -> Error {
    Error::Sample { sample: row, reason: Box::new(reason) }
}
