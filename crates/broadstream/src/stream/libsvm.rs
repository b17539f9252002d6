//! LIBSVM files: a label and the inputs that are not left out, row by row in bounded memory.
//!
//! A row is `label index:value index:value …`, and `#` begins a comment. Each index is a column of its
//! own, named by its number, and is declared when it first appears. So a row that mentions three of a
//! million columns takes the memory of three numbers.

use std::{collections::HashMap, io::Read};

use super::{
    Cell, ColumnKind, EncodedRow, Place, RowEncoder, RowReader, RowStream, StreamError,
    TableOptions, TextFormat,
    cell::excerpt,
    lines::{LONGEST_LINE, Lines},
};
use crate::error::Error;

/// The samples of a LIBSVM file, plain or compressed by gzip or zstd.
///
/// A label is any text without a comma or colon; a row of several labels is an error. Indices must
/// increase within a row and lie below 2³¹; 0 is allowed. An index that a row does not mention is absent
/// from its sample, and one with the value 0 is present, so a file that leaves zeros out contains less
/// information than one that has them. A value that is `?`, `NA` or `NaN` is missing. The query of a
/// ranking file, `qid:7` after the label, is passed over.
///
/// The options name columns by their index. The target cannot be chosen: it is the label that begins
/// each row, and is called `label`.
///
/// The number of inputs per sample is the mean number of entries over the first rows. The number of
/// columns would say nothing about sparse rows, and is not known in advance.
///
/// ```
/// use broadstream::{
///     Block,
///     stream::{Stream, TableOptions, libsvm::LibsvmStream},
/// };
///
/// let text = "spam 3:0.5 9:1\nham 1:2 9:0 # from a friend\n";
/// let mut stream = LibsvmStream::new(Box::new(text.as_bytes()), TableOptions::default())?;
/// let mut block = Block::new();
/// assert_eq!(stream.read_block(&mut block, 100)?, 2);
///
/// let names: Vec<_> = stream.schema().inputs().iter().map(|input| &input.name).collect();
/// assert_eq!(names, ["3", "9", "1"]);
/// assert_eq!(stream.schema().labels(), ["spam", "ham"]);
/// assert_eq!(block.sample(1).iter().collect::<Vec<_>>(), [(1, 0.0), (2, 2.0)]);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub type LibsvmStream = RowStream<LibsvmReader>;

/// Reads the rows of a LIBSVM file; see [`LibsvmStream`].
pub struct LibsvmReader {
    lines: Lines,
    indices: Indices,
    inputs_per_sample: usize,
}

impl LibsvmStream {
    /// Reads the beginning of a file, up to 1000 rows, to see how many inputs a sample has.
    ///
    /// A fault in a row is not reported here but when that row is read.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn new(reader: Box<dyn Read + Send>, options: TableOptions) -> Result<Self, Error> {
        options.check(TextFormat::Libsvm)?;
        Self::of_lines(Lines::open(reader)?, &options)
    }

    /// Reads the beginning of a file from its first line.
    pub(super) fn of_lines(mut lines: Lines, options: &TableOptions) -> Result<Self, Error> {
        let indices = Indices::new(options)?;
        let inputs_per_sample = survey(&mut lines, &indices)?;
        let encoder = options.encoder(TARGET);
        Ok(RowStream::of(LibsvmReader { lines, indices, inputs_per_sample }, encoder))
    }
}

impl RowReader for LibsvmReader {
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error> {
        while let Some(range) = self.lines.peek()? {
            let line = self.lines.line();
            self.lines.pass();
            if let Some(row) = Row::of(self.lines.text(range)) {
                return Ok(Some(encode(&row, line, &mut self.indices, encoder)?));
            }
        }
        Ok(None)
    }

    fn is_ready(&mut self) -> bool {
        self.lines.is_row_ready(|line| Row::of(line).is_some())
    }

    fn inputs_per_sample(&self, _: &RowEncoder) -> usize {
        self.inputs_per_sample
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

/// The name of the target.
const TARGET: &str = "label";

/// One more than the largest index.
const INDICES: u32 = 1 << 31;

/// The column of each index.
struct Indices {
    /// The columns that have appeared; `None` for one that is left out.
    columns: HashMap<u32, Option<usize>>,
    categorical: Vec<u32>,
}

impl Indices {
    fn new(options: &TableOptions) -> Result<Self, Error> {
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

/// The mean number of entries of the next rows, 1000 or fewer if these are huge; at least 1. Leaves the
/// lines where they were. Stops at a faulty row, which is reported when it is read for its sample.
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

/// A row, divided into its label and the text of its entries.
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

/// Encodes a row.
fn encode<'e>(
    row: &Row<'_>,
    line: u64,
    indices: &mut Indices,
    encoder: &'e mut RowEncoder,
) -> Result<EncodedRow<'e>, StreamError> {
    let place = Place::Line(line);
    row.check_label(line)?;
    encoder.begin(place);
    let mut previous = None;
    for token in row.entries() {
        let (index, value) = parse_entry(token, line)?;
        if let Some(previous) = previous.filter(|previous| *previous >= index) {
            return Err(unexpected(line, format!("an index above {previous}"), token));
        }
        previous = Some(index);
        if let Some(column) = indices.column(index, encoder, place)? {
            encoder.push(column, Cell::Raw(value))?;
        }
    }
    let (sample, class) = encoder.finish(Cell::Raw(row.label))?;
    Ok(EncodedRow { sample, class, weight: 1.0 })
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
    use crate::stream::{
        Stream,
        contents::{Contents, read, row},
    };

    fn contents_with(text: &str, options: &TableOptions) -> Contents {
        let source = || Box::new(std::io::Cursor::new(text.as_bytes().to_vec()));
        read(|| LibsvmStream::new(source(), options.clone()))
    }

    fn contents(text: &str) -> Contents {
        contents_with(text, &TableOptions::default())
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn rows_have_what_they_mention() {
        let text = "+1 2:0.5 7:-1e3\n\n# only a comment\r\n-1 qid:3 0:0\t2:1#note 9:9\r\n+1\n\
                    -1 1:? 7:nan 2147483647:4";
        let contents = contents(text);
        assert_eq!(contents.error, None);
        assert_eq!(contents.inputs, ["2", "7", "0", "1", "2147483647"]);
        let expected = [
            row(&[("2", 0.5), ("7", -1000.0)], "+1"),
            row(&[("2", 1.0), ("0", 0.0)], "-1"),
            row(&[], "+1"),
            row(&[("2147483647", 4.0)], "-1"),
        ];
        assert_eq!(contents.rows, expected);
    }

    #[test]
    fn columns_are_named_by_their_index() {
        let options = TableOptions {
            drop: names(&["3"]),
            categorical: names(&["1"]),
            numeric: names(&["2"]),
            ..TableOptions::default()
        };
        let contents = contents_with("a 1:7 2:5 3:9\nb 1:8 3:x\n", &options);
        assert_eq!(contents.rows[0], row(&[("1=7", 1.0), ("2", 5.0)], "a"));
        assert_eq!(contents.rows[1], row(&[("1=8", 1.0)], "b"));
    }

    #[test]
    fn inputs_per_sample_are_the_mean_of_the_first_rows() {
        for (text, drop, expected) in [
            ("a 1:1 2:1 3:1\nb 1:1\nb 1:1\n", &[][..], 2),
            ("a 1:1 2:1 3:1\nb 1:1\n", &["1"], 1),
            ("a\nb\n", &[], 1),
            ("a 1:1 2:2 3:3\nb 1\n", &[], 3),
        ] {
            let options = TableOptions { drop: names(drop), ..TableOptions::default() };
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
            let contents = contents(&format!("b 1:1\n\n{fault}\nb 1:2\n"));
            assert_eq!(contents.rows.len(), 1, "{fault}");
            assert_eq!(contents.error, Some(format!("line 3: {message}")));
        }
        for (fault, message) in [
            ("a 1:inf", "column '1': expected a finite number, found 'inf'"),
            ("? 1:1", "column 'label': the label is missing"),
        ] {
            assert_eq!(contents(fault).error, Some(format!("line 1, {message}")));
        }
        for text in ["", "\n", "# a\n\n"] {
            let message = "the stream is empty: expected at least one row of data";
            assert_eq!(contents(text).error.unwrap(), message);
        }
    }

    #[test]
    fn options_without_meaning_are_refused() {
        for (options, message) in [
            (
                TableOptions { target: Some("1".into()), ..TableOptions::default() },
                "LIBSVM has no option 'target', got '1'",
            ),
            (
                TableOptions { drop: names(&["age"]), ..TableOptions::default() },
                "drop must be a list of indices below 2147483648 for LIBSVM, got 'age'",
            ),
            (
                TableOptions {
                    numeric: names(&["1", "2"]),
                    categorical: names(&["2"]),
                    ..TableOptions::default()
                },
                "column '2' must be either numeric, categorical, text or dates, but is declared to be two of them",
            ),
        ] {
            assert_eq!(contents_with("a 1:1\n", &options).error.unwrap(), message);
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
            let contents = contents(&text);
            prop_assert_eq!(contents.error, None);
            for (read, (label, entries)) in contents.rows.iter().zip(&rows) {
                let mut inputs = read.0.clone();
                inputs.sort_by_key(|(name, _)| name.parse::<u32>().unwrap());
                let expected: Vec<_> = entries.iter().map(|(i, v)| (i.to_string(), *v)).collect();
                prop_assert_eq!(&inputs, &expected);
                prop_assert_eq!(&read.1, label);
            }
            prop_assert_eq!(contents.rows.len(), rows.len());
        }
    }
}
