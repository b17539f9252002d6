//! Rows for a model that exists already, from a source that may be slow.
//!
//! Nothing has to be detected that the model knows: its columns, their kinds and the numbers of its
//! categories come from its [`RowEncoding`]. So a row is available as soon as its line arrives, and the
//! source is never read further than that. `layout` finds the columns in the first row of CSV, `keys`
//! decides which columns there may be. `json_rows` is for a program that has the rows already.

mod json_rows;
mod keys;
mod layout;
mod options;

use std::{
    fmt,
    io::{self, Read},
};

pub use self::{
    json_rows::JsonRows,
    options::{LiveFormat, LiveOptions, UnknownColumns},
};

use self::{
    keys::LiveKeys,
    layout::{Layout, Slot},
};
use super::{
    Cell, RowEncoder, RowEncoding, StreamError,
    csv::{Record, Records},
    decimal::Decimal,
    decompress,
    jsonl::Objects,
    lines::Lines,
};
use crate::{
    data::{Sample, Schema},
    error::Error,
};

/// Reads rows for a model, as CSV or JSON lines, each as soon as its line arrives.
///
/// CSV has a header with the names of columns in any order, or else rows of all columns in the order
/// of training, with or without the target. A column that a row lacks is missing, and the label may be
/// missing too. Categories and labels that the model does not know yet extend the schema, and so do new
/// columns if [`UnknownColumns::Learn`] allows them. Declare new inputs to the model before it sees the
/// sample.
///
/// After an error about one row the rows after it can be read; after any other error the source is at
/// its end.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{LiveOptions, LiveRows, Stream, TableOptions, csv::CsvStream},
/// };
///
/// let training = "age,job,buys\n31,clerk,yes\n25,baker,no\n";
/// let mut stream = CsvStream::new(Box::new(training.as_bytes()), TableOptions::default())?;
/// while stream.read_block(&mut Block::new(), 100)? > 0 {}
///
/// let rows = "{\"job\": \"baker\", \"age\": 40}\n{\"age\": 30, \"buys\": \"no\"}\n";
/// let (schema, encoding) = (stream.schema().clone(), stream.encoding().expect("columns"));
/// let mut rows =
///     LiveRows::new(Box::new(rows.as_bytes()), LiveOptions::default(), schema, encoding)?;
/// let row = rows.next()?.expect("a row");
/// assert_eq!(row.sample.iter().collect::<Vec<_>>(), [(0, 40.0), (2, 1.0)]);
/// assert_eq!((row.class, row.line), (None, 1));
/// assert_eq!(rows.next()?.expect("a row").class, Some(1));
/// assert!(rows.next()?.is_none());
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct LiveRows {
    reader: LiveReader,
    options: LiveOptions,
    encoding: RowEncoding,
    keys: LiveKeys,
    encoder: RowEncoder,
    /// The lines of the header, if there is one.
    header: Vec<u8>,
}

/// A row for a model.
#[derive(Clone, Copy, Debug)]
pub struct LiveRow<'a> {
    /// The inputs present.
    pub sample: Sample<'a>,
    /// The class of the label, if the row has one.
    pub class: Option<usize>,
    /// The line where the row starts.
    pub line: u64,
    /// The row as it was read: its lines with their ends, and blank lines before it.
    ///
    /// These bytes, after those of the [header](LiveRows::header), are the same row to `LiveRows` with the
    /// [options](LiveRows::options) of these.
    pub text: &'a [u8],
}

/// How far reading has come.
enum LiveReader {
    /// Nothing was read yet.
    Unopened(Lines),
    Csv {
        records: Records,
        slots: Vec<Slot>,
    },
    JsonLines(Objects),
    Ended,
}

impl LiveRows {
    /// Rows for a model that was trained on a stream of that schema and encoding. Reads nothing yet.
    pub fn new(
        reader: Box<dyn Read + Send>,
        options: LiveOptions,
        schema: Schema,
        encoding: RowEncoding,
    ) -> Result<Self, Error> {
        // Without a given format CSV is assumed for now, which has all the options. The format that the
        // first line shows may lack them, and is checked then.
        options.format_options().check(options.format.unwrap_or(LiveFormat::Csv))?;
        let encoder = encoder(&options, schema, &encoding)?;
        let keys = LiveKeys::new(&encoding, &options);
        let reader = LiveReader::Unopened(Lines::new(Box::new(Decompressed::Unopened(reader))));
        Ok(LiveRows { reader, options, encoding, keys, encoder, header: Vec::new() })
    }

    /// The next row, or `None` at the end. Waits for the source only if the row has not arrived yet.
    #[expect(clippy::should_implement_trait, reason = "a row borrows its memory from the reader")]
    pub fn next(&mut self) -> Result<Option<LiveRow<'_>>, Error> {
        if let LiveReader::Unopened(_) = self.reader {
            self.open()?;
        }
        let LiveRows { reader, keys, encoder, .. } = self;
        let (line, class) = match reader {
            LiveReader::Unopened(_) | LiveReader::Ended => return Ok(None),
            LiveReader::Csv { records, slots } => {
                records.mark();
                match records.next() {
                    Ok(Some(record)) => (record.line(), read_cells(record, slots, encoder)?),
                    ended => {
                        let outcome = ended.map(|_| None);
                        *reader = LiveReader::Ended;
                        return Ok(outcome?);
                    }
                }
            }
            LiveReader::JsonLines(objects) => {
                objects.mark();
                match objects.next() {
                    Ok(Some(line)) => {
                        let label = objects.read(encoder, keys)?;
                        (line, encoder.class(label)?)
                    }
                    ended => {
                        *reader = LiveReader::Ended;
                        return Ok(ended.map(|_| None)?);
                    }
                }
            }
        };
        let text = match &self.reader {
            LiveReader::Csv { records, .. } => records.since_mark(),
            LiveReader::JsonLines(objects) => objects.since_mark(),
            LiveReader::Unopened(_) | LiveReader::Ended => &[],
        };
        Ok(Some(LiveRow { sample: self.encoder.sample(), class, line, text }))
    }

    /// Whether the next row, or the end, can be read without waiting for the source.
    pub fn is_ready(&mut self) -> bool {
        match &mut self.reader {
            LiveReader::Unopened(_) => false,
            LiveReader::Csv { records, .. } => records.is_ready(),
            LiveReader::JsonLines(objects) => objects.is_ready(),
            LiveReader::Ended => true,
        }
    }

    /// The inputs and labels of the model, and those that rows have added since.
    pub fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// How rows are encoded by now; columns and categories may have been added.
    pub fn encoding(&self) -> RowEncoding {
        // The options are about these rows, not about those to come.
        let RowEncoding { decimal_comma, max_categories, .. } = self.encoding;
        RowEncoding { decimal_comma, max_categories, ..self.encoder.encoding() }
    }

    /// Keeps the columns, categories, inputs and labels that rows have added so far.
    pub fn settle(&mut self) {
        self.encoder.settle();
    }

    /// Removes what rows have added since the reader was made or last [settled](Self::settle), so that rows
    /// that are only predicted take no memory for good. Columns that a header has added stay.
    pub fn undo(&mut self) {
        self.encoder.undo();
    }

    /// The format of the rows; `None` if it is to be detected and no row was read yet.
    pub fn format(&self) -> Option<LiveFormat> {
        match self.reader {
            LiveReader::Csv { .. } => Some(LiveFormat::Csv),
            LiveReader::JsonLines(_) => Some(LiveFormat::JsonLines),
            LiveReader::Unopened(_) | LiveReader::Ended => self.options.format,
        }
    }

    /// How the rows are read, with the format, the delimiter and whether there is a header as soon as the
    /// first row has shown them.
    pub fn options(&self) -> &LiveOptions {
        &self.options
    }

    /// The lines of the header; empty without one, and before the first row was read.
    pub fn header(&self) -> &[u8] {
        &self.header
    }

    /// Reads the first line: it tells the format, and in CSV what the cells are.
    fn open(&mut self) -> Result<(), Error> {
        let LiveReader::Unopened(mut lines) =
            std::mem::replace(&mut self.reader, LiveReader::Ended)
        else {
            return Ok(());
        };
        lines.skip_byte_order_mark()?;
        let first = loop {
            let Some(range) = lines.peek()? else { return Ok(()) };
            if !lines.text(range.clone()).trim_ascii().is_empty() {
                break range;
            }
            lines.pass();
        };
        let text = lines.text(first).trim_ascii_start();
        let found = if text.starts_with(b"{") { LiveFormat::JsonLines } else { LiveFormat::Csv };
        let format = *self.options.format.get_or_insert(found);
        self.options.format_options().check(format)?;
        self.reader = match format {
            LiveFormat::JsonLines => LiveReader::JsonLines(Objects::of(lines)),
            LiveFormat::Csv => self.open_csv(lines)?,
        };
        Ok(())
    }

    fn open_csv(&mut self, mut lines: Lines) -> Result<LiveReader, StreamError> {
        let layout = Layout::new(&self.encoding, &self.options, &self.keys);
        let Some(first) = lines.peek()? else { return Ok(LiveReader::Ended) };
        let delimiter = layout.delimiter(lines.text(first));
        let mut records = Records::new(lines, delimiter);
        records.mark();
        let Some(first) = records.next()? else { return Ok(LiveReader::Ended) };
        let (slots, header) = layout.slots(first, &mut self.encoder)?;
        // The slots point to the columns of a header, which must therefore stay.
        self.encoder.settle();
        if header {
            self.header = records.since_mark().to_vec();
        } else {
            records = records.rewind();
        }
        records.forget_mark();
        (self.options.delimiter, self.options.header) = (Some(records.delimiter()), Some(header));
        Ok(LiveReader::Csv { records, slots })
    }
}

/// The encoder of rows for a model.
fn encoder(
    options: &LiveOptions,
    schema: Schema,
    encoding: &RowEncoding,
) -> Result<RowEncoder, StreamError> {
    let most = options.max_categories.unwrap_or(encoding.max_categories);
    let mut encoder = RowEncoder::resume(schema, encoding)?.with_max_categories(most);
    encoder.set_purpose(options.purpose);
    encoder.set_decimal(Decimal::of(options.decimal_comma.unwrap_or(encoding.decimal_comma)));
    encoder.read_flags();
    Ok(encoder)
}

/// Passes the cells of a record to `encoder` and returns the class.
fn read_cells(
    record: Record<'_>,
    slots: &[Slot],
    encoder: &mut RowEncoder,
) -> Result<Option<usize>, StreamError> {
    if record.len() != slots.len() {
        let (line, expected, found) = (record.line(), slots.len(), record.len());
        return Err(StreamError::Ragged { line, expected, found });
    }
    encoder.begin(record.place());
    let mut label = Cell::Missing;
    for (slot, cell) in slots.iter().zip(record.cells()) {
        match *slot {
            Slot::Column(column) => encoder.push(column, Cell::Raw(cell))?,
            Slot::Target => label = Cell::Raw(cell),
            Slot::Skipped => {}
        }
    }
    encoder.class(label)
}

impl fmt::Debug for LiveRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LiveRows")
            .field("options", &self.options)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}

/// A source that may be compressed. Its first bytes, which tell, are read only when the first row is.
enum Decompressed {
    Unopened(Box<dyn Read + Send>),
    Opened(Box<dyn Read + Send>),
}

impl Read for Decompressed {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if let Decompressed::Unopened(reader) = self {
            let reader = std::mem::replace(reader, Box::new(io::empty()));
            *self = Decompressed::Opened(decompress(reader)?);
        }
        match self {
            Decompressed::Opened(reader) | Decompressed::Unopened(reader) => reader.read(out),
        }
    }
}
