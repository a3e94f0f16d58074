//! The parallel walk: from directories to batches of files, in path order.
//!
//! ```text
//! starts ─> Frontier ─(leftmost first)─> Expander ─> batches ─> channel ─> Visit ─> Sequence ─> Collect
//!              ^                            │                                          (path order)
//!              └──────── directories ───────┘
//! ```
//!
//! Every thread does both: it walks while the bounded channel has room, then visits a batch. So
//! the walk is only a little ahead of the search, results come out in path order whichever
//! thread found them, and a collector that has enough stops everything at once.
//!
//! Where earlier walks are remembered, a directory that is still as it was kept is not listed
//! again, and those of which somebody would have told otherwise are taken in runs. If that was true
//! of all of them twice, the way of the whole walk is remembered, and gone again without asking.

mod batch;
mod beginning;
mod budget;
mod changes;
mod cursor;
mod directories;
mod directory;
mod expand;
mod file_types;
pub(crate) mod filter;
mod frontier;
pub(crate) mod globs;
mod guide;
mod handle;
mod kept;
pub(crate) mod list;
mod listing;
mod memory;
mod options;
mod paths;
mod report;
mod room;
mod route;
mod rule_stamps;
mod rules;
mod run;
mod scan;
mod scope;
mod sequence;
mod sieve;
mod spelling;
mod start;
mod turn;
mod visit;
mod watching;

pub(crate) use crate::walk::batch::{BATCH, Batch};
pub(crate) use crate::walk::budget::Budget;
pub(crate) use crate::walk::changes::Era;
pub(crate) use crate::walk::cursor::{Cursor, Query};
pub(crate) use crate::walk::filter::Filter;
pub(crate) use crate::walk::globs::PathGlobs;
pub(crate) use crate::walk::handle::{OpenCount, OpenDir};
pub(crate) use crate::walk::kept::Kept;
pub(crate) use crate::walk::listing::Listing;
pub(crate) use crate::walk::memory::{Earlier, Memory, Recall};
pub(crate) use crate::walk::options::{Resume, WalkOptions};
pub(crate) use crate::walk::report::{DirectoryReport, LeftOut};
pub(crate) use crate::walk::room::{Room, Taken};
pub(crate) use crate::walk::route::Files;
pub(crate) use crate::walk::scan::Scan;
pub(crate) use crate::walk::sieve::VERSION_CONTROL;
pub(crate) use crate::walk::spelling::Spelling;
pub(crate) use crate::walk::start::{Start, Starts};
pub(crate) use crate::walk::visit::{Collect, Scanned, Visit};
