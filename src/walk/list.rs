//! Names of files and directories, without looking into them.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::ops::ControlFlow;
use std::sync::Mutex;

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::output::{ScanStats, Truncation};
use crate::pool::{Pool, lock};
use crate::text::escape;
use crate::walk::aliases::PathAliases;
use crate::walk::batch::Batch;
use crate::walk::cursor::Cursor;
use crate::walk::globs::PathGlobs;
use crate::walk::options::{ResumePoint, WalkOptions};
use crate::walk::output_budget::OutputBudget;
use crate::walk::parallel::Walk;
use crate::walk::paths::Paths;
use crate::walk::recorded_walk::EntryRange;
use crate::walk::report::DirectoryReport;
use crate::walk::visitor::{ResultSink, Visitor, WalkControl};
use crate::workspace::{Kind, Workspace};

/// The time of an entry that vanished or cannot be examined. It is a number like any other, so
/// that a cursor at such an entry still is one of the order by time.
const OLDEST: i128 = i128::MIN;

/// A listing, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct ListOptions {
    /// Where, and which files.
    pub(crate) walk: WalkOptions,
    /// Which entries, directories too; all if there are none.
    pub(crate) globs: Option<PathGlobs>,
    /// Whether files and links are listed.
    pub(crate) files: bool,
    /// Whether the last change comes first, instead of the order of paths.
    pub(crate) newest_first: bool,
    /// Entries listed at most.
    pub(crate) max_results: usize,
    /// Bytes of text that the paths may fill.
    pub(crate) text_bytes: usize,
    /// Where an earlier listing ended.
    pub(crate) cursor: Option<Cursor>,
    /// How the paths are shown; real ones are listed without it.
    pub(crate) aliases: PathAliases,
}

impl ListOptions {
    /// Everything that a walk gives, in path order.
    pub(crate) fn new(walk: WalkOptions) -> ListOptions {
        ListOptions {
            walk,
            globs: None,
            files: true,
            newest_first: false,
            max_results: usize::MAX,
            text_bytes: usize::MAX,
            cursor: None,
            aliases: PathAliases::default(),
        }
    }

    fn budget(&self) -> OutputBudget {
        OutputBudget::new(self.max_results, self.text_bytes)
    }
}

/// An entry of a listing.
#[derive(Clone, Debug)]
pub(crate) struct ListEntry {
    /// The path in the workspace; a directory's ends in `/`.
    pub(crate) path: Vec<u8>,
    /// Nanoseconds of the last change, where the order asks for it.
    pub(crate) modified: Option<i128>,
}

/// Bytes of the line of a path, without the line end.
fn printed(path: &[u8], aliases: &PathAliases) -> usize {
    escape::display_path(&aliases.shown(path)).len()
}

/// What a listing gave.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListReport {
    pub(crate) entries: Vec<ListEntry>,
    /// How many there are in all, as far as is known.
    pub(crate) total: u64,
    /// Where it was cut.
    pub(crate) truncation: Option<Truncation>,
    /// Where to go on.
    pub(crate) cursor: Option<Cursor>,
    pub(crate) stats: ScanStats,
    pub(crate) incomplete: Option<Incomplete>,
}

/// Runs a listing.
///
/// # Errors
/// Those of the walk's beginnings and of its threads.
pub(crate) fn list(
    workspace: &Workspace,
    (pool, call): (&Pool, &Call),
    mut options: ListOptions,
) -> Result<ListReport, Error> {
    let collector = if options.newest_first {
        Collector::new(OutputBudget::unbounded(), None)
    } else {
        options.walk.resume = options.cursor.as_ref().map(resume);
        let collector = Collector::new(options.budget(), options.cursor.clone());
        Collector { aliases: options.aliases.clone(), ..collector }
    };
    let lister = Lister {
        globs: options.globs.take(),
        files: options.files,
        directories: options.walk.directories,
        times: options.newest_first,
        may_be_cut: collector.budget.is_bounded(),
    };
    let walk = std::mem::take(&mut options.walk);
    let (collector, incomplete) = Walk::run(workspace, walk, (pool, call), (lister, collector))?;
    let mut report = collector.finish(incomplete);
    if options.newest_first {
        order_by_time(&mut report, &options);
    }
    for entry in &mut report.entries {
        if let Cow::Owned(shown) = options.aliases.shown(&entry.path) {
            entry.path = shown;
        }
    }
    report.stats.sort_and_cap();
    Ok(report)
}

fn resume(cursor: &Cursor) -> ResumePoint {
    ResumePoint { path: cursor.path.clone(), inclusive: false }
}

/// Puts everything that was seen into the order by time, and cuts it.
fn order_by_time(report: &mut ListReport, options: &ListOptions) {
    report.entries.sort_by(|a, b| time_order(a).cmp(&time_order(b)));
    if let Some(cursor) = &options.cursor {
        let position = (Reverse(cursor.modified), cursor.path.as_slice());
        report.entries.retain(|entry| time_order(entry) > position);
        report.total = report.entries.len() as u64;
    }
    // What was not seen may be newer than all that was, so there is no place to go on from.
    report.cursor = None;
    let mut budget = options.budget();
    let cut = report.entries.iter().position(|entry| {
        report.truncation = budget.spend(|| printed(&entry.path, &options.aliases)).break_value();
        report.truncation.is_some()
    });
    let Some(cut) = cut else { return };
    report.entries.truncate(cut);
    report.cursor = report.entries.last().map(|last| Cursor {
        modified: last.modified,
        line: None,
        path: last.path.clone(),
    });
}

/// The key of the order by time: the last change first, then the path.
pub(crate) fn time_order(entry: &ListEntry) -> (Reverse<Option<i128>>, &[u8]) {
    (Reverse(entry.modified), &entry.path)
}

/// Turns batches into paths.
#[derive(Debug)]
struct Lister {
    globs: Option<PathGlobs>,
    files: bool,
    directories: bool,
    times: bool,
    may_be_cut: bool,
}

/// The paths of one batch.
#[derive(Debug, Default)]
struct FoundPaths {
    paths: Paths,
    /// For each of them when it was last changed, or none where nobody asks.
    times: Vec<i128>,
    stats: ScanStats,
}

impl Visitor for Lister {
    const INLINE: bool = true;
    type State = ();
    type Output = FoundPaths;

    fn weight(found: &FoundPaths) -> usize {
        found.paths.bytes() + found.times.len() * size_of::<i128>()
    }

    fn state(&self) {}

    fn may_be_cut(&self) -> bool {
        self.may_be_cut
    }

    fn visit_recorded(
        &self,
        (files, base): (&EntryRange, usize),
        scan: &dyn WalkControl,
        found: &mut FoundPaths,
    ) -> bool {
        if self.times {
            return false;
        }
        self.add((&files.cached.prefix, base), files.entries(), |_| None, (scan, found));
        true
    }

    fn visit(&self, (): &mut (), batch: &Batch, scan: &dyn WalkControl, found: &Mutex<FoundPaths>) {
        let time = |name: &_| self.times.then(|| modified(batch, name).unwrap_or(OLDEST));
        let place = (&*batch.prefix, batch.base);
        self.add(place, batch.entries(), time, (scan, &mut lock(found)));
    }
}

impl Lister {
    /// Adds those of some entries that are listed.
    fn add<'a>(
        &self,
        (prefix, base): (&[u8], usize),
        entries: impl Iterator<Item = (&'a [u8], Kind)> + Clone,
        time: impl Fn(&[u8]) -> Option<i128>,
        (scan, found): (&dyn WalkControl, &mut FoundPaths),
    ) {
        let (files, listed) = (found.stats.files, found.paths.len());
        // With room for the slash of a directory.
        let bytes = entries.clone().map(|(name, _)| prefix.len() + name.len() + 1);
        found.paths.reserve(entries.clone().count(), bytes.sum());
        for (name, kind) in entries {
            let is_directory = kind == Kind::Directory;
            found.stats.files += u64::from(!is_directory);
            if !(if is_directory { self.directories } else { self.files }) {
                continue;
            }
            found.paths.push(&[prefix, name]);
            let path = found.paths.last().unwrap_or_default();
            if self.globs.as_ref().is_some_and(|globs| !globs.matches(path, base)) {
                found.paths.pop();
                continue;
            }
            if is_directory {
                found.paths.extend_last(b"/");
            }
            found.times.extend(time(name));
        }
        scan.count(found.stats.files - files, (found.paths.len() - listed) as u64);
    }
}

fn modified(batch: &Batch, name: &[u8]) -> Option<i128> {
    let stat = batch.handle.open().ok()?.stat(name).ok()?;
    Some(stat.modified)
}

/// Takes paths in order until the budget is spent.
#[derive(Debug)]
struct Collector {
    report: ListReport,
    /// The entries of the report, until it is finished.
    paths: Paths,
    times: Vec<i128>,
    budget: OutputBudget,
    gap: bool,
    aliases: PathAliases,
}

impl Collector {
    /// A collector for what comes after `cursor`.
    fn new(budget: OutputBudget, cursor: Option<Cursor>) -> Collector {
        let report = ListReport { cursor, ..ListReport::default() };
        let (paths, aliases) = (Paths::default(), PathAliases::default());
        Collector { report, paths, times: Vec::new(), budget, gap: false, aliases }
    }

    fn finish(mut self, incomplete: Option<Incomplete>) -> ListReport {
        self.reach();
        let mut report = self.report;
        let times = self.times.into_iter().map(Some).chain(std::iter::repeat(None));
        let entries = self.paths.iter().zip(times);
        report.entries =
            entries.map(|(path, modified)| ListEntry { path: path.to_vec(), modified }).collect();
        report.incomplete = incomplete;
        if report.truncation.is_none() && incomplete.is_none() {
            report.cursor = None;
        }
        report
    }

    /// Moves the cursor to the last entry, unless something before that entry is missing.
    fn reach(&mut self) {
        if let Some(last) = self.paths.last().filter(|_| !self.gap) {
            self.report.cursor = Some(Cursor::after(last.to_vec()));
        }
    }
}

impl ResultSink<FoundPaths> for Collector {
    fn directory(&mut self, report: DirectoryReport) {
        self.report.stats.absorb(report.stats);
    }

    fn found(&mut self, found: FoundPaths) -> ControlFlow<()> {
        self.report.stats.absorb(found.stats);
        let times = found.times.into_iter().map(Some).chain(std::iter::repeat(None));
        for (path, time) in found.paths.iter().zip(times) {
            self.report.total += 1;
            if let ControlFlow::Break(cut) = self.budget.spend(|| printed(path, &self.aliases)) {
                self.report.truncation = Some(cut);
                return ControlFlow::Break(());
            }
            self.paths.push(&[path]);
            self.times.extend(time);
        }
        ControlFlow::Continue(())
    }

    fn gap(&mut self) {
        self.reach();
        self.gap = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed(paths: &[(&str, Option<i128>)]) -> Vec<ListEntry> {
        let entry =
            |(path, modified): &(&str, _)| ListEntry { path: (*path).into(), modified: *modified };
        paths.iter().map(entry).collect()
    }

    fn found(path: &str) -> FoundPaths {
        let mut found = FoundPaths::default();
        found.paths.push(&[path.as_bytes()]);
        found
    }

    fn cursor(report: &ListReport) -> Option<String> {
        report.cursor.as_ref().map(Cursor::to_string)
    }

    #[test]
    fn behind_a_gap_the_cursor_stays_where_it_was() {
        for (results, entries) in [(2, 2), (9, 3)] {
            let mut collector = Collector::new(OutputBudget::new(results, usize::MAX), None);
            assert!(collector.found(found("a")).is_continue());
            collector.gap();
            assert!(collector.found(found("c")).is_continue());
            collector.gap();
            assert_eq!(collector.found(found("d")).is_break(), results == 2);
            let report = collector.finish(Some(Incomplete::Timeout));
            assert_eq!(report.entries.len(), entries);
            assert_eq!(cursor(&report).as_deref(), Some(":a"), "{results} results at most");
        }
    }

    #[test]
    fn an_incomplete_listing_that_came_no_further_keeps_its_cursor() {
        let before = Cursor::after(b"a".to_vec());
        for gap in [false, true] {
            let mut collector = Collector::new(OutputBudget::unbounded(), Some(before.clone()));
            if gap {
                collector.gap();
                assert!(collector.found(found("c")).is_continue());
            }
            let report = collector.finish(Some(Incomplete::Timeout));
            assert_eq!(report.cursor, Some(before.clone()));
        }
        let whole = Collector::new(OutputBudget::unbounded(), Some(before)).finish(None);
        assert_eq!(whole.cursor, None, "nothing is left");
    }

    #[test]
    fn an_incomplete_listing_by_time_has_a_cursor_only_where_it_was_cut() {
        for (max_results, expected) in [(9, None), (1, Some("m2::b"))] {
            let mut report = ListReport {
                entries: listed(&[("a", Some(OLDEST)), ("b", Some(2)), ("c", Some(1))]),
                cursor: Some(Cursor::after(b"c".to_vec())),
                incomplete: Some(Incomplete::Timeout),
                ..ListReport::default()
            };
            let options = ListOptions { max_results, ..ListOptions::new(WalkOptions::default()) };
            order_by_time(&mut report, &options);
            assert_eq!(cursor(&report).as_deref(), expected);
        }
    }
}
