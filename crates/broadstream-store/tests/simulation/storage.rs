//! The file that a model is kept in, its journal, and the programs that hold them one after the other.

use std::{fs, io, path::PathBuf, sync::Arc};

use broadstream::{
    OnlineBls,
    model_file::{ModelFile, Saved},
};
use broadstream_store::{Journal, LockedPath, StoreError, read_journal, read_model};
use tempfile::TempDir;

use super::{dice::Dice, state::schema};
use crate::{failing_disk::FailingDisk, volatile_disk::VolatileDisk};

/// The kind of the entries of a journal. Their content is the number of a change.
const CHANGE: u8 = 1;

/// A folder with the file of a model, on a disk that fails.
pub(super) struct Storage {
    folder: TempDir,
    pub(super) disk: Arc<FailingDisk<VolatileDisk>>,
    /// What the program holds that runs now.
    program: Option<Program>,
    pub(super) has_journal: bool,
}

struct Program {
    locked: LockedPath,
    journal: Option<Journal>,
}

/// What a program finds when it starts.
pub(super) struct Found {
    pub(super) saved: Saved,
    /// The numbers of the changes that the file lacks.
    pub(super) changes: Vec<usize>,
}

impl Storage {
    /// An empty folder.
    pub(super) fn new(has_journal: bool) -> Self {
        let folder = tempfile::tempdir().expect("there is a folder for temporary files");
        let disk = Arc::new(FailingDisk::healthy(VolatileDisk::new(folder.path())));
        Storage { folder, disk, program: None, has_journal }
    }

    /// Starts a program: it locks the file, and reads it if there is one.
    pub(super) fn start(&mut self) -> Result<Option<Found>, StoreError> {
        let locked = LockedPath::lock_on(self.disk.clone(), &self.path())?;
        let saved = match read_model(&self.path()) {
            Err(StoreError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.program = Some(Program { locked, journal: None });
                return Ok(None);
            }
            saved => saved?,
        };
        let (mut journal, mut changes) = (None, Vec::new());
        if self.has_journal {
            let left = read_journal(&self.path())?;
            let (opened, content) = match locked.open_journal()? {
                Some(opened) => opened,
                None => (locked.start_journal()?, Default::default()),
            };
            assert_eq!(left.entries, content.entries, "reading and opening find the same entries");
            let number = |bytes: &[u8]| u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
            changes = content.entries.iter().map(|(_, bytes)| number(bytes)).collect();
            journal = Some(opened);
        }
        self.program = Some(Program { locked, journal });
        Ok(Some(Found { saved, changes }))
    }

    /// Ends the program, as a signal would that it does not notice. If the power fails too, what was not
    /// synced may be lost.
    pub(super) fn kill(&mut self, power_fails: Option<&mut Dice>) {
        self.program = None;
        self.disk.repair();
        if let Some(dice) = power_fails {
            self.disk.inner().lose_power(|end| dice.below(end));
        }
        // A killed program does not remove the file that it locked.
        fs::write(self.folder.path().join(".model.bsm.lock"), b"").expect("it can be written");
    }

    /// Replaces the file. A journal is emptied.
    pub(super) fn save(
        &mut self,
        model: &OnlineBls,
        labels: &[usize],
        feature_weights: bool,
    ) -> Result<(), StoreError> {
        let Program { locked, journal } = self.program.as_mut().expect("a program runs");
        let schema = schema(model, labels);
        let file = ModelFile { feature_weights, ..ModelFile::new(model, &schema) };
        match journal {
            Some(journal) => locked.write_model_and_restart(&file, journal),
            None => {
                locked.write_model(&file)?;
                if self.has_journal {
                    *journal = Some(locked.start_journal()?);
                }
                Ok(())
            }
        }
    }

    /// Appends a change to the journal.
    pub(super) fn append(&mut self, change: usize, padding: usize) -> Result<(), StoreError> {
        let program = self.program.as_mut().expect("a program runs");
        let journal = program.journal.as_mut().expect("it has a journal");
        let mut bytes = (change as u64).to_le_bytes().to_vec();
        bytes.resize(8 + padding, 0x55);
        journal.append(CHANGE, &bytes)
    }

    /// The model in the file.
    pub(super) fn read(&self) -> Option<Saved> {
        self.path().exists().then(|| read_model(&self.path()).expect("the file is whole"))
    }

    /// Checks that there is nothing in the folder but the model, its journal and the lock.
    pub(super) fn check_folder(&self) {
        for entry in fs::read_dir(self.folder.path()).expect("the folder exists") {
            let name = entry.expect("the folder can be read").file_name().into_string().unwrap();
            let known = ["model.bsm", "model.bsm.journal", ".model.bsm.lock"];
            assert!(known.contains(&name.as_str()), "{name} was left behind");
        }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("model.bsm")
    }
}
