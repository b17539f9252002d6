//! CSV and TSV files, read row by row in bounded memory.
//!
//! Lines of bounded length are split into cells (`rows`), and a [`RowEncoder`] makes samples of
//! them. Before that, the first rows tell the dialect (`dialect`), the first row the columns
//! (`header`) and the first thousand rows which of them hold numbers (`kinds`); these rows are then
//! read once more for their samples.

mod dialect;
mod header;
mod kinds;
mod options;
mod rows;

use std::{fmt, io::Read};

pub use self::options::CsvOptions;
pub use super::Categories;

pub(super) use self::{
    header::{names_in, numbered},
    rows::{Row, Rows, quote_parser},
};

use self::{dialect::detect_delimiter, header::is_header, kinds::survey};
use crate::{
    data::{Block, Sample, Schema},
    error::Error,
    stream::{Columns, RowEncoder, RowEncoding, Stream, StreamError, lines::Lines},
};

/// The samples of a CSV or TSV file, plain or compressed by gzip or zstd.
///
/// A column is numeric if all its cells among the first 1000 rows are numbers, and categorical
/// otherwise. A cell that is empty, `?`, `NA` or `NaN` is missing: its sample lacks that input.
/// Blanks around cells do not matter. Rows are read as they are asked for, so the file may be larger
/// than memory, or a pipe that never ends.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{Stream, csv::{CsvOptions, CsvStream}},
/// };
///
/// let text = "age,job,buys\n31,clerk,yes\n?,baker,no\n";
/// let mut stream = CsvStream::new(Box::new(text.as_bytes()), CsvOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["age", "job=clerk", "job=baker"]);
/// assert_eq!(stream.schema().labels(), ["yes", "no"]);
/// assert_eq!(block.sample(0).iter().collect::<Vec<_>>(), [(0, 31.0), (1, 1.0)]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(2, 1.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct CsvStream {
    rows: Rows,
    columns: Columns,
    encoder: RowEncoder,
    line: u64,
    ended: bool,
}

impl CsvStream {
    /// Reads the beginning of a file: enough to know its columns and their kinds.
    ///
    /// A fault in a row of data is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: CsvOptions) -> Result<Self, Error> {
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file of which no line has been taken yet.
    pub(super) fn of_lines(mut lines: Lines, options: &CsvOptions) -> Result<Self, Error> {
        options.check()?;
        let terminator = lines.terminator();
        let (head, complete) = lines.head();
        let delimiter =
            options.delimiter.unwrap_or_else(|| detect_delimiter(head, complete, terminator));
        let mut rows = Rows::new(lines, delimiter);
        rows.mark();
        let first = rows.next()?.ok_or(StreamError::Empty)?;
        let place = first.place();
        let names = if options.header.unwrap_or_else(|| is_header(first)) {
            let names = names_in(first)?;
            rows.mark();
            names
        } else {
            let names = numbered(first.len());
            rows = rows.rewind();
            names
        };

        let options = options.columns();
        let columns = Columns::new(names, &options)?;
        let kinds = survey(&mut rows, &columns)?;
        rows = rows.rewind();
        rows.forget_mark();
        let encoder = columns.encoder(&kinds, &options, place)?;
        Ok(CsvStream { rows, columns, encoder, line: 0, ended: false })
    }

    /// The line where the row read last starts; 0 before the first row of data.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The names of the columns that are learned from, in the order of the file. Unlike inputs they
    /// are all known from the start.
    ///
    /// ```
    /// use broadstream::stream::csv::{CsvOptions, CsvStream};
    ///
    /// let text = "age,job,id,buys\n31,clerk,7,yes\n";
    /// let options = CsvOptions { drop: vec!["id".into()], ..CsvOptions::default() };
    /// let stream = CsvStream::new(Box::new(text.as_bytes()), options)?;
    /// assert_eq!(stream.columns().collect::<Vec<_>>(), ["age", "job"]);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// Appends the next sample to `block`; `false` at the end or if it is not to be waited for.
    fn read_sample(&mut self, block: &mut Block, wait: bool) -> Result<bool, Error> {
        let row = if wait { self.rows.next()? } else { self.rows.next_if_ready()? };
        let Some(row) = row else { return Ok(false) };
        self.line = row.line();
        let (sample, class) = encode(&self.columns, &mut self.encoder, row)?;
        block.push(sample, class, 1.0)?;
        Ok(true)
    }
}

/// The sample and the class that a row holds.
fn encode<'e>(
    columns: &Columns,
    encoder: &'e mut RowEncoder,
    row: Row<'_>,
) -> Result<(Sample<'e>, usize), StreamError> {
    if row.len() != columns.len() {
        let (line, expected, found) = (row.line(), columns.len(), row.len());
        return Err(StreamError::Ragged { line, expected, found });
    }
    let label = row.cell(columns.target());
    encoder.encode_raw(row.place(), label, columns.inputs(), move |position| row.cell(position))
}

impl Stream for CsvStream {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    fn inputs_per_sample(&self) -> usize {
        self.encoder.columns().len()
    }

    fn encoding(&self) -> Option<RowEncoding> {
        Some(self.encoder.encoding())
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        while read < most && !self.ended {
            let wait = read == 0;
            match self.read_sample(block, wait) {
                Ok(true) => read += 1,
                Ok(false) => {
                    self.ended = wait;
                    break;
                }
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
        Ok(read)
    }
}

impl fmt::Debug for CsvStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CsvStream")
            .field("line", &self.line)
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}
