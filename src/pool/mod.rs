//! Threads that work for a caller who can be released at its deadline.
//!
//! Each call runs on a thread of its own and, if it walks, leases a team of threads, so calls share
//! no queue: a call that is stuck in the kernel delays no other, and a thread of the host's own
//! rayon pool that calls us only waits; it never runs foreign work on its stack.

mod shift;
mod worker;

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::context::Call;
use crate::error::Error;
use crate::sync::AtomicUsize;

use self::shift::Shift;
pub(crate) use self::shift::{Job, panic_text};
pub(crate) use self::worker::Unfinished;
use self::worker::{Workers, too_many_stuck};

/// How many teams are kept for the next call.
const MAX_IDLE: usize = 2;

/// How many jobs may be stuck after their callers left, before new ones are refused.
const MAX_ABANDONED: usize = 8;

/// The teams of threads that wait for work.
#[derive(Debug)]
pub(crate) struct Pool {
    threads: usize,
    /// `None` where all work is done on the threads of the callers.
    workers: Option<Workers>,
    idle: Mutex<Vec<ThreadPool>>,
    abandoned: Arc<AtomicUsize>,
}

impl Pool {
    /// Prepares teams of `threads` threads each; none is started before it is needed. With 0, all
    /// work is done on the threads of the callers.
    pub(crate) fn new(threads: usize) -> Pool {
        Pool {
            threads: threads.max(1),
            workers: (threads > 0).then(Workers::default),
            idle: Mutex::default(),
            abandoned: Arc::default(),
        }
    }

    /// Runs one call to its end. A call that must stop has a short grace to return what it has, and
    /// a longer one to finish a change that it has begun; then its caller leaves.
    pub(crate) fn call<R: Send + 'static>(
        &self,
        call: &Call,
        work: impl FnOnce(&Call) -> R + Send + 'static,
    ) -> Result<R, Unfinished> {
        if let Some(workers) = &self.workers {
            return workers.run(call, work);
        }
        let (call, _) = call.detached();
        catch_unwind(AssertUnwindSafe(|| work(&call))).map_err(Unfinished::Panicked)
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
            return Err(too_many_stuck(MAX_ABANDONED));
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
        self.workers.as_ref()?;
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

/// Locks; a panic of another thread has been reported by then and leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
