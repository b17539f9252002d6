//! The samples of a columnar file.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema as ArrowSchema};
use broadstream::{
    Error,
    stream::{
        ColumnKind, ColumnRoles, EncodedRow, InputColumn, Place, RowEncoder, RowReader, RowStream,
        StreamError, TableOptions,
    },
};

use crate::{
    batches::{Batches, ColumnarFile},
    cells::{Cells, kind_of},
    format::{ColumnarFormat, ColumnarSource},
};

/// The samples of a Parquet or Arrow file.
///
/// Columns of integers, floating-point numbers and decimals are numbers, booleans are 1 or 0, texts are
/// categories, whether they are stored in a dictionary or not, and nulls are missing. A column of any
/// other type, such as a date or a list, must be dropped.
///
/// Rows are read in batches on demand: a few hundred rows at once from Parquet, and from Arrow as many
/// as were written together.
///
/// ```no_run
/// use broadstream::stream::{Stream, TableOptions};
/// use broadstream_columnar::{ColumnarFormat, ColumnarSource, open_columnar};
///
/// let file = ColumnarSource::File(std::fs::File::open("trips.parquet")?);
/// let options = TableOptions { drop: vec!["started".into()], ..TableOptions::default() };
/// let stream = open_columnar(ColumnarFormat::Parquet, file, options)?;
/// println!("{} rows", stream.remaining().unwrap_or(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type ColumnarStream = RowStream<ColumnarReader>;

/// Reads the rows of a columnar file; see [`ColumnarStream`].
pub struct ColumnarReader {
    batches: Batches,
    /// Which of the chosen columns is the target.
    target: usize,
    /// The columns of the current batch, its number of rows, and the next of them.
    cells: Vec<Cells>,
    rows: usize,
    next: usize,
    /// How many rows were read, and how many the file claims to have.
    read: u64,
    total: Option<u64>,
    /// What was wrong with the first batch, to be reported when its rows are read.
    failure: Option<StreamError>,
}

/// Reads the columns of a file and its first batch.
///
/// A fault in the data is not reported here but when its rows are read.
#[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
pub fn open_columnar(
    format: ColumnarFormat,
    source: ColumnarSource,
    options: TableOptions,
) -> Result<ColumnarStream, Error> {
    options.check(format)?;
    let file = ColumnarFile::open(format, source).map_err(|source| read_error(1, source))?;
    let schema = file.schema();
    let names = schema.fields().iter().map(|field| field.name().clone()).collect();
    let columns = ColumnRoles::new(names, &options)?;
    let kinds = kinds(&columns, &schema)?;
    let encoder = columns.encoder(&kinds, &options, Place::Row(1))?;
    // Columns that are left out are never decoded.
    let mut chosen: Vec<usize> = columns.inputs().iter().map(|input| input.position).collect();
    let target = chosen.partition_point(|position| *position < columns.target());
    chosen.insert(target, columns.target());
    let total = file.rows();
    let batches = file.batches(chosen).map_err(|source| read_error(1, source))?;
    let mut reader = ColumnarReader {
        batches,
        target,
        cells: Vec::new(),
        rows: 0,
        next: 0,
        read: 0,
        total,
        failure: None,
    };
    match reader.next_batch() {
        Ok(true) => {}
        Ok(false) => return Err(StreamError::Empty.into()),
        Err(error) => reader.failure = Some(error),
    }
    Ok(RowStream::of(reader, encoder))
}

impl RowReader for ColumnarReader {
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.into());
        }
        if self.next == self.rows && !self.next_batch()? {
            return Ok(None);
        }
        let row = self.next;
        self.next += 1;
        self.read += 1;
        encoder.begin(Place::Row(self.read));
        let (before, rest) = self.cells.split_at(self.target);
        for (column, cells) in before.iter().chain(&rest[1..]).enumerate() {
            encoder.push(column, cells.cell(row))?;
        }
        let (sample, class) = encoder.finish(rest[0].cell(row))?;
        Ok(Some(EncodedRow { sample, class, weight: 1.0 }))
    }

    /// The rows of a batch are there together; the next batch of a pipe may not be.
    fn is_ready(&mut self) -> bool {
        self.next < self.rows
    }

    fn remaining(&self) -> Option<u64> {
        self.total.map(|total| total.saturating_sub(self.read))
    }
}

impl ColumnarReader {
    /// Moves on to the next batch that has rows; `false` at the end.
    fn next_batch(&mut self) -> Result<bool, StreamError> {
        loop {
            let batch = self.batches.next().map_err(|source| read_error(self.read + 1, source))?;
            let Some(batch) = batch else { return Ok(false) };
            self.take(&batch);
            if self.rows > 0 {
                return Ok(true);
            }
        }
    }

    fn take(&mut self, batch: &RecordBatch) {
        self.cells.clear();
        self.cells.extend(batch.columns().iter().map(Cells::of));
        self.rows = batch.num_rows();
        self.next = 0;
    }
}

/// The kinds of the input columns. Fails if the type of one of them, or of the target, has no kind.
fn kinds(
    columns: &ColumnRoles,
    schema: &ArrowSchema,
) -> Result<Vec<Option<ColumnKind>>, StreamError> {
    let kind = |position: usize| {
        let kind = schema.field(position).data_type();
        kind_of(kind).ok_or_else(|| StreamError::UnsupportedType {
            column: columns.name(position).to_owned(),
            kind: type_name(kind),
        })
    };
    kind(columns.target())?;
    let of_input = |input: &InputColumn| Ok(Some(input.declared.unwrap_or(kind(input.position)?)));
    columns.inputs().iter().map(of_input).collect()
}

/// The name of a type for a message. The full name of a nested one can be pages long.
fn type_name(kind: &DataType) -> String {
    match kind {
        DataType::Struct(_) => "struct".to_owned(),
        DataType::Union(..) => "union".to_owned(),
        DataType::Map(..) => "map".to_owned(),
        DataType::RunEndEncoded(..) => "run-end encoded".to_owned(),
        kind if kind.is_nested() => "list".to_owned(),
        kind => kind.to_string().to_lowercase(),
    }
}

fn read_error(row: u64, source: io::Error) -> StreamError {
    StreamError::Read { place: Place::Row(row), source }
}
