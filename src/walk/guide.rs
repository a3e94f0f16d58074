//! Whether a walk can go a way that is known, and when a way becomes known.

use std::sync::{Arc, OnceLock};

use crate::walk::directory::Directory;
use crate::walk::expand::{Expander, Part};
use crate::walk::kept::Kept;
use crate::walk::memory::Memory;
use crate::walk::options::WalkOptions;
use crate::walk::route::{Files, Memo, Route, RouteKey, Stop};
use crate::walk::run::MOST;

/// What one walk has to do with the ways of others.
#[derive(Debug, Default)]
pub(super) struct Guide {
    /// The walk's own way, if it may become known.
    new: OnceLock<(RouteKey, Arc<Memory>)>,
}

impl Guide {
    /// The way from a beginning, if an earlier walk went it and it can be gone again.
    pub(super) fn route(
        &self,
        expander: &Expander,
        directory: &Directory,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Arc<Route>> {
        let recall = expander.recall(&directory.prefix)?;
        let key = key(directory, &expander.options).filter(|_| recall.memory.is_watched())?;
        let routes = &recall.memory.routes;
        let first = expander.recalled(directory);
        if let Some(route) = routes.get(&key) {
            let open = |kept: &Kept| expander.handle(kept).open();
            let holds = first.is_some_and(|first| route.holds(&first, &open, recall.era));
            if !holds {
                routes.forget(&key);
            }
            return holds.then_some(route);
        }
        let first = first?;
        if !routes.expect_one(&key) {
            self.new.set((key, recall.memory.clone())).ok();
            return None;
        }
        let route = find(expander, directory, first, keep_going)?;
        let taken = recall.memory.room().take(route.bytes(), 0)?;
        let route = Arc::new(route);
        routes.put(key, Some((route.clone(), taken)));
        Some(route)
    }

    /// Notes that the walk came to its end.
    pub(super) fn end(&self, expander: &Expander) {
        let new = self.new.get().filter(|_| !expander.has_looked());
        if let Some((key, memory)) = new {
            memory.routes.put(key.clone(), None);
        }
    }
}

/// The key of a walk from one beginning, unless it leaves out what others do not.
fn key(beginning: &Directory, options: &WalkOptions) -> Option<RouteKey> {
    let is_whole = options.filter.is_everything() && options.resume.is_none();
    let is_alone = beginning.depth == 0 && options.starts.len() == 1;
    (is_whole && is_alone).then(|| RouteKey {
        prefix: beginning.prefix.clone(),
        sieve: options.sieve_key(&beginning.rules),
        directories: options.directories,
        max_depth: options.max_depth,
    })
}

/// Goes the whole way once; none if a directory on it would have to be looked at.
fn find(
    expander: &Expander,
    beginning: &Directory,
    first: Arc<Kept>,
    keep_going: &dyn Fn() -> bool,
) -> Option<Route> {
    let mut route = Route::default();
    let mut ahead = enter(&mut route, expander, (beginning, first), keep_going)?;
    while let Some(part) = ahead.pop() {
        match part {
            Part::Files(batch) => {
                let (listing, range) = batch.part();
                let (kept, listing) = (batch.kept.clone()?, listing.clone());
                let memo = Memo::default();
                route.stops.push(Stop::Files(Files { kept, listing, range, memo }));
            }
            Part::Directory(directory) => {
                let kept = expander.at_hand(&directory).filter(|_| keep_going())?;
                ahead.extend(enter(&mut route, expander, (&directory, kept), keep_going)?);
            }
        }
    }
    Some(route)
}

/// Adds a directory to a way; gives what is in it, the first at the end.
fn enter(
    route: &mut Route,
    expander: &Expander,
    (directory, kept): (&Directory, Arc<Kept>),
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<Part>> {
    let expansion = expander.expand(directory, Some(kept.clone()), keep_going);
    let report = expansion.report;
    (!report.interrupted && report.receipt.trouble.is_empty()).then_some(())?;
    if route.directories.len().is_multiple_of(MOST) {
        route.milestones.push(route.stops.len());
    }
    if kept.is_ruled() && !expander.options.no_ignore {
        let (above, entered) = (directory.rules.clone(), expansion.rules?);
        route.ruled.push((kept.clone(), above, entered));
    }
    route.directories.push(kept);
    route.stops.push(Stop::Directory(report));
    let mut parts = expansion.parts;
    parts.reverse();
    Some(parts)
}
