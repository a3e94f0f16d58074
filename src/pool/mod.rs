//! Threads that work for a caller who can be released at its deadline.
//!
//! Each call leases a team of threads of its own, so calls share no queue: a call that is stuck
//! in the kernel delays no other, and a thread of the host's own rayon pool that calls us only
//! waits; it never runs foreign work on its stack.

mod shift;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::sync::AtomicUsize;

use self::shift::Shift;
pub(crate) use self::shift::{Job, panic_text};

/// How many teams are kept for the next call.
const MAX_IDLE: usize = 2;

/// How many jobs may be stuck after their callers left, before new ones are refused.
const MAX_ABANDONED: usize = 8;

/// The teams of threads that wait for work.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    idle: Mutex<Vec<ThreadPool>>,
    abandoned: Arc<AtomicUsize>,
}

impl Pool {
    /// Prepares teams of `threads` threads each; none is started before it is needed.
    pub(crate) fn new(threads: usize) -> Pool {
        Pool { threads: threads.max(1), idle: Mutex::default(), abandoned: Arc::default() }
    }

    /// The threads that work on one job.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Runs a job to its end, or until the call is stopped; then the job is asked to stop and,
    /// after a short grace, left behind.
    ///
    /// # Errors
    /// `INTERNAL` if a thread panicked, `RESOURCE_EXHAUSTED` if too many jobs are stuck.
    pub(crate) fn run(&self, job: &Arc<impl Job>, call: &Call) -> Result<(), Error> {
        if self.abandoned.load(Ordering::Acquire) >= MAX_ABANDONED {
            return Err(stuck());
        }
        let shift = Arc::new(Shift::new(self.threads));
        let Some(team) = self.lease() else {
            // No thread to be had: the caller does the work and checks its deadline by itself.
            shift.work(&**job);
            return shift.outcome();
        };
        for _ in 0..self.threads {
            let (shift, job) = (shift.clone(), job.clone());
            team.spawn(move || shift.work(&*job));
        }
        let waited = catch_unwind(AssertUnwindSafe(|| shift.wait(&**job, call)));
        if matches!(waited, Ok(true)) {
            self.give_back(team);
        } else {
            job.stop();
            shift.abandon(&self.abandoned);
        }
        // A callback of the host may panic, which is the host's to hear.
        waited.map_or_else(|panic| resume_unwind(panic), |_| shift.outcome())
    }

    fn lease(&self) -> Option<ThreadPool> {
        let idle = lock(&self.idle).pop();
        idle.or_else(|| {
            let builder = ThreadPoolBuilder::new().num_threads(self.threads);
            builder.thread_name(|number| format!("ripkit-{number}")).build().ok()
        })
    }

    fn give_back(&self, team: ThreadPool) {
        let mut idle = lock(&self.idle);
        if idle.len() < MAX_IDLE {
            idle.push(team);
        }
    }
}

fn stuck() -> Error {
    Error::new(
        ErrorCode::ResourceExhausted,
        format!("{MAX_ABANDONED} earlier calls that ran out of time are still at work"),
    )
    .with_hint("Wait; a regular expression is very slow, or a file system does not answer.")
}

/// Locks; a panic of another thread has been reported by then and leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
