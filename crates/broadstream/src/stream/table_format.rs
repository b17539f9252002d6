//! The formats in which a table can be read.

use std::fmt;

use crate::error::Error;

/// A format in which rows are lines of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Cells between commas, tabs, semicolons or bars: see [`CsvStream`](super::csv::CsvStream).
    Csv,
    /// An object per line: see [`JsonLinesStream`](super::jsonl::JsonLinesStream).
    JsonLines,
    /// Weka's format: see [`ArffStream`](super::arff::ArffStream).
    Arff,
    /// `label index:value …`: see [`LibsvmStream`](super::libsvm::LibsvmStream).
    Libsvm,
}

impl TextFormat {
    /// The format that a file of that name usually has, compressed or not.
    ///
    /// ```
    /// use broadstream::stream::TextFormat;
    ///
    /// assert_eq!(TextFormat::of_name("spam.svm.gz"), Some(TextFormat::Libsvm));
    /// assert_eq!(TextFormat::of_name("spam"), None);
    /// ```
    pub fn of_name(name: &str) -> Option<Self> {
        let name = name.to_ascii_lowercase();
        let plain = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(&name);
        match plain.rsplit_once('.')?.1 {
            "csv" | "tsv" => Some(TextFormat::Csv),
            "jsonl" | "ndjson" | "json" => Some(TextFormat::JsonLines),
            "arff" => Some(TextFormat::Arff),
            "libsvm" | "svm" => Some(TextFormat::Libsvm),
            _ => None,
        }
    }
}

/// A format of tables. The library reads text; the crate `broadstream-columnar` reads all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// One of the formats in which rows are lines of text.
    Text(TextFormat),
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow, a file or a stream.
    Arrow,
}

impl TableFormat {
    /// Every format with its [name](Self::name).
    pub const NAMES: [(&str, TableFormat); 6] = [
        ("csv", TableFormat::Text(TextFormat::Csv)),
        ("jsonl", TableFormat::Text(TextFormat::JsonLines)),
        ("arff", TableFormat::Text(TextFormat::Arff)),
        ("libsvm", TableFormat::Text(TextFormat::Libsvm)),
        ("parquet", TableFormat::Parquet),
        ("arrow", TableFormat::Arrow),
    ];

    /// The format of that name.
    ///
    /// ```
    /// use broadstream::stream::TableFormat;
    ///
    /// assert_eq!(TableFormat::parse("parquet")?, TableFormat::Parquet);
    /// assert!(TableFormat::parse("xlsx").is_err());
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn parse(name: &str) -> Result<Self, Error> {
        let known = TableFormat::NAMES.iter().find(|(known, _)| *known == name);
        known.map(|(_, format)| *format).ok_or_else(|| Error::Config {
            option: "format",
            rule: "one of csv, jsonl, arff, libsvm, parquet, arrow",
            value: format!("'{name}'"),
        })
    }

    /// The name that users type.
    pub fn name(self) -> &'static str {
        match self {
            TableFormat::Text(TextFormat::Csv) => "csv",
            TableFormat::Text(TextFormat::JsonLines) => "jsonl",
            TableFormat::Text(TextFormat::Arff) => "arff",
            TableFormat::Text(TextFormat::Libsvm) => "libsvm",
            TableFormat::Parquet => "parquet",
            TableFormat::Arrow => "arrow",
        }
    }

    /// Whether rows may bring columns that are not known yet.
    pub fn grows(self) -> bool {
        matches!(self, TableFormat::Text(TextFormat::JsonLines | TextFormat::Libsvm))
    }

    /// What the format is called in messages.
    pub(super) fn title(self) -> &'static str {
        match self {
            TableFormat::Text(TextFormat::Csv) => "CSV",
            TableFormat::Text(TextFormat::JsonLines) => "JSON lines",
            TableFormat::Text(TextFormat::Arff) => "ARFF",
            TableFormat::Text(TextFormat::Libsvm) => "LIBSVM",
            TableFormat::Parquet => "Parquet",
            TableFormat::Arrow => "Arrow",
        }
    }
}

impl fmt::Display for TableFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.title())
    }
}

impl From<TextFormat> for TableFormat {
    fn from(format: TextFormat) -> Self {
        TableFormat::Text(format)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_suggest_formats() {
        for (name, format) in [
            ("a.CSV", Some(TextFormat::Csv)),
            ("a.b.tsv.zst", Some(TextFormat::Csv)),
            ("a.ndjson.gz", Some(TextFormat::JsonLines)),
            ("a.arff", Some(TextFormat::Arff)),
            ("a.gz", None),
            ("csv", None),
        ] {
            assert_eq!(TextFormat::of_name(name), format, "{name}");
        }
    }

    #[test]
    fn every_format_has_its_name() {
        for (name, format) in TableFormat::NAMES {
            assert_eq!(format.name(), name);
            assert_eq!(TableFormat::parse(name).unwrap(), format);
        }
        let error = TableFormat::parse("CSV").unwrap_err().to_string();
        let rule = "format must be one of csv, jsonl, arff, libsvm, parquet, arrow";
        assert_eq!(error, format!("{rule}, got 'CSV'"));
    }
}
