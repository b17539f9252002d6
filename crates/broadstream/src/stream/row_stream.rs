//! Rows of one format as a stream of samples.
//!
//! Formats differ in how a row is found and what its cells say. Everything else is the same for all of
//! them and written here once: filling a block, ending after a fault, and not waiting for a slow
//! source while there are samples to return.

use std::fmt;

use super::{Place, RowEncoder, RowEncoding, Stream};
use crate::{
    data::{Block, Sample, Schema},
    error::Error,
};

/// Reads the rows of one format, one after the other. [`RowStream`] makes a stream of it.
pub trait RowReader: Send {
    /// Reads the next row and encodes it; `None` at the end. Waits for the source if it has to.
    ///
    /// It is not called again after an error or the end.
    fn next_row<'e>(
        &mut self,
        encoder: &'e mut RowEncoder,
    ) -> Result<Option<EncodedRow<'e>>, Error>;

    /// Whether the next row, or the end, can be read without waiting for the source.
    fn is_ready(&mut self) -> bool;

    /// How many inputs a sample usually has: see [`Stream::inputs_per_sample`].
    ///
    /// By default the number of columns so far, at least 1: the first row may have shown none.
    fn inputs_per_sample(&self, encoder: &RowEncoder) -> usize {
        encoder.columns().len().max(1)
    }

    /// How many rows are still to come, if that is known.
    fn remaining(&self) -> Option<u64> {
        None
    }

    /// What the reader has assumed that a user may not expect: see [`Stream::warnings`].
    fn warnings(&self) -> &[String] {
        &[]
    }
}

/// A labelled row, encoded as a sample.
#[derive(Clone, Copy, Debug)]
pub struct EncodedRow<'e> {
    /// The inputs present.
    pub sample: Sample<'e>,
    /// The class of the label.
    pub class: usize,
    /// The weight of the sample, 1 unless the format has weights.
    pub weight: f64,
}

/// The rows of a reader as a stream of samples.
pub struct RowStream<R> {
    reader: R,
    encoder: RowEncoder,
    ended: bool,
}

impl<R: RowReader> RowStream<R> {
    /// The rows of `reader` from the next one on, encoded by `encoder`.
    pub fn of(reader: R, encoder: RowEncoder) -> Self {
        RowStream { reader, encoder, ended: false }
    }

    /// The names of the columns that are learned from, as far as they have appeared.
    ///
    /// ```
    /// use broadstream::stream::{TableOptions, csv::CsvStream};
    ///
    /// let text = "age,job,id,buys\n31,clerk,7,yes\n";
    /// let options = TableOptions { drop: vec!["id".into()], ..TableOptions::default() };
    /// let stream = CsvStream::new(Box::new(text.as_bytes()), options)?;
    /// assert_eq!(stream.columns().collect::<Vec<_>>(), ["age", "job"]);
    /// # Ok::<(), broadstream::Error>(())
    /// ```
    pub fn columns(&self) -> impl Iterator<Item = &str> {
        self.encoder.columns()
    }

    /// The place of the row read last; row 0 before the first.
    pub fn place(&self) -> Place {
        self.encoder.place()
    }
}

impl<R: RowReader> Stream for RowStream<R> {
    fn schema(&self) -> &Schema {
        self.encoder.schema()
    }

    fn inputs_per_sample(&self) -> usize {
        self.reader.inputs_per_sample(&self.encoder)
    }

    fn remaining(&self) -> Option<u64> {
        self.reader.remaining()
    }

    fn encoding(&self) -> Option<RowEncoding> {
        Some(self.encoder.encoding())
    }

    fn warnings(&self) -> &[String] {
        self.reader.warnings()
    }

    fn read_block(&mut self, block: &mut Block, most: usize) -> Result<usize, Error> {
        let mut read = 0;
        // Only the first sample is worth waiting for. A fault is met at the same row whatever `most` is,
        // because rows are encoded one by one and the samples before the fault are in the block already.
        while read < most && !self.ended && (read == 0 || self.reader.is_ready()) {
            // Assumed until the row turns out to be good, so that every way out below ends the stream.
            self.ended = true;
            let Some(row) = self.reader.next_row(&mut self.encoder)? else { break };
            block.push(row.sample, row.class, row.weight)?;
            // No row of a stream is undone.
            self.encoder.settle();
            self.ended = false;
            read += 1;
        }
        Ok(read)
    }
}

impl<R: RowReader> fmt::Debug for RowStream<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowStream")
            .field("place", &self.place())
            .field("ended", &self.ended)
            .field("schema", self.schema())
            .finish_non_exhaustive()
    }
}
