//! Telling from the first lines of a text which format it is in.

use std::io::Read;

use super::{
    Stream,
    arff::ArffStream,
    csv::CsvOptions,
    csv::CsvStream,
    jsonl::JsonLinesStream,
    libsvm::{self, LibsvmStream},
    lines::Lines,
};
use crate::error::Error;

/// A format in which rows are lines of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Cells between commas, tabs, semicolons or bars: see [`CsvStream`].
    Csv,
    /// An object per line: see [`JsonLinesStream`].
    JsonLines,
    /// Weka's format: see [`ArffStream`].
    Arff,
    /// `label index:value …`: see [`LibsvmStream`].
    Libsvm,
}

impl TextFormat {
    /// The format that files of that name usually have, whether they are compressed or not.
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

/// A text of which nothing has been read for good.
///
/// ```
/// use broadstream::stream::{TextFormat, TextSource, csv::CsvOptions};
///
/// let mut source = TextSource::new(Box::new("spam 3:0.5 9:1\n".as_bytes()))?;
/// assert_eq!(source.detect(), Some(TextFormat::Libsvm));
/// let stream = source.stream(TextFormat::Libsvm, CsvOptions::default())?;
/// assert_eq!(stream.inputs_per_sample(), 2);
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct TextSource {
    lines: Lines,
}

impl TextSource {
    /// Reads the beginning of a text, plain or compressed by gzip or zstd.
    pub fn new(reader: Box<dyn Read + Send>) -> Result<Self, Error> {
        Ok(TextSource { lines: Lines::open(reader)? })
    }

    /// The format that the first line shows which is neither blank nor a comment, or `None` if it
    /// shows none: what is no other format may well be CSV.
    pub fn detect(&mut self) -> Option<TextFormat> {
        /// How much may be comments.
        const MOST: usize = 1 << 20;
        self.lines.mark();
        let mut format = None;
        // A failure of the source is reported when the line is read for good.
        while let Ok(Some(range)) = self.lines.peek() {
            let line = self.lines.text(range).trim_ascii();
            if !line.is_empty() && !line.starts_with(b"#") && !line.starts_with(b"%") {
                format = format_of(line);
                break;
            }
            self.lines.pass();
            if self.lines.kept() > MOST {
                break;
            }
        }
        self.lines.rewind();
        self.lines.forget_mark();
        format
    }

    /// The samples of the text. Its delimiter and header can be chosen in CSV only.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn stream(self, format: TextFormat, options: CsvOptions) -> Result<Box<dyn Stream>, Error> {
        if format == TextFormat::Csv {
            return Ok(Box::new(CsvStream::of_lines(self.lines, &options)?));
        }
        let only_csv = |option, value: Option<String>| match value {
            Some(value) => {
                Err(Error::Config { option, rule: "left out unless the format is CSV", value })
            }
            None => Ok(()),
        };
        only_csv("delimiter", options.delimiter.map(|byte| format!("'{}'", byte.escape_ascii())))?;
        only_csv("header", options.header.map(|header| header.to_string()))?;
        let columns = options.columns();
        Ok(match format {
            TextFormat::Arff => Box::new(ArffStream::of_lines(self.lines, &columns)?),
            TextFormat::Libsvm => Box::new(LibsvmStream::of_lines(self.lines, &columns)?),
            TextFormat::JsonLines | TextFormat::Csv => {
                Box::new(JsonLinesStream::of_lines(self.lines, columns)?)
            }
        })
    }
}

/// The format that a line shows.
fn format_of(line: &[u8]) -> Option<TextFormat> {
    let begins = |keyword: &[u8]| {
        line.get(..keyword.len()).is_some_and(|start| start.eq_ignore_ascii_case(keyword))
    };
    if line.starts_with(b"{") {
        Some(TextFormat::JsonLines)
    } else if begins(b"@relation") || begins(b"@attribute") {
        Some(TextFormat::Arff)
    } else if libsvm::is_row(line) {
        Some(TextFormat::Libsvm)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detect(text: &'static str) -> Option<TextFormat> {
        TextSource::new(Box::new(text.as_bytes())).unwrap().detect()
    }

    #[test]
    fn the_first_line_that_says_something_shows_the_format() {
        for (text, format) in [
            ("\n \n{\"a\": 1}\n", Some(TextFormat::JsonLines)),
            ("\u{feff}{\"a\": 1}\n", Some(TextFormat::JsonLines)),
            ("% a comment\n\n@RELATION r\n", Some(TextFormat::Arff)),
            ("@attribute a real\n", Some(TextFormat::Arff)),
            ("# a comment\n+1 1:0.5 2:3\n", Some(TextFormat::Libsvm)),
            ("3 qid:1 7:0.5 # note", Some(TextFormat::Libsvm)),
            ("% fat,weight,class\n1,2,x\n", None),
            ("a,b\n1,2\n", None),
            ("time 12:30\n", Some(TextFormat::Libsvm)),
            ("12:30,1\n", None),
            ("1\n", None),
            ("+1,2 1:0.5\n", None),
            ("", None),
        ] {
            assert_eq!(detect(text), format, "{text:?}");
        }
    }

    #[test]
    fn nothing_is_lost_by_looking() {
        let mut source = TextSource::new(Box::new("# c\na,b\n1,x\n".as_bytes())).unwrap();
        assert_eq!(source.detect(), None);
        let options = CsvOptions { delimiter: Some(b','), ..CsvOptions::default() };
        let error = source.stream(TextFormat::Csv, options).err().map(|error| error.to_string());
        let message = "no input columns: the stream has only its target '# c'";
        assert_eq!(error.as_deref(), Some(message), "the comment is the first row");
    }

    #[test]
    fn names_tell_formats() {
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
    fn only_csv_has_a_delimiter_and_a_header() {
        let stream = |options| {
            let source = TextSource::new(Box::new("{\"a\": 1, \"y\": 2}\n".as_bytes())).unwrap();
            source.stream(TextFormat::JsonLines, options).err().map(|error| error.to_string())
        };
        assert_eq!(stream(CsvOptions::default()), None);
        let options = CsvOptions { delimiter: Some(b';'), ..CsvOptions::default() };
        let message = "delimiter must be left out unless the format is CSV, got ';'";
        assert_eq!(stream(options).as_deref(), Some(message));
        let options = CsvOptions { header: Some(true), ..CsvOptions::default() };
        let message = "header must be left out unless the format is CSV, got true";
        assert_eq!(stream(options).as_deref(), Some(message));
    }
}
