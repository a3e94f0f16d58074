//! The way of a whole walk, gone again for as long as nobody tells of a change on it.

use std::any::Any;
use std::io;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::pool::lock;
use crate::walk::changes::Era;
use crate::walk::handle::OpenDir;
use crate::walk::kept::{Kept, SieveKey};
use crate::walk::listing::Listing;
use crate::walk::report::{DirectoryReport, LeftOut};
use crate::walk::room::Taken;
use crate::walk::rules::Rules;
use crate::workspace::Kind;

/// How many ways are remembered; searches and listings go different ones.
const MAX_ROUTES: usize = 4;

/// Everything that a walk from one beginning comes by, in path order.
#[derive(Debug, Default)]
pub(crate) struct Route {
    /// Its directories; the first is the beginning.
    pub(super) directories: Vec<Arc<Kept>>,
    /// Those that have ignore files, with the rules above them and inside.
    pub(super) ruled: Vec<(Arc<Kept>, Rules, Rules)>,
    pub(super) stops: Vec<Stop>,
    /// Where a directory begins, every so many.
    pub(super) milestones: Vec<usize>,
}

/// One thing on the way.
#[derive(Debug)]
pub(super) enum Stop {
    /// A directory, before what is in it: what listing it told.
    Directory(DirectoryReport),
    Files(Files),
}

/// Some consecutive entries of a directory.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) kept: Arc<Kept>,
    pub(crate) listing: Arc<Listing>,
    pub(crate) range: Range<usize>,
    /// What those who come by leave there for the next.
    pub(crate) memo: Memo,
}

impl Files {
    /// Them by name and kind, in path order.
    pub(crate) fn entries(&self) -> impl DoubleEndedIterator<Item = (&[u8], Kind)> + Clone {
        self.range.clone().filter_map(|index| self.listing.get(index))
    }
}

/// A place for a note, of whatever type the one who leaves it likes.
#[derive(Debug, Default)]
pub(crate) struct Memo(RwLock<Option<Box<dyn Any + Send + Sync>>>);

impl Memo {
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
pub(crate) struct Leg {
    route: Arc<Route>,
    stops: Range<usize>,
    /// The beginning that it lies below.
    pub(super) start: usize,
}

/// Which walk it is the way of.
#[derive(Clone, Debug)]
pub(super) struct RouteKey {
    pub(super) prefix: Arc<[u8]>,
    pub(super) sieve: SieveKey,
    pub(super) directories: bool,
    pub(super) max_depth: Option<usize>,
}

/// The ways of the last walks.
#[derive(Debug, Default)]
pub(crate) struct Routes(Mutex<Vec<Entry>>);

/// A walk, and its way with the room that it takes, if that is known already.
type Entry = (RouteKey, Option<(Arc<Route>, Taken)>);

impl RouteKey {
    fn is(&self, other: &RouteKey) -> bool {
        let RouteKey { prefix, sieve, directories, max_depth } = self;
        let rest = (prefix, *directories, *max_depth);
        rest == (&other.prefix, other.directories, other.max_depth) && sieve.is(&other.sieve)
    }
}

impl Route {
    /// Whether everything on the way is as it was; `first` is the beginning as it is now.
    pub(super) fn holds(
        &self,
        first: &Arc<Kept>,
        open: &dyn Fn(&Kept) -> io::Result<Arc<OpenDir>>,
        era: Era,
    ) -> bool {
        self.directories.first().is_some_and(|known| Arc::ptr_eq(known, first))
            && self.directories.iter().all(|kept| kept.is_current(era))
            && self
                .ruled
                .iter()
                .all(|(kept, above, entered)| kept.has_rules((above, entered), &|| open(kept), era))
    }

    /// Bytes that it takes, or so.
    pub(super) fn bytes(&self) -> usize {
        let left_out = |stop: &Stop| match stop {
            Stop::Directory(report) => {
                report.left_out.iter().map(|entry| size_of::<LeftOut>() + entry.path.len()).sum()
            }
            Stop::Files(_) => 0,
        };
        let stops: usize = self.stops.iter().map(|stop| size_of::<Stop>() + left_out(stop)).sum();
        stops + self.directories.len() * size_of::<usize>()
    }
}

impl Leg {
    /// The whole way of a walk, in parts.
    pub(super) fn all(route: &Arc<Route>, start: usize) -> impl Iterator<Item = Leg> {
        let ends = route.milestones.iter().skip(1).copied().chain([route.stops.len()]);
        let parts = route.milestones.iter().zip(ends);
        parts.map(move |(begin, end)| Leg { route: route.clone(), stops: *begin..end, start })
    }

    /// What it comes by, each with its number on the way.
    pub(super) fn stops(&self) -> impl Iterator<Item = (usize, &Stop)> {
        let stops = self.route.stops.get(self.stops.clone()).unwrap_or_default();
        self.stops.clone().zip(stops)
    }

    /// The rest of it from that number.
    pub(super) fn from(&self, number: usize) -> Leg {
        Leg { route: self.route.clone(), stops: number..self.stops.end, start: self.start }
    }

    /// The path of its first directory or file.
    pub(super) fn first(&self) -> Vec<u8> {
        // A directory has nothing of its own to go by, what comes next in it lies below it.
        let files = self.stops().find_map(|(_, stop)| match stop {
            Stop::Files(files) => Some(files),
            Stop::Directory(_) => None,
        });
        files.map_or_else(Vec::new, |files| {
            let name = files.listing.get(files.range.start).map(|(name, _)| name);
            [&*files.kept.prefix, name.unwrap_or_default()].concat()
        })
    }
}

impl Routes {
    /// The way of such a walk, if one is known.
    pub(super) fn get(&self, key: &RouteKey) -> Option<Arc<Route>> {
        let routes = lock(&self.0);
        let (_, route) = routes.iter().find(|(known, _)| known.is(key))?;
        route.as_ref().map(|(route, _)| route.clone())
    }

    /// Whether the last such walk had nothing to look at, so that its way may be worth finding;
    /// it is tried once.
    pub(super) fn expect_one(&self, key: &RouteKey) -> bool {
        let mut routes = lock(&self.0);
        let before = routes.len();
        routes.retain(|(known, _)| !known.is(key));
        routes.len() < before
    }

    /// Remembers a way, or that it may be worth finding.
    pub(super) fn put(&self, key: RouteKey, route: Option<(Arc<Route>, Taken)>) {
        let mut routes = lock(&self.0);
        routes.retain(|(known, _)| !known.is(&key));
        if routes.len() >= MAX_ROUTES {
            routes.remove(0);
        }
        routes.push((key, route));
    }

    pub(super) fn forget(&self, key: &RouteKey) {
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
