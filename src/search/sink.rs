//! What becomes of a match: a line of the report, or a count.

use std::io;
use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::search::exact::ExactLine;
use crate::search::file_matches::FileMatches;
use crate::search::lines::Style;
use crate::search::options::Report;

/// The most matches that are told apart in one line.
const MAX_SPANS: usize = 100;

/// How much of a line, from its first match on, is looked at for further matches, in bytes.
const SPAN_WINDOW: usize = 64 * 1024;

/// How much after a match over several lines is looked at too, in bytes, as ripgrep has it.
const LOOK_AHEAD: usize = 128;

/// Matches between two looks at the clock.
const CHECK_EVERY: u64 = 128;

/// What a sink keeps of each match, the same for every file of a search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keep {
    pub(super) report: Report,
    /// Matching lines that this answer can take, and one more to know that there are more.
    pub(super) lines: u64,
    /// Matching lines of one file, in this answer and earlier ones.
    pub(super) per_file: u64,
    /// Whether a match may span lines.
    pub(super) multiline: bool,
    /// Whether the places of matches in a line are wanted.
    pub(super) spans: bool,
    /// Whether lines are kept byte for byte too.
    pub(super) exact: bool,
    /// Lines of context before and after a match.
    pub(super) context: (usize, usize),
    /// Bytes shown of a line.
    pub(super) line_bytes: usize,
}

/// Collects the matches of one file, or of one part of it.
pub(super) struct LineSink<'a> {
    keep: Keep,
    matcher: &'a RegexMatcher,
    /// The path as shown.
    path: &'a str,
    /// Lines up to this one were in an earlier answer.
    after_line: u64,
    keeps_going: &'a dyn Fn() -> bool,
    found: &'a mut FileMatches,
    /// Matching lines so far.
    pub(super) count: u64,
    /// Matching lines that an earlier answer has shown.
    pub(super) seen: u64,
    /// The call ended in the middle of the file.
    pub(super) interrupted: bool,
    /// A NUL byte ended the search of the file.
    pub(super) binary: bool,
}

impl<'a> LineSink<'a> {
    pub(super) fn new(
        keep: Keep,
        matcher: &'a RegexMatcher,
        (path, after_line): (&'a str, u64),
        (found, keeps_going): (&'a mut FileMatches, &'a dyn Fn() -> bool),
    ) -> LineSink<'a> {
        LineSink {
            keep,
            matcher,
            path,
            after_line,
            keeps_going,
            found,
            count: 0,
            seen: 0,
            interrupted: false,
            binary: false,
        }
    }

    fn push(&mut self, line: u64, found: &SinkMatch<'_>) {
        let bytes = found.bytes();
        let shown = without_end(bytes);
        let mut places = Vec::new();
        // A long line is shown as a window round its match, so that has to be known.
        if self.keep.spans || shown.len() > self.keep.line_bytes {
            // A match in a single line cannot hold its end; one over several lines can, and may
            // depend on what follows.
            let range = found.bytes_range_in_buffer();
            let begin = if self.keep.multiline { range.start } else { 0 };
            places = if self.keep.multiline {
                let text = found.buffer();
                let ahead = text.len().min(range.end.saturating_add(LOOK_AHEAD));
                spans(self.matcher, text.get(..ahead).unwrap_or(text), range)
            } else {
                let line = without_feed(bytes);
                spans(self.matcher, line, 0..line.len())
            };
            moved(&mut places, begin, bytes.len());
        }
        let exact = self
            .keep
            .exact
            .then(|| ExactLine::found(line, found.absolute_byte_offset(), bytes, places.clone()));
        moved(&mut places, 0, shown.len());
        self.found.lines.push_match(self.style(), line, shown, &places);
        if let Some(exact) = exact {
            self.found.lines.push_exact(exact);
        }
    }

    fn style(&self) -> Style<'a> {
        Style {
            path: self.path,
            line_bytes: self.keep.line_bytes,
            grouped: self.keep.context != (0, 0),
        }
    }

    /// Leaves the file; context that belongs to a match that is not shown goes too.
    fn leave(&mut self) -> bool {
        self.found.more = true;
        let count = usize::try_from(self.count).unwrap_or(usize::MAX);
        self.found.lines.keep(count, self.keep.context.1 as u64);
        false
    }
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        let line = found.line_number().unwrap_or(0);
        if self.after_line > 0 && line <= self.after_line {
            self.seen += 1;
            return Ok(true);
        }
        if self.count >= self.keep.lines || self.count + self.seen >= self.keep.per_file {
            return Ok(self.leave());
        }
        self.count += 1;
        match self.keep.report {
            Report::Files => return Ok(false),
            Report::Count => {}
            Report::Content => self.push(line, found),
        }
        let due = self.keep.multiline || self.count.is_multiple_of(CHECK_EVERY);
        if due && !(self.keeps_going)() {
            self.interrupted = true;
            return Ok(false);
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, offset: u64) -> Result<bool, io::Error> {
        self.binary = true;
        self.found.binary_offset = Some(offset);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, line: &SinkContext<'_>) -> Result<bool, io::Error> {
        let number = line.line_number().unwrap_or(0);
        // What follows the last match of an earlier answer was shown there.
        let seen = number <= self.after_line
            || (self.count == 0 && *line.kind() == SinkContextKind::After);
        if !seen && self.keep.report == Report::Content {
            let bytes = line.bytes();
            self.found.lines.push_context(self.style(), number, without_end(bytes));
            if self.keep.exact {
                let exact = ExactLine::around(number, line.absolute_byte_offset(), bytes);
                self.found.lines.push_exact(exact);
            }
        }
        Ok(true)
    }
}

/// Moves places down by `begin`, and none past `end`.
fn moved(places: &mut [(usize, usize)], begin: usize, end: usize) {
    let part = |at: usize| at.saturating_sub(begin).min(end);
    for (from, to) in places {
        (*from, *to) = (part(*from), part(*to));
    }
}

fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = without_feed(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Begin and end of the matches that begin in a part of a text; bounded, since a regex may need
/// the whole of it for each of them.
fn spans(matcher: &RegexMatcher, text: &[u8], part: Range<usize>) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let (mut at, mut window) = (part.start, text);
    while spans.len() < MAX_SPANS && at <= window.len() {
        let Ok(Some(next)) = matcher.find_at(window, at) else { break };
        // Only where the text ends can an empty match at the end belong to this part.
        if next.start() >= part.end && part.end < text.len() {
            break;
        }
        if spans.is_empty() {
            window = text.get(..text.len().min(next.end() + SPAN_WINDOW)).unwrap_or(text);
        }
        spans.push((next.start(), next.end()));
        at = next_start(next.start(), next.end());
    }
    spans
}

/// An empty match is followed by a look one byte further.
fn next_start(start: usize, end: usize) -> usize {
    if start == end { end + 1 } else { end }
}
