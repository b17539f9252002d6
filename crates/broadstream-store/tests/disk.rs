//! Whatever operation of the disk fails, a file is the old one or the new one, and nothing else is left.

use std::{fs, path::Path};

use broadstream::{
    Classifier, Nodes, OnlineBls, OnlineBlsConfig, Sample, Schema, model_file::ModelFile,
};
use broadstream_store::{LockedPath, StoreError, read_journal, read_model};

use super::failing_disk::FailingDisk;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// A model that has learned a number of samples.
fn model(samples: u8) -> OnlineBls {
    let config =
        OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..OnlineBlsConfig::single() };
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
        let disk = FailingDisk::new(at, false);
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
        let disk = FailingDisk::new(at, true);
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
        let disk = FailingDisk::new(at, true);
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

/// A journal that could not be emptied takes no entry that would be lost, although the disk works again.
#[test]
fn an_entry_after_a_failed_write_is_refused_or_kept() {
    let mut refused = 0;
    for at in 0.. {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsm");
        let disk = FailingDisk::new(usize::MAX, false);
        let locked = LockedPath::lock_on(disk.clone(), &path).unwrap();
        locked.write_model(&ModelFile::new(&model(2), &Schema::new("y"))).unwrap();
        let mut journal = locked.start_journal().unwrap();
        journal.append(1, &[3]).unwrap();
        disk.fail_at(at, false);
        let (model, schema) = (model(3), Schema::new("y"));
        let _ = locked.write_model_and_restart(&ModelFile::new(&model, &schema), &mut journal);
        let has_failed = disk.has_failed();
        disk.repair();
        let appended = u64::from(journal.append(1, &[4]).is_ok());
        refused += 1 - appended;
        drop(locked);
        let all = learned(&path) + read_journal(&path).unwrap().entries.len() as u64;
        assert_eq!(all, 3 + appended, "operation {at}");
        if !has_failed {
            assert_eq!(appended, 1);
            break;
        }
    }
    // From the entry that marks the new file on, whatever fails.
    assert!(refused > 0);
}

/// A program fails, the next one applies and appends entries, then the power fails: what the second found
/// and what it appended is still there, even if the system had written only what it was asked to.
#[cfg(unix)]
#[test]
fn what_a_program_found_in_a_journal_survives_a_power_failure() {
    use std::sync::Arc;

    use super::volatile_disk::VolatileDisk;

    for (at, appends) in (0..40).flat_map(|at| [(at, 0), (at, 1)]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.bsm");
        let disk = Arc::new(FailingDisk::healthy(VolatileDisk::new(folder.path())));
        let locked = LockedPath::lock_on(disk.clone(), &path).unwrap();
        locked.write_model(&ModelFile::new(&model(2), &Schema::new("y"))).unwrap();
        let mut journal = locked.start_journal().unwrap();
        disk.fail_at(at, true);
        let (third, schema) = (model(3), Schema::new("y"));
        let _ = journal.append(1, &[3]).and_then(|()| {
            locked.write_model_and_restart(&ModelFile::new(&third, &schema), &mut journal)
        });
        disk.repair();
        drop((journal, locked));
        let locked = LockedPath::lock_on(disk.clone(), &path).unwrap();
        let (mut journal, content) = locked.open_journal().unwrap().unwrap();
        let found = learned(&path) + content.entries.len() as u64;
        (0..appends).for_each(|_| journal.append(1, &[4]).unwrap());
        drop((journal, locked));
        // The old content of files that were not synced, and none of the names.
        disk.inner().lose_power(|end| usize::from(end == 4));
        let left = read_journal(&path).unwrap().entries.len() as u64;
        assert_eq!(learned(&path) + left, found + appends, "operation {at}");
    }
}
