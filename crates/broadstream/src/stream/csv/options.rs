//! What a reader may be told about a CSV file; everything has a default that fits most files.

use crate::{
    error::Error,
    stream::{Categories, ColumnOptions},
};

/// How to read a CSV or TSV file.
///
/// Columns are named by their header or, when no column has that name, by position: `"1"` is the
/// first column, `"-1"` the last. Without a header the columns are named `"1"`, `"2"`, ….
///
/// ```
/// use broadstream::stream::csv::{Categories, CsvOptions};
///
/// let options = CsvOptions {
///     target: Some("price rises".into()),
///     drop: vec!["id".into()],
///     categories: Categories::IntegerCodes,
///     ..CsvOptions::default()
/// };
/// assert_eq!(options.header, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsvOptions {
    /// The byte between cells.
    ///
    /// Default: `None`, whichever of comma, tab, semicolon and bar divides the first rows most
    /// evenly. Example: `Some(b' ')`.
    pub delimiter: Option<u8>,

    /// Whether the first row holds the names of the columns.
    ///
    /// Default: `None`, it does unless one of its cells is a number or missing; at least three
    /// numbers that only count the columns, beside some text, are taken for names, and the first
    /// column may have none. Example:
    /// `Some(true)` for a file whose columns are named by years.
    pub header: Option<bool>,

    /// The column that holds the labels.
    ///
    /// Default: `None`, the last column. Example: `Some("class".into())`, or `Some("1".into())` for
    /// the first column.
    pub target: Option<String>,

    /// Columns to leave out.
    ///
    /// Default: none. Example: `vec!["id".into(), "-2".into()]`.
    pub drop: Vec<String>,

    /// Columns to read as categories even if all their cells are numbers. Naming the target or a
    /// dropped column changes nothing.
    ///
    /// Default: none. Example: `vec!["postcode".into()]`.
    pub categorical: Vec<String>,

    /// Columns to read as numbers: another cell is an error, even among the first rows. Naming the
    /// target or a dropped column changes nothing.
    ///
    /// Default: none. Example: `vec!["income".into()]`.
    pub numeric: Vec<String>,

    /// How categories become inputs.
    ///
    /// Default: [`Categories::OneHot`].
    pub categories: Categories,
}

impl CsvOptions {
    /// Checks what can be checked before the file is seen.
    pub(in crate::stream) fn check(&self) -> Result<(), Error> {
        match self.delimiter {
            Some(byte @ (b'"' | b'\n' | b'\r' | 0x80..)) => Err(Error::Config {
                option: "delimiter",
                rule: "an ASCII character other than a quote or a line end",
                value: format!("'{}'", byte.escape_ascii()),
            }),
            _ => Ok(()),
        }
    }

    /// What they say about the columns.
    pub(in crate::stream) fn columns(&self) -> ColumnOptions {
        ColumnOptions {
            target: self.target.clone(),
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            categories: self.categories,
        }
    }
}
