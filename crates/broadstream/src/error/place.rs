//! Where in a source something was found.

use std::fmt;

/// A place in a source, for messages: text has lines, other formats have rows. Both count from 1.
///
/// ```
/// use broadstream::stream::Place;
///
/// assert_eq!(Place::Line(812).to_string(), "line 812");
/// assert_eq!(Place::Row(812).to_string(), "row 812");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A line of text; headers and blank lines count.
    Line(u64),
    /// A row of data.
    Row(u64),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Line(line) => write!(f, "line {line}"),
            Place::Row(row) => write!(f, "row {row}"),
        }
    }
}
