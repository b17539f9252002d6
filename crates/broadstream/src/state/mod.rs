//! What a model knows, taken apart into named numbers and arrays, and put together again.
//!
//! A part of a model writes its state under names of its own (`save`), and a part made from the same
//! configuration takes it over (`restore`). Both stand beside the fields they are about, so that a new
//! field is not forgotten. Large arrays are kept apart from the few numbers around them: a
//! [model file](crate::model_file) stores the former as they lie in memory and the latter as JSON.
//!
//! Nothing that is read is believed. An array has the length that the part expects, its numbers are
//! finite unless infinities are among its values, and a position lies within what it points into;
//! anything else is an error that names the entry, and never a panic.

#[cfg(test)]
mod alterations;
#[cfg(test)]
mod read_back;
mod reader;
mod writer;

pub(crate) use self::{
    reader::{ReadScope, StateReader},
    writer::{StateWriter, WriteScope},
};

/// Where the arrays' names are divided.
const SEPARATOR: char = '/';
