//! The value of one cell: a number, a text or nothing.

use super::decimal::Decimal;

/// The value of one column in one row.
///
/// Which variant a format uses depends on what it knows: in JSON or Parquet a value has a type, in CSV
/// it is [`Raw`](Cell::Raw).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// Nothing: the sample lacks the input.
    Missing,
    /// A number. NaN is missing, and an infinity is an error. In a categorical column it is the category
    /// that the number prints as.
    Number(f64),
    /// An integer, which keeps all its digits as a label or a category.
    Integer(i64),
    /// A truth value: 1 or 0, and in a categorical column `true` or `false`.
    Flag(bool),
    /// A text, which is a category even if it looks like a number. Blanks around it do not matter, and
    /// blanks alone are missing. A column that is known to be numeric reads it as `Raw`.
    Text(&'a [u8]),
    /// A text of unknown type, which is a number if it looks like one, and missing if it is blank,
    /// `?`, `NA` or `NaN`.
    Raw(&'a [u8]),
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Categories.
    Categorical,
    /// Texts, whose words are inputs: see [`TableOptions::text`](super::TableOptions::text).
    Text,
    /// Dates and times, which become three columns: see [`TableOptions::dates`](super::TableOptions::dates).
    Moment,
}

/// A cell that outlives the text it was read from.
#[derive(Clone, Debug, Default)]
pub(super) struct HeldCell {
    /// The kind of cell; the bytes of a text are in `text`.
    cell: Option<Cell<'static>>,
    text: Vec<u8>,
}

impl HeldCell {
    pub(super) fn clear(&mut self) {
        self.cell = None;
    }

    /// Holds a cell. Fails if one is held already.
    pub(super) fn hold(&mut self, cell: Cell<'_>) -> Result<(), ()> {
        if self.cell.is_some() {
            return Err(());
        }
        self.text.clear();
        self.cell = Some(match cell {
            Cell::Missing => Cell::Missing,
            Cell::Number(value) => Cell::Number(value),
            Cell::Integer(value) => Cell::Integer(value),
            Cell::Flag(value) => Cell::Flag(value),
            Cell::Text(text) => {
                self.text.extend_from_slice(text);
                Cell::Text(b"")
            }
            Cell::Raw(text) => {
                self.text.extend_from_slice(text);
                Cell::Raw(b"")
            }
        });
        Ok(())
    }

    /// The cell that is held; `Missing` if none is.
    pub(super) fn cell(&self) -> Cell<'_> {
        match self.cell {
            None => Cell::Missing,
            Some(Cell::Text(_)) => Cell::Text(&self.text),
            Some(Cell::Raw(_)) => Cell::Raw(&self.text),
            Some(cell) => cell,
        }
    }
}

/// The kind of column that a cell with that raw text suggests.
pub(super) fn kind_of(text: &[u8], decimal: Decimal) -> ColumnKind {
    match decimal.read_number(text) {
        Reading::Text => ColumnKind::Categorical,
        _ => ColumnKind::Numeric,
    }
}

/// The truth value that a trimmed text spells, as programs write it: `true` in JSON, `True` in Python,
/// `TRUE` in spreadsheets and R.
pub(super) fn read_flag(text: &[u8]) -> Option<bool> {
    let spells = |value: &bool| SPELLINGS[usize::from(*value)].iter().any(|s| s.as_bytes() == text);
    [false, true].into_iter().find(spells)
}

/// How a truth value is written. The first spelling is that of a new category or label.
pub(super) fn spellings(value: bool) -> [&'static str; 3] {
    SPELLINGS[usize::from(value)]
}

const SPELLINGS: [[&str; 3]; 2] = [["false", "False", "FALSE"], ["true", "True", "TRUE"]];

/// What a cell of a numeric column holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reading {
    /// A finite number.
    Number(f64),
    /// Nothing: see [`is_missing`].
    Missing,
    /// An infinity, or a number too large for a 64-bit float.
    NotFinite,
    /// Anything else.
    Text,
}

/// Reads a cell of a numeric column. The number has the same bits as the result of [`str::parse`].
#[inline]
pub(super) fn read_number(cell: &[u8]) -> Reading {
    match short_integer(cell) {
        Some(value) => Reading::Number(value),
        None => read_other_number(cell),
    }
}

/// The text of a cell without surrounding blanks, or `None` when it is missing.
pub(super) fn read_text(cell: &[u8]) -> Option<&[u8]> {
    let text = cell.trim_ascii();
    (!is_missing(text)).then_some(text)
}

/// The start of a cell, for a message, since a cell may be megabytes long.
pub(super) fn excerpt(cell: &[u8]) -> String {
    const LONGEST: usize = 60;
    let cell = cell.trim_ascii();
    // Cut before decoding, so that the cost does not depend on the length of the cell. Four bytes per
    // character leave the character at the cut complete.
    let text = String::from_utf8_lossy(&cell[..cell.len().min(4 * LONGEST + 4)]);
    match text.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("{}…", &text[..cut]),
        None => text.into_owned(),
    }
}

/// Whether a trimmed cell stands for a missing value.
fn is_missing(text: &[u8]) -> bool {
    match text {
        [] | b"?" => true,
        _ => text.eq_ignore_ascii_case(b"nan") || text.eq_ignore_ascii_case(b"na"),
    }
}

#[inline(never)] // keeps the loop over a row of short numbers small
fn read_other_number(cell: &[u8]) -> Reading {
    if let Some(value) = short_decimal(cell) {
        return Reading::Number(value);
    }
    let Some(text) = read_text(cell) else { return Reading::Missing };
    let parsed = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    match parsed {
        Some(value) if value.is_finite() => Reading::Number(value),
        Some(_) => Reading::NotFinite,
        None => Reading::Text,
    }
}

/// Reads a number of one to eight digits, or gives up. Such numbers fill whole files, and trying them
/// before anything else keeps the loop over a row small enough to be a sixth faster.
#[inline]
fn short_integer(cell: &[u8]) -> Option<f64> {
    if cell.is_empty() || cell.len() > 8 {
        return None;
    }
    let mut value = 0;
    for &byte in cell {
        let digit = u32::from(byte.wrapping_sub(b'0'));
        if digit > 9 {
            return None;
        }
        value = 10 * value + digit;
    }
    Some(f64::from(value))
}

/// Reads a number such as `42` or `-3.25`, or gives up.
///
/// A decimal whose digits form an integer of at most 2⁵³ is that integer divided by a power of ten;
/// up to 10²² both are exact in a 64-bit float, so that the one division rounds correctly (Clinger,
/// "How to read floating point numbers accurately", 1990). Cells too long for that, or with an
/// exponent, are left to the general algorithm.
#[inline]
fn short_decimal(cell: &[u8]) -> Option<f64> {
    let (negative, digits) = match cell {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, cell),
    };
    if digits.is_empty() || digits.len() > MOST_CHARACTERS {
        return None;
    }
    let mut mantissa = 0i64;
    let mut point = None;
    for (i, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            mantissa = 10 * mantissa + i64::from(digit);
        } else if byte == b'.' && point.is_none() && digits.len() > 1 {
            point = Some(i);
        } else {
            return None;
        }
    }
    if mantissa > 1 << 53 {
        return None;
    }
    let magnitude = match point {
        Some(point) => mantissa as f64 / POWERS_OF_TEN[digits.len() - 1 - point],
        None => mantissa as f64,
    };
    Some(if negative { -magnitude } else { magnitude })
}

/// This many digits cannot overflow the integer that they form.
const MOST_CHARACTERS: usize = 18;

const POWERS_OF_TEN: [f64; MOST_CHARACTERS] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17,
];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn spellings_of_truth_values() {
        for value in [false, true] {
            for spelling in spellings(value) {
                assert_eq!(read_flag(spelling.as_bytes()), Some(value), "{spelling}");
            }
        }
        for text in ["", "t", "tRUE", "yes", "1", "True "] {
            assert_eq!(read_flag(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn spellings_of_missing_values() {
        for cell in ["", "  ", "?", " ? ", "nan", "NaN", "NAN", "na", "NA", "Na", "\tNA\r"] {
            assert_eq!(read_number(cell.as_bytes()), Reading::Missing, "{cell:?}");
            assert_eq!(read_text(cell.as_bytes()), None, "{cell:?}");
        }
        for cell in ["??", "n/a", "nano", "none", "null", "-"] {
            assert_eq!(read_number(cell.as_bytes()), Reading::Text, "{cell:?}");
            assert_eq!(read_text(cell.as_bytes()), Some(cell.as_bytes()));
        }
    }

    #[test]
    fn spellings_of_numbers() {
        for (cell, value) in [
            ("7", 7.0_f64),
            (" 7 ", 7.0),
            ("+7", 7.0),
            ("-0", -0.0),
            (".5", 0.5),
            ("5.", 5.0),
            ("-12.125", -12.125),
            ("1e3", 1000.0),
            ("000000000000000000000000001", 1.0),
        ] {
            match read_number(cell.as_bytes()) {
                Reading::Number(read) => assert_eq!(read.to_bits(), value.to_bits(), "{cell:?}"),
                other => panic!("{cell:?}: {other:?}"),
            }
        }
        for cell in ["inf", "-Infinity", "1e999", "-nan"] {
            assert_eq!(read_number(cell.as_bytes()), Reading::NotFinite, "{cell:?}");
        }
        for cell in [".", "-", "+", "-.", "1.2.3", "1,5", "0x10", "1 2", "--1", "e5", "1_000"] {
            assert_eq!(read_number(cell.as_bytes()), Reading::Text, "{cell:?}");
        }
        assert_eq!(read_number(b"\xff"), Reading::Text);
    }

    #[test]
    fn a_long_cell_is_cut_in_messages() {
        assert_eq!(excerpt(b" abc "), "abc");
        let long = excerpt("ü".repeat(1_000_000).as_bytes());
        assert_eq!(long, format!("{}…", "ü".repeat(60)));
        assert_eq!(excerpt("𝄞".repeat(60).as_bytes()), "𝄞".repeat(60));
        assert_eq!(excerpt(b"a\xffb"), "a\u{fffd}b");
    }

    fn same_as_parse(text: &str) -> Result<(), TestCaseError> {
        let expected = match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Some(value.to_bits()),
            _ => None,
        };
        let read = match read_number(text.as_bytes()) {
            Reading::Number(value) => Some(value.to_bits()),
            _ => None,
        };
        prop_assert_eq!(read, expected, "{:?}", text);
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn decimals_are_read_as_by_parse(text in "[-+]?[0-9]{0,20}(\\.[0-9]{0,20})?") {
            same_as_parse(&text)?;
        }

        #[test]
        fn short_decimals_are_read_as_by_parse(text in "[-+]?[0-9]{1,9}(\\.[0-9]{0,9})?") {
            same_as_parse(&text)?;
        }

        #[test]
        fn scientific_numbers_are_read_as_by_parse(
            text in "[-+]?[0-9]{0,3}(\\.[0-9]{0,20})?([eE][-+]?[0-9]{0,3})?",
        ) {
            same_as_parse(&text)?;
        }

        #[test]
        fn printed_floats_are_read_back(bits: u64) {
            let value = f64::from_bits(bits);
            same_as_parse(&value.to_string())?;
            same_as_parse(&format!("{value:e}"))?;
        }
    }
}
