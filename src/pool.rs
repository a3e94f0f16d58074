//! Threads that work for a caller who can be released at its deadline.
//!
//! Each call leases a team of threads of its own, so calls share no queue: a call that is stuck
//! in the kernel delays no other, and a thread of the host's own rayon pool that calls us only
//! waits; it never runs foreign work on its stack.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::context::{Call, Progress};
use crate::error::{Error, ErrorCode};

/// How often a waiting caller looks at its cancel flag.
const TICK: Duration = Duration::from_millis(5);

/// How long a stopped job may take to hand in what it has, before its caller leaves.
const GRACE: Duration = Duration::from_millis(50);

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_millis(100);

/// How many teams are kept for the next call.
const MAX_IDLE: usize = 2;

/// How many jobs may be stuck after their callers left, before new ones are refused.
const MAX_ABANDONED: usize = 8;

/// Work that several threads do together.
pub(crate) trait Job: Send + Sync + 'static {
    /// Works until there is nothing left to do; called once on each thread of the team.
    fn work(&self);

    /// Asks all threads to end soon; may be called more than once.
    fn stop(&self);

    /// How far the work has come.
    fn progress(&self) -> Progress;
}

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

/// One job's threads, seen from its caller.
struct Shift {
    state: Mutex<State>,
    all_done: Condvar,
}

struct State {
    working: usize,
    panic: Option<String>,
    /// The counter of stuck jobs, once the caller has left.
    abandoned: Option<Arc<AtomicUsize>>,
}

impl Shift {
    fn new(threads: usize) -> Shift {
        let state = State { working: threads, panic: None, abandoned: None };
        Shift { state: Mutex::new(state), all_done: Condvar::new() }
    }

    /// A panic must not leave rayon's job: there it would abort the host.
    fn work(&self, job: &impl Job) {
        let result = catch_unwind(AssertUnwindSafe(|| job.work()));
        let mut state = lock(&self.state);
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

    /// Waits for the job; false if it had to be left behind.
    fn wait(&self, job: &impl Job, call: &Call) -> bool {
        let mut leave_at = None;
        let mut reported = Instant::now();
        let mut state = lock(&self.state);
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
                state = lock(&self.state);
            }
        }
        true
    }

    fn abandon(&self, abandoned: &Arc<AtomicUsize>) {
        let mut state = lock(&self.state);
        if state.working > 0 {
            abandoned.fetch_add(1, Ordering::AcqRel);
            state.abandoned = Some(abandoned.clone());
        }
    }

    fn outcome(&self) -> Result<(), Error> {
        match &lock(&self.state).panic {
            None => Ok(()),
            Some(panic) => Err(Error::new(
                ErrorCode::Internal,
                format!("a worker thread failed unexpectedly: {panic}"),
            )),
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

/// The message of a panic, as far as it is text.
pub(crate) fn panic_text(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no reason given").to_owned()
}

/// Locks; a panic of another thread has been reported by then and leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
