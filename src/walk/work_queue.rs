//! The tasks of a walk that are still to be done, the leftmost in path order first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::pool::lock;
use crate::walk::directory::PendingDir;
use crate::walk::reorder_buffer::Ticket;
use crate::walk::selection::SelectionChunk;
use crate::walk::visitor::{Batch, SharedWork, WalkControl};

/// How long a thread without work is parked at most before it checks again.
const PARK: Duration = Duration::from_millis(10);

/// A unit of work; its results take the place of the ticket.
pub(crate) enum Task {
    ReadDir(PendingDir, Ticket),
    /// Visit a part of a selection.
    Select(SelectionChunk, Ticket),
    Visit(Batch, Ticket),
    /// Help another thread with its visit.
    Help(SharedWork),
}

impl Task {
    /// The path of its first entry, which orders the tasks below one root.
    fn path(&self) -> Vec<u8> {
        match self {
            Task::ReadDir(directory, _) => directory.prefix.to_vec(),
            Task::Select(chunk, _) => chunk.place().1,
            Task::Visit(batch, _) => batch.first_path(),
            Task::Help(_) => Vec::new(),
        }
    }
}

/// The tasks that are known but not begun, and the number of those that are not finished.
#[derive(Default)]
pub(crate) struct WorkQueue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    items: BinaryHeap<Item>,
    /// How many tasks are known and not finished, begun or not.
    unfinished: usize,
    /// How many threads are parked.
    parked: usize,
}

/// A task with its position in path order: the number of its root, and a path.
struct Item {
    root: usize,
    path: Vec<u8>,
    task: Task,
}

impl WorkQueue {
    /// Adds tasks, each with the number of the root that it lies below.
    pub(crate) fn push(&self, tasks: impl IntoIterator<Item = (usize, Task)>) {
        let mut state = lock(&self.state);
        for (root, task) in tasks {
            state.items.push(Item { root, path: task.path(), task });
            state.unfinished += 1;
        }
        self.wake(&state);
    }

    /// Takes the leftmost task.
    pub(crate) fn pop(&self) -> Option<Task> {
        lock(&self.state).items.pop().map(|item| item.task)
    }

    /// Helps another thread if one wants help; otherwise parks the current one.
    pub(crate) fn help_or_park(&self, walk: &dyn WalkControl) {
        let mut state = lock(&self.state);
        if !state.items.peek().is_some_and(|item| matches!(item.task, Task::Help(_))) {
            drop(self.park(state));
            return;
        }
        let task = state.items.pop().map(|item| item.task);
        drop(state);
        if let Some(Task::Help(work)) = task {
            work(walk);
            self.finish();
        }
    }

    /// Notes that a task is done, after everything that follows from it was pushed.
    pub(crate) fn finish(&self) {
        let mut state = lock(&self.state);
        state.unfinished = state.unfinished.saturating_sub(1);
        if state.unfinished == 0 {
            self.changed.notify_all();
        }
    }

    /// Whether everything is done.
    pub(crate) fn is_done(&self) -> bool {
        lock(&self.state).unfinished == 0
    }

    /// Whether a thread has begun a task that is not finished.
    pub(crate) fn has_begun(&self) -> bool {
        let state = lock(&self.state);
        state.unfinished > state.items.len()
    }

    /// Parks the thread until there may be something to do; false when everything is done.
    pub(crate) fn wait(&self) -> bool {
        let mut state = lock(&self.state);
        if state.unfinished > 0 && state.items.is_empty() {
            state = self.park(state);
        }
        state.unfinished > 0
    }

    /// Wakes the parked threads, so that they check whether the walk was stopped.
    pub(crate) fn notify(&self) {
        self.wake(&lock(&self.state));
    }

    fn park<'a>(&self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        state.parked += 1;
        let (mut state, _) =
            self.changed.wait_timeout(state, PARK).unwrap_or_else(PoisonError::into_inner);
        state.parked -= 1;
        state
    }

    fn wake(&self, state: &State) {
        if state.parked > 0 {
            self.changed.notify_all();
        }
    }
}

impl Item {
    /// Help comes first, because a visit waits for it.
    fn key(&self) -> (bool, usize, &[u8]) {
        (!matches!(self.task, Task::Help(_)), self.root, &self.path)
    }
}

/// The heap returns its greatest item first, so the leftmost is the greatest.
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
