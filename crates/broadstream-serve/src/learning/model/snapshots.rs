//! Snapshots, which bound what has to be replayed, and to which one can go back.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use broadstream::model_file::ModelFile;
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::{Model, learning::Core, lock};
use crate::learning::{ServeError, state::State};

/// A state that is being written.
struct Snapshot {
    version: u64,
    /// A model file of it, and everything else.
    file: Vec<u8>,
    state: Vec<u8>,
}

impl Model {
    /// Has a snapshot written in the background, if one is due.
    pub(super) fn snapshot_in_time(&self, core: &mut Core) {
        let options = self.options();
        let has_changed = core.state.version > core.snapshot;
        let is_due = self.wants_snapshot.load(Ordering::Relaxed)
            || core.bytes_since >= options.snapshot_bytes
            || core.snapshot_at.elapsed() >= options.snapshot_every;
        if !has_changed || !is_due || self.is_writing_snapshot.swap(true, Ordering::AcqRel) {
            return;
        }
        (core.snapshot, core.bytes_since) = (core.state.version, 0);
        core.snapshot_at = Instant::now();
        self.wants_snapshot.store(false, Ordering::Relaxed);
        let snapshot = self.take_snapshot(&core.state);
        let Some(model) = self.own.upgrade() else { return };
        self.shared.writers.push(move || {
            let written = snapshot.and_then(|snapshot| model.write_snapshot(&snapshot));
            if let Err(error) = written {
                warn!(model = %model.name, %error, "a snapshot could not be written");
                model.wants_snapshot.store(true, Ordering::Relaxed);
            }
            model.is_writing_snapshot.store(false, Ordering::Release);
        });
    }

    /// Writes a snapshot of everything that was asked for until now. The answer is its version.
    pub(crate) fn snapshot_now(&self) -> oneshot::Receiver<Result<u64, ServeError>> {
        self.visit(|model, state| {
            let snapshot = model.take_snapshot(state)?;
            model.write_snapshot(&snapshot)?;
            Ok(snapshot.version)
        })
    }

    fn take_snapshot(&self, state: &State) -> Result<Snapshot, ServeError> {
        let mut file = Vec::new();
        state.with_file(|model: &ModelFile<'_>| model.write(&mut file))?;
        let state_bytes = state.write(&lock(&self.answers));
        Ok(Snapshot { version: state.version, file, state: state_bytes })
    }

    fn write_snapshot(&self, snapshot: &Snapshot) -> Result<(), ServeError> {
        let Snapshot { version, file, state } = snapshot;
        let started = Instant::now();
        let is_deleted = lock(&self.is_deleted);
        if *is_deleted {
            return Err(ServeError::NoModel { name: self.name.to_string() });
        }
        self.folder.write_snapshot_bytes(*version, file, state)?;
        let kept = self.options().snapshots_kept.max(1);
        let snapshots = self.folder.snapshots()?;
        for old in snapshots.iter().skip(kept) {
            self.folder.remove_snapshot(old.version)?;
        }
        // The log goes back to the oldest snapshot, so that one that cannot be read can be done without.
        let oldest = snapshots.iter().take(kept).map(|snapshot| snapshot.version).min();
        let mut log = lock(&self.log);
        if !log.has_failed() {
            log.rotate()?;
            log.remove_before(oldest.unwrap_or(*version) + 1)?;
        }
        drop(log);
        let milliseconds = started.elapsed().as_millis() as u64;
        info!(model = %self.name, version, bytes = file.len(), milliseconds, "a snapshot was written");
        Ok(())
    }

    /// The model file of everything that was asked for until now.
    pub(crate) fn latest_file(&self) -> oneshot::Receiver<Result<Vec<u8>, ServeError>> {
        self.visit(|_, state| {
            let mut file = Vec::new();
            state.with_file(|model| model.write(&mut file))?;
            Ok(file)
        })
    }

    /// Carries out everything that was asked for, writes a snapshot, and ends.
    pub(crate) fn finish(self: &Arc<Self>) -> oneshot::Receiver<Result<u64, ServeError>> {
        self.close();
        self.visit(|model, state| {
            let newest = model.folder.snapshots()?.first().map(|snapshot| snapshot.version);
            if newest != Some(state.version) {
                model.write_snapshot(&model.take_snapshot(state)?)?;
            }
            Ok(state.version)
        })
    }
}
