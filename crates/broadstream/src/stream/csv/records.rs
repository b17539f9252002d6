//! Lines split into records of cells.
//!
//! Most records of most files are one line without a quote. Such a line is cut at its delimiters in
//! place, about four times faster than a parser that must look out for quotes. All other records are
//! parsed by the `csv` crate, whose rules hold for both: a quote matters only at the start
//! of a cell, and a doubled quote inside a quoted cell stands for one.

use ::csv::{ByteRecord, Reader, ReaderBuilder, Terminator};
use memchr::{memchr, memchr_iter};

use crate::stream::{Place, StreamError, lines::Lines};

/// One record: a row of cells, borrowed from its reader.
#[derive(Clone, Copy)]
pub(in crate::stream) struct Record<'a> {
    text: &'a [u8],
    /// Where each cell ends in `text`.
    ends: &'a [usize],
    /// How many bytes of `text` lie between two cells.
    gap: usize,
    line: u64,
}

impl<'a> Record<'a> {
    /// The number of cells.
    pub(in crate::stream) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The line where the record starts.
    pub(in crate::stream) fn line(&self) -> u64 {
        self.line
    }

    /// Where the record starts, for messages.
    pub(in crate::stream) fn place(&self) -> Place {
        Place::Line(self.line)
    }

    /// Cell `i`, with the blanks around it.
    #[inline]
    pub(in crate::stream) fn cell(&self, i: usize) -> &'a [u8] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] + self.gap };
        &self.text[start..self.ends[i]]
    }

    pub(in crate::stream) fn cells(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).map(move |i| self.cell(i))
    }
}

/// The records of a CSV source. Blank lines are not records.
pub(in crate::stream) struct Records {
    lines: Reader<Lines>,
    delimiter: u8,
    /// The record read last, if it had a quote.
    record: ByteRecord,
    ends: Vec<usize>,
}

impl Records {
    /// The records of `lines` from the next one on.
    pub(in crate::stream) fn new(lines: Lines, delimiter: u8) -> Self {
        Records {
            lines: quote_parser(delimiter, lines.terminator()).from_reader(lines),
            delimiter,
            record: ByteRecord::new(),
            ends: Vec::new(),
        }
    }

    /// The next record, or `None` at the end.
    pub(in crate::stream) fn next(&mut self) -> Result<Option<Record<'_>>, StreamError> {
        self.next_within(usize::MAX)
    }

    /// The next record, or `None` at the end or once more than `most` bytes have been kept since the mark:
    /// a source may have gigabytes of blank lines between two records.
    pub(in crate::stream) fn next_within(
        &mut self,
        most: usize,
    ) -> Result<Option<Record<'_>>, StreamError> {
        loop {
            if self.kept() > most {
                return Ok(None);
            }
            let lines = self.lines.get_mut();
            let Some(range) = lines.peek()? else { return Ok(None) };
            let line = lines.line();
            let text = lines.text(range.clone());
            if is_blank(text, self.delimiter) {
                lines.pass();
            } else if memchr(b'"', text).is_some() {
                self.parse_quoted()?;
                let text = self.record.as_slice();
                return Ok(Some(Record { text, ends: &self.ends, gap: 0, line }));
            } else {
                lines.pass();
                let text = self.lines.get_ref().text(range);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                split(text, self.delimiter, &mut self.ends);
                return Ok(Some(Record { text, ends: &self.ends, gap: 1, line }));
            }
        }
    }

    /// Whether the next record, or the end, can be read without waiting for the source.
    pub(in crate::stream) fn is_ready(&mut self) -> bool {
        let lines = self.lines.get_mut();
        while let Some(range) = lines.ready() {
            let text = lines.text(range);
            if !is_blank(text, self.delimiter) {
                return !has_open_quote(text) || lines.has_ended();
            }
            lines.pass();
        }
        lines.has_ended()
    }

    /// Reads the next record, which may take several lines, into `record` and `ends`.
    fn parse_quoted(&mut self) -> Result<(), StreamError> {
        self.lines.get_mut().begin_row();
        if let Err(error) = self.lines.read_byte_record(&mut self.record) {
            let lines = self.lines.get_mut();
            return Err(lines.take_refusal().unwrap_or_else(|| StreamError::Read {
                place: Place::Line(lines.line()),
                source: error.into(),
            }));
        }
        self.ends.clear();
        self.ends.extend((0..self.record.len()).filter_map(|i| Some(self.record.range(i)?.end)));
        Ok(())
    }

    /// Marks the next record and keeps what follows in memory, until the mark is forgotten. Blank lines
    /// before the record are not kept.
    pub(in crate::stream) fn mark(&mut self) {
        let delimiter = self.delimiter;
        let lines = self.lines.get_mut();
        lines.pass_blank(|line| is_blank(line, delimiter));
        lines.mark();
    }

    /// How many bytes have been kept since the mark.
    pub(in crate::stream) fn kept(&self) -> usize {
        self.lines.get_ref().kept()
    }

    /// The bytes since the mark.
    pub(in crate::stream) fn since_mark(&self) -> &[u8] {
        self.lines.get_ref().since_mark()
    }

    pub(in crate::stream) fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Goes back to the marked record. All that followed will follow again, including an error.
    pub(in crate::stream) fn rewind(self) -> Self {
        let mut lines = self.lines.into_inner();
        lines.rewind();
        // A parser that has met an error stays at its end, so a new one is needed.
        Records::new(lines, self.delimiter)
    }

    pub(in crate::stream) fn forget_mark(&mut self) {
        self.lines.get_mut().forget_mark();
    }

    /// How many bytes of memory the lines take.
    #[cfg(test)]
    pub(super) fn memory(&self) -> usize {
        self.lines.get_ref().memory()
    }
}

/// The parser of records with quotes. A record ends exactly at its terminator, because the parser must
/// not leave the rest of a line in its own buffer. The carriage return of a CRLF becomes part of the
/// last cell, where it is trimmed together with blanks.
pub(in crate::stream) fn quote_parser(delimiter: u8, terminator: u8) -> ReaderBuilder {
    let mut builder = ReaderBuilder::new();
    builder
        .delimiter(delimiter)
        .terminator(Terminator::Any(terminator))
        .has_headers(false)
        .flexible(true);
    builder
}

fn is_blank(line: &[u8], delimiter: u8) -> bool {
    line.iter().all(|&byte| byte.is_ascii_whitespace() && byte != delimiter)
}

/// Whether a line seems to end within quotes. Its record then continues on the next line, which may not
/// have arrived yet.
fn has_open_quote(line: &[u8]) -> bool {
    !memchr_iter(b'"', line).count().is_multiple_of(2)
}

/// Writes to `ends` where each cell of a line without quotes ends.
fn split(text: &[u8], delimiter: u8, ends: &mut Vec<usize>) {
    const ONES: u64 = u64::from_ne_bytes([0x01; 8]);
    const LOW: u64 = u64::from_ne_bytes([0x7f; 8]);
    ends.clear();
    // Cells are short, so a search that restarts after each delimiter does not pay. Instead eight bytes
    // are compared at once: after the exclusive or, a byte is 0 where the delimiter was, and
    // `found` has the top bit of exactly these bytes set.
    let pattern = ONES * u64::from(delimiter);
    let (words, rest) = text.as_chunks::<8>();
    for (w, word) in words.iter().enumerate() {
        let differs = u64::from_le_bytes(*word) ^ pattern;
        let mut found = !(((differs & LOW) + LOW) | differs | LOW);
        while found != 0 {
            ends.push(8 * w + found.trailing_zeros() as usize / 8);
            found &= found - 1;
        }
    }
    let start = 8 * words.len();
    for (i, &byte) in rest.iter().enumerate() {
        if byte == delimiter {
            ends.push(start + i);
        }
    }
    ends.push(text.len());
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Table = Vec<Vec<String>>;

    fn rows(text: &[u8], delimiter: u8) -> Records {
        Records::new(Lines::new(Box::new(std::io::Cursor::new(text.to_vec()))), delimiter)
    }

    /// The cells without blanks, and the lines of their rows.
    fn read(mut rows: Records) -> (Table, Vec<u64>, Result<(), StreamError>) {
        let (mut table, mut lines) = (Vec::new(), Vec::new());
        loop {
            match rows.next() {
                Ok(Some(row)) => {
                    lines.push(row.line());
                    table.push(row.cells().map(trimmed).collect());
                }
                Ok(None) => return (table, lines, Ok(())),
                Err(error) => return (table, lines, Err(error)),
            }
        }
    }

    fn trimmed(cell: &[u8]) -> String {
        String::from_utf8_lossy(cell.trim_ascii()).into_owned()
    }

    #[test]
    fn rows_know_the_line_where_they_start() {
        let text = b"\n \r\na,b\r\n\"c\nd\",\"e\n\n\"\r\n\nf,\"g\"\nh,i";
        let (table, lines, outcome) = read(rows(text, b','));
        outcome.unwrap();
        assert_eq!(table, [["a", "b"], ["c\nd", "e"], ["f", "g"], ["h", "i"]]);
        assert_eq!(lines, [3, 4, 9, 10]);
    }

    #[test]
    fn a_quote_left_open_is_reported_where_its_row_starts() {
        for text in ["a,b\n1,\"2\n3,4\n", "a,b\n1,\"2", "a,b\n\"", "a,b\n\"x\"\"\n\n"] {
            let (table, _, outcome) = read(rows(text.as_bytes(), b','));
            assert_eq!(table, [["a", "b"]]);
            let message = outcome.unwrap_err().to_string();
            assert_eq!(message, "line 2: a quote opened in this row is never closed", "{text:?}");
        }
    }

    #[test]
    fn blank_lines_and_rows_of_empty_cells_differ() {
        let (table, ..) = read(rows(b"a\tb\n\t\n \n", b'\t'));
        assert_eq!(table, [["a", "b"], ["", ""]]);
    }

    #[test]
    fn a_byte_order_mark_inside_a_file_is_text() {
        let (table, ..) = read(rows("a,b\n\u{feff}c,\"d\"".as_bytes(), b','));
        assert_eq!(table[1][0], "\u{feff}c");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        /// The two ways of splitting a row follow the same rules.
        #[test]
        fn rows_are_those_of_the_csv_crate(text in "[ab;\"\"\r\n\n \u{fc}]{0,40}") {
            let mut expected: Table = quote_parser(b';', b'\n')
                .from_reader(text.as_bytes())
                .into_byte_records()
                .map(|record| record.unwrap().iter().map(trimmed).collect())
                .collect();
            let (mut table, _, outcome) = read(rows(text.as_bytes(), b';'));
            if outcome.is_err() {
                // The crate closes an open quote at the end by itself.
                prop_assert_eq!(expected.pop().is_some(), true);
            }
            expected.retain(|row| row != &[""]);
            table.retain(|row| row != &[""]);
            prop_assert_eq!(table, expected);
        }

        #[test]
        fn cells_end_at_delimiters(text in "[a,]{0,70}") {
            let mut ends = Vec::new();
            split(text.as_bytes(), b',', &mut ends);
            let mut expected: Vec<usize> = text.match_indices(',').map(|(i, _)| i).collect();
            expected.push(text.len());
            prop_assert_eq!(ends, expected);
        }

        #[test]
        fn any_byte_may_be_the_delimiter(
            text in proptest::collection::vec(any::<u8>(), 0..100),
            delimiter: u8,
        ) {
            let mut ends = Vec::new();
            split(&text, delimiter, &mut ends);
            prop_assert_eq!(ends.len(), text.split(|&byte| byte == delimiter).count());
        }
    }
}
