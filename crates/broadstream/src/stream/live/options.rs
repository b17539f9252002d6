//! What may be said about rows for a model that exists already.

/// How to read rows for a model.
///
/// ```
/// use broadstream::stream::{LiveOptions, Unknown};
///
/// let options = LiveOptions { unknown: Unknown::Ignore, ..LiveOptions::default() };
/// assert_eq!(options.format, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveOptions {
    /// How the rows are written.
    ///
    /// Default: `None`, JSON lines if the first byte that is not blank is `{`, and otherwise CSV.
    /// Example: `Some(LiveFormat::Csv)`.
    pub format: Option<LiveFormat>,

    /// The byte between the cells of CSV.
    ///
    /// Default: `None`, whichever of comma, tab, semicolon and bar divides the first line into the
    /// columns of the model. Example: `Some(b' ')`.
    pub delimiter: Option<u8>,

    /// Whether the first row of CSV holds the names of the columns.
    ///
    /// Default: `None`, it does if at least half of its cells are names of the model's columns and
    /// no other cell is a number or missing, or if some are such names and rows should have another
    /// number of cells. If the columns have only numbers for names, it does not. Example:
    /// `Some(false)`.
    pub header: Option<bool>,

    /// Columns to pass over, whether the model knows them or not.
    ///
    /// Default: none. Example: `vec!["id".into()]`.
    pub drop: Vec<String>,

    /// What to do about a column that the model does not know.
    ///
    /// Default: [`Unknown::Refuse`].
    pub unknown: Unknown,
}

/// How rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveFormat {
    /// CSV or TSV.
    Csv,
    /// A JSON object per line.
    JsonLines,
}

/// What to do about a column that a model does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unknown {
    /// It is an error: a misspelt name would otherwise go unnoticed.
    #[default]
    Refuse,
    /// It is passed over.
    Ignore,
    /// It brings new inputs.
    Learn,
}
