//! A text whose first lines tell its format.

use std::io::Read;

use super::{
    Stream, TableOptions, TextFormat,
    arff::ArffStream,
    csv::CsvStream,
    jsonl::JsonLinesStream,
    libsvm::{self, LibsvmStream},
    lines::Lines,
};
use crate::error::Error;

/// A text whose format can be detected before its samples are read.
///
/// ```
/// use broadstream::stream::{TableOptions, TextFormat, TextSource};
///
/// let mut source = TextSource::new(Box::new("spam 3:0.5 9:1\n".as_bytes()))?;
/// assert_eq!(source.detect(), Some(TextFormat::Libsvm));
/// let stream = source.stream(TextFormat::Libsvm, TableOptions::default())?;
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

    /// The format that the first line shows which is neither blank nor a comment. `None` if it shows
    /// none, which does not rule out CSV: any line can be a row of it.
    pub fn detect(&mut self) -> Option<TextFormat> {
        /// How many bytes of comments are passed over.
        const MOST: usize = 1 << 20;
        self.lines.mark();
        let mut format = None;
        // A failure of the source is not reported here but when the line is read for its sample.
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

    /// The samples of the text.
    #[expect(clippy::needless_pass_by_value, reason = "options are given away, as to any `new`")]
    pub fn stream(
        self,
        format: TextFormat,
        options: TableOptions,
    ) -> Result<Box<dyn Stream>, Error> {
        options.check(format)?;
        let (lines, options) = (self.lines, &options);
        Ok(match format {
            TextFormat::Csv => Box::new(CsvStream::of_lines(lines, options)?),
            TextFormat::JsonLines => Box::new(JsonLinesStream::of_lines(lines, options)?),
            TextFormat::Arff => Box::new(ArffStream::of_lines(lines, options)?),
            TextFormat::Libsvm => Box::new(LibsvmStream::of_lines(lines, options)?),
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
    fn detecting_consumes_nothing() {
        let mut source = TextSource::new(Box::new("# c\na,b\n1,x\n".as_bytes())).unwrap();
        assert_eq!(source.detect(), None);
        let options = TableOptions { delimiter: Some(b','), ..TableOptions::default() };
        let error = source.stream(TextFormat::Csv, options).err().map(|error| error.to_string());
        let message = "no input columns: the stream has only its target '# c'";
        assert_eq!(error.as_deref(), Some(message), "the comment is the first row");
    }
}
