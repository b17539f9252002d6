//! Several threads for one model, with the same bits as one thread.
//!
//! Work is divided along boundaries that no sum crosses, so the result never depends on which
//! thread did what. A thread that waits for another spins briefly and then sleeps. Such a long wait
//! means that the other one has lost its core to another program for a moment. If these moments cost
//! more than sharing the work saves, the calling thread works alone for a number of calls, and for
//! longer each time this happens again. A busy machine thus costs a small share of the time, never a
//! multiple of it. The library has no clock, so both sides of that account are counted in
//! multiply-adds.

use std::sync::{
    Arc, Condvar, Mutex, PoisonError,
    atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering},
};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::Error;

/// How often a waiting thread checks before it sleeps: some tenths of a millisecond, about a
/// hundred times what it waits for a thread that is running.
const SPINS: u32 = 20_000;

/// The largest number of calls that are made alone after waits have cost too much.
const LONGEST_BACKOFF: u32 = 512;

/// What a long wait costs: a core does about this many multiply-adds in a millisecond or two, after
/// which a scheduler gives it back.
const WAIT_COST: u64 = 30_000_000;

/// Waits may cost as much as was saved before them, but at most this, so that a program which begins
/// to compete for the cores is soon noticed.
const MOST_CREDIT: u64 = 4 * WAIT_COST;

/// With fewer multiply-adds, work is done before another thread could help. The tests use threads at
/// any size.
const LEAST_WORK: u64 = if cfg!(test) { 1 } else { 1 << 20 };

/// The same if the caller is none of the threads. It then has to sleep and to be woken, which was
/// measured to take 130 µs on a virtual machine, as long as some four million multiply-adds.
const LEAST_WORK_FROM_OUTSIDE: u64 = if cfg!(test) { 1 } else { 1 << 23 };

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
    /// What sharing has saved in excess of what waits have cost, in multiply-adds.
    credit: AtomicU64,
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
            credit: AtomicU64::new(0),
        }))))
    }

    /// The number of threads; 1 means the caller alone.
    pub(crate) fn count(&self) -> usize {
        self.pool().map_or(1, ThreadPool::current_num_threads)
    }

    /// The threads for a call of that many multiply-adds, unless there are none, it is too small to
    /// be shared, or a backoff is in progress.
    pub(crate) fn for_work(&self, multiply_adds: u64) -> Option<&ThreadPool> {
        let shared = self.0.as_deref().filter(|_| multiply_adds >= least_work())?;
        let backoff = shared.backoff.load(Ordering::Relaxed);
        shared.backoff.store(backoff.saturating_sub(1), Ordering::Relaxed);
        self.pool().filter(|_| backoff == 0)
    }

    fn pool(&self) -> Option<&ThreadPool> {
        self.0.as_deref()?.pool.as_ref()
    }

    /// Ends a backoff, so that a test of threads does use them.
    #[cfg(test)]
    pub(crate) fn end_backoff(&self) {
        if let Some(shared) = self.0.as_deref() {
            shared.backoff.store(0, Ordering::Relaxed);
        }
    }

    /// Records that a call of that many multiply-adds was shared, and how often a thread had to wait
    /// for long. Starts a backoff if that costs more than it saves.
    pub(crate) fn worked_together(&self, multiply_adds: u64, long_waits: u32) {
        let Some(shared) = self.0.as_deref() else { return };
        let saved = multiply_adds - multiply_adds / self.count() as u64;
        let credit = shared.credit.load(Ordering::Relaxed).saturating_add(saved).min(MOST_CREDIT);
        let cost = u64::from(long_waits).saturating_mul(WAIT_COST);
        let last = shared.last_backoff.load(Ordering::Relaxed);
        if cost > credit {
            let next = (2 * last).clamp(1, LONGEST_BACKOFF);
            shared.last_backoff.store(next, Ordering::Relaxed);
            shared.backoff.store(next, Ordering::Relaxed);
        } else {
            // Shorten gradually instead of to 0: one good call does not mean that the other program
            // has finished.
            shared.last_backoff.store(last - last.div_ceil(8), Ordering::Relaxed);
        }
        shared.credit.store(credit.saturating_sub(cost), Ordering::Relaxed);
    }

    /// Runs a call that shares much work in several steps on one of the threads, so that the others
    /// need not wake the caller after each step: on a virtual machine that takes as long as the work
    /// of several samples.
    pub(crate) fn run<T: Send>(&self, call: impl FnOnce() -> T + Send) -> T {
        match self.pool() {
            Some(pool) => pool.install(call),
            None => call(),
        }
    }

    /// Works through a few independent items of uneven size that take that many multiply-adds
    /// together. A thread that finds no item left sleeps without spinning, and no backoff follows:
    /// other threads still work because their items are larger, not because the machine is busy.
    pub(crate) fn spread<I: Send>(
        &self,
        multiply_adds: u64,
        items: impl Iterator<Item = I> + Send,
        work: impl Fn(I) + Sync,
    ) {
        match self.pool().filter(|_| multiply_adds >= least_work()) {
            Some(pool) => {
                let work = &work;
                pool.scope(|scope| items.for_each(|item| scope.spawn(move |_| work(item))));
            }
            None => items.for_each(work),
        }
    }

    /// Works through independent items that take that many multiply-adds together. `start` creates the
    /// state that each thread keeps for itself.
    pub(crate) fn share<I: Send, T>(
        &self,
        multiply_adds: u64,
        items: impl Iterator<Item = I> + Send,
        start: impl Fn() -> T + Sync,
        work: impl Fn(&mut T, I) + Sync,
    ) {
        match self.for_work(multiply_adds) {
            Some(pool) => self.worked_together(multiply_adds, share(pool, items, start, work)),
            None => {
                let mut own = start();
                items.for_each(|item| work(&mut own, item));
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

/// The least work that is worth sharing for the thread that asks.
fn least_work() -> u64 {
    match rayon::current_thread_index() {
        Some(_) => LEAST_WORK,
        None => LEAST_WORK_FROM_OUTSIDE,
    }
}

/// Lets each thread take the next item until none is left, and returns how many threads that had run
/// out of items waited for long.
fn share<I: Send, T>(
    pool: &ThreadPool,
    items: impl Iterator<Item = I> + Send,
    start: impl Fn() -> T + Sync,
    work: impl Fn(&mut T, I) + Sync,
) -> u32 {
    let items = Mutex::new(items);
    let next = || items.lock().unwrap_or_else(PoisonError::into_inner).next();
    let at_work = AtomicUsize::new(0);
    let long_waits = AtomicU32::new(0);
    let one_thread = || {
        at_work.fetch_add(1, Ordering::Relaxed);
        let mut own = start();
        while let Some(item) = next() {
            work(&mut own, item);
        }
        drop(own);
        at_work.fetch_sub(1, Ordering::Relaxed);
        if !spin_until(|| at_work.load(Ordering::Relaxed) == 0) {
            long_waits.fetch_add(1, Ordering::Relaxed);
        }
    };
    pool.scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            scope.spawn(|_| one_thread());
        }
    });
    long_waits.into_inner()
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
/// whatever the number of threads.
///
/// A thread takes as many neighbouring items as there are for each, and follows the thread that has
/// the items before its own from stage to stage. So a thread waits only for one other, only if it
/// has caught up with it, and once per stage. With a stage per thread and item, threads would work in
/// lock-step: at 500 features, two of them were hardly faster than one.
///
/// The locks around the states are never contended, since the counters admit one thread at a time;
/// they are there so that no `unsafe` is needed.
pub(crate) struct Wavefront<S> {
    stages: Vec<Mutex<S>>,
}

impl<S: Send> Wavefront<S> {
    pub(crate) fn new(stages: impl Iterator<Item = S>) -> Self {
        Wavefront { stages: stages.map(Mutex::new).collect() }
    }

    /// Sends all items through, and returns how often a thread had to wait for long.
    pub(crate) fn run<I: Send>(
        &self,
        pool: &ThreadPool,
        items: &mut [I],
        work: impl Fn(&mut S, &mut I) + Sync,
    ) -> u32 {
        let each = items.len().div_ceil(pool.current_num_threads()).max(1);
        // For each run, how many stages it has left.
        let left: Vec<Counter> = items.chunks(each).map(|_| Counter::default()).collect();
        let long_waits = AtomicU32::new(0);
        let release = || left.iter().for_each(|counter| counter.set(usize::MAX));
        let start = || ReleaseOnPanic(release);
        let at_end = share(pool, items.chunks_mut(each).enumerate(), start, |_, (index, run)| {
            for (passed, stage) in self.stages.iter().enumerate() {
                if index > 0 && left[index - 1].wait(passed + 1) {
                    long_waits.fetch_add(1, Ordering::Relaxed);
                }
                let mut state = stage.lock().expect("no thread before this one has panicked");
                run.iter_mut().for_each(|item| work(&mut state, item));
                drop(state);
                left[index].set(passed + 1);
            }
        });
        long_waits.into_inner() + at_end
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
            let mut seen: Vec<Vec<usize>> = vec![Vec::new(); 50];
            let wavefront = Wavefront::new(seen.iter_mut());
            let mut items: Vec<(usize, usize)> = (0..11).map(|item| (item, 0)).collect();
            wavefront.run(threads.pool().unwrap(), &mut items, |stage, (item, stages)| {
                stage.push(*item);
                *stages += 1;
            });
            assert!(seen.iter().all(|items| items.iter().copied().eq(0..11)));
            assert!(items.iter().all(|(_, stages)| *stages == 50));
        }
    }

    #[test]
    fn a_panic_ends_the_call() {
        let threads = Threads::new(3).unwrap();
        let pool = threads.pool().unwrap();
        let call = || {
            let wavefront = Wavefront::new(0..50);
            wavefront.run(pool, &mut [0; 9], |stage, _| assert!(*stage != 7, "stage 7"));
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
            threads.worked_together(LEAST_WORK, 1);
            let mut alone = 0;
            while threads.for_work(LEAST_WORK).is_none() {
                alone += 1;
            }
            assert_eq!(alone, expected);
        }
        for _ in 0..100 {
            threads.worked_together(LEAST_WORK, 0);
        }
        threads.worked_together(LEAST_WORK, 1);
        assert!(threads.for_work(LEAST_WORK).is_none());
        assert!(threads.for_work(LEAST_WORK).is_some());
    }

    #[test]
    fn waits_are_tolerated_while_sharing_saves_more() {
        let threads = Threads::new(2).unwrap();
        for _ in 0..100 {
            threads.worked_together(2 * WAIT_COST, 1);
            assert!(threads.for_work(LEAST_WORK).is_some());
        }
        threads.worked_together(WAIT_COST, 1);
        assert!(threads.for_work(LEAST_WORK).is_none(), "half a wait was saved");
    }
}
