//! A recorded traversal, replayed while no watched directory has changed.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::pool::lock;
use crate::walk::cached_dir::{CachedDir, FilterKey};
use crate::walk::dir_changes::Generation;
use crate::walk::directory::{DirListing, DirectoryReport, OpenDir, SkippedEntry};
use crate::walk::ignore_rules::IgnoreRules;
use crate::walk::memory_budget::Reservation;
use crate::workspace::Kind;

/// How many directories a thread handles in one go at most: enough that handing results over costs
/// little in comparison, and few enough that other threads have work too.
pub(super) const CHUNK_DIRS: usize = 64;

/// How many walks are recorded; searches and listings differ in what they visit.
const MAX_WALKS: usize = 4;

/// Everything that a walk from one root visits, in path order.
#[derive(Debug, Default)]
pub(crate) struct RecordedWalk {
    /// Its directories; the first is the root.
    pub(super) directories: Vec<Arc<CachedDir>>,
    /// The directories that have ignore files, with the rules above and inside them.
    pub(super) ruled: Vec<(Arc<CachedDir>, IgnoreRules, IgnoreRules)>,
    pub(super) events: Vec<WalkEvent>,
    /// The index in `events` at which each chunk of [`CHUNK_DIRS`] directories begins.
    pub(super) chunks: Vec<usize>,
}

/// A directory or files that the walk visits.
#[derive(Debug)]
pub(super) enum WalkEvent {
    /// The report of a directory, before its entries.
    Directory(DirectoryReport),
    Files(EntryRange),
}

/// Consecutive entries of a directory.
#[derive(Debug)]
pub(crate) struct EntryRange {
    pub(crate) cached: Arc<CachedDir>,
    pub(crate) listing: Arc<DirListing>,
    pub(crate) range: Range<usize>,
    /// What a visit stores for the next visit.
    pub(crate) note: NoteSlot,
}

impl EntryRange {
    /// The entries by name and kind, in path order.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = (&[u8], Kind)> + Clone {
        self.range.clone().filter_map(|index| self.listing.get(index))
    }
}

/// A value of any type that a visitor keeps with entries.
#[derive(Debug, Default)]
pub(crate) struct NoteSlot(RwLock<Option<Box<dyn Any + Send + Sync>>>);

impl NoteSlot {
    /// Reads the value, if there is one of this type.
    pub(crate) fn read<T: Any, R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        let note = self.0.read().unwrap_or_else(PoisonError::into_inner);
        note.as_ref()?.downcast_ref().map(read)
    }

    /// Replaces the value.
    pub(crate) fn put<T: Any + Send + Sync>(&self, note: Option<T>) {
        let note = note.map(|note| -> Box<dyn Any + Send + Sync> { Box::new(note) });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = note;
    }
}

/// A part of a recorded walk.
#[derive(Debug)]
pub(crate) struct WalkChunk {
    recorded: Arc<RecordedWalk>,
    events: Range<usize>,
    /// The number of the root that it lies below.
    root: usize,
}

/// Identifies the walks that visit the same entries.
#[derive(Clone, Debug)]
pub(super) struct WalkKey {
    pub(super) prefix: Arc<[u8]>,
    pub(super) filter_key: FilterKey,
    pub(super) directories: bool,
    pub(super) max_depth: Option<usize>,
}

/// The walks that were recorded last.
#[derive(Debug, Default)]
pub(crate) struct RecordedWalks(Mutex<Vec<Entry>>);

/// A walk, with its record and the memory that this takes once it is recorded.
type Entry = (WalkKey, Option<(Arc<RecordedWalk>, Reservation)>);

impl WalkKey {
    fn is_same(&self, other: &WalkKey) -> bool {
        let WalkKey { prefix, filter_key, directories, max_depth } = self;
        let rest = (prefix, *directories, *max_depth);
        rest == (&other.prefix, other.directories, other.max_depth)
            && filter_key.is_same(&other.filter_key)
    }
}

impl RecordedWalk {
    /// Whether every directory is unchanged; `first` is the root as it is now.
    pub(super) fn is_valid(
        &self,
        first: &Arc<CachedDir>,
        open: &dyn Fn(&CachedDir) -> io::Result<Arc<OpenDir>>,
        generation: Generation,
    ) -> bool {
        self.directories.first().is_some_and(|known| Arc::ptr_eq(known, first))
            && self.directories.iter().all(|cached| cached.is_current(generation))
            && self.ruled.iter().all(|(cached, above, entered)| {
                cached.has_rules((above, entered), &|| open(cached), generation)
            })
    }

    /// Estimated memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let skipped = |event: &WalkEvent| match event {
            WalkEvent::Directory(report) => report
                .skipped_entries
                .iter()
                .map(|entry| size_of::<SkippedEntry>() + entry.path.len())
                .sum(),
            WalkEvent::Files(_) => 0,
        };
        let events: usize =
            self.events.iter().map(|event| size_of::<WalkEvent>() + skipped(event)).sum();
        events + self.directories.len() * size_of::<usize>()
    }
}

impl WalkChunk {
    /// The chunks of a whole walk below the root number `root`.
    pub(super) fn all(
        recorded: &Arc<RecordedWalk>,
        root: usize,
    ) -> impl Iterator<Item = WalkChunk> {
        let ends = recorded.chunks.iter().skip(1).copied().chain([recorded.events.len()]);
        recorded.chunks.iter().zip(ends).map(move |(begin, end)| WalkChunk {
            recorded: recorded.clone(),
            events: *begin..end,
            root,
        })
    }

    /// The number of the root that it lies below.
    pub(super) fn root(&self) -> usize {
        self.root
    }

    /// Its events, each with its index in the recorded walk.
    pub(super) fn events(&self) -> impl Iterator<Item = (usize, &WalkEvent)> {
        self.events.clone().zip(&self.recorded.events[self.events.clone()])
    }

    /// The rest of it, from the event at `index` of the recorded walk.
    pub(super) fn from(&self, index: usize) -> WalkChunk {
        let (recorded, events) = (self.recorded.clone(), index..self.events.end);
        WalkChunk { recorded, events, root: self.root }
    }

    /// The path of its first file.
    pub(super) fn first_path(&self) -> Vec<u8> {
        // The report of a directory has no path; its files follow next.
        let files = self.events().find_map(|(_, event)| match event {
            WalkEvent::Files(files) => Some(files),
            WalkEvent::Directory(_) => None,
        });
        files.map_or_else(Vec::new, |files| {
            let name = files.listing.get(files.range.start).map(|(name, _)| name);
            [&*files.cached.prefix, name.unwrap_or_default()].concat()
        })
    }
}

impl RecordedWalks {
    /// The record of such a walk, if there is one.
    pub(super) fn get(&self, key: &WalkKey) -> Option<Arc<RecordedWalk>> {
        let walks = lock(&self.0);
        let (_, recorded) = walks.iter().find(|(known, _)| known.is_same(key))?;
        recorded.as_ref().map(|(recorded, _)| recorded.clone())
    }

    /// Whether the last such walk had nothing to look at, so that recording it may be worth while;
    /// that is tried once.
    pub(super) fn take_candidate(&self, key: &WalkKey) -> bool {
        let mut walks = lock(&self.0);
        let before = walks.len();
        walks.retain(|(known, _)| !known.is_same(key));
        walks.len() < before
    }

    /// Stores a record, or without one notes that recording the walk may be worth while.
    pub(super) fn put(&self, key: WalkKey, recorded: Option<(Arc<RecordedWalk>, Reservation)>) {
        let mut walks = lock(&self.0);
        walks.retain(|(known, _)| !known.is_same(&key));
        if walks.len() >= MAX_WALKS {
            walks.remove(0);
        }
        walks.push((key, recorded));
    }

    pub(super) fn forget(&self, key: &WalkKey) {
        lock(&self.0).retain(|(known, _)| !known.is_same(key));
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }
}

// Only Linux has a cache of directories.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
