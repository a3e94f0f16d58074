//! The way of a whole walk, gone again for as long as nobody tells of a change on it.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::pool::lock;
use crate::walk::cached_dir::{CachedDir, FilterKey};
use crate::walk::dir_changes::Generation;
use crate::walk::handle::OpenDir;
use crate::walk::ignore_rules::IgnoreRules;
use crate::walk::listing::DirListing;
use crate::walk::memory_budget::Reservation;
use crate::walk::report::{DirectoryReport, SkippedEntry};
use crate::workspace::Kind;

/// How many ways are remembered; searches and listings go different ones.
const MAX_ROUTES: usize = 4;

/// Everything that a walk from one beginning comes by, in path order.
#[derive(Debug, Default)]
pub(crate) struct RecordedWalk {
    /// Its directories; the first is the beginning.
    pub(super) directories: Vec<Arc<CachedDir>>,
    /// Those that have ignore files, with the rules above them and inside.
    pub(super) ruled: Vec<(Arc<CachedDir>, IgnoreRules, IgnoreRules)>,
    pub(super) stops: Vec<WalkEvent>,
    /// Where a directory begins, every so many.
    pub(super) milestones: Vec<usize>,
}

/// One thing on the way.
#[derive(Debug)]
pub(super) enum WalkEvent {
    /// A directory, before what is in it: what listing it told.
    Directory(DirectoryReport),
    Files(EntryRange),
}

/// Some consecutive entries of a directory.
#[derive(Debug)]
pub(crate) struct EntryRange {
    pub(crate) cached: Arc<CachedDir>,
    pub(crate) listing: Arc<DirListing>,
    pub(crate) range: Range<usize>,
    /// What those who come by leave there for the next.
    pub(crate) memo: NoteSlot,
}

impl EntryRange {
    /// Them by name and kind, in path order.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = (&[u8], Kind)> + Clone {
        self.range.clone().filter_map(|index| self.listing.get(index))
    }
}

/// A place for a note, of whatever type the one who leaves it likes.
#[derive(Debug, Default)]
pub(crate) struct NoteSlot(RwLock<Option<Box<dyn Any + Send + Sync>>>);

impl NoteSlot {
    /// Reads the last note, if it is of this type.
    pub(crate) fn read<T: Any, R>(&self, read: impl FnOnce(&T) -> R) -> Option<R> {
        let note = self.0.read().unwrap_or_else(PoisonError::into_inner);
        note.as_ref()?.downcast_ref().map(read)
    }

    /// Leaves a note in the place of the last one.
    pub(crate) fn put<T: Any + Send + Sync>(&self, note: Option<T>) {
        let note = note.map(|note| -> Box<dyn Any + Send + Sync> { Box::new(note) });
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = note;
    }
}

/// A part of a way.
#[derive(Debug)]
pub(crate) struct WalkChunk {
    route: Arc<RecordedWalk>,
    stops: Range<usize>,
    /// The beginning that it lies below.
    pub(super) start: usize,
}

/// Which walk it is the way of.
#[derive(Clone, Debug)]
pub(super) struct WalkKey {
    pub(super) prefix: Arc<[u8]>,
    pub(super) sieve: FilterKey,
    pub(super) directories: bool,
    pub(super) max_depth: Option<usize>,
}

/// The ways of the last walks.
#[derive(Debug, Default)]
pub(crate) struct RecordedWalks(Mutex<Vec<Entry>>);

/// A walk, and its way with the room that it takes, if that is known already.
type Entry = (WalkKey, Option<(Arc<RecordedWalk>, Reservation)>);

impl WalkKey {
    fn is(&self, other: &WalkKey) -> bool {
        let WalkKey { prefix, sieve, directories, max_depth } = self;
        let rest = (prefix, *directories, *max_depth);
        rest == (&other.prefix, other.directories, other.max_depth) && sieve.is(&other.sieve)
    }
}

impl RecordedWalk {
    /// Whether everything on the way is as it was; `first` is the beginning as it is now.
    pub(super) fn holds(
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

    /// Bytes that it takes, or so.
    pub(super) fn bytes(&self) -> usize {
        let left_out = |stop: &WalkEvent| match stop {
            WalkEvent::Directory(report) => report
                .skipped_entries
                .iter()
                .map(|entry| size_of::<SkippedEntry>() + entry.path.len())
                .sum(),
            WalkEvent::Files(_) => 0,
        };
        let stops: usize =
            self.stops.iter().map(|stop| size_of::<WalkEvent>() + left_out(stop)).sum();
        stops + self.directories.len() * size_of::<usize>()
    }
}

impl WalkChunk {
    /// The whole way of a walk, in parts.
    pub(super) fn all(route: &Arc<RecordedWalk>, start: usize) -> impl Iterator<Item = WalkChunk> {
        let ends = route.milestones.iter().skip(1).copied().chain([route.stops.len()]);
        let parts = route.milestones.iter().zip(ends);
        parts.map(move |(begin, end)| WalkChunk { route: route.clone(), stops: *begin..end, start })
    }

    /// What it comes by, each with its number on the way.
    pub(super) fn stops(&self) -> impl Iterator<Item = (usize, &WalkEvent)> {
        let stops = self.route.stops.get(self.stops.clone()).unwrap_or_default();
        self.stops.clone().zip(stops)
    }

    /// The rest of it from that number.
    pub(super) fn from(&self, number: usize) -> WalkChunk {
        WalkChunk { route: self.route.clone(), stops: number..self.stops.end, start: self.start }
    }

    /// The path of its first directory or file.
    pub(super) fn first(&self) -> Vec<u8> {
        // A directory has nothing of its own to go by, what comes next in it lies below it.
        let files = self.stops().find_map(|(_, stop)| match stop {
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
    /// The way of such a walk, if one is known.
    pub(super) fn get(&self, key: &WalkKey) -> Option<Arc<RecordedWalk>> {
        let routes = lock(&self.0);
        let (_, route) = routes.iter().find(|(known, _)| known.is(key))?;
        route.as_ref().map(|(route, _)| route.clone())
    }

    /// Whether the last such walk had nothing to look at, so that its way may be worth finding;
    /// it is tried once.
    pub(super) fn expect_one(&self, key: &WalkKey) -> bool {
        let mut routes = lock(&self.0);
        let before = routes.len();
        routes.retain(|(known, _)| !known.is(key));
        routes.len() < before
    }

    /// Remembers a way, or that it may be worth finding.
    pub(super) fn put(&self, key: WalkKey, route: Option<(Arc<RecordedWalk>, Reservation)>) {
        let mut routes = lock(&self.0);
        routes.retain(|(known, _)| !known.is(&key));
        if routes.len() >= MAX_ROUTES {
            routes.remove(0);
        }
        routes.push((key, route));
    }

    pub(super) fn forget(&self, key: &WalkKey) {
        lock(&self.0).retain(|(known, _)| !known.is(key));
    }

    pub(super) fn clear(&self) {
        lock(&self.0).clear();
    }
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
