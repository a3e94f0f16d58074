//! Files in the order of their last change.

use std::cmp::Reverse;

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::output::ScanStats;
use crate::pool::Pool;
use crate::search::options::SearchOptions;
use crate::walk::Cursor;
use crate::walk::list::{self, ListEntry, ListOptions};
use crate::workspace::Workspace;

/// The files of a search, the last changed first.
#[derive(Debug)]
pub(super) struct Ordered {
    files: Vec<ListEntry>,
    receipt: ScanStats,
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
    pub(super) fn receipt(&self) -> ScanStats {
        ScanStats { files: 0, ..self.receipt.clone() }
    }

    /// The files, in parts of so many.
    pub(super) fn parts(&self, count: usize) -> impl Iterator<Item = Vec<Vec<u8>>> {
        let paths = |part: &[ListEntry]| part.iter().map(|file| file.path.clone()).collect();
        self.files.chunks(count).map(paths)
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
    let listed = list::list(workspace, (pool, &call.clone().without_progress()), list)?;
    // What was not seen may be newer, and there is no time left to look into what was.
    let mut files = if listed.incomplete.is_some() { Vec::new() } else { listed.entries };
    if let Some(cursor) = &options.cursor {
        files.retain(|file| is_ahead(file, cursor));
    }
    Ok(Ordered { files, receipt: listed.stats, incomplete: listed.incomplete })
}

/// The file of the cursor itself is still ahead while it has lines to show.
fn is_ahead(file: &ListEntry, cursor: &Cursor) -> bool {
    let position = (Reverse(cursor.modified), cursor.path.as_slice());
    let order = list::time_order(file).cmp(&position);
    order.is_gt() || (order.is_eq() && cursor.line.is_some())
}
