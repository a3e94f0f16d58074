//! Searching files in an order that is not that of their paths.

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::pool::Pool;
use crate::search::collector::Collector;
use crate::search::order::Ordered;
use crate::search::searcher::Searcher;
use crate::walk::{Walk, WalkOptions};
use crate::workspace::Workspace;

/// How many files are searched in one walk; in a walk each takes half a kilobyte.
const PART: usize = 4096;

/// Searches these files and no others, until there is enough.
pub(super) fn search(
    ordered: &Ordered,
    (workspace, walk): (&Workspace, &WalkOptions),
    (pool, call): (&Pool, &Call),
    (searcher, mut collector): (&Searcher, Collector),
) -> Result<(Collector, Option<Incomplete>), Error> {
    for files in ordered.parts(PART) {
        let walk = WalkOptions { files: Some(files), ..walk.clone() };
        let call = call.clone().with_progress_offset(collector.progress());
        let visit = (searcher.clone(), collector);
        let (taken, incomplete) = Walk::run(workspace, walk, (pool, &call), visit)?;
        collector = taken;
        if incomplete.is_some() || collector.has_enough() {
            return Ok((collector, incomplete));
        }
    }
    Ok((collector, None))
}
