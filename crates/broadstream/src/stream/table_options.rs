//! How to read a table, whatever its format and wherever the options were given.

use super::{ColumnKind, RowEncoder, StreamError, TableFormat, TextFormat};
use crate::error::Error;

/// How to read a table: which columns to learn from, and how.
///
/// This is the only place where such options are defined. The command line and the Python package fill
/// in this type and check nothing themselves. What is checked, and where:
///
/// - [`check`](Self::check), which every reader calls first: that the format has the options that were
///   given, and that the delimiter can be one.
/// - [`check_generator`](Self::check_generator): that a generator was given none of them.
/// - [`ColumnRoles::new`](super::ColumnRoles::new), for the formats whose columns are all known from the
///   start: that the named columns exist, that the target is not dropped, and that no column is
///   declared to be of two kinds. JSON lines and LIBSVM check the same, except that a
///   named column may still appear later; LIBSVM also checks that names are indices.
///
/// Where columns are all known from the start, an option names a column by its name or, when no column
/// has that name, by its position: `"1"` is the first column, `"-1"` the last.
///
/// ```
/// use broadstream::stream::{Categories, TableOptions};
///
/// let options = TableOptions {
///     target: Some("price rises".into()),
///     drop: vec!["id".into()],
///     categories: Some(Categories::IntegerCodes),
///     ..TableOptions::default()
/// };
/// assert_eq!(options.header, None);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// The format of the table.
    ///
    /// Default: `None`, the format that the content shows or, if it shows none, the one that the
    /// file's name suggests, or else CSV. Example: `Some(TableFormat::Parquet)`.
    pub format: Option<TableFormat>,

    /// The byte between cells. CSV only.
    ///
    /// Default: `None`, whichever of comma, tab, semicolon and bar divides the first rows most
    /// evenly. Example: `Some(b' ')`.
    pub delimiter: Option<u8>,

    /// Whether the first row holds the names of the columns. CSV only.
    ///
    /// Default: `None`. The first row is then a header unless one of its cells is a number or missing,
    /// with two exceptions: the first column may have an empty name, and at least three numbers that
    /// only count the columns, beside some text, are taken for names. Without a header the columns are
    /// named `"1"`, `"2"`, …. Example: `Some(true)` for a file whose columns are named by years.
    pub header: Option<bool>,

    /// The column that holds the labels. LIBSVM has no such option: the label begins each row.
    ///
    /// Default: `None`, the last column. In JSON lines it is the one of the keys `target`, `label`,
    /// `class` and `y` that the first object has, or its last key if it has none or several of them.
    /// Example: `Some("class".into())`, or `Some("1".into())` for the first column.
    pub target: Option<String>,

    /// Columns to leave out.
    ///
    /// Default: none. Example: `vec!["id".into(), "-2".into()]`.
    pub drop: Vec<String>,

    /// Columns to read as categories even if they hold numbers. Naming the target or a dropped column
    /// has no effect.
    ///
    /// Default: none. Example: `vec!["postcode".into()]`.
    pub categorical: Vec<String>,

    /// Columns to read as numbers: any other value is then an error. Naming the target or a dropped
    /// column has no effect.
    ///
    /// Default: none. Example: `vec!["income".into()]`.
    pub numeric: Vec<String>,

    /// Columns of texts, such as messages or lines of a log. The words of a text, and the sequences of three and
    /// four characters in them, share 1024 inputs named `column=text#17`, by a hash. Upper and lower case are the same,
    /// digits all count as 0, and bytes that are not UTF-8 separate words. How often a word occurs counts by
    /// its logarithm, and all texts have the same length as vectors. Naming the target or a
    /// dropped column has no effect. LIBSVM has no such option.
    ///
    /// Default: none. Example: `vec!["message".into()]`.
    pub text: Vec<String>,

    /// Columns of dates and times, whose numbers are seconds since 1970. Without this option a column is recognised
    /// as one of dates if all its cells, among the first rows, are `2024-02-29`, or all of them are
    /// `2024-02-29T17:03:59` with or without seconds and a fraction, with or without a zone (`Z`, `+02:00`); a blank
    /// may stand for the `T`. A column `when` becomes the days since 1970, `when.hour`, and `when.weekday`,
    /// which is a category. Naming the target or a dropped column has no effect. LIBSVM has no such
    /// option.
    ///
    /// Default: none. Example: `vec!["timestamp".into()]`.
    pub dates: Vec<String>,

    /// How categories become inputs.
    ///
    /// Default: `None`, [`Categories::OneHot`]. Example: `Some(Categories::IntegerCodes)`.
    pub categories: Option<Categories>,

    /// The most inputs that the categories of a column may have, each of which costs memory for as long as the
    /// stream lasts. While half of them suffice, every category has an input of its own. A quarter is
    /// kept for categories that appear later and prove to be frequent, and all others share the rest, by a
    /// hash of their text. With [`Categories::IntegerCodes`], the same applies to codes.
    ///
    /// Default: `None`, [`TableOptions::MAX_CATEGORIES`]. Example: `Some(10_000)` for postcodes.
    pub max_categories: Option<usize>,

    /// Whether numbers have a decimal comma, as in `3,14`; a decimal point is then no number. CSV only.
    ///
    /// Default: `None`. Numbers then have a decimal comma if, among the first rows, no number of an input
    /// column has a decimal point, and the cells of some column are numbers with a comma that do not look
    /// like thousands throughout, as `1,234` does. Example: `Some(true)`.
    pub decimal_comma: Option<bool>,
}

/// How the cells of a categorical column become inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Categories {
    /// Each category is an input of its own, named `column=category`, which is 1 in the rows that
    /// have it and absent from the others.
    #[default]
    OneHot,
    /// The column is one numeric input, and its categories are numbered 0, 1, 2, … in order of
    /// appearance. The numbers carry no other meaning, so this suits models that split on them.
    IntegerCodes,
}

impl Categories {
    /// The value of that name: `one-hot` or `integer-codes`.
    pub fn parse(name: &str) -> Result<Self, Error> {
        match name {
            "one-hot" => Ok(Categories::OneHot),
            "integer-codes" => Ok(Categories::IntegerCodes),
            _ => Err(Error::Config {
                option: "categories",
                rule: "one-hot or integer-codes",
                value: format!("'{name}'"),
            }),
        }
    }

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            Categories::OneHot => "one-hot",
            Categories::IntegerCodes => "integer-codes",
        }
    }
}

impl TableOptions {
    /// The most inputs that the categories of a column may have by default. Their weights take 34 MB in the
    /// default model.
    pub const MAX_CATEGORIES: usize = 2000;

    /// Checks all that can be checked before a table of that format is read.
    ///
    /// ```
    /// use broadstream::stream::{TableOptions, TextFormat};
    ///
    /// let options = TableOptions { delimiter: Some(b';'), ..TableOptions::default() };
    /// assert!(options.check(TextFormat::Csv).is_ok());
    /// let error = options.check(TextFormat::JsonLines).unwrap_err();
    /// assert_eq!(error.to_string(), "JSON lines has no option 'delimiter', got ';'");
    /// ```
    pub fn check(&self, format: impl Into<TableFormat>) -> Result<(), Error> {
        let format = format.into();
        if let Some(given) = self.format.filter(|given| *given != format) {
            let value = format!("{} for a reader of {}", given.name(), format.name());
            let rule = "left out or the format that is read";
            return Err(Error::Config { option: "format", rule, value });
        }
        let has = |option: &str| match option {
            "delimiter" | "header" | "decimal_comma" => format == TextFormat::Csv.into(),
            "target" | "text" | "dates" => format != TextFormat::Libsvm.into(),
            _ => true,
        };
        self.refuse_unused(format.title(), has)?;
        self.check_values()?;
        match self.delimiter {
            Some(byte @ (b'"' | b'\n' | b'\r' | 0x80..)) => Err(Error::Config {
                option: "delimiter",
                rule: "an ASCII character other than a quote or a line end",
                value: format!("'{}'", byte.escape_ascii()),
            }),
            _ => Ok(()),
        }
    }

    /// Checks the values that no format changes.
    pub(super) fn check_values(&self) -> Result<(), Error> {
        if self.max_categories == Some(0) {
            let (option, rule, value) = ("max_categories", "at least 1", "0".to_owned());
            return Err(Error::Config { option, rule, value });
        }
        Ok(())
    }

    /// Checks that no option was given: a generator has only parameters of its own.
    ///
    /// ```
    /// use broadstream::stream::TableOptions;
    ///
    /// let options = TableOptions { header: Some(true), ..TableOptions::default() };
    /// let error = options.check_generator().unwrap_err();
    /// assert_eq!(error.to_string(), "a generator has no option 'header', got true");
    /// ```
    pub fn check_generator(&self) -> Result<(), Error> {
        self.refuse_unused("a generator", |_| false)
    }

    /// An encoder without columns, for labels under the name `target`.
    pub(super) fn encoder(&self, target: &str) -> RowEncoder {
        let most = self.max_categories.unwrap_or(Self::MAX_CATEGORIES);
        RowEncoder::new(target, self.categories.unwrap_or_default())
            .with_max_categories(most)
            .with_texts(&self.text)
            .with_dates(&self.dates)
    }

    /// The kind of the column of that name, if the options declare it.
    pub(super) fn declared(&self, column: &str) -> Option<ColumnKind> {
        let among = |names: &[String]| names.iter().any(|name| name == column);
        self.kinds().into_iter().find(|(_, names)| among(names)).map(|(kind, _)| kind)
    }

    /// The columns that are declared to be of each kind.
    pub(super) fn kinds(&self) -> [(ColumnKind, &[String]); 4] {
        [
            (ColumnKind::Numeric, &self.numeric),
            (ColumnKind::Categorical, &self.categorical),
            (ColumnKind::Text, &self.text),
            (ColumnKind::Moment, &self.dates),
        ]
    }

    /// Checks that the names contradict each other nowhere, for a format that has no positions.
    pub(super) fn check_names(&self) -> Result<(), StreamError> {
        let kinds = self.kinds();
        for (k, (_, names)) in kinds.iter().enumerate() {
            let is_twice =
                |name: &&String| kinds[k + 1..].iter().any(|(_, others)| others.contains(name));
            if let Some(column) = names.iter().find(is_twice) {
                return Err(StreamError::KindConflict { column: column.clone() });
            }
        }
        match &self.target {
            Some(target) if self.drop.contains(target) => {
                Err(StreamError::TargetDropped { target: target.clone() })
            }
            _ => Ok(()),
        }
    }

    /// Refuses an option that was given and that a kind of source does not have.
    fn refuse_unused(&self, kind: &'static str, has: impl Fn(&str) -> bool) -> Result<(), Error> {
        let quoted = |text: &str| format!("'{text}'");
        let list = |names: &[String]| (!names.is_empty()).then(|| quoted(&names.join(",")));
        let given = [
            ("target", self.target.as_deref().map(quoted)),
            ("drop", list(&self.drop)),
            ("categorical", list(&self.categorical)),
            ("numeric", list(&self.numeric)),
            ("text", list(&self.text)),
            ("dates", list(&self.dates)),
            ("categories", self.categories.map(|categories| categories.name().to_owned())),
            ("format", self.format.map(|format| format.name().to_owned())),
            ("delimiter", self.delimiter.map(|byte| format!("'{}'", byte.escape_ascii()))),
            ("header", self.header.map(|header| header.to_string())),
            ("max_categories", self.max_categories.map(|most| most.to_string())),
            ("decimal_comma", self.decimal_comma.map(|comma| comma.to_string())),
        ];
        for (option, value) in given {
            if let Some(value) = value.filter(|_| !has(option)) {
                return Err(StreamError::UnusedOption { kind, option, value }.into());
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [(&'static str, &'static str, TableOptions); 12] {
        let none = TableOptions::default;
        let name = || vec!["a".to_owned(), "b".to_owned()];
        [
            ("target", "'a'", TableOptions { target: Some("a".into()), ..none() }),
            ("drop", "'a,b'", TableOptions { drop: name(), ..none() }),
            ("categorical", "'a,b'", TableOptions { categorical: name(), ..none() }),
            ("numeric", "'a,b'", TableOptions { numeric: name(), ..none() }),
            (
                "categories",
                "one-hot",
                TableOptions { categories: Some(Categories::OneHot), ..none() },
            ),
            ("text", "'a,b'", TableOptions { text: name(), ..none() }),
            ("dates", "'a,b'", TableOptions { dates: name(), ..none() }),
            ("format", "arrow", TableOptions { format: Some(TableFormat::Arrow), ..none() }),
            ("delimiter", "'\\t'", TableOptions { delimiter: Some(b'\t'), ..none() }),
            ("header", "false", TableOptions { header: Some(false), ..none() }),
            ("max_categories", "7", TableOptions { max_categories: Some(7), ..none() }),
            ("decimal_comma", "true", TableOptions { decimal_comma: Some(true), ..none() }),
        ]
    }

    #[test]
    fn every_option_belongs_to_the_formats_that_have_it() {
        for (option, value, options) in all() {
            for (name, format) in TableFormat::NAMES {
                let outcome = options.check(format).map_err(|error| error.to_string());
                let unused = Err(format!("{format} has no option '{option}', got {value}"));
                match (option, name) {
                    ("delimiter" | "header" | "decimal_comma", "csv") => {
                        assert_eq!(outcome, Ok(()));
                    }
                    ("delimiter" | "header" | "decimal_comma", _) => assert_eq!(outcome, unused),
                    ("target" | "text" | "dates", "libsvm") => assert_eq!(outcome, unused),
                    ("format", name) if name != "arrow" => {
                        let rule = "format must be left out or the format that is read";
                        let message = format!("{rule}, got arrow for a reader of {name}");
                        assert_eq!(outcome, Err(message));
                    }
                    _ => assert_eq!(outcome, Ok(()), "{option} {name}"),
                }
            }
        }
    }

    #[test]
    fn a_generator_has_none_of_the_options() {
        assert!(TableOptions::default().check_generator().is_ok());
        for (option, value, options) in all() {
            let message = format!("a generator has no option '{option}', got {value}");
            assert_eq!(options.check_generator().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn a_column_may_have_at_least_one_category() {
        let options = TableOptions { max_categories: Some(0), ..TableOptions::default() };
        let error = options.check(TableFormat::Parquet).unwrap_err().to_string();
        assert_eq!(error, "max_categories must be at least 1, got 0");
    }

    #[test]
    fn quotes_and_line_ends_are_no_delimiters() {
        for byte in [b'"', b'\n', b'\r', 0x80, 0xff] {
            let options = TableOptions { delimiter: Some(byte), ..TableOptions::default() };
            let error = options.check(TextFormat::Csv).unwrap_err().to_string();
            let rule = "delimiter must be an ASCII character other than a quote or a line end";
            assert_eq!(error, format!("{rule}, got '{}'", byte.escape_ascii()));
        }
    }
}
