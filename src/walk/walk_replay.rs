//! Whether a walk can go a way that is known, and when a way becomes known.

use std::sync::{Arc, OnceLock};

use crate::walk::cached_dir::CachedDir;
use crate::walk::dir_cache::DirCache;
use crate::walk::dir_reader::{DirReader, Part};
use crate::walk::dir_run::MOST;
use crate::walk::options::WalkOptions;
use crate::walk::pending_dir::PendingDir;
use crate::walk::recorded_walk::{EntryRange, NoteSlot, RecordedWalk, WalkEvent, WalkKey};

/// What one walk has to do with the ways of others.
#[derive(Debug, Default)]
pub(super) struct WalkReplay {
    /// The walk's own way, if it may become known.
    new: OnceLock<(WalkKey, Arc<DirCache>)>,
}

impl WalkReplay {
    /// The way from a beginning, if an earlier walk went it and it can be gone again.
    pub(super) fn route(
        &self,
        expander: &DirReader,
        directory: &PendingDir,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Arc<RecordedWalk>> {
        let view = expander.view(&directory.prefix)?;
        let key = key(directory, &expander.options).filter(|_| view.cache.is_watched())?;
        let routes = &view.cache.routes;
        let first = expander.recalled(directory);
        if let Some(route) = routes.get(&key) {
            let open = |cached: &CachedDir| expander.handle(cached).open();
            let holds = first.is_some_and(|first| route.holds(&first, &open, view.generation));
            if !holds {
                routes.forget(&key);
            }
            return holds.then_some(route);
        }
        let first = first?;
        if !routes.expect_one(&key) {
            self.new.set((key, view.cache.clone())).ok();
            return None;
        }
        let route = find(expander, directory, first, keep_going)?;
        let taken = view.cache.budget().take(route.bytes(), 0)?;
        let route = Arc::new(route);
        routes.put(key, Some((route.clone(), taken)));
        Some(route)
    }

    /// Notes that the walk came to its end.
    pub(super) fn end(&self, expander: &DirReader) {
        let new = self.new.get().filter(|_| !expander.has_looked());
        if let Some((key, cache)) = new {
            cache.routes.put(key.clone(), None);
        }
    }
}

/// The key of a walk from one beginning, unless it leaves out what others do not.
fn key(beginning: &PendingDir, options: &WalkOptions) -> Option<WalkKey> {
    let is_whole = options.filter.is_everything() && options.resume.is_none();
    let is_alone = beginning.depth == 0 && options.roots.len() == 1;
    (is_whole && is_alone).then(|| WalkKey {
        prefix: beginning.prefix.clone(),
        sieve: options.sieve_key(&beginning.rules),
        directories: options.directories,
        max_depth: options.max_depth,
    })
}

/// Goes the whole way once; none if a directory on it would have to be looked at.
fn find(
    expander: &DirReader,
    beginning: &PendingDir,
    first: Arc<CachedDir>,
    keep_going: &dyn Fn() -> bool,
) -> Option<RecordedWalk> {
    let mut route = RecordedWalk::default();
    let mut ahead = enter(&mut route, expander, (beginning, first), keep_going)?;
    while let Some(part) = ahead.pop() {
        match part {
            Part::Files(batch) => {
                let (listing, range) = batch.part();
                let (cached, listing) = (batch.cached.clone()?, listing.clone());
                let memo = NoteSlot::default();
                route.stops.push(WalkEvent::Files(EntryRange { cached, listing, range, memo }));
            }
            Part::Directory(directory) => {
                let cached = expander.at_hand(&directory).filter(|_| keep_going())?;
                ahead.extend(enter(&mut route, expander, (&directory, cached), keep_going)?);
            }
        }
    }
    Some(route)
}

/// Adds a directory to a way; gives what is in it, the first at the end.
fn enter(
    route: &mut RecordedWalk,
    expander: &DirReader,
    (directory, cached): (&PendingDir, Arc<CachedDir>),
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<Part>> {
    let expansion = expander.expand(directory, Some(cached.clone()), keep_going);
    let report = expansion.report;
    (!report.interrupted && report.stats.trouble.is_empty()).then_some(())?;
    if route.directories.len().is_multiple_of(MOST) {
        route.milestones.push(route.stops.len());
    }
    if cached.is_ruled() && !expander.options.no_ignore {
        let (above, entered) = (directory.rules.clone(), expansion.rules?);
        route.ruled.push((cached.clone(), above, entered));
    }
    route.directories.push(cached);
    route.stops.push(WalkEvent::Directory(report));
    let mut parts = expansion.parts;
    parts.reverse();
    Some(parts)
}
