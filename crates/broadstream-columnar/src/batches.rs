//! Batches of columns, one after the other, from any of the formats.

use std::{
    fs::File,
    io::{self, BufReader, Cursor, Read},
};

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
    },
    file::reader::ChunkReader,
};

use crate::{
    footer::{check_end, check_end_of_bytes},
    format::{ColumnarFormat, ColumnarSource},
    guard::guarded,
    ipc::Messages,
};

/// A file whose columns are known and of which no row has been read.
pub(crate) enum ColumnarFile {
    ParquetFile(ParquetRecordBatchReaderBuilder<File>),
    ParquetInMemory(ParquetRecordBatchReaderBuilder<Bytes>),
    Arrow(Box<Messages>),
}

/// The batches of a file, each with the chosen columns in the order of the file.
pub(crate) enum Batches {
    Parquet(Box<ParquetRecordBatchReader>),
    Arrow(Box<Messages>),
}

impl ColumnarFile {
    pub(crate) fn open(format: ColumnarFormat, source: ColumnarSource) -> io::Result<Self> {
        match (format, source) {
            (ColumnarFormat::Parquet, ColumnarSource::File(file)) => {
                Ok(ColumnarFile::ParquetFile(parquet(file)?))
            }
            (ColumnarFormat::Parquet, ColumnarSource::Memory(bytes)) => {
                Ok(ColumnarFile::ParquetInMemory(parquet(bytes.into())?))
            }
            (ColumnarFormat::Parquet, ColumnarSource::Pipe(pipe)) => {
                Ok(ColumnarFile::ParquetInMemory(parquet(read_pipe(pipe)?)?))
            }
            (_, mut source) => {
                if format == ColumnarFormat::ArrowFile {
                    match &mut source {
                        ColumnarSource::File(file) => check_end(file)?,
                        ColumnarSource::Memory(bytes) => check_end_of_bytes(bytes)?,
                        // Its end is checked when it has arrived.
                        ColumnarSource::Pipe(_) => {}
                    }
                }
                let reader: Box<dyn Read + Send> = match source {
                    ColumnarSource::File(file) => Box::new(BufReader::new(file)),
                    ColumnarSource::Memory(bytes) => Box::new(Cursor::new(bytes)),
                    ColumnarSource::Pipe(pipe) => Box::new(BufReader::new(pipe)),
                };
                let messages = guarded(|| Messages::open(reader, format))?;
                Ok(ColumnarFile::Arrow(Box::new(messages)))
            }
        }
    }

    /// The columns of the file.
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            ColumnarFile::ParquetFile(builder) => builder.schema().clone(),
            ColumnarFile::ParquetInMemory(builder) => builder.schema().clone(),
            ColumnarFile::Arrow(messages) => messages.schema(),
        }
    }

    /// How many rows the file claims to have, if it says so.
    pub(crate) fn rows(&self) -> Option<u64> {
        let rows = match self {
            ColumnarFile::ParquetFile(builder) => builder.metadata().file_metadata().num_rows(),
            ColumnarFile::ParquetInMemory(builder) => builder.metadata().file_metadata().num_rows(),
            ColumnarFile::Arrow(_) => return None,
        };
        u64::try_from(rows).ok()
    }

    /// The batches with the columns at these positions, which increase.
    pub(crate) fn batches(self, columns: Vec<usize>) -> io::Result<Batches> {
        Ok(match self {
            ColumnarFile::ParquetFile(builder) => {
                Batches::Parquet(Box::new(read(builder, columns)?))
            }
            ColumnarFile::ParquetInMemory(builder) => {
                Batches::Parquet(Box::new(read(builder, columns)?))
            }
            ColumnarFile::Arrow(mut messages) => {
                messages.choose(columns);
                Batches::Arrow(messages)
            }
        })
    }
}

impl Batches {
    /// The next batch, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<RecordBatch>> {
        match self {
            Batches::Parquet(reader) => {
                guarded(|| reader.next().transpose().map_err(io::Error::other))
            }
            Batches::Arrow(messages) => guarded(|| messages.next_batch()),
        }
    }
}

fn parquet<R: ChunkReader + 'static>(source: R) -> io::Result<ParquetRecordBatchReaderBuilder<R>> {
    guarded(|| ParquetRecordBatchReaderBuilder::try_new(source).map_err(io::Error::other))
}

fn read<R: ChunkReader + 'static>(
    builder: ParquetRecordBatchReaderBuilder<R>,
    columns: Vec<usize>,
) -> io::Result<ParquetRecordBatchReader> {
    // Wide tables are read in fewer rows at once, so that a batch stays a few megabytes large.
    const CELLS: usize = 1 << 18;
    let rows = (CELLS / columns.len().max(1)).clamp(16, 1024);
    let chosen = ProjectionMask::roots(builder.parquet_schema(), columns);
    let builder = builder.with_projection(chosen).with_batch_size(rows);
    guarded(|| builder.build().map_err(io::Error::other))
}

fn read_pipe(pipe: Box<dyn Read + Send>) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    let read = pipe.take(ColumnarSource::LONGEST_PIPE + 1).read_to_end(&mut bytes)?;
    if read as u64 > ColumnarSource::LONGEST_PIPE {
        return Err(io::Error::other(
            "Parquet that does not come from a file must have at most 1 GiB, since it is read \
             from its end",
        ));
    }
    Ok(bytes.into())
}
