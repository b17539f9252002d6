//! Parquet and Arrow files as streams of samples.
//!
//! Both formats hold batches of typed columns. A [`ColumnarStream`] reads one small batch after the
//! other, never decodes a column that is left out, and passes rows to the encoder that all formats
//! share. So the same table yields the same samples whichever format it is in.
//!
//! A [`TableSource`] detects the format of any file or pipe, text or columnar, and opens it.
//!
//! This is a crate of its own because the readers of these formats take longer to build than all of
//! `broadstream`.

mod batches;
mod cells;
mod footer;
mod format;
mod guard;
mod ipc;
mod json_rows;
mod stream;
mod table;

pub use self::{
    format::{ColumnarFormat, ColumnarSource},
    json_rows::arrow_rows_as_json,
    stream::{ColumnarReader, ColumnarStream, open_columnar},
    table::TableSource,
};
