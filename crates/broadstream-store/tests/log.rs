//! Logs hold what was promised, whatever happens to the disk, and notice if they do not.

use std::{
    fs::{self, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
};

use broadstream_store::{Disk, Log, LogEnd, StoreError, SystemDisk, read_log};
use tempfile::TempDir;

use crate::failing_disk::FailingDisk;

/// The entries from a sequence number on, and the end of the log.
fn read(folder: &Path, from: u64) -> Result<(Vec<String>, LogEnd), StoreError> {
    let mut entries = Vec::new();
    let end = read_log(folder, from, |number, kind, bytes| {
        entries.push(format!("{number} {kind} {}", String::from_utf8_lossy(bytes)));
        Ok::<(), StoreError>(())
    })?;
    Ok((entries, end))
}

fn open_on(disk: Arc<dyn Disk>, folder: &Path) -> Log {
    let (_, end) = read(folder, 1).unwrap();
    Log::open(disk, folder, &end, 1).unwrap()
}

fn open(folder: &Path) -> Log {
    open_on(Arc::new(SystemDisk), folder)
}

fn append(log: &mut Log, texts: &[&str]) -> Result<u64, StoreError> {
    log.append(texts.iter().map(|text| (7, text.as_bytes())))
}

/// A log of three synced groups: a, b and c; d; e and f.
fn three_groups() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path());
    for group in [&["a", "b", "c"][..], &["d"], &["e", "f"]] {
        append(&mut log, group).unwrap();
        log.sync().unwrap();
    }
    let path = folder.path().join("00000000000000000001.log");
    (folder, path)
}

const SIX: [&str; 6] = ["1 7 a", "2 7 b", "3 7 c", "4 7 d", "5 7 e", "6 7 f"];

#[test]
fn what_is_appended_is_read_from_any_entry_on() {
    let (folder, _) = three_groups();
    for from in 0..8 {
        let (entries, end) = read(folder.path(), from).unwrap();
        let first = usize::try_from(from.max(1) - 1).unwrap().min(6);
        assert_eq!(entries, SIX[first..], "from {from}");
        assert_eq!((end.next, end.torn), (7, 0));
    }
    let mut log = open(folder.path());
    assert_eq!(append(&mut log, &[]).unwrap(), 7, "nothing is an entry of its own");
    assert_eq!(append(&mut log, &["g"]).unwrap(), 7);
    assert_eq!(read(folder.path(), 7).unwrap().0, ["7 7 g"]);
}

#[test]
fn segments_are_removed_from_the_front_and_missed_if_they_are_needed() {
    let (folder, _) = three_groups();
    let mut log = open(folder.path());
    log.rotate().unwrap();
    log.rotate().unwrap();
    append(&mut log, &["g", "h"]).unwrap();
    log.rotate().unwrap();
    append(&mut log, &["i"]).unwrap();
    let (entries, _) = read(folder.path(), 1).unwrap();
    assert_eq!(entries.len(), 9);

    log.remove_before(7).unwrap();
    assert_eq!(read(folder.path(), 7).unwrap().0, ["7 7 g", "8 7 h", "9 7 i"]);
    assert_eq!(read(folder.path(), 8).unwrap().0, ["8 7 h", "9 7 i"]);
    let missing = read(folder.path(), 6).unwrap_err();
    assert!(matches!(missing, StoreError::IncompleteLog { missing: 6, .. }), "{missing}");
    log.remove_before(100).unwrap();
    assert_eq!(read(folder.path(), 9).unwrap().0, ["9 7 i"], "the last segment stays");
    drop(log);
    // A snapshot that is ahead of a log, since the log was not synced.
    let (_, end) = read(folder.path(), 20).unwrap();
    let mut log = Log::open(Arc::new(SystemDisk), folder.path(), &end, 20).unwrap();
    append(&mut log, &["t"]).unwrap();
    assert_eq!(read(folder.path(), 20).unwrap().0, ["20 7 t"]);
}

#[test]
fn a_torn_end_is_cut_off_group_by_group() {
    let (folder, path) = three_groups();
    let whole = fs::read(&path).unwrap();
    // Where the groups end: their lengths, and 28 bytes before each.
    let ends = [32, 32 + 28 + 18, 32 + 2 * 28 + 24, whole.len()];
    for length in 32..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (entries, end) = read(folder.path(), 1).unwrap();
        let groups = ends.iter().filter(|end| **end <= length).count() - 1;
        assert_eq!(entries.len(), [0, 3, 4, 6][groups], "{length} bytes");
        assert_eq!(end.torn as usize, length - ends[groups]);
        let mut log = open(folder.path());
        append(&mut log, &["again"]).unwrap();
        drop(log);
        let (entries, end) = read(folder.path(), 1).unwrap();
        assert_eq!((entries.len(), end.torn), ([1, 4, 5, 7][groups], 0));
    }
}

#[test]
fn what_was_on_the_disk_is_damaged_and_what_was_not_is_torn() {
    let (folder, path) = three_groups();
    let whole = fs::read(&path).unwrap();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        fs::write(&path, &bytes).unwrap();
        match read(folder.path(), 1) {
            // The last group may have been on its way.
            Ok((entries, _)) => assert!(at >= 32 + 2 * 28 + 24 && entries.len() == 4, "byte {at}"),
            Err(error) => {
                assert!(at < 32 + 2 * 28 + 24, "byte {at}");
                assert!(matches!(error, StoreError::DamagedLog { .. }), "byte {at}: {error}");
            }
        }
    }
    // Without a sync in between, the first group may reach the disk after the second.
    let folder = tempfile::tempdir().unwrap();
    let mut log = open(folder.path());
    append(&mut log, &["a"]).unwrap();
    append(&mut log, &["b"]).unwrap();
    let path = folder.path().join("00000000000000000001.log");
    let mut bytes = fs::read(&path).unwrap();
    bytes[32 + 28 + 5] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let (entries, end) = read(folder.path(), 1).unwrap();
    assert_eq!((entries.len(), end.next), (0, 1));
    assert_eq!(end.torn as usize, bytes.len() - 32);
}

#[test]
fn what_follows_a_repair_replaces_what_was_in_doubt() {
    let folder = tempfile::tempdir().unwrap();
    let disk = Arc::new(FailingDisk::healthy(SystemDisk));
    let mut log = open_on(Arc::<FailingDisk>::clone(&disk), folder.path());
    append(&mut log, &["a"]).unwrap();
    log.sync().unwrap();
    append(&mut log, &["b"]).unwrap();
    disk.fail_at(0, false);
    assert!(log.sync().is_err());
    assert!(log.has_failed());
    assert!(append(&mut log, &["c"]).is_err(), "nobody knows what the disk has");
    disk.fail_at(0, true);
    assert!(log.repair(2).is_err());
    assert!(log.has_failed());
    disk.repair();
    log.repair(2).unwrap();
    append(&mut log, &["B", "C"]).unwrap();
    log.sync().unwrap();
    drop(log);
    assert_eq!(read(folder.path(), 1).unwrap().0, ["1 7 a", "2 7 B", "3 7 C"]);
    // A part of a group at the end of a segment that is not the last was noticed and is left alone.
    let path = folder.path().join("00000000000000000001.log");
    OpenOptions::new().append(true).open(&path).unwrap().write_all(&[9; 40]).unwrap();
    assert_eq!(read(folder.path(), 1).unwrap().0, ["1 7 a", "2 7 B", "3 7 C"]);
    fs::write(&path, &fs::read(&path).unwrap()[..40]).unwrap();
    let damaged = read(folder.path(), 1).unwrap_err();
    assert!(matches!(damaged, StoreError::DamagedLog { offset: 32, .. }), "{damaged}");
}

#[test]
fn a_disk_that_fails_anywhere_loses_nothing_that_was_synced() {
    for forever in [false, true] {
        for at in 0.. {
            let folder = tempfile::tempdir().unwrap();
            drop(open(folder.path()));
            let disk = FailingDisk::new(at, forever);
            let mut promised: Vec<String> = Vec::new();
            if let Ok((_, end)) = read(folder.path(), 1)
                && let Ok(mut log) =
                    Log::open(Arc::<FailingDisk>::clone(&disk), folder.path(), &end, 1)
            {
                for i in 0..12 {
                    let text = format!("entry {i}");
                    let before = log.next();
                    let done = append(&mut log, &[&text]).and_then(|_| log.sync());
                    if done.is_ok() {
                        promised.push(format!("{before} 7 {text}"));
                    } else if log.repair(before).is_err() && forever {
                        break;
                    }
                    if i % 5 == 4 && log.rotate().is_err() && log.repair(log.next()).is_err() {
                        break;
                    }
                }
            }
            let (entries, _) = read(folder.path(), 1).unwrap();
            let kept = &entries[..promised.len().min(entries.len())];
            assert_eq!(kept, promised, "operation {at} fails, forever: {forever}");
            assert!(entries.len() <= promised.len() + 1, "one entry at most was in doubt");
            if !disk.has_failed() {
                break;
            }
        }
    }
}

/// What happens to a log of which nothing is synced for real, in the order that a seed draws.
#[cfg(unix)]
#[test]
fn power_failures_lose_only_the_end_of_what_was_not_synced() {
    use crate::volatile_disk::VolatileDisk;

    for seed in 0..400_u64 {
        let folder = tempfile::tempdir().unwrap();
        let disk = Arc::new(FailingDisk::healthy(VolatileDisk::new(folder.path())));
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let mut below = |bound: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 11) as usize % bound
        };
        let (mut written, mut synced) = (Vec::<String>::new(), 0);
        let mut log = open_on(Arc::<FailingDisk<VolatileDisk>>::clone(&disk), folder.path());
        for step in 0..60 {
            match below(12) {
                0..=5 => {
                    let texts: Vec<String> = (0..=below(4))
                        .map(|i| format!("{step}.{i} {}", "x".repeat(i * 9)))
                        .collect();
                    let first = log.append(texts.iter().map(|text| (7, text.as_bytes()))).unwrap();
                    assert_eq!(first as usize, written.len() + 1, "seed {seed}");
                    let named = texts.iter().zip(first..);
                    written.extend(named.map(|(text, number)| format!("{number} 7 {text}")));
                }
                6..=7 => {
                    log.sync().unwrap();
                    synced = written.len();
                }
                8 => {
                    log.rotate().unwrap();
                    synced = written.len();
                }
                9 => {
                    // A sync that fails leaves the entries since the last one in doubt.
                    disk.fail_at(0, false);
                    if log.sync().is_err() {
                        written.truncate(synced);
                    }
                    disk.repair();
                    log.repair(written.len() as u64 + 1).unwrap();
                    synced = written.len();
                }
                _ => {
                    drop(log);
                    disk.inner().lose_power(&mut below);
                    let (entries, _) = read(folder.path(), 1)
                        .unwrap_or_else(|error| panic!("seed {seed}, step {step}: {error}"));
                    assert!(entries.len() >= synced, "seed {seed}, step {step}: lost");
                    assert_eq!(entries, written[..entries.len()], "seed {seed}, step {step}");
                    written.truncate(entries.len());
                    log = open_on(Arc::<FailingDisk<VolatileDisk>>::clone(&disk), folder.path());
                    synced = written.len();
                }
            }
        }
    }
}
