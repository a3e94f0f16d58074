//! Waits for the threads of one job, or abandons them.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::context::{Call, Progress};
use crate::error::{Error, ErrorCode};
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard};

/// How often a waiting caller checks its cancel flag.
pub(super) const TICK: Duration = Duration::from_millis(5);

/// How long a stopped job may take to return what it has, before its caller leaves. In a loom model,
/// which has no clock, this time is over at once.
pub(super) const GRACE: Duration =
    Duration::from_millis(if cfg!(all(test, ripkit_loom)) { 0 } else { 50 });

/// How often progress is reported; never in a loom model.
const PROGRESS: Duration =
    if cfg!(all(test, ripkit_loom)) { Duration::MAX } else { Duration::from_millis(100) };

/// Work that several threads do together.
pub(crate) trait Job: Send + Sync + 'static {
    /// Works until there is nothing left to do; called once on each worker thread.
    fn work(&self);

    /// Asks all threads to end soon; may be called more than once.
    fn stop(&self);

    /// How far the work has come.
    fn progress(&self) -> Progress;
}

/// Counts the threads that still work on a job.
pub(super) struct JobLatch {
    state: Mutex<State>,
    all_done: Condvar,
}

struct State {
    working: usize,
    panic: Option<String>,
    /// The number of stuck jobs, which this one is counted in once its caller has left.
    abandoned: Option<Arc<AtomicUsize>>,
}

impl JobLatch {
    pub(super) fn new(threads: usize) -> JobLatch {
        let state = State { working: threads, panic: None, abandoned: None };
        JobLatch { state: Mutex::new(state), all_done: Condvar::new() }
    }

    /// Works on the job from one thread. A panic is caught: in a rayon job it would abort the host.
    pub(super) fn work(&self, job: &impl Job) {
        let result = catch_unwind(AssertUnwindSafe(|| job.work()));
        let mut state = self.state();
        if let Err(payload) = result {
            state.panic.get_or_insert(panic_text(&*payload));
            job.stop();
        }
        state.working -= 1;
        if state.working == 0 {
            if let Some(abandoned) = state.abandoned.take() {
                abandoned.fetch_sub(1, Ordering::AcqRel);
            }
            self.all_done.notify_all();
        }
    }

    /// Waits for the job; false if it has to be abandoned.
    pub(super) fn wait(&self, job: &impl Job, call: &Call) -> bool {
        let mut leave_at = None;
        let mut reported = Instant::now();
        let mut state = self.state();
        while state.working > 0 {
            let (next, _) =
                self.all_done.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner);
            state = next;
            if leave_at.is_some_and(|moment| Instant::now() >= moment) {
                return state.working == 0;
            }
            if leave_at.is_none() && call.stop_reason().is_some() {
                job.stop();
                leave_at = Some(Instant::now() + GRACE);
            }
            if reported.elapsed() >= PROGRESS {
                reported = Instant::now();
                drop(state);
                call.report(job.progress());
                state = self.state();
            }
        }
        true
    }

    /// Counts the job in `abandoned` until its last thread ends.
    pub(super) fn abandon(&self, abandoned: &Arc<AtomicUsize>) {
        let mut state = self.state();
        if state.working > 0 {
            abandoned.fetch_add(1, Ordering::AcqRel);
            state.abandoned = Some(abandoned.clone());
        }
    }

    /// `INTERNAL` if a thread panicked.
    pub(super) fn outcome(&self) -> Result<(), Error> {
        match &self.state().panic {
            None => Ok(()),
            Some(panic) => Err(Error::new(
                ErrorCode::Internal,
                format!("a worker thread failed unexpectedly: {panic}"),
            )),
        }
    }

    /// A panic under the lock leaves nothing half done, so a poisoned lock is used as it is.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The message of a panic, if it is text.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason given").to_owned()
}

#[cfg(test)]
#[cfg(ripkit_loom)]
mod models;
