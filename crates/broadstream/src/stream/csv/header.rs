//! The first row of a file: whether it is a header, and which names it holds.

use std::collections::HashSet;

use super::records::Record;
use crate::stream::{
    StreamError,
    cell::{Reading, read_number},
    decimal::is_number,
};

/// Whether the first row of a file looks like names rather than values: no cell is a number, or the
/// numbers only count the columns, which is how programs name columns that have no names. The first
/// column's name may be empty, as in tables that were written with their row numbers.
pub(in crate::stream) fn is_header(first: Record<'_>) -> bool {
    // Two small numbers in a row may well be data.
    const FEWEST_COUNTED: usize = 3;
    let (mut texts, mut counted) = (0, [0, 0]);
    for (column, cell) in first.cells().enumerate() {
        match read_number(cell) {
            // A number with a decimal comma is as little a name as one with a decimal point.
            Reading::Text if is_number(cell) => return false,
            Reading::Text => texts += 1,
            Reading::Missing if column == 0 && cell.trim_ascii().is_empty() => texts += 1,
            Reading::Number(number) => {
                for (from, counted) in counted.iter_mut().enumerate() {
                    *counted += usize::from(number == (column + from) as f64);
                }
            }
            _ => return false,
        }
    }
    let cells = first.len();
    texts == cells
        || texts > 0 && counted.iter().any(|n| *n >= FEWEST_COUNTED && texts + n == cells)
}

/// The names in a header.
pub(in crate::stream) fn names_in(header: Record<'_>) -> Result<Vec<String>, StreamError> {
    let place = header.place();
    let mut seen = HashSet::new();
    let mut names = Vec::with_capacity(header.len());
    for cell in header.cells() {
        let name = std::str::from_utf8(cell.trim_ascii())
            .map_err(|_| StreamError::NotText { place, reason: "invalid UTF-8" })?;
        if !seen.insert(name) {
            return Err(StreamError::DuplicateColumn { place, column: name.to_owned() });
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// The names of the columns of a file without a header.
pub(in crate::stream) fn numbered(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| number.to_string()).collect()
}
