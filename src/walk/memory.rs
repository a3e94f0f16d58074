//! Directories kept from walk to walk.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::walk::changes::{Changes, Era};
use crate::walk::directories::{Directories, lies_below};
use crate::walk::kept::Kept;
use crate::walk::listing::Listing;
use crate::walk::room::Room;
use crate::walk::route::Routes;
use crate::walk::rules::{Found, Rules};
use crate::walk::watching::Watching;
use crate::workspace::{Dir, Kind, OuterIgnores, RecentStamp, Stamp, Stat, Volume};

/// The most entries that are listed of a directory above the beginning of a walk, which nobody
/// asked to be listed.
const MAX_ON_THE_WAY: usize = 10_000;

/// How many new entries are looked at one by one; with more, everything is.
const MAX_LOOKS: usize = 256;

/// Where directories are known from that no walk of this process has come by.
pub(crate) trait Earlier: fmt::Debug + Send + Sync {
    /// A directory as it was listed, with the stamp that it had.
    fn directory(&self, prefix: &Arc<[u8]>) -> Option<(Stamp, Arc<Listing>)>;
}

/// What walks saw, for those that follow. Every answer is as of now: a directory is looked at
/// again, by its stamp, before it is taken from here.
#[derive(Debug)]
pub(crate) struct Memory {
    directories: RwLock<Directories>,
    earlier: RwLock<Option<Arc<dyn Earlier>>>,
    outer: OnceLock<(Rules, Vec<String>)>,
    epoch: AtomicU64,
    /// What was looked at before this epoch is not believed.
    floor: AtomicU64,
    watching: Option<Watching>,
    /// Where what the system told of is looked at.
    root: Arc<Dir>,
    /// For what follows from listings: rules, and what they leave.
    room: Room,
    /// The ways of whole walks.
    pub(super) routes: Routes,
    /// Bytes that listings may take, or so.
    most: usize,
    /// Held by every call that is under way.
    calls: Arc<()>,
}

/// The memory as one call may use it.
#[derive(Clone, Debug)]
pub(crate) struct Recall {
    pub(crate) memory: Arc<Memory>,
    pub(crate) era: Era,
    /// Held as long as the call goes on, unless it is one for which nobody waits.
    _active: Option<Arc<()>>,
}

impl Memory {
    /// An empty memory of the tree below `root` that holds `most` bytes, or so.
    pub(crate) fn new(root: &Arc<Dir>, most: usize, watched: bool) -> Memory {
        Memory {
            directories: RwLock::default(),
            earlier: RwLock::default(),
            outer: OnceLock::new(),
            epoch: AtomicU64::new(0),
            floor: AtomicU64::new(0),
            watching: if watched { Watching::new() } else { None },
            root: root.clone(),
            room: Room::new(most),
            routes: Routes::default(),
            most,
            calls: Arc::default(),
        }
    }

    /// Begins a call, which sees everything that happened before.
    pub(crate) fn begin(self: &Arc<Memory>) -> Recall {
        let (epoch, floor) = self.watching.as_ref().map_or_else(
            || {
                let epoch = self.next_epoch();
                (epoch, epoch)
            },
            |watching| self.hear(watching),
        );
        Recall {
            memory: self.clone(),
            era: Era { epoch, floor },
            _active: Some(self.calls.clone()),
        }
    }

    fn next_epoch(&self) -> u64 {
        self.epoch.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Begins an epoch with all that a watcher was told before.
    fn hear(&self, watching: &Watching) -> (u64, u64) {
        let mut state = watching.listen();
        let epoch = self.next_epoch();
        let told = watching.hear(&mut state, epoch);
        for prefix in &told.directories {
            if let Some(kept) = self.directory(prefix) {
                kept.changes.note_listing(epoch);
            }
        }
        if told.everything || self.has_new_link(&told.directories) {
            self.floor.fetch_max(epoch, Ordering::AcqRel);
        }
        (epoch, self.floor.load(Ordering::Acquire))
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
    pub(crate) fn look_into(&self, earlier: Option<Arc<dyn Earlier>>) {
        *self.earlier.write().unwrap_or_else(PoisonError::into_inner) = earlier;
    }

    /// Bytes held, or so.
    pub(crate) fn bytes(&self) -> usize {
        self.read().bytes() + self.room.taken()
    }

    /// For what follows from listings.
    pub(super) fn room(&self) -> &Room {
        &self.room
    }

    /// A directory as it was last listed, which may be long ago.
    pub(crate) fn directory(&self, prefix: &[u8]) -> Option<Arc<Kept>> {
        self.read().get(prefix).cloned()
    }

    /// All directories, in byte order of their paths.
    pub(crate) fn directories(&self) -> Vec<Arc<Kept>> {
        let mut all: Vec<_> = self.read().iter().cloned().collect();
        all.sort_unstable_by(|a, b| a.prefix.cmp(&b.prefix));
        all
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.write() = Directories::default();
        self.routes.clear();
        if let Some(watching) = &self.watching {
            watching.forget(|_| true);
        }
    }

    fn read(&self) -> RwLockReadGuard<'_, Directories> {
        self.directories.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Directories> {
        self.directories.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// A directory that another process listed.
    fn listed_earlier(&self, prefix: &Arc<[u8]>) -> Option<Kept> {
        let earlier = self.earlier.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        let (stamp, listing) = earlier.directory(prefix)?;
        let mut found = Found::default();
        (0..listing.len())
            .filter_map(|index| listing.get(index))
            .for_each(|(name, kind)| found.note(name, kind));
        let known = (listing, found);
        let facts = (Volume::Disk, Some(stamp), Some(stamp.identity));
        Some(Kept::new(prefix.clone(), known, facts, Arc::default()))
    }

    /// Puts a directory in the place of what was kept of it, and forgets what lay below it and
    /// is gone.
    fn insert(&self, kept: Arc<Kept>) {
        let gone = self.write().put(kept, self.most);
        // Never with both locks: who hears of changes looks for directories.
        if let Some(watching) = self.watching.as_ref().filter(|_| !gone.is_empty()) {
            watching.forget(|prefix| lies_below(prefix, &gone));
        }
    }
}

impl Recall {
    /// The same for a call for which nobody waits.
    pub(crate) fn unhurried(self) -> Recall {
        Recall { _active: None, ..self }
    }

    /// The rules from outside the root.
    pub(super) fn outer(&self, outer: &OuterIgnores, warnings: &mut Vec<String>) -> Rules {
        let (rules, told) = self.memory.outer.get_or_init(|| {
            let mut told = Vec::new();
            let rules = Rules::outer(outer, &mut told);
            rules.keep(&self.memory.room);
            (rules, told)
        });
        warnings.extend_from_slice(told);
        rules.clone()
    }

    /// A directory of which somebody would have told if it were not as it was kept.
    pub(super) fn at_hand(&self, prefix: &[u8]) -> Option<Arc<Kept>> {
        self.memory.directory(prefix).filter(|kept| kept.is_current(self.era))
    }

    /// A directory as it is now, if it is still as it was kept; it is looked at unless it is the
    /// one that was kept and nothing was told of it.
    pub(super) fn directory(
        &self,
        prefix: &Arc<[u8]>,
        is_in_place: bool,
        stat: &dyn Fn() -> io::Result<Stat>,
    ) -> Option<Arc<Kept>> {
        let known = self.memory.directory(prefix);
        if let Some(kept) = known.as_ref().filter(|kept| is_in_place && kept.is_current(self.era)) {
            return Some(kept.clone());
        }
        let is_known = known.is_some();
        let kept = match known {
            Some(kept) => kept,
            None => Arc::new(self.memory.listed_earlier(prefix)?),
        };
        let stat = stat().ok().filter(|stat| stat.kind == Kind::Directory)?;
        if kept.stamp != Some(Stamp::of(&stat)) {
            return None;
        }
        kept.verify(self.era.epoch);
        if !is_known {
            self.memory.insert(kept.clone());
        }
        Some(kept)
    }

    /// A directory on the way to where a walk begins, listed if it is not known; none where it
    /// cannot be kept.
    pub(super) fn on_the_way(&self, prefix: &Arc<[u8]>, dir: &Dir) -> Option<Arc<Kept>> {
        if let Some(kept) = self.directory(prefix, false, &|| dir.stat(b".")) {
            return Some(kept);
        }
        let dir = dir.open_dir(b".").ok().filter(|dir| dir.volume() == Volume::Disk)?;
        let stamp = RecentStamp::of(&dir);
        let changes = self.changes(prefix, stamp, &dir);
        let (mut listing, mut found) = (Listing::default(), Found::default());
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
        stamp: RecentStamp,
        dir: &Dir,
    ) -> Arc<Changes> {
        let old = self.memory.directory(prefix);
        let same = old.filter(|old| old.identity.is_some() && old.identity == stamp.identity());
        let changes = same.map(|old| old.changes.clone()).unwrap_or_default();
        self.watch(prefix, &changes, dir);
        changes
    }

    /// Watches a directory, if that is wanted and it is not watched yet.
    pub(super) fn watch(&self, prefix: &Arc<[u8]>, changes: &Arc<Changes>, dir: &Dir) {
        let Some(watching) = &self.memory.watching else { return };
        if !changes.are_told() && watching.add(prefix, changes, dir) {
            // Whoever began before may have looked before the watch was there.
            changes.watched_since(self.memory.next_epoch());
        }
    }

    /// Whether a directory should be watched that is not.
    pub(super) fn wants_watch(&self, kept: &Kept) -> bool {
        let watching = self.memory.watching.as_ref();
        watching.is_some_and(|watching| !watching.is_full()) && !kept.changes.are_told()
    }

    /// Keeps a directory that was listed by this call.
    pub(super) fn keep(
        &self,
        prefix: &Arc<[u8]>,
        (listing, found): (Arc<Listing>, Found),
        (stamp, changes): (RecentStamp, Arc<Changes>),
    ) -> Arc<Kept> {
        let facts = (Volume::Disk, stamp.settled(), stamp.identity());
        let kept = Arc::new(Kept::new(prefix.clone(), (listing, found), facts, changes));
        kept.verify(self.era.epoch);
        self.memory.insert(kept.clone());
        kept
    }
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
