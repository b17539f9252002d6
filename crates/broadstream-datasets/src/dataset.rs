//! The description of a dataset.

use crate::{error::DatasetError, output::Output, part::Part};

/// One of the benchmark streams.
#[derive(Debug)]
#[non_exhaustive]
pub struct Dataset {
    /// The name on the command line and of the file, such as `image-segment`.
    pub name: &'static str,
    /// The name in tables and figures, such as `Image Segment`.
    pub title: &'static str,
    /// Whether the order of its samples matters.
    pub kind: Kind,
    /// The number of samples.
    pub rows: u64,
    /// The number of columns, including the target.
    pub columns: usize,
    /// The number of classes.
    pub classes: usize,
    /// The column to predict.
    pub target: &'static str,
    /// The columns that the paper leaves out.
    pub drop: &'static [&'static str],
    /// How the file is prepared from the publisher's, and what the paper changes beyond that.
    pub preparation: &'static str,
    /// The publisher's page.
    pub page: &'static str,
    /// The licence, if the publisher states one.
    pub licence: &'static str,
    /// The work to cite.
    pub citation: &'static str,
    /// Where its samples come from.
    pub origin: Origin,
}

/// Whether the order of a dataset's samples matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The order does not matter: samples are shuffled, with a different seed in each run.
    Stationary,
    /// The order matters: samples keep the order of the file, and the concept drifts.
    Drifting,
}

/// Where the samples of a dataset come from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Origin {
    /// A generator of the library, as written for `broadstream run`.
    Generator(&'static str),
    /// A file prepared from the publisher's files.
    File(PreparedFile),
}

/// A CSV file with a header and the target in the last column: its expected content and its
/// sources.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreparedFile {
    /// The SHA-256 of the uncompressed text, in hexadecimal.
    pub sha256: &'static str,
    /// The length of the uncompressed text in bytes.
    pub size: u64,
    /// The publisher's files, in the order in which they are read.
    pub raw: &'static [RawFile],
    pub(crate) prepare: Prepare,
}

/// Writes the CSV text of a dataset from the parts of its raw files.
pub(crate) type Prepare = fn(Vec<Part>, &mut Output<'_>) -> Result<(), DatasetError>;

/// A file as its publisher provides it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RawFile {
    /// The name it is stored under, unique within its dataset.
    pub name: &'static str,
    /// Where to download it; later addresses are copies, used when the first one fails.
    pub urls: &'static [&'static str],
    /// The members to read from a zip archive; empty for any other file.
    pub members: &'static [&'static str],
}

impl Dataset {
    /// The number of inputs in the paper's setup: all columns except the target and `drop`.
    pub fn inputs(&self) -> usize {
        self.columns - 1 - self.drop.len()
    }

    /// The file of this dataset; an error if a generator produces it.
    pub fn file(&self) -> Result<&PreparedFile, DatasetError> {
        match &self.origin {
            Origin::File(file) => Ok(file),
            Origin::Generator(generator) => {
                Err(DatasetError::Generated { name: self.name, generator })
            }
        }
    }
}

impl Kind {
    /// The name: `stationary` or `drifting`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stationary => "stationary",
            Kind::Drifting => "drifting",
        }
    }
}
