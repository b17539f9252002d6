//! Which names the columns of live rows may have.

use std::collections::HashSet;

use super::{LiveOptions, Unknown};
use crate::stream::{
    ColumnCoding, Place, RowEncoder, RowEncoding, StreamError, columns::list, jsonl::Keys,
};

/// The names that a model knows, and what is done about others.
pub(super) struct LiveKeys {
    /// What is passed over: by the options, or already when the model was trained.
    dropped: HashSet<String>,
    known: HashSet<String>,
    unknown: Unknown,
    /// The columns for a message.
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

    /// Whether a column of that name needs no decision.
    pub(super) fn knows(&self, name: &str) -> bool {
        self.known.contains(name) || self.dropped.contains(name)
    }
}

impl Keys for LiveKeys {
    fn drops(&self, key: &str) -> bool {
        self.dropped.contains(key)
    }

    fn ignores_arrays(&self) -> bool {
        self.unknown == Unknown::Ignore
    }

    fn unknown(
        &self,
        key: &str,
        place: Place,
        encoder: &mut RowEncoder,
    ) -> Result<Option<usize>, StreamError> {
        match self.unknown {
            Unknown::Refuse => Err(StreamError::UnfamiliarColumn {
                place,
                column: key.to_owned(),
                known: self.columns.clone(),
            }),
            Unknown::Ignore => Ok(None),
            Unknown::Learn => encoder.add_column(key, None, place).map(Some),
        }
    }
}
