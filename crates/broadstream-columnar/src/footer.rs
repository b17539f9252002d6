//! The end of an Arrow file: its table of contents.
//!
//! After the messages come the footer, its length as four bytes, and the magic bytes with which the file
//! began.

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
};

use arrow_ipc::root_as_footer;

use crate::ipc::{LARGEST_HEADER, invalid};

/// What a footer says.
pub(crate) struct Footer {
    batches: usize,
}

impl Footer {
    /// Reads the rest of a file, which is its footer.
    pub(crate) fn read(reader: &mut dyn Read) -> io::Result<Self> {
        let mut rest = Vec::new();
        let most = u64::from(LARGEST_HEADER) + TAIL as u64;
        if reader.take(most + 1).read_to_end(&mut rest)? as u64 > most {
            let rule = "the footer of a file must have at most";
            return Err(invalid(&format!("{rule} {LARGEST_HEADER} bytes, found more")));
        }
        let (before, tail) = rest.split_last_chunk().ok_or_else(cut_short)?;
        let length = footer_length(tail)?;
        let footer =
            usize::try_from(length).ok().and_then(|length| before.len().checked_sub(length));
        let start = footer.ok_or_else(|| {
            let found = format!("found {} of {length} bytes", before.len());
            invalid(&format!("a footer must follow the messages of a file, {found}"))
        })?;
        // The parser wants memory that is aligned, as that of a new allocation is.
        let footer = before[start..].to_vec();
        let footer = root_as_footer(&footer)
            .map_err(|error| invalid(&format!("the footer of the file is broken: {error}")))?;
        Ok(Footer { batches: footer.recordBatches().map_or(0, |batches| batches.len()) })
    }

    /// Checks that the file had the batches that its footer lists.
    pub(crate) fn check_batches(&self, found: usize) -> io::Result<()> {
        if self.batches == found {
            return Ok(());
        }
        let listed = self.batches;
        Err(invalid(&format!("the footer of the file lists {listed} batches, found {found}")))
    }
}

/// Checks that a file ends as one with a footer does, before anything of it is learned. What the footer
/// says is checked when the rows have been read, as it is for a pipe.
pub(crate) fn check_end(file: &mut File) -> io::Result<()> {
    let start = file.stream_position()?;
    let length = file.seek(SeekFrom::End(0))?.saturating_sub(start);
    let mut tail = [0; TAIL];
    if length < TAIL as u64 {
        return Err(cut_short());
    }
    file.seek(SeekFrom::End(-(TAIL as i64)))?;
    file.read_exact(&mut tail)?;
    file.seek(SeekFrom::Start(start))?;
    footer_length(&tail).map(drop)
}

/// The same for a file in memory.
pub(crate) fn check_end_of_bytes(bytes: &[u8]) -> io::Result<()> {
    footer_length(bytes.last_chunk().ok_or_else(cut_short)?).map(drop)
}

/// The length of the footer and the magic bytes.
const TAIL: usize = 4 + MAGIC.len();

const MAGIC: [u8; 6] = *b"ARROW1";

/// The length of the footer before these last bytes of a file.
fn footer_length(tail: &[u8; TAIL]) -> io::Result<i32> {
    let [a, b, c, d, magic @ ..] = *tail;
    if magic == MAGIC { Ok(i32::from_le_bytes([a, b, c, d])) } else { Err(cut_short()) }
}

fn cut_short() -> io::Error {
    invalid("expected a footer at the end of the Arrow file, found none: the file was cut short")
}
