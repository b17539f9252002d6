//! The rows of an Arrow stream as JSON objects, for a program that keeps rows as text.

use std::io;

use broadstream::stream::Cell;
use serde_json::{Map, Value};

use crate::{
    batches::ColumnarFile,
    cells::{Cells, kind_of},
    format::{ColumnarFormat, ColumnarSource},
};

/// The rows of an Arrow stream or file in memory, each as a JSON object with the values that are not missing.
/// They are the same rows to a model as those of the table itself. A stream with more than `most` rows is
/// refused, and so is a column that holds neither numbers nor texts.
///
/// ```
/// let refused = broadstream_columnar::arrow_rows_as_json(b"no Arrow".to_vec(), 10).unwrap_err();
/// assert_eq!(refused.to_string(), "expected an Arrow stream, found other bytes");
/// ```
pub fn arrow_rows_as_json(bytes: Vec<u8>, most: usize) -> io::Result<Vec<String>> {
    let invalid = |message: String| io::Error::new(io::ErrorKind::InvalidData, message);
    let format = match ColumnarFormat::detect(&bytes) {
        Some(format @ (ColumnarFormat::ArrowFile | ColumnarFormat::ArrowStream)) => format,
        _ => return Err(invalid("expected an Arrow stream, found other bytes".to_owned())),
    };
    let file = ColumnarFile::open(format, ColumnarSource::Memory(bytes))?;
    let schema = file.schema();
    for field in schema.fields() {
        if kind_of(field.data_type()).is_none() {
            let (name, kind) = (field.name(), field.data_type());
            let rule = "expected numbers, truth values or texts";
            return Err(invalid(format!("column '{name}': {rule}, found {kind}")));
        }
    }
    let mut batches = file.batches((0..schema.fields().len()).collect())?;
    let mut rows = Vec::new();
    while let Some(batch) = batches.next()? {
        if rows.len() + batch.num_rows() > most {
            return Err(invalid(format!("expected at most {most} rows, found more")));
        }
        let columns: Vec<Cells> = batch.columns().iter().map(Cells::of).collect();
        for row in 0..batch.num_rows() {
            let mut object = Map::new();
            for (field, cells) in schema.fields().iter().zip(&columns) {
                if let Some(value) = value(cells.cell(row)) {
                    let value = value.ok_or_else(|| {
                        let (name, row) = (field.name(), rows.len() + 1);
                        invalid(format!("row {row}, column '{name}': expected a finite number"))
                    })?;
                    object.insert(field.name().clone(), value);
                }
            }
            rows.push(Value::Object(object).to_string());
        }
    }
    Ok(rows)
}

/// The value of a cell; `None` if it is missing, and `Some(None)` if JSON cannot say it.
fn value(cell: Cell<'_>) -> Option<Option<Value>> {
    Some(match cell {
        Cell::Missing => return None,
        Cell::Number(value) if value.is_nan() => return None,
        Cell::Number(value) => serde_json::Number::from_f64(value).map(Value::Number),
        Cell::Integer(value) => Some(value.into()),
        Cell::Flag(value) => Some(value.into()),
        Cell::Text(text) | Cell::Raw(text) => {
            std::str::from_utf8(text).ok().map(|text| text.to_owned().into())
        }
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{
        ArrayRef, BooleanArray, Date32Array, Float64Array, Int64Array, RecordBatch, StringArray,
    };
    use arrow_ipc::writer::StreamWriter;

    use super::*;

    fn stream(columns: Vec<(&str, ArrayRef)>) -> Vec<u8> {
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    }

    fn columns() -> Vec<(&'static str, ArrayRef)> {
        vec![
            ("n", Arc::new(Float64Array::from(vec![Some(0.1 + 0.2), None, Some(f64::NAN)]))),
            ("i", Arc::new(Int64Array::from(vec![i64::MIN, 0, i64::MAX]))),
            ("f", Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)]))),
            ("t", Arc::new(StringArray::from(vec![Some("\"ü\n"), None, Some("7")]))),
        ]
    }

    #[test]
    fn rows_keep_every_digit() {
        let rows = arrow_rows_as_json(stream(columns()), 6).unwrap();
        let expected = [
            r#"{"n":0.30000000000000004,"i":-9223372036854775808,"f":true,"t":"\"ü\n"}"#,
            r#"{"i":0}"#,
            r#"{"i":9223372036854775807,"f":false,"t":"7"}"#,
        ];
        assert_eq!(rows[..3], expected);
        assert_eq!(rows[3..], expected, "both batches");
    }

    #[test]
    fn what_is_no_table_of_cells_is_refused() {
        let message = |bytes, most| arrow_rows_as_json(bytes, most).unwrap_err().to_string();
        assert_eq!(message(stream(columns()), 5), "expected at most 5 rows, found more");
        let dates: ArrayRef = Arc::new(Date32Array::from(vec![1]));
        let expected = "column 'd': expected numbers, truth values or texts, found Date32";
        assert_eq!(message(stream(vec![("d", dates)]), 5), expected);
        let infinite: ArrayRef = Arc::new(Float64Array::from(vec![1.0, f64::INFINITY]));
        let expected = "row 2, column 'x': expected a finite number";
        assert_eq!(message(stream(vec![("x", infinite)]), 5), expected);
        let whole = stream(columns());
        for end in (0..whole.len()).step_by(7) {
            // A stream may end between two messages; within one it is an error, and never a panic.
            let _ = arrow_rows_as_json(whole[..end].to_vec(), 100);
        }
        for at in 0..whole.len() {
            let mut broken = whole.clone();
            broken[at] ^= 0xff;
            let _ = arrow_rows_as_json(broken, 100);
        }
    }
}
