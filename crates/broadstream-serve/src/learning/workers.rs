//! Threads that carry out jobs in the order in which these come.
//!
//! A model has no thread of its own: a thousand models would need a thousand. It has jobs, each of which does
//! a little and then puts the next one behind those of other models, so that none of them waits for long.

use std::{
    collections::VecDeque,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
};

use tracing::error;

type Job = Box<dyn FnOnce() + Send>;

/// A pool of threads. They end when it is dropped and all jobs are done.
pub(crate) struct Workers {
    queue: Arc<Queue>,
    threads: Vec<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

#[derive(Default)]
struct Jobs {
    waiting: VecDeque<Job>,
    is_closed: bool,
}

impl Workers {
    pub(crate) fn new(name: &str, count: usize) -> io::Result<Self> {
        let queue = Arc::<Queue>::default();
        let mut workers = Workers { queue: Arc::clone(&queue), threads: Vec::new() };
        for i in 0..count.max(1) {
            let queue = Arc::clone(&queue);
            let thread = thread::Builder::new().name(format!("{name}-{i}"));
            workers.threads.push(thread.spawn(move || queue.work())?);
        }
        Ok(workers)
    }

    /// Has a job carried out after those that wait already.
    pub(crate) fn push(&self, job: impl FnOnce() + Send + 'static) {
        self.queue.lock().waiting.push_back(Box::new(job));
        self.queue.changed.notify_one();
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        self.queue.lock().is_closed = true;
        self.queue.changed.notify_all();
        let own = thread::current().id();
        for thread in self.threads.drain(..) {
            // The last job may hold the last reference to the pool.
            if thread.thread().id() != own {
                let _ = thread.join();
            }
        }
    }
}

impl Queue {
    fn work(&self) {
        while let Some(job) = self.next() {
            // Whoever waits for the job learns it from the channel that the job dropped.
            if catch_unwind(AssertUnwindSafe(job)).is_err() {
                error!("a job has panicked, which is a bug");
            }
        }
    }

    fn next(&self) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            if let Some(job) = jobs.waiting.pop_front() {
                return Some(job);
            }
            if jobs.is_closed {
                return None;
            }
            jobs = self.changed.wait(jobs).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[test]
    fn a_job_that_panics_costs_no_thread() {
        let workers = Workers::new("test", 1).unwrap();
        let (sender, receiver) = mpsc::channel();
        workers.push(|| panic!("this test wants it"));
        (0..3).for_each(|i| {
            let sender = sender.clone();
            workers.push(move || sender.send(i).unwrap());
        });
        drop(sender);
        assert_eq!(receiver.iter().collect::<Vec<_>>(), [0, 1, 2]);
    }
}
