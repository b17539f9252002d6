//! Lines of JSON turned into rows of an encoder.

use std::io::Read;

use super::object::walk_object;
use crate::stream::{Place, RowEncoder, StreamError, cell::HeldCell, lines::Lines};

/// What is done about keys that an encoder does not know.
pub(in crate::stream) trait UnknownKeys {
    /// Whether to pass over an object or an array of that key.
    fn skips(&self, key: &str, array: bool) -> bool;

    /// The column of a value of that key, which may be a new one or none.
    fn column(
        &self,
        key: &str,
        place: Place,
        encoder: &mut RowEncoder,
    ) -> Result<Option<usize>, StreamError>;
}

/// The objects of a source, one per line.
pub(in crate::stream) struct Objects {
    lines: Lines,
    path: String,
    label: HeldCell,
}

impl Objects {
    pub(super) fn new(source: Box<dyn Read + Send>) -> Self {
        Objects::of(Lines::new(source))
    }

    /// The objects of `lines` from the next one on.
    pub(in crate::stream) fn of(lines: Lines) -> Self {
        Objects { lines, path: String::new(), label: HeldCell::default() }
    }

    /// The keys of the next object, which will come again.
    pub(super) fn first_keys(
        &mut self,
        unknown: &impl UnknownKeys,
    ) -> Result<(u64, Vec<String>), StreamError> {
        let (line, text) = self.peek()?.ok_or(StreamError::Empty)?;
        let mut keys = Vec::new();
        let skips = |key: &str, array| unknown.skips(key, array);
        walk_object(text, line, &mut String::new(), skips, |key, _| {
            keys.push(key.to_owned());
            Ok(())
        })?;
        Ok((line, keys))
    }

    /// Gives the cells of the next object to `encoder` as a row that is begun, and returns its line;
    /// `None` at the end.
    ///
    /// The first error is one of the source, which is at its end then; the second one of the object.
    pub(in crate::stream) fn read(
        &mut self,
        encoder: &mut RowEncoder,
        unknown: &impl UnknownKeys,
    ) -> Result<Option<(u64, Result<(), StreamError>)>, StreamError> {
        if self.peek()?.is_none() {
            return Ok(None);
        }
        let line = self.lines.line();
        let range = self.lines.peek()?.unwrap_or_default();
        self.lines.pass();
        let Objects { lines, path, label } = self;
        let place = Place::Line(line);
        encoder.begin(place);
        label.clear();
        // Objects mostly have their keys in the same order.
        let mut expected = 0;
        let skips = |key: &str, array| unknown.skips(key, array);
        let walked = walk_object(lines.text(range), line, path, skips, |key, cell| {
            if key == encoder.schema().target() {
                return label
                    .hold(cell)
                    .map_err(|()| StreamError::DuplicateCell { place, column: key.to_owned() });
            }
            let column = match encoder.find_column(key, expected) {
                Some(column) => Some(column),
                None => unknown.column(key, place, encoder)?,
            };
            match column {
                Some(column) => {
                    expected = column + 1;
                    encoder.push(column, cell)
                }
                None => Ok(()),
            }
        });
        Ok(Some((line, walked)))
    }

    /// The label of the object read last.
    pub(in crate::stream) fn label(&self) -> &HeldCell {
        &self.label
    }

    /// Whether the next object can be had without waiting for the source.
    pub(in crate::stream) fn is_ready(&mut self) -> bool {
        while let Some(range) = self.lines.ready() {
            if !self.lines.text(range).trim_ascii().is_empty() {
                return true;
            }
            self.lines.pass();
        }
        self.lines.has_ended()
    }

    /// The next line that is not blank, and its number.
    fn peek(&mut self) -> Result<Option<(u64, &[u8])>, StreamError> {
        loop {
            if self.lines.line() == 1 {
                self.lines.skip_byte_order_mark()?;
            }
            let Some(range) = self.lines.peek()? else { return Ok(None) };
            if !self.lines.text(range.clone()).trim_ascii().is_empty() {
                return Ok(Some((self.lines.line(), self.lines.text(range))));
            }
            self.lines.pass();
        }
    }
}
