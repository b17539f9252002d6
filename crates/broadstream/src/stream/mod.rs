//! Where samples come from: files, memory and generators behind one trait.
//!
//! A file is a table of some format. Its reader ([`csv`], [`jsonl`], [`arff`], [`libsvm`]) finds the cells
//! of a row, a [`RowEncoder`] makes a sample of them, and [`RowStream`] makes a [`Stream`] of the reader.
//! [`TextSource`] detects the format, and [`TableOptions`] say how to read it. [`LiveRows`] reads more
//! rows of the same columns for a model that exists already. [`synth`] has the generators.

pub mod arff;
pub mod csv;
pub mod jsonl;
pub mod libsvm;
pub mod synth;

mod cell;
mod column_roles;
mod compression;
#[cfg(test)]
mod contents;
mod decimal;
mod lines;
mod live;
mod memory;
mod moments;
mod rare_categories;
mod row_encoder;
mod row_encoding;
mod row_stream;
mod table_format;
mod table_options;
mod text_features;
mod text_source;

pub use crate::error::{Place, StreamError};

pub use self::{
    cell::{Cell, ColumnKind},
    column_roles::{ColumnRoles, InputColumn},
    compression::decompress,
    live::{JsonRows, LiveFormat, LiveOptions, LiveRow, LiveRows, UnknownColumns},
    memory::MemoryStream,
    rare_categories::RareCategories,
    row_encoder::{RowEncoder, RowPurpose},
    row_encoding::{ColumnCoding, EncodedColumn, RowEncoding},
    row_stream::{EncodedRow, RowReader, RowStream},
    table_format::{TableFormat, TextFormat},
    table_options::{Categories, TableOptions},
    text_source::TextSource,
};

use crate::{
    data::{Block, Schema},
    error::Error,
};

/// A source of labelled samples.
pub trait Stream: Send {
    /// The names of the inputs, the labels and the target, as far as they are known. It grows while
    /// samples are read, and covers all samples returned so far.
    fn schema(&self) -> &Schema;

    /// How many inputs a sample of this stream usually has: a file's columns without the target. Unlike
    /// the number of inputs in the schema, it does not grow with the categories seen.
    fn inputs_per_sample(&self) -> usize;

    /// How many samples are still to come, if that is known.
    fn remaining(&self) -> Option<u64> {
        None
    }

    /// How the rows so far were encoded, so that more rows can be encoded the same way; `None` if the
    /// stream does not have rows of columns.
    fn encoding(&self) -> Option<RowEncoding> {
        None
    }

    /// What was assumed when the stream was opened that a user may not expect, in a sentence each, such as that
    /// numbers have a decimal comma. Programs show it to their users.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// Appends up to `most` samples to `block` and returns how many.
    ///
    /// Only 0 means the end. A stream that would have to wait for more samples returns those that it
    /// has, which may be fewer than `most`.
    ///
    /// On an error the samples before the faulty one are in the block, and the stream is at its end.
    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error>;
}
