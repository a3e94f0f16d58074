//! Taking results in path order until the budget is spent.

use std::ops::ControlFlow;

use crate::context::{Incomplete, Limits, Progress, TextStream};
use crate::output::Truncation;
use crate::search::events;
use crate::search::file_matches::FileMatches;
use crate::search::options::{Report, SearchOptions};
use crate::search::order::Ordered;
use crate::search::report::{SearchOutput, Shape};
use crate::search::searcher::Found;
use crate::text::escape;
use crate::walk::{Cursor, DirectoryReport, QueryId, ResultSink, SkippedEntry};

/// The most left-out entries that are remembered for the hint of an empty answer.
const MAX_LEFT_OUT: usize = 1000;

/// Bytes of the answer that are kept for what follows the matches.
const FOOTER: usize = 1024;

/// Builds the report of a search.
#[derive(Debug)]
pub(super) struct Collector {
    report: SearchOutput,
    left_out: Vec<SkippedEntry>,
    max_results: u64,
    /// Bytes of text that may still be added.
    room: usize,
    /// Lines of context after a match.
    after: u64,
    /// The end of what was looked at without a gap.
    reached: Option<Cursor>,
    query: QueryId,
    gap: bool,
    stream: Option<TextStream>,
    enough: bool,
}

impl Collector {
    pub(super) fn new(options: &SearchOptions, limits: &Limits) -> Collector {
        let shape = Shape {
            report: options.report,
            grouped: options.context != (0, 0),
            streamed: false,
            truncation: None,
            text_bytes: limits.text_bytes,
            events: options.exact && options.stream.is_some(),
        };
        let notes = options.pattern.notes().to_vec();
        Collector {
            report: SearchOutput { notes, shape, ..SearchOutput::default() },
            left_out: Vec::new(),
            max_results: options.max_results as u64,
            after: options.context.1 as u64,
            room: limits.text_bytes.saturating_sub(FOOTER),
            reached: options.cursor.clone(),
            query: options.query,
            gap: false,
            stream: options.stream.clone(),
            enough: false,
        }
    }

    /// Takes the account of the walk that put the files into order of time.
    pub(super) fn receive(&mut self, ordered: &Ordered) {
        self.report.receipt.absorb(ordered.receipt());
    }

    /// How far it has come.
    pub(super) fn progress(&self) -> Progress {
        Progress { files: self.report.receipt.files, results: self.report.results }
    }

    /// Whether nothing more is taken.
    pub(super) fn has_enough(&self) -> bool {
        self.enough
    }

    /// The report, and what the rules left out.
    pub(super) fn finish(
        mut self,
        incomplete: Option<Incomplete>,
        ordered: Option<&Ordered>,
    ) -> (SearchOutput, Vec<SkippedEntry>) {
        let mut report = self.report;
        let listed = ordered.and_then(Ordered::incomplete);
        report.incomplete = incomplete.or(listed);
        report.receipt.sort_and_cap();
        // The order of a listing that ended early is not the order of the next.
        if (report.truncated || incomplete.is_some()) && listed.is_none() {
            report.cursor = self.reached.take().map(|cursor| {
                // Looked for only now: a cursor moves with every file.
                let modified = ordered.and_then(|ordered| ordered.modified(&cursor.path));
                let modified = cursor.modified.or(modified);
                self.query.cursor(&Cursor { modified, ..cursor })
            });
        }
        report.notes.append(&mut report.receipt.warnings.clone());
        (report, self.left_out)
    }

    fn file(&mut self, mut file: FileMatches) -> ControlFlow<()> {
        if self.report.shape.report != Report::Content {
            return self.whole(file);
        }
        let count = file.lines.count();
        let most = self.max_results - self.report.results;
        let room = self.room.saturating_sub(file.tail(Report::Content).len());
        // The first match is shown however long its lines are, or no page would ever end.
        let least = usize::from(self.report.results == 0);
        if least > 0 {
            file.lines.cut_before(room);
        }
        let fits = file.lines.fitting(most, room).max(least.min(count));
        if fits == count {
            self.add(count as u64);
            file.lines.cut_to(room);
            return self.push(file);
        }
        let cut = if fits as u64 == most { Truncation::Results } else { Truncation::Bytes };
        if fits > 0 {
            self.add(fits as u64);
            file.lines.keep(fits, self.after);
            file.more = false;
            file.lines.cut_to(room);
            self.push(file)?;
        }
        self.cut(cut)
    }

    /// A result that is a file, not its lines.
    fn whole(&mut self, file: FileMatches) -> ControlFlow<()> {
        let bytes = file.tail(self.report.shape.report).len();
        if self.report.results == self.max_results {
            return self.cut(Truncation::Results);
        }
        if bytes > self.room && self.report.results > 0 {
            return self.cut(Truncation::Bytes);
        }
        self.report.results += 1;
        // Without a count only the file is known to match.
        self.report.matches += file.count.unwrap_or(1);
        self.push(file)
    }

    /// Adds lines that match.
    fn add(&mut self, lines: u64) {
        self.report.results += lines;
        self.report.matches += lines;
    }

    fn push(&mut self, file: FileMatches) -> ControlFlow<()> {
        let report = self.report.shape.report;
        let apart = if self.report.shape.grouped { 3 } else { 0 };
        let text = file.lines.text().len() + file.tail(report).len() + apart;
        self.room = self.room.saturating_sub(text);
        let count = file.lines.count();
        if self.report.largest.as_ref().is_none_or(|(_, most)| count > *most) {
            let shown = escape::display_path(file.path.as_bytes()).into_owned();
            self.report.largest = Some((shown, count));
        }
        if !self.gap {
            self.reach(file.real_bytes(), file.lines.last_match());
        }
        let Some(stream) = &self.stream else {
            self.report.files.push(file);
            return ControlFlow::Continue(());
        };
        let apart =
            if self.report.shape.grouped && self.report.shape.streamed { "--\n" } else { "" };
        self.report.shape.streamed = true;
        let written = if self.report.shape.events {
            events::write(&file, &mut self.report.stats, stream)
        } else {
            stream.write(format_args!("{apart}{}", file.shown(report)))
        };
        // Nobody reads on: the pipe is closed, or the disk is full.
        if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    /// Moves the cursor; its path is written over, as this happens for every file.
    fn reach(&mut self, path: &[u8], line: Option<u64>) {
        let reached = self.reached.get_or_insert_with(|| Cursor::after(Vec::new()));
        (reached.modified, reached.line) = (None, line);
        reached.path.clear();
        reached.path.extend_from_slice(path);
    }

    fn cut(&mut self, cut: Truncation) -> ControlFlow<()> {
        self.report.shape.truncation = Some(cut);
        self.report.truncated = true;
        ControlFlow::Break(())
    }
}

impl ResultSink<Found> for Collector {
    fn directory(&mut self, report: DirectoryReport) {
        self.report.receipt.absorb(report.stats);
        let room = MAX_LEFT_OUT.saturating_sub(self.left_out.len());
        self.left_out.extend(report.skipped_entries.into_iter().take(room));
    }

    fn found(&mut self, found: Found) -> ControlFlow<()> {
        self.report.receipt.absorb(found.receipt);
        for file in found.files {
            let taken = self.file(file);
            self.enough |= taken.is_break();
            taken?;
        }
        // A file that was searched in part is further than the last that was searched whole.
        if !self.gap && !found.partial && !found.upto.is_empty() {
            self.reach(&found.upto, None);
        }
        self.gap |= found.interrupted;
        ControlFlow::Continue(())
    }

    fn gap(&mut self) {
        self.gap = true;
    }
}
