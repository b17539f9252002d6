//! Requests that wait, within bounds.

use std::{collections::VecDeque, sync::atomic::Ordering};

use tokio::sync::oneshot;

use super::{Applied, InFlight, Model, Reply, lock, now};
use crate::learning::{
    ServeError,
    record::{Change, Record, RequestKey},
    state::State,
};

/// What is asked of a model.
pub(crate) struct Request {
    pub(crate) change: Change,
    /// Text by which the client recognises the request if it has to send it again.
    pub(crate) key: Option<String>,
}

/// Requests that the log does not have yet.
#[derive(Default)]
pub(super) struct Incoming {
    pub(super) waiting: VecDeque<Waiting>,
    /// How many rows wait here or are to be learned, and how many bytes their records have.
    pub(super) rows: u64,
    pub(super) bytes: u64,
    pub(super) in_flight: InFlight,
    pub(super) is_closed: bool,
}

/// One of them.
pub(super) enum Waiting {
    Record {
        record: Record,
        bytes: Vec<u8>,
        reply: oneshot::Sender<Result<Applied, ServeError>>,
    },
    /// Something to do with the state after everything that was asked for before.
    Visit(Visit),
}

/// Something to do with a state.
pub(super) type Visit = Box<dyn FnOnce(&Model, &State) + Send>;

/// A request that the log has.
pub(super) enum Logged {
    Record {
        sequence: u64,
        record: Record,
        bytes: u64,
        /// `None` for predictions, which were answered.
        reply: Option<oneshot::Sender<Result<Applied, ServeError>>>,
    },
    Visit(Visit),
}

impl Model {
    /// Accepts a request. The answer comes when it was carried out; predictions are answered when the log
    /// has them.
    pub(crate) fn submit(&self, request: Request) -> Result<Reply, ServeError> {
        let Request { change, key } = request;
        let key = key.map(|key| RequestKey::new(key, &change));
        let record = Record { at: now(), key, change };
        let bytes = record.to_bytes();
        let (reply, receiver) = oneshot::channel();
        {
            let mut incoming = lock(&self.incoming);
            if incoming.is_closed {
                return Err(ServeError::ShuttingDown);
            }
            if let Some(key) = &record.key {
                if incoming.in_flight.contains_key(&key.key) {
                    return Err(ServeError::InProgress { key: key.key.clone() });
                }
                if let Some(content) = lock(&self.answers).find(key)?
                    && let Ok(applied) = serde_json::from_slice(content)
                {
                    let _ = reply.send(Ok(applied));
                    return Ok(receiver);
                }
            }
            let (rows, size) = (cost(&record), bytes.len() as u64);
            let options = self.options();
            // An empty queue takes any request, however large.
            let is_full = incoming.rows + rows > options.queue_rows
                || incoming.bytes + size > options.queue_bytes;
            if incoming.rows > 0 && is_full && rows > 0 {
                let (waiting, limit) = (incoming.rows, options.queue_rows);
                return Err(ServeError::Busy { waiting, limit });
            }
            (incoming.rows, incoming.bytes) = (incoming.rows + rows, incoming.bytes + size);
            if let Some(key) = &record.key {
                incoming.in_flight.insert(key.key.clone(), key.request);
            }
            incoming.waiting.push_back(Waiting::Record { record, bytes, reply });
        }
        self.schedule_logging();
        Ok(receiver)
    }

    /// Has something done with the state that comes after everything that was asked for until now.
    pub(crate) fn visit<T: Send + 'static>(
        &self,
        visit: impl FnOnce(&Model, &State) -> T + Send + 'static,
    ) -> oneshot::Receiver<T> {
        let (reply, receiver) = oneshot::channel();
        let visit: Visit = Box::new(move |model, state| {
            let _ = reply.send(visit(model, state));
        });
        lock(&self.incoming).waiting.push_back(Waiting::Visit(visit));
        self.schedule_logging();
        receiver
    }

    /// Publishes the model with everything that was asked for until now.
    pub(crate) fn publish_latest(&self) -> oneshot::Receiver<()> {
        self.visit(|model, state| {
            if model.published().version != state.version {
                model.publish(state);
            }
        })
    }

    /// Accepts no more requests. Those that wait are carried out.
    pub(crate) fn close(&self) {
        lock(&self.incoming).is_closed = true;
    }

    /// A record does not wait any more.
    pub(super) fn leave_queue(&self, place: Place) {
        let mut incoming = lock(&self.incoming);
        incoming.rows -= place.rows;
        incoming.bytes -= place.bytes;
        if let Some(key) = place.key {
            incoming.in_flight.remove(&key);
        }
    }

    pub(super) fn schedule_logging(&self) {
        if !self.is_logging.swap(true, Ordering::AcqRel)
            && let Some(model) = self.own.upgrade()
        {
            self.shared.writers.push(move || model.log_waiting());
        }
    }

    pub(super) fn schedule_learning(&self) {
        if !self.is_learning.swap(true, Ordering::AcqRel)
            && let Some(model) = self.own.upgrade()
        {
            self.shared.learners.push(move || model.learn_logged());
        }
    }
}

/// What a record takes of the bounds of a queue.
pub(super) struct Place {
    rows: u64,
    bytes: u64,
    key: Option<String>,
}

impl Place {
    pub(super) fn of(record: &Record, bytes: u64) -> Self {
        let key = record.key.as_ref().map(|key| key.key.clone());
        Place { rows: cost(record), bytes, key }
    }
}

/// How many places a record takes in the queue. Predictions that are to be remembered take none: they cost
/// the one who learns next to nothing, and must not be refused because others learn.
fn cost(record: &Record) -> u64 {
    match &record.change {
        Change::Predictions(_) => 0,
        Change::Rows(rows) | Change::Unlearn(rows) => rows.len() as u64,
        Change::Labels(labels) => labels.len() as u64,
        Change::Merge(_) | Change::Replace(_) => 1,
    }
}
