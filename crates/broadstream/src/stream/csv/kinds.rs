//! Whether a column holds numbers or categories, judged by its first cells.

use super::records::Records;
use crate::stream::{
    ColumnKind, ColumnRoles, StreamError,
    cell::{kind_of, read_text},
    lines::LONGEST_LINE,
};

/// The kinds of the input columns according to the next records, 1000 or fewer if these, with the blank
/// lines between them, have more than [`LONGEST_LINE`] bytes; `None` for a column whose cells are all
/// missing there.
///
/// The records must be read again for their samples. The survey stops at a faulty record without
/// reporting it: that happens when its turn comes, after the samples before it.
pub(super) fn survey(
    records: &mut Records,
    columns: &ColumnRoles,
) -> Result<Vec<Option<ColumnKind>>, StreamError> {
    const RECORDS: usize = 1000;
    let mut kinds: Vec<Option<ColumnKind>> = columns.inputs().iter().map(|c| c.declared).collect();
    for rows in 0..RECORDS {
        let record = match records.next_within(LONGEST_LINE) {
            Ok(Some(record)) if record.len() == columns.len() => record,
            // The marked record is the first one, so not even blank lines were kept.
            Ok(None) if rows == 0 => return Err(StreamError::Empty),
            Ok(_) | Err(_) => break,
        };
        for (kind, column) in kinds.iter_mut().zip(columns.inputs()) {
            // One text among numbers makes a column categorical, whatever follows.
            if column.declared.is_none()
                && *kind != Some(ColumnKind::Categorical)
                && let Some(text) = read_text(record.cell(column.position))
            {
                *kind = Some(kind_of(text));
            }
        }
    }
    Ok(kinds)
}

#[cfg(test)]
mod tests {
    use std::io::{Read, repeat};

    use super::*;
    use crate::stream::{TableOptions, lines::Lines};

    /// Lines of blanks, of that many bytes.
    fn blank(bytes: u64) -> impl Read + Send {
        repeat(b'\n').take(bytes)
    }

    #[test]
    fn blank_lines_take_no_memory() {
        const ENOUGH: u64 = 2 * LONGEST_LINE as u64;
        let first = "1,x\n".as_bytes().chain(blank(ENOUGH)).chain("2,y\n".as_bytes());
        let mut records = Records::new(Lines::new(Box::new(blank(ENOUGH).chain(first))), b',');
        records.mark();
        assert!(records.memory() < 1 << 20, "{} bytes", records.memory());
        let names = vec!["a".to_owned(), "b".to_owned()];
        let columns = ColumnRoles::new(names, &TableOptions::default()).unwrap();
        assert_eq!(survey(&mut records, &columns).unwrap(), [Some(ColumnKind::Numeric)]);
        assert!(records.memory() < LONGEST_LINE + (1 << 20), "{} bytes", records.memory());
        records = records.rewind();
        records.forget_mark();
        let mut lines = Vec::new();
        while let Some(record) = records.next().unwrap() {
            lines.push(record.line());
        }
        assert_eq!(lines, [ENOUGH + 1, 2 * ENOUGH + 2]);
    }
}
