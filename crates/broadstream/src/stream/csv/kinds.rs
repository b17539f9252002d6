//! Whether a column holds numbers or categories, judged by its first cells.

use super::records::Records;
use crate::stream::{
    ColumnKind, ColumnRoles, StreamError,
    cell::{kind_of, read_text},
    lines::LONGEST_LINE,
};

/// The kinds of the input columns according to the next records, 1000 or fewer if these are huge;
/// `None` for a column whose cells are all missing there.
///
/// The records must be read again for their samples. The survey stops at a faulty record without
/// reporting it: that happens when its turn comes, after the samples before it.
pub(super) fn survey(
    records: &mut Records,
    columns: &ColumnRoles,
) -> Result<Vec<Option<ColumnKind>>, StreamError> {
    const RECORDS: usize = 1000;
    let mut kinds: Vec<Option<ColumnKind>> = columns.inputs().iter().map(|c| c.declared).collect();
    let mut any = false;
    for _ in 0..RECORDS {
        let record = match records.next() {
            Ok(Some(record)) if record.len() == columns.len() => record,
            Ok(None) if !any => return Err(StreamError::Empty),
            Ok(None) => break,
            Ok(Some(_)) | Err(_) => break,
        };
        any = true;
        for (kind, column) in kinds.iter_mut().zip(columns.inputs()) {
            // One text among numbers makes a column categorical, whatever follows.
            if column.declared.is_none()
                && *kind != Some(ColumnKind::Categorical)
                && let Some(text) = read_text(record.cell(column.position))
            {
                *kind = Some(kind_of(text));
            }
        }
        if records.kept() > LONGEST_LINE {
            break;
        }
    }
    Ok(kinds)
}
