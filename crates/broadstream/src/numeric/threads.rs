//! Several threads for one model, with the same bits as one thread.
//!
//! Work is divided along boundaries that no sum crosses, so the result never depends on which
//! thread did what. A thread that waits for another spins briefly and then sleeps. If the other one
//! has lost its core to another program, the calling thread works alone for a number of calls, and
//! for longer each time this happens again. A busy machine thus costs a small share of the time,
//! never a multiple of it. The backoff is counted in calls because the library has no clock to
//! measure what would be best.

use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering},
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// How often a waiting thread checks before it sleeps: some tenths of a millisecond, about a
/// hundred times what it waits for a thread that is running.
const SPINS: u32 = 20_000;

/// The largest number of calls that are made alone after one thread kept another waiting.
const LONGEST_BACKOFF: u32 = 512;

/// Threads to share work with, or none. Clones share the same threads.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads(Option<Arc<Shared>>);

#[derive(Debug)]
struct Shared {
    /// Present until it is dropped.
    pool: Option<ThreadPool>,
    /// The process that owns the threads: a process forked from it has none of them.
    process: u32,
    /// How many further calls are to be made alone.
    backoff: AtomicU32,
    /// How many calls the last backoff lasted.
    last_backoff: AtomicU32,
}

impl Threads {
    /// Starts `count` threads; with 1 the caller does all the work.
    pub(crate) fn new(count: usize) -> Result<Self, Error> {
        if count <= 1 {
            return Ok(Threads(None));
        }
        let pool = ThreadPoolBuilder::new()
            .num_threads(count)
            .thread_name(|index| format!("broadstream-{index}"))
            .build()
            .map_err(|error| Error::Threads { count, reason: error.to_string() })?;
        Ok(Threads(Some(Arc::new(Shared {
            pool: Some(pool),
            process: std::process::id(),
            backoff: AtomicU32::new(0),
            last_backoff: AtomicU32::new(0),
        }))))
    }

    /// The number of threads; 1 means the caller alone.
    pub(crate) fn count(&self) -> usize {
        self.pool().map_or(1, ThreadPool::current_num_threads)
    }

    /// The threads, unless there are none or a backoff is in progress.
    pub(crate) fn available(&self) -> Option<&ThreadPool> {
        let shared = self.0.as_deref()?;
        self.pool().filter(|_| shared.backoff.load(Ordering::Relaxed) == 0)
    }

    fn pool(&self) -> Option<&ThreadPool> {
        self.0.as_deref()?.pool.as_ref()
    }

    /// Counts a call that was made alone towards the end of the backoff.
    pub(crate) fn worked_alone(&self) {
        if let Some(shared) = self.0.as_deref() {
            let backoff = shared.backoff.load(Ordering::Relaxed);
            shared.backoff.store(backoff.saturating_sub(1), Ordering::Relaxed);
        }
    }

    /// Ends a backoff, so that a test of threads does use them.
    #[cfg(test)]
    pub(crate) fn end_backoff(&self) {
        if let Some(shared) = self.0.as_deref() {
            shared.backoff.store(0, Ordering::Relaxed);
        }
    }

    /// Records whether one thread kept another waiting for long, and starts a backoff if so.
    pub(crate) fn worked_together(&self, kept_waiting: bool) {
        if let Some(shared) = self.0.as_deref() {
            let last = shared.last_backoff.load(Ordering::Relaxed);
            if kept_waiting {
                let next = (2 * last).clamp(1, LONGEST_BACKOFF);
                shared.last_backoff.store(next, Ordering::Relaxed);
                shared.backoff.store(next, Ordering::Relaxed);
            } else {
                // Shorten gradually instead of to 0: one good call does not mean that the other
                // program has finished.
                shared.last_backoff.store(last - last.div_ceil(8), Ordering::Relaxed);
            }
        }
    }

    /// Works through a few independent items of uneven size. A thread that finds no item left
    /// sleeps without spinning, and no backoff follows: other threads still work because their
    /// items are larger, not because the machine is busy.
    pub(crate) fn spread<I: Send>(
        &self,
        items: impl Iterator<Item = I> + Send,
        work: impl Fn(I) + Sync,
    ) {
        match self.pool() {
            Some(pool) => {
                let work = &work;
                pool.scope(|scope| items.for_each(|item| scope.spawn(move |_| work(item))));
            }
            None => items.for_each(work),
        }
    }

    /// Works through independent items, in parallel if there are `enough` of them to be worth it.
    /// `start` creates the state that each thread keeps for itself.
    pub(crate) fn share<I: Send, T>(
        &self,
        enough: bool,
        items: impl Iterator<Item = I> + Send,
        start: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, I) + Sync,
    ) {
        match self.available() {
            Some(pool) if enough => self.worked_together(share(pool, items, start, work)),
            _ => {
                let mut own = start();
                items.for_each(|item| work(&mut own, item));
                if enough {
                    self.worked_alone();
                }
            }
        }
    }
}

impl Drop for Shared {
    /// A forked process does not have the threads. Asking them to terminate could wait forever for
    /// a lock that one of them held, so the pool is leaked there.
    fn drop(&mut self) {
        if std::process::id() != self.process {
            std::mem::forget(self.pool.take());
        }
    }
}

/// Lets each thread take the next item until none is left, and returns whether a thread that had
/// run out of items waited for long.
fn share<I: Send, T>(
    pool: &ThreadPool,
    items: impl Iterator<Item = I> + Send,
    start: impl Fn() -> T + Sync,
    work: impl Fn(&mut T, I) + Sync,
) -> bool {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let at_work = AtomicUsize::new(0);
    let kept_waiting = AtomicBool::new(false);
    let one_thread = || {
        at_work.fetch_add(1, Ordering::Relaxed);
        let mut own = start();
        while let Some(item) = next() {
            work(&mut own, item);
        }
        drop(own);
        at_work.fetch_sub(1, Ordering::Relaxed);
        if !spin_until(|| at_work.load(Ordering::Relaxed) == 0) {
            kept_waiting.store(true, Ordering::Relaxed);
        }
    };
    pool.scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            scope.spawn(|_| one_thread());
        }
    });
    kept_waiting.into_inner()
}

/// Checks a condition repeatedly, for about as long as a running thread may take to make it true.
fn spin_until(condition: impl Fn() -> bool) -> bool {
    (0..SPINS).any(|_| {
        let holds = condition();
        if !holds {
            std::hint::spin_loop();
        }
        holds
    })
}

/// Items that each pass all stages in order: item i enters stage s once item i − 1 has left it.
/// Each stage's state thus meets the items in their order, and each item the stages in theirs,
/// whatever the number of threads. The locks around the states are never contended, since the
/// counters admit one item at a time; they are there so that no `unsafe` is needed.
pub(crate) struct Wavefront<S> {
    stages: Vec<Stage<S>>,
    kept_waiting: AtomicBool,
}

struct Stage<S> {
    state: Mutex<S>,
    /// How many items have left the stage.
    left: Counter,
}

impl<S: Send> Wavefront<S> {
    pub(crate) fn new(stages: impl Iterator<Item = S>) -> Self {
        let stage = |state| Stage { state: Mutex::new(state), left: Counter::default() };
        Wavefront { stages: stages.map(stage).collect(), kept_waiting: AtomicBool::new(false) }
    }

    /// Sends all items through, and returns whether a thread had to wait for long.
    pub(crate) fn run<I: Send>(
        self,
        pool: &ThreadPool,
        items: impl Iterator<Item = I> + Send,
        work: impl Fn(&mut I, &mut S) + Sync,
    ) -> bool {
        let start = || ReleaseOnPanic(|| self.release());
        let kept_waiting = share(pool, items.enumerate(), start, |_, (index, mut item)| {
            self.pass(index, &mut item, &work);
        });
        self.kept_waiting.into_inner() || kept_waiting
    }

    fn pass<I>(&self, index: usize, item: &mut I, work: &impl Fn(&mut I, &mut S)) {
        for stage in &self.stages {
            if stage.left.wait(index) {
                self.kept_waiting.store(true, Ordering::Relaxed);
            }
            let mut state = stage.state.lock().expect("no thread before this one has panicked");
            work(item, &mut state);
            drop(state);
            stage.left.set(index + 1);
        }
    }

    fn release(&self) {
        for stage in &self.stages {
            stage.left.set(usize::MAX);
        }
    }
}

/// A growing number that threads can wait for.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    value: AtomicUsize,
    sleepers: AtomicUsize,
    lock: Mutex<()>,
    wake: Condvar,
}

impl Counter {
    /// Waits until the number is at least `value`, and returns whether that took long.
    pub(crate) fn wait(&self, value: usize) -> bool {
        if spin_until(|| self.value.load(Ordering::Acquire) >= value) {
            return false;
        }
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        // The order matters: either this thread sees the number that `set` wrote, or `set` sees the
        // sleeper and wakes it.
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        while self.value.load(Ordering::SeqCst) < value {
            guard = self.wake.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
        true
    }

    pub(crate) fn set(&self, value: usize) {
        self.value.store(value, Ordering::SeqCst);
        if self.sleepers.load(Ordering::SeqCst) > 0 {
            drop(self.lock.lock());
            self.wake.notify_all();
        }
    }
}

/// Releases waiting threads when a thread panics, so that the panic ends the call instead of
/// leaving it hanging.
pub(crate) struct ReleaseOnPanic<F: Fn()>(pub(crate) F);

impl<F: Fn()> Drop for ReleaseOnPanic<F> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            (self.0)();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_meets_the_items_in_order() {
        for count in 2..=4 {
            let threads = Threads::new(count).unwrap();
            let mut seen: Vec<Vec<usize>> = vec![Vec::new(); 5];
            let wavefront = Wavefront::new(seen.iter_mut());
            wavefront.run(threads.available().unwrap(), 0..200, |item, stage| stage.push(*item));
            assert!(seen.iter().all(|items| items.iter().copied().eq(0..200)));
        }
    }

    #[test]
    fn a_panic_ends_the_call() {
        let threads = Threads::new(3).unwrap();
        let pool = threads.available().unwrap();
        let call = || {
            let wavefront = Wavefront::new(0..4);
            wavefront.run(pool, 0..50, |item, _| assert!(*item != 7, "item 7"));
        };
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).is_err());
    }

    #[test]
    fn a_waiting_thread_sleeps_and_is_woken() {
        let counter = Counter::default();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| counter.wait(2));
            while counter.sleepers.load(Ordering::SeqCst) == 0 {
                std::thread::yield_now();
            }
            counter.set(1);
            counter.set(2);
            assert!(waiting.join().unwrap(), "it took long");
        });
        assert!(!counter.wait(2));
    }

    #[test]
    fn backoffs_grow_while_others_keep_the_core() {
        let threads = Threads::new(2).unwrap();
        for expected in [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 512] {
            threads.worked_together(true);
            let mut alone = 0;
            while threads.available().is_none() {
                threads.worked_alone();
                alone += 1;
            }
            assert_eq!(alone, expected);
        }
        for _ in 0..100 {
            threads.worked_together(false);
        }
        threads.worked_together(true);
        threads.worked_alone();
        assert!(threads.available().is_some());
    }
}
