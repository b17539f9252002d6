//! Why a file could not be read, locked or written.

use std::{io, path::PathBuf, time::SystemTime};

use broadstream::{Error, model_file::ModelFileError};

/// Why a file could not be read, locked or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// There is a directory where a file is expected.
    #[error("{} is a directory, expected a file", path.display())]
    Directory {
        /// The path as it was given.
        path: PathBuf,
    },

    /// A pipe or a device cannot be locked and replaced.
    #[error("{} is a pipe or a device, expected a file that can be replaced", path.display())]
    NotReplaceable {
        /// The path as it was given.
        path: PathBuf,
    },

    /// The path does not end in the name of a file.
    #[error("'{}' does not end in the name of a file", path.display())]
    NoFileName {
        /// The path as it was given.
        path: PathBuf,
    },

    /// Another holder has locked the path.
    #[error("{}: another program is using this file; try again when it has finished", path.display())]
    Locked {
        /// The path as it was given.
        path: PathBuf,
        /// When that holder came, where the system tells it. Another time is another holder.
        since: Option<SystemTime>,
    },

    /// The system cannot lock files there.
    #[error("locking {}", path.display())]
    Lock {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The folder does not exist, or no file can be created in it.
    #[error("cannot create a file in the folder {}", folder.display())]
    Folder {
        /// The folder of the path.
        folder: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The file could not be read.
    #[error("reading {}", path.display())]
    Read {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// The file was read, but it does not hold what is expected.
    #[error("reading {}", path.display())]
    InvalidModel {
        /// The path as it was given.
        path: PathBuf,
        /// What is wrong with the content.
        source: Box<Error>,
    },

    /// The file could not be written.
    #[error("writing {}", path.display())]
    Write {
        /// The path as it was given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },

    /// A journal is broken before its last entry.
    #[error("{}: the journal is damaged at byte {offset}", path.display())]
    DamagedJournal {
        /// The path of the journal.
        path: PathBuf,
        /// Where the first damaged entry begins; 0 if it is the header.
        offset: u64,
    },

    /// A journal was written by a newer version of this program.
    #[error("{}: the journal was written by a newer version of broadstream", path.display())]
    NewerJournal {
        /// The path of the journal.
        path: PathBuf,
    },

    /// A journal does not continue the model file beside it.
    #[error(
        "{}: the journal continues another model than the file beside it, which was replaced since; \
         remove the journal if what it holds is not needed",
        path.display()
    )]
    OtherJournal {
        /// The path of the journal.
        path: PathBuf,
    },

    /// A log is broken before its last entries.
    #[error("{}: the log is damaged at byte {offset}", path.display())]
    DamagedLog {
        /// The path of the segment.
        path: PathBuf,
        /// Where the first damaged group begins; 0 if it is the header.
        offset: u64,
    },

    /// A log lacks entries that are needed.
    #[error("{}: the log lacks the entries from {missing} up to this file", path.display())]
    IncompleteLog {
        /// The path of the first segment after them.
        path: PathBuf,
        /// The sequence number of the first entry that is missing.
        missing: u64,
    },

    /// A log was written by a newer version of this program.
    #[error("{}: the log was written by a newer version of broadstream", path.display())]
    NewerLog {
        /// The path of the segment.
        path: PathBuf,
    },

    /// The model cannot be saved.
    #[error("writing {}", path.display())]
    UnsavableModel {
        /// The path as it was given.
        path: PathBuf,
        /// Why it cannot.
        source: Box<Error>,
    },
}

impl StoreError {
    /// The error of reading a model: the system's, or that of the content.
    pub(crate) fn reading(path: PathBuf, error: Error) -> Self {
        match error {
            Error::ModelFile(ModelFileError::Read(source)) => StoreError::Read { path, source },
            error => StoreError::InvalidModel { path, source: Box::new(error) },
        }
    }

    /// The error of writing a model: the system's, or that of the model.
    pub(crate) fn writing(path: PathBuf, error: Error) -> Self {
        match error {
            Error::ModelFile(ModelFileError::Write(source)) => StoreError::Write { path, source },
            error => StoreError::UnsavableModel { path, source: Box::new(error) },
        }
    }
}
