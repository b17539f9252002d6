//! The folder of a model: what it was told when it was made, its log, and its snapshots.
//!
//! | file | content |
//! |---|---|
//! | `model.json` | the rules that the model keeps |
//! | `log/*.log` | what was asked of it; see [`Log`](broadstream_store::Log) |
//! | `snapshots/VERSION.bsm` | the model after the record with that sequence number, as a model file |
//! | `snapshots/VERSION.state` | what else there was: predictions that wait, answers to keys |
//!
//! A snapshot counts when its model file is there, which is written last. No file is changed but the last of
//! the log, which only grows. So a copy of the folder that was made while the service runs is a folder that
//! the service can open.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use broadstream::{
    model_file::{ModelFile, Saved},
    stream::UnknownColumns,
};
use broadstream_store::{Disk, LockedPath, StoreError, read_model};
use serde::{Deserialize, Serialize};
use twox_hash::XxHash64;

use super::{ServeError, answers::AnswerLimits, pending::PendingLimits, state::StateRules};

const MAGIC: [u8; 8] = *b"\x89BSS\r\n\x1a\n";

/// The version of the format of states, and of `model.json`.
const FORMAT: u32 = 1;

/// The rules of a model, as they are written. Its fields are the keys of `model.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ModelRules {
    pub(crate) format: u32,
    /// Part of every prediction id, so that those of a model that was deleted are not taken for others.
    pub(crate) incarnation: u32,
    /// In milliseconds since 1970.
    pub(crate) created: u64,
    pub(crate) unknown_columns: UnknownName,
    pub(crate) max_categories: usize,
    pub(crate) pending_count: usize,
    pub(crate) pending_bytes: usize,
    pub(crate) pending_seconds: u64,
    pub(crate) answer_count: usize,
    pub(crate) answer_bytes: usize,
    pub(crate) answer_seconds: u64,
}

/// What is done about columns that a model does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum UnknownName {
    /// They are learned as new inputs.
    Learn,
    /// They are passed over.
    Ignore,
    /// A row that has one is refused.
    Refuse,
}

impl ModelRules {
    /// Rules with the service's usual limits. `max_categories` is what the model was trained with.
    pub(crate) fn new(
        incarnation: u32,
        created: u64,
        unknown_columns: UnknownName,
        max_categories: usize,
    ) -> Self {
        ModelRules {
            format: FORMAT,
            incarnation,
            created,
            unknown_columns,
            max_categories,
            pending_count: 100_000,
            pending_bytes: 64 << 20,
            pending_seconds: 7 * 24 * 3600,
            answer_count: 10_000,
            answer_bytes: 32 << 20,
            answer_seconds: 24 * 3600,
        }
    }

    pub(crate) fn state_rules(&self) -> StateRules {
        StateRules {
            unknown: match self.unknown_columns {
                UnknownName::Learn => UnknownColumns::Learn,
                UnknownName::Ignore => UnknownColumns::Ignore,
                UnknownName::Refuse => UnknownColumns::Refuse,
            },
            max_categories: self.max_categories,
            pending: PendingLimits {
                count: self.pending_count,
                bytes: self.pending_bytes,
                milliseconds: self.pending_seconds.saturating_mul(1000),
            },
            answers: AnswerLimits {
                count: self.answer_count,
                bytes: self.answer_bytes,
                milliseconds: self.answer_seconds.saturating_mul(1000),
            },
        }
    }
}

/// A snapshot as it is listed.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotFile {
    pub(crate) version: u64,
    pub(crate) bytes: u64,
    pub(crate) written: Option<SystemTime>,
}

/// The files of a model.
#[derive(Clone, Debug)]
pub(crate) struct ModelFolder {
    path: PathBuf,
    disk: Arc<dyn Disk>,
}

impl ModelFolder {
    /// The folder of a model that exists.
    pub(crate) fn open(
        disk: Arc<dyn Disk>,
        path: PathBuf,
    ) -> Result<(Self, ModelRules), ServeError> {
        let rules = path.join("model.json");
        let failed = |source| StoreError::Read { path: rules.clone(), source };
        let text = fs::read(&rules).map_err(failed)?;
        let malformed = |reason: String| failed(io::Error::new(io::ErrorKind::InvalidData, reason));
        let read: ModelRules =
            serde_json::from_slice(&text).map_err(|error| malformed(error.to_string()))?;
        if read.format != FORMAT {
            let reason = format!("its format must be {FORMAT}, got {}", read.format);
            return Err(malformed(reason).into());
        }
        Ok((ModelFolder { path, disk }, read))
    }

    /// A folder for a model that does not exist yet, with its first snapshot. It appears as a whole.
    pub(crate) fn create(
        disk: Arc<dyn Disk>,
        path: &Path,
        rules: &ModelRules,
        file: &ModelFile<'_>,
        state: &[u8],
    ) -> Result<Self, ServeError> {
        let being_made = hidden(path, "new");
        let made = Self::make(Arc::clone(&disk), &being_made, rules, file, state).and_then(|()| {
            let failed = |source| StoreError::Write { path: path.to_owned(), source };
            disk.rename(&being_made, path).map_err(failed)?;
            let folder = path.parent().unwrap_or(path);
            Ok(disk.sync_folder(folder).map_err(failed)?)
        });
        if let Err(error) = made {
            let _ = fs::remove_dir_all(&being_made);
            return Err(error);
        }
        Ok(ModelFolder { path: path.to_owned(), disk })
    }

    fn make(
        disk: Arc<dyn Disk>,
        path: &Path,
        rules: &ModelRules,
        file: &ModelFile<'_>,
        state: &[u8],
    ) -> Result<(), ServeError> {
        let failed = |source| StoreError::Write { path: path.to_owned(), source };
        fs::create_dir_all(path.join("log")).map_err(failed)?;
        fs::create_dir_all(path.join("snapshots")).map_err(failed)?;
        let folder = ModelFolder { path: path.to_owned(), disk };
        let text = serde_json::to_vec_pretty(rules).map_err(|error| failed(error.into()))?;
        folder.lock(&path.join("model.json"))?.write_bytes(&text)?;
        folder.write_snapshot(0, file, state)
    }

    /// Removes the model. Whatever interrupts that, it is gone.
    pub(crate) fn delete(&self) -> Result<(), ServeError> {
        let failed = |source| StoreError::Write { path: self.path.clone(), source };
        let deleted = hidden(&self.path, "deleted");
        self.disk.rename(&self.path, &deleted).map_err(failed)?;
        let _ = self.disk.sync_folder(deleted.parent().unwrap_or(&deleted));
        Ok(fs::remove_dir_all(&deleted).map_err(failed)?)
    }

    pub(crate) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(crate) fn disk(&self) -> Arc<dyn Disk> {
        Arc::clone(&self.disk)
    }

    /// The snapshots, the newest first.
    pub(crate) fn snapshots(&self) -> Result<Vec<SnapshotFile>, ServeError> {
        let folder = self.path.join("snapshots");
        let failed = |source| StoreError::Read { path: folder.clone(), source };
        let mut snapshots = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let path = entry.path();
            let version = path.file_stem().and_then(|stem| stem.to_str()?.parse().ok());
            let is_model = path.extension().is_some_and(|extension| extension == "bsm");
            if let (Some(version), true, Ok(metadata)) = (version, is_model, entry.metadata()) {
                let (bytes, written) = (metadata.len(), metadata.modified().ok());
                snapshots.push(SnapshotFile { version, bytes, written });
            }
        }
        snapshots.sort_by_key(|snapshot| std::cmp::Reverse(snapshot.version));
        Ok(snapshots)
    }

    fn write_snapshot(
        &self,
        version: u64,
        file: &ModelFile<'_>,
        state: &[u8],
    ) -> Result<(), ServeError> {
        let mut bytes = Vec::new();
        file.write(&mut bytes)?;
        self.write_snapshot_bytes(version, &bytes, state)
    }

    /// Writes the bytes of a model file, and the state beside it.
    pub(crate) fn write_snapshot_bytes(
        &self,
        version: u64,
        file: &[u8],
        state: &[u8],
    ) -> Result<(), ServeError> {
        let mut bytes = Vec::with_capacity(state.len() + 24);
        bytes.extend(MAGIC);
        bytes.extend(FORMAT.to_le_bytes());
        bytes.extend([0; 4]);
        bytes.extend(state);
        bytes.extend(XxHash64::oneshot(0, &bytes).to_le_bytes());
        self.lock(&self.snapshot(version, "state"))?.write_bytes(&bytes)?;
        Ok(self.lock(&self.snapshot(version, "bsm"))?.write_bytes(file)?)
    }

    /// A model file, and the state beside it.
    pub(crate) fn read_snapshot(&self, version: u64) -> Result<(Saved, Vec<u8>), ServeError> {
        let saved = read_model(&self.snapshot(version, "bsm"))?;
        let path = self.snapshot(version, "state");
        let failed = |source| StoreError::Read { path: path.clone(), source };
        let damaged = || failed(io::Error::new(io::ErrorKind::InvalidData, "it is damaged"));
        let bytes = fs::read(&path).map_err(failed)?;
        let (content, hash) = bytes.split_last_chunk().ok_or_else(damaged)?;
        if XxHash64::oneshot(0, content) != u64::from_le_bytes(*hash) {
            return Err(damaged().into());
        }
        let (header, state) = content.split_at_checked(16).ok_or_else(damaged)?;
        if header[..8] != MAGIC || header[8..12] != FORMAT.to_le_bytes() {
            return Err(damaged().into());
        }
        Ok((saved, state.to_vec()))
    }

    /// The bytes of the model file of a snapshot.
    pub(crate) fn snapshot_bytes(&self, version: u64) -> Result<Option<Vec<u8>>, ServeError> {
        let path = self.snapshot(version, "bsm");
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(StoreError::Read { path, source }.into()),
        }
    }

    /// Removes a snapshot.
    pub(crate) fn remove_snapshot(&self, version: u64) -> Result<(), ServeError> {
        // The model file is what makes it one, so that goes first.
        for extension in ["bsm", "state"] {
            let path = self.snapshot(version, extension);
            match self.disk.remove(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(StoreError::Write { path, source: error }.into());
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn snapshot(&self, version: u64, extension: &str) -> PathBuf {
        self.path.join("snapshots").join(format!("{version:020}.{extension}"))
    }

    fn lock(&self, path: &Path) -> Result<LockedPath, StoreError> {
        LockedPath::lock_on(Arc::clone(&self.disk), path)
    }
}

/// A name beside a folder that no model can have.
fn hidden(path: &Path, what: &str) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{what}.{name}.{}", std::process::id()))
}
