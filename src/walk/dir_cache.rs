//! Directories kept from walk to walk.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::walk::cached_dir::CachedDir;
use crate::walk::dir_changes::{DirChanges, Generation};
use crate::walk::dir_table::{DirTable, lies_below};
use crate::walk::ignore_rules::{Found, IgnoreRules};
use crate::walk::listing::DirListing;
use crate::walk::memory_budget::MemoryBudget;
use crate::walk::recorded_walk::RecordedWalks;
use crate::walk::watch_set::WatchSet;
use crate::workspace::{Dir, Fingerprint, Kind, OuterIgnores, RecentFingerprint, Stat, Volume};

/// The most entries that are listed of a directory above the beginning of a walk, which nobody
/// asked to be listed.
const MAX_ON_THE_WAY: usize = 10_000;

/// How many new entries are looked at one by one; with more, everything is.
const MAX_LOOKS: usize = 256;

/// Where directories are known from that no walk of this process has come by.
pub(crate) trait StoredListings: fmt::Debug + Send + Sync {
    /// A directory as it was listed, with the stamp that it had.
    fn directory(&self, prefix: &Arc<[u8]>) -> Option<(Fingerprint, Arc<DirListing>)>;
}

/// What walks saw, for those that follow. Every answer is as of now: a directory is looked at
/// again, by its stamp, before it is taken from here.
#[derive(Debug)]
pub(crate) struct DirCache {
    directories: RwLock<DirTable>,
    earlier: RwLock<Option<Arc<dyn StoredListings>>>,
    outer: OnceLock<(IgnoreRules, Vec<String>)>,
    current: AtomicU64,
    /// What was looked at before this epoch is not believed.
    min_valid: AtomicU64,
    watching: Option<WatchSet>,
    /// Where what the system told of is looked at.
    root: Arc<Dir>,
    /// For what follows from listings: rules, and what they leave.
    budget: MemoryBudget,
    /// The ways of whole walks.
    pub(super) routes: RecordedWalks,
    /// Bytes that listings may take, or so.
    max: usize,
    /// Held by every call that is under way.
    calls: Arc<()>,
}

/// The memory as one call may use it.
#[derive(Clone, Debug)]
pub(crate) struct CacheView {
    pub(crate) cache: Arc<DirCache>,
    pub(crate) generation: Generation,
    /// Held as long as the call goes on, unless it is one for which nobody waits.
    _active: Option<Arc<()>>,
}

impl DirCache {
    /// An empty memory of the tree below `root` that holds `max` bytes, or so.
    pub(crate) fn new(root: &Arc<Dir>, max: usize, watched: bool) -> DirCache {
        DirCache {
            directories: RwLock::default(),
            earlier: RwLock::default(),
            outer: OnceLock::new(),
            current: AtomicU64::new(0),
            min_valid: AtomicU64::new(0),
            watching: if watched { WatchSet::new() } else { None },
            root: root.clone(),
            budget: MemoryBudget::new(max),
            routes: RecordedWalks::default(),
            max,
            calls: Arc::default(),
        }
    }

    /// Begins a call, which sees everything that happened before.
    pub(crate) fn begin(self: &Arc<DirCache>) -> CacheView {
        let (current, min_valid) = self.watching.as_ref().map_or_else(
            || {
                let current = self.next_epoch();
                (current, current)
            },
            |watching| self.hear(watching),
        );
        CacheView {
            cache: self.clone(),
            generation: Generation { current, min_valid },
            _active: Some(self.calls.clone()),
        }
    }

    fn next_epoch(&self) -> u64 {
        self.current.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Begins an epoch with all that a watcher was told before.
    fn hear(&self, watching: &WatchSet) -> (u64, u64) {
        let mut state = watching.listen();
        let current = self.next_epoch();
        let told = watching.hear(&mut state, current);
        for prefix in &told.directories {
            if let Some(cached) = self.directory(prefix) {
                cached.changes.note_listing(current);
            }
        }
        if told.everything || self.has_new_link(&told.directories) {
            self.min_valid.fetch_max(current, Ordering::AcqRel);
        }
        (current, self.min_valid.load(Ordering::Acquire))
    }

    /// Whether one of these new entries, with a `/` behind each, may be a second name of a file:
    /// nobody is told of what is written by it to those who watch the first.
    fn has_new_link(&self, entries: &[Vec<u8>]) -> bool {
        entries.len() > MAX_LOOKS
            || entries.iter().any(|entry| {
                let path = entry.strip_suffix(b"/").unwrap_or(entry);
                let base = path.iter().rposition(|byte| *byte == b'/');
                let stat = match base {
                    Some(base) => self.root.descend(path.get(..base).unwrap_or_default()).and_then(
                        |directory| directory.stat(path.get(base + 1..).unwrap_or_default()),
                    ),
                    None => self.root.stat(path),
                };
                stat.is_ok_and(|stat| stat.kind == Kind::File && stat.links > 1)
            })
    }

    /// Whether a call is under way for which somebody waits.
    pub(crate) fn is_busy(&self) -> bool {
        Arc::strong_count(&self.calls) > 1
    }

    /// Whether the system tells what changes.
    pub(crate) fn is_watched(&self) -> bool {
        self.watching.is_some()
    }

    /// Where else to look for directories.
    pub(crate) fn look_into(&self, earlier: Option<Arc<dyn StoredListings>>) {
        *self.earlier.write().unwrap_or_else(PoisonError::into_inner) = earlier;
    }

    /// Bytes held, or so.
    pub(crate) fn bytes(&self) -> usize {
        self.read().bytes() + self.budget.taken()
    }

    /// For what follows from listings.
    pub(super) fn budget(&self) -> &MemoryBudget {
        &self.budget
    }

    /// A directory as it was last listed, which may be long ago.
    pub(crate) fn directory(&self, prefix: &[u8]) -> Option<Arc<CachedDir>> {
        self.read().get(prefix).cloned()
    }

    /// All directories, in byte order of their paths.
    pub(crate) fn directories(&self) -> Vec<Arc<CachedDir>> {
        let mut all: Vec<_> = self.read().iter().cloned().collect();
        all.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix));
        all
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.write() = DirTable::default();
        self.routes.clear();
        if let Some(watching) = &self.watching {
            watching.forget(|_| true);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, DirTable> {
        self.directories.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, DirTable> {
        self.directories.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory that another process listed.
    fn listed_earlier(&self, prefix: &Arc<[u8]>) -> Option<CachedDir> {
        let earlier = self.earlier.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        let (stamp, listing) = earlier.directory(prefix)?;
        let mut found = Found::default();
        (0..listing.len())
            .filter_map(|index| listing.get(index))
            .for_each(|(name, kind)| found.note(name, kind));
        let known = (listing, found);
        let facts = (Volume::Disk, Some(stamp), Some(stamp.identity));
        Some(CachedDir::new(prefix.clone(), known, facts, Arc::default()))
    }

    /// Puts a directory in the place of what was kept of it, and forgets what lay below it and
    /// is gone.
    fn insert(&self, cached: Arc<CachedDir>) {
        let gone = self.write().put(cached, self.max);
        // Never with both locks: who hears of changes looks for directories.
        if let Some(watching) = self.watching.as_ref().filter(|_| !gone.is_empty()) {
            watching.forget(|prefix| lies_below(prefix, &gone));
        }
    }
}

impl CacheView {
    /// The same for a call for which nobody waits.
    pub(crate) fn unhurried(self) -> CacheView {
        CacheView { _active: None, ..self }
    }

    /// The rules from outside the root.
    pub(super) fn outer(&self, outer: &OuterIgnores, warnings: &mut Vec<String>) -> IgnoreRules {
        let (rules, told) = self.cache.outer.get_or_init(|| {
            let mut told = Vec::new();
            let rules = IgnoreRules::outer(outer, &mut told);
            rules.keep(&self.cache.budget);
            (rules, told)
        });
        warnings.extend_from_slice(told);
        rules.clone()
    }

    /// A directory of which somebody would have told if it were not as it was kept.
    pub(super) fn at_hand(&self, prefix: &[u8]) -> Option<Arc<CachedDir>> {
        self.cache.directory(prefix).filter(|cached| cached.is_current(self.generation))
    }

    /// A directory as it is now, if it is still as it was kept; it is looked at unless it is the
    /// one that was kept and nothing was told of it.
    pub(super) fn directory(
        &self,
        prefix: &Arc<[u8]>,
        is_in_place: bool,
        stat: &dyn Fn() -> io::Result<Stat>,
    ) -> Option<Arc<CachedDir>> {
        let known = self.cache.directory(prefix);
        if let Some(cached) =
            known.as_ref().filter(|cached| is_in_place && cached.is_current(self.generation))
        {
            return Some(cached.clone());
        }
        let is_known = known.is_some();
        let cached = match known {
            Some(cached) => cached,
            None => Arc::new(self.cache.listed_earlier(prefix)?),
        };
        let stat = stat().ok().filter(|stat| stat.kind == Kind::Directory)?;
        if cached.stamp != Some(Fingerprint::of(&stat)) {
            return None;
        }
        cached.verify(self.generation.current);
        if !is_known {
            self.cache.insert(cached.clone());
        }
        Some(cached)
    }

    /// A directory on the way to where a walk begins, listed if it is not known; none where it
    /// cannot be kept.
    pub(super) fn on_the_way(&self, prefix: &Arc<[u8]>, dir: &Dir) -> Option<Arc<CachedDir>> {
        if let Some(cached) = self.directory(prefix, false, &|| dir.stat(b".")) {
            return Some(cached);
        }
        let dir = dir.open_dir(b".").ok().filter(|dir| dir.volume() == Volume::Disk)?;
        let stamp = RecentFingerprint::of(&dir);
        let changes = self.changes(prefix, stamp, &dir);
        let (mut listing, mut found) = (DirListing::default(), Found::default());
        let listed = dir.list(|name, kind| {
            found.note(name, kind);
            listing.push(name, kind);
            if listing.len() > MAX_ON_THE_WAY {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        listed.ok()?;
        let is_whole = listing.len() <= MAX_ON_THE_WAY;
        is_whole.then(|| self.keep(prefix, (Arc::new(listing), found), (stamp, changes)))
    }

    /// What is told of a directory that is about to be listed; it is watched, if it can be.
    pub(super) fn changes(
        &self,
        prefix: &Arc<[u8]>,
        stamp: RecentFingerprint,
        dir: &Dir,
    ) -> Arc<DirChanges> {
        let old = self.cache.directory(prefix);
        let same = old.filter(|old| old.identity.is_some() && old.identity == stamp.identity());
        let changes = same.map(|old| old.changes.clone()).unwrap_or_default();
        self.watch(prefix, &changes, dir);
        changes
    }

    /// Watches a directory, if that is wanted and it is not watched yet.
    pub(super) fn watch(&self, prefix: &Arc<[u8]>, changes: &Arc<DirChanges>, dir: &Dir) {
        let Some(watching) = &self.cache.watching else { return };
        if !changes.are_told() && watching.add(prefix, changes, dir) {
            // Whoever began before may have looked before the watch was there.
            changes.watched_since(self.cache.next_epoch());
        }
    }

    /// Whether a directory should be watched that is not.
    pub(super) fn wants_watch(&self, cached: &CachedDir) -> bool {
        let watching = self.cache.watching.as_ref();
        watching.is_some_and(|watching| !watching.is_full()) && !cached.changes.are_told()
    }

    /// Keeps a directory that was listed by this call.
    pub(super) fn keep(
        &self,
        prefix: &Arc<[u8]>,
        (listing, found): (Arc<DirListing>, Found),
        (stamp, changes): (RecentFingerprint, Arc<DirChanges>),
    ) -> Arc<CachedDir> {
        let facts = (Volume::Disk, stamp.unless_racy(), stamp.identity());
        let cached = Arc::new(CachedDir::new(prefix.clone(), (listing, found), facts, changes));
        cached.verify(self.generation.current);
        self.cache.insert(cached.clone());
        cached
    }
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
