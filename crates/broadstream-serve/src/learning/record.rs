//! What the log of a model says: everything that changes the model, as it was asked for.
//!
//! A record is written before it is applied, and applying it depends on nothing but the state before and the
//! record. So a record that was refused is refused again when the log is replayed, and leaves no trace then
//! either. That is why a record holds the time: what expires must not depend on the clock.

use std::fmt;

use twox_hash::XxHash64;

use super::codec::{Decoder, Encoder};

/// Something that changes a model.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    /// When it was received, in milliseconds since 1970.
    pub(crate) at: u64,
    pub(crate) key: Option<RequestKey>,
    pub(crate) change: Change,
}

/// What changes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    /// Rows with labels are predicted and learned, all or none.
    Rows(Vec<LabelledRow>),
    /// Rows were predicted, and wait for their labels.
    Predictions(Vec<Prediction>),
    /// Labels of rows that were predicted.
    Labels(Vec<Label>),
    /// Rows with labels that were learned are unlearned, all or none.
    Unlearn(Vec<LabelledRow>),
    /// What the model of a model file has learned is added.
    Merge(Box<[u8]>),
    /// The model becomes that of a model file.
    Replace(Box<[u8]>),
}

/// An idempotency key, and the hash of the request that came with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestKey {
    pub(crate) key: String,
    pub(crate) request: u64,
}

/// The text of a row as a JSON object, with its label, and its weight.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LabelledRow {
    pub(crate) text: Box<str>,
    pub(crate) weight: f64,
}

/// A prediction that was given.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Prediction {
    pub(crate) id: u64,
    /// The text of the row as a JSON object.
    pub(crate) row: Box<str>,
    /// The bytes of the prepared sample, unless the row has something that the model did not know.
    pub(crate) prepared: Option<Box<[u8]>>,
    /// The class that was predicted, and the probability of each class known.
    pub(crate) class: Option<u64>,
    pub(crate) probabilities: Vec<f64>,
}

/// A label for a prediction.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Label {
    pub(crate) id: u64,
    /// The label as JSON: a string, a number or a boolean.
    pub(crate) label: Box<str>,
    pub(crate) weight: f64,
}

const ROWS: u8 = 1;
const PREDICTIONS: u8 = 2;
const LABELS: u8 = 3;
const UNLEARN: u8 = 4;
const MERGE: u8 = 5;
const REPLACE: u8 = 6;

impl Record {
    /// The kind of the entry in the log.
    pub(crate) fn kind(&self) -> u8 {
        match self.change {
            Change::Rows(_) => ROWS,
            Change::Predictions(_) => PREDICTIONS,
            Change::Labels(_) => LABELS,
            Change::Unlearn(_) => UNLEARN,
            Change::Merge(_) => MERGE,
            Change::Replace(_) => REPLACE,
        }
    }

    /// How many rows it has.
    pub(crate) fn rows(&self) -> usize {
        match &self.change {
            Change::Rows(rows) | Change::Unlearn(rows) => rows.len(),
            Change::Predictions(predictions) => predictions.len(),
            Change::Labels(labels) => labels.len(),
            Change::Merge(_) | Change::Replace(_) => 0,
        }
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut to = Encoder::default();
        to.number(self.at);
        to.optional(self.key.as_ref(), |to, RequestKey { key, request }| {
            to.text(key);
            to.number(*request);
        });
        if let Change::Merge(file) | Change::Replace(file) = &self.change {
            to.0.extend(file);
            return to.0;
        }
        to.number(self.rows() as u64);
        match &self.change {
            Change::Merge(_) | Change::Replace(_) => {}
            Change::Rows(rows) | Change::Unlearn(rows) => rows.iter().for_each(|row| {
                to.text(&row.text);
                to.float(row.weight);
            }),
            Change::Predictions(predictions) => {
                predictions.iter().for_each(|prediction| prediction.write(&mut to));
            }
            Change::Labels(labels) => labels.iter().for_each(|label| {
                to.number(label.id);
                to.text(&label.label);
                to.float(label.weight);
            }),
        }
        to.0
    }

    /// The record of an entry; an error names what is wrong with it.
    pub(crate) fn from_bytes(kind: u8, bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Decoder(bytes);
        let mut read = || {
            let at = from.number()?;
            let key = from.optional(|from| {
                Some(RequestKey { key: from.text()?.to_owned(), request: from.number()? })
            })?;
            let change = match kind {
                ROWS => Change::Rows(from.list(LabelledRow::read)?),
                UNLEARN => Change::Unlearn(from.list(LabelledRow::read)?),
                MERGE => Change::Merge(from.rest().into()),
                REPLACE => Change::Replace(from.rest().into()),
                PREDICTIONS => Change::Predictions(from.list(Prediction::read)?),
                LABELS => Change::Labels(from.list(|from| {
                    let (id, label) = (from.number()?, from.text()?.into());
                    Some(Label { id, label, weight: from.float()? })
                })?),
                _ => return None,
            };
            Some(Record { at, key, change })
        };
        let record = read().ok_or(Malformed { kind })?;
        from.end().ok_or(Malformed { kind })?;
        Ok(record)
    }
}

impl LabelledRow {
    fn read(from: &mut Decoder<'_>) -> Option<Self> {
        Some(LabelledRow { text: from.text()?.into(), weight: from.float()? })
    }
}

impl Prediction {
    pub(super) fn write(&self, to: &mut Encoder) {
        to.number(self.id);
        to.text(&self.row);
        to.optional(self.prepared.as_ref(), |to, prepared| to.bytes(prepared));
        to.optional(self.class, Encoder::number);
        to.number(self.probabilities.len() as u64);
        self.probabilities.iter().for_each(|probability| to.float(*probability));
    }

    pub(super) fn read(from: &mut Decoder<'_>) -> Option<Self> {
        Some(Prediction {
            id: from.number()?,
            row: from.text()?.into(),
            prepared: from.optional(|from| Some(from.bytes()?.into()))?,
            class: from.optional(Decoder::number)?,
            probabilities: from.list(Decoder::float)?,
        })
    }

    /// About how much memory it takes while it waits.
    pub(super) fn bytes(&self) -> usize {
        const OVERHEAD: usize = 160;
        let prepared = self.prepared.as_ref().map_or(0, |prepared| prepared.len());
        OVERHEAD + self.row.len() + prepared + 8 * self.probabilities.len()
    }
}

impl RequestKey {
    /// The key of a request that asks for `change`. Two requests with one key must ask for the same.
    pub(crate) fn new(key: String, change: &Change) -> Self {
        let record = Record { at: 0, key: None, change: change.clone() };
        RequestKey { key, request: XxHash64::oneshot(u64::from(record.kind()), &record.to_bytes()) }
    }
}

/// An entry of a log that no version so far has written.
#[derive(Debug)]
pub(crate) struct Malformed {
    kind: u8,
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "an entry of kind {} is malformed, or of a newer version", self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records() -> Vec<Record> {
        let row = |text: &str, weight| LabelledRow { text: text.into(), weight };
        let prediction = Prediction {
            id: 7,
            row: "{\"a\":1}".into(),
            prepared: Some([1, 2, 3].into()),
            class: Some(1),
            probabilities: vec![0.25, 0.75],
        };
        let unknown = Prediction {
            prepared: None,
            class: None,
            probabilities: Vec::new(),
            ..prediction.clone()
        };
        let label = Label { id: 7, label: "\"yes\"".into(), weight: 0.5 };
        [
            Change::Rows(vec![row("{\"a\": 1, \"y\": \"ü\"}", 1.0), row("{}", 2.0)]),
            Change::Rows(Vec::new()),
            Change::Predictions(vec![prediction, unknown]),
            Change::Labels(vec![label]),
            Change::Unlearn(vec![row("{\"y\": 1}", 0.5)]),
            Change::Merge([1, 2, 3].into()),
            Change::Replace([4, 5, 6].into()),
        ]
        .into_iter()
        .flat_map(|change| {
            let key = Some(RequestKey::new("k".to_owned(), &change));
            [Record { at: 5, key: None, change: change.clone() }, Record { at: 6, key, change }]
        })
        .collect()
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else_is() {
        for record in records() {
            let (kind, bytes) = (record.kind(), record.to_bytes());
            assert_eq!(Record::from_bytes(kind, &bytes).unwrap(), record);
            let is_file = matches!(record.change, Change::Merge(_) | Change::Replace(_));
            for end in 0..bytes.len() - if is_file { 3 } else { 0 } {
                assert!(Record::from_bytes(kind, &bytes[..end]).is_err());
            }
            let longer = Record::from_bytes(kind, &[&bytes[..], &[0]].concat());
            assert!(longer.is_err() || is_file && longer.unwrap() != record);
            assert!(Record::from_bytes(9, &bytes).is_err());
        }
    }

    #[test]
    fn a_key_belongs_to_one_request() {
        let key = |text: &str| {
            let row = LabelledRow { text: text.into(), weight: 1.0 };
            RequestKey::new("k".to_owned(), &Change::Rows(vec![row]))
        };
        assert_eq!(key("{}"), key("{}"));
        assert_ne!(key("{}"), key("{ }"));
        let none = |change| RequestKey::new("k".to_owned(), &change).request;
        assert_ne!(none(Change::Rows(Vec::new())), none(Change::Labels(Vec::new())));
    }
}
