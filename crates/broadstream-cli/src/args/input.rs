//! The options that say how a source is read.

use broadstream::stream::{Categories, TableFormat, TableOptions, TextFormat};
use clap::{Args, ValueEnum};

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Input")]
pub(crate) struct InputArguments {
    /// The column to predict, by name or by position (-1 is the last)
    #[arg(long, value_name = "COLUMN", allow_hyphen_values = true)]
    pub(crate) target: Option<String>,

    /// Columns to leave out, by name or by position
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) drop: Vec<String>,

    /// Columns to read as categories even where they hold numbers
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) categorical: Vec<String>,

    /// Columns to read as numbers; any other cell is then an error
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) numeric: Vec<String>,

    /// Columns of texts, whose words and sequences of characters become inputs
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) text: Vec<String>,

    /// Columns of dates and times, whose numbers are seconds since 1970 [default: those whose cells are all
    /// like 2024-02-29, or all like 2024-02-29T17:03]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', allow_hyphen_values = true)]
    pub(crate) dates: Vec<String>,

    /// How categories become inputs [default: one-hot; integer-codes in the paper's presets]
    #[arg(long, value_enum)]
    pub(crate) categories: Option<CategoriesArgument>,

    /// The most inputs that the categories of a column may have; rare ones share some of them
    /// [default: 2000]
    #[arg(long, value_name = "N")]
    pub(crate) max_categories: Option<usize>,

    /// The format of the source [default: detected from its first bytes, then from its name]
    #[arg(long, value_enum)]
    pub(crate) format: Option<FormatArgument>,

    /// The character between cells, or 'tab' [default: detected]
    #[arg(long, value_name = "CHARACTER", value_parser = parse_delimiter)]
    pub(crate) delimiter: Option<u8>,

    /// The first row holds the column names [default: unless one of its cells is a number that
    /// does not just count the columns]
    #[arg(long, conflicts_with = "no_header")]
    pub(crate) header: bool,

    /// The first row is data; columns are then named 1, 2, 3, …
    #[arg(long)]
    pub(crate) no_header: bool,

    /// Numbers have a decimal comma, as in '3,14' [default: detected]
    #[arg(long, conflicts_with = "no_decimal_comma")]
    pub(crate) decimal_comma: bool,

    /// Numbers have a decimal point
    #[arg(long)]
    pub(crate) no_decimal_comma: bool,

    /// Stop after N samples
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) limit: Option<u64>,

    /// Read the whole source into memory and shuffle it, before --limit applies
    #[arg(long, value_name = "SEED")]
    pub(crate) shuffle: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
pub(crate) enum FormatArgument {
    /// Cells between commas, tabs or another character
    Csv,
    /// JSON lines: an object per line
    Jsonl,
    /// Weka's format, dense or sparse
    Arff,
    /// 'label index:value …' per line
    Libsvm,
    /// Apache Parquet
    Parquet,
    /// Apache Arrow, a file (Feather) or a stream
    Arrow,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum CategoriesArgument {
    /// One input 'column=value' per value
    OneHot,
    /// One input per column: 0, 1, 2, … in order of appearance
    IntegerCodes,
}

impl InputArguments {
    /// The options as the library has them. It also checks them, when the source is opened.
    pub(crate) fn table_options(&self) -> TableOptions {
        TableOptions {
            format: self.format.map(|format| match format {
                FormatArgument::Csv => TextFormat::Csv.into(),
                FormatArgument::Jsonl => TextFormat::JsonLines.into(),
                FormatArgument::Arff => TextFormat::Arff.into(),
                FormatArgument::Libsvm => TextFormat::Libsvm.into(),
                FormatArgument::Parquet => TableFormat::Parquet,
                FormatArgument::Arrow => TableFormat::Arrow,
            }),
            delimiter: self.delimiter,
            header: choice(self.header, self.no_header),
            decimal_comma: choice(self.decimal_comma, self.no_decimal_comma),
            max_categories: self.max_categories,
            target: self.target.clone(),
            drop: self.drop.clone(),
            categorical: self.categorical.clone(),
            numeric: self.numeric.clone(),
            text: self.text.clone(),
            dates: self.dates.clone(),
            categories: self.categories.map(|categories| match categories {
                CategoriesArgument::OneHot => Categories::OneHot,
                CategoriesArgument::IntegerCodes => Categories::IntegerCodes,
            }),
        }
    }
}

/// The choice that a pair of flags makes, such as `--header` and `--no-header`.
pub(crate) fn choice(yes: bool, no: bool) -> Option<bool> {
    if yes || no { Some(yes) } else { None }
}

/// The delimiter of cells.
pub(super) fn parse_delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() => Ok(*byte),
        _ => Err("expected one ASCII character or 'tab'".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_single_characters() {
        assert_eq!(parse_delimiter(";"), Ok(b';'));
        assert_eq!(parse_delimiter("tab"), Ok(b'\t'));
        assert!(parse_delimiter(";;").is_err());
        assert!(parse_delimiter("é").is_err());
    }
}
