//! The input, or the code, of a category.
//!
//! A category keeps what it was given. A new one is given its own if the column has room for it, and otherwise
//! shares one with other [rare categories](crate::stream::RareCategories). Whether it shares depends only on
//! the rows that were learned before, and on its own.

use super::{
    Change, Coding, ColumnState, RowEncoder, RowPurpose,
    cells::{check_length, utf8},
};
use crate::{
    data::InputKind,
    stream::{
        Place, RareCategories, StreamError,
        cell::{excerpt, read_flag, spellings},
        rare_categories::{category_hash, shared_name},
    },
};

impl RowEncoder {
    /// The input or code of a category of column `k`.
    pub(super) fn category(&mut self, k: usize, text: &[u8]) -> Result<u32, StreamError> {
        let Some(number) = self.columns[k].category(text) else {
            return self.unknown_category(k, text);
        };
        if self.purpose == RowPurpose::Unlearn
            && let Some(rare) = &self.columns[k].rare
            && rare.may_have_shared(hash(text))
        {
            let (column, cell) = (self.columns[k].name.clone(), excerpt(text));
            return Err(StreamError::SharedBefore { place: self.place, column, cell });
        }
        Ok(number)
    }

    /// Same as [`category`](Self::category) for one that the column does not know.
    fn unknown_category(&mut self, k: usize, text: &[u8]) -> Result<u32, StreamError> {
        let name = category_name(text, self.place, &self.columns[k].name)?;
        let column = &mut self.columns[k];
        if column.rare.is_none() && column.own < self.limits.first {
            return self.new_category(k, name, true);
        }
        let hash = hash(text);
        let mut is_frequent = false;
        if self.purpose == RowPurpose::Learn {
            if column.rare.is_none() {
                self.undo_log.push(Change::Rare { column: k });
            }
            let rare =
                column.rare.get_or_insert_with(|| Box::new(RareCategories::new(self.limits)));
            let (count, frequent) = rare.count(hash);
            is_frequent = frequent && column.own < self.limits.own;
            if is_frequent {
                rare.promote(hash);
            }
            self.undo_log.push(Change::Count { column: k, hash, count });
        }
        if is_frequent {
            return self.new_category(k, name, true);
        }
        let shared = column.rare.as_ref().map_or(self.limits.shared(), |rare| rare.shared());
        let shared = shared_name(hash, shared);
        match column.categories.get(shared.as_bytes()) {
            Some(number) => Ok(*number),
            None => self.new_category(k, &shared, false),
        }
    }

    /// The input or code of a category that is new in column `k`. `own` is whether it has it alone.
    fn new_category(&mut self, k: usize, name: &str, own: bool) -> Result<u32, StreamError> {
        let number = match self.codings[k] {
            Coding::Codes { .. } => self.columns[k].categories.len() as u32,
            _ => {
                let column = self.columns[k].name.clone();
                let input = format!("{column}={name}");
                self.declare(&column, input, InputKind::Indicator, self.place)?
            }
        };
        // What rows bring that are only predicted takes no room from others.
        let own = own && self.purpose == RowPurpose::Learn;
        let column = &mut self.columns[k];
        column.categories.insert(name.as_bytes().into(), number);
        column.own += usize::from(own);
        self.undo_log.push(Change::Category { column: k, number, own });
        Ok(number)
    }
}

impl ColumnState {
    /// The input or code of a category, if it is known. The spellings of a truth value are one category, so
    /// that a model that was trained on a CSV file with `True` understands `true` in JSON.
    fn category(&self, text: &[u8]) -> Option<u32> {
        let known = |text: &[u8]| self.categories.get(text).copied();
        known(text).or_else(|| {
            let spelt = spellings(read_flag(text)?);
            spelt.iter().find_map(|spelling| known(spelling.as_bytes()))
        })
    }
}

/// The hash of a category, the same for all spellings of a truth value.
fn hash(text: &[u8]) -> u64 {
    match read_flag(text) {
        Some(value) => category_hash(spellings(value)[0].as_bytes()),
        None => category_hash(text),
    }
}

/// The text of a new category.
fn category_name<'t>(text: &'t [u8], place: Place, column: &str) -> Result<&'t str, StreamError> {
    check_length(text, place, column)?;
    utf8(text, place)
}
