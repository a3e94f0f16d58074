//! Threads that run one call each, so that a caller can leave a call that is blocked.
//!
//! Neither a system call on a file system that does not answer nor the compiler of regular
//! expressions can be interrupted. So a call runs on a thread of its own, and its caller waits for
//! the result, or until shortly after the deadline or the cancellation.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use super::job_latch::TICK;
use crate::context::{Call, CallHandle, Incomplete};
use crate::error::{Error, ErrorCode};
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, lock};

/// How many idle threads are kept for the next calls.
const MAX_IDLE: usize = 8;

/// How many calls may be blocked after their callers left, before new calls are refused.
pub(super) const MAX_BLOCKED: usize = 64;

/// How long a call that must stop may take to return what it has. Longer than the grace period of a
/// job, which the call may be waiting for. In a loom model, which has no clock, this time and the
/// next are over at once.
pub(super) const GRACE: Duration =
    Duration::from_millis(if cfg!(all(test, ripkit_loom)) { 0 } else { 200 });

/// How long a call that must stop may take to finish the change that it has begun to make. Shorter
/// in unit tests, which wait for its end.
pub(super) const COMMIT_GRACE: Duration = Duration::from_millis(if cfg!(not(test)) {
    5000
} else if cfg!(ripkit_loom) {
    0
} else {
    2000
});

/// Does the work of a call, and returns the function that delivers its result, which runs once the
/// thread is ready for the next call.
type Task = Box<dyn FnOnce() -> Deliver + Send>;
type Deliver = Box<dyn FnOnce() + Send>;

/// The task channels of idle threads.
type Idle = std::sync::Mutex<Vec<SyncSender<Task>>>;

/// The threads that run calls. Idle threads end when this is dropped.
#[derive(Debug, Default)]
pub(super) struct CallThreads {
    idle: Arc<Idle>,
    blocked: Arc<AtomicUsize>,
}

/// Why a call has no result.
#[derive(Debug)]
pub(crate) enum Unfinished {
    /// It was not started: too many earlier calls are still blocked.
    Refused(Error),
    /// Its caller left before it began a change, which it will not make.
    Left(Incomplete),
    /// Its caller left while it made a change, which may or may not be made.
    LeftCommitting(Incomplete),
    /// It panicked.
    Panicked(Box<dyn Any + Send>),
}

impl CallThreads {
    /// Runs `work` on another thread and waits for it, but not much longer than `call` allows.
    pub(super) fn run<R: Send + 'static>(
        &self,
        call: &Call,
        work: impl FnOnce(&Call) -> R + Send + 'static,
    ) -> Result<R, Unfinished> {
        if self.blocked.load(Ordering::Acquire) >= MAX_BLOCKED {
            return Err(Unfinished::Refused(too_many_stuck(MAX_BLOCKED)));
        }
        let (call, caller) = call.detached();
        let handover = Arc::new(Handover::default());
        let task: Task = Box::new({
            let (call, handover) = (call.clone(), handover.clone());
            move || {
                // Everything that `work` owns is dropped before the caller goes on.
                let result = catch_unwind(AssertUnwindSafe(|| work(&call)));
                drop(call);
                Box::new(move || handover.finish(result))
            }
        });
        if let Err(task) = self.start(task) {
            // No thread can be started: the caller does the work, and cannot leave it.
            task()();
        }
        match handover.wait(&call, &caller, &self.blocked) {
            Ok(result) => result.map_err(Unfinished::Panicked),
            Err(left) => {
                caller.close();
                Err(left)
            }
        }
    }

    /// Sends the task to an idle thread or a new one; returns it if no thread can be started.
    fn start(&self, mut task: Task) -> Result<(), Task> {
        loop {
            let Some(worker) = lock(&self.idle).pop() else { break };
            match worker.send(task) {
                Ok(()) => return Ok(()),
                Err(unsent) => task = unsent.0,
            }
        }
        let (worker, tasks) = sync_channel(1);
        let idle = Arc::downgrade(&self.idle);
        let builder = thread::Builder::new().name("ripkit-call".to_owned());
        match builder.spawn(move || serve(tasks, &idle)) {
            Ok(_) => worker.send(task).map_err(|unsent| unsent.0),
            Err(_) => Err(task),
        }
    }
}

/// Refuses a call because `count` earlier ones are still blocked.
pub(super) fn too_many_stuck(count: usize) -> Error {
    Error::new(
        ErrorCode::ResourceExhausted,
        format!("{count} earlier calls that ran out of time are still at work"),
    )
    .with_hint("Wait; a regular expression is very slow, or a file system does not answer.")
}

/// Runs tasks until the channel is closed, or enough other threads are idle.
fn serve(mut tasks: Receiver<Task>, idle: &Weak<Idle>) {
    while let Ok(task) = tasks.recv() {
        let deliver = task();
        let next = idle.upgrade().and_then(|idle| {
            let mut idle = lock(&idle);
            (idle.len() < MAX_IDLE).then(|| {
                let (worker, next) = sync_channel(1);
                idle.push(worker);
                next
            })
        });
        deliver();
        let Some(next) = next else { return };
        tasks = next;
    }
}

/// Passes the result of a call from the thread that runs it to the caller.
struct Handover<R> {
    state: Mutex<State<R>>,
    finished: Condvar,
}

struct State<R> {
    result: Option<R>,
    /// The number of blocked calls, which this one is counted in once its caller has left.
    blocked: Option<Arc<AtomicUsize>>,
}

impl<R> Default for Handover<R> {
    fn default() -> Handover<R> {
        let state = State { result: None, blocked: None };
        Handover { state: Mutex::new(state), finished: Condvar::new() }
    }
}

impl<R> Handover<R> {
    fn finish(&self, result: R) {
        let mut state = self.state();
        if let Some(blocked) = state.blocked.take() {
            blocked.fetch_sub(1, Ordering::AcqRel);
            return;
        }
        state.result = Some(result);
        self.finished.notify_all();
    }

    /// Waits for the result, or leaves.
    fn wait(
        &self,
        call: &Call,
        caller: &CallHandle,
        blocked: &Arc<AtomicUsize>,
    ) -> Result<R, Unfinished> {
        let mut stopped: Option<(Incomplete, Instant)> = None;
        let mut state = self.state();
        loop {
            if let Some(result) = state.result.take() {
                return Ok(result);
            }
            let now = Instant::now();
            // While the host takes text, the work is not stuck; its grace period begins afterwards.
            if stopped.is_none() || caller.is_writing() {
                stopped = call.stop_reason().map(|why| (why, now));
            } else if let Some((why, since)) = stopped {
                let waited = now.saturating_duration_since(since);
                let left = if waited >= GRACE && caller.leave() {
                    Some(Unfinished::Left(why))
                } else if waited >= COMMIT_GRACE {
                    Some(Unfinished::LeftCommitting(why))
                } else {
                    None
                };
                if let Some(left) = left {
                    blocked.fetch_add(1, Ordering::AcqRel);
                    state.blocked = Some(blocked.clone());
                    return Err(left);
                }
            }
            let waited = self.finished.wait_timeout(state, TICK);
            (state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// A panic under the lock leaves nothing half done, so a poisoned lock is used as it is.
    fn state(&self) -> MutexGuard<'_, State<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
#[cfg(ripkit_loom)]
mod models;

#[cfg(all(test, not(ripkit_loom)))]
mod tests;
