//! Where samples come from: files, memory and generators behind one trait.

pub mod arff;
pub mod csv;
pub mod jsonl;
pub mod libsvm;
pub mod synth;

mod cell;
mod column_options;
mod columns;
mod compression;
mod lines;
mod live;
mod memory;
mod row_encoder;
mod row_encoding;
#[cfg(test)]
mod table;
mod text;

pub use crate::error::{Place, StreamError};

pub use self::{
    cell::Cell,
    column_options::{Categories, ColumnKind, ColumnOptions},
    columns::{Columns, InputColumn},
    compression::decompress,
    live::{LiveFormat, LiveOptions, LiveRow, LiveRows, Unknown},
    memory::MemoryStream,
    row_encoder::RowEncoder,
    row_encoding::{ColumnCoding, EncodedColumn, RowEncoding},
    text::{TextFormat, TextSource},
};

use crate::{
    data::{Block, Schema},
    error::Error,
};

/// A source of labelled samples.
pub trait Stream: Send {
    /// The names of the inputs, the labels and the target as far as they are known. It grows while
    /// samples are read and covers all samples returned so far.
    fn schema(&self) -> &Schema;

    /// How many inputs a sample of this stream usually has present: a file's columns without the
    /// target. Unlike the number of inputs in the schema it does not grow with the categories seen.
    fn inputs_per_sample(&self) -> usize;

    /// How many samples are still to come, if that is known.
    fn remaining(&self) -> Option<u64> {
        None
    }

    /// What the rows so far looked like, so that more rows like them can be read; `None` if the
    /// stream has no rows of columns.
    fn encoding(&self) -> Option<RowEncoding> {
        None
    }

    /// Appends up to `most` samples to `block` and returns how many.
    ///
    /// Fewer than `most` are not the end, which only 0 means: a stream that would have to wait for
    /// more returns those that it has.
    ///
    /// On an error the samples before the faulty one are in the block, and the stream is at its end.
    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error>;
}
