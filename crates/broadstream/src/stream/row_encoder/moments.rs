//! The inputs of a date or a time.
//!
//! A column `when` of moments has the days since 1970, and the columns `when.hour` and `when.weekday` have the
//! rest. These come after all others when the first moment does, and are columns like any: rows may also have
//! them instead of a text, as those of the Python package do. So the encoding that is kept beside a model needs
//! nothing else, and a column of numbers beside which there is a `.weekday` is one of moments.

use super::{Coding, RowEncoder, cells::Source};
use crate::stream::{
    Cell, ColumnKind, StreamError,
    cell::excerpt,
    moments::{Moment, MomentForm, PARTS},
};

impl RowEncoder {
    /// Whether a text that is the first cell of column `k` makes it a column of moments.
    pub(super) fn begins_moments(&self, k: usize, text: &[u8]) -> bool {
        let name = &self.columns[k].name;
        Moment::read(text).is_some()
            && PARTS.iter().all(|part| !self.positions.contains_key(&format!("{name}{part}")))
    }

    /// Whether the numbers of a column of moments are seconds since 1970.
    pub(super) fn has_epochs(&self, column: &str) -> bool {
        !self.reads_days && self.dates.iter().any(|name| name == column)
    }

    /// The input and the value of a text in column `k`, which holds moments.
    pub(super) fn encode_moment_text(
        &mut self,
        k: usize,
        text: &[u8],
        source: Source,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        match Moment::read(text) {
            Some(moment) => self.encode_moment(k, moment, text),
            None => match self.number(k, text, source) {
                Ok(number) => self.encode_moment_number(k, number),
                Err(StreamError::NotANumber { .. }) => Err(self.not_a_moment(k, text)),
                Err(error) => Err(error),
            },
        }
    }

    /// The same for a number: the seconds since 1970 if the column was declared to hold dates, and the days
    /// otherwise, whose other parts have cells of their own.
    pub(super) fn encode_moment_number(
        &mut self,
        k: usize,
        number: f64,
    ) -> Result<Option<(u32, f64)>, StreamError> {
        let Coding::Moment { input, epoch } = self.codings[k] else { return Ok(None) };
        if !epoch {
            return Ok(Some((input, number)));
        }
        match Moment::of_epoch(number) {
            Some(moment) => self.encode_moment(k, moment, number.to_string().as_bytes()),
            None => Err(self.not_a_moment(k, number.to_string().as_bytes())),
        }
    }

    fn encode_moment(
        &mut self,
        k: usize,
        moment: Moment,
        text: &[u8],
    ) -> Result<Option<(u32, f64)>, StreamError> {
        let Coding::Moment { input, .. } = self.codings[k] else { return Ok(None) };
        let [hour, weekday] =
            PARTS.map(|part| self.column(&format!("{}{part}", self.columns[k].name)));
        // The first moment says whether the column has hours.
        if weekday.is_some() && hour.is_some() != (moment.form != MomentForm::Date) {
            return Err(self.not_a_moment(k, text));
        }
        if let Some(value) = moment.hour {
            let k = self.part(k, hour, PARTS[0], ColumnKind::Numeric)?;
            let cell = self.encode_number(k, value, Cell::Number(value))?;
            self.several.extend(cell);
        }
        let k = self.part(k, weekday, PARTS[1], ColumnKind::Categorical)?;
        let cell = self.encode_text(k, moment.weekday.as_bytes(), Source::Typed)?;
        self.several.extend(cell);
        Ok(Some((input, moment.days)))
    }

    /// Adds the columns of the parts of the moments in column `k` before there is one.
    pub(in crate::stream) fn add_parts(
        &mut self,
        k: usize,
        form: MomentForm,
    ) -> Result<(), StreamError> {
        if form != MomentForm::Date {
            self.add_part(k, PARTS[0], ColumnKind::Numeric)?;
        }
        self.add_part(k, PARTS[1], ColumnKind::Categorical)?;
        Ok(())
    }

    fn add_part(&mut self, k: usize, part: &str, kind: ColumnKind) -> Result<usize, StreamError> {
        let name = format!("{}{part}", self.columns[k].name);
        let position = self.add_column(name, Some(kind), self.place)?;
        self.columns[position].part = true;
        Ok(position)
    }

    /// The column of a part of the moments in column `k`, which has no cell in this row yet.
    fn part(
        &mut self,
        k: usize,
        known: Option<usize>,
        part: &str,
        kind: ColumnKind,
    ) -> Result<usize, StreamError> {
        let position = match known {
            Some(position) => position,
            None => self.add_part(k, part, kind)?,
        };
        let column = &mut self.columns[position];
        if std::mem::replace(&mut column.row, self.row) == self.row {
            let (place, column) = (self.place, column.name.clone());
            return Err(StreamError::DuplicateCell { place, column });
        }
        Ok(position)
    }

    fn not_a_moment(&self, k: usize, text: &[u8]) -> StreamError {
        let column = self.columns[k].name.clone();
        let [hour, weekday] = PARTS.map(|part| self.column(&format!("{column}{part}")).is_some());
        let expected = match (weekday, hour) {
            (false, _) => "a date such as 2024-02-29 or 2024-02-29T17:03:59Z",
            (true, false) => "a date such as 2024-02-29",
            (true, true) => "a date and a time such as 2024-02-29T17:03:59Z",
        };
        StreamError::NotADate { place: self.place, column, expected, cell: excerpt(text) }
    }
}
