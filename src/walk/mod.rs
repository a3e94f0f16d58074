//! The parallel walk: from directories to batches of files, and results in path order.
//!
//! ```text
//! roots ─> WorkQueue ─┬─> DirReader ─> directories and batches of files ─> WorkQueue
//!    (leftmost first)  └─> Visitor ─> ReorderBuffer ─(path order)─> ResultSink
//! ```
//!
//! Every thread does both: it reads directories and visits files, whichever comes first in path
//! order. So the walk is only a little ahead of the visits, results come out in path order
//! whichever thread found them, and a sink that has enough stops everything at once.
//!
//! Directories come from a [`DirSource`](roots::DirSource): from disk, or with an index from a cache where they are
//! unchanged.

mod cached_dir;
mod cursor;
mod dir_cache;
mod dir_changes;
mod dir_reader;
mod dir_table;
mod directory;
mod disk_dirs;
mod entry_filter;
mod file_types;
pub(crate) mod globs;
mod ignore_fingerprints;
mod ignore_rules;
pub(crate) mod list;
mod memory_budget;
mod parallel;
mod reorder_buffer;
mod roots;
mod rule_names;
mod visitor;
mod watch_set;
mod work_queue;

pub(crate) use crate::walk::cached_dir::CachedDir;
pub(crate) use crate::walk::cursor::{Cursor, QueryId};
pub(crate) use crate::walk::dir_cache::{CacheView, DirCache, StoredListings};
pub(crate) use crate::walk::dir_changes::Generation;
pub(crate) use crate::walk::directory::{
    DirListing, DirectoryReport, OpenCount, OpenDir, SkippedEntry,
};
pub(crate) use crate::walk::entry_filter::VERSION_CONTROL;
pub(crate) use crate::walk::globs::{PathFilter, PathGlobs};
pub(crate) use crate::walk::list::OutputBudget;
pub(crate) use crate::walk::memory_budget::{MemoryBudget, Reservation};
pub(crate) use crate::walk::parallel::Walk;
pub(crate) use crate::walk::roots::{
    DirSource, PathAliases, ResumePoint, WalkOptions, WalkRoot, WalkRoots,
};
pub(crate) use crate::walk::visitor::{Batch, ResultSink, Visitor, WalkControl};
