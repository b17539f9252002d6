//! Whether a column holds numbers or categories, told from its first cells.

use super::rows::Rows;
use crate::stream::{
    ColumnKind, Columns, StreamError,
    cell::{kind_of, read_text},
    lines::LONGEST_LINE,
};

/// The kinds of the input columns by the next rows, 1000 or fewer if these are huge; `None` for a
/// column that has only missing cells there.
///
/// The rows must be read again for their samples. A faulty row is the last one looked at: it will
/// be reported when its turn comes, after the samples before it.
pub(super) fn survey(
    rows: &mut Rows,
    columns: &Columns,
) -> Result<Vec<Option<ColumnKind>>, StreamError> {
    const ROWS: usize = 1000;
    let mut kinds: Vec<Option<ColumnKind>> = columns.inputs().iter().map(|c| c.declared).collect();
    let mut any = false;
    for _ in 0..ROWS {
        let row = match rows.next() {
            Ok(Some(row)) if row.len() == columns.len() => row,
            Ok(None) if !any => return Err(StreamError::Empty),
            Ok(None) => break,
            Ok(Some(_)) | Err(_) => break,
        };
        any = true;
        for (kind, column) in kinds.iter_mut().zip(columns.inputs()) {
            if column.declared.is_none()
                && *kind != Some(ColumnKind::Categorical)
                && let Some(text) = read_text(row.cell(column.position))
            {
                *kind = Some(kind_of(text));
            }
        }
        if rows.kept() > LONGEST_LINE {
            break;
        }
    }
    Ok(kinds)
}
