//! What becomes of a match: a line of the report, or a count.
//!
//! A multi-line search hands over blocks: all lines that matches cover, as long as they are
//! adjacent. Results are lines, so a block is taken apart here.

use std::io;

use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkContextKind, SinkMatch};

use crate::search::exact::ExactLine;
use crate::search::file_matches::FileMatches;
use crate::search::lines::{MatchedLine, Style};
use crate::search::options::Report;
use crate::search::spans::{LineSpans, Spans, SpansInLine, Wanted};

/// The most matches of one line whose places are kept, where lines are not kept byte for byte.
const MAX_SPANS: usize = 100;

/// How much after a match over several lines is looked at too, in bytes, as ripgrep has it.
const LOOK_AHEAD: usize = 128;

/// Matching lines between two looks at the clock.
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
    /// The number of the last matching line that is a result.
    last: u64,
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
            last: 0,
            interrupted: false,
            binary: false,
        }
    }

    /// Decides whether the matching line with this number is a result.
    fn place(&mut self, line: u64) -> Place {
        if self.after_line > 0 && line <= self.after_line {
            self.seen += 1;
            return Place::Seen;
        }
        if self.is_full() {
            self.found.more = true;
            return if line <= self.reach() { Place::Context } else { Place::Beyond };
        }
        self.count += 1;
        self.last = line;
        Place::Result
    }

    /// No further line can be a result, because a cap is reached.
    fn is_full(&self) -> bool {
        self.count >= self.keep.lines || self.count + self.seen >= self.keep.per_file
    }

    /// The number of the last line of context after the last result.
    fn reach(&self) -> u64 {
        if self.count == 0 { 0 } else { self.last.saturating_add(self.keep.context.1 as u64) }
    }

    /// Takes a matching line; false ends the search of the file.
    fn line(&mut self, number: u64, found: &SinkMatch<'_>) -> bool {
        let past_cap = match self.place(number) {
            Place::Seen => return true,
            Place::Beyond => return false,
            Place::Result => false,
            Place::Context => true,
        };
        let bytes = found.bytes();
        let mut spans = SpansInLine::default();
        if let Some(wanted) = self.wanted(bytes) {
            // A match in a single line cannot hold its end.
            let line = without_feed(bytes);
            let all = Spans::new(self.matcher, line, 0..usize::MAX, self.keeps_going);
            let mut all = LineSpans::new(all);
            spans = all.of_last_line(0..line.len(), wanted);
            if all.is_interrupted() && !self.is_kept_in_part(past_cap) {
                return false;
            }
        }
        let offset = found.absolute_byte_offset();
        self.push(Pushed { number, offset, bytes, spans, past_cap, joined: false });
        !self.interrupted
    }

    /// Takes the lines of a block; false ends the search of the file.
    fn block(&mut self, first: u64, found: &SinkMatch<'_>) -> bool {
        let (buffer, range) = (found.buffer(), found.bytes_range_in_buffer());
        let ahead = buffer.len().min(range.end.saturating_add(LOOK_AHEAD));
        // The regex may depend on what follows the block, but a match belongs to it only if it
        // begins there. An empty one behind a last line without an end belongs to that line.
        let is_open = !found.bytes().ends_with(b"\n");
        let begins = range.start..range.end + usize::from(is_open);
        let text = buffer.get(..ahead).unwrap_or(buffer);
        let mut spans = LineSpans::new(Spans::new(self.matcher, text, begins, self.keeps_going));
        let (mut start, mut joined) = (range.start, false);
        for (number, bytes) in (first..).zip(found.lines()) {
            if number.is_multiple_of(CHECK_EVERY) {
                self.interrupted |= !(self.keeps_going)();
            }
            if self.interrupted {
                return false;
            }
            let line = start..start + bytes.len();
            start = line.end;
            let past_cap = match self.place(number) {
                Place::Seen => continue,
                Place::Beyond => return false,
                Place::Result => false,
                Place::Context => true,
            };
            let offset = found.absolute_byte_offset() + (line.start - range.start) as u64;
            let found = match self.wanted(bytes) {
                Some(wanted) if line.end == range.end => spans.of_last_line(line, wanted),
                Some(wanted) => spans.of_line(line, wanted),
                None => SpansInLine::default(),
            };
            if spans.is_interrupted() && !self.is_kept_in_part(past_cap) {
                return false;
            }
            self.push(Pushed { number, offset, bytes, spans: found, past_cap, joined });
            joined = true;
        }
        !self.interrupted
    }

    /// The call ended while matches were looked for in a line. The line is left to the next call,
    /// or, if no other was found in this file, kept without the rest of its matches: otherwise a
    /// line that takes longer than every call would be looked at for ever.
    fn is_kept_in_part(&mut self, past_cap: bool) -> bool {
        self.interrupted = true;
        let kept = !past_cap && self.count == 1;
        if !past_cap && !kept {
            self.count -= 1;
        }
        kept
    }

    /// Which places of matches in a line have to be known, if any.
    fn wanted(&self, bytes: &[u8]) -> Option<Wanted> {
        let limit = self.keep.line_bytes;
        if self.keep.exact {
            Some(Wanted { most: usize::MAX, within: usize::MAX })
        } else if self.keep.spans {
            Some(Wanted { most: MAX_SPANS, within: limit })
        } else {
            // A long line is shown as a window round its first match.
            let is_long = without_end(bytes).len() > limit;
            is_long.then_some(Wanted { most: 1, within: limit })
        }
    }

    fn push(&mut self, pushed: Pushed<'_>) {
        let Pushed { number, offset, bytes, spans, past_cap, joined } = pushed;
        let text = without_end(bytes);
        let shown = shown(&spans.places, text.len());
        self.found.lines.push_match(
            self.style(),
            MatchedLine {
                line: number,
                text,
                spans: shown.get(..MAX_SPANS).unwrap_or(&shown),
                more_spans: spans.more || shown.len() > MAX_SPANS,
                past_cap,
            },
        );
        if self.keep.exact {
            // As in ripgrep, an empty match behind a line without an end is none.
            let mut places = spans.places;
            places.retain(|(from, _)| *from < bytes.len());
            if joined && spans.continued {
                // It stands with the line where it begins.
                places.remove(0);
            }
            let exact = ExactLine::found(number, offset, bytes, places);
            self.found.lines.push_exact(if joined { exact.joined() } else { exact });
        }
    }

    fn style(&self) -> Style<'a> {
        Style {
            path: self.path,
            line_bytes: self.keep.line_bytes,
            grouped: self.keep.context != (0, 0),
        }
    }

    fn is_due(&self) -> bool {
        self.count.is_multiple_of(CHECK_EVERY)
    }
}

/// What a matching line is in this answer.
enum Place {
    /// It was in an earlier answer.
    Seen,
    /// It is a result.
    Result,
    /// It is past a cap, but is context of the last result.
    Context,
    /// It is past a cap.
    Beyond,
}

/// A matching line that is kept.
struct Pushed<'a> {
    number: u64,
    /// Where it begins in the text of the file.
    offset: u64,
    /// With its line end.
    bytes: &'a [u8],
    spans: SpansInLine,
    past_cap: bool,
    /// It follows a line of the same block that is kept too.
    joined: bool,
}

impl Sink for LineSink<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> Result<bool, io::Error> {
        match self.keep.report {
            Report::Files => {
                self.count = 1;
                return Ok(false);
            }
            Report::Count if self.keep.multiline => self.count += lines(found.bytes()),
            Report::Count => self.count += 1,
            Report::Content => {
                // Content is searched with line numbers.
                let Some(number) = found.line_number() else {
                    return Err(io::Error::other("internal error: a match without a line number"));
                };
                let goes_on = if self.keep.multiline {
                    self.block(number, found)
                } else {
                    self.line(number, found)
                };
                if !goes_on {
                    return Ok(false);
                }
            }
        }
        if (self.keep.multiline || self.is_due()) && !(self.keeps_going)() {
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
        if self.keep.report != Report::Content {
            return Ok(true);
        }
        let Some(number) = line.line_number() else {
            return Err(io::Error::other("internal error: context without a line number"));
        };
        if self.is_full() && number > self.reach() {
            // All context after the last result is shown, and whether there are more matches
            // need not be looked for twice.
            return Ok(!self.found.more);
        }
        // What follows the last match of an earlier answer was shown there.
        let seen = number <= self.after_line
            || (self.count == 0 && *line.kind() == SinkContextKind::After);
        if !seen {
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

/// How many lines these bytes are.
fn lines(bytes: &[u8]) -> u64 {
    let ends = memchr::memchr_iter(b'\n', bytes).count() as u64;
    ends + u64::from(!bytes.ends_with(b"\n"))
}

/// Places in a line as places in its text of `length` bytes, which lacks the line end. Empty
/// matches within the line end become one.
fn shown(places: &[(usize, usize)], length: usize) -> Vec<(usize, usize)> {
    let mut shown: Vec<_> =
        places.iter().map(|(from, to)| ((*from).min(length), (*to).min(length))).collect();
    shown.dedup();
    shown
}

fn without_feed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = without_feed(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}
