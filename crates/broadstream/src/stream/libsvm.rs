//! LIBSVM files: a label and the inputs that are not left out, row by row in bounded memory.
//!
//! A row is `label index:value index:value …`, and what follows a `#` is a comment. Each index is a
//! column of its own, named by its number, that is declared when it first appears. So a row that
//! mentions three of a million columns stays three numbers long.

use std::{collections::HashMap, fmt, io::Read};

use super::{
    Cell, ColumnKind, ColumnOptions, Place, RowEncoder, RowEncoding, Stream, StreamError,
    cell::excerpt,
    lines::{LONGEST_LINE, Lines},
};
use crate::{
    data::{Block, Schema},
    error::Error,
};

/// The samples of a LIBSVM file, plain or compressed by gzip or zstd.
///
/// Labels are any texts without a comma or colon: a row of several labels is an error. Indices must
/// increase within a row and lie below 2³¹; 0 is one. An index that a row does not mention is absent
/// from its sample, and one with the value 0 is present, so a file that leaves zeros out says less
/// than one that has them. A value that is `?`, `NA` or `NaN` is missing. The query of a ranking
/// file, `qid:7` behind the label, is passed over.
///
/// Columns to drop or of a given kind are named by their index. The target cannot be chosen: it is
/// what rows begin with, and is called `label`.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{ColumnOptions, Stream, libsvm::LibsvmStream},
/// };
///
/// let text = "spam 3:0.5 9:1\nham 1:2 9:0 # from a friend\n";
/// let mut stream = LibsvmStream::new(Box::new(text.as_bytes()), ColumnOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["3", "9", "1"]);
/// assert_eq!(stream.schema().labels(), ["spam", "ham"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(1, 0.0), (2, 2.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct LibsvmStream {
    lines: Lines,
    encoder: RowEncoder,
    indices: Indices,
    inputs_per_sample: usize,
    line: u64,
    ended: bool,
}

impl LibsvmStream {
    /// Reads the beginning of a file, up to 1000 rows, to see how many inputs a sample has.
    ///
    /// A fault in a row is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: ColumnOptions) -> Result<Self, Error> {
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file of which no line has been taken yet.
    pub(super) fn of_lines(mut lines: Lines, options: &ColumnOptions) -> Result<Self, Error> {
        let indices = Indices::new(options)?;
        let inputs_per_sample = survey(&mut lines, &indices)?;
        let encoder = RowEncoder::new(TARGET, options.categories);
        Ok(LibsvmStream { lines, encoder, indices, inputs_per_sample, line: 0, ended: false })
    }

    /// The line of the row read last; 0 before the first row.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The names of the columns that have appeared so far, in the order of appearance.
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// Appends the next sample to `block`; `false` at the end.
    fn read_sample(&mut self, block: &mut Block) -> Result<bool, Error> {
        while let Some(range) = self.lines.peek()? {
            self.line = self.lines.line();
            self.lines.pass();
            if let Some(row) = Row::of(self.lines.text(range)) {
                encode(&row, self.line, &mut self.indices, &mut self.encoder, block)?;
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl Stream for LibsvmStream {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    /// The mean number of entries over the first rows, at least 1: the number of columns would say
    /// nothing about sparse rows, and is not known.
    fn inputs_per_sample(&self) -> usize {
        self.inputs_per_sample
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

impl fmt::Debug for LibsvmStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LibsvmStream")
            .field("line", &self.line)
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}

/// Whether a line looks like a row of this format: a label and then entries, at least one.
pub(super) fn is_row(line: &[u8]) -> bool {
    Row::of(line).is_some_and(|row| {
        let mut entries = row.entries().peekable();
        row.check_label(0).is_ok()
            && entries.peek().is_some()
            && entries.all(|token| parse_entry(token, 0).is_ok())
    })
}

/// What the target is called.
const TARGET: &str = "label";

/// One more than the largest index.
const INDICES: u32 = 1 << 31;

/// Which column an index is.
struct Indices {
    /// The columns that have appeared; `None` for one that is left out.
    columns: HashMap<u32, Option<usize>>,
    categorical: Vec<u32>,
}

impl Indices {
    fn new(options: &ColumnOptions) -> Result<Self, Error> {
        if let Some(target) = &options.target {
            return Err(Error::Config {
                option: "target",
                rule: "left out for LIBSVM, where the label begins a row",
                value: format!("'{target}'"),
            });
        }
        let dropped = indices("drop", &options.drop)?;
        let categorical = indices("categorical", &options.categorical)?;
        let numeric = indices("numeric", &options.numeric)?;
        if let Some(both) = numeric.iter().find(|index| categorical.contains(index)) {
            return Err(StreamError::KindConflict { column: both.to_string() }.into());
        }
        let columns = dropped.into_iter().map(|index| (index, None)).collect();
        Ok(Indices { columns, categorical })
    }

    fn is_dropped(&self, index: u32) -> bool {
        self.columns.get(&index) == Some(&None)
    }

    /// The column of an index, a new one if the index is new, or `None` if it is left out.
    fn column(
        &mut self,
        index: u32,
        encoder: &mut RowEncoder,
        place: Place,
    ) -> Result<Option<usize>, StreamError> {
        if let Some(&column) = self.columns.get(&index) {
            return Ok(column);
        }
        let kind = match self.categorical.contains(&index) {
            true => ColumnKind::Categorical,
            false => ColumnKind::Numeric,
        };
        let column = encoder.add_column(index.to_string(), Some(kind), place)?;
        self.columns.insert(index, Some(column));
        Ok(Some(column))
    }
}

/// The indices that an option names.
fn indices(option: &'static str, names: &[String]) -> Result<Vec<u32>, Error> {
    let index = |name: &String| {
        parse_index(name.as_bytes()).ok_or_else(|| Error::Config {
            option,
            rule: "a list of indices below 2147483648 for LIBSVM",
            value: format!("'{name}'"),
        })
    };
    names.iter().map(index).collect()
}

/// The mean number of entries of the next rows, 1000 or fewer if these are huge. The lines are then
/// where they were before. A faulty row is the last one looked at.
fn survey(lines: &mut Lines, indices: &Indices) -> Result<usize, StreamError> {
    const ROWS: usize = 1000;
    let (mut rows, mut entries) = (0, 0);
    lines.mark();
    'rows: while rows < ROWS && lines.kept() <= LONGEST_LINE {
        let range = match lines.peek() {
            Ok(Some(range)) => range,
            Ok(None) if rows == 0 => return Err(StreamError::Empty),
            Ok(None) | Err(_) => break,
        };
        if let Some(row) = Row::of(lines.text(range)) {
            for token in row.entries() {
                entries += match parse_entry(token, lines.line()) {
                    Ok((index, _)) => usize::from(!indices.is_dropped(index)),
                    Err(_) => break 'rows,
                };
            }
            rows += 1;
        }
        lines.pass();
    }
    lines.rewind();
    lines.forget_mark();
    Ok(((entries + rows / 2) / rows.max(1)).max(1))
}

/// A row, cut into its label and the text of its entries.
struct Row<'a> {
    label: &'a [u8],
    entries: &'a [u8],
}

impl<'a> Row<'a> {
    /// `None` if a line is blank or only a comment.
    fn of(line: &'a [u8]) -> Option<Self> {
        let end = memchr::memchr(b'#', line).unwrap_or(line.len());
        let text = line[..end].trim_ascii();
        let label = text.split(u8::is_ascii_whitespace).next().filter(|label| !label.is_empty())?;
        Some(Row { label, entries: &text[label.len()..] })
    }

    fn entries(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let mut tokens = self
            .entries
            .split(u8::is_ascii_whitespace)
            .filter(|token| !token.is_empty())
            .peekable();
        tokens.next_if(|token| token.starts_with(b"qid:"));
        tokens
    }

    fn check_label(&self, line: u64) -> Result<(), StreamError> {
        let expected = match self.label {
            label if label.contains(&b':') => "a label before the entries",
            label if label.contains(&b',') => "one label per row",
            _ => return Ok(()),
        };
        Err(unexpected(line, expected.to_owned(), self.label))
    }
}

/// Appends the sample of a row to `block`.
fn encode(
    row: &Row<'_>,
    line: u64,
    indices: &mut Indices,
    encoder: &mut RowEncoder,
    block: &mut Block,
) -> Result<(), Error> {
    let place = Place::Line(line);
    row.check_label(line)?;
    encoder.begin(place);
    let mut previous = None;
    for token in row.entries() {
        let (index, value) = parse_entry(token, line)?;
        if let Some(previous) = previous.filter(|previous| *previous >= index) {
            return Err(unexpected(line, format!("an index above {previous}"), token).into());
        }
        previous = Some(index);
        if let Some(column) = indices.column(index, encoder, place)? {
            encoder.push(column, Cell::Raw(value))?;
        }
    }
    let (sample, class) = encoder.finish(Cell::Raw(row.label))?;
    block.push(sample, class, 1.0)
}

/// The index and the text of the value.
fn parse_entry(token: &[u8], line: u64) -> Result<(u32, &[u8]), StreamError> {
    let colon = memchr::memchr(b':', token).filter(|colon| colon + 1 < token.len());
    let Some(colon) = colon else {
        return Err(unexpected(line, "index:value".to_owned(), token));
    };
    match parse_index(&token[..colon]) {
        Some(index) => Ok((index, &token[colon + 1..])),
        None => Err(unexpected(line, format!("an index from 0 to {}", INDICES - 1), token)),
    }
}

fn parse_index(text: &[u8]) -> Option<u32> {
    let digits = std::str::from_utf8(text).ok().filter(|text| !text.starts_with('+'))?;
    digits.parse().ok().filter(|index| *index < INDICES)
}

fn unexpected(line: u64, expected: String, token: &[u8]) -> StreamError {
    let found = format!("'{}'", excerpt(token));
    StreamError::Unexpected { place: Place::Line(line), expected, found }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::btree_map, prelude::*};

    use super::*;
    use crate::stream::table::{Table, read, row};

    fn table_with(text: &str, options: &ColumnOptions) -> Table {
        let source = || Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        read(|| LibsvmStream::new(source(), options.clone()))
    }

    fn table(text: &str) -> Table {
        table_with(text, &ColumnOptions::default())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn rows_have_what_they_mention() {
        let text = "+1 2:0.5 7:-1e3\n\n# only a comment\r\n-1 qid:3 0:0\t2:1#note 9:9\r\n+1\n\
                    -1 1:? 7:nan 2147483647:4";
        let table = table(text);
        assert_eq!(table.error, None);
        assert_eq!(table.inputs, ["2", "7", "0", "1", "2147483647"]);
        let expected = [
            row(&[("2", 0.5), ("7", -1000.0)], "+1"),
            row(&[("2", 1.0), ("0", 0.0)], "-1"),
            row(&[], "+1"),
            row(&[("2147483647", 4.0)], "-1"),
        ];
        assert_eq!(table.rows, expected);
    }

    #[test]
    fn columns_are_named_by_their_index() {
        let options = ColumnOptions {
            drop: names(&["3"]),
            categorical: names(&["1"]),
            numeric: names(&["2"]),
            ..ColumnOptions::default()
        };
        let table = table_with("a 1:7 2:5 3:9\nb 1:8 3:x\n", &options);
        assert_eq!(table.rows[0], row(&[("1=7", 1.0), ("2", 5.0)], "a"));
        assert_eq!(table.rows[1], row(&[("1=8", 1.0)], "b"));
    }

    #[test]
    fn inputs_per_sample_are_the_mean_of_the_first_rows() {
        for (text, drop, expected) in [
            ("a 1:1 2:1 3:1\nb 1:1\nb 1:1\n", &[][..], 2),
            ("a 1:1 2:1 3:1\nb 1:1\n", &["1"], 1),
            ("a\nb\n", &[], 1),
            ("a 1:1 2:2 3:3\nb 1\n", &[], 3),
        ] {
            let options = ColumnOptions { drop: names(drop), ..ColumnOptions::default() };
            let stream = LibsvmStream::new(Box::new(text.as_bytes()), options).unwrap();
            assert_eq!(stream.inputs_per_sample(), expected, "{text}");
        }
    }

    #[test]
    fn faults_are_named_with_their_place() {
        for (fault, message) in [
            ("a 1:1 x", "expected index:value, found 'x'"),
            ("a 1:", "expected index:value, found '1:'"),
            ("a :1", "expected an index from 0 to 2147483647, found ':1'"),
            ("a -1:1", "expected an index from 0 to 2147483647, found '-1:1'"),
            ("a 2147483648:1", "expected an index from 0 to 2147483647, found '2147483648:1'"),
            ("a 2:1 2:1", "expected an index above 2, found '2:1'"),
            ("a 3:1 2:1", "expected an index above 3, found '2:1'"),
            ("a 1:1 qid:3", "expected an index from 0 to 2147483647, found 'qid:3'"),
            ("1,3 1:1", "expected one label per row, found '1,3'"),
            ("1:1 2:1", "expected a label before the entries, found '1:1'"),
        ] {
            let table = table(&format!("b 1:1\n\n{fault}\nb 1:2\n"));
            assert_eq!(table.rows.len(), 1, "{fault}");
            assert_eq!(table.error, Some(format!("line 3: {message}")));
        }
        for (fault, message) in [
            ("a 1:inf", "column '1': expected a finite number, found 'inf'"),
            ("? 1:1", "column 'label': the label is missing"),
        ] {
            assert_eq!(table(fault).error, Some(format!("line 1, {message}")));
        }
        for text in ["", "\n", "# a\n\n"] {
            let message = "the stream is empty: expected at least one row of data";
            assert_eq!(table(text).error.unwrap(), message);
        }
    }

    #[test]
    fn options_that_mean_nothing_are_refused() {
        for (options, message) in [
            (
                ColumnOptions { target: Some("1".into()), ..ColumnOptions::default() },
                "target must be left out for LIBSVM, where the label begins a row, got '1'",
            ),
            (
                ColumnOptions { drop: names(&["age"]), ..ColumnOptions::default() },
                "drop must be a list of indices below 2147483648 for LIBSVM, got 'age'",
            ),
            (
                ColumnOptions {
                    numeric: names(&["1", "2"]),
                    categorical: names(&["2"]),
                    ..ColumnOptions::default()
                },
                "column '2' must be either numeric or categorical, but is declared to be both",
            ),
        ] {
            assert_eq!(table_with("a 1:1\n", &options).error.unwrap(), message);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            rows in proptest::collection::vec(
                ("[a-z0-9+.-]{1,5}", btree_map(0..40u32, -1e9..1e9f64, 0..6)), 1..20,
            ),
        ) {
            prop_assume!(rows.iter().all(|(label, _)| label != "na" && label != "nan"));
            let mut text = String::new();
            for (label, entries) in &rows {
                text += label;
                for (index, value) in entries {
                    text += &format!(" {index}:{value}");
                }
                text += "\n";
            }
            let table = table(&text);
            prop_assert_eq!(table.error, None);
            for (read, (label, entries)) in table.rows.iter().zip(&rows) {
                let mut inputs = read.0.clone();
                inputs.sort_by_key(|(name, _)| name.parse::<u32>().unwrap());
                let expected: Vec<_> = entries.iter().map(|(i, v)| (i.to_string(), *v)).collect();
                prop_assert_eq!(&inputs, &expected);
                prop_assert_eq!(&read.1, label);
            }
            prop_assert_eq!(table.rows.len(), rows.len());
        }
    }
}
