//! A write-ahead log: what a program has promised to do, on the disk before it does it.
//!
//! A [`Journal`](crate::Journal) belongs to one model file, has one entry per promise and is synced for each.
//! A log belongs to a folder, takes many promises at once, is synced when its user says so, and is cut into
//! segments, so that old ones can be removed while it is appended to. Every entry has a sequence number,
//! which counts from 1. A segment is named after that of its first entry.
//!
//! | bytes | what |
//! |---:|---|
//! | 8 | `89 42 53 4c 0d 0a 1a 0a` |
//! | 4 | the format version |
//! | 4 | zero |
//! | 8 | the sequence number of the first entry |
//! | 8 | the XXH64 hash of the bytes before, with seed 0 |
//!
//! Then, for each group of entries that were appended together:
//!
//! | bytes | what |
//! |---:|---|
//! | 4 | the length of the group |
//! | 8 | the sequence number of its first entry |
//! | 8 | the sequence number before which everything was on the disk when it was written |
//! | 8 | the XXH64 hash of the 20 bytes before and the group, whose seed is the hash of the segment |
//!
//! and the group: for each entry, 4 bytes with the length of its bytes, its kind, and its bytes. Numbers are
//! little-endian.
//!
//! A group is there as a whole or not at all. After a crash the last groups may be torn, and in any order if
//! they were not synced. So the log ends at the first group that is not whole. But a group that was on the
//! disk when a later one was written cannot be torn. If it is not whole, the log is damaged, and refused.

mod read;

use std::{
    fmt,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    path::{Path, PathBuf},
    sync::Arc,
};

use twox_hash::XxHash64;

pub use self::read::{LogEnd, read_log};

use crate::{
    disk::{Disk, DiskWriter},
    error::StoreError,
    temporary::{Temporary, remove_abandoned},
};

const MAGIC: [u8; 8] = *b"\x89BSL\r\n\x1a\n";

/// The format version that is written, and the only one so far.
const VERSION: u32 = 1;

/// The length of the header of a segment, and of a group.
const SEGMENT_HEADER: usize = 32;
const GROUP_HEADER: usize = 28;

/// The bytes of an entry before its own.
const ENTRY_HEADER: usize = 5;

/// How the names of segments end.
const EXTENSION: &str = "log";

/// A log that is being appended to. Whoever has it must be the only one.
pub struct Log {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    /// The last segment.
    path: PathBuf,
    file: File,
    /// How many of its bytes are good, and its hash.
    length: u64,
    seed: u64,
    /// The sequence number of the next entry.
    next: u64,
    /// Everything before this sequence number is on the disk.
    synced: u64,
    /// Whether the end of the segment is in doubt.
    has_failed: bool,
}

impl Log {
    /// Opens the log of a folder for appending. `end` is where [`read_log`] found its end; what is torn
    /// after that is cut off. The next entry has the sequence number `end.next`, or `at_least` if that is
    /// larger: whatever is missing in between is contained in something else.
    pub fn open(
        disk: Arc<dyn Disk>,
        folder: &Path,
        end: &LogEnd,
        at_least: u64,
    ) -> Result<Self, StoreError> {
        let next = end.next.max(at_least).max(1);
        match &end.segment {
            Some(segment) if end.next == next => {
                let path = segment.path.clone();
                let failed = |source| StoreError::Write { path: path.clone(), source };
                let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
                if end.torn > 0 {
                    disk.truncate(&file, segment.length).map_err(failed)?;
                }
                // The program before may have ended between an operation and its sync.
                disk.sync(&file).and_then(|()| disk.sync_folder(folder)).map_err(failed)?;
                Ok(Log {
                    folder: folder.to_owned(),
                    disk,
                    path,
                    file,
                    length: segment.length,
                    seed: segment.seed,
                    next,
                    synced: next,
                    has_failed: false,
                })
            }
            _ => Log::start(disk, folder, next),
        }
    }

    /// Starts a segment. One of the same name has no entries that count, and is replaced.
    fn start(disk: Arc<dyn Disk>, folder: &Path, next: u64) -> Result<Self, StoreError> {
        let path = segment_path(folder, next);
        let failed = |source| StoreError::Write { path: path.clone(), source };
        remove_abandoned(&*disk, &path);
        let mut header = Vec::with_capacity(SEGMENT_HEADER);
        header.extend(MAGIC);
        header.extend(VERSION.to_le_bytes());
        header.extend([0; 4]);
        header.extend(next.to_le_bytes());
        let seed = XxHash64::oneshot(0, &header);
        header.extend(seed.to_le_bytes());
        let mut temporary = Temporary::create(&*disk, &path, &path).map_err(failed)?;
        temporary.writer().write_all(&header).map_err(failed)?;
        temporary.replace(&path).map_err(failed)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        Ok(Log {
            folder: folder.to_owned(),
            disk,
            path,
            file,
            length: SEGMENT_HEADER as u64,
            seed,
            next,
            synced: next,
            has_failed: false,
        })
    }

    /// Appends entries, each with a kind and bytes that mean something to the caller, and returns the
    /// sequence number of the first. They survive the end of the program from now on, and that of the
    /// machine after [`sync`](Self::sync).
    ///
    /// After an error none of them counts, and the log takes no more until it is [repaired](Self::repair).
    pub fn append<'e>(
        &mut self,
        entries: impl IntoIterator<Item = (u8, &'e [u8])>,
    ) -> Result<u64, StoreError> {
        self.check()?;
        let too_large = || self.failed(io::ErrorKind::FileTooLarge.into());
        let mut group = vec![0; GROUP_HEADER];
        let mut count = 0;
        for (kind, bytes) in entries {
            let length = u32::try_from(bytes.len()).map_err(|_| too_large())?;
            group.extend(length.to_le_bytes());
            group.push(kind);
            group.extend(bytes);
            count += 1;
        }
        let length = u32::try_from(group.len() - GROUP_HEADER).map_err(|_| too_large())?;
        if count == 0 {
            return Ok(self.next);
        }
        group[..4].copy_from_slice(&length.to_le_bytes());
        group[4..12].copy_from_slice(&self.next.to_le_bytes());
        group[12..20].copy_from_slice(&self.synced.to_le_bytes());
        let hash = group_hash(self.seed, &group[..20], &group[GROUP_HEADER..]);
        group[20..28].copy_from_slice(&hash.to_le_bytes());
        // One write, so that a reader meets a part of a group as rarely as possible.
        let mut writer = DiskWriter { disk: &*self.disk, file: &self.file };
        if let Err(source) = writer.write_all(&group) {
            self.has_failed = true;
            // What was written would be cut off later anyway.
            let _ = self.disk.truncate(&self.file, self.length);
            return Err(self.failed(source));
        }
        let first = self.next;
        (self.length, self.next) = (self.length + group.len() as u64, self.next + count);
        Ok(first)
    }

    /// Brings everything that was appended to the disk. After an error nobody knows what is there, and the
    /// log takes no more until it is [repaired](Self::repair).
    pub fn sync(&mut self) -> Result<(), StoreError> {
        self.check()?;
        if self.synced < self.next {
            if let Err(source) = self.disk.sync(&self.file) {
                self.has_failed = true;
                return Err(self.failed(source));
            }
            self.synced = self.next;
        }
        Ok(())
    }

    /// Takes back the last entries, which must not have been relied on, so that the next entry has the
    /// sequence number `next`, and goes on in a segment of its own. This is what to do after an error, if it
    /// succeeds: what the old segment holds from there on does not count any more.
    pub fn repair(&mut self, next: u64) -> Result<(), StoreError> {
        self.has_failed = true;
        *self = Log::start(Arc::clone(&self.disk), &self.folder, next)?;
        Ok(())
    }

    /// Goes on in a new segment, unless the last one is empty. Everything before is on the disk then.
    pub fn rotate(&mut self) -> Result<(), StoreError> {
        self.sync()?;
        if self.length > SEGMENT_HEADER as u64 {
            self.has_failed = true;
            *self = Log::start(Arc::clone(&self.disk), &self.folder, self.next)?;
        }
        Ok(())
    }

    /// Removes the segments that only have entries before a sequence number. The last segment stays.
    pub fn remove_before(&self, sequence: u64) -> Result<(), StoreError> {
        let segments = segments(&self.folder)?;
        let ends = segments.iter().skip(1).map(|(first, _)| *first);
        for ((_, path), end) in segments.iter().zip(ends) {
            if end <= sequence && *path != self.path {
                let failed = |source| StoreError::Write { path: path.clone(), source };
                self.disk.remove(path).map_err(failed)?;
            }
        }
        Ok(())
    }

    /// The sequence number of the next entry.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// How many bytes the last segment has.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether there are entries that may not be on the disk yet.
    pub fn is_unsynced(&self) -> bool {
        self.synced < self.next
    }

    /// Whether the log takes no more until it is [repaired](Self::repair).
    pub fn has_failed(&self) -> bool {
        self.has_failed
    }

    fn check(&self) -> Result<(), StoreError> {
        if self.has_failed {
            return Err(self.failed(io::Error::other("an earlier entry could not be written")));
        }
        Ok(())
    }

    fn failed(&self, source: io::Error) -> StoreError {
        StoreError::Write { path: self.path.clone(), source }
    }
}

impl fmt::Debug for Log {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Log")
            .field("path", &self.path)
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

/// The path of the segment whose first entry has that sequence number.
fn segment_path(folder: &Path, first: u64) -> PathBuf {
    folder.join(format!("{first:020}.{EXTENSION}"))
}

/// The segments of a folder in their order, each with the sequence number of its first entry.
fn segments(folder: &Path) -> Result<Vec<(u64, PathBuf)>, StoreError> {
    let failed = |source| StoreError::Read { path: folder.to_owned(), source };
    let mut segments = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        if path.extension().is_some_and(|extension| extension == EXTENSION)
            && let Some(Ok(first)) = stem.map(str::parse)
        {
            segments.push((first, path));
        }
    }
    segments.sort();
    Ok(segments)
}

/// The hash of a group and of the header before it.
fn group_hash(seed: u64, header: &[u8], group: &[u8]) -> u64 {
    XxHash64::oneshot(XxHash64::oneshot(seed, header), group)
}
