//! The lines of one file that an answer shows, written as they will be shown.
//!
//! A search can find millions of lines, so a line is no object of its own: the text of all is one
//! string, `path:line:text` after `path:line:text`, and what is known of each is a small entry.

use std::ops::Range;

use crate::search::exact::ExactLine;
use crate::search::line_match::{ContextLine, LineMatch};
use crate::text::clip;

/// What stands before the lines of one match may be this many times as long as a shown line.
const HEADS: usize = 64;

/// Bytes of text for which there is room from the start.
const ROOM: usize = 4096;

/// Lines of one file, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// The lines as a model reads them, each with its end.
    text: String,
    /// Matches over several lines, which `text` breaks up.
    blocks: String,
    spans: Vec<[u32; 2]>,
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
    end: u32,
    /// Its own text in `text`, or in `blocks`.
    own: (u32, u32),
    column: u32,
    /// Where its spans begin; they end where those of the next begin.
    spans: u32,
    kind: Kind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Match,
    Block,
    Context,
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

impl Style<'_> {
    /// Bytes shown of a match: fewer where it has so many short lines that what stands before
    /// each of them would be most of the text.
    fn limit(self, bytes: &[u8], spans: &[(usize, usize)]) -> usize {
        let mut limit = self.line_bytes;
        if !bytes.contains(&b'\n') {
            return limit;
        }
        let most = self.line_bytes.saturating_mul(HEADS) / (self.path.len() + 1);
        let lines = |limit| clip::window(bytes, spans, limit).text.matches('\n').count();
        while limit > 1 && lines(limit) > most {
            limit /= 2;
        }
        limit
    }
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
    /// Adds a match: its lines without the last line end, and where the pattern matches in them.
    pub(super) fn push_match(
        &mut self,
        style: Style<'_>,
        line: u64,
        bytes: &[u8],
        spans: &[(usize, usize)],
    ) {
        let column = spans.first().map_or(0, |(start, _)| start + 1);
        let first_span = narrow(self.spans.len());
        let limit = style.limit(bytes, spans);
        let kept = std::str::from_utf8(bytes).ok().filter(|_| bytes.len() <= limit);
        let (own, kind) = if let Some(text) = kept {
            self.spans.extend(spans.iter().map(|(from, to)| [narrow(*from), narrow(*to)]));
            self.write(style, line, ':', text)
        } else {
            let window = clip::window(bytes, spans, limit);
            self.spans.extend(window.spans.iter().map(|[from, to]| [narrow(*from), narrow(*to)]));
            let written = self.write(style, line, ':', &window.text);
            if window.cut && column > 0 {
                self.append_column(column);
            }
            written
        };
        self.push(Entry { line, end: 0, own, column: narrow(column), spans: first_span, kind });
    }

    /// Adds a match in a line of which only a piece is at hand, and the column it has in the line.
    pub(super) fn push_piece(
        &mut self,
        style: Style<'_>,
        line: u64,
        (piece, place): (&[u8], (usize, usize)),
        column: usize,
    ) {
        let end = memchr::memchr(b'\n', piece).unwrap_or(piece.len());
        let window = clip::window(piece.get(..end).unwrap_or(piece), &[place], style.line_bytes);
        let spans = narrow(self.spans.len());
        self.spans.extend(window.spans.iter().map(|[from, to]| [narrow(*from), narrow(*to)]));
        let (own, kind) = self.write(style, line, ':', &window.text);
        self.append_column(column);
        self.push(Entry { line, end: 0, own, column: narrow(column), spans, kind });
    }

    /// Adds a line of context, without its line end.
    pub(super) fn push_context(&mut self, style: Style<'_>, line: u64, bytes: &[u8]) {
        let text = clip::window(bytes, &[], style.line_bytes).text;
        let (own, _) = self.write(style, line, '-', &text);
        let spans = narrow(self.spans.len());
        self.push(Entry { line, end: 0, own, column: 0, spans, kind: Kind::Context });
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
        for (index, entry) in part.entries.iter().enumerate() {
            if entry.line + before <= after {
                appended.seen += 1;
            } else if appended.added < room {
                appended.added += 1;
                self.append_entry(part, style, (index, entry), before);
            } else {
                appended.left = true;
                break;
            }
        }
        appended
    }

    fn append_entry(
        &mut self,
        part: &Lines,
        style: Style<'_>,
        (index, entry): (usize, &Entry),
        before: u64,
    ) {
        let spans = narrow(self.spans.len());
        self.spans.extend_from_slice(part.spans.get(part.span_range(index)).unwrap_or_default());
        let line = entry.line + before;
        let (own, kind) = self.write(style, line, ':', part.own(entry));
        // After its text there is more than a line end when it was cut.
        if entry.end > entry.own.1 + 1 {
            self.append_column(entry.column as usize);
        }
        self.push(Entry { line, end: 0, own, column: entry.column, spans, kind });
    }

    /// The lines as shown, each with its end.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// The matches, without the context.
    pub(crate) fn matches(&self) -> impl Iterator<Item = LineMatch> {
        self.of(|kind| kind != Kind::Context).map(|(index, entry)| LineMatch {
            line: entry.line,
            column: (entry.column > 0).then_some(u64::from(entry.column)),
            text: self.own(entry).to_owned(),
            spans: self
                .spans
                .get(self.span_range(index))
                .unwrap_or_default()
                .iter()
                .map(|[from, to]| [*from as usize, *to as usize])
                .collect(),
        })
    }

    /// The lines of context.
    pub(crate) fn context(&self) -> impl Iterator<Item = ContextLine> {
        self.of(|kind| kind == Kind::Context)
            .map(|(_, entry)| ContextLine { line: entry.line, text: self.own(entry).to_owned() })
    }

    /// How many matches there are.
    pub(crate) fn count(&self) -> usize {
        self.of(|kind| kind != Kind::Context).count()
    }

    /// The number of the last match's line.
    pub(crate) fn last_match(&self) -> Option<u64> {
        self.entries.iter().rev().find(|entry| entry.kind != Kind::Context).map(|entry| entry.line)
    }

    /// Keeps the first `count` matches, and the context within `after` lines of the last.
    pub(super) fn keep(&mut self, count: usize, after: u64) {
        let cut = self
            .of(|kind| kind != Kind::Context)
            .nth(count)
            .map_or(self.entries.len(), |(index, _)| index);
        let last = self.of(|kind| kind != Kind::Context).nth(count.wrapping_sub(1));
        let reach = last.map_or(0, |(_, entry)| entry.line.saturating_add(after));
        let kept = self.entries.get(..cut).unwrap_or_default();
        let kept =
            kept.iter().rposition(|entry| entry.kind != Kind::Context || entry.line <= reach);
        self.truncate(kept.map_or(0, |last| last + 1));
    }

    /// How many of the first matches, with the context round them, fit into `room` bytes of
    /// text, but no more than `most`.
    pub(super) fn fitting(&self, most: u64, room: usize) -> usize {
        let matches =
            self.of(|kind| kind != Kind::Context).take(usize::try_from(most).unwrap_or(usize::MAX));
        matches.take_while(|(_, entry)| entry.end as usize <= room).count()
    }

    /// Drops context before the first match until that ends within `room` bytes of text.
    pub(super) fn cut_before(&mut self, room: usize) {
        let ends: Vec<usize> = self
            .entries
            .iter()
            .take_while(|entry| entry.kind == Kind::Context)
            .map(|entry| entry.end as usize)
            .collect();
        let Some(first) = self.entries.get(ends.len()) else { return };
        let over = (first.end as usize).saturating_sub(room);
        let dropped = ends.iter().take_while(|end| **end < over).count() + usize::from(over > 0);
        let dropped = dropped.min(ends.len());
        let Some(cut) = dropped.checked_sub(1).and_then(|last| ends.get(last)) else { return };
        self.entries.drain(..dropped);
        self.exact.drain(..dropped.min(self.exact.len()));
        self.text.drain(..*cut);
        let cut = narrow(*cut);
        for entry in &mut self.entries {
            entry.end -= cut;
            if entry.kind != Kind::Block {
                entry.own = (entry.own.0 - cut, entry.own.1 - cut);
            }
        }
    }

    /// Drops context at the end that is past `room` bytes of text.
    pub(super) fn cut_to(&mut self, room: usize) {
        let over = |entry: &Entry| entry.kind == Kind::Context && entry.end as usize > room;
        let kept = self.entries.iter().rposition(|entry| !over(entry));
        self.truncate(kept.map_or(0, |last| last + 1));
    }

    fn truncate(&mut self, entries: usize) {
        let spans = self.entries.get(entries).map_or(self.spans.len(), |next| next.spans as usize);
        self.spans.truncate(spans);
        self.entries.truncate(entries);
        self.exact.truncate(entries);
        let end = self.entries.last().map_or(0, |last| last.end as usize);
        self.text.truncate(end);
    }

    fn of(&self, wanted: impl Fn(Kind) -> bool) -> impl Iterator<Item = (usize, &Entry)> {
        self.entries.iter().enumerate().filter(move |(_, entry)| wanted(entry.kind))
    }

    fn own(&self, entry: &Entry) -> &str {
        let text = if entry.kind == Kind::Block { &self.blocks } else { &self.text };
        text.get(entry.own.0 as usize..entry.own.1 as usize).unwrap_or_default()
    }

    fn span_range(&self, index: usize) -> Range<usize> {
        let begin = self.entries.get(index).map_or(0, |entry| entry.spans as usize);
        let next = self.entries.get(index + 1).map_or(self.spans.len(), |next| next.spans as usize);
        begin..next.max(begin)
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
        self.entries.push(Entry { end: narrow(self.text.len()), ..entry });
    }

    /// Writes the text of an entry and returns where it lies.
    fn write(&mut self, style: Style<'_>, line: u64, mark: char, text: &str) -> ((u32, u32), Kind) {
        self.make_room();
        let apart = self.last.is_some_and(|last| line > last + 1);
        if style.grouped && apart {
            self.text.push_str("--\n");
        }
        if !text.contains('\n') {
            self.last = Some(line);
            self.write_head(style.path, line, mark);
            let start = self.text.len();
            self.text.push_str(text);
            let own = (narrow(start), narrow(self.text.len()));
            self.text.push('\n');
            return (own, if mark == ':' { Kind::Match } else { Kind::Context });
        }
        for (number, text) in (line..).zip(text.split('\n')) {
            self.write_head(style.path, number, mark);
            self.text.push_str(text.strip_suffix('\r').unwrap_or(text));
            self.text.push('\n');
            self.last = Some(number);
        }
        let start = self.blocks.len();
        self.blocks.push_str(text);
        ((narrow(start), narrow(self.blocks.len())), Kind::Block)
    }

    fn write_head(&mut self, path: &str, line: u64, mark: char) {
        self.text.push_str(path);
        self.text.push(mark);
        push_number(&mut self.text, line);
        self.text.push(mark);
    }

    fn append_column(&mut self, column: usize) {
        self.text.pop();
        self.text.push_str(" (column ");
        push_number(&mut self.text, column as u64);
        self.text.push_str(")\n");
    }
}

/// Text of one file stays far below 4 GiB; what does not is cut, never wrong.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Appends a number without the detour over the formatting machinery, which a million lines feel.
fn push_number(text: &mut String, mut number: u64) {
    let mut digits = [0; 20];
    let mut first = digits.len();
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + u8::try_from(number % 10).unwrap_or(0);
        first -= 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    let digits = digits.get(first..).and_then(|digits| std::str::from_utf8(digits).ok());
    text.push_str(digits.unwrap_or_default());
}

#[cfg(test)]
mod tests;
