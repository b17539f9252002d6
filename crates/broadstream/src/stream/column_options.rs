//! What a reader may be told about the columns of a source, whatever its format.

use super::StreamError;

/// Which columns of a source are learned from, and how; the same for every format that has columns.
///
/// ```
/// use broadstream::stream::{Categories, ColumnOptions};
///
/// let options = ColumnOptions {
///     target: Some("price rises".into()),
///     drop: vec!["id".into()],
///     categories: Categories::IntegerCodes,
///     ..ColumnOptions::default()
/// };
/// assert!(options.categorical.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ColumnOptions {
    /// The column that holds the labels.
    ///
    /// Default: `None`, which each format explains. Example: `Some("class".into())`.
    pub target: Option<String>,

    /// Columns to leave out.
    ///
    /// Default: none. Example: `vec!["id".into()]`.
    pub drop: Vec<String>,

    /// Columns to read as categories even if they hold numbers. Naming the target or a dropped
    /// column changes nothing.
    ///
    /// Default: none. Example: `vec!["postcode".into()]`.
    pub categorical: Vec<String>,

    /// Columns to read as numbers: any other value is an error. Naming the target or a dropped
    /// column changes nothing.
    ///
    /// Default: none. Example: `vec!["income".into()]`.
    pub numeric: Vec<String>,

    /// How categories become inputs.
    ///
    /// Default: [`Categories::OneHot`].
    pub categories: Categories,
}

/// How the cells of a categorical column become inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Categories {
    /// Each category is an input of its own, named `column=category`, which is 1 in the rows that
    /// have it and absent from the others.
    #[default]
    OneHot,
    /// The column is one numeric input; its categories are numbered 0, 1, 2, … in order of
    /// appearance. The numbers mean no more than that, so this suits models that split on them.
    IntegerCodes,
}

/// What the cells of a column hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Numeric,
    /// Categories.
    Categorical,
}

impl ColumnOptions {
    /// The kind of the column of that name if the options say so.
    pub(super) fn declared(&self, column: &str) -> Option<ColumnKind> {
        let among = |names: &[String]| names.iter().any(|name| name == column);
        if among(&self.numeric) {
            Some(ColumnKind::Numeric)
        } else {
            among(&self.categorical).then_some(ColumnKind::Categorical)
        }
    }

    /// Checks what can be checked of names before the columns are known.
    pub(super) fn check(&self) -> Result<(), StreamError> {
        if let Some(column) = self.numeric.iter().find(|name| self.categorical.contains(name)) {
            return Err(StreamError::KindConflict { column: column.clone() });
        }
        match &self.target {
            Some(target) if self.drop.contains(target) => {
                Err(StreamError::TargetDropped { target: target.clone() })
            }
            _ => Ok(()),
        }
    }
}
