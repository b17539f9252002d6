//! The one who learns: applies records in the order of the log, answers, and publishes.

use std::{
    sync::{Arc, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use super::{
    Applied, Model, Pace, keep_answer, lock,
    queue::{Logged, Place},
};
use crate::learning::{
    ServeError,
    published::Published,
    state::{Outcome, State},
};

/// After this long other models have their turn.
const TURN: Duration = Duration::from_millis(20);

/// Publishing may take this share of the time, the inverse of it.
const PUBLISHING_SHARE: u32 = 10;

/// The state of a model, and what was done with it last.
pub(super) struct Core {
    pub(super) state: State,
    pub(super) published: Pace,
    /// The version and the time of the last snapshot, and how many bytes the log has since.
    pub(super) snapshot: u64,
    pub(super) snapshot_at: Instant,
    pub(super) bytes_since: u64,
}

impl Core {
    pub(super) fn new(state: State, snapshot: u64) -> Self {
        let now = Instant::now();
        Core {
            state,
            published: Pace { last: now, cost: Duration::ZERO },
            snapshot,
            snapshot_at: now,
            bytes_since: 0,
        }
    }
}

impl Model {
    /// Applies what the log has, for a while.
    pub(super) fn learn_logged(self: Arc<Self>) {
        let started = Instant::now();
        match self.core.lock() {
            Ok(mut core) => {
                while let Some(logged) = { lock(&self.logged).pop_front() } {
                    let is_last = lock(&self.logged).is_empty();
                    self.carry_out(&mut core, logged, is_last);
                    if started.elapsed() > TURN {
                        break;
                    }
                }
                self.publish_in_time(&mut core, lock(&self.logged).is_empty());
                self.snapshot_in_time(&mut core);
            }
            // A panic has left the state half changed. Nothing more may come of it.
            Err(_) => self.refuse_all(),
        }
        self.is_learning.store(false, Ordering::Release);
        if !lock(&self.logged).is_empty() {
            self.schedule_learning();
        }
    }

    fn carry_out(&self, core: &mut Core, logged: Logged, is_last: bool) {
        let (sequence, record, bytes, reply) = match logged {
            Logged::Visit(visit) => return visit(self, &core.state),
            Logged::Record { sequence, record, bytes, reply } => (sequence, record, bytes, reply),
        };
        let (at, key) = (record.at, record.key.clone());
        lock(&self.answers).expire(at);
        let place = Place::of(&record, bytes);
        let started = Instant::now();
        let outcome = core.state.apply(sequence, record);
        core.bytes_since += bytes;
        if let Ok(outcome) = &outcome {
            let mut statistics = lock(&self.statistics);
            statistics.applied(outcome, &core.state, at);
            if !matches!(outcome, Outcome::Predictions) {
                statistics.learned(started.elapsed());
            }
        }
        let labels = core.state.rows.schema().labels();
        if lock(&self.labels).as_ref() != labels {
            *lock(&self.labels) = labels.into();
        }
        let applied = outcome.map(|outcome| Applied::of(outcome, &core.state));
        if let Ok(applied) = &applied {
            keep_answer(&mut lock(&self.answers), at, key, applied);
        }
        self.latest.store(sequence, Ordering::Release);
        self.acknowledged.store(core.state.rows_learned, Ordering::Release);
        self.leave_queue(place);
        self.is_unpublished.store(true, Ordering::Relaxed);
        // Whoever asks after this answer sees the row, as long as that costs little.
        self.publish_in_time(core, is_last);
        if let Some(reply) = reply {
            let _ = reply.send(applied);
        }
    }

    /// Publishes the state if readers lack something, nothing else is to be done, and it is not too much of
    /// a burden.
    fn publish_in_time(&self, core: &mut Core, is_idle: bool) {
        let Pace { last, cost } = core.published;
        let is_due = last.elapsed() >= cost * (PUBLISHING_SHARE - 1);
        // While there is more to do readers wait a little longer.
        let is_late = last.elapsed() >= cost * (4 * PUBLISHING_SHARE);
        let lacks = self.published().version != core.state.version;
        if lacks && (is_due && is_idle || is_late) {
            let started = Instant::now();
            self.publish(&core.state);
            core.published = Pace { last: Instant::now(), cost: started.elapsed() };
        }
        if self.published().version == core.state.version {
            self.is_unpublished.store(false, Ordering::Relaxed);
        }
    }

    /// Shows the state to readers.
    pub(crate) fn publish(&self, state: &State) {
        let published = Arc::new(Published::of(state));
        let mut current = self.published.write().unwrap_or_else(PoisonError::into_inner);
        let old = std::mem::replace(&mut *current, published);
        drop(current);
        // Outside of the lock, since it may take a while to free a model.
        drop(old);
    }

    fn refuse_all(&self) {
        while let Some(logged) = { lock(&self.logged).pop_front() } {
            if let Logged::Record { record, bytes, reply, .. } = logged {
                self.leave_queue(Place::of(&record, bytes));
                if let Some(reply) = reply {
                    let _ = reply.send(Err(ServeError::Unusable {
                        name: self.name.to_string(),
                        reason:
                            "learning has panicked, which is a bug; restart the service, which \
                                 learns from the log what was acknowledged"
                                .to_owned(),
                    }));
                }
            }
        }
    }
}
