//! Parquet and Arrow files as streams of samples.
//!
//! Both formats hold batches of typed columns. A [`ColumnarStream`] reads one small batch after the
//! other, never decodes a column that is left out, and hands rows to the encoder of all formats, so
//! that the same table gives the same samples whichever format it is in.
//!
//! A [`TableSource`] tells the format of any file or pipe, of text or columnar, and opens it.
//!
//! It is a crate of its own because the readers of these formats take longer to build than all of
//! `broadstream`.

mod batches;
mod cells;
mod format;
mod guard;
mod ipc;
mod stream;
mod table;

pub use self::{
    format::{ColumnarFormat, ColumnarSource},
    stream::ColumnarStream,
    table::{TableFormat, TableSource},
};
