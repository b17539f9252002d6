//! The sign between the whole part of a number and its fraction: a point, or a comma as in most of Europe.
//!
//! A file has one of the two. Reading a comma as the other sign would be wrong by orders of magnitude
//! (`1,234` is either a bit more than one or more than a thousand), so a number that has the other sign is
//! no number here, and only what can mean nothing else is taken for a decimal comma unasked.

use super::cell::{Reading, read_number};

/// The decimal sign of the numbers in a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Decimal {
    #[default]
    Point,
    Comma,
}

impl Decimal {
    pub(super) fn of(comma: bool) -> Self {
        if comma { Decimal::Comma } else { Decimal::Point }
    }

    /// The other sign.
    pub(super) fn other(self) -> Self {
        Decimal::of(self == Decimal::Point)
    }

    /// What users call the sign.
    pub(super) fn name(self) -> &'static str {
        match self {
            Decimal::Point => "a decimal point",
            Decimal::Comma => "a decimal comma",
        }
    }

    /// Reads a cell of a numeric column whose numbers have this sign.
    pub(super) fn read_number(self, cell: &[u8]) -> Reading {
        /// The longest text that is rewritten. A float needs at most 767 digits to be exact.
        const LONGEST: usize = 4096;
        match self {
            Decimal::Point => read_number(cell),
            Decimal::Comma if cell.contains(&b'.') || cell.len() > LONGEST => Reading::Text,
            Decimal::Comma => match memchr::memchr(b',', cell) {
                None => read_number(cell),
                Some(comma) => {
                    let mut text = cell.to_vec();
                    text[comma] = b'.';
                    read_number(&text)
                }
            },
        }
    }
}

/// Whether a cell is a number, or would be one with the other decimal sign.
pub(super) fn is_number(cell: &[u8]) -> bool {
    let reads = |decimal: Decimal| matches!(decimal.read_number(cell), Reading::Number(_));
    reads(Decimal::Point) || reads(Decimal::Comma)
}

/// Whether a trimmed cell is a number with commas, or points, between its thousands: groups of three digits
/// after one to three that do not begin with 0.
pub(super) fn is_grouped(cell: &[u8]) -> bool {
    let digits = cell.strip_prefix(b"-").or_else(|| cell.strip_prefix(b"+")).unwrap_or(cell);
    let sign = match digits.iter().find(|byte| !byte.is_ascii_digit()) {
        Some(sign @ (b',' | b'.')) => *sign,
        _ => return false,
    };
    let mut groups = digits.split(|byte| *byte == sign);
    let first = groups.next().unwrap_or_default();
    matches!(first, [b'1'..=b'9', more @ ..] if more.len() < 3)
        && groups.all(|group| group.len() == 3 && group.iter().all(u8::is_ascii_digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_has_the_sign_of_its_file() {
        for (text, value) in
            [("3,25", 3.25), ("-0,5", -0.5), (" 7 ", 7.0), ("1,5e3", 1500.0), (",5", 0.5)]
        {
            assert_eq!(Decimal::Comma.read_number(text.as_bytes()), Reading::Number(value));
        }
        for text in ["3.14", "1.234,5", "1,2,3", "x", ",", "1,234,567"] {
            assert_eq!(Decimal::Comma.read_number(text.as_bytes()), Reading::Text, "{text}");
        }
        assert_eq!(Decimal::Comma.read_number(b"NA"), Reading::Missing);
        assert_eq!(Decimal::Comma.read_number(b"inf"), Reading::NotFinite);
        assert_eq!(Decimal::Point.read_number(b"3,14"), Reading::Text);
        let long = format!("1,{}", "0".repeat(5000));
        assert_eq!(Decimal::Comma.read_number(long.as_bytes()), Reading::Text);
    }

    #[test]
    fn thousands_come_in_groups_of_three_digits() {
        for text in ["1,234", "12,345", "-999,999", "1,234,567", "1.234", "1.234.567"] {
            assert!(is_grouped(text.as_bytes()), "{text}");
        }
        for text in ["0,125", "3,14", "1234,567", "1,2345", "123", "1,234.5", ",234", "1,23a", ""] {
            assert!(!is_grouped(text.as_bytes()), "{text}");
        }
    }
}
