//! Journals are applied to the file that they continue, from where it left off, or not at all.

use std::{
    fs,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

use broadstream::{
    Classifier, Nodes, OnlineBls, OnlineBlsConfig, Sample, Schema, model_file::ModelFile,
};
use broadstream_store::{Journal, LockedPath, StoreError, read_journal};
use tempfile::TempDir;

const SAMPLES: [&[u8]; 3] = [b"one", b"", b"three"];

struct Place {
    folder: TempDir,
    locked: LockedPath,
}

impl Place {
    /// A folder with a model that has learned nothing.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let locked = LockedPath::lock(&folder.path().join("a.bsm")).unwrap();
        let place = Place { folder, locked };
        place.write(0);
        place
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, samples: usize) {
        let (model, schema) = (model(samples), Schema::new("y"));
        self.locked.write_model(&ModelFile::new(&model, &schema)).unwrap();
    }

    fn write_and_restart(&self, samples: usize, journal: &mut Journal) {
        let (model, schema) = (model(samples), Schema::new("y"));
        self.locked.write_model_and_restart(&ModelFile::new(&model, &schema), journal).unwrap();
    }

    /// A journal with three entries.
    fn journal(&self) -> Journal {
        let mut journal = self.locked.start_journal().unwrap();
        SAMPLES.iter().for_each(|bytes| journal.append(1, bytes).unwrap());
        journal
    }

    fn left(&self) -> Vec<Vec<u8>> {
        let content = read_journal(&self.path("a.bsm")).unwrap();
        content.entries.into_iter().map(|(_, bytes)| bytes).collect()
    }
}

fn model(samples: usize) -> OnlineBls {
    let config =
        OnlineBlsConfig { enhancement_nodes: Nodes::Fixed(9), ..OnlineBlsConfig::single() };
    let mut model = OnlineBls::new(config).unwrap();
    for i in 0..samples {
        model.learn_one(Sample::dense(&[]), i % 2, 1.0).unwrap();
    }
    model
}

#[test]
fn a_journal_is_read_back_and_continued() {
    let place = Place::new();
    assert!(place.locked.open_journal().unwrap().is_none());
    assert_eq!(place.left(), [b""; 0]);
    drop(place.journal());
    assert_eq!(place.left(), SAMPLES);
    let (mut journal, content) = place.locked.open_journal().unwrap().unwrap();
    assert_eq!((content.entries.len(), content.torn), (3, 0));
    journal.append(7, b"four").unwrap();
    let length = fs::metadata(place.path("a.bsm.journal")).unwrap().len();
    assert_eq!(journal.length(), length);
    let content = read_journal(&place.path("a.bsm")).unwrap();
    assert_eq!(content.entries[3], (7, b"four".to_vec()));
    place.write_and_restart(4, &mut journal);
    assert_eq!(place.left(), [b""; 0]);
    journal.append(1, b"five").unwrap();
    assert_eq!(place.left(), [b"five"]);
    place.locked.remove_journal(journal).unwrap();
    assert!(!place.path("a.bsm.journal").exists());
}

/// What a program leaves that is killed after the new file is in place and before the journal is replaced.
#[test]
fn what_is_in_the_file_is_not_applied_again() {
    let place = Place::new();
    let mut journal = place.journal();
    let path = place.path("a.bsm.journal");
    let before = fs::read(&path).unwrap();
    place.write_and_restart(3, &mut journal);
    let header = fs::read(place.path("a.bsm")).unwrap()[..64].to_vec();
    // The journal as it was, with the entry that the replaced one had at its end.
    fs::write(&path, &before).unwrap();
    assert!(matches!(read_journal(&place.path("a.bsm")), Err(StoreError::OtherJournal { .. })));
    place.write(0);
    let (journal, content) = place.locked.open_journal().unwrap().unwrap();
    assert_eq!(content.entries.len(), 3);
    append_written(&journal, &header);
    assert_eq!(place.left(), SAMPLES, "the file is still the old one");
    place.write(3);
    assert_eq!(place.left(), [b""; 0]);
    let (mut journal, content) = place.locked.open_journal().unwrap().unwrap();
    assert!(content.entries.is_empty());
    journal.append(1, b"later").unwrap();
    assert_eq!(place.left(), [b"later"]);
}

/// Appends the entry that says which file has the model, as the store does before it renames that file. Its
/// kind is not for callers, so the bytes are written by hand.
fn append_written(journal: &Journal, header: &[u8]) {
    let path = journal.path().to_owned();
    let mut bytes = fs::read(&path).unwrap();
    let last = last_hash(&bytes);
    let content = [&[0], header].concat();
    bytes.extend((content.len() as u32).to_le_bytes());
    bytes.extend(twox_hash::XxHash64::oneshot(last, &content).to_le_bytes());
    bytes.extend(content);
    fs::write(path, bytes).unwrap();
}

fn last_hash(bytes: &[u8]) -> u64 {
    let number = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
    let (mut offset, mut hash) = (88, number(&bytes[80..88]));
    while offset < bytes.len() {
        hash = number(&bytes[offset + 4..offset + 12]);
        offset += 12 + u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap()) as usize;
    }
    hash
}

#[test]
fn a_torn_entry_is_cut_off_wherever_it_is_torn() {
    let place = Place::new();
    drop(place.journal());
    let path = place.path("a.bsm.journal");
    let whole = fs::read(&path).unwrap();
    let last = whole.len() - 12 - 1 - SAMPLES[2].len();
    for length in last..whole.len() {
        // Cut, or filled with zeros as some file systems do.
        for rest in [0, whole.len() - length] {
            fs::write(&path, [&whole[..length], &vec![0; rest]].concat()).unwrap();
            let (mut journal, content) = place.locked.open_journal().unwrap().unwrap();
            assert_eq!(content.entries.len(), 2, "{length} bytes");
            assert_eq!(content.torn as usize, length + rest - last);
            journal.append(1, b"again").unwrap();
            assert_eq!(place.left()[2], b"again");
        }
    }
}

#[test]
fn damage_before_the_last_entry_is_refused() {
    let place = Place::new();
    drop(place.journal());
    let path = place.path("a.bsm.journal");
    let whole = fs::read(&path).unwrap();
    let last = whole.len() - 12 - 1 - SAMPLES[2].len();
    for i in 0..last {
        let mut bytes = whole.clone();
        bytes[i] ^= 1;
        fs::write(&path, &bytes).unwrap();
        let error = read_journal(&place.path("a.bsm"));
        // A length that is wrong may reach beyond the end, as that of a torn entry does.
        let is_length =
            (88..last).any(|start| starts(&whole, start) && (start..start + 4).contains(&i));
        match error {
            Err(StoreError::DamagedJournal { .. }) => {}
            Ok(content) => assert!(is_length && content.torn > 0, "byte {i}"),
            Err(error) => panic!("byte {i}: {error}"),
        }
    }
    fs::write(&path, &whole[..50]).unwrap();
    let error = read_journal(&place.path("a.bsm")).unwrap_err();
    assert!(error.to_string().ends_with("a.bsm.journal: the journal is damaged at byte 0"));
}

/// Whether an entry starts at a byte.
fn starts(bytes: &[u8], start: usize) -> bool {
    let mut offset = 88;
    while offset < start {
        offset += 12 + u32::from_le_bytes(bytes[offset..offset + 4].try_into().unwrap()) as usize;
    }
    offset == start
}

#[test]
fn a_journal_of_another_file_is_refused() {
    let place = Place::new();
    drop(place.journal());
    place.write(1);
    let error = place.locked.open_journal().unwrap_err();
    assert!(matches!(error, StoreError::OtherJournal { .. }), "{error}");
    assert!(error.to_string().contains("a.bsm.journal: the journal continues another model"));
    assert!(place.path("a.bsm.journal").exists(), "it is not removed");
}

#[cfg(unix)]
#[test]
fn a_journal_may_be_read_by_whoever_may_read_the_model() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    for expected in [0o600, 0o640] {
        fs::set_permissions(place.path("a.bsm"), fs::Permissions::from_mode(expected)).unwrap();
        drop(place.journal());
        assert_eq!(mode(&place.path("a.bsm.journal")), expected);
    }
    // By any name of the model.
    symlink("a.bsm", place.path("link.bsm")).unwrap();
    assert_eq!(read_journal(&place.path("link.bsm")).unwrap().entries.len(), 3);
}

/// Somebody looks while the model is learned and written again and again.
#[test]
fn a_journal_that_is_written_can_be_read() {
    let place = Place::new();
    let path = place.path("a.bsm");
    let is_done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let mut journal = place.locked.start_journal().unwrap();
            for samples in 1..200 {
                journal.append(1, b"one").unwrap();
                place.write_and_restart(samples, &mut journal);
            }
            is_done.store(true, Ordering::Relaxed);
        });
        while !is_done.load(Ordering::Relaxed) {
            assert!(read_journal(&path).unwrap().entries.len() <= 1);
        }
    });
}
