//! The text that a preparation writes, and its fingerprint.

use std::{
    io::Write,
    path::{Path, PathBuf},
};

use crate::{
    error::DatasetError,
    verify::{Fingerprint, Tally},
};

/// A CSV text in the making.
pub(crate) struct Output<'a> {
    writer: &'a mut dyn Write,
    /// The file that the text goes to, for messages.
    path: PathBuf,
    tally: Tally,
}

impl<'a> Output<'a> {
    pub(crate) fn new(writer: &'a mut dyn Write, path: &Path) -> Self {
        Output { writer, path: path.to_owned(), tally: Tally::default() }
    }

    /// Appends a line, whose end is added.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), DatasetError> {
        for bytes in [text.as_bytes(), b"\n"] {
            self.writer.write_all(bytes).map_err(DatasetError::file("writing", &self.path))?;
            self.tally.add(bytes);
        }
        Ok(())
    }

    /// The fingerprint of all lines.
    pub(crate) fn finish(self) -> Fingerprint {
        self.tally.finish()
    }
}
