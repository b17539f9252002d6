//! Errors of finding, fetching and preparing a dataset.

use std::{io, path::PathBuf};

/// Why a dataset could not be found, fetched or prepared.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatasetError {
    /// The catalogue has no dataset of that name.
    #[error("there is no dataset '{name}': expected one of {known}")]
    Unknown {
        /// The requested name.
        name: String,
        /// All names of the catalogue, separated by commas.
        known: String,
    },

    /// The dataset has no file because a generator produces it.
    #[error("dataset '{name}' has no file: it is produced by the generator '{generator}'")]
    Generated {
        /// The dataset.
        name: &'static str,
        /// Its generator, as written for `broadstream run`.
        generator: &'static str,
    },

    /// No folder holds the dataset's file.
    #[error(
        "dataset '{name}' is not in {folders}: run 'broadstream datasets fetch {name}' to download \
         it, or name the folder that has it with --data DIR"
    )]
    NotFound {
        /// The dataset.
        name: &'static str,
        /// The folders that were searched.
        folders: String,
    },

    /// The system has no cache folder for this user.
    #[error("there is no home folder to store datasets in: name a folder with --data DIR")]
    NoFolder,

    /// A file or folder could not be read or written.
    #[error("{action} {path}")]
    File {
        /// The operation that failed.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: io::Error,
    },

    /// The server answered with an error status.
    #[error("{url}: the server answered with status {status}")]
    Status {
        /// The address.
        url: String,
        /// The HTTP status.
        status: u16,
    },

    /// The server did not answer, or the connection broke.
    #[error("{url}: the download failed")]
    Transfer {
        /// The address.
        url: String,
        /// The cause.
        #[source]
        source: Box<ureq::Error>,
    },

    /// A file exceeds the size limit.
    #[error("{name} is larger than the limit of {limit} bytes")]
    TooLarge {
        /// The address, file or member of an archive.
        name: String,
        /// The limit in bytes.
        limit: u64,
    },

    /// A downloaded archive cannot be read or lacks a member.
    #[error("{archive}: member '{member}' cannot be read")]
    Archive {
        /// The archive.
        archive: String,
        /// The member.
        member: String,
        /// The cause.
        #[source]
        source: zip::result::ZipError,
    },

    /// A line of a publisher's text file has the wrong format.
    #[error("{part}, line {line}: expected {expected}, found {found}")]
    Malformed {
        /// The file or member of an archive.
        part: String,
        /// The line, from 1.
        line: u64,
        /// What the format requires.
        expected: String,
        /// What the file contains.
        found: String,
    },

    /// A publisher's binary file has the wrong format.
    #[error("{part}: expected {expected}, found {found}")]
    MalformedImages {
        /// The file.
        part: String,
        /// What the format requires.
        expected: String,
        /// What the file contains.
        found: String,
    },

    /// A publisher's file could not be read or decompressed to its end.
    #[error("{part}: cannot read on")]
    Unreadable {
        /// The file or member of an archive.
        part: String,
        /// The cause.
        #[source]
        source: io::Error,
    },

    /// A dataset could not be made from a raw file that was not downloaded.
    #[error("{} was there already: remove it to download it again", path.display())]
    Given {
        /// The raw file.
        path: PathBuf,
        /// What is wrong with it, or with another raw file of the dataset.
        #[source]
        source: Box<DatasetError>,
    },

    /// The prepared text does not match the catalogue.
    #[error(
        "dataset '{name}': the prepared file has SHA-256 {found}, expected {expected}; the \
         publisher may have changed its files; nothing was stored"
    )]
    Checksum {
        /// The dataset.
        name: &'static str,
        /// The checksum in the catalogue.
        expected: &'static str,
        /// The checksum of the prepared text.
        found: String,
    },
}

impl DatasetError {
    /// Wraps an I/O error with the operation and the path, for `map_err`.
    pub(crate) fn file(
        action: &'static str,
        path: impl Into<PathBuf>,
    ) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| DatasetError::File { action, path, source }
    }
}
