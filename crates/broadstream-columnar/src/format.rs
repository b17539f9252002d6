//! Which columnar format a file has, and where it is read from.

use std::{fs::File, io::Read};

use broadstream::stream::TableFormat;

/// A format that stores columns rather than rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnarFormat {
    /// Apache Parquet, whose table of contents is at the end of the file.
    Parquet,
    /// Apache Arrow's file format, which is also that of Feather since version 2.
    ArrowFile,
    /// Apache Arrow's stream format, without the first and last bytes of a file.
    ArrowStream,
}

impl ColumnarFormat {
    /// How many of the first bytes tell the format.
    pub const HEAD: usize = 6;

    /// The format of a source that begins with these bytes, or `None` if it is not columnar.
    ///
    /// ```
    /// use broadstream_columnar::ColumnarFormat;
    ///
    /// assert_eq!(ColumnarFormat::detect(b"PAR1\x15\x04"), Some(ColumnarFormat::Parquet));
    /// assert_eq!(ColumnarFormat::detect(b"a,b,class"), None);
    /// ```
    pub fn detect(head: &[u8]) -> Option<Self> {
        match head {
            [b'P', b'A', b'R', b'1', ..] => Some(ColumnarFormat::Parquet),
            [b'A', b'R', b'R', b'O', b'W', b'1', ..] => Some(ColumnarFormat::ArrowFile),
            [0xff, 0xff, 0xff, 0xff, ..] => Some(ColumnarFormat::ArrowStream),
            _ => None,
        }
    }
}

impl From<ColumnarFormat> for TableFormat {
    fn from(format: ColumnarFormat) -> Self {
        match format {
            ColumnarFormat::Parquet => TableFormat::Parquet,
            ColumnarFormat::ArrowFile | ColumnarFormat::ArrowStream => TableFormat::Arrow,
        }
    }
}

/// Where a columnar file is read from.
pub enum ColumnarSource {
    /// A file, of which only the necessary parts are read.
    File(File),
    /// A whole file in memory.
    Memory(Vec<u8>),
    /// Bytes that can be read only once, from the first to the last. Arrow is read as it arrives.
    /// Parquet has to be held in memory as a whole, and may have at most
    /// [`ColumnarSource::LONGEST_PIPE`] bytes.
    Pipe(Box<dyn Read + Send>),
}

impl ColumnarSource {
    /// The most bytes of Parquet that are read from a pipe: 1 GiB.
    pub const LONGEST_PIPE: u64 = 1 << 30;
}
