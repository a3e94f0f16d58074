//! Files in the order of their last change.

use std::cmp::Reverse;

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::output::Receipt;
use crate::pool::Pool;
use crate::search::collector::Collector;
use crate::search::options::SearchOptions;
use crate::search::searcher::Searcher;
use crate::walk::list::{self, ListOptions, Listed};
use crate::walk::{Cursor, Scan, WalkOptions};
use crate::workspace::Workspace;

/// How many files are searched in one walk; in a walk each takes half a kilobyte.
const PART: usize = 4096;

/// The files of a search, the last changed first.
#[derive(Debug)]
pub(super) struct Ordered {
    files: Vec<Listed>,
    receipt: Receipt,
    incomplete: Option<Incomplete>,
}

impl Ordered {
    /// When a file was last changed.
    pub(super) fn modified(&self, path: &[u8]) -> Option<i128> {
        self.files.iter().find(|file| file.path == path)?.modified
    }

    /// Why not all files were listed, if so.
    pub(super) fn incomplete(&self) -> Option<Incomplete> {
        self.incomplete
    }

    /// What the listing left out; its files are counted when they are searched.
    pub(super) fn receipt(&self) -> Receipt {
        Receipt { files: 0, ..self.receipt.clone() }
    }

    /// Searches these files and no others, until there is enough.
    pub(super) fn search(
        &self,
        workspace: &Workspace,
        walk: &WalkOptions,
        (pool, call): (&Pool, &Call),
        (searcher, mut collector): (&Searcher, Collector),
    ) -> Result<(Collector, Option<Incomplete>), Error> {
        for part in self.files.chunks(PART) {
            let files = part.iter().map(|file| file.path.clone()).collect();
            let walk = WalkOptions { files: Some(files), ..walk.clone() };
            let call = call.clone().going_on_from(collector.progress());
            let visit = (searcher.clone(), collector);
            let (taken, incomplete) = Scan::run(workspace, walk, (pool, &call), visit)?;
            collector = taken;
            if incomplete.is_some() || collector.has_enough() {
                return Ok((collector, incomplete));
            }
        }
        Ok((collector, None))
    }
}

/// Lists the files of a search.
pub(super) fn newest_first(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    options: &SearchOptions,
) -> Result<Ordered, Error> {
    let list = ListOptions { newest_first: true, ..ListOptions::new(options.walk.clone()) };
    // What is listed is not searched yet, and no result.
    let listed = list::list(workspace, (pool, &call.clone().in_silence()), list)?;
    // What was not seen may be newer, and there is no time left to look into what was.
    let mut files = if listed.incomplete.is_some() { Vec::new() } else { listed.entries };
    if let Some(cursor) = &options.cursor {
        files.retain(|file| is_ahead(file, cursor));
    }
    Ok(Ordered { files, receipt: listed.receipt, incomplete: listed.incomplete })
}

/// The file of the cursor itself is still ahead while it has lines to show.
fn is_ahead(file: &Listed, cursor: &Cursor) -> bool {
    let position = (Reverse(cursor.modified), cursor.path.as_slice());
    let order = list::time_order(file).cmp(&position);
    order.is_gt() || (order.is_eq() && cursor.line.is_some())
}
