//! What the system tells of changes in directories.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use crate::pool::lock;
use crate::walk::dir_changes::DirChanges;
use crate::workspace::{Dir, WatchEvent, WatchId, Watcher};

/// How long nothing but the system is asked. It does not tell of everything: see
/// [`Watcher`].
const TRUST: Duration = Duration::from_secs(30);

/// How many directories are watched at most: what the system allows is for all programs of a user.
const MAX_WATCHED: usize = 32_768;

/// The directories that are watched.
#[derive(Debug)]
pub(super) struct WatchSet {
    watcher: Watcher,
    state: Mutex<State>,
    /// How many directories are watched at most.
    max: usize,
    /// The system takes no more.
    full: AtomicBool,
}

#[derive(Debug)]
pub(super) struct State {
    directories: HashMap<WatchId, Watched>,
    /// When everything was last looked at.
    trusted_from: Instant,
}

#[derive(Debug)]
struct Watched {
    prefix: Arc<[u8]>,
    changes: Arc<DirChanges>,
}

/// What follows from what was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WatchReport {
    /// Nothing that was looked at before is to be believed.
    pub(super) everything: bool,
    /// Names below directories, with a `/` behind each, that may be other directories now.
    pub(super) directories: Vec<Vec<u8>>,
}

impl WatchSet {
    /// A watch over nothing, or none where there cannot be any.
    pub(super) fn new() -> Option<WatchSet> {
        WatchSet::of(MAX_WATCHED)
    }

    /// The same, of at most so many directories.
    fn of(max: usize) -> Option<WatchSet> {
        let state = State { directories: HashMap::new(), trusted_from: Instant::now() };
        let (state, full) = (Mutex::new(state), AtomicBool::new(false));
        Some(WatchSet { watcher: Watcher::new().ok()?, state, max, full })
    }

    /// Keeps others from hearing what happened until this one has.
    pub(super) fn listen(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// Notes all that was done before, as of this epoch.
    pub(super) fn hear(&self, state: &mut State, current: u64) -> WatchReport {
        let mut told = WatchReport::default();
        let heard = self.watcher.drain(&mut |event| state.note(event, current, &mut told));
        told.everything |= heard.is_err();
        if state.trusted_from.elapsed() >= TRUST {
            told.everything = true;
            self.full.store(false, Ordering::Relaxed);
        }
        if told.everything {
            state.trusted_from = Instant::now();
        }
        told
    }

    /// Begins to watch a directory; true if what happens in it is told from here on.
    pub(super) fn add(&self, prefix: &Arc<[u8]>, changes: &Arc<DirChanges>, dir: &Dir) -> bool {
        if self.is_full() {
            return false;
        }
        // One lock for both, or threads that add together find room for one too many.
        let mut state = lock(&self.state);
        let has_room = state.directories.len() < self.max;
        let Some(id) = has_room.then(|| self.watcher.watch(dir).ok()).flatten() else {
            self.full.store(true, Ordering::Relaxed);
            return false;
        };
        let watched = Watched { prefix: prefix.clone(), changes: changes.clone() };
        let old = state.directories.insert(id, watched);
        drop(state);
        // The same directory under another path: only one of them can be told of.
        if let Some(old) = old.filter(|old| !Arc::ptr_eq(&old.changes, changes)) {
            old.changes.forget();
        }
        true
    }

    /// Whether the system takes no more.
    pub(super) fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// Ends the watches for which `goes` is true.
    pub(super) fn forget(&self, goes: impl Fn(&[u8]) -> bool) {
        lock(&self.state).directories.retain(|id, watched| {
            let goes = goes(&watched.prefix);
            if goes {
                watched.changes.forget();
                self.watcher.forget(*id);
            }
            !goes
        });
    }

    /// Lets time go by since everything was looked at.
    #[cfg(all(test, target_os = "linux", not(ripkit_portable), feature = "watch"))]
    pub(super) fn age(&self, by: Duration) {
        let mut state = lock(&self.state);
        if let Some(before) = state.trusted_from.checked_sub(by) {
            state.trusted_from = before;
        }
    }
}

impl State {
    fn note(&mut self, event: WatchEvent<'_>, current: u64, told: &mut WatchReport) {
        match event {
            WatchEvent::Overflow => told.everything = true,
            WatchEvent::Gone(id) => {
                if let Some(watched) = self.directories.remove(&id) {
                    watched.changes.forget();
                }
            }
            WatchEvent::Doubtful(id) => {
                if let Some(watched) = self.directories.get(&id) {
                    watched.changes.note_listing(current);
                }
            }
            WatchEvent::Content(id, name) => {
                if let Some(watched) = self.directories.get(&id) {
                    watched.changes.note_name(name, current);
                }
            }
            WatchEvent::Listing(id, name) => {
                if let Some(watched) = self.directories.get(&id) {
                    watched.changes.note_listing(current);
                    watched.changes.note_name(name, current);
                    told.directories.push([&*watched.prefix, name, b"/"].concat());
                }
            }
        }
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable), feature = "watch"))]
mod tests;
