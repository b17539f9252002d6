//! The columns of a file: their names, and which of them is the target, an input or left out.

use std::collections::HashSet;

use super::{kinds::Kind, options::CsvOptions, rows::Row};
use crate::stream::StreamError;

/// The columns of a file and their roles.
pub(super) struct Columns {
    names: Vec<String>,
    target: usize,
    inputs: Vec<InputColumn>,
}

/// A column that is learned from.
pub(super) struct InputColumn {
    /// Its position among all columns.
    pub(super) position: usize,
    /// Its kind if the options say so.
    pub(super) declared: Option<Kind>,
}

impl Columns {
    /// Gives each of the named columns its role.
    pub(super) fn new(names: Vec<String>, options: &CsvOptions) -> Result<Self, StreamError> {
        let target = match &options.target {
            Some(target) => find(&names, target)?,
            // There is a last column, since a row has at least one cell.
            None => names.len().saturating_sub(1),
        };
        let dropped = find_all(&names, &options.drop)?;
        let numeric = find_all(&names, &options.numeric)?;
        let categorical = find_all(&names, &options.categorical)?;
        if dropped.contains(&target) {
            return Err(StreamError::TargetDropped { target: names[target].clone() });
        }
        if let Some(&both) = numeric.intersection(&categorical).min() {
            return Err(StreamError::KindConflict { column: names[both].clone() });
        }
        let inputs: Vec<InputColumn> = (0..names.len())
            .filter(|column| *column != target && !dropped.contains(column))
            .map(|position| InputColumn {
                position,
                declared: match position {
                    _ if numeric.contains(&position) => Some(Kind::Numeric),
                    _ if categorical.contains(&position) => Some(Kind::Categorical),
                    _ => None,
                },
            })
            .collect();
        if inputs.is_empty() {
            return Err(StreamError::NoInputs { target: names[target].clone() });
        }
        Ok(Columns { names, target, inputs })
    }

    /// How many columns there are in all.
    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn name(&self, position: usize) -> &str {
        &self.names[position]
    }

    /// The position of the target among all columns.
    pub(super) fn target(&self) -> usize {
        self.target
    }

    /// The columns to learn from, in the order of the file.
    pub(super) fn inputs(&self) -> &[InputColumn] {
        &self.inputs
    }
}

/// The names in a header.
pub(super) fn names_in(header: Row<'_>) -> Result<Vec<String>, StreamError> {
    let line = header.line();
    let mut seen = HashSet::new();
    let mut names = Vec::with_capacity(header.len());
    for cell in header.cells() {
        let name = std::str::from_utf8(cell.trim_ascii())
            .map_err(|_| StreamError::NotText { line, reason: "invalid UTF-8" })?;
        if !seen.insert(name) {
            return Err(StreamError::DuplicateColumn { line, column: name.to_owned() });
        }
        names.push(name.to_owned());
    }
    Ok(names)
}

/// The names of the columns of a file without a header.
pub(super) fn numbered(columns: usize) -> Vec<String> {
    (1..=columns).map(|number| number.to_string()).collect()
}

/// The position of the column with that name, or else of that number.
fn find(names: &[String], wanted: &str) -> Result<usize, StreamError> {
    let by_number = || {
        let number: isize = wanted.parse().ok()?;
        let from_start = number.checked_sub(1).filter(|_| number > 0);
        let position = from_start.or_else(|| (names.len() as isize).checked_add(number));
        position.and_then(|position| usize::try_from(position).ok())
    };
    names
        .iter()
        .position(|name| name == wanted)
        .or_else(|| by_number().filter(|&position| position < names.len()))
        .ok_or_else(|| StreamError::UnknownColumn {
            column: wanted.to_owned(),
            available: list(names),
        })
}

fn find_all(names: &[String], wanted: &[String]) -> Result<HashSet<usize>, StreamError> {
    wanted.iter().map(|wanted| find(names, wanted)).collect()
}

/// The names for a message, which should stay readable when there are thousands.
fn list(names: &[String]) -> String {
    const SHOWN: usize = 20;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| name.to_string()).collect()
    }

    #[test]
    fn a_name_goes_before_a_number() {
        let names = names(&["a", "3", "b", "-1"]);
        for (wanted, position) in
            [("a", 0), ("3", 1), ("1", 0), ("4", 3), ("-1", 3), ("-2", 2), ("-4", 0)]
        {
            assert_eq!(find(&names, wanted).unwrap(), position, "{wanted}");
        }
        for wanted in
            ["", "A", "0", "5", "-5", "1.0", "9223372036854775807", "-9223372036854775808"]
        {
            assert!(find(&names, wanted).is_err(), "{wanted}");
        }
    }

    #[test]
    fn a_long_list_is_cut() {
        assert_eq!(list(&names(&["a", "b"])), "a, b");
        assert_eq!(list(&numbered(20)).matches(", ").count(), 19);
        assert!(list(&numbered(784)).ends_with("19, 20 and 764 more"));
    }

    #[test]
    fn roles() {
        let options = CsvOptions {
            target: Some("b".into()),
            drop: names(&["1"]),
            numeric: names(&["-1", "b"]),
            categorical: names(&["c"]),
            ..CsvOptions::default()
        };
        let columns = Columns::new(names(&["a", "b", "c", "d", "e"]), &options).unwrap();
        assert_eq!(columns.target(), 1);
        let inputs: Vec<_> = columns.inputs().iter().map(|c| (c.position, c.declared)).collect();
        assert_eq!(inputs, [(2, Some(Kind::Categorical)), (3, None), (4, Some(Kind::Numeric))]);
    }
}
