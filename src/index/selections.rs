//! What earlier walks visited, for as long as watches report no change of it.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::index::dir_changes::Generation;
use crate::index::snapshot_dir::{FilterKey, SnapshotDir};
use crate::pool::lock;
use crate::walk::{
    IgnoreRules, InitialTask, OpenDir, PathFilter, Reservation, Selection, WalkOptions,
};

/// How many selections are kept; searches, listings and hints differ in what they visit.
const MAX_SELECTIONS: usize = 8;

/// The selections of the last walks.
#[derive(Debug, Default)]
pub(super) struct Selections(Mutex<Vec<(SelectionKey, State)>>);

/// What is known of the walks of one key.
#[derive(Clone, Debug)]
pub(super) enum State {
    /// There was one, so that its directories are likely to be known.
    Seen,
    Kept(Arc<KeptSelection>),
    /// Some of its directories cannot be watched or kept.
    Unfit,
}

#[derive(Debug)]
pub(super) struct KeptSelection {
    selection: Arc<Selection>,
    /// All its directories, and those that hold roots that are files.
    dirs: Vec<Arc<SnapshotDir>>,
    /// The directories that have ignore files, with the rules above and inside them.
    ruled: Vec<(Arc<SnapshotDir>, IgnoreRules, IgnoreRules)>,
    /// How many reports of changed listings had come when the directories were last checked and all
    /// watched; none if they never were.
    checked: AtomicU64,
    /// Whether more directories had changed in the last call than are read again at once.
    is_doubtful: AtomicBool,
    _memory: Reservation,
}

/// No number of reports.
const NEVER: u64 = u64::MAX;

/// Identifies the walks that visit the same entries.
#[derive(Clone, Debug)]
pub(super) struct SelectionKey {
    /// The roots: their paths in the workspace, and the rules above them.
    roots: Vec<(Vec<u8>, IgnoreRules)>,
    options: FilterKey,
    filter: PathFilter,
    base_lens: Vec<usize>,
    directories: bool,
    /// The depth limit, and the paths from which it counts beside the roots.
    depth: (Option<usize>, Vec<Vec<u8>>),
}

impl Selections {
    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    pub(super) fn get(&self, key: &SelectionKey) -> Option<State> {
        let kept = lock(&self.0);
        kept.iter().find(|(known, _)| known.is_same(key)).map(|(_, state)| state.clone())
    }

    /// Removes the selection of this key, if there is one.
    pub(super) fn take(&self, key: &SelectionKey) -> Option<Arc<KeptSelection>> {
        let mut kept = lock(&self.0);
        let position = kept.iter().position(|(known, _)| known.is_same(key))?;
        match kept.remove(position).1 {
            State::Kept(kept) => Some(kept),
            State::Seen | State::Unfit => None,
        }
    }

    pub(super) fn put(&self, key: SelectionKey, state: State) {
        let mut kept = lock(&self.0);
        kept.retain(|(known, _)| !known.is_same(&key));
        if kept.len() >= MAX_SELECTIONS {
            kept.remove(0);
        }
        kept.push((key, state));
    }
}

impl SelectionKey {
    /// The key of a walk, unless it goes on from a position, visits exact or changed files, or leaves
    /// the workspace root.
    pub(super) fn of(options: &WalkOptions, tasks: &[InitialTask]) -> Option<SelectionKey> {
        let is_fixed = options.exact_files.is_none() && options.filter.changed().is_none();
        if options.resume.is_some() || !is_fixed || tasks.is_empty() {
            return None;
        }
        let root = |task: &InitialTask| match task {
            InitialTask::ReadDir(dir) => {
                let is_outside = dir.prefix().first() == Some(&b'/');
                (!is_outside).then(|| (dir.prefix().to_vec(), dir.rules().clone()))
            }
            InitialTask::Visit(_, batch) => {
                let is_known = batch.files().all(|file| file.is_some());
                is_known.then(|| (batch.first_path(), IgnoreRules::default()))
            }
        };
        Some(SelectionKey {
            roots: tasks.iter().map(root).collect::<Option<_>>()?,
            options: FilterKey::of(options, &IgnoreRules::default()),
            filter: options.filter.clone(),
            base_lens: (0..options.roots.len()).map(|root| options.base_len(root)).collect(),
            directories: options.directories,
            depth: options.depth_key(),
        })
    }

    fn is_same(&self, other: &SelectionKey) -> bool {
        let rest = |key: &SelectionKey| (key.directories, key.roots.len());
        rest(self) == rest(other)
            && self.depth == other.depth
            && self.base_lens == other.base_lens
            && self.options.is_same(&other.options)
            && self.filter.is_same(&other.filter)
            && self
                .roots
                .iter()
                .zip(&other.roots)
                .all(|((path, rules), (other, others))| path == other && rules.is_same(others))
    }
}

impl KeptSelection {
    pub(super) fn new(
        selection: Arc<Selection>,
        dirs: Vec<Arc<SnapshotDir>>,
        ruled: Vec<(Arc<SnapshotDir>, IgnoreRules, IgnoreRules)>,
        memory: Reservation,
    ) -> KeptSelection {
        let (checked, is_doubtful) = (AtomicU64::new(NEVER), AtomicBool::new(false));
        KeptSelection { selection, dirs, ruled, checked, is_doubtful, _memory: memory }
    }

    pub(super) fn selection(&self) -> &Arc<Selection> {
        &self.selection
    }

    /// The directory that is at this place in the selection.
    pub(super) fn directory(&self, index: usize) -> Option<&Arc<SnapshotDir>> {
        self.dirs.get(index)
    }

    pub(super) fn has(&self, dir: &Arc<SnapshotDir>) -> bool {
        self.dirs.iter().any(|own| Arc::ptr_eq(own, dir))
    }

    /// The paths of directories that may have changed, in a call before which so many reports of changed
    /// listings had come.
    pub(super) fn changed(&self, generation: Generation, relisted: u64) -> Vec<Arc<[u8]>> {
        if self.checked.load(Ordering::Acquire) == relisted {
            return Vec::new();
        }
        let changed = self.dirs.iter().filter(|dir| !dir.is_current(generation));
        let changed = changed.map(|dir| dir.prefix().clone()).collect();
        if self.dirs.iter().all(|dir| dir.is_watched_current(generation)) {
            self.checked.store(relisted, Ordering::Release);
        }
        changed
    }

    /// Notes whether many directories may have changed; returns whether they may have in the call before.
    pub(super) fn doubt(&self, is_doubtful: bool) -> bool {
        self.is_doubtful.swap(is_doubtful, Ordering::AcqRel)
    }

    /// Whether the rules in ignore files are still the same.
    pub(super) fn has_rules(
        &self,
        generation: Generation,
        open: &dyn Fn(&SnapshotDir) -> io::Result<Arc<OpenDir>>,
    ) -> bool {
        let mut ruled = self.ruled.iter();
        ruled.all(|(dir, above, inside)| dir.has_rules((above, inside), &|| open(dir), generation))
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable), feature = "watch"))]
mod tests;
