//! Rows for a model that exists already, from a source that may be slow.
//!
//! Nothing is found out from the data that the model knows: its columns, their kinds and the numbers
//! of its categories come from its [`RowEncoding`]. So a row can be had as soon as its line is there,
//! and no more is ever asked of the source than that. `layout` finds the columns in the first row of
//! CSV, `keys` says which names there may be.

mod keys;
mod layout;
mod options;

use std::{
    fmt,
    io::{self, Read},
};

pub use self::options::{LiveFormat, LiveOptions, Unknown};

use self::{
    keys::LiveKeys,
    layout::{Layout, Slot},
};
use super::{
    Cell, RowEncoder, RowEncoding, StreamError,
    csv::{CsvOptions, Row, Rows},
    decompress,
    jsonl::Objects,
    lines::Lines,
};
use crate::{
    data::{Sample, Schema},
    error::Error,
};

/// Reads rows for a model, as CSV or JSON lines, each as soon as its line is there.
///
/// CSV has a header with the names of columns in any order, or else rows of all columns in the order
/// of training, with or without the target. A column that a row lacks is missing, and so may be the
/// label. Categories and labels that the model does not know yet extend the schema, and so do new
/// columns if [`Unknown::Learn`] allows them: declare the new inputs to the model before it sees the
/// sample.
///
/// After an error about one row the rows behind it can be read; otherwise the source is at its end.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{LiveOptions, LiveRows, Stream, csv::{CsvOptions, CsvStream}},
/// };
///
/// let training = "age,job,buys\n31,clerk,yes\n25,baker,no\n";
/// let mut stream = CsvStream::new(Box::new(training.as_bytes()), CsvOptions::default())?;
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
    source: Source,
    options: LiveOptions,
    encoding: RowEncoding,
    keys: LiveKeys,
    encoder: RowEncoder,
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
}

enum Source {
    /// Nothing was read yet.
    Unopened(Lines),
    Csv {
        rows: Rows,
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
        CsvOptions { delimiter: options.delimiter, ..CsvOptions::default() }.check()?;
        let encoder = RowEncoder::resume(schema, &encoding)?;
        let keys = LiveKeys::new(&encoding, &options);
        let source = Source::Unopened(Lines::new(Box::new(Decompressed::Unopened(reader))));
        Ok(LiveRows { source, options, encoding, keys, encoder })
    }

    /// The next row, or `None` at the end. Waits for the source only if the row is not yet there.
    #[expect(clippy::should_implement_trait, reason = "a row borrows its memory from the reader")]
    pub fn next(&mut self) -> Result<Option<LiveRow<'_>>, Error> {
        if let Source::Unopened(_) = self.source {
            self.open()?;
        }
        let LiveRows { source, keys, encoder, .. } = self;
        let (line, class) = match source {
            Source::Unopened(_) | Source::Ended => return Ok(None),
            Source::Csv { rows, slots } => match rows.next() {
                Ok(Some(row)) => (row.line(), read_cells(row, slots, encoder)?),
                ended => {
                    let outcome = ended.map(|_| None);
                    *source = Source::Ended;
                    return Ok(outcome?);
                }
            },
            Source::JsonLines(objects) => match objects.next() {
                Ok(Some(line)) => {
                    objects.read(encoder, keys)?;
                    (line, encoder.class(objects.label().cell())?)
                }
                ended => {
                    *source = Source::Ended;
                    return Ok(ended.map(|_| None)?);
                }
            },
        };
        Ok(Some(LiveRow { sample: self.encoder.sample(), class, line }))
    }

    /// Whether the next row, or the end, can be had without waiting for the source.
    pub fn is_ready(&mut self) -> bool {
        match &mut self.source {
            Source::Unopened(_) => false,
            Source::Csv { rows, .. } => rows.is_ready(),
            Source::JsonLines(objects) => objects.is_ready(),
            Source::Ended => true,
        }
    }

    /// The inputs and labels of the model, and those that came with rows since.
    pub fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// What rows look like by now; columns and categories may have been added.
    pub fn encoding(&self) -> RowEncoding {
        self.encoder.encoding()
    }

    /// How the rows are written; `None` if that is to be found out and no row was read yet.
    pub fn format(&self) -> Option<LiveFormat> {
        match self.source {
            Source::Csv { .. } => Some(LiveFormat::Csv),
            Source::JsonLines(_) => Some(LiveFormat::JsonLines),
            Source::Unopened(_) | Source::Ended => self.options.format,
        }
    }

    /// Reads the first line: it tells the format, and in CSV what the cells are.
    fn open(&mut self) -> Result<(), StreamError> {
        let Source::Unopened(mut lines) = std::mem::replace(&mut self.source, Source::Ended) else {
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
        self.source = match format {
            LiveFormat::JsonLines => Source::JsonLines(Objects::of(lines)),
            LiveFormat::Csv => self.open_csv(lines)?,
        };
        Ok(())
    }

    fn open_csv(&mut self, mut lines: Lines) -> Result<Source, StreamError> {
        let layout = Layout::new(&self.encoding, &self.options, &self.keys);
        let Some(first) = lines.peek()? else { return Ok(Source::Ended) };
        let delimiter = layout.delimiter(lines.text(first));
        let mut rows = Rows::new(lines, delimiter);
        rows.mark();
        let Some(first) = rows.next()? else { return Ok(Source::Ended) };
        let (slots, header) = layout.slots(first, &mut self.encoder)?;
        if !header {
            rows = rows.rewind();
        }
        rows.forget_mark();
        Ok(Source::Csv { rows, slots })
    }
}

/// Gives the cells of a row to `encoder` and returns the class.
fn read_cells(
    row: Row<'_>,
    slots: &[Slot],
    encoder: &mut RowEncoder,
) -> Result<Option<usize>, StreamError> {
    if row.len() != slots.len() {
        let (line, expected, found) = (row.line(), slots.len(), row.len());
        return Err(StreamError::Ragged { line, expected, found });
    }
    encoder.begin(row.place());
    let mut label = Cell::Missing;
    for (slot, cell) in slots.iter().zip(row.cells()) {
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

/// A source whose first bytes are looked at only when it is read.
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
