//! A model's state as named numbers and arrays, and a model rebuilt from them.
//!
//! Each part of a model writes its state under names of its own (`save`), and a part that was built
//! from the same configuration takes it over (`restore`). Both functions stand beside the fields
//! that they handle, so that a new field is not forgotten. Deriving them would freeze the fields
//! instead. Large arrays are kept apart from the few numbers around them: a
//! [model file](crate::model_file) stores arrays as they lie in memory and numbers as JSON.
//!
//! Nothing that is read is trusted. An array must have the length that the part expects, its
//! numbers must be finite unless infinities are allowed there, and a position must lie within what
//! it points into. Anything else is an error that names the entry, and never a panic.

#[cfg(test)]
mod alterations;
mod precision;
#[cfg(test)]
mod read_back;
mod reader;
mod writer;

pub use self::precision::Precision;
pub(crate) use self::{
    reader::{FloatBytes, ReadScope, StateReader},
    writer::{StateWriter, WriteScope},
};

/// Separates the parts of an array's full name.
const SEPARATOR: char = '/';
