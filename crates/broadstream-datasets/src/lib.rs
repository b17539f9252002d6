//! The streams that broadstream is measured on.
//!
//! The [`catalogue`] says of each what it is, where it comes from and which text its file must
//! have. [`find`] looks for that file on this machine, [`Verification`] compares it with the
//! catalogue, and a [`Fetcher`] downloads the publisher's files and prepares them. Nothing here
//! is needed to classify a stream; it is a crate of its own because an HTTP client begins here.
//!
//! No publisher's host could be reached when this was written: the addresses are from general
//! knowledge, downloading was tested with servers on the same machine, and preparation with files
//! that were put back into the publishers' formats. The checksum decides in the end, so a wrong
//! address or a changed file is an error and never a wrong dataset.
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
    download::Watcher,
    error::DatasetError,
    fetch::Fetcher,
    folders::{find, folder_to_store_in},
    verify::{Fingerprint, Health, Verification},
};
