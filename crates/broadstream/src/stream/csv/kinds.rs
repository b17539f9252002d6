//! Whether a column holds numbers, categories or dates, and which decimal sign the numbers have, judged by the
//! first cells.

use std::collections::HashSet;

use super::records::Records;
use crate::stream::{
    ColumnKind, ColumnRoles, StreamError,
    cell::{excerpt, kind_of, read_text},
    decimal::{Decimal, is_grouped},
    lines::LONGEST_LINE,
    moments::{Moment, MomentForm, PARTS},
};

/// What the first records tell.
pub(super) struct Survey {
    /// The kinds of the input columns; `None` for a column whose cells were all missing.
    pub(super) kinds: Vec<Option<ColumnKind>>,
    /// The forms of the columns of dates.
    pub(super) forms: Vec<Option<MomentForm>>,
    pub(super) decimal: Decimal,
    /// What a user may not expect, in a sentence each.
    pub(super) warnings: Vec<String>,
}

/// Surveys the next records, 1000 or fewer if these, with the blank lines between them, have more than
/// [`LONGEST_LINE`] bytes. `decimal_comma` is the option of that name.
///
/// The records must be read again for their samples. The survey stops at a faulty record without
/// reporting it: that happens when its turn comes, after the samples before it.
pub(super) fn survey(
    records: &mut Records,
    columns: &ColumnRoles,
    decimal_comma: Option<bool>,
) -> Result<Survey, StreamError> {
    const RECORDS: usize = 1000;
    let mut seen: Vec<Seen> = columns.inputs().iter().map(|c| Seen::new(c.declared)).collect();
    for rows in 0..RECORDS {
        let record = match records.next_within(LONGEST_LINE) {
            Ok(Some(record)) if record.len() == columns.len() => record,
            // The marked record is the first one, so not even blank lines were kept.
            Ok(None) if rows == 0 => return Err(StreamError::Empty),
            Ok(_) | Err(_) => break,
        };
        for (seen, column) in seen.iter_mut().zip(columns.inputs()) {
            if (seen.may_be_numbers() || seen.may_be_moments())
                && let Some(text) = read_text(record.cell(column.position))
            {
                seen.add(text, record.line());
            }
        }
    }
    let name = |k: usize| columns.name(columns.inputs()[k].position);
    let mut warnings = Vec::new();
    let decimal = match decimal_comma {
        Some(comma) => Decimal::of(comma),
        None => match detect_comma(&seen) {
            Some((k, example)) => {
                warnings.push(format!(
                    "numbers are read with a decimal comma, such as {example} in column '{}'; the \
                     option decimal_comma decides it",
                    name(k)
                ));
                Decimal::Comma
            }
            None => Decimal::Point,
        },
    };
    let names: HashSet<&str> = (0..columns.len()).map(|column| columns.name(column)).collect();
    let kinds: Vec<_> = (0..seen.len())
        .map(|k| {
            let is_taken = |part: &&str| names.contains(format!("{}{part}", name(k)).as_str());
            seen[k].kind(decimal, !PARTS.iter().any(is_taken))
        })
        .collect();
    for (k, (seen, kind)) in seen.iter().zip(&kinds).enumerate() {
        if let Some(example) = seen.example.as_ref().filter(|_| seen.is_doubtful(*kind)) {
            warnings.push(format!(
                "column '{}' is read as categories, although its cells look like numbers, such as \
                 {example}; if they are, set decimal_comma or remove the separators of thousands, and \
                 otherwise name the column in categorical",
                name(k)
            ));
        }
    }
    for (k, seen) in seen.iter().enumerate() {
        if let (None, Some([one, other])) = (seen.declared, &seen.forms) {
            warnings.push(format!(
                "column '{}' is read as categories, although its cells look like dates, such as {one} and \
                 {other}; if they are, write them in one form, and otherwise name the column in categorical",
                name(k)
            ));
        }
    }
    let is_moment = |kind: &Option<ColumnKind>| *kind == Some(ColumnKind::Moment);
    let form = |(seen, kind): (&Seen, &Option<ColumnKind>)| {
        seen.form
            .as_ref()
            .filter(|_| is_moment(kind) && seen.forms.is_none())
            .map(|(form, _)| *form)
    };
    let forms = seen.iter().zip(&kinds).map(form).collect();
    Ok(Survey { kinds, forms, decimal, warnings })
}

/// A column that shows that the file has decimal commas, and a cell of it. No column may have a decimal point,
/// and commas between thousands show nothing.
fn detect_comma(seen: &[Seen]) -> Option<(usize, &str)> {
    let undecided = || seen.iter().filter(|seen| seen.may_be_declared_numeric());
    if undecided().any(|seen| seen.only_points && seen.has_point) {
        return None;
    }
    let shows = |seen: &&Seen| seen.may_be_declared_numeric() && seen.only_commas && seen.has_comma;
    let (k, seen) = seen.iter().enumerate().find(|(_, seen)| shows(seen))?;
    Some((k, seen.example.as_deref()?))
}

/// What the cells of a column have been so far.
struct Seen {
    declared: Option<ColumnKind>,
    /// Whether there was a cell.
    any: bool,
    /// Whether all cells are numbers if these have a decimal point, or a decimal comma.
    only_points: bool,
    only_commas: bool,
    /// Whether all cells are numbers with either sign, or with separators between thousands.
    only_numbers: bool,
    /// Whether a cell has a decimal point, or a decimal comma that cannot be a separator of thousands.
    has_point: bool,
    has_comma: bool,
    /// The first cell whose meaning depends on the decimal sign, and its line.
    example: Option<String>,
    /// Whether all cells are moments, the form of the first one, and that cell.
    only_moments: bool,
    form: Option<(MomentForm, String)>,
    /// Two cells that are moments of different forms.
    forms: Option<[String; 2]>,
}

impl Seen {
    fn new(declared: Option<ColumnKind>) -> Self {
        Seen {
            declared,
            any: false,
            only_points: true,
            only_commas: true,
            only_numbers: true,
            has_point: false,
            has_comma: false,
            example: None,
            only_moments: true,
            form: None,
            forms: None,
        }
    }

    /// Whether more cells can tell more about dates.
    fn may_be_moments(&self) -> bool {
        self.only_moments && self.declared.is_none_or(|kind| kind == ColumnKind::Moment)
    }

    /// Whether more cells can tell more: one text makes a column categorical, whatever follows.
    fn may_be_numbers(&self) -> bool {
        self.only_numbers && self.may_be_declared_numeric()
    }

    /// Whether the options do not say that it holds something else.
    fn may_be_declared_numeric(&self) -> bool {
        self.declared.is_none_or(|kind| kind == ColumnKind::Numeric)
    }

    fn add(&mut self, text: &[u8], line: u64) {
        let is_numeric = |decimal| kind_of(text, decimal) == ColumnKind::Numeric;
        let (point, comma) = (is_numeric(Decimal::Point), is_numeric(Decimal::Comma));
        self.any = true;
        let moment = if self.may_be_moments() { Moment::read(text) } else { None };
        self.only_moments &= moment.is_some();
        if let Some(Moment { form, .. }) = moment {
            let shown = || format!("'{}' on line {line}", excerpt(text));
            let (first, example) = self.form.get_or_insert_with(|| (form, shown()));
            if *first != form && self.forms.is_none() {
                self.forms = Some([example.clone(), shown()]);
            }
        } else {
            self.forms = None;
        }
        self.only_points &= point;
        self.only_commas &= comma;
        self.only_numbers &= point || comma || is_grouped(text);
        self.has_point |= point && !comma;
        self.has_comma |= comma && !point && !is_grouped(text);
        if !(point && comma) && self.example.is_none() {
            self.example = Some(format!("'{}' on line {line}", excerpt(text)));
        }
    }

    /// `may_be_moments` is whether the names of a moment's parts are free.
    fn kind(&self, decimal: Decimal, may_be_moments: bool) -> Option<ColumnKind> {
        if self.declared.is_none()
            && self.form.is_some()
            && self.only_moments
            && self.forms.is_none()
            && may_be_moments
        {
            return Some(ColumnKind::Moment);
        }
        let numeric = match decimal {
            Decimal::Point => self.only_points,
            Decimal::Comma => self.only_commas,
        };
        let kind = if numeric { ColumnKind::Numeric } else { ColumnKind::Categorical };
        self.declared.or(self.any.then_some(kind))
    }

    /// Whether a column that is read as that kind may well hold numbers.
    fn is_doubtful(&self, kind: Option<ColumnKind>) -> bool {
        self.declared.is_none() && kind == Some(ColumnKind::Categorical) && self.only_numbers
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read, repeat};

    use super::*;
    use crate::stream::{TableOptions, lines::Lines};

    /// Lines of blanks, of that many bytes.
    fn blank(bytes: u64) -> impl Read + Send {
        repeat(b'\n').take(bytes)
    }

    #[test]
    fn blank_lines_take_no_memory() {
        const ENOUGH: u64 = 2 * LONGEST_LINE as u64;
        let first = "1,x\n".as_bytes().chain(blank(ENOUGH)).chain("2,y\n".as_bytes());
        let mut records = Records::new(Lines::new(Box::new(blank(ENOUGH).chain(first))), b',');
        records.mark();
        assert!(records.memory() < 1 << 20, "{} bytes", records.memory());
        let names = vec!["a".to_owned(), "b".to_owned()];
        let columns = ColumnRoles::new(names, &TableOptions::default()).unwrap();
        let kinds = survey(&mut records, &columns, None).unwrap().kinds;
        assert_eq!(kinds, [Some(ColumnKind::Numeric)]);
        assert!(records.memory() < LONGEST_LINE + (1 << 20), "{} bytes", records.memory());
        records = records.rewind();
        records.forget_mark();
        let mut lines = Vec::new();
        while let Some(record) = records.next().unwrap() {
            lines.push(record.line());
        }
        assert_eq!(lines, [ENOUGH + 1, 2 * ENOUGH + 2]);
    }

    /// The kinds of all columns but the last, the decimal sign, and the warnings about a table.
    fn survey_text(
        text: &str,
        comma: Option<bool>,
    ) -> (Vec<Option<ColumnKind>>, bool, Vec<String>) {
        let mut records =
            Records::new(Lines::new(Box::new(Cursor::new(text.as_bytes().to_vec()))), b';');
        let columns = text.lines().next().unwrap().split(';').count();
        let names = (1..=columns).map(|column| format!("c{column}")).collect();
        let columns = ColumnRoles::new(names, &TableOptions::default()).unwrap();
        let Survey { kinds, decimal, warnings, .. } =
            survey(&mut records, &columns, comma).unwrap();
        (kinds, decimal == Decimal::Comma, warnings)
    }

    #[test]
    fn a_decimal_comma_is_detected_where_it_can_mean_nothing_else() {
        let (number, category) = (Some(ColumnKind::Numeric), Some(ColumnKind::Categorical));
        for (text, kinds, comma, warnings) in [
            ("3,14;7;x\n;8;y\n2;9;x\n", [number, number], true, 1),
            ("0,125;1,250;x\n", [number, number], true, 1),
            ("1,5e3;-2,25;x\n", [number, number], true, 1),
            ("1234,567;a,b;x\n", [number, category], true, 1),
            // These may be thousands.
            ("1,234;7;x\n12,345;8;y\n", [category, number], false, 1),
            ("1,234,567;7;x\n", [category, number], false, 1),
            // A file has one sign.
            ("3,14;2.5;x\n", [category, number], false, 1),
            ("1.234,5;7;x\n", [category, number], false, 0),
            ("3,14;7;x\nabc;8;y\n", [category, number], false, 0),
            ("2.5;7;x\n", [number, number], false, 0),
            ("1,2,3;7;x\n", [category, number], false, 0),
        ] {
            let (found, is_comma, said) = survey_text(text, None);
            assert_eq!((found.as_slice(), is_comma), (kinds.as_slice(), comma), "{text}");
            assert_eq!(said.len(), warnings, "{text}: {said:?}");
        }
        let moment = Some(ColumnKind::Moment);
        for (text, kind, warned) in [
            ("2024-02-28;x\n;y\n2024-02-29;x\n", moment, 0),
            ("2024-02-28 17:03;x\n2024-02-28T17:03:59.5;y\n", moment, 0),
            ("2024-02-28T17:03Z;x\n2024-02-28T17:03+02:00;y\n", moment, 0),
            ("2024-02-28;x\n2024-02-28T17:03;y\n", category, 1),
            ("2024-02-28T17:03;x\n2024-02-28T17:03Z;y\n2024-02-28;x\n", category, 1),
            ("2024-02-28;x\n2024-02-28T17:03;y\nsoon;x\n", category, 0),
            ("2024-02-28;x\n20240229;y\n", category, 0),
            ("2024-02-28;x\n2024-02-30;y\n", category, 0),
        ] {
            let (kinds, _, warnings) = survey_text(text, None);
            assert_eq!((kinds.as_slice(), warnings.len()), (&[kind][..], warned), "{text}");
        }
        let (kinds, _, warnings) = survey_text("1,234;2.5;x\n", Some(true));
        assert_eq!(kinds, [number, category]);
        assert_eq!(
            warnings,
            ["column 'c2' is read as categories, although its cells look like numbers, such as \
              '2.5' on line 1; if they are, set decimal_comma or remove the separators of thousands, \
              and otherwise name the column in categorical"]
        );
        assert_eq!(survey_text("3,14;7;x\n", Some(false)).0, [category, number]);
        assert_eq!(
            survey_text("7;3,14;x\n", None).2,
            [
                "numbers are read with a decimal comma, such as '3,14' on line 1 in column 'c2'; the \
              option decimal_comma decides it"
            ]
        );
    }
}
