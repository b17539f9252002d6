//! CSV and TSV files, read row by row in bounded memory.
//!
//! Lines of bounded length are split into records of cells (`records`), and a [`RowEncoder`] makes
//! samples of them. Before that, the first records tell the delimiter (`dialect`), the very first one
//! the names of the columns (`header`), and the first thousand which columns hold numbers, and with which
//! decimal sign (`kinds`).
//! These records are then read once more for their samples.

mod dialect;
mod header;
mod kinds;
mod records;

use std::io::Read;

pub(super) use self::{
    header::{names_in, numbered},
    records::{Record, Records, quote_parser},
};

use self::{
    dialect::detect_delimiter,
    header::is_header,
    kinds::{Survey, survey},
};
use crate::{
    error::Error,
    stream::{
        ColumnRoles, EncodedRow, RowEncoder, RowReader, RowStream, StreamError, TableOptions,
        TextFormat, lines::Lines,
    },
};

/// The samples of a CSV or TSV file, plain or compressed by gzip or zstd.
///
/// A column is numeric if all its cells among the first 1000 rows are numbers, and categorical
/// otherwise. A cell that is empty, `?`, `NA` or `NaN` is missing: its sample lacks that input.
/// Numbers may have a decimal comma, as in `3,14`: see [`TableOptions::decimal_comma`]. Blanks around cells do
/// not matter. Rows are read on demand, so the file may be larger than memory, or
/// a pipe that never ends.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{Stream, TableOptions, csv::CsvStream},
/// };
///
/// let text = "age,job,buys\n31,clerk,yes\n?,baker,no\n";
/// let mut stream = CsvStream::new(Box::new(text.as_bytes()), TableOptions::default())?;
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
pub type CsvStream = RowStream<CsvReader>;

/// Reads the rows of a CSV file; see [`CsvStream`].
pub struct CsvReader {
    records: Records,
    columns: ColumnRoles,
    warnings: Vec<String>,
}

impl CsvStream {
    /// Reads the beginning of a file: enough to know its columns and their kinds.
    ///
    /// A fault in a row of data is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: TableOptions) -> Result<Self, Error> {
        options.check(TextFormat::Csv)?;
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file from its first line.
    pub(super) fn of_lines(mut lines: Lines, options: &TableOptions) -> Result<Self, Error> {
        let terminator = lines.terminator();
        // Blank lines tell nothing about the delimiter. A tab may be one, so that a line of tabs may be a row.
        let delimiters = [Some(b'\t'), options.delimiter];
        let is_blank = |byte: &u8| byte.is_ascii_whitespace() && !delimiters.contains(&Some(*byte));
        lines.pass_blank(|line| line.iter().all(is_blank));
        let (head, complete) = lines.head();
        let delimiter =
            options.delimiter.unwrap_or_else(|| detect_delimiter(head, complete, terminator));
        let mut records = Records::new(lines, delimiter);
        records.mark();
        let first = records.next()?.ok_or(StreamError::Empty)?;
        let place = first.place();
        let names = if options.header.unwrap_or_else(|| is_header(first)) {
            let names = names_in(first)?;
            // The survey below rewinds to here, after the header.
            records.mark();
            names
        } else {
            let names = numbered(first.len());
            records = records.rewind();
            names
        };

        let columns = ColumnRoles::new(names, options)?;
        let Survey { kinds, forms, decimal, warnings } =
            survey(&mut records, &columns, options.decimal_comma)?;
        records = records.rewind();
        records.forget_mark();
        let mut encoder = columns.encoder(&kinds, options, place)?;
        encoder.set_decimal(decimal);
        // The parts of dates are columns too, which some programs want to know before the first row.
        for (k, form) in forms.into_iter().enumerate() {
            if let Some(form) = form {
                encoder.add_parts(k, form)?;
            }
        }
        Ok(RowStream::of(CsvReader { records, columns, warnings }, encoder))
    }
}

impl RowReader for CsvReader {
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error> {
        let Some(record) = self.records.next()? else { return Ok(None) };
        let (line, expected, found) = (record.line(), self.columns.len(), record.len());
        if found != expected {
            return Err(StreamError::Ragged { line, expected, found }.into());
        }
        let label = record.cell(self.columns.target());
        let inputs = self.columns.inputs();
        let cell = move |position| record.cell(position);
        let (sample, class) = encoder.encode_raw(record.place(), label, inputs, cell)?;
        Ok(Some(EncodedRow { sample, class, weight: 1.0 }))
    }

    fn is_ready(&mut self) -> bool {
        self.records.is_ready()
    }

    fn warnings(&self) -> &[String] {
        &self.warnings
    }
}
