//! What is known of a dataset.

use crate::{error::DatasetError, output::Output, part::Part};

/// One of the streams that the model is measured on.
#[derive(Debug)]
#[non_exhaustive]
pub struct Dataset {
    /// The name on the command line and of the file, such as `image-segment`.
    pub name: &'static str,
    /// The name for people, such as `Image Segment`.
    pub title: &'static str,
    /// Whether its order matters.
    pub kind: Kind,
    /// How many samples it has.
    pub rows: u64,
    /// How many columns it has, the target included.
    pub columns: usize,
    /// How many labels the target takes.
    pub classes: usize,
    /// The column to predict.
    pub target: &'static str,
    /// The columns that the paper leaves out.
    pub drop: &'static [&'static str],
    /// How the file comes from the publisher's, and what the paper does to it beyond that.
    pub preparation: &'static str,
    /// The publisher's page.
    pub page: &'static str,
    /// Under which licence it is published, as far as that is stated.
    pub licence: &'static str,
    /// Whom to cite.
    pub citation: &'static str,
    /// Where its samples come from.
    pub origin: Origin,
}

/// Whether the order of a dataset's samples matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It does not: samples are shuffled, by another seed in each run.
    Stationary,
    /// It does: samples are taken in the order of the file, and what they mean changes.
    Drifting,
}

/// Where the samples of a dataset come from.
#[derive(Debug)]
#[non_exhaustive]
pub enum Origin {
    /// A generator of the library, as `broadstream run` takes it.
    Generator(&'static str),
    /// A file prepared from those of the publisher.
    File(PreparedFile),
}

/// A CSV file with a header and the target in the last column: what it must be, and what it is
/// made of.
#[derive(Debug)]
#[non_exhaustive]
pub struct PreparedFile {
    /// The SHA-256 of the text, not compressed, in hexadecimal.
    pub sha256: &'static str,
    /// The length of the text in bytes, not compressed.
    pub size: u64,
    /// The publisher's files, in the order in which they are read.
    pub raw: &'static [RawFile],
    pub(crate) prepare: Prepare,
}

/// Writes the CSV text of a dataset from the parts of its raw files.
pub(crate) type Prepare = fn(Vec<Part>, &mut Output<'_>) -> Result<(), DatasetError>;

/// A file as its publisher has it.
#[derive(Debug)]
#[non_exhaustive]
pub struct RawFile {
    /// The name it is stored under, unique in its dataset.
    pub name: &'static str,
    /// Where it can be had; later addresses are copies, for when the first does not answer.
    pub urls: &'static [&'static str],
    /// For a zip archive the members that are read; otherwise empty.
    pub members: &'static [&'static str],
}

impl Dataset {
    /// How many inputs the paper's setup has: the columns without the target and those left out.
    pub fn inputs(&self) -> usize {
        self.columns - 1 - self.drop.len()
    }

    /// The file of this dataset, unless a generator makes it.
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
    /// The word for it: `stationary` or `drifting`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stationary => "stationary",
            Kind::Drifting => "drifting",
        }
    }
}
