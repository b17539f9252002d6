//! The log by which an encoder undoes what rows have added to it.
//!
//! Copying the encoder before each attempt would be simpler, but it costs as much as there are
//! columns and categories, for every row that is predicted. The log costs nothing unless rows bring
//! something new, or categories that are counted.

use std::collections::HashMap;

use super::{Coding, NO_INPUT, RowEncoder};
use crate::stream::rare_categories::CountChange;

/// One thing that rows have added.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    /// An input, after all others.
    Input,
    /// A category of a column, which has this input or code. `own` is whether it counts as having it alone.
    Category { column: usize, number: u32, own: bool },
    /// The first rare category of a column.
    Rare { column: usize },
    /// A rare category of a column was counted.
    Count { column: usize, hash: u64, count: CountChange },
    /// An input of a column of texts.
    Word { column: usize, number: u32 },
    /// The kind of a column that was undecided.
    Decision { column: usize },
    /// A column, after all others.
    Column,
    /// A label, after all others.
    Label,
}

impl RowEncoder {
    /// Keeps all columns, categories, inputs and labels that rows have added so far.
    pub fn settle(&mut self) {
        self.undo_log.clear();
    }

    /// Removes the columns, categories, inputs and labels that were added since the encoder was created or
    /// last [settled](Self::settle), and returns whether there were any. Rows that were refused, or only
    /// predicted, leave nothing behind this way.
    ///
    /// ```
    /// use broadstream::stream::{Categories, Cell, ColumnKind, Place, RowEncoder};
    ///
    /// let mut encoder = RowEncoder::new("y", Categories::OneHot);
    /// let job = encoder.add_column("job", Some(ColumnKind::Categorical), Place::Row(1))?;
    /// encoder.settle();
    /// encoder.begin(Place::Row(1));
    /// encoder.push(job, Cell::Text(b"clerk"))?;
    /// assert_eq!(encoder.schema().inputs().len(), 1);
    /// assert!(encoder.undo());
    /// assert_eq!(encoder.schema().inputs().len(), 0);
    /// # Ok::<(), broadstream::stream::StreamError>(())
    /// ```
    pub fn undo(&mut self) -> bool {
        self.undo_to(0)
    }

    /// How many changes [`undo`](Self::undo) would undo now. With [`undo_to`](Self::undo_to), rows can be
    /// predicted while others, not settled yet, wait to be learned.
    pub fn unsettled(&self) -> usize {
        self.undo_log.len()
    }

    /// Removes what was added since [`unsettled`](Self::unsettled) returned this number, and returns whether
    /// there was anything.
    pub fn undo_to(&mut self, unsettled: usize) -> bool {
        let any = self.undo_log.len() > unsettled;
        // For each column the smallest number among the categories to remove. Categories are numbered
        // in order of appearance, so all from that one on are to be removed, in one pass at the end.
        let mut categories: HashMap<usize, u32> = HashMap::new();
        for change in self.undo_log.split_off(unsettled.min(self.undo_log.len())).into_iter().rev()
        {
            match change {
                Change::Input => {
                    if let Some(input) = self.schema.pop_input() {
                        self.input_names.remove(&input.name);
                    }
                }
                Change::Category { column, number, own } => {
                    self.columns[column].own -= usize::from(own);
                    categories.insert(column, number);
                }
                Change::Rare { column } => self.columns[column].rare = None,
                Change::Count { column, hash, count } => {
                    if let Some(rare) = &mut self.columns[column].rare {
                        rare.undo(hash, count);
                    }
                }
                Change::Word { column, number } => {
                    self.columns[column].words[number as usize] = NO_INPUT;
                }
                Change::Label => self.schema.pop_label(),
                Change::Decision { column } => self.codings[column] = Coding::Undecided,
                Change::Column => {
                    // Its categories go with it.
                    categories.remove(&self.columns.len().saturating_sub(1));
                    self.codings.pop();
                    if let Some(column) = self.columns.pop() {
                        self.positions.remove(&column.name);
                    }
                }
            }
        }
        for (column, first) in categories {
            self.columns[column].categories.retain(|_, number| *number < first);
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Categories, Cell, ColumnKind, Place};

    /// Adds a new column, a decision and new categories, and has a row refused.
    fn push_rows(encoder: &mut RowEncoder, new: &str) {
        let place = Place::Row(1);
        let late = encoder.add_column(new, None, place).unwrap();
        for text in ["u", "v"] {
            encoder.begin(place);
            encoder.push(encoder.column("job").unwrap(), Cell::Text(text.as_bytes())).unwrap();
            encoder.push(encoder.column("open").unwrap(), Cell::Text(text.as_bytes())).unwrap();
            encoder.push(late, Cell::Number(1.0)).unwrap();
        }
        encoder.begin(place);
        assert!(encoder.push(late, Cell::Text(b"u")).is_err());
    }

    /// Adds another column, and more categories to the columns of [`push_rows`].
    fn push_rows_again(encoder: &mut RowEncoder, new: &str) {
        let place = Place::Row(2);
        let late = encoder.add_column(new, None, place).unwrap();
        encoder.begin(place);
        encoder.push(encoder.column("job").unwrap(), Cell::Text(b"w")).unwrap();
        encoder.push(encoder.column("open").unwrap(), Cell::Text(b"w")).unwrap();
        encoder.push(late, Cell::Text(b"w")).unwrap();
    }

    #[test]
    fn undone_rows_leave_nothing_behind() {
        for categories in [Categories::OneHot, Categories::IntegerCodes] {
            let encoder = || {
                let mut encoder = RowEncoder::new("y", categories);
                let place = Place::Row(1);
                encoder.add_column("n", Some(ColumnKind::Numeric), place).unwrap();
                let job = encoder.add_column("job", Some(ColumnKind::Categorical), place).unwrap();
                encoder.add_column("open", None, place).unwrap();
                encoder.begin(place);
                encoder.push(job, Cell::Text(b"known")).unwrap();
                encoder.settle();
                encoder
            };
            let (mut looked, mut fresh) = (encoder(), encoder());
            push_rows(&mut looked, "first");
            let (marked, known) = (looked.unsettled(), looked.encoding());
            push_rows_again(&mut looked, "between");
            assert!(looked.undo_to(marked) && !looked.undo_to(marked));
            assert_eq!(looked.encoding(), known);
            assert_ne!(looked.schema().inputs(), fresh.schema().inputs());
            assert!(looked.undo());
            assert_eq!(looked.schema().inputs(), fresh.schema().inputs());
            assert_eq!(looked.encoding(), fresh.encoding());
            for encoder in [&mut looked, &mut fresh] {
                push_rows(encoder, "second");
                encoder.settle();
                assert!(!encoder.undo());
            }
            assert_eq!(looked.schema().inputs(), fresh.schema().inputs());
            assert_eq!(looked.encoding(), fresh.encoding());
        }
    }
}
