//! A model of the service, from a request to its answer.
//!
//! ```text
//!            predictions                        published model ◀── replaced now and then ──┐
//! requests ─────────────▶ bounded queue ──▶ log, in groups ──▶ queue ──▶ the one who learns ┘
//! ```
//!
//! [`queue`] accepts requests or says that too much is waiting. [`logging`] takes all that wait, appends
//! them to the log at once, and waits for the disk if they ask for it. [`learning`] applies them one by one
//! and answers. Both are jobs of shared threads; at most one of each runs for a model at a time, so the
//! order of the log is the order of learning. [`snapshots`] bounds what has to be replayed.
//!
//! Predictions read the published model and wait for nobody. If their labels are to come later, they wait
//! until the log has them, and not until they were learned.

mod learning;
mod logging;
mod queue;
mod snapshots;

use std::{
    collections::{HashMap, VecDeque},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, RwLock, Weak,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant, SystemTime},
};

use broadstream_store::{Log, read_log};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tracing::{info, warn};

use super::{
    Durability, ModelName, ServeError, TICK,
    answers::Answers,
    folder::{ModelFolder, ModelRules},
    published::Published,
    record::Record,
    state::{Outcome, State},
    statistics::Statistics,
    workers::Workers,
};
use learning::Core;
use queue::{Incoming, Logged};

pub(crate) use queue::Request;

/// What the models of a service share.
pub(crate) struct Shared {
    /// For the log and for snapshots, which wait for the disk.
    pub(crate) writers: Workers,
    /// For learning, which does not.
    pub(crate) learners: Workers,
    pub(crate) options: ModelOptions,
}

/// How models are run. This may change between two starts of the service.
#[derive(Clone, Debug)]
pub(crate) struct ModelOptions {
    pub(crate) durability: Durability,
    /// How many rows of a model may wait to be learned, and how many bytes they may have.
    pub(crate) queue_rows: u64,
    pub(crate) queue_bytes: u64,
    /// A snapshot is due after this many bytes of log, or this long after something has changed.
    pub(crate) snapshot_bytes: u64,
    pub(crate) snapshot_every: Duration,
    pub(crate) snapshots_kept: usize,
    pub(crate) threads: usize,
}

/// A model that learns.
pub(crate) struct Model {
    pub(crate) name: ModelName,
    pub(crate) rules: ModelRules,
    pub(crate) folder: ModelFolder,
    shared: Arc<Shared>,
    /// Itself, for jobs.
    own: Weak<Model>,
    published: RwLock<Arc<Published>>,
    incoming: Mutex<Incoming>,
    logged: Mutex<VecDeque<Logged>>,
    log: Mutex<Log>,
    core: Mutex<Core>,
    answers: Mutex<Answers>,
    statistics: Mutex<Statistics>,
    /// The labels of all classes so far.
    labels: Mutex<Arc<[String]>>,
    /// The id of the next prediction.
    next_id: AtomicU64,
    /// How many rows were learned and acknowledged, and the version after the last of them.
    acknowledged: AtomicU64,
    latest: AtomicU64,
    /// Whether a job is on its way.
    is_logging: AtomicBool,
    is_learning: AtomicBool,
    is_writing_snapshot: AtomicBool,
    /// What a job is needed for although nothing is in its queue.
    unsynced_since: Mutex<Option<Instant>>,
    is_unpublished: AtomicBool,
    is_storage_failing: AtomicBool,
    wants_snapshot: AtomicBool,
    /// Whether the folder belongs to somebody else now. Held while a snapshot is written.
    is_deleted: Mutex<bool>,
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Applied {
    pub(crate) outcome: Outcome,
    /// The version of the model after it.
    pub(crate) version: u64,
    /// How many rows were learned up to that version.
    pub(crate) rows_learned: u64,
}

/// Where the answer to a request arrives.
pub(crate) type Reply = oneshot::Receiver<Result<Applied, ServeError>>;

impl Model {
    /// A model that is new, with its folder.
    pub(crate) fn create(
        shared: Arc<Shared>,
        name: ModelName,
        path: &std::path::Path,
        disk: Arc<dyn broadstream_store::Disk>,
        rules: &ModelRules,
        saved: broadstream::model_file::Saved,
    ) -> Result<Arc<Self>, ServeError> {
        let state = State::new(saved, rules.state_rules())?;
        let answers = Answers::new(rules.state_rules().answers);
        let written = state.write(&answers);
        state.with_file(|file| {
            ModelFolder::create(Arc::clone(&disk), path, rules, file, &written)
        })?;
        Model::open(shared, name, path, disk)
    }

    /// A model that exists: the newest snapshot, and what the log has after it.
    pub(crate) fn open(
        shared: Arc<Shared>,
        name: ModelName,
        path: &std::path::Path,
        disk: Arc<dyn broadstream_store::Disk>,
    ) -> Result<Arc<Self>, ServeError> {
        let (folder, rules) = ModelFolder::open(disk, path.to_owned())?;
        let (mut state, mut answers) = newest_snapshot(&name, &folder, &rules)?;
        state.model.set_threads(shared.options.threads)?;
        let snapshot = state.version;
        let mut statistics = Statistics::new();
        let end = read_log(&folder.log(), snapshot + 1, |sequence, kind, bytes| {
            let record = Record::from_bytes(kind, bytes).map_err(|error| ServeError::Unusable {
                name: name.to_string(),
                reason: format!("its log: {error}"),
            })?;
            let (at, key) = (record.at, record.key.clone());
            answers.expire(at);
            // One that was refused is refused again.
            if let Ok(outcome) = state.apply(sequence, record) {
                statistics.applied(&outcome, &state, at);
                keep_answer(&mut answers, at, key, &Applied::of(outcome, &state));
            }
            Ok::<(), ServeError>(())
        })?;
        let replayed = state.version - snapshot;
        if replayed > 0 || end.torn > 0 {
            info!(model = %name, records = replayed, torn_bytes = end.torn, "the log was replayed");
        }
        let log = Log::open(folder.disk(), &folder.log(), &end, state.version + 1)?;
        Ok(Arc::new_cyclic(|own| Model {
            published: RwLock::new(Arc::new(Published::of(&state))),
            incoming: Mutex::default(),
            logged: Mutex::default(),
            labels: Mutex::new(state.rows.schema().labels().into()),
            next_id: AtomicU64::new(state.pending.last() + 1),
            acknowledged: AtomicU64::new(state.rows_learned),
            latest: AtomicU64::new(state.version),
            log: Mutex::new(log),
            core: Mutex::new(Core::new(state, snapshot)),
            answers: Mutex::new(answers),
            statistics: Mutex::new(statistics),
            is_logging: AtomicBool::new(false),
            is_learning: AtomicBool::new(false),
            is_writing_snapshot: AtomicBool::new(false),
            unsynced_since: Mutex::default(),
            is_deleted: Mutex::new(false),
            is_unpublished: AtomicBool::new(false),
            is_storage_failing: AtomicBool::new(false),
            wants_snapshot: AtomicBool::new(false),
            own: own.clone(),
            name,
            rules,
            folder,
            shared,
        }))
    }

    /// The model as readers see it now.
    pub(crate) fn published(&self) -> Arc<Published> {
        Arc::clone(&self.published.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// How many rows were learned and acknowledged that a published model does not have.
    pub(crate) fn lag(&self, published: &Published) -> u64 {
        self.acknowledged.load(Ordering::Acquire).saturating_sub(published.rows_learned)
    }

    /// How many rows wait to be learned.
    pub(crate) fn waiting(&self) -> u64 {
        lock(&self.incoming).rows
    }

    /// The version after the last record that was applied.
    pub(crate) fn latest(&self) -> u64 {
        self.latest.load(Ordering::Acquire)
    }

    /// Whether the log or a snapshot could not be written when that was tried last.
    pub(crate) fn is_storage_failing(&self) -> bool {
        self.is_storage_failing.load(Ordering::Relaxed)
    }

    /// As many ids for predictions as are needed, the first of them.
    pub(crate) fn take_ids(&self, count: usize) -> u64 {
        self.next_id.fetch_add(count as u64, Ordering::Relaxed)
    }

    pub(crate) fn statistics(&self) -> MutexGuard<'_, Statistics> {
        lock(&self.statistics)
    }

    /// The labels of all classes so far, of which readers may not see the last.
    pub(crate) fn labels(&self) -> Arc<[String]> {
        Arc::clone(&lock(&self.labels))
    }

    pub(crate) fn options(&self) -> &ModelOptions {
        &self.shared.options
    }

    /// Ends the model and removes its folder. Nothing of it is written afterwards, so that another model may
    /// have its name.
    pub(crate) fn delete(&self) -> Result<(), ServeError> {
        self.close();
        // What the log takes last goes to the folder that is removed.
        let _ = self.visit(|_, _| ()).blocking_recv();
        let mut is_deleted = lock(&self.is_deleted);
        let deleted = self.folder.delete();
        match &deleted {
            Ok(()) => *is_deleted = true,
            // It is still there, and can go on.
            Err(_) => lock(&self.incoming).is_closed = false,
        }
        deleted
    }

    /// What has to be done now and then, whether requests come or not.
    pub(crate) fn tick(&self) {
        if let Durability::Every(most) = self.options().durability
            && lock(&self.unsynced_since).is_some_and(|since| since.elapsed() + TICK >= most)
        {
            self.schedule_logging();
        }
        if self.is_unpublished.load(Ordering::Relaxed) {
            self.schedule_learning();
        }
    }
}

impl Applied {
    fn of(outcome: Outcome, state: &State) -> Self {
        Applied { outcome, version: state.version, rows_learned: state.rows_learned }
    }
}

/// The newest snapshot that can be read. One that cannot is passed over, since the log goes back further.
fn newest_snapshot(
    name: &ModelName,
    folder: &ModelFolder,
    rules: &ModelRules,
) -> Result<(State, Answers), ServeError> {
    let mut refused =
        ServeError::Unusable { name: name.to_string(), reason: "it has no snapshot".to_owned() };
    for snapshot in folder.snapshots()? {
        let version = snapshot.version;
        let restored = folder.read_snapshot(version).and_then(|(saved, bytes)| {
            let mut state = State::new(saved, rules.state_rules())?;
            let answers = state.restore(&bytes).filter(|_| state.version == version);
            let answers = answers.ok_or_else(|| ServeError::Unusable {
                name: name.to_string(),
                reason: format!("the state of snapshot {version} is malformed"),
            })?;
            Ok((state, answers))
        });
        match restored {
            Ok(restored) => return Ok(restored),
            Err(error) => {
                warn!(model = %name, snapshot = version, %error, "a snapshot cannot be read");
                refused = error;
            }
        }
    }
    Err(refused)
}

/// Keeps the answer to a request with a key.
fn keep_answer(
    answers: &mut Answers,
    at: u64,
    key: Option<super::record::RequestKey>,
    applied: &Applied,
) {
    if let (Some(key), Ok(content)) = (key, serde_json::to_vec(applied)) {
        answers.add(at, key, content);
    }
}

/// The time in milliseconds since 1970.
pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Locks what no panic can leave half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Requests with a key that are being carried out, by key, with the hash of the request.
type InFlight = HashMap<String, u64>;

/// When something was done last, and how long that took.
#[derive(Clone, Copy, Debug)]
struct Pace {
    last: Instant,
    cost: Duration,
}
