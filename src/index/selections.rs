//! What earlier walks visited, for as long as watches report no change of it.

use std::sync::{Arc, Mutex};

use crate::index::snapshot::IndexView;
use crate::index::snapshot_dir::{FilterKey, SnapshotDir};
use crate::pool::lock;
use crate::walk::{
    IgnoreRules, InitialTask, PathFilter, Reservation, Selection, SelectionLookup, WalkOptions,
};

/// How many selections are kept; searches, listings and hints differ in what they visit.
const MAX_SELECTIONS: usize = 8;

/// How many directories may have changed for the others to be read by one thread.
const MAX_CHANGED: usize = 64;

/// The selections of the last walks.
#[derive(Debug, Default)]
pub(super) struct Selections(Mutex<Vec<(SelectionKey, State)>>);

/// What is known of the walks of one key.
#[derive(Clone, Debug)]
enum State {
    /// There was one, so that its directories are likely to be known.
    Seen,
    Kept(Arc<KeptSelection>),
    /// Some of its directories cannot be watched or kept.
    Unfit,
}

#[derive(Debug)]
struct KeptSelection {
    selection: Arc<Selection>,
    /// All its directories, and those that hold roots that are files.
    dirs: Vec<Arc<SnapshotDir>>,
    /// The directories that have ignore files, with the rules above and inside them.
    ruled: Vec<(Arc<SnapshotDir>, IgnoreRules, IgnoreRules)>,
    _memory: Reservation,
}

/// Identifies the walks that visit the same entries.
#[derive(Clone, Debug)]
struct SelectionKey {
    /// The roots: their paths in the workspace, and the rules above them.
    roots: Vec<(Vec<u8>, IgnoreRules)>,
    options: FilterKey,
    filter: PathFilter,
    base_lens: Vec<usize>,
    directories: bool,
    max_depth: Option<usize>,
}

impl Selections {
    /// What a walk visits that has these options and begins with these tasks.
    pub(super) fn find(
        &self,
        view: &IndexView,
        options: &WalkOptions,
        tasks: &[InitialTask],
    ) -> SelectionLookup {
        let Some(key) = SelectionKey::of(options, tasks).filter(|_| view.cache.is_watched()) else {
            return SelectionLookup::Unknown;
        };
        let state = self.get(&key);
        match state {
            Some(State::Unfit) => SelectionLookup::Unknown,
            None => {
                self.put(key, State::Seen);
                SelectionLookup::Unknown
            }
            Some(State::Seen) => SelectionLookup::Wanted,
            Some(State::Kept(kept)) => {
                let changed = kept.changed(view, tasks);
                if changed == 0 && kept.has_rules(view) {
                    return SelectionLookup::Known(kept.selection.clone());
                }
                self.put(key, State::Seen);
                if changed > MAX_CHANGED {
                    SelectionLookup::Unknown
                } else {
                    SelectionLookup::Wanted
                }
            }
        }
    }

    /// Keeps what a walk visits, which was read by the call of `view`, for later walks.
    pub(super) fn keep(
        &self,
        view: &IndexView,
        options: &WalkOptions,
        tasks: &[InitialTask],
        selection: &Arc<Selection>,
    ) {
        let Some(key) = SelectionKey::of(options, tasks) else { return };
        let state = KeptSelection::new(view, options, tasks, selection)
            .map_or(State::Unfit, |kept| State::Kept(Arc::new(kept)));
        self.put(key, state);
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }

    fn get(&self, key: &SelectionKey) -> Option<State> {
        let kept = lock(&self.0);
        kept.iter().find(|(known, _)| known.is_same(key)).map(|(_, state)| state.clone())
    }

    fn put(&self, key: SelectionKey, state: State) {
        let mut kept = lock(&self.0);
        kept.retain(|(known, _)| !known.is_same(&key));
        if kept.len() >= MAX_SELECTIONS {
            kept.remove(0);
        }
        kept.push((key, state));
    }
}

impl SelectionKey {
    /// The key of a walk, unless it goes on from a position, visits exact files, or leaves the
    /// workspace root.
    fn of(options: &WalkOptions, tasks: &[InitialTask]) -> Option<SelectionKey> {
        if options.resume.is_some() || options.exact_files.is_some() || tasks.is_empty() {
            return None;
        }
        let root = |task: &InitialTask| match task {
            InitialTask::ReadDir(dir) => {
                let is_outside = dir.prefix.first() == Some(&b'/');
                (!is_outside).then(|| (dir.prefix.to_vec(), dir.rules.clone()))
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
            max_depth: options.max_depth,
        })
    }

    fn is_same(&self, other: &SelectionKey) -> bool {
        let rest = |key: &SelectionKey| (key.directories, key.max_depth, key.roots.len());
        rest(self) == rest(other)
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
    /// None if a later call could not tell whether something changed.
    fn new(
        view: &IndexView,
        options: &WalkOptions,
        tasks: &[InitialTask],
        selection: &Arc<Selection>,
    ) -> Option<KeptSelection> {
        let snapshot = &view.cache;
        let (mut dirs, mut ruled) = (Vec::new(), Vec::new());
        for selected in selection.directories() {
            let dir = snapshot.directory(&selected.prefix)?;
            if !dir.is_current(view.generation) || !selected.listing.is_part_of(&dir.listing) {
                return None;
            }
            if dir.is_ruled() && !options.no_ignore {
                ruled.push((dir.clone(), selected.above.clone(), selected.inside.clone()));
            }
            dirs.push(dir);
        }
        for task in tasks {
            if let InitialTask::Visit(_, batch) = task {
                dirs.push(snapshot.directory(&batch.prefix)?);
            }
        }
        let bytes = selection.bytes() + dirs.len() * size_of::<usize>();
        let memory = snapshot.budget().reserve(bytes, 0)?;
        Some(KeptSelection { selection: selection.clone(), dirs, ruled, _memory: memory })
    }

    /// How many directories may have changed.
    fn changed(&self, view: &IndexView, tasks: &[InitialTask]) -> usize {
        let is_root_changed = |task: &&InitialTask| match task {
            InitialTask::ReadDir(root) => {
                let stat = || root.parent.open()?.stat(&root.name);
                let now = view.directory(&root.prefix, root.is_in_place, &stat);
                !now.is_some_and(|now| self.dirs.iter().any(|dir| Arc::ptr_eq(dir, &now)))
            }
            InitialTask::Visit(..) => false,
        };
        let roots = tasks.iter().filter(is_root_changed).count();
        roots + self.dirs.iter().filter(|dir| !dir.is_current(view.generation)).count()
    }

    fn has_rules(&self, view: &IndexView) -> bool {
        self.ruled.iter().all(|(dir, above, inside)| {
            let open = || view.open(dir);
            dir.has_rules((above, inside), &open, view.generation)
        })
    }
}

#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable), feature = "watch"))]
mod tests;
