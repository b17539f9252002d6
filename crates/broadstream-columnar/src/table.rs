//! A table in any format: the library reads text, this crate reads columnar formats.

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
    stream::{Place, Stream, StreamError, TableFormat, TableOptions, TextFormat, TextSource},
};

use crate::{
    format::{ColumnarFormat, ColumnarSource},
    stream::open_columnar,
};

/// A file or a pipe that holds a table, whose format is known.
///
/// ```
/// use broadstream::stream::{TableFormat, TableOptions, TextFormat};
/// use broadstream_columnar::TableSource;
///
/// let rows = "{\"volts\": 231.5, \"state\": \"on\"}\n".as_bytes();
/// let source = TableSource::pipe(Box::new(rows), TableOptions::default())?;
/// assert_eq!(source.format(), TableFormat::Text(TextFormat::JsonLines));
/// let stream = source.stream()?;
/// assert_eq!(stream.schema().target(), "state");
/// # Ok::<(), broadstream::Error>(())
/// ```
pub struct TableSource {
    content: Content,
    options: TableOptions,
    read: Arc<AtomicU64>,
}

enum Content {
    Text(TextFormat, TextSource),
    Columnar(ColumnarFormat, ColumnarSource),
}

impl TableSource {
    /// A file of that name. Its format is the one that the options give or, without one, the format
    /// that the content shows, or else the one that the name suggests, or else CSV.
    ///
    /// A file that is not a regular one, such as a named pipe, is read like a [pipe](Self::pipe).
    pub fn file(mut file: File, name: &str, options: TableOptions) -> Result<Self, Error> {
        if !file.metadata().map_err(read_error)?.is_file() {
            return TableSource::pipe(Box::new(file), options);
        }
        let head = read_head(&mut file)?;
        if let Some(columnar) = columnar_format(&head, options.format) {
            file.rewind().map_err(read_error)?;
            let content = Content::Columnar(columnar, ColumnarSource::File(file));
            return Ok(TableSource { content, options, read: Arc::default() });
        }
        let reader = Box::new(Cursor::new(head).chain(file));
        TableSource::text(reader, TextFormat::of_name(name), options)
    }

    /// A source that can be read only once, from the first to the last byte.
    pub fn pipe(mut reader: Box<dyn Read + Send>, options: TableOptions) -> Result<Self, Error> {
        let head = read_head(&mut reader)?;
        let columnar = columnar_format(&head, options.format);
        let reader = Box::new(Cursor::new(head).chain(reader));
        match columnar {
            Some(columnar) => {
                let content = Content::Columnar(columnar, ColumnarSource::Pipe(reader));
                Ok(TableSource { content, options, read: Arc::default() })
            }
            None => TableSource::text(reader, None, options),
        }
    }

    /// A text of the given format, or of the one that it shows, or of the one that its name suggests.
    fn text(
        reader: Box<dyn Read + Send>,
        suggested: Option<TextFormat>,
        options: TableOptions,
    ) -> Result<Self, Error> {
        let read = Arc::<AtomicU64>::default();
        let counted = Counted { inner: reader, read: Arc::clone(&read) };
        let mut text = TextSource::new(Box::new(counted))?;
        let format = match options.format {
            Some(TableFormat::Text(format)) => format,
            _ => text.detect().or(suggested).unwrap_or(TextFormat::Csv),
        };
        Ok(TableSource { content: Content::Text(format, text), options, read })
    }

    /// The format of the table.
    pub fn format(&self) -> TableFormat {
        match &self.content {
            Content::Text(format, _) => (*format).into(),
            Content::Columnar(format, _) => (*format).into(),
        }
    }

    /// How many bytes of a text have been read so far; the count continues while its stream is read. It
    /// stays 0 for a columnar source, whose stream counts rows instead where it can.
    pub fn bytes_read(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.read)
    }

    /// The samples of the table.
    pub fn stream(self) -> Result<Box<dyn Stream>, Error> {
        match self.content {
            Content::Text(format, text) => text.stream(format, self.options),
            Content::Columnar(format, source) => {
                Ok(Box::new(open_columnar(format, source, self.options)?))
            }
        }
    }
}

/// The columnar format of a source: the given one, or else the one that its first bytes show.
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

/// The first bytes, by which binary formats are told apart. A pipe may return them one by one.
fn read_head(reader: &mut dyn Read) -> Result<Vec<u8>, Error> {
    let mut head = Vec::with_capacity(ColumnarFormat::HEAD);
    reader.take(ColumnarFormat::HEAD as u64).read_to_end(&mut head).map_err(read_error)?;
    Ok(head)
}

fn read_error(source: io::Error) -> Error {
    StreamError::Read { place: Place::Row(1), source }.into()
}

/// Counts the bytes that are read through it.
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
