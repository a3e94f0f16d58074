//! Files in the order of their last change.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::output::Receipt;
use crate::pool::Pool;
use crate::search::options::SearchOptions;
use crate::walk::Cursor;
use crate::walk::list::{self, ListOptions, Listed};
use crate::workspace::Workspace;

/// The files of a walk, with their times.
#[derive(Debug)]
pub(super) struct Ordered {
    modified: HashMap<Vec<u8>, i128>,
    receipt: Receipt,
    incomplete: Option<Incomplete>,
}

impl Ordered {
    pub(super) fn modified(&self, path: &[u8]) -> Option<i128> {
        self.modified.get(path).copied()
    }

    /// Why not all files were listed, if so.
    pub(super) fn incomplete(&self) -> Option<Incomplete> {
        self.incomplete
    }

    /// What the listing left out; its files are counted when they are searched.
    pub(super) fn receipt(&self) -> Receipt {
        Receipt { files: 0, ..self.receipt.clone() }
    }
}

/// Lists the files of a search, and makes it walk exactly these, the last changed first.
pub(super) fn newest_first(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    options: &mut SearchOptions,
) -> Result<Ordered, Error> {
    let list = ListOptions { newest_first: true, ..ListOptions::new(options.walk.clone()) };
    let listed = list::list(workspace, (pool, call), list)?;
    // What was not seen may be newer, and there is no time left to look into what was.
    let mut files = if listed.incomplete.is_some() { Vec::new() } else { listed.entries };
    if let Some(cursor) = &options.cursor {
        files.retain(|file| is_ahead(file, cursor));
    }
    let modified = files.iter().filter_map(|file| Some((file.path.clone(), file.modified?)));
    let modified = modified.collect();
    options.walk.files = Some(files.into_iter().map(|file| file.path).collect());
    Ok(Ordered { modified, receipt: listed.receipt, incomplete: listed.incomplete })
}

/// The file of the cursor itself is still ahead while it has lines to show.
fn is_ahead(file: &Listed, cursor: &Cursor) -> bool {
    let position = (Reverse(cursor.modified), cursor.path.as_slice());
    let order = list::time_order(file).cmp(&position);
    order.is_gt() || (order.is_eq() && cursor.line.is_some())
}
