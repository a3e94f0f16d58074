//! A listing of a tree in parts: what the listing of one part records, and how that is merged as if one
//! listing had found it.

use serde::{Deserialize, Serialize};

use crate::context::Incomplete;
use crate::output::fold::Fold;
use crate::output::{RecordedStats, ScanStats, Truncation};
use crate::parts::{Parts, Recorder, text_or_bytes};
use crate::walk::cursor::Cursor;
use crate::walk::file_count::FileCount;
use crate::walk::list::{self, ListEntry, ListOptions, ListReport};
use crate::walk::unmatched::{EmptyListing, LeftOut};
use ripkit_fs::{Hint, OwnNames};

/// The step of a call that is recorded.
const LISTED: &str = "listed";

/// What the listing of a part found.
#[derive(Deserialize, Serialize)]
struct RecordedList {
    entries: Vec<RecordedEntry>,
    total: u64,
    at_least: bool,
    by_directory: Option<Fold>,
    truncation: Option<Truncation>,
    /// Where the listing ended, if it ended early.
    reached: Option<RecordedPath>,
    #[serde(with = "RecordedStats")]
    stats: ScanStats,
    incomplete: Option<Incomplete>,
    notes: Vec<String>,
    left_out: Option<(Vec<RecordedPath>, bool, bool)>,
    closest: Option<String>,
}

#[derive(Deserialize, Serialize)]
struct RecordedEntry {
    #[serde(with = "text_or_bytes")]
    path: Vec<u8>,
    modified: Option<i128>,
    below: Option<(u64, bool)>,
    is_result: bool,
    is_untracked: bool,
}

#[derive(Deserialize, Serialize)]
struct RecordedPath(#[serde(with = "text_or_bytes")] Vec<u8>);

/// Records a listing of a part.
pub(super) fn record(recorder: &Recorder, (report, empty): (&ListReport, &EmptyListing)) {
    let entries = report.entries.iter().map(|entry| RecordedEntry {
        path: entry.path.clone(),
        modified: entry.modified,
        below: entry.below.map(|FileCount { files, more }| (files, more)),
        is_result: entry.is_result,
        is_untracked: entry.is_untracked,
    });
    let paths = |paths: &[Vec<u8>]| paths.iter().cloned().map(RecordedPath).collect();
    recorder.add(
        LISTED,
        &RecordedList {
            entries: entries.collect(),
            total: report.total,
            at_least: report.at_least,
            by_directory: report.by_directory.clone(),
            truncation: report.truncation,
            reached: report.cursor.as_ref().map(|cursor| RecordedPath(cursor.path.clone())),
            stats: report.stats.clone(),
            incomplete: report.incomplete,
            notes: empty.notes.clone(),
            left_out: empty.left_out.as_ref().map(|out| (paths(&out.paths), out.more, out.hidden)),
            closest: empty.closest.as_ref().and_then(|hint| hint.text(&OwnNames)),
        },
    );
}

/// The listing that these parts make together.
pub(super) fn merge(parts: &Parts, options: &ListOptions) -> (ListReport, EmptyListing) {
    let by_directory = Some(Fold::default());
    let cursor = options.cursor.clone();
    let mut report = ListReport { by_directory, cursor, ..ListReport::default() };
    let mut empties = Vec::new();
    // Up to where no entry is missing.
    let mut gap: Option<usize> = None;
    let mut has_uncut = false;
    for (name, found) in parts.found::<RecordedList>(LISTED) {
        let list = match found {
            Ok(Some(list)) => list,
            Ok(None) => continue,
            Err(missing) => {
                report.stats.unreadable(name.to_owned(), missing.reason);
                if missing.why.is_some() {
                    report.incomplete = report.incomplete.or(missing.why);
                    gap = gap.or(Some(report.entries.len()));
                }
                continue;
            }
        };
        report.by_directory = report.by_directory.zip(list.by_directory).map(|(mut all, part)| {
            all.absorb(part);
            all
        });
        has_uncut |= list.truncation.is_none();
        // Behind the end of a page, others are only counted.
        if report.truncation.is_some() && !options.newest_first {
            report.total += list.total;
            report.at_least |= list.at_least;
            continue;
        }
        let mut stats = list.stats;
        if options.walk.is_of_workspace() && report.stats.directories > 0 {
            // Each part has read the directory above all of them.
            stats.directories = stats.directories.saturating_sub(1);
        }
        report.stats.absorb(stats);
        report.total += list.total;
        report.at_least |= list.at_least;
        report.truncation = report.truncation.or(list.truncation);
        let entries = list.entries.into_iter().map(|entry| ListEntry {
            path: entry.path,
            modified: entry.modified,
            below: entry.below.map(|(files, more)| FileCount { files, more }),
            is_result: entry.is_result,
            is_untracked: entry.is_untracked,
        });
        report.entries.extend(entries);
        // A part that was not listed whole says how far it was.
        let is_cut = list.incomplete.is_some() || list.truncation.is_some();
        let reached = match list.reached {
            Some(RecordedPath(path)) if is_cut => Some(path),
            _ => report.entries.last().map(|entry| entry.path.clone()),
        };
        if let Some(path) = reached.filter(|_| gap.is_none()) {
            report.cursor = Some(Cursor::after(path));
        }
        gap = gap.or(list.incomplete.map(|_| report.entries.len()));
        report.incomplete = report.incomplete.or(list.incomplete);
        let left_out = list.left_out.map(|(paths, more, hidden)| LeftOut {
            paths: paths.into_iter().map(|RecordedPath(path)| path).collect(),
            more,
            hidden,
        });
        let closest = list.closest.map(Hint::from);
        empties.push(EmptyListing { notes: list.notes, left_out, closest });
    }
    report.at_least |= report.incomplete.is_some();
    let mut report = list::cut(report, options, gap);
    if options.counts_below_limit && report.truncation.is_some() && has_uncut {
        // Only a listing that is cut counts below its depth.
        report.directories = Vec::new();
    }
    let empty = EmptyListing::of_parts(empties, report.entries.is_empty());
    (report, empty)
}
