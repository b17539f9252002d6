//! Which delimiter a file has, judged by its first rows.

use super::records::quote_parser;

/// The candidate with which most of the first rows have as many cells as the very first one. If several
/// are equally good, the one that finds more cells.
pub(super) fn detect_delimiter(text: &[u8], complete: bool, terminator: u8) -> u8 {
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

/// How many cells each of the first rows has with that delimiter.
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
    // The last row may be cut short by the end of the head.
    if !complete && lengths.len() > 1 && lengths.len() < ROWS {
        lengths.pop();
    }
    lengths
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delimiter(text: &[u8], complete: bool) -> u8 {
        detect_delimiter(text, complete, b'\n')
    }

    #[test]
    fn delimiters() {
        for (text, expected) in [
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
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text:?}");
        }
    }

    #[test]
    fn a_row_cut_by_the_end_of_the_head_does_not_count() {
        let text = b"a;b,c\n1;2,3\n4;5";
        assert_eq!(delimiter(text, false), b',');
        assert_eq!(delimiter(text, true), b';');
    }
}
