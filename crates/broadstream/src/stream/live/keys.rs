//! Which columns live rows may have.

use std::collections::HashSet;

use super::{LiveOptions, UnknownColumns};
use crate::stream::{
    ColumnCoding, Place, RowEncoder, RowEncoding, StreamError, column_roles::list, jsonl::KeyRules,
};

/// The columns that a model knows, and what happens to others.
#[derive(Clone, Debug)]
pub(super) struct LiveKeys {
    /// Columns to pass over, because the options say so or because they were left out in training.
    dropped: HashSet<String>,
    known: HashSet<String>,
    unknown: UnknownColumns,
    /// The columns of the model, for a message.
    columns: String,
}

impl LiveKeys {
    pub(super) fn new(encoding: &RowEncoding, options: &LiveOptions) -> Self {
        let left_out = |coding: &ColumnCoding| *coding == ColumnCoding::LeftOut;
        let (left_out, learned): (Vec<_>, Vec<_>) =
            encoding.columns.iter().partition(|column| left_out(&column.coding));
        let left_out = left_out.into_iter().map(|column| column.name.clone());
        let learned: Vec<String> = learned.into_iter().map(|column| column.name.clone()).collect();
        LiveKeys {
            dropped: left_out.chain(options.drop.iter().cloned()).collect(),
            columns: list(&learned),
            known: learned.into_iter().chain([encoding.target.clone()]).collect(),
            unknown: options.unknown,
        }
    }

    /// Whether a column of that name is known, as one to read or to pass over.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.known.contains(name) || self.dropped.contains(name)
    }
}

impl KeyRules for LiveKeys {
    fn drops(&self, key: &str) -> bool {
        self.dropped.contains(key)
    }

    fn ignores_arrays(&self) -> bool {
        self.unknown == UnknownColumns::Ignore
    }

    fn unknown(
        &self,
        key: &str,
        place: Place,
        encoder: &mut RowEncoder,
    ) -> Result<Option<usize>, StreamError> {
        match self.unknown {
            UnknownColumns::Refuse => Err(StreamError::UnfamiliarColumn {
                place,
                column: key.to_owned(),
                known: self.columns.clone(),
            }),
            UnknownColumns::Ignore => Ok(None),
            UnknownColumns::Learn => encoder.add_column(key, None, place).map(Some),
        }
    }
}
