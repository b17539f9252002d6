//! Which cell of a CSV row belongs to which column of the model.

use super::{LiveOptions, keys::LiveKeys};
use crate::stream::{
    RowEncoder, RowEncoding, StreamError,
    cell::{Reading, read_number},
    column_roles::list,
    csv::{Record, names_in, numbered, quote_parser},
    decimal::is_number,
    jsonl::KeyRules,
};

/// What a cell of a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slot {
    Column(usize),
    Target,
    Skipped,
}

/// The columns that a model was trained on, which are looked for in rows.
pub(super) struct Layout<'a> {
    encoding: &'a RowEncoding,
    options: &'a LiveOptions,
    keys: &'a LiveKeys,
    /// The names of all columns in their order, with the target.
    names: Vec<String>,
    /// Whether the columns are named by their positions only. The cells of a row of integers would
    /// then all look like names.
    numbered: bool,
}

impl<'a> Layout<'a> {
    pub(super) fn new(
        encoding: &'a RowEncoding,
        options: &'a LiveOptions,
        keys: &'a LiveKeys,
    ) -> Self {
        let columns = encoding.columns.iter().filter(|column| !column.part);
        let mut names: Vec<String> = columns.map(|column| column.name.clone()).collect();
        names.insert(encoding.target_position.min(names.len()), encoding.target.clone());
        let numbered = names == numbered(names.len());
        Layout { encoding, options, keys, names, numbered }
    }

    /// The delimiter with which the first line has the most names of columns or, if it has none, as many
    /// cells as a row should have.
    pub(super) fn delimiter(&self, first_line: &[u8]) -> u8 {
        const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];
        let score = |delimiter: &u8| {
            let mut parsed =
                quote_parser(*delimiter, b'\n').from_reader(first_line).into_byte_records();
            let Some(Ok(cells)) = parsed.next() else { return Default::default() };
            (self.known(cells.iter()), self.is_positional(cells.len()), cells.len())
        };
        // `max_by_key` returns the last of equals; reversed, that is the first candidate.
        let candidates = CANDIDATES.into_iter().rev();
        self.options.delimiter.or_else(|| candidates.max_by_key(score)).unwrap_or(b',')
    }

    /// What each cell of a row is, according to the first row, and whether that is a header.
    pub(super) fn slots(
        &self,
        first: Record<'_>,
        encoder: &mut RowEncoder,
    ) -> Result<(Vec<Slot>, bool), StreamError> {
        let positional = self.is_positional(first.len());
        let header = self.options.header.unwrap_or_else(|| {
            let known = self.known(first.cells());
            known > 0 && (!positional || 2 * known >= first.len() && self.are_names(first))
        });
        if header {
            return Ok((self.by_name(first, encoder)?, true));
        }
        if !positional {
            return Err(StreamError::UnlikeTraining {
                line: first.line(),
                found: first.len(),
                columns: list(&self.names),
                target: self.encoding.target.clone(),
            });
        }
        let with_target = first.len() == self.names.len();
        Ok((self.by_position(with_target, encoder), false))
    }

    /// Whether a row of that many cells may have them in the order of training.
    fn is_positional(&self, cells: usize) -> bool {
        cells > 0 && (cells == self.names.len() || cells + 1 == self.names.len())
    }

    /// How many cells are distinct names of columns.
    fn known<'c>(&self, cells: impl Iterator<Item = &'c [u8]>) -> usize {
        let mut known: Vec<&str> = cells
            .filter_map(|cell| str::from_utf8(cell.trim_ascii()).ok())
            .filter(|name| self.keys.knows(name) && !self.numbered)
            .collect();
        known.sort_unstable();
        let all = known.len();
        known.dedup();
        // A name that occurs twice is more likely a value, so it counts against a header.
        (2 * known.len()).saturating_sub(all)
    }

    /// Whether no cell is a number or missing, except those that are names of columns.
    fn are_names(&self, first: Record<'_>) -> bool {
        let known = |cell: &[u8]| str::from_utf8(cell).is_ok_and(|name| self.keys.knows(name));
        let mut cells = first.cells().map(<[u8]>::trim_ascii);
        cells.all(|cell| known(cell) || read_number(cell) == Reading::Text && !is_number(cell))
    }

    fn by_name(
        &self,
        header: Record<'_>,
        encoder: &mut RowEncoder,
    ) -> Result<Vec<Slot>, StreamError> {
        let place = header.place();
        let slot = |name: String| {
            if self.keys.drops(&name) {
                return Ok(Slot::Skipped);
            }
            if name == self.encoding.target {
                return Ok(Slot::Target);
            }
            match encoder.column(&name) {
                Some(column) => Ok(Slot::Column(column)),
                None => match self.keys.unknown(&name, place, encoder)? {
                    Some(column) => Ok(Slot::Column(column)),
                    None => Ok(Slot::Skipped),
                },
            }
        };
        names_in(header)?.into_iter().map(slot).collect()
    }

    fn by_position(&self, with_target: bool, encoder: &RowEncoder) -> Vec<Slot> {
        let target = &self.encoding.target;
        let names = self.names.iter().filter(|name| with_target || *name != target);
        let slot = |name: &String| match encoder.column(name) {
            _ if self.keys.drops(name) => Slot::Skipped,
            Some(column) => Slot::Column(column),
            None if name == target => Slot::Target,
            None => Slot::Skipped,
        };
        names.map(slot).collect()
    }
}
