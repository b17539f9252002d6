//! What rows have added to an encoder, so that it can be taken back.

use std::collections::HashMap;

use super::{RowEncoder, row_encoder::Coding};

/// Something that rows have brought.
#[derive(Clone, Copy, Debug)]
pub(super) enum Addition {
    /// The last input.
    Input,
    /// The category of a column that has this input or code.
    Category { column: usize, number: u32 },
    /// The kind of a column that was undecided.
    Decision { column: usize },
    /// The last column.
    Column,
}

impl RowEncoder {
    /// Keeps all columns, categories and inputs that rows have brought so far.
    pub fn settle(&mut self) {
        self.additions.clear();
    }

    /// Takes back the columns, categories and inputs that came since the encoder was made or last
    /// [settled](Self::settle), and returns whether there were any: rows that were refused, or only
    /// looked at, leave nothing behind.
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
        let any = !self.additions.is_empty();
        // By column the first number that goes; all that followed are higher.
        let mut categories: HashMap<usize, u32> = HashMap::new();
        while let Some(addition) = self.additions.pop() {
            match addition {
                Addition::Input => {
                    if let Some(input) = self.schema.pop_input() {
                        self.names.remove(&input.name);
                    }
                }
                Addition::Category { column, number } => {
                    categories.insert(column, number);
                }
                Addition::Decision { column } => self.codings[column] = Coding::Undecided,
                Addition::Column => {
                    categories.remove(&self.columns.len().saturating_sub(1));
                    self.codings.pop();
                    if let Some(column) = self.columns.pop() {
                        self.positions.remove(&column.name);
                    }
                }
            }
        }
        for (column, first) in categories {
            self.columns[column].known.retain(|_, known| *known < first);
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stream::{Categories, Cell, ColumnKind, Place};

    /// Brings a new column, a decision, new categories and a refusal.
    fn look_at_rows(encoder: &mut RowEncoder, new: &str) {
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
            look_at_rows(&mut looked, "first");
            assert_ne!(looked.schema().inputs(), fresh.schema().inputs());
            assert!(looked.undo());
            assert_eq!(looked.schema().inputs(), fresh.schema().inputs());
            assert_eq!(looked.encoding(), fresh.encoding());
            for encoder in [&mut looked, &mut fresh] {
                look_at_rows(encoder, "second");
                encoder.settle();
                assert!(!encoder.undo());
            }
            assert_eq!(looked.schema().inputs(), fresh.schema().inputs());
            assert_eq!(looked.encoding(), fresh.encoding());
        }
    }
}
