//! The log takes what waits, in groups.

use std::{sync::Arc, sync::atomic::Ordering, time::Instant};

use broadstream_store::{Log, StoreError};
use tracing::{error, info};

use super::{
    Applied, Model, lock,
    queue::{Logged, Place, Waiting},
};
use crate::learning::{Durability, ServeError, TICK, record::Change, state::Outcome};

/// The most requests and bytes that go to the log together.
const MOST_REQUESTS: usize = 1024;
const MOST_BYTES: usize = 4 << 20;

impl Model {
    /// Writes what waits to the log, and passes it on.
    pub(super) fn log_waiting(self: Arc<Self>) {
        let group = self.next_group();
        if !group.is_empty() {
            self.log_group(group);
        }
        self.sync_in_time();
        self.is_logging.store(false, Ordering::Release);
        if !lock(&self.incoming).waiting.is_empty() {
            self.schedule_logging();
        }
    }

    fn next_group(&self) -> Vec<Waiting> {
        let mut incoming = lock(&self.incoming);
        let mut group = Vec::new();
        let mut bytes = 0;
        while group.len() < MOST_REQUESTS && bytes < MOST_BYTES {
            let Some(waiting) = incoming.waiting.pop_front() else { break };
            if let Waiting::Record { bytes: record, .. } = &waiting {
                bytes += record.len();
            }
            group.push(waiting);
        }
        group
    }

    fn log_group(&self, group: Vec<Waiting>) {
        let written = {
            let mut log = lock(&self.log);
            let entries = group.iter().filter_map(|waiting| match waiting {
                Waiting::Record { record, bytes, .. } => Some((record.kind(), bytes.as_slice())),
                Waiting::Visit(_) => None,
            });
            self.write(&mut log, entries)
        };
        self.note_storage(written.as_ref().err());
        let mut sequence = match written {
            Ok(first) => first,
            Err(error) => return self.refuse(group, &error.into()),
        };
        {
            let mut logged = lock(&self.logged);
            for waiting in group {
                logged.push_back(match waiting {
                    Waiting::Visit(visit) => Logged::Visit(visit),
                    Waiting::Record { record, bytes, reply } => {
                        let bytes = bytes.len() as u64;
                        let reply = match record.change {
                            Change::Predictions(_) => {
                                let (outcome, rows_learned) = (Outcome::Predictions, 0);
                                let version = sequence;
                                let _ = reply.send(Ok(Applied { outcome, version, rows_learned }));
                                None
                            }
                            _ => Some(reply),
                        };
                        sequence += 1;
                        Logged::Record { sequence: sequence - 1, record, bytes, reply }
                    }
                });
            }
        }
        self.schedule_learning();
    }

    /// Appends entries to the log as durably as they must be. After an error none of them counts.
    fn write<'e>(
        &self,
        log: &mut Log,
        entries: impl Iterator<Item = (u8, &'e [u8])>,
    ) -> Result<u64, StoreError> {
        let before = log.next();
        if log.has_failed() {
            log.repair(before)?;
            info!(model = %self.name, "the log can be written again");
        }
        let first = log.append(entries)?;
        if self.options().durability == Durability::Always
            && let Err(error) = log.sync()
        {
            // What was appended must not be found when the log is read again.
            let _ = log.repair(before);
            return Err(error);
        }
        let mut unsynced = lock(&self.unsynced_since);
        match log.is_unsynced() {
            true => drop(unsynced.get_or_insert_with(Instant::now)),
            false => *unsynced = None,
        }
        drop(unsynced);
        Ok(first)
    }

    /// Brings the log to the disk if that is due. What was appended first must not wait longer than it may,
    /// whether more is appended or not.
    fn sync_in_time(&self) {
        let Durability::Every(most) = self.options().durability else { return };
        let mut log = lock(&self.log);
        let is_due = lock(&self.unsynced_since).is_some_and(|since| since.elapsed() + TICK >= most);
        if !is_due || log.has_failed() {
            return;
        }
        let started = Instant::now();
        let synced = log.sync();
        if synced.is_err() {
            // It was acknowledged, so it counts, but only a snapshot can bring it to the disk now.
            let next = log.next();
            let _ = log.repair(next);
            self.wants_snapshot.store(true, Ordering::Relaxed);
        }
        *lock(&self.unsynced_since) = None;
        drop(log);
        self.note_storage(synced.as_ref().err());
        self.statistics().synced(started.elapsed());
    }

    /// Answers requests that could not be written.
    fn refuse(&self, group: Vec<Waiting>, error: &ServeError) {
        for waiting in group {
            match waiting {
                Waiting::Record { record, bytes, reply } => {
                    self.leave_queue(Place::of(&record, bytes.len() as u64));
                    let _ = reply.send(Err(error.clone()));
                }
                // Needs no disk.
                Waiting::Visit(visit) => lock(&self.logged).push_back(Logged::Visit(visit)),
            }
        }
        self.schedule_learning();
    }

    /// Says so when storage begins to fail, and when it does no more.
    pub(super) fn note_storage(&self, failure: Option<&StoreError>) {
        let was_failing = self.is_storage_failing.swap(failure.is_some(), Ordering::Relaxed);
        match failure {
            Some(failure) if !was_failing => {
                error!(model = %self.name, error = %Chain(failure), "nothing can be written");
            }
            None if was_failing => info!(model = %self.name, "writing succeeds again"),
            _ => {}
        }
    }
}

/// An error with everything that led to it.
pub(crate) struct Chain<'e>(pub(crate) &'e dyn std::error::Error);

impl std::fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0)?;
        let mut source = self.0.source();
        while let Some(error) = source {
            write!(f, ": {error}")?;
            source = error.source();
        }
        Ok(())
    }
}
