//! What can go wrong between a dataset's name and its file.

use std::{io, path::PathBuf};

/// Why a dataset could not be found, fetched or prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The catalogue has no dataset of that name.
    #[error("there is no dataset '{name}': expected one of {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names there are.
        known: String,
    },

    /// The dataset has no file, since a generator makes it.
    #[error("dataset '{name}' has no file: it is made by the generator '{generator}'")]
    Generated {
        /// The dataset.
        name: &'static str,
        /// Its generator, as `broadstream run` takes it.
        generator: &'static str,
    },

    /// No folder holds the dataset's file.
    #[error(
        "dataset '{name}' is not in {folders}: 'broadstream datasets fetch {name}' downloads it, \
         --data DIR names a folder that has it"
    )]
    NotFound {
        /// The dataset.
        name: &'static str,
        /// The folders that were searched.
        folders: String,
    },

    /// The system does not say where a user's cache is.
    #[error("there is no home folder to keep datasets in: name one by --data DIR")]
    NoFolder,

    /// A file or folder could not be read or written.
    #[error("{action} {path}")]
    File {
        /// What was being done.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },

    /// The server answered, but not with the file.
    #[error("{url}: the server answered with status {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },

    /// No answer came, or it broke off.
    #[error("{url}: the download failed")]
    Transfer {
        /// The address.
        url: String,
        /// What happened.
        #[source]
        source: Box<ureq::Error>,
    },

    /// A file is larger than it may be.
    #[error("{name} is larger than {limit} bytes, which no file of the catalogue is")]
    TooLarge {
        /// The address, file or member of an archive.
        name: String,
        /// The most accepted.
        limit: u64,
    },

    /// A downloaded archive cannot be read, or lacks a member.
    #[error("{archive}: member '{member}' cannot be read")]
    Archive {
        /// The archive.
        archive: String,
        /// The member.
        member: String,
        /// What is wrong.
        #[source]
        source: zip::result::ZipError,
    },

    /// A publisher's file does not look as it should.
    #[error("{part}, line {line}: expected {expected}, found {found}")]
    Malformed {
        /// The file or member of an archive.
        part: String,
        /// The line, from 1.
        line: u64,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },

    /// A publisher's binary file does not look as it should.
    #[error("{part}: expected {expected}, found {found}")]
    MalformedImages {
        /// The file.
        part: String,
        /// What should be there.
        expected: String,
        /// What is there.
        found: String,
    },

    /// A publisher's file could not be decompressed to its end.
    #[error("{part}: cannot read on")]
    Unreadable {
        /// The file or member of an archive.
        part: String,
        /// What is wrong.
        #[source]
        source: io::Error,
    },

    /// The prepared text is not the one that the catalogue describes.
    #[error(
        "dataset '{name}': the prepared file has SHA-256 {found}, expected {expected}; the \
         publisher may have changed it, and nothing was stored"
    )]
    Checksum {
        /// The dataset.
        name: &'static str,
        /// The checksum in the catalogue.
        expected: &'static str,
        /// The checksum of what was prepared.
        found: String,
    },
}

impl DatasetError {
    /// The mapping of a system error at `path` while `action`, for `map_err`.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| DatasetError::File { action, path, source }
    }
}
