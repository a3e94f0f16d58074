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

mod aliases;
mod batch;
mod beginning;
mod cached_dir;
mod cursor;
mod dir_cache;
mod dir_changes;
mod dir_reader;
mod dir_run;
mod dir_table;
mod entry_filter;
mod file_types;
pub(crate) mod filter;
pub(crate) mod globs;
mod handle;
mod ignore_fingerprints;
mod ignore_rules;
pub(crate) mod list;
mod listing;
mod memory_budget;
mod options;
mod output_budget;
mod parallel;
mod paths;
mod pending_dir;
mod recorded_walk;
mod report;
mod roots;
mod scope;
mod sequence;
mod turn;
mod visitor;
mod walk_replay;
mod watch_set;
mod work_queue;

pub(crate) use crate::walk::aliases::PathAliases;
pub(crate) use crate::walk::batch::{BATCH, Batch};
pub(crate) use crate::walk::cached_dir::CachedDir;
pub(crate) use crate::walk::cursor::{Cursor, QueryId};
pub(crate) use crate::walk::dir_cache::{CacheView, DirCache, StoredListings};
pub(crate) use crate::walk::dir_changes::Generation;
pub(crate) use crate::walk::entry_filter::VERSION_CONTROL;
pub(crate) use crate::walk::filter::PathFilter;
pub(crate) use crate::walk::globs::PathGlobs;
pub(crate) use crate::walk::handle::{OpenCount, OpenDir};
pub(crate) use crate::walk::listing::DirListing;
pub(crate) use crate::walk::memory_budget::{MemoryBudget, Reservation};
pub(crate) use crate::walk::options::{ResumePoint, WalkOptions};
pub(crate) use crate::walk::output_budget::OutputBudget;
pub(crate) use crate::walk::parallel::Walk;
pub(crate) use crate::walk::recorded_walk::EntryRange;
pub(crate) use crate::walk::report::{DirectoryReport, SkippedEntry};
pub(crate) use crate::walk::roots::{WalkRoot, WalkRoots};
pub(crate) use crate::walk::visitor::{ResultSink, Visitor, WalkControl};
