//! What happened to a model since its file was written.
//!
//! The journal of `model.bsm` is `model.bsm.journal`. Its entries are bytes that mean something only to the
//! program that appends them; each is on the disk before [`Journal::append`] returns, so a program that is
//! killed loses nothing that it has appended. It begins with the file that it continues, identified by the
//! header of that file, which holds the digest of all that follows.
//!
//! When the model is written again, the journal first gets an entry that identifies the new file, then the
//! file is put in place, then an empty journal replaces the old one. Whatever is interrupted, the model is
//! found in the journal: at its beginning, and all entries are still to be applied, or at such an entry,
//! and those before it are part of the model. If it is not found, the journal belongs to another file.
//!
//! | bytes | what |
//! |---:|---|
//! | 8 | `89 42 53 4a 0d 0a 1a 0a` |
//! | 4 | the format version |
//! | 4 | zero |
//! | 64 | the header of the model file that is continued |
//! | 8 | the XXH64 hash of the bytes before, with seed 0 |
//!
//! Then, for each entry, 4 bytes with its length, 8 bytes with the XXH64 hash of its content, whose seed is
//! the hash before it, and its content. The first byte of the content is its kind. Numbers are
//! little-endian.

use std::{
    ffi::OsString,
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use twox_hash::XxHash64;

use crate::{
    disk::{Disk, DiskWriter},
    error::StoreError,
    temporary::Temporary,
};

const MAGIC: [u8; 8] = *b"\x89BSJ\r\n\x1a\n";

/// The format version that is written, and the only one so far.
const VERSION: u32 = 1;

/// The length of the header of a model file, which identifies the file.
pub(crate) const IDENTITY: usize = 64;

/// The length of the header of a journal.
const HEADER: usize = 16 + IDENTITY + 8;

/// The bytes of an entry before its content.
const ENTRY_HEADER: usize = 12;

/// The kind of an entry that identifies the file that the model was written to.
const WRITTEN: u8 = 0;

/// The header of a model file.
pub(crate) type Identity = [u8; IDENTITY];

/// A journal that is being appended to. Whoever has it holds the lock on the path of its model.
pub struct Journal {
    /// The path for messages, and the file of the model.
    given: PathBuf,
    model: PathBuf,
    disk: Arc<dyn Disk>,
    file: File,
    /// How many bytes are good, and the hash of the last entry.
    length: u64,
    hash: u64,
    /// Whether an append has failed. What follows a part of an entry could not be read.
    has_failed: bool,
}

/// What a journal holds that its model file does not.
#[derive(Debug, Default)]
pub struct JournalEntries {
    /// The entries that are still to be applied to the model, in order: their kind and their bytes.
    pub entries: Vec<(u8, Vec<u8>)>,
    /// How many bytes at the end are a part of an entry, whose append never returned.
    pub torn: u64,
}

impl Journal {
    /// Replaces whatever journal there is by an empty one that continues the file of a model. It may be read
    /// by whoever may read the model.
    pub(crate) fn start(
        disk: &Arc<dyn Disk>,
        given: PathBuf,
        model: &Path,
        identity: &Identity,
    ) -> Result<Self, StoreError> {
        let failed = |source| StoreError::Write { path: given.clone(), source };
        let mut header = Vec::with_capacity(HEADER);
        header.extend(MAGIC);
        header.extend(VERSION.to_le_bytes());
        header.extend([0; 4]);
        header.extend(identity);
        let hash = XxHash64::oneshot(0, &header);
        header.extend(hash.to_le_bytes());
        let path = journal_path(model);
        let mut temporary = Temporary::create(&**disk, &path, model).map_err(failed)?;
        temporary.writer().write_all(&header).map_err(failed)?;
        temporary.replace(&path).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        let (model, disk, length) = (model.to_owned(), Arc::clone(disk), HEADER as u64);
        Ok(Journal { given, model, disk, file, length, hash, has_failed: false })
    }

    /// Opens the journal of a file to append to it, and cuts off a torn entry; `None` if there is no
    /// journal. Also returns what the file lacks.
    pub(crate) fn reopen(
        disk: &Arc<dyn Disk>,
        given: PathBuf,
        model: &Path,
        identity: &Identity,
    ) -> Result<Option<(Self, JournalEntries)>, StoreError> {
        let path = journal_path(model);
        let Some(content) = read(&given, &path, identity)? else { return Ok(None) };
        let failed = |source| StoreError::Write { path: given.clone(), source };
        let mut file = OpenOptions::new().write(true).open(&path).map_err(failed)?;
        if content.entries.torn > 0 {
            disk.truncate(&file, content.length).map_err(failed)?;
        }
        // The program before may have ended between an operation and its sync. What is applied now must not
        // disappear later, nor may the journal that entries are appended to.
        let folder = path.parent().map_or(Ok(()), |folder| disk.sync_folder(folder));
        disk.sync(&file).and(folder).map_err(failed)?;
        file.seek(SeekFrom::Start(content.length)).map_err(failed)?;
        let (model, disk, length) = (model.to_owned(), Arc::clone(disk), content.length);
        let hash = content.hash;
        let journal = Journal { given, model, disk, file, length, hash, has_failed: false };
        Ok(Some((journal, content.entries)))
    }

    /// Appends an entry. It is on the disk when this returns, as a whole or, after an error, not at all.
    ///
    /// Kinds are the caller's, from 1 on.
    pub fn append(&mut self, kind: u8, bytes: &[u8]) -> Result<(), StoreError> {
        debug_assert!(kind != WRITTEN, "this kind is the journal's own");
        self.append_any(kind, bytes)
    }

    /// How many bytes the journal has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// The path of the journal, for messages.
    pub fn path(&self) -> &Path {
        &self.given
    }

    /// Appends the identity of the file that is going to have the model with all entries so far.
    pub(crate) fn mark_written(&mut self, identity: &Identity) -> Result<(), StoreError> {
        self.append_any(WRITTEN, identity)
    }

    fn append_any(&mut self, kind: u8, bytes: &[u8]) -> Result<(), StoreError> {
        let failed = |source| StoreError::Write { path: self.given.clone(), source };
        if self.has_failed {
            return Err(failed(io::Error::other("an earlier entry could not be written")));
        }
        let content = [&[kind], bytes].concat();
        let Ok(length) = u32::try_from(content.len()) else {
            return Err(failed(io::ErrorKind::FileTooLarge.into()));
        };
        let hash = XxHash64::oneshot(self.hash, &content);
        let entry = [&length.to_le_bytes()[..], &hash.to_le_bytes(), &content].concat();
        // One write, so that a reader meets a part of an entry as rarely as possible.
        let mut writer = DiskWriter { disk: &*self.disk, file: &self.file };
        let written = writer.write_all(&entry).and_then(|()| self.disk.sync(&self.file));
        if let Err(source) = written {
            self.has_failed = true;
            // The part that was written would be cut off later anyway.
            let _ = self.disk.truncate(&self.file, self.length);
            return Err(failed(source));
        }
        (self.length, self.hash) = (self.length + entry.len() as u64, hash);
        Ok(())
    }

    /// Replaces this journal by an empty one that continues a file.
    pub(crate) fn restart(&mut self, identity: &Identity) -> Result<(), StoreError> {
        // If it fails, the file that is open here may be without a name already, so that entries would be
        // appended in vain.
        self.has_failed = true;
        *self = Journal::start(&self.disk, self.given.clone(), &self.model, identity)?;
        Ok(())
    }

    /// Removes the journal: all that it holds is in the file of its model.
    pub(crate) fn remove(self) -> Result<(), StoreError> {
        let failed = |source| StoreError::Write { path: self.given.clone(), source };
        self.disk.remove(&journal_path(&self.model)).map_err(failed)
    }
}

impl fmt::Debug for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Journal")
            .field("path", &self.given)
            .field("length", &self.length)
            .finish_non_exhaustive()
    }
}

/// The path of the journal of a model file.
pub(crate) fn journal_path(model: &Path) -> PathBuf {
    let mut path = OsString::from(model);
    path.push(".journal");
    path.into()
}

/// The header of the model file at a path.
pub(crate) fn identity(path: &Path) -> io::Result<Identity> {
    let mut identity = [0; IDENTITY];
    File::open(path)?.read_exact(&mut identity)?;
    Ok(identity)
}

/// A journal that was read.
pub(crate) struct Content {
    pub(crate) entries: JournalEntries,
    /// How many bytes are good, and the hash of the last entry.
    length: u64,
    hash: u64,
}

/// Reads the journal at a path, if there is one, and finds the model file in it.
pub(crate) fn read(
    given: &Path,
    path: &Path,
    identity: &Identity,
) -> Result<Option<Content>, StoreError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(StoreError::Read { path: given.to_owned(), source }),
    };
    let damaged = |offset| StoreError::DamagedJournal { path: given.to_owned(), offset };
    let (header, hash) = bytes.get(..HEADER).ok_or_else(|| damaged(0))?.split_at(HEADER - 8);
    let found = number(hash);
    if !header.starts_with(&MAGIC) || XxHash64::oneshot(0, header) != found {
        return Err(damaged(0));
    }
    if header[8..12] != VERSION.to_le_bytes() {
        return Err(StoreError::NewerJournal { path: given.to_owned() });
    }
    let (mut hash, mut offset) = (found, HEADER);
    let mut is_found = header[16..] == identity[..];
    let mut entries = Vec::new();
    while let Some((content, next)) = entry(&bytes, offset, hash).map_err(damaged)? {
        if content[0] != WRITTEN {
            entries.push((content[0], content[1..].to_vec()));
        } else if content[1..] == identity[..] {
            (is_found, entries) = (true, Vec::new());
        }
        (offset, hash) = next;
    }
    if !is_found {
        return Err(StoreError::OtherJournal { path: given.to_owned() });
    }
    let torn = (bytes.len() - offset) as u64;
    let entries = JournalEntries { entries, torn };
    Ok(Some(Content { entries, length: offset as u64, hash }))
}

/// The content of the entry at an offset, and the offset and the hash after it; `None` at the end and if the
/// entry is torn.
///
/// An entry is on the disk before the next is written. So one that is wrong although others follow was not
/// torn but damaged, and its offset is returned as an error.
#[expect(clippy::type_complexity, reason = "used once, right above")]
fn entry(bytes: &[u8], offset: usize, hash: u64) -> Result<Option<(&[u8], (usize, u64))>, u64> {
    let Some((header, rest)) = bytes[offset..].split_at_checked(ENTRY_HEADER) else {
        return Ok(None);
    };
    let length = number(&header[..4]) as usize;
    let Some(content) = rest.get(..length).filter(|content| !content.is_empty()) else {
        return Ok(None);
    };
    let expected = number(&header[4..]);
    if XxHash64::oneshot(hash, content) == expected {
        return Ok(Some((content, (offset + ENTRY_HEADER + length, expected))));
    }
    if rest.len() > length { Err(offset as u64) } else { Ok(None) }
}

/// A little-endian number of up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
