//! A lock for values that one thread at a time may use.
//!
//! A waiting thread detaches from the interpreter, so that the current owner can finish. Three cases in
//! which waiting would never end are errors instead: a call that re-enters the value it is using, as a
//! signal handler may; a process that was forked while another thread used the value, since that thread
//! does not exist in the child; and an earlier call that panicked.

use std::{
    ops::{Deref, DerefMut},
    process,
    sync::{
        Condvar, Mutex, MutexGuard, PoisonError, TryLockError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use pyo3::{exceptions::PyRuntimeError, prelude::*};

/// Repairs a value in a process that was forked.
pub(crate) trait Forked {
    fn forked(&mut self) -> PyResult<()>;
}

pub(crate) struct Guarded<T> {
    value: Mutex<T>,
    /// Notifies waiting threads when the value is released.
    free: Free,
    /// The thread that uses the value; 0 for none.
    owner: AtomicUsize,
    /// The process that used the value last.
    process: AtomicU32,
}

/// Threads that wait for a value.
#[derive(Default)]
struct Free {
    /// How many threads have begun to wait, and how many of them have stopped, with the value or without.
    arrived: AtomicUsize,
    served: AtomicUsize,
    turn: Mutex<()>,
    freed: Condvar,
    left: Condvar,
}

/// A thread that waits, until it is dropped.
struct Waiting<'a>(&'a Free);

/// Exclusive access to a guarded value, until it is dropped.
pub(crate) struct Held<'a, T> {
    /// `Some` until the value is dropped.
    guard: Option<MutexGuard<'a, T>>,
    owner: &'a AtomicUsize,
    free: &'a Free,
}

/// How long a thread waits before it checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// How long a thread gives way at most. Others need the interpreter before they take the value, and a thread
/// that computes in Python may have it for a while.
const LONGEST_GIVEN: Duration = Duration::from_millis(100);

impl<T: Forked + Send> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Guarded {
            value: Mutex::new(value),
            free: Free::default(),
            owner: AtomicUsize::new(0),
            process: AtomicU32::new(process::id()),
        }
    }

    /// Waits until the value is free, or until a signal handler raises an exception.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        let process = process::id();
        if self.process.load(Ordering::Acquire) != process {
            return self.lock_forked(process);
        }
        let thread = thread();
        if self.owner.load(Ordering::Relaxed) == thread {
            return Err(PyRuntimeError::new_err(
                "this object is already in use by the call that led here",
            ));
        }
        let mut waiting = None;
        loop {
            match self.value.try_lock() {
                Ok(guard) => return Ok(self.held(guard, thread)),
                Err(TryLockError::Poisoned(_)) => return Err(broken()),
                Err(TryLockError::WouldBlock) => {
                    waiting.get_or_insert_with(|| self.free.wait());
                    py.detach(|| self.sleep());
                    py.check_signals()?;
                }
            }
        }
    }

    /// Same as [`lock`](Self::lock), and signals are left for later: a call that failed must tidy up first.
    pub(crate) fn lock_for_repair(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        loop {
            match self.value.try_lock() {
                Ok(guard) => return Ok(self.held(guard, thread())),
                Err(TryLockError::Poisoned(_)) => return Err(broken()),
                Err(TryLockError::WouldBlock) => {
                    let _waiting = self.free.wait();
                    py.detach(|| self.sleep());
                }
            }
        }
    }

    /// Sleeps until the value may be free.
    fn sleep(&self) {
        let turn = self.free.turn.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(self.value.try_lock(), Err(TryLockError::WouldBlock)) {
            let _ = self.free.freed.wait_timeout(turn, SIGNAL_INTERVAL);
        }
    }

    /// Lets the threads that wait now have the value first. A thread that locks a value again and again needs
    /// this: it is awake when it releases the value, and the others are not.
    pub(crate) fn give_way(&self, py: Python<'_>) {
        let arrived = self.free.arrived.load(Ordering::SeqCst);
        let served = || self.free.served.load(Ordering::SeqCst) >= arrived;
        if served() {
            return;
        }
        py.detach(|| {
            let start = Instant::now();
            let mut turn = self.free.turn.lock().unwrap_or_else(PoisonError::into_inner);
            while let Some(left) = LONGEST_GIVEN.checked_sub(start.elapsed())
                && !served()
            {
                let waited = self.free.left.wait_timeout(turn, left);
                turn = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
        });
    }

    /// The value if no thread uses it, without waiting.
    pub(crate) fn if_free(&self) -> Option<MutexGuard<'_, T>> {
        self.value.try_lock().ok()
    }

    /// Locks for the first time in a forked process. A lock that another thread held at the fork is
    /// never released.
    fn lock_forked(&self, process: u32) -> PyResult<Held<'_, T>> {
        let guard = match self.value.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(_)) => return Err(broken()),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err(
                    "this object was in use by another thread when the process was forked: make a \
                     copy before forking, or fork while no call is running",
                ));
            }
        };
        let mut held = self.held(guard, thread());
        held.forked()?;
        self.process.store(process, Ordering::Release);
        Ok(held)
    }

    fn held<'a>(&'a self, guard: MutexGuard<'a, T>, thread: usize) -> Held<'a, T> {
        self.owner.store(thread, Ordering::Relaxed);
        Held { guard: Some(guard), owner: &self.owner, free: &self.free }
    }
}

impl Free {
    fn wait(&self) -> Waiting<'_> {
        self.arrived.fetch_add(1, Ordering::SeqCst);
        Waiting(self)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.served.fetch_add(1, Ordering::SeqCst);
        drop(self.0.turn.lock());
        self.0.left.notify_all();
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
        self.guard = None;
        if self.free.arrived.load(Ordering::SeqCst) != self.free.served.load(Ordering::SeqCst) {
            drop(self.free.turn.lock());
            self.free.freed.notify_one();
        }
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.guard.as_ref().expect("the guard is there until it is dropped")
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        self.guard.as_mut().expect("the guard is there until it is dropped")
    }
}

fn broken() -> PyErr {
    PyRuntimeError::new_err(
        "an earlier call failed inside the library, so this object can no longer be used",
    )
}

/// A number that no other running thread has.
fn thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}
