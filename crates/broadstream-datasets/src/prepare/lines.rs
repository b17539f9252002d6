//! Reads the lines of a part, with bounded length.

use std::io::{BufRead, BufReader, Read};

use crate::{error::DatasetError, part::Part};

/// The maximum length of a line in bytes; no file of the catalogue comes close.
const MAX_LINE_BYTES: u64 = 1 << 16;

/// The lines of a part that are not blank, without line endings.
pub(super) struct Lines {
    name: String,
    reader: BufReader<Box<dyn Read + Send>>,
    text: String,
    number: u64,
}

impl Lines {
    pub(super) fn new(part: Part) -> Self {
        Lines {
            name: part.name,
            reader: BufReader::with_capacity(1 << 16, part.reader),
            text: String::new(),
            number: 0,
        }
    }

    /// Reads the next line that is not blank and trims it; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&str>, DatasetError> {
        loop {
            self.text.clear();
            self.number += 1;
            let mut line = self.reader.by_ref().take(MAX_LINE_BYTES);
            let read = line
                .read_line(&mut self.text)
                .map_err(|source| DatasetError::Unreadable { part: self.name.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == MAX_LINE_BYTES {
                return Err(self.malformed(&format!("at most {MAX_LINE_BYTES} bytes"), "more"));
            }
            if !self.text.trim().is_empty() {
                return Ok(Some(self.text.trim()));
            }
        }
    }

    /// An error about the last line read.
    pub(super) fn malformed(&self, expected: &str, found: &str) -> DatasetError {
        DatasetError::Malformed {
            part: self.name.clone(),
            line: self.number,
            expected: expected.to_owned(),
            found: found.chars().take(60).collect(),
        }
    }
}
