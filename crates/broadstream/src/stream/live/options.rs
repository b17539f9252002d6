//! How to read rows for a model that exists already.

use crate::stream::{RowPurpose, TableFormat, TableOptions, TextFormat};

/// How to read rows for a model.
///
/// ```
/// use broadstream::stream::{LiveOptions, UnknownColumns};
///
/// let options = LiveOptions { unknown: UnknownColumns::Ignore, ..LiveOptions::default() };
/// assert_eq!(options.format, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LiveOptions {
    /// The format of the rows.
    ///
    /// Default: `None`, JSON lines if the first byte that is not blank is `{`, and otherwise CSV.
    /// Example: `Some(LiveFormat::Csv)`.
    pub format: Option<LiveFormat>,

    /// The byte between cells. CSV only.
    ///
    /// Default: `None`, whichever of comma, tab, semicolon and bar divides the first line into the
    /// columns of the model. Example: `Some(b' ')`.
    pub delimiter: Option<u8>,

    /// Whether the first row holds the names of the columns. CSV only.
    ///
    /// Default: `None`. The first row is then a header if at least half of its cells are names of the
    /// model's columns and no other cell is a number or missing, or if some are such names and the
    /// number of cells is not that of a row. If the columns are named by numbers only, it is not a
    /// header. Example: `Some(false)`.
    pub header: Option<bool>,

    /// Whether numbers have a decimal comma. CSV only.
    ///
    /// Default: `None`, as in the rows that the model was trained on. Example: `Some(true)`.
    pub decimal_comma: Option<bool>,

    /// The most inputs that the categories of a column may have, those that the model knows included: see
    /// [`TableOptions::max_categories`].
    ///
    /// Default: `None`, as in the rows that the model was trained on. Example: `Some(10_000)`.
    pub max_categories: Option<usize>,

    /// What the rows are for.
    ///
    /// Default: [`RowPurpose::Learn`]. Example: [`RowPurpose::Predict`], so that rows leave no trace.
    pub purpose: RowPurpose,

    /// Columns to pass over, whether the model knows them or not.
    ///
    /// Default: none. Example: `vec!["id".into()]`.
    pub drop: Vec<String>,

    /// What to do about a column that the model does not know.
    ///
    /// Default: [`UnknownColumns::Refuse`].
    pub unknown: UnknownColumns,
}

impl LiveOptions {
    /// The options that belong to the format, to be checked like those of a table.
    pub(super) fn format_options(&self) -> TableOptions {
        TableOptions {
            delimiter: self.delimiter,
            header: self.header,
            decimal_comma: self.decimal_comma,
            max_categories: self.max_categories,
            ..TableOptions::default()
        }
    }
}

/// The format of live rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveFormat {
    /// CSV or TSV.
    Csv,
    /// A JSON object per line.
    JsonLines,
}

/// What to do about a column that a model does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnknownColumns {
    /// An error, since a misspelt name would otherwise go unnoticed.
    #[default]
    Refuse,
    /// Pass over it.
    Ignore,
    /// Learn it: the column becomes new inputs.
    Learn,
}

impl From<LiveFormat> for TableFormat {
    fn from(format: LiveFormat) -> Self {
        TableFormat::Text(match format {
            LiveFormat::Csv => TextFormat::Csv,
            LiveFormat::JsonLines => TextFormat::JsonLines,
        })
    }
}
