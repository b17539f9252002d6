//! One cell encoded as the value of an input.

use super::{Change, Coding, LONGEST_TEXT, RowEncoder};
use crate::{
    data::InputKind,
    stream::{
        Categories, Cell, ColumnKind, Place, StreamError,
        cell::{Reading, excerpt, kind_of, read_flag, read_text, spellings},
        decimal::Decimal,
    },
};

impl RowEncoder {
    /// The input and the value that a cell of column `k` stands for; `None` if the cell is missing, or if it
    /// stands for several, which are then in `several`.
    pub(super) fn encode_cell(
        &mut self,
        k: usize,
        cell: Cell<'_>,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        let number = match cell {
            Cell::Missing => return Ok(None),
            Cell::Number(value) if value.is_nan() => return Ok(None),
            Cell::Number(value) if value.is_infinite() => {
                let (column, cell) = (self.columns[k].name.clone(), value.to_string());
                return Err(StreamError::NotFinite { place: self.place, column, cell });
            }
            Cell::Number(value) => value,
            Cell::Integer(value) => value as f64,
            Cell::Flag(value) => f64::from(u8::from(value)),
            // A typed text is a category even if it looks like a number. Only in a column that is
            // numeric already does it have to be read as one.
            Cell::Text(text)
                if !matches!(self.codings[k], Coding::Numeric { .. } | Coding::Moment { .. }) =>
            {
                let text = text.trim_ascii();
                if text.is_empty() {
                    return Ok(None);
                }
                return self.encode_text(k, text, Source::Typed);
            }
            Cell::Text(text) => return self.encode_present(k, text, Source::Typed),
            Cell::Raw(text) => return self.encode_present(k, text, Source::Raw),
        };
        self.encode_number(k, number, cell)
    }

    /// Same as [`encode_text`](Self::encode_text), but `None` if the text spells a missing value.
    fn encode_present(
        &mut self,
        k: usize,
        text: &[u8],
        source: Source,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        match read_text(text) {
            Some(text) => self.encode_text(k, text, source),
            None => Ok(None),
        }
    }

    /// Same as [`encode_text`](Self::encode_text) for a cell that is a number rather than a text.
    pub(super) fn encode_number(
        &mut self,
        k: usize,
        number: f64,
        cell: Cell<'_>,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        if let Coding::Undecided = self.codings[k] {
            self.decide(k, ColumnKind::Numeric)?;
        }
        if let Coding::Numeric { input } = self.codings[k] {
            return Ok(Some((input, number)));
        }
        if let Coding::Moment { .. } = self.codings[k] {
            return self.encode_moment_number(k, number);
        }
        // In a categorical column the number is the category that it prints as. An integer is printed
        // from the cell, since not every one survives the conversion to a float.
        let text = match cell {
            Cell::Flag(value) => spellings(value)[0].to_owned(),
            Cell::Integer(value) => value.to_string(),
            _ => number.to_string(),
        };
        self.encode_text(k, text.as_bytes(), Source::Typed)
    }

    /// Same as [`encode_cell`](Self::encode_cell) for the text of a cell that is not missing.
    pub(super) fn encode_text(
        &mut self,
        k: usize,
        text: &[u8],
        source: Source,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        if let Coding::Undecided = self.codings[k] {
            let kind = match source {
                _ if self.begins_moments(k, text) => ColumnKind::Moment,
                Source::Raw => kind_of(text, self.decimal),
                Source::Typed => ColumnKind::Categorical,
            };
            self.decide(k, kind)?;
        }
        Ok(match self.codings[k] {
            Coding::Numeric { input } => Some((input, self.number(k, text, source)?)),
            Coding::Codes { input } => Some((input, f64::from(self.category(k, text)?))),
            Coding::OneHot | Coding::Undecided => Some((self.category(k, text)?, 1.0)),
            Coding::Text => {
                self.encode_words(k, text)?;
                None
            }
            Coding::Moment { .. } => return self.encode_moment_text(k, text, source),
        })
    }

    /// How a column of that name and kind is encoded. Declares its input unless it has one per category.
    pub(super) fn coding(
        &mut self,
        column: &str,
        kind: ColumnKind,
        place: Place,
    ) -> Result<Coding, StreamError> {
        match (kind, self.categories) {
            (ColumnKind::Categorical, Categories::OneHot) => return Ok(Coding::OneHot),
            (ColumnKind::Text, _) => return Ok(Coding::Text),
            _ => {}
        }
        let input = self.declare(column, column.to_owned(), InputKind::Numeric, place)?;
        Ok(match kind {
            ColumnKind::Numeric => Coding::Numeric { input },
            ColumnKind::Moment => Coding::Moment { input, epoch: self.has_epochs(column) },
            _ => Coding::Codes { input },
        })
    }

    /// Fixes the kind of column `k`, which was undecided.
    fn decide(&mut self, k: usize, kind: ColumnKind) -> Result<(), StreamError> {
        let name = self.columns[k].name.clone();
        self.codings[k] = self.coding(&name, kind, self.place)?;
        self.undo_log.push(Change::Decision { column: k });
        Ok(())
    }

    pub(super) fn number(&self, k: usize, text: &[u8], source: Source) -> Result<f64, StreamError> {
        let decimal = match source {
            Source::Raw => self.decimal,
            Source::Typed => Decimal::Point,
        };
        let reading = decimal.read_number(text);
        if let Reading::Number(value) = reading {
            return Ok(value);
        }
        if let Some(value) = read_flag(text).filter(|_| self.reads_flags) {
            return Ok(f64::from(u8::from(value)));
        }
        let (place, column, cell) = (self.place, self.columns[k].name.clone(), excerpt(text));
        Err(match reading {
            Reading::NotFinite => StreamError::NotFinite { place, column, cell },
            _ if source == Source::Raw
                && matches!(decimal.other().read_number(text), Reading::Number(_)) =>
            {
                StreamError::DecimalSign { place, column, expected: decimal.name(), cell }
            }
            _ => StreamError::NotANumber { place, column, cell },
        })
    }

    /// Declares an input that a column needs.
    pub(super) fn declare(
        &mut self,
        column: &str,
        name: String,
        kind: InputKind,
        place: Place,
    ) -> Result<u32, StreamError> {
        if !self.input_names.insert(name.clone()) {
            let column = column.to_owned();
            return Err(StreamError::InputNameTaken { place, column, name });
        }
        self.undo_log.push(Change::Input);
        Ok(self.schema.push_input(name, kind) as u32)
    }
}

/// What is known about the text of a cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Nothing: it may be a number as the file writes them.
    Raw,
    /// That it is a text. In a column of numbers it is read as one with a decimal point.
    Typed,
}

/// Categories and labels are kept for good, so their length is bounded.
pub(super) fn check_length(text: &[u8], place: Place, column: &str) -> Result<(), StreamError> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    let (column, limit) = (column.to_owned(), LONGEST_TEXT);
    Err(StreamError::CellTooLong { place, column, limit })
}

pub(super) fn utf8(text: &[u8], place: Place) -> Result<&str, StreamError> {
    std::str::from_utf8(text).map_err(|_| StreamError::NotText { place, reason: "invalid UTF-8" })
}
