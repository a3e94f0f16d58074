//! One page of a file: lines from a place on, until enough of them or of bytes are there.

use std::borrow::Cow;

use crate::context::{Call, Incomplete};
use crate::error::Error;
use crate::read::encoding::decoded;
use crate::read::scan::BLOCK;
use crate::read::source::Source;
use crate::read::units::Units;
use crate::text::line_number::LineNumber;

/// How much a page may hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    pub(super) lines: u64,
    /// Bytes of the text as it is shown.
    pub(super) bytes: usize,
    /// Whether line numbers are shown too.
    pub(super) numbered: bool,
}

/// Lines of a file, decoded, with their line ends.
#[derive(Debug, Default)]
pub(super) struct Page {
    pub(super) content: String,
    pub(super) lines: u64,
    /// The place of the page in the file.
    pub(super) begin: u64,
    /// The place behind it.
    pub(super) end: u64,
    /// Whether the file ends with the page.
    pub(super) at_end: bool,
    /// Whether bytes ended the page, and not the number of lines.
    pub(super) full: bool,
    /// Bytes of the one line that did not fit and of which only the beginning is here.
    pub(super) cut_line: Option<u64>,
    /// Why that line was not measured to its end, or the lines behind the page were not read.
    pub(super) stopped: Option<Incomplete>,
    /// Whether bytes of it fit no encoding, or not that of the file.
    pub(super) is_lossy: bool,
}

/// How many lines are read between two looks at the clock.
const CHECK_EVERY: u64 = 1024;

impl Page {
    /// Takes lines from `lines` on; `number` is that of the first, negative if it is counted from
    /// the end.
    pub(super) fn take(
        mut lines: Lines<'_, '_>,
        number: i64,
        room: Room,
        call: &Call,
    ) -> Result<Page, Error> {
        let begin = lines.place();
        let mut page = Page { begin, end: begin, ..Page::default() };
        // No text is shorter than half of its bytes, so that is enough to see that it is too long.
        let kept = room.bytes.saturating_mul(2).saturating_add(8);
        let mut filling = Filling::of(room);
        let mut bytes = Vec::new();
        while page.lines < room.lines {
            if page.lines % CHECK_EVERY == CHECK_EVERY - 1 {
                page.stopped = call.stop_reason();
                if page.stopped.is_some() {
                    break;
                }
            }
            let Some(line) = lines.next(&mut bytes, kept, call)? else {
                page.at_end = true;
                break;
            };
            let text = decoded(&bytes, lines.units);
            let number = line_number(number, page.lines);
            if !filling.add(&text, number) || line.stopped.is_some() {
                page.full = true;
                if page.lines == 0 {
                    page.cut(room.beginning(&text, number), &line, lines.place());
                }
                break;
            }
            page.is_lossy |= matches!(text, Cow::Owned(_)) && lines.units == Units::Bytes;
            page.content.push_str(&text);
            page.lines += 1;
            page.end = lines.place();
            page.at_end = !line.ended;
        }
        Ok(page)
    }

    /// Keeps only the beginning of a line that is longer than a page.
    fn cut(&mut self, beginning: &str, line: &Line, end: u64) {
        self.content.push_str(beginning);
        self.lines = 1;
        self.end = end;
        self.at_end = !line.ended && line.stopped.is_none();
        self.cut_line = Some(line.length);
        self.stopped = line.stopped;
    }
}

impl Room {
    /// The beginning of a line that is longer than a page, as much as there is room for.
    fn beginning<'a>(&self, line: &'a str, number: i64) -> &'a str {
        // Whether the line end was kept must make no difference.
        let text = line.trim_end_matches(['\r', '\n']);
        let extra = shown_bytes(text, number, self.numbered).saturating_sub(text.len());
        let room = self.bytes.saturating_sub(extra);
        text.split_at_checked(text.floor_char_boundary(room)).map_or(text, |(start, _)| start)
    }
}

/// How much of the room for bytes is used.
struct Filling {
    room: Room,
    used: usize,
}

impl Filling {
    fn of(room: Room) -> Filling {
        Filling { room, used: 0 }
    }

    /// Adds a line with its line end; tells whether there was room for it.
    fn add(&mut self, line: &str, number: i64) -> bool {
        let cost = shown_bytes(line, number, self.room.numbered);
        self.used = self.used.saturating_add(cost);
        self.used <= self.room.bytes
    }
}

/// A page of a text that is in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span<'a> {
    /// The lines with their line ends.
    pub(super) text: &'a str,
    /// The number of the first line, from 1.
    pub(super) first: u64,
    /// How many lines there are.
    pub(super) lines: u64,
    /// Whether the one line is longer than a page; `text` is its beginning then.
    pub(super) cut: bool,
    /// What follows the page in the text.
    pub(super) rest: &'a str,
}

/// The pages in which a reader sees a text who asks for one after the other: those that
/// [`Page::take`] gives for its bytes.
pub(super) fn spans(text: &str, room: Room) -> impl Iterator<Item = Span<'_>> {
    let (mut rest, mut first) = (text, 1);
    std::iter::from_fn(move || {
        let span = Span::first_of(rest, first, room)?;
        (rest, first) = (span.rest, first + span.lines);
        Some(span)
    })
}

impl Span<'_> {
    fn first_of(text: &str, first: u64, room: Room) -> Option<Span<'_>> {
        let mut filling = Filling::of(room);
        let (mut end, mut lines) = (0, 0);
        for line in text.split_inclusive('\n') {
            let number = line_number(0, first + lines);
            if lines == room.lines || !filling.add(line, number) {
                if lines == 0 && room.lines > 0 {
                    let (_, rest) = text.split_at_checked(line.len())?;
                    let text = room.beginning(line, number);
                    return Some(Span { text, first, lines: 1, cut: true, rest });
                }
                break;
            }
            end += line.len();
            lines += 1;
        }
        let (text, rest) = text.split_at_checked(end)?;
        (lines > 0).then_some(Span { text, first, lines, cut: false, rest })
    }
}

/// The number of the line `count` lines behind the line `first`.
pub(crate) fn line_number(first: i64, count: u64) -> i64 {
    first.saturating_add_unsigned(count)
}

/// Bytes of a line as it is shown, with its line end.
fn shown_bytes(line: &str, number: i64, numbered: bool) -> usize {
    if !numbered {
        return line.len();
    }
    let text = shown_line(line);
    LineNumber(number).len() + text.len() + 1
}

/// A line without its line end, as it is shown behind its number.
pub(crate) fn shown_line(line: &str) -> &str {
    let Some(text) = line.strip_suffix('\n') else { return line };
    text.strip_suffix('\r').unwrap_or(text)
}

/// What is known of a line besides its bytes.
struct Line {
    /// All its bytes, without the line feed.
    length: u64,
    /// Whether a line feed ends it.
    ended: bool,
    stopped: Option<Incomplete>,
}

/// The lines of a file from a place on.
pub(super) struct Lines<'a, 'f> {
    source: &'a Source<'f>,
    units: Units,
    buffer: Vec<u8>,
    /// What of the buffer is not yet taken.
    from: usize,
    to: usize,
    /// Where the buffer ends in the file.
    offset: u64,
}

impl<'a, 'f> Lines<'a, 'f> {
    /// Starts at a place of the file, after `skipped` further line feeds.
    pub(super) fn at(
        source: &'a Source<'f>,
        units: Units,
        (offset, skipped): (u64, u64),
        mut buffer: Vec<u8>,
    ) -> Result<Lines<'a, 'f>, Error> {
        buffer.resize(BLOCK, 0);
        let mut lines = Lines { source, units, buffer, from: 0, to: 0, offset };
        let mut left = skipped;
        while left > 0 && lines.fill()? {
            match units.line_end(lines.ready()?) {
                Some(end) => {
                    lines.from += end;
                    left -= 1;
                }
                None => lines.from = lines.to,
            }
        }
        Ok(lines)
    }

    /// The place in the file of the line that comes next.
    fn place(&self) -> u64 {
        self.offset - (self.to - self.from) as u64
    }

    fn ready(&self) -> Result<&[u8], Error> {
        self.buffer.get(self.from..self.to).ok_or_else(|| self.source.overrun())
    }

    /// Reads on if nothing is ready; tells whether something is.
    fn fill(&mut self) -> Result<bool, Error> {
        if self.from == self.to {
            (self.from, self.to) = (0, self.source.fill(&mut self.buffer, self.offset)?);
            self.offset += self.to as u64;
        }
        Ok(self.to > 0)
    }

    /// Puts the next line into `bytes`, but no more than `kept` of it and its line feed.
    fn next(
        &mut self,
        bytes: &mut Vec<u8>,
        kept: usize,
        call: &Call,
    ) -> Result<Option<Line>, Error> {
        bytes.clear();
        let mut line = Line { length: 0, ended: false, stopped: None };
        while !line.ended && line.stopped.is_none() && self.fill()? {
            let ready = self.ready()?;
            let end = self.units.line_end(ready);
            let piece = match end {
                Some(end) => ready.get(..end).ok_or_else(|| self.source.overrun())?,
                None => ready,
            };
            let room = kept.saturating_sub(bytes.len());
            bytes.extend(piece.iter().take(room));
            line.ended = end.is_some();
            line.length += piece.len() as u64;
            self.from += piece.len();
            // What is not kept may go on for gigabytes.
            line.stopped = if room == 0 { call.stop_reason() } else { None };
        }
        let found = line.length > 0;
        if line.ended {
            line.length -= self.units.width() as u64;
        }
        Ok(found.then_some(line))
    }
}
