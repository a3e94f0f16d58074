//! Searches the contents of files: from options to a report in path order.

mod ascii;
mod enclosing;
mod json;
mod large_file;
pub(crate) mod lines;
mod mtime_order;
pub(crate) mod options;
pub(crate) mod pattern;
mod pattern_error;
pub(crate) mod report;
mod searcher;
mod sink;
mod spans;
pub(crate) mod values;

#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::arguments::Sort;
use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::output::IndexUse;
use crate::pool::Pool;
use crate::search::mtime_order::MtimeOrder;
use crate::search::options::{OutputMode, SearchOptions};
use crate::search::report::{LeftOutMatch, ReportBuilder, SearchOutput};
use crate::search::searcher::FileSearcher;
use crate::text::escape;
use crate::walk::{Cursor, OpenCount, ResumePoint, SkippedEntry, Walk, WalkRoot};
use crate::workspace::Workspace;

/// The maximum time for the search of skipped entries after a search without matches.
const HINT_TIME: Duration = Duration::from_secs(2);

/// The maximum number of skipped entries that this search covers.
const MAX_HINT_ROOTS: usize = 500;

/// The note on results that were found by ignoring case.
const IGNORES_CASE: &str = "No match with this case; these ignore case.";

/// Runs a search. If it finds nothing, `ignoring_case` may give the options of a second one that
/// ignores case, which is the answer if it finds something.
///
/// # Errors
/// Those of the workspace for the search paths, and of [`Pool::run`]. Files that cannot be read are
/// counted in the report.
pub(crate) fn search(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    options: SearchOptions,
    ignoring_case: impl FnOnce() -> Result<Option<SearchOptions>, Error>,
) -> Result<SearchOutput, Error> {
    let options = Arc::new(options);
    let (mut report, skipped) = run(workspace, (pool, call), &options)?;
    let is_empty = report.matches == 0 && report.incomplete.is_none() && options.cursor.is_none();
    if !is_empty {
        return Ok(report);
    }
    if let Some(options) = ignoring_case()? {
        let (mut found, _) = run(workspace, (pool, call), &Arc::new(options))?;
        if found.matches > 0 {
            found.notes.insert(0, IGNORES_CASE.to_owned());
            return Ok(found);
        }
    }
    // What is left out may lie too deep, and the opposite of a match would be no hint.
    let has_hint = options.walk.max_depth.is_none() && !options.wants_files_without_match();
    if has_hint && !skipped.is_empty() {
        report.left_out = search_skipped(&skipped, workspace, (pool, call), &options);
    }
    Ok(report)
}

/// Runs one search; returns also the entries that ignore rules skipped.
fn run(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    options: &Arc<SearchOptions>,
) -> Result<(SearchOutput, Vec<SkippedEntry>), Error> {
    let order = match options.sort {
        Sort::Path => None,
        Sort::Modified => Some(mtime_order::newest_first(workspace, (pool, call), options)?),
    };
    let searcher = FileSearcher::new(options, workspace);
    let index_reader = searcher.index_reader();
    let mut builder = ReportBuilder::new(options);
    let (builder, incomplete) = if let Some(order) = &order {
        builder.add_listing(order);
        search_in_order(order, workspace, options, (pool, call), &searcher, builder)?
    } else {
        let mut walk = options.walk.clone();
        walk.resume = options.cursor.as_ref().map(resume_point);
        Walk::run(workspace, walk, (pool, call), (searcher, builder))?
    };
    let (mut report, skipped) = builder.finish(incomplete, order.as_ref());
    if let Some(index_reader) = index_reader {
        let excluded = report.receipt.excluded;
        report.receipt.index = Some(IndexUse { excluded, asked: index_reader.asks() });
        index_reader.end(incomplete);
    }
    Ok((report, skipped))
}

/// Searches files in the order of their modification time until the report is full.
fn search_in_order(
    order: &MtimeOrder,
    workspace: &Workspace,
    options: &SearchOptions,
    (pool, call): (&Pool, &Call),
    searcher: &FileSearcher,
    mut builder: ReportBuilder,
) -> Result<(ReportBuilder, Option<Incomplete>), Error> {
    for walk in order.walks(&options.walk) {
        let call = call.clone().with_progress_offset(builder.progress());
        let (next, incomplete) =
            Walk::run(workspace, walk, (pool, &call), (searcher.clone(), builder))?;
        builder = next;
        if incomplete.is_some() || builder.is_full() {
            return Ok((builder, incomplete));
        }
    }
    Ok((builder, None))
}

fn resume_point(cursor: &Cursor) -> ResumePoint {
    ResumePoint { path: cursor.path.clone(), inclusive: cursor.line.is_some() }
}

/// The first match in skipped entries, for the hint of an empty answer. Errors only mean that there
/// is no hint.
fn search_skipped(
    skipped: &[SkippedEntry],
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    options: &SearchOptions,
) -> Option<LeftOutMatch> {
    let call = call.clone().with_deadline(Instant::now().checked_add(HINT_TIME)?);
    let (count, source) = (OpenCount::default(), options.walk.source.as_deref());
    let roots: Vec<WalkRoot> = skipped
        .iter()
        .take(MAX_HINT_ROOTS)
        .filter_map(|entry| WalkRoot::reopen(workspace, &entry.path, source, &count))
        .collect();
    if roots.is_empty() {
        return None;
    }
    let mut options = options.clone();
    options.max_results = 1;
    options.mode = OutputMode::Content;
    options.context = (0, 0);
    options.sort = Sort::Path;
    options.stream = None;
    options.raw_lines = false;
    let aliases = WalkRoot::aliases(&options.walk.roots);
    let walk = &mut options.walk;
    (walk.roots, walk.hidden, walk.no_ignore) = (roots, true, true);
    let options = Arc::new(options);
    let searcher = FileSearcher::new(&options, workspace);
    let builder = ReportBuilder::new(&options);
    let walk = options.walk.clone();
    let (builder, _) = Walk::run(workspace, walk, (pool, &call), (searcher, builder)).ok()?;
    let (report, _) = builder.finish(None, None);
    let file = report.files.first()?;
    let line = file.matches().next()?.line;
    let hidden = skipped.iter().any(|entry| entry.hidden && entry.contains(file.path.as_bytes()));
    let path = escape::exact_path(&aliases.shown(file.resolved_path())).into_owned();
    Some(LeftOutMatch { path, line, hidden })
}
