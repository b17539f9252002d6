//! Compares a dataset's file with the catalogue.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
};

use broadstream::stream::decompress;
use sha2::{Digest, Sha256};

use crate::{
    dataset::{Dataset, PreparedFile},
    folders::find,
};

/// The state of one dataset on this machine.
#[derive(Debug)]
#[non_exhaustive]
pub struct Verification {
    /// The dataset.
    pub dataset: &'static Dataset,
    /// Its file, if one was found.
    pub path: Option<PathBuf>,
    /// How the file compares with the catalogue.
    pub status: FileStatus,
}

/// How a dataset's file compares with the catalogue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileStatus {
    /// The text is exactly the one that the catalogue describes.
    Intact,
    /// The text differs.
    Differs(Fingerprint),
    /// The file cannot be read to its end, for the given reason.
    Unreadable(String),
    /// There is no file.
    Missing,
    /// A generator produces the dataset, so it has no file.
    Generated,
}

/// The size and the checksum of a CSV text.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fingerprint {
    /// The number of lines, without the header.
    pub rows: u64,
    /// The number of cells in the header.
    pub columns: usize,
    /// The length of the uncompressed text in bytes.
    pub size: u64,
    /// The SHA-256 of the uncompressed text, in hexadecimal.
    pub sha256: String,
}

impl Verification {
    /// Searches for the dataset's file as [`find`] does and reads it to its end.
    pub fn of(dataset: &'static Dataset, data: Option<&Path>) -> Self {
        let Ok(file) = dataset.file() else {
            return Verification { dataset, path: None, status: FileStatus::Generated };
        };
        match find(dataset.name, data) {
            Ok(path) => {
                let status = FileStatus::of(&path, file);
                Verification { dataset, path: Some(path), status }
            }
            Err(_) => Verification { dataset, path: None, status: FileStatus::Missing },
        }
    }
}

impl FileStatus {
    /// Compares the file at `path`, plain or compressed, with the expected one.
    pub(crate) fn of(path: &Path, expected: &PreparedFile) -> Self {
        match Fingerprint::of_file(path) {
            Ok(found) if found.sha256 == expected.sha256 => FileStatus::Intact,
            Ok(found) => FileStatus::Differs(found),
            Err(error) => FileStatus::Unreadable(error.to_string()),
        }
    }
}

impl Fingerprint {
    fn of_file(path: &Path) -> io::Result<Self> {
        Self::of(decompress(Box::new(File::open(path)?))?)
    }

    /// Reads a text to its end.
    fn of(mut text: impl Read) -> io::Result<Self> {
        let mut fingerprint = FingerprintBuilder::default();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match text.read(&mut buffer)? {
                0 => return Ok(fingerprint.finish()),
                read => fingerprint.add(&buffer[..read]),
            }
        }
    }
}

/// Computes a fingerprint from a text that arrives in pieces.
#[derive(Default)]
pub(crate) struct FingerprintBuilder {
    hash: Sha256,
    size: u64,
    lines: u64,
    header_commas: usize,
    last: Option<u8>,
}

impl FingerprintBuilder {
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        if self.lines == 0 {
            let header = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            self.header_commas += header.iter().filter(|&&byte| byte == b',').count();
        }
        self.hash.update(bytes);
        self.size += bytes.len() as u64;
        self.lines += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        self.last = bytes.last().copied().or(self.last);
    }

    pub(crate) fn finish(self) -> Fingerprint {
        // The last line may lack a line feed.
        let lines = self.lines + u64::from(self.last.is_some_and(|byte| byte != b'\n'));
        let sha256 = self.hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Fingerprint {
            rows: lines.saturating_sub(1),
            columns: if self.size == 0 { 0 } else { self.header_commas + 1 },
            size: self.size,
            sha256,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn rows_and_columns_are_counted_across_reads() {
        let whole = Fingerprint::of("a,b,c\n1,2,3\n4,5,6\n".as_bytes()).unwrap();
        assert_eq!((whole.rows, whole.columns, whole.size), (2, 3, 18));
        let mut builder = FingerprintBuilder::default();
        for byte in "a,b,c\n1,2,3\n4,5,6\n".bytes() {
            builder.add(&[byte]);
        }
        assert_eq!(builder.finish(), whole);
        let open = Fingerprint::of("a,b,c\n1,2,3\n4,5,6".as_bytes()).unwrap();
        assert_eq!((open.rows, open.columns), (2, 3));
        assert_ne!(open.sha256, whole.sha256);
        let empty = Fingerprint::of(io::empty()).unwrap();
        assert_eq!((empty.rows, empty.columns), (0, 0));
        assert_eq!(
            empty.sha256,
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
    }

    #[test]
    fn compressed_files_have_the_fingerprint_of_their_text() {
        let folder = tempfile::tempdir().unwrap();
        let (plain, gzip) = (folder.path().join("t.csv"), folder.path().join("t.csv.gz"));
        std::fs::write(&plain, "a,b\n1,2\n").unwrap();
        let file = File::create(&gzip).unwrap();
        let mut encoder = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        encoder.write_all(b"a,b\n1,2\n").unwrap();
        encoder.finish().unwrap();
        let expected = Fingerprint::of_file(&plain).unwrap();
        assert_eq!(Fingerprint::of_file(&gzip).unwrap(), expected);
        let bytes = std::fs::read(&gzip).unwrap();
        std::fs::write(&gzip, &bytes[..bytes.len() - 9]).unwrap();
        assert!(Fingerprint::of_file(&gzip).is_err());
    }
}
