//! Rows in whichever format: those of text are the library's, columnar ones are read here.

use std::{
    fs::File,
    io::{self, Cursor, Read, Seek},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use broadstream::{
    Error,
    stream::{ColumnOptions, Place, Stream, StreamError, TextFormat, TextSource, csv::CsvOptions},
};

use crate::{
    format::{ColumnarFormat, ColumnarSource},
    stream::ColumnarStream,
};

/// A format in which rows can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// One of the formats in which rows are lines.
    Text(TextFormat),
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow, a file or a stream.
    Arrow,
}

impl TableFormat {
    /// All formats by the names that users have for them.
    pub const NAMES: [(&str, TableFormat); 6] = [
        ("csv", TableFormat::Text(TextFormat::Csv)),
        ("jsonl", TableFormat::Text(TextFormat::JsonLines)),
        ("arff", TableFormat::Text(TextFormat::Arff)),
        ("libsvm", TableFormat::Text(TextFormat::Libsvm)),
        ("parquet", TableFormat::Parquet),
        ("arrow", TableFormat::Arrow),
    ];

    /// Whether rows may bring columns that are not known yet.
    pub fn grows(self) -> bool {
        matches!(self, TableFormat::Text(TextFormat::JsonLines | TextFormat::Libsvm))
    }
}

/// A file or a pipe of rows, whose format is known.
///
/// ```
/// use broadstream::stream::{TextFormat, csv::CsvOptions};
/// use broadstream_columnar::{TableFormat, TableSource};
///
/// let rows = "{\"volts\": 231.5, \"state\": \"on\"}\n".as_bytes();
/// let source = TableSource::pipe(Box::new(rows), None)?;
/// assert_eq!(source.format(), TableFormat::Text(TextFormat::JsonLines));
/// let stream = source.stream(CsvOptions::default())?;
/// assert_eq!(stream.schema().target(), "state");
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct TableSource {
    format: TableFormat,
    content: Content,
    read: Arc<AtomicU64>,
}

enum Content {
    Text(TextSource),
    Columnar(ColumnarFormat, ColumnarSource),
}

impl TableSource {
    /// A regular file. Its format is the one given, or that of its content, or else the one that
    /// files of that name have, or else CSV.
    pub fn file(mut file: File, name: &str, format: Option<TableFormat>) -> Result<Self, Error> {
        let head = read_head(&mut file)?;
        if let Some(columnar) = columnar_format(&head, format) {
            file.rewind().map_err(read_error)?;
            return Ok(TableSource::columnar(columnar, ColumnarSource::File(file)));
        }
        TableSource::text(
            Box::new(Cursor::new(head).chain(file)),
            TextFormat::of_name(name),
            format,
        )
    }

    /// What can be read only once, from the first to the last byte.
    pub fn pipe(
        mut reader: Box<dyn Read + Send>,
        format: Option<TableFormat>,
    ) -> Result<Self, Error> {
        let head = read_head(&mut reader)?;
        let columnar = columnar_format(&head, format);
        let reader = Box::new(Cursor::new(head).chain(reader));
        match columnar {
            Some(columnar) => Ok(TableSource::columnar(columnar, ColumnarSource::Pipe(reader))),
            None => TableSource::text(reader, None, format),
        }
    }

    fn columnar(format: ColumnarFormat, source: ColumnarSource) -> Self {
        let name = match format {
            ColumnarFormat::Parquet => TableFormat::Parquet,
            ColumnarFormat::ArrowFile | ColumnarFormat::ArrowStream => TableFormat::Arrow,
        };
        let content = Content::Columnar(format, source);
        TableSource { format: name, content, read: Arc::default() }
    }

    fn text(
        reader: Box<dyn Read + Send>,
        usual: Option<TextFormat>,
        given: Option<TableFormat>,
    ) -> Result<Self, Error> {
        let read = Arc::<AtomicU64>::default();
        let counted = Counted { inner: reader, read: Arc::clone(&read) };
        let mut text = TextSource::new(Box::new(counted))?;
        let format = match given {
            Some(TableFormat::Text(format)) => format,
            _ => text.detect().or(usual).unwrap_or(TextFormat::Csv),
        };
        Ok(TableSource { format: TableFormat::Text(format), content: Content::Text(text), read })
    }

    /// The format of the rows.
    pub fn format(&self) -> TableFormat {
        self.format
    }

    /// How many bytes of a text have been read so far, also once it is a stream. It stays 0 for a
    /// columnar source, which counts its rows itself if it can.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }

    /// The samples of the rows. Only CSV has a delimiter and a header to choose.
    pub fn stream(self, options: CsvOptions) -> Result<Box<dyn Stream>, Error> {
        let (format, source) = match (self.content, self.format) {
            (Content::Text(text), TableFormat::Text(format)) => {
                return text.stream(format, options);
            }
            (Content::Text(text), _) => return text.stream(TextFormat::Csv, options),
            (Content::Columnar(format, source), _) => (format, source),
        };
        let only_csv = |option, value: Option<String>| match value {
            Some(value) => {
                Err(Error::Config { option, rule: "left out unless the format is CSV", value })
            }
            None => Ok(()),
        };
        let CsvOptions { delimiter, header, target, drop, categorical, numeric, categories } =
            options;
        only_csv("delimiter", delimiter.map(|byte| format!("'{}'", byte.escape_ascii())))?;
        only_csv("header", header.map(|header| header.to_string()))?;
        let options = ColumnOptions { target, drop, categorical, numeric, categories };
        Ok(Box::new(ColumnarStream::new(format, source, options)?))
    }
}

/// The columnar format of a source, as it is given or as its first bytes show.
fn columnar_format(head: &[u8], given: Option<TableFormat>) -> Option<ColumnarFormat> {
    let found = ColumnarFormat::detect(head);
    match given {
        None => found,
        Some(TableFormat::Parquet) => Some(ColumnarFormat::Parquet),
        Some(TableFormat::Arrow) if found == Some(ColumnarFormat::ArrowFile) => found,
        Some(TableFormat::Arrow) => Some(ColumnarFormat::ArrowStream),
        Some(TableFormat::Text(_)) => None,
    }
}

/// The first bytes, which tell binary formats; a pipe may give them one by one.
fn read_head(reader: &mut dyn Read) -> Result<Vec<u8>, Error> {
    let mut head = Vec::with_capacity(ColumnarFormat::HEAD);
    reader.take(ColumnarFormat::HEAD as u64).read_to_end(&mut head).map_err(read_error)?;
    Ok(head)
}

fn read_error(source: io::Error) -> Error {
    StreamError::Read { place: Place::Row(1), source }.into()
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}
