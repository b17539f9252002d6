//! The lines of a part, of bounded length.

use std::io::{BufRead, BufReader, Read};

use crate::{error::DatasetError, part::Part};

/// No line of any file in the catalogue is nearly as long.
const LONGEST: u64 = 1 << 16;

/// The lines of a part that are not blank, without their ends.
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

    /// The next line that is not blank, without blanks around it; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<&str>, DatasetError> {
        loop {
            self.text.clear();
            self.number += 1;
            let mut line = self.reader.by_ref().take(LONGEST);
            let read = line
                .read_line(&mut self.text)
                .map_err(|source| DatasetError::Unreadable { part: self.name.clone(), source })?;
            if read == 0 {
                return Ok(None);
            }
            if read as u64 == LONGEST {
                return Err(self.malformed(&format!("at most {LONGEST} bytes"), "more"));
            }
            if !self.text.trim().is_empty() {
                return Ok(Some(self.text.trim()));
            }
        }
    }

    /// An error about the line read last.
    pub(super) fn malformed(&self, expected: &str, found: &str) -> DatasetError {
        DatasetError::Malformed {
            part: self.name.clone(),
            line: self.number,
            expected: expected.to_owned(),
            found: found.chars().take(60).collect(),
        }
    }
}
