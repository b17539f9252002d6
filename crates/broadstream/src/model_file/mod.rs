//! Model files.

mod error;

pub use self::error::ModelFileError;
