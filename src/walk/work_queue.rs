//! What is still to be walked, the leftmost first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::pool::lock;
use crate::walk::batch::Batch;
use crate::walk::pending_dir::PendingDir;
use crate::walk::recorded_walk::WalkChunk;
use crate::walk::sequence::Place;
use crate::walk::visitor::{SharedWork, WalkControl};

/// How long a thread without work sleeps at most before it looks again.
const NAP: Duration = Duration::from_millis(10);

/// One thing to do.
pub(crate) enum Task {
    /// List a directory; its results go to the place.
    List(PendingDir, Place),
    /// Go a part of a known way; its results go to the place.
    Follow(WalkChunk, Place),
    /// Look at some files; the results go to the place.
    Visit(Batch, Place),
    /// Help another thread.
    Assist(SharedWork),
}

impl Task {
    /// Where it stands in path order below its beginning.
    pub(crate) fn position(&self) -> Vec<u8> {
        match self {
            Task::List(directory, _) => directory.prefix.to_vec(),
            Task::Follow(leg, _) => leg.first(),
            Task::Visit(batch, _) => batch.first(),
            Task::Assist(_) => Vec::new(),
        }
    }
}

/// A task with its position in path order; tasks to the left come first.
struct Item {
    start: usize,
    path: Vec<u8>,
    task: Task,
}

/// The tasks that are known but not begun, and how many are not finished.
#[derive(Default)]
pub(crate) struct WorkQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    items: BinaryHeap<Item>,
    /// Tasks known and not finished, begun or not.
    unfinished: usize,
    resting: usize,
}

impl WorkQueue {
    /// Adds tasks, each with its position: the beginning it lies below and its path.
    pub(crate) fn push(&self, tasks: impl IntoIterator<Item = (usize, Vec<u8>, Task)>) {
        let mut state = lock(&self.state);
        for (start, path, task) in tasks {
            state.items.push(Item { start, path, task });
            state.unfinished += 1;
        }
        self.wake(&state);
    }

    /// Takes the leftmost task.
    pub(crate) fn pop(&self) -> Option<Task> {
        lock(&self.state).items.pop().map(|item| item.task)
    }

    /// Helps another thread if one asks for it, else sleeps a little.
    pub(crate) fn assist_or_nap(&self, scan: &dyn WalkControl) {
        let mut state = lock(&self.state);
        let asked = state.items.peek().is_some_and(|item| matches!(item.task, Task::Assist(_)));
        if !asked {
            state.resting += 1;
            let (mut woken, _) =
                self.changed.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner);
            woken.resting -= 1;
            return;
        }
        let task = state.items.pop().map(|item| item.task);
        drop(state);
        if let Some(Task::Assist(work)) = task {
            work(scan);
            self.finish();
        }
    }

    /// Notes that a task is done, and all that it led to is pushed.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        state.unfinished = state.unfinished.saturating_sub(1);
        if state.unfinished == 0 {
            self.changed.notify_all();
        }
    }

    /// Tells whether everything is done.
    pub(crate) fn is_done(&self) -> bool {
        lock(&self.state).unfinished == 0
    }

    /// Waits until there may be something to do; false when everything is done.
    pub(crate) fn rest(&self, elsewhere: impl Fn() -> bool) -> bool {
        let mut state = lock(&self.state);
        if state.unfinished == 0 {
            return false;
        }
        if state.items.is_empty() && !elsewhere() {
            state.resting += 1;
            let (woken, _) =
                self.changed.wait_timeout(state, NAP).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.resting -= 1;
        }
        state.unfinished > 0
    }

    /// Wakes the threads that rest, as when work appeared elsewhere.
    pub(crate) fn nudge(&self) {
        self.wake(&lock(&self.state));
    }

    fn wake(&self, state: &State) {
        if state.resting > 0 {
            self.changed.notify_all();
        }
    }
}

impl Item {
    /// Help comes before everything: somebody waits for it.
    fn key(&self) -> (bool, usize, &[u8]) {
        (!matches!(self.task, Task::Assist(_)), self.start, &self.path)
    }
}

/// The heap gives its greatest first, so the leftmost is the greatest.
impl Ord for Item {
    fn cmp(&self, other: &Item) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Item) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Item {}
