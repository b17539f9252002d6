//! The roles of columns that are all known from the start: which is the target, which are inputs, and
//! which are left out.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{ColumnKind, Place, RowEncoder, StreamError, TableOptions};

/// The columns of a table and their roles.
///
/// The options name a column by its name or, when no column has that name, by its position: `"1"` is the
/// first column, `"-1"` the last. The target is the last column unless the options name another.
///
/// ```
/// use broadstream::stream::{ColumnRoles, TableOptions};
///
/// let names = ["id", "age", "buys"].map(str::to_owned).to_vec();
/// let options = TableOptions { drop: vec!["1".into()], ..TableOptions::default() };
/// let columns = ColumnRoles::new(names, &options)?;
/// assert_eq!(columns.target(), 2);
/// assert_eq!(columns.inputs()[0].position, 1);
/// # Ok::<(), broadstream::stream::StreamError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ColumnRoles {
    names: Vec<String>,
    target: usize,
    inputs: Vec<InputColumn>,
}

/// A column that is learned from.
#[derive(Clone, Copy, Debug)]
pub struct InputColumn {
    /// Its position among all columns.
    pub position: usize,
    /// Its kind, if the options declare it.
    pub declared: Option<ColumnKind>,
}

impl ColumnRoles {
    /// Gives each of the named columns its role. At least one must be left to learn from.
    pub fn new(names: Vec<String>, options: &TableOptions) -> Result<Self, StreamError> {
        let target = match &options.target {
            Some(target) => find(&names, target)?,
            None => names.len().checked_sub(1).ok_or(StreamError::Empty)?,
        };
        let dropped = find_all(&names, &options.drop)?;
        let mut declared: HashMap<usize, ColumnKind> = HashMap::new();
        for (kind, wanted) in options.kinds() {
            for position in find_all(&names, wanted)?.into_iter().collect::<BTreeSet<_>>() {
                if declared.insert(position, kind).is_some() {
                    return Err(StreamError::KindConflict { column: names[position].clone() });
                }
            }
        }
        if dropped.contains(&target) {
            return Err(StreamError::TargetDropped { target: names[target].clone() });
        }
        let inputs: Vec<InputColumn> = (0..names.len())
            .filter(|column| *column != target && !dropped.contains(column))
            .map(|position| InputColumn { position, declared: declared.get(&position).copied() })
            .collect();
        if inputs.is_empty() {
            return Err(StreamError::NoInputs { target: names[target].clone() });
        }
        Ok(ColumnRoles { names, target, inputs })
    }

    /// An encoder whose column k is the k-th input column. Its kind is the one in `kinds` or, if there is
    /// none, the declared one. `place` is where the columns were found.
    pub fn encoder(
        &self,
        kinds: &[Option<ColumnKind>],
        options: &TableOptions,
        place: Place,
    ) -> Result<RowEncoder, StreamError> {
        let mut encoder = options.encoder(self.name(self.target));
        let mut inputs =
            self.inputs.iter().zip(kinds.iter().copied().chain(std::iter::repeat(None)));
        let mut next = inputs.next();
        for (position, name) in self.names.iter().enumerate() {
            match next {
                Some((input, kind)) if input.position == position => {
                    encoder.add_column(name, kind.or(input.declared), place)?;
                    next = inputs.next();
                }
                _ if position == self.target => encoder.target_here(),
                _ => encoder.leave_out(name),
            }
        }
        Ok(encoder)
    }

    /// How many columns there are in all: at least the target and one input.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// The name of the column at a position among all. Panics if there is none, as indexing a slice does.
    pub fn name(&self, position: usize) -> &str {
        &self.names[position]
    }

    /// The position of the target among all columns.
    pub fn target(&self) -> usize {
        self.target
    }

    /// The columns to learn from, in the order of the table.
    pub fn inputs(&self) -> &[InputColumn] {
        &self.inputs
    }
}

/// The position of the column of that name or, if there is none, the position that the text spells.
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

/// The names for a message, cut short so that it stays readable when there are thousands.
pub(super) fn list(names: &[String]) -> String {
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

    fn numbered(columns: usize) -> Vec<String> {
        (1..=columns).map(|number| number.to_string()).collect()
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
        let options = TableOptions {
            target: Some("b".into()),
            drop: names(&["1"]),
            numeric: names(&["-1", "b"]),
            categorical: names(&["c"]),
            ..TableOptions::default()
        };
        let columns = ColumnRoles::new(names(&["a", "b", "c", "d", "e"]), &options).unwrap();
        assert_eq!(columns.target(), 1);
        let inputs: Vec<_> = columns.inputs().iter().map(|c| (c.position, c.declared)).collect();
        assert_eq!(
            inputs,
            [(2, Some(ColumnKind::Categorical)), (3, None), (4, Some(ColumnKind::Numeric))]
        );
    }
}
