//! Telling from the first bytes of a file how it is written.

use memchr::memchr;

use super::rows::quote_parser;
use crate::stream::{Place, StreamError};

/// How a file marks the ends of cells and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Dialect {
    pub(super) delimiter: u8,
    pub(super) terminator: u8,
    /// How many bytes precede the text.
    pub(super) byte_order_mark: usize,
}

impl Dialect {
    /// The dialect of a file that begins with `head`, and with `complete` consists of it.
    pub(super) fn of(
        head: &[u8],
        complete: bool,
        delimiter: Option<u8>,
    ) -> Result<Self, StreamError> {
        if let Some(nul) = memchr(0, head) {
            let line = 1 + memchr::memchr_iter(b'\n', &head[..nul]).count() as u64;
            return Err(StreamError::NotText { place: Place::Line(line), reason: "binary data" });
        }
        let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
        let terminator = terminator(text);
        Ok(Dialect {
            delimiter: delimiter.unwrap_or_else(|| detect_delimiter(text, complete, terminator)),
            terminator,
            byte_order_mark: head.len() - text.len(),
        })
    }
}

/// Line feeds end lines, also after a carriage return; old files have carriage returns alone.
fn terminator(text: &[u8]) -> u8 {
    // A carriage return at the very end may be half of a line end.
    let inner = &text[..text.len().saturating_sub(1)];
    if memchr(b'\r', inner).is_some() && memchr(b'\n', text).is_none() { b'\r' } else { b'\n' }
}

/// The candidate by which most of the first rows have as many cells as the very first one; of
/// several such candidates, the one that finds more cells.
fn detect_delimiter(text: &[u8], complete: bool, terminator: u8) -> u8 {
    const CANDIDATES: [u8; 4] = [b',', b'\t', b';', b'|'];
    let mut best = (0, 0, CANDIDATES[0]);
    for delimiter in CANDIDATES {
        let lengths = row_lengths(text, complete, delimiter, terminator);
        let cells = lengths.first().copied().unwrap_or(0);
        let agreeing = lengths.iter().filter(|&&length| length == cells).count();
        // A byte that does not occur divides every row evenly, into one cell.
        if cells > 1 && (agreeing, cells) > (best.0, best.1) {
            best = (agreeing, cells, delimiter);
        }
    }
    best.2
}

/// How many cells each of the first rows has by that delimiter.
fn row_lengths(text: &[u8], complete: bool, delimiter: u8, terminator: u8) -> Vec<usize> {
    const ROWS: usize = 100;
    let mut lengths: Vec<usize> = quote_parser(delimiter, terminator)
        .from_reader(text)
        .into_byte_records()
        .map_while(Result::ok)
        .filter(|record| record.iter().any(|cell| !cell.trim_ascii().is_empty()))
        .map(|record| record.len())
        .take(ROWS)
        .collect();
    // The last row may be cut.
    if !complete && lengths.len() > 1 && lengths.len() < ROWS {
        lengths.pop();
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(text: &str) -> Dialect {
        Dialect::of(text.as_bytes(), true, None).unwrap()
    }

    #[test]
    fn delimiters() {
        for (text, delimiter) in [
            ("a,b,c\n1,2,3\n", b','),
            ("a\tb\n1\t2\n", b'\t'),
            ("a;b\n1,5;2,5\n3;4,5\n", b';'),
            ("a|b|c\nx,y|2|3\n", b'|'),
            ("a,b\n\"1;2;3\",x\n\"4;5;6\",y\n", b','),
            ("a;b\n\"1;2\n3\";x\n", b';'),
            ("a,b,c\n1,2,3\n4,5\n6,7,8\n", b','),
            ("5\" pipe;a,b\n6\" pipe;c\n", b';'),
            ("name\ttext\nx\tone, two\ny\tone, two, three\n", b'\t'),
            ("\n\na;b\n", b';'),
            ("single\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(dialect(text).delimiter, delimiter, "{text:?}");
        }
        let given = Dialect::of(b"a,b\n", true, Some(b' ')).unwrap();
        assert_eq!(given.delimiter, b' ');
    }

    #[test]
    fn a_row_cut_by_the_end_of_the_head_does_not_count() {
        let text = b"a;b,c\n1;2,3\n4;5";
        assert_eq!(Dialect::of(text, false, None).unwrap().delimiter, b',');
        assert_eq!(Dialect::of(text, true, None).unwrap().delimiter, b';');
    }

    #[test]
    fn line_ends() {
        for (text, terminator) in
            [("a\nb", b'\n'), ("a\r\nb", b'\n'), ("a\rb\r", b'\r'), ("a\r", b'\n'), ("", b'\n')]
        {
            assert_eq!(dialect(text).terminator, terminator, "{text:?}");
        }
    }

    #[test]
    fn a_byte_order_mark_is_no_text() {
        assert_eq!(dialect("\u{feff}a;b\n").byte_order_mark, 3);
        assert_eq!(dialect("a;b\n").byte_order_mark, 0);
    }

    #[test]
    fn a_zero_byte_is_binary_data() {
        let error = Dialect::of(b"a,b\n1,\0", true, None).unwrap_err();
        assert!(matches!(
            error,
            StreamError::NotText { place: Place::Line(2), reason: "binary data" }
        ));
    }
}
