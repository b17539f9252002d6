//! Batches of columns, one after the other, of any of the formats.

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
    format::{ColumnarFormat, ColumnarSource},
    guard::guarded,
    ipc::Messages,
};

/// A file of which the columns are known and no row has been read.
pub(crate) enum Opened {
    File(ParquetRecordBatchReaderBuilder<File>),
    Memory(ParquetRecordBatchReaderBuilder<Bytes>),
    Arrow(Box<Messages>),
}

/// The batches of a file, each with the chosen columns in the order of the file.
pub(crate) enum Batches {
    Parquet(Box<ParquetRecordBatchReader>),
    Arrow(Box<Messages>),
}

impl Opened {
    pub(crate) fn open(format: ColumnarFormat, source: ColumnarSource) -> io::Result<Self> {
        match (format, source) {
            (ColumnarFormat::Parquet, ColumnarSource::File(file)) => {
                Ok(Opened::File(parquet(file)?))
            }
            (ColumnarFormat::Parquet, ColumnarSource::Memory(bytes)) => {
                Ok(Opened::Memory(parquet(bytes.into())?))
            }
            (ColumnarFormat::Parquet, ColumnarSource::Pipe(pipe)) => {
                Ok(Opened::Memory(parquet(read_pipe(pipe)?)?))
            }
            (_, source) => {
                let reader: Box<dyn Read + Send> = match source {
                    ColumnarSource::File(file) => Box::new(BufReader::new(file)),
                    ColumnarSource::Memory(bytes) => Box::new(Cursor::new(bytes)),
                    ColumnarSource::Pipe(pipe) => Box::new(BufReader::new(pipe)),
                };
                let messages = guarded(|| Messages::open(reader, format))?;
                Ok(Opened::Arrow(Box::new(messages)))
            }
        }
    }

    /// The columns of the file.
    pub(crate) fn schema(&self) -> SchemaRef {
        match self {
            Opened::File(builder) => builder.schema().clone(),
            Opened::Memory(builder) => builder.schema().clone(),
            Opened::Arrow(messages) => messages.schema(),
        }
    }

    /// How many rows the file says that it has, if it does.
    pub(crate) fn rows(&self) -> Option<u64> {
        let rows = match self {
            Opened::File(builder) => builder.metadata().file_metadata().num_rows(),
            Opened::Memory(builder) => builder.metadata().file_metadata().num_rows(),
            Opened::Arrow(_) => return None,
        };
        u64::try_from(rows).ok()
    }

    /// The batches with the columns at these positions, which increase.
    pub(crate) fn batches(self, columns: Vec<usize>) -> io::Result<Batches> {
        Ok(match self {
            Opened::File(builder) => Batches::Parquet(Box::new(read(builder, columns)?)),
            Opened::Memory(builder) => Batches::Parquet(Box::new(read(builder, columns)?)),
            Opened::Arrow(mut messages) => {
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
    // Wide tables get fewer rows at once, so that a batch stays a few megabytes.
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
