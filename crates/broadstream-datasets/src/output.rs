//! The CSV text that preparation writes, and its fingerprint.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    error::DatasetError,
    verify::{Fingerprint, FingerprintBuilder},
};

/// Writes a CSV text and computes its fingerprint.
pub(crate) struct Output<'a> {
    writer: &'a mut dyn Write,
    /// The file being written, for error messages.
    path: PathBuf,
    fingerprint: FingerprintBuilder,
}

impl<'a> Output<'a> {
    pub(crate) fn new(writer: &'a mut dyn Write, path: &Path) -> Self {
        Output { writer, path: path.to_owned(), fingerprint: FingerprintBuilder::default() }
    }

    /// Appends a line and its line feed.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), DatasetError> {
        for bytes in [text.as_bytes(), b"\n"] {
            self.writer.write_all(bytes).map_err(DatasetError::file("writing", &self.path))?;
            self.fingerprint.add(bytes);
        }
        Ok(())
    }

    /// Returns the fingerprint of all lines.
    pub(crate) fn finish(self) -> Fingerprint {
        self.fingerprint.finish()
    }
}
