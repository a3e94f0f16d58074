//! Search of contents: from options to a report in path order.

mod ascii;
mod blocks;
#[cfg(test)]
mod choices;
mod classes;
mod collector;
mod events;
mod exact;
mod file;
pub(crate) mod file_matches;
mod indexed;
mod large;
pub(crate) mod line_match;
mod lines;
pub(crate) mod matcher;
mod merged;
mod options;
mod order;
mod parts;
mod pattern_error;
pub(crate) mod report;
mod searcher;
mod sink;
mod spans;

use std::io;
use std::ops::Range;
use std::time::{Duration, Instant};

use crate::context::{Call, Limits};
use crate::error::Error;
use crate::output::IndexUse;
use crate::pool::Pool;
use crate::search::collector::Collector;
pub(crate) use crate::search::options::{Report, SearchOptions, Sort};
use crate::search::report::{LeftOutMatch, SearchOutput};
use crate::search::searcher::Searcher;
use crate::text::escape;
use crate::walk::{Cursor, OpenCount, ResumePoint, SkippedEntry, Walk, WalkRoot};
use crate::workspace::Workspace;

/// The longest look into ignored and hidden files after a search that found nothing.
const HINT_TIME: Duration = Duration::from_secs(2);

/// The most ignored and hidden entries that such a look goes through.
const MAX_HINTS: usize = 500;

/// Runs a search.
///
/// # Errors
/// Those of the workspace for the starting paths, and of [`Pool::run`]. Files that cannot be
/// read are counted in the receipt.
pub(crate) fn search(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    limits: &Limits,
    mut options: SearchOptions,
) -> Result<SearchOutput, Error> {
    options.walk.contents = true;
    let ordered = match options.sort {
        Sort::Path => None,
        Sort::Modified => Some(order::newest_first(workspace, (pool, call), &options)?),
    };
    let (searcher, mut collector) =
        (Searcher::new(&options, limits, workspace), Collector::new(&options, limits));
    let inquiry = searcher.inquiry();
    let mut walk = options.walk.clone();
    let (collector, incomplete) = if let Some(ordered) = &ordered {
        collector.receive(ordered);
        parts::search(ordered, (workspace, &walk), (pool, call), (&searcher, collector))?
    } else {
        walk.resume = options.cursor.as_ref().map(resume);
        Walk::run(workspace, walk, (pool, call), (searcher, collector))?
    };
    let (mut report, left_out) = collector.finish(incomplete, ordered.as_ref());
    if let Some(inquiry) = inquiry {
        let excluded = report.receipt.excluded;
        report.receipt.index = Some(IndexUse { excluded, asked: inquiry.asks() });
        inquiry.end(incomplete);
    }
    let nothing = report.matches == 0 && incomplete.is_none() && options.cursor.is_none();
    if nothing && !left_out.is_empty() {
        report.left_out = look_into(&left_out, workspace, (pool, call), limits, options);
    }
    Ok(report)
}

/// A range of a buffer that was filled at least so far.
fn part(buffer: &[u8], range: Range<usize>) -> io::Result<&[u8]> {
    let length = buffer.len();
    buffer.get(range.clone()).ok_or_else(|| {
        let message = format!("internal error: bytes {range:?} of a buffer of {length} bytes");
        io::Error::other(message)
    })
}

fn resume(cursor: &Cursor) -> ResumePoint {
    ResumePoint { path: cursor.path.clone(), inclusive: cursor.line.is_some() }
}

/// The first match in what the rules left out, so that an empty answer can say how to see it.
/// It is a hint: whatever goes wrong on the way only means that there is none.
fn look_into(
    left_out: &[SkippedEntry],
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    limits: &Limits,
    mut options: SearchOptions,
) -> Option<LeftOutMatch> {
    let until = Instant::now().checked_add(HINT_TIME)?;
    let call = call.clone().with_deadline(until);
    let count = OpenCount::default();
    let starts: Vec<WalkRoot> = left_out
        .iter()
        .take(MAX_HINTS)
        .filter_map(|entry| WalkRoot::reopen(workspace, &entry.path, &count))
        .collect();
    if starts.is_empty() {
        return None;
    }
    options.max_results = 1;
    options.report = Report::Content;
    options.context = (0, 0);
    options.sort = Sort::Path;
    options.stream = None;
    options.exact = false;
    let spelling = WalkRoot::aliases(&options.walk.roots);
    let walk = &mut options.walk;
    (walk.roots, walk.hidden, walk.no_ignore) = (starts, true, true);
    let collector = Collector::new(&options, limits);
    let searcher = Searcher::new(&options, limits, workspace);
    let walk = options.walk.clone();
    let (collector, _) = Walk::run(workspace, walk, (pool, &call), (searcher, collector)).ok()?;
    let (report, _) = collector.finish(None, None);
    let file = report.files.first()?;
    let line = file.matches().next()?.line;
    let hidden = left_out.iter().any(|entry| entry.hidden && entry.holds(&file.path));
    let path = escape::exact_path(&spelling.shown(file.real_bytes())).into_owned();
    Some(LeftOutMatch { path, line, hidden })
}

#[cfg(test)]
mod tests;
