//! Whatever operation of the disk fails, a file is the old one or the new one, and nothing else is left.

use std::{
    fs::{self, File},
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use broadstream::{Classifier, OnlineBls, OnlineBlsConfig, Sample, Schema, model_file::ModelFile};
use broadstream_store::{Disk, LockedPath, StoreError, SystemDisk, read_journal, read_model};

/// A disk on which one operation fails, or that one and all after it, as if the machine had stopped.
#[derive(Debug)]
struct Failing {
    at: usize,
    forever: bool,
    done: AtomicUsize,
}

impl Failing {
    fn new(at: usize, forever: bool) -> Arc<Self> {
        Arc::new(Failing { at, forever, done: AtomicUsize::new(0) })
    }

    /// Whether the operation has come that fails first.
    fn has_failed(&self) -> bool {
        self.done.load(Ordering::Relaxed) > self.at
    }

    fn step(&self) -> io::Result<()> {
        let number = self.done.fetch_add(1, Ordering::Relaxed);
        let fails = number == self.at || self.forever && number > self.at;
        if fails { Err(io::Error::other("the disk fails")) } else { Ok(()) }
    }
}

impl Disk for Failing {
    fn create(&self, path: &Path, is_private: bool) -> io::Result<File> {
        self.step()?;
        SystemDisk.create(path, is_private)
    }

    fn write(&self, file: &File, bytes: &[u8]) -> io::Result<usize> {
        // A disk that is full takes a part of what it is given.
        let failure = self.step();
        if failure.is_err() {
            SystemDisk.write(file, &bytes[..bytes.len() / 2])?;
        }
        failure?;
        // Small pieces, so that there are several writes to fail at.
        SystemDisk.write(file, &bytes[..bytes.len().min(4000)])
    }

    fn truncate(&self, file: &File, length: u64) -> io::Result<()> {
        self.step()?;
        SystemDisk.truncate(file, length)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        self.step()?;
        SystemDisk.sync(file)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step()?;
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step()?;
        SystemDisk.remove(path)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        self.step()?;
        SystemDisk.sync_folder(folder)
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A model that has learned a number of samples.
fn model(samples: u8) -> OnlineBls {
    let config = OnlineBlsConfig { enhancement_nodes: 9, ..OnlineBlsConfig::single() };
    let mut model = OnlineBls::new(config).unwrap();
    for i in 0..samples {
        model.learn_one(Sample::dense(&[]), usize::from(i) % 2, 1.0).unwrap();
    }
    model
}

fn learned(path: &Path) -> u64 {
    read_model(path).unwrap().model.learned()
}

#[test]
fn a_failing_disk_leaves_the_old_file_or_the_new_one() {
    let mut failures = 0;
    for at in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let (old, new) = (vec![1; 10_000], vec![2; 20_000]);
        LockedPath::lock(&path).unwrap().write_bytes(&old).unwrap();
        let disk = Failing::new(at, false);
        let locked = LockedPath::lock_on(disk.clone(), &path).unwrap();
        let outcome = locked.write_bytes(&new);
        drop(locked);
        let found = fs::read(&path).unwrap();
        assert!(found == old || found == new, "operation {at}");
        assert_eq!(names(folder.path()), ["a.bin"], "operation {at}");
        if !disk.has_failed() {
            outcome.unwrap();
            assert!(found == new);
            break;
        }
        assert!(matches!(outcome, Err(StoreError::Write { .. } | StoreError::Folder { .. })));
        failures += 1;
    }
    // To create, five writes, to sync, to rename, to sync the folder.
    assert_eq!(failures, 9);
}

#[test]
fn a_machine_that_stops_leaves_the_old_file_or_the_new_one() {
    for at in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bin");
        let (old, new) = (vec![1; 10_000], vec![2; 20_000]);
        LockedPath::lock(&path).unwrap().write_bytes(&old).unwrap();
        let disk = Failing::new(at, true);
        let outcome = LockedPath::lock_on(disk.clone(), &path).unwrap().write_bytes(&new);
        // Whoever comes next cleans up.
        drop(LockedPath::lock(&path).unwrap());
        let found = fs::read(&path).unwrap();
        assert!(found == old || found == new, "operation {at}");
        assert_eq!(names(folder.path()), ["a.bin"], "operation {at}");
        if !disk.has_failed() {
            outcome.unwrap();
            break;
        }
    }
}

/// A model of 2 samples gets 3 more by entries of a journal, one sample each, and is written with them. The
/// file and the journal together always have all samples whose entries were appended.
#[test]
fn a_machine_that_stops_loses_no_entry_of_a_journal() {
    for at in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsm");
        let write = |locked: &LockedPath, samples| {
            locked.write_model(&ModelFile::new(&model(samples), &Schema::new("y")))
        };
        write(&LockedPath::lock(&path).unwrap(), 2).unwrap();
        let disk = Failing::new(at, true);
        let mut appended = 0;
        let learn = |appended: &mut u64| -> Result<(), StoreError> {
            let locked = LockedPath::lock_on(disk.clone(), &path)?;
            let mut journal = locked.start_journal()?;
            for sample in 3..=5 {
                journal.append(1, &[sample])?;
                *appended += 1;
            }
            let (model, schema) = (model(5), Schema::new("y"));
            locked.write_model_and_restart(&ModelFile::new(&model, &schema), &mut journal)?;
            journal.append(1, &[6])?;
            *appended += 1;
            Ok(())
        };
        let outcome = learn(&mut appended);
        let locked = LockedPath::lock(&path).unwrap();
        let left = read_journal(&path).unwrap().entries;
        let opened = locked.open_journal().unwrap().map(|(_, content)| content.entries);
        assert_eq!(opened.unwrap_or_default(), left);
        let first = learned(&path) as u8 + 1;
        let samples: Vec<u8> = left.iter().map(|(_, bytes)| bytes[0]).collect();
        assert_eq!(samples, (first..first + samples.len() as u8).collect::<Vec<u8>>());
        let all = learned(&path) + samples.len() as u64;
        // An entry whose append failed may be there as a whole: only its sync did not happen.
        assert!(all == 2 + appended || all == 3 + appended, "operation {at}: {all} of {appended}");
        drop(locked);
        let names = names(folder.path());
        assert!(names == ["a.bsm"] || names == ["a.bsm", "a.bsm.journal"], "{names:?}");
        if !disk.has_failed() {
            outcome.unwrap();
            assert_eq!(all, 6);
            break;
        }
        assert!(outcome.is_err(), "operation {at}");
    }
}
