//! Lines of JSON as rows of an encoder.

use std::ops::Range;

use super::object::walk_object;
use crate::stream::{Cell, Place, RowEncoder, StreamError, cell::HeldCell, lines::Lines};

/// Which keys of an object are columns.
pub(in crate::stream) trait KeyRules {
    /// Whether everything under that key is passed over.
    fn drops(&self, key: &str) -> bool;

    /// Whether arrays are passed over rather than refused.
    fn ignores_arrays(&self) -> bool {
        false
    }

    /// The column of a key that the encoder does not know: a new one, or none if the key is ignored.
    fn unknown(
        &self,
        key: &str,
        place: Place,
        encoder: &mut RowEncoder,
    ) -> Result<Option<usize>, StreamError>;
}

/// The objects of a source, one per line.
pub(in crate::stream) struct Objects {
    lines: Lines,
    /// Where the current object lies, and its line.
    object: Range<usize>,
    line: u64,
    path: String,
    /// The label of the current object, which may stand before other cells.
    label: HeldCell,
}

impl Objects {
    /// The objects of `lines` from the next one on.
    pub(in crate::stream) fn of(lines: Lines) -> Self {
        Objects { lines, object: 0..0, line: 0, path: String::new(), label: HeldCell::default() }
    }

    /// Goes on to the next object and returns its line; `None` at the end.
    pub(in crate::stream) fn next(&mut self) -> Result<Option<u64>, StreamError> {
        if !self.find()? {
            return Ok(None);
        }
        self.lines.pass();
        Ok(Some(self.line))
    }

    /// Marks the next line and keeps what follows in memory, until the next mark.
    pub(in crate::stream) fn mark(&mut self) {
        self.lines.mark();
    }

    /// The bytes since the mark.
    pub(in crate::stream) fn since_mark(&self) -> &[u8] {
        self.lines.since_mark()
    }

    /// The keys of the next object, and its line.
    pub(super) fn first_keys(
        &mut self,
        keys: &impl KeyRules,
    ) -> Result<(u64, Vec<String>), StreamError> {
        if !self.find()? {
            return Err(StreamError::Empty);
        }
        let mut found = Vec::new();
        let text = self.lines.text(self.object.clone());
        let skips = |key: &str, array| keys.drops(key) || array && keys.ignores_arrays();
        walk_object(text, Place::Line(self.line), &mut self.path, skips, |key, _| {
            found.push(key.to_owned());
            Ok(())
        })?;
        Ok((self.line, found))
    }

    /// Passes the cells of the current object to `encoder` as a row, and returns the label.
    pub(in crate::stream) fn read(
        &mut self,
        encoder: &mut RowEncoder,
        keys: &impl KeyRules,
    ) -> Result<Cell<'_>, StreamError> {
        let Objects { lines, object, line, path, label } = self;
        read_object(lines.text(object.clone()), Place::Line(*line), encoder, keys, path, label)
    }

    /// Whether the next object, or the end, can be read without waiting for the source.
    pub(in crate::stream) fn is_ready(&mut self) -> bool {
        self.lines.is_row_ready(|line| !line.trim_ascii().is_empty())
    }

    /// Finds the next line that is not blank; `false` at the end.
    fn find(&mut self) -> Result<bool, StreamError> {
        if self.lines.line() == 1 {
            self.lines.skip_byte_order_mark()?;
        }
        while let Some(range) = self.lines.peek()? {
            if !self.lines.text(range.clone()).trim_ascii().is_empty() {
                (self.object, self.line) = (range, self.lines.line());
                return Ok(true);
            }
            self.lines.pass();
        }
        Ok(false)
    }
}

/// Passes the cells of one object to `encoder` as a row, and returns the label. `path` and `label` are
/// working memory.
pub(in crate::stream) fn read_object<'l>(
    text: &[u8],
    place: Place,
    encoder: &mut RowEncoder,
    keys: &impl KeyRules,
    path: &mut String,
    label: &'l mut HeldCell,
) -> Result<Cell<'l>, StreamError> {
    encoder.begin(place);
    label.clear();
    // Objects mostly have their keys in the same order, so the next column is tried first.
    let mut expected = 0;
    let skips = |key: &str, array| keys.drops(key) || array && keys.ignores_arrays();
    walk_object(text, place, path, skips, |key, cell| {
        if keys.drops(key) {
            return Ok(());
        }
        if key == encoder.schema().target() {
            let duplicate = || StreamError::DuplicateCell { place, column: key.to_owned() };
            return label.hold(cell).map_err(|()| duplicate());
        }
        let column = match encoder.find_column(key, expected) {
            Some(column) => column,
            None => match keys.unknown(key, place, encoder)? {
                Some(column) => column,
                None => return Ok(()),
            },
        };
        expected = column + 1;
        encoder.push(column, cell)
    })?;
    Ok(label.cell())
}
