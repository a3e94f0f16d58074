//! The lines of one file that an answer shows, written as they will be shown.
//!
//! A search can find millions of lines, so a line is no object of its own: the text of all is one
//! string, `path:line:text` after `path:line:text`, and what is known of each is a small entry.

use crate::search::exact::ExactLine;
use crate::search::line_match::{ContextLine, LineMatch};
use crate::text::clip;

/// Bytes of text for which there is room from the start.
const ROOM: usize = 4096;

/// Lines of one file, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// The lines as a model reads them, each with its end.
    text: String,
    spans: Vec<[usize; 2]>,
    entries: Vec<Entry>,
    /// One for each entry, where they are wanted.
    exact: Vec<ExactLine>,
    /// The number of the last line written.
    last: Option<u64>,
}

/// What is known of one match or one line of context.
#[derive(Clone, Copy, Debug)]
struct Entry {
    line: u64,
    /// Where it ends in `text`, with its line end; the next begins there.
    end: usize,
    /// Its own text in `text`.
    own: (usize, usize),
    /// Where its first match begins, from 1; 0 if that is not known.
    column: u64,
    /// Where its spans begin; they end where those of the next begin.
    spans: usize,
    kind: Kind,
    /// Not all of its spans are kept.
    more_spans: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Match,
    /// It matches, but is past a cap and shown as context of the last result.
    PastCap,
    Context,
}

/// A matching line.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedLine<'a> {
    /// Its number.
    pub(super) line: u64,
    /// Without its line end.
    pub(super) text: &'a [u8],
    /// Where the pattern matches in `text`.
    pub(super) spans: &'a [(usize, usize)],
    /// There are, or may be, more spans.
    pub(super) more_spans: bool,
    /// It is no result, but context of the last one.
    pub(super) past_cap: bool,
}

/// How lines are written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Style<'a> {
    /// The path, as shown.
    pub(super) path: &'a str,
    /// Bytes shown of a line.
    pub(super) line_bytes: usize,
    /// Whether groups of lines are set apart by `--`.
    pub(super) grouped: bool,
}

/// What became of the matches of a part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Appended {
    /// Matches that an earlier answer has shown.
    pub(super) seen: usize,
    /// Matches that were added.
    pub(super) added: usize,
    /// Whether some found no room.
    pub(super) left: bool,
}

impl Lines {
    /// Adds a line that matches.
    pub(super) fn push_match(&mut self, style: Style<'_>, matched: MatchedLine<'_>) {
        let MatchedLine { line, text, spans, more_spans, past_cap } = matched;
        let column = spans.first().map_or(0, |(start, _)| *start as u64 + 1);
        let first_span = self.spans.len();
        let kept = std::str::from_utf8(text).ok().filter(|_| text.len() <= style.line_bytes);
        let own = if let Some(text) = kept {
            self.push_spans(spans.iter().map(|&(from, to)| whole_characters(text, from, to)));
            self.write(style, line, ':', text)
        } else {
            let window = clip::window(text, spans, style.line_bytes);
            self.push_spans(window.spans.into_iter());
            let written = self.write(style, line, ':', &window.text);
            if window.cut && column > 0 {
                self.append_column(column);
            }
            written
        };
        let kind = if past_cap { Kind::PastCap } else { Kind::Match };
        self.push(Entry { line, end: 0, own, column, spans: first_span, kind, more_spans });
    }

    /// Adds a match in a line of which only a piece is at hand, and the column it has in the line.
    /// Whether the line has more matches is not known.
    pub(super) fn push_piece(
        &mut self,
        style: Style<'_>,
        line: u64,
        (piece, place): (&[u8], (usize, usize)),
        column: u64,
    ) {
        let text = piece.split(|byte| *byte == b'\n').next().unwrap_or(piece);
        let window = clip::window(text, &[place], style.line_bytes);
        let spans = self.spans.len();
        self.spans.extend(window.spans);
        let own = self.write(style, line, ':', &window.text);
        self.append_column(column);
        let (kind, more_spans) = (Kind::Match, true);
        self.push(Entry { line, end: 0, own, column, spans, kind, more_spans });
    }

    /// Adds a line of context, without its line end.
    pub(super) fn push_context(&mut self, style: Style<'_>, line: u64, bytes: &[u8]) {
        let text = clip::window(bytes, &[], style.line_bytes).text;
        let own = self.write(style, line, '-', &text);
        let (spans, kind) = (self.spans.len(), Kind::Context);
        self.push(Entry { line, end: 0, own, column: 0, spans, kind, more_spans: false });
    }

    /// Adds to the line that was added last what it is in the file.
    pub(super) fn push_exact(&mut self, line: ExactLine) {
        self.exact.push(line);
    }

    /// The lines as they are in the file, if they were kept.
    pub(super) fn exact(&self) -> &[ExactLine] {
        &self.exact
    }

    /// Adds the matches of a later part of the file, whose numbers begin at 1 after `before`
    /// lines: those past line `after`, and no more than `room`.
    pub(super) fn append(
        &mut self,
        part: &Lines,
        style: Style<'_>,
        (before, after): (u64, u64),
        room: usize,
    ) -> Appended {
        let mut appended = Appended::default();
        for shown in part.shown() {
            if shown.entry.line + before <= after {
                appended.seen += 1;
            } else if appended.added < room {
                appended.added += 1;
                self.append_entry(shown, style, before);
            } else {
                appended.left = true;
                break;
            }
        }
        appended
    }

    fn append_entry(&mut self, shown: Shown<'_>, style: Style<'_>, before: u64) {
        let spans = self.spans.len();
        self.spans.extend_from_slice(shown.spans);
        let entry = *shown.entry;
        let line = entry.line + before;
        let own = self.write(style, line, ':', shown.own);
        // After its text there is more than a line end when it was cut.
        if entry.end > entry.own.1 + 1 {
            self.append_column(entry.column);
        }
        self.push(Entry { line, end: 0, own, spans, ..entry });
    }

    /// The lines as shown, each with its end.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The matches, without the context.
    pub(crate) fn matches(&self) -> impl Iterator<Item = LineMatch> {
        self.shown().filter(|shown| shown.entry.kind == Kind::Match).map(|shown| LineMatch {
            line: shown.entry.line,
            column: (shown.entry.column > 0).then_some(shown.entry.column),
            text: shown.own.to_owned(),
            spans: shown.spans.to_vec(),
            spans_truncated: shown.entry.more_spans,
        })
    }

    /// The lines of context, and those past a cap that are shown as such.
    pub(crate) fn context(&self) -> impl Iterator<Item = ContextLine> {
        let context = self.shown().filter(|shown| shown.entry.kind != Kind::Match);
        context.map(|shown| ContextLine { line: shown.entry.line, text: shown.own.to_owned() })
    }

    /// How many matches there are.
    pub(crate) fn count(&self) -> usize {
        self.matching().count()
    }

    /// The number of the last match's line.
    pub(crate) fn last_match(&self) -> Option<u64> {
        self.entries.iter().rev().find(|entry| entry.kind == Kind::Match).map(|entry| entry.line)
    }

    /// Keeps the first `count` matches, and what is within `after` lines of the last as its
    /// context: also lines that match, as `rg --max-count` has it.
    pub(super) fn keep(&mut self, count: usize, after: u64) {
        let last = count.checked_sub(1).and_then(|last| self.matching().nth(last));
        let Some((last, entry)) = last else { return self.truncate(0) };
        let reach = entry.line.saturating_add(after);
        let mut kept = last + 1;
        for entry in self.entries.iter_mut().skip(kept).take_while(|entry| entry.line <= reach) {
            if entry.kind == Kind::Match {
                entry.kind = Kind::PastCap;
            }
            kept += 1;
        }
        self.truncate(kept);
    }

    /// How many of the first matches, with the context round them, fit into `room` bytes of
    /// text, but no more than `most`.
    pub(super) fn fitting(&self, most: u64, room: usize) -> usize {
        let matches = self.matching().take(usize::try_from(most).unwrap_or(usize::MAX));
        matches.take_while(|(_, entry)| entry.end <= room).count()
    }

    /// Drops context before the first match until that ends within `room` bytes of text.
    pub(super) fn cut_before(&mut self, room: usize) {
        let ends: Vec<usize> = self
            .entries
            .iter()
            .take_while(|entry| entry.kind == Kind::Context)
            .map(|entry| entry.end)
            .collect();
        let Some(first) = self.entries.get(ends.len()) else { return };
        let over = first.end.saturating_sub(room);
        let dropped = ends.iter().take_while(|end| **end < over).count() + usize::from(over > 0);
        let dropped = dropped.min(ends.len());
        let Some(cut) = dropped.checked_sub(1).and_then(|last| ends.get(last)) else { return };
        self.entries.drain(..dropped);
        self.exact.drain(..dropped.min(self.exact.len()));
        self.text.drain(..*cut);
        for entry in &mut self.entries {
            entry.end -= cut;
            entry.own = (entry.own.0 - cut, entry.own.1 - cut);
        }
    }

    /// Drops context at the end that is past `room` bytes of text.
    pub(super) fn cut_to(&mut self, room: usize) {
        let over = |entry: &Entry| entry.kind != Kind::Match && entry.end > room;
        let kept = self.entries.iter().rposition(|entry| !over(entry));
        self.truncate(kept.map_or(0, |last| last + 1));
    }

    fn truncate(&mut self, entries: usize) {
        let spans = self.entries.get(entries).map_or(self.spans.len(), |next| next.spans);
        self.spans.truncate(spans);
        self.entries.truncate(entries);
        self.exact.truncate(entries);
        let end = self.entries.last().map_or(0, |last| last.end);
        self.text.truncate(end);
    }

    fn matching(&self) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(|(_, entry)| entry.kind == Kind::Match)
    }

    /// The entries with what is their own. `write` and `push` have put that where the entries say;
    /// an entry of which that was not so would end them, not be one with a text of its own.
    fn shown(&self) -> impl Iterator<Item = Shown<'_>> {
        let next = self.entries.iter().skip(1).map(|next| next.spans);
        let ends = next.chain([self.spans.len()]);
        self.entries.iter().zip(ends).map_while(|(entry, end)| {
            let own = self.text.get(entry.own.0..entry.own.1)?;
            Some(Shown { entry, own, spans: self.spans.get(entry.spans..end)? })
        })
    }

    /// Makes room for a file's usual share at once: growing from nothing costs ten small
    /// allocations, which threads then fight over.
    fn make_room(&mut self) {
        if self.text.capacity() == 0 {
            self.text.reserve(ROOM);
            self.entries.reserve(ROOM / 64);
        }
    }

    fn push(&mut self, entry: Entry) {
        self.entries.push(Entry { end: self.text.len(), ..entry });
    }

    /// Writes the text of an entry, a single line, and returns where it lies.
    fn write(&mut self, style: Style<'_>, line: u64, mark: char, text: &str) -> (usize, usize) {
        self.make_room();
        let apart = self.last.is_some_and(|last| line > last + 1);
        if style.grouped && apart {
            self.text.push_str("--\n");
        }
        self.last = Some(line);
        self.write_head(style.path, line, mark);
        let start = self.text.len();
        self.text.push_str(text);
        let end = self.text.len();
        self.text.push('\n');
        (start, end)
    }

    /// Adds the spans of a line. Those that became the same, as empty ones within one character
    /// do, are one.
    fn push_spans(&mut self, spans: impl Iterator<Item = [usize; 2]>) {
        let mut last = None;
        for span in spans {
            if last.replace(span) != Some(span) {
                self.spans.push(span);
            }
        }
    }

    fn write_head(&mut self, path: &str, line: u64, mark: char) {
        self.text.push_str(path);
        self.text.push(mark);
        push_number(&mut self.text, line);
        self.text.push(mark);
    }

    fn append_column(&mut self, column: u64) {
        self.text.pop();
        self.text.push_str(" (column ");
        push_number(&mut self.text, column);
        self.text.push_str(")\n");
    }
}

/// A span widened to whole characters: a pattern can match a part of one, or nothing within one.
fn whole_characters(text: &str, from: usize, to: usize) -> [usize; 2] {
    let start = text.floor_char_boundary(from);
    [start, if from == to { start } else { text.ceil_char_boundary(to) }]
}

/// An entry and what is its own.
#[derive(Clone, Copy)]
struct Shown<'a> {
    entry: &'a Entry,
    own: &'a str,
    spans: &'a [[usize; 2]],
}

/// Appends a number without the detour over the formatting machinery, which a million lines feel.
fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut count = 0;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        count += 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let digits = digits.iter().skip(digits.len() - count);
    text.extend(digits.map(|digit| char::from(*digit)));
}

#[cfg(test)]
mod tests;
