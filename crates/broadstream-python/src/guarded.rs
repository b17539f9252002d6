//! Something that one thread at a time may use.
//!
//! Whoever has to wait lets the interpreter go, so that the one in front can finish. Three cases in
//! which waiting would never end are errors instead: a call that leads back to what it is using itself,
//! as a signal handler may; a process forked while another thread was at work, which does not exist in
//! the child; and a former call that broke down in the middle.

use std::{
    ops::{Deref, DerefMut},
    process,
    sync::{
        Mutex, MutexGuard, TryLockError,
        atomic::{AtomicU32, AtomicUsize, Ordering},
    },
};

use pyo3::{exceptions::PyRuntimeError, prelude::*, sync::MutexExt};

/// What has to be put right in a process that was forked.
pub(crate) trait Forked {
    fn forked(&mut self) -> PyResult<()>;
}

pub(crate) struct Guarded<T> {
    value: Mutex<T>,
    /// The thread that uses it; 0 is none.
    owner: AtomicUsize,
    /// The process that used it last.
    process: AtomicU32,
}

/// The right to use a guarded value, until it is dropped.
pub(crate) struct Held<'a, T> {
    guard: MutexGuard<'a, T>,
    owner: &'a AtomicUsize,
}

impl<T: Forked> Guarded<T> {
    pub(crate) fn new(value: T) -> Self {
        Guarded {
            value: Mutex::new(value),
            owner: AtomicUsize::new(0),
            process: AtomicU32::new(process::id()),
        }
    }

    /// Waits for its turn.
    pub(crate) fn lock(&self, py: Python<'_>) -> PyResult<Held<'_, T>> {
        let process = process::id();
        if self.process.load(Ordering::Acquire) != process {
            return self.lock_forked(process);
        }
        let thread = thread();
        if self.owner.load(Ordering::Relaxed) == thread {
            return Err(PyRuntimeError::new_err("this is in use by the very call that led here"));
        }
        let guard = self.value.lock_py_attached(py).map_err(|_| broken())?;
        Ok(self.held(guard, thread))
    }

    /// The value if nobody uses it, without waiting.
    pub(crate) fn if_free(&self) -> Option<MutexGuard<'_, T>> {
        self.value.try_lock().ok()
    }

    /// The first use in a forked process. Threads of before the fork hold their locks for ever.
    fn lock_forked(&self, process: u32) -> PyResult<Held<'_, T>> {
        let guard = match self.value.try_lock() {
            Ok(guard) => guard,
            Err(TryLockError::Poisoned(_)) => return Err(broken()),
            Err(TryLockError::WouldBlock) => {
                return Err(PyRuntimeError::new_err(
                    "this was in use by another thread when the process was forked: make a copy \
                     before forking, or fork while no call is under way",
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
        Held { guard, owner: &self.owner }
    }
}

impl<T> Drop for Held<'_, T> {
    fn drop(&mut self) {
        self.owner.store(0, Ordering::Relaxed);
    }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

fn broken() -> PyErr {
    PyRuntimeError::new_err("a former call broke down inside: what it left cannot be used")
}

/// A number that no other living thread has.
fn thread() -> usize {
    thread_local!(static HERE: u8 = const { 0 });
    HERE.with(|here| std::ptr::from_ref(here) as usize)
}
