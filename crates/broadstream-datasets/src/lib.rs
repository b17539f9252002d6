//! The benchmark streams of broadstream.
//!
//! The [`catalogue`] describes each dataset, where it comes from and the checksum of its prepared
//! file. [`find`] locates that file on this machine, [`Verification`] compares it with the
//! catalogue, and a [`Fetcher`] downloads the publisher's files and prepares them. Classifying a
//! stream needs none of this, so the HTTP client that it brings lives in a crate of its own.
//!
//! No publisher's host could be reached when this was written: the addresses are from general
//! knowledge, downloads were tested with local servers, and preparation with files converted back
//! into the publishers' formats. Every prepared file must match its checksum, so a wrong address
//! or a changed file is an error and never a wrong dataset.
//!
//! ```
//! let adult = broadstream_datasets::dataset("adult")?;
//! assert_eq!((adult.rows, adult.inputs(), adult.classes), (45_222, 14, 2));
//! # Ok::<(), broadstream_datasets::DatasetError>(())
//! ```

mod catalogue;
mod dataset;
mod download;
mod error;
mod fetch;
mod folders;
mod output;
mod part;
mod prepare;
mod unix_compress;
mod verify;

#[cfg(test)]
mod test_server;

pub use self::{
    catalogue::{catalogue, dataset},
    dataset::{Dataset, Kind, Origin, PreparedFile, RawFile},
    download::FetchObserver,
    error::DatasetError,
    fetch::Fetcher,
    folders::{find, storage_folder},
    verify::{FileStatus, Fingerprint, Verification},
};
