//! The samples of a columnar file.

use std::{fmt, io};

use arrow_array::RecordBatch;
use arrow_schema::{DataType, Schema as ArrowSchema};
use broadstream::{
    Block, Error, Schema,
    stream::{
        ColumnKind, ColumnOptions, Columns, Place, RowEncoder, RowEncoding, Stream, StreamError,
    },
};

use crate::{
    batches::{Batches, Opened},
    cells::{Cells, kind_of},
    format::{ColumnarFormat, ColumnarSource},
};

/// The samples of a Parquet or Arrow file.
///
/// Columns of whole, floating-point and decimal numbers are numbers, truth values are 1 or 0, texts
/// are categories, whether they are stored in a dictionary or not, and nulls are missing. A column of
/// any other type, such as a date or a list, must be dropped. The target is the last column unless
/// the options name another.
///
/// Rows are read in batches as they are asked for: of Parquet some hundred rows at once, of Arrow as
/// many as were written together.
///
/// ```no_run
/// use broadstream::stream::{ColumnOptions, Stream};
/// use broadstream_columnar::{ColumnarFormat, ColumnarSource, ColumnarStream};
///
/// let file = ColumnarSource::File(std::fs::File::open("trips.parquet")?);
/// let options = ColumnOptions { drop: vec!["started".into()], ..ColumnOptions::default() };
/// let stream = ColumnarStream::new(ColumnarFormat::Parquet, file, options)?;
/// println!("{} rows", stream.remaining().unwrap_or(0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ColumnarStream {
    batches: Batches,
    encoder: RowEncoder,
    /// Which of the chosen columns is the target.
    target: usize,
    /// The cells of the batch at hand, its length and the next row of it.
    cells: Vec<Cells>,
    rows: usize,
    next: usize,
    /// How many rows were read, and how many the file says that it has.
    read: u64,
    total: Option<u64>,
    /// What was wrong with the first batch, to be reported when it is asked for.
    failure: Option<StreamError>,
    ended: bool,
}

impl ColumnarStream {
    /// Reads the columns of a file and its first batch.
    ///
    /// A fault in the data is not reported here but when its rows are read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(
        format: ColumnarFormat,
        source: ColumnarSource,
        options: ColumnOptions,
    ) -> Result<Self, Error> {
        let opened = Opened::open(format, source).map_err(|source| read_error(1, source))?;
        let schema = opened.schema();
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let columns = Columns::new(names, &options)?;
        let kinds = kinds(&columns, &schema)?;
        let encoder = columns.encoder(&kinds, &options, Place::Row(1))?;
        let mut chosen: Vec<usize> = columns.inputs().iter().map(|input| input.position).collect();
        let target = chosen.partition_point(|position| *position < columns.target());
        chosen.insert(target, columns.target());
        let total = opened.rows();
        let batches = opened.batches(chosen).map_err(|source| read_error(1, source))?;
        let mut stream = ColumnarStream {
            batches,
            encoder,
            target,
            cells: Vec::new(),
            rows: 0,
            next: 0,
            read: 0,
            total,
            failure: None,
            ended: false,
        };
        match stream.next_batch() {
            Ok(true) => {}
            Ok(false) => return Err(StreamError::Empty.into()),
            Err(error) => stream.failure = Some(error),
        }
        Ok(stream)
    }

    /// The names of the columns that are learned from, in the order of the file.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// Takes the next batch that has rows; `false` at the end.
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

    /// Appends the next sample to `block`; `false` at the end.
    fn read_sample(&mut self, block: &mut Block) -> Result<bool, Error> {
        if let Some(failure) = self.failure.take() {
            return Err(failure.into());
        }
        if self.next == self.rows && !self.next_batch()? {
            return Ok(false);
        }
        let row = self.next;
        self.next += 1;
        self.read += 1;
        self.encoder.begin(Place::Row(self.read));
        let (before, rest) = self.cells.split_at(self.target);
        for (column, cells) in before.iter().chain(&rest[1..]).enumerate() {
            self.encoder.push(column, cells.cell(row))?;
        }
        let (sample, class) = self.encoder.finish(rest[0].cell(row))?;
        block.push(sample, class, 1.0)?;
        Ok(true)
    }
}

impl Stream for ColumnarStream {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    fn inputs_per_sample(&self) -> usize {
        self.encoder.columns().len()
    }

    fn remaining(&self) -> Option<u64> {
        self.total.map(|total| total.saturating_sub(self.read))
    }

    fn encoding(&self) -> Option<RowEncoding> {
        Some(self.encoder.encoding())
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        while read < most && !self.ended {
            let outcome = self.read_sample(block);
            self.ended = !matches!(outcome, Ok(true));
            read += usize::from(outcome?);
        }
        Ok(read)
    }
}

impl fmt::Debug for ColumnarStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ColumnarStream")
            .field("read", &self.read)
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}

/// The kinds of the input columns, if these and the target have one.
fn kinds(columns: &Columns, schema: &ArrowSchema) -> Result<Vec<Option<ColumnKind>>, StreamError> {
    let kind = |position: usize| {
        let kind = schema.field(position).data_type();
        kind_of(kind).ok_or_else(|| StreamError::UnsupportedType {
            column: columns.name(position).to_owned(),
            kind: type_name(kind),
        })
    };
    kind(columns.target())?;
    let of_input = |input: &broadstream::stream::InputColumn| {
        Ok(Some(input.declared.unwrap_or(kind(input.position)?)))
    };
    columns.inputs().iter().map(of_input).collect()
}

/// The name of a type for a message; that of a nested one can be pages long.
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
