//! Why a model file could not be read or written.

use std::io;

/// Why a model file could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelFileError {
    /// The source failed.
    #[error("cannot read the model file")]
    Read(#[source] io::Error),

    /// The destination failed.
    #[error("cannot write the model file")]
    Write(#[source] io::Error),

    /// It does not start as model files do.
    #[error("this is not a broadstream model file")]
    NotAModel,

    /// It was written by a later version of this program.
    #[error(
        "the file has format version {version}, but this program reads versions up to {newest}"
    )]
    Newer {
        /// The version of the file.
        version: u32,
        /// The newest version that this program reads.
        newest: u32,
    },

    /// It ends too early.
    #[error("the file is truncated: its header declares {expected} bytes, but {found} follow")]
    Truncated {
        /// The number of bytes that the header declares.
        expected: u64,
        /// The number of bytes that follow.
        found: u64,
    },

    /// It continues after its declared end.
    #[error("the file is too long: its header declares {expected} bytes, but more follow")]
    TooLong {
        /// The number of bytes that the header declares.
        expected: u64,
    },

    /// Its contents are not what was written.
    #[error("the file is damaged or was modified: its checksum does not match")]
    Checksum,

    /// It has the right checksum, but its arrays cannot be found.
    #[error("the file is malformed: {0}")]
    Malformed(String),

    /// An entry is missing or breaks its rule.
    #[error("the file is malformed: '{entry}' must be {rule}")]
    Invalid {
        /// The name of the entry.
        entry: String,
        /// What it must be.
        rule: String,
    },

    /// It contains the sums of a model where a model is needed.
    #[error("the file contains sums, not a model: use merge to make a model of them")]
    OnlySums,

    /// The model has lost a number to overflow, and its file could not be read again.
    #[error("the model is broken and cannot be saved: '{entry}' has overflowed")]
    Broken {
        /// The name of the entry.
        entry: String,
    },

    /// It was to be rounded, and what it is for needs all digits.
    #[error("{content} cannot be saved in single precision, because it must continue to the bit")]
    MustBeExact {
        /// What was to be saved.
        content: &'static str,
    },

    /// There are labels, but not for every class.
    #[error("a model of {classes} classes cannot be saved with {labels} labels: give all, or none")]
    FewLabels {
        /// How many classes the model knows.
        classes: usize,
        /// How many labels there are.
        labels: usize,
    },
}
