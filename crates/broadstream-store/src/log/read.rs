//! What a log holds.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use twox_hash::XxHash64;

use super::{ENTRY_HEADER, GROUP_HEADER, MAGIC, SEGMENT_HEADER, VERSION, group_hash, segments};
use crate::error::StoreError;

/// Where a log ends.
#[derive(Debug, Default)]
pub struct LogEnd {
    /// The sequence number that the next entry would have; 0 if there is no segment.
    pub next: u64,
    /// How many bytes at the end belong to entries that were never relied on.
    pub torn: u64,
    /// The last segment.
    pub(super) segment: Option<SegmentEnd>,
}

/// The last segment of a log.
#[derive(Debug)]
pub(super) struct SegmentEnd {
    pub(super) path: PathBuf,
    /// How many of its bytes are good, and its hash.
    pub(super) length: u64,
    pub(super) seed: u64,
}

/// Calls `each` with the sequence number, the kind and the bytes of every entry from `from` on, in order.
/// Nothing is changed. An error of `each` ends the reading.
///
/// It is an error if an entry from `from` on is missing before the last one: the log is damaged, or a
/// segment was removed.
pub fn read_log<E: From<StoreError>>(
    folder: &Path,
    from: u64,
    mut each: impl FnMut(u64, u8, &[u8]) -> Result<(), E>,
) -> Result<LogEnd, E> {
    let segments = segments(folder)?;
    // The segment that has `from` is the last that begins at or before it.
    let start = segments.iter().rposition(|(first, _)| *first <= from.max(1)).unwrap_or(0);
    let mut end = LogEnd::default();
    let mut expected = from.max(1);
    for (i, (first, path)) in segments.iter().enumerate().skip(start) {
        if *first > expected {
            return Err(StoreError::IncompleteLog { path: path.clone(), missing: expected }.into());
        }
        let following = segments.get(i + 1).map(|(first, _)| *first);
        let segment = Segment::read(path, *first)?;
        let (good, next) =
            segment.entries(following.unwrap_or(u64::MAX), |number, kind, bytes| {
                if number < from { Ok(()) } else { each(number, kind, bytes) }
            })?;
        match following {
            // What follows a tear was written after the tear was noticed, and goes on where it was. Before
            // `from` entries may be missing.
            Some(following) if next < following && following > from => {
                let (path, offset) = (path.clone(), good as u64);
                return Err(StoreError::DamagedLog { path, offset }.into());
            }
            Some(following) => expected = following,
            None => {
                segment.check_torn(good, next)?;
                end = LogEnd {
                    next,
                    torn: (segment.bytes.len() - good) as u64,
                    segment: Some(SegmentEnd {
                        path: path.clone(),
                        length: good as u64,
                        seed: segment.seed,
                    }),
                };
            }
        }
    }
    Ok(end)
}

/// The bytes of a segment, whose header was checked.
struct Segment<'p> {
    path: &'p Path,
    first: u64,
    bytes: Vec<u8>,
    seed: u64,
}

/// A group that is whole.
struct Group<'b> {
    first: u64,
    /// Everything before this was on the disk when the group was written.
    synced: u64,
    content: &'b [u8],
}

impl<'p> Segment<'p> {
    fn read(path: &'p Path, first: u64) -> Result<Self, StoreError> {
        let failed = |source: io::Error| StoreError::Read { path: path.to_owned(), source };
        let bytes = fs::read(path).map_err(failed)?;
        let damaged = || StoreError::DamagedLog { path: path.to_owned(), offset: 0 };
        // A segment gets its name only when its header is on the disk.
        let header = bytes.get(..SEGMENT_HEADER).ok_or_else(damaged)?;
        let (header, hash) = header.split_at(SEGMENT_HEADER - 8);
        let seed = number(hash);
        if !header.starts_with(&MAGIC) || XxHash64::oneshot(0, header) != seed {
            return Err(damaged());
        }
        if header[8..12] != VERSION.to_le_bytes() {
            return Err(StoreError::NewerLog { path: path.to_owned() });
        }
        if number(&header[16..24]) != first {
            return Err(damaged());
        }
        Ok(Segment { path, first, bytes, seed })
    }

    /// Calls `each` with every entry before the sequence number `end`. Returns how many bytes are good, and
    /// the sequence number after them.
    fn entries<E: From<StoreError>>(
        &self,
        end: u64,
        mut each: impl FnMut(u64, u8, &[u8]) -> Result<(), E>,
    ) -> Result<(usize, u64), E> {
        let (mut offset, mut next) = (SEGMENT_HEADER, self.first);
        while let Some(group) = self.group(offset).filter(|group| group.first == next && next < end)
        {
            let mut rest = group.content;
            while !rest.is_empty() {
                let Some((kind, bytes, after)) = entry(rest) else {
                    let (path, offset) = (self.path.to_owned(), offset as u64);
                    return Err(StoreError::DamagedLog { path, offset }.into());
                };
                if next < end {
                    each(next, kind, bytes)?;
                    next += 1;
                }
                rest = after;
            }
            offset += GROUP_HEADER + group.content.len();
        }
        Ok((offset, next))
    }

    /// The group at an offset, if it is whole.
    fn group(&self, offset: usize) -> Option<Group<'_>> {
        let (header, rest) = self.bytes.get(offset..)?.split_at_checked(GROUP_HEADER)?;
        let content = rest.get(..number(&header[..4]) as usize)?;
        let is_whole = group_hash(self.seed, &header[..20], content) == number(&header[20..]);
        let group =
            Group { first: number(&header[4..12]), synced: number(&header[12..20]), content };
        (is_whole && !content.is_empty()).then_some(group)
    }

    /// Checks that what follows the good bytes of the last segment was torn rather than damaged: no later
    /// group was written when these entries were on the disk already.
    fn check_torn(&self, good: usize, next: u64) -> Result<(), StoreError> {
        for offset in good..self.bytes.len() {
            // Only what looks like the header of a later group is worth hashing.
            let Some(header) = self.bytes.get(offset..offset + GROUP_HEADER) else { break };
            if number(&header[4..12]) <= next || number(&header[12..20]) <= next {
                continue;
            }
            if self.group(offset).is_some_and(|group| group.synced > next) {
                let (path, offset) = (self.path.to_owned(), good as u64);
                return Err(StoreError::DamagedLog { path, offset });
            }
        }
        Ok(())
    }
}

/// The kind and the bytes of the first entry, and what follows it.
fn entry(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (header, rest) = bytes.split_at_checked(ENTRY_HEADER)?;
    let (content, rest) = rest.split_at_checked(number(&header[..4]) as usize)?;
    Some((header[4], content, rest))
}

/// A little-endian number of up to 8 bytes.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
