//! Reading a file for a model: a page of its text, or an image.
//!
//! One pass counts the lines and remembers coarsely where they are; then the page alone is read.
//! So a file of any size costs a few blocks of memory. Of a large file only the beginning is counted,
//! and what is before the page; a page near its end is found from the end.

mod encoding;
mod ending;
pub(crate) mod image;
mod index;
pub(crate) mod named;
pub(crate) mod page;
pub(crate) mod returned;
mod scan;
mod source;
mod units;

#[cfg(test)]
mod tests;

use crate::context::{Call, Incomplete};
use crate::error::{Error, ErrorCode};
use crate::output::counted;
use crate::read::image::Image;
use crate::read::page::{Lines, Page, Room, line_number};
use crate::read::scan::{BLOCK, Extent, Scan};
use crate::read::source::Source;
use crate::workspace::{File, Version, WorkspacePath};

pub use encoding::{Encoding, LineEnding};

/// The first bytes, in which a NUL byte tells that a file is no text.
const HEAD: usize = 8000;

/// Bytes of a file that is too large for a version after which lines are not counted any more, unless
/// they come before the page: 16 MiB.
pub(crate) const MAX_COUNTED_BYTES: u64 = 16 << 20;

/// Which page of a file is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PageOptions {
    /// The first line from 1, or from the end when negative; 0 is 1.
    pub(crate) offset: i64,
    /// The most lines; with 0, all lines are counted, whatever the size of the file.
    pub(crate) lines: u64,
    /// The most bytes of the text as it is shown.
    pub(crate) bytes: usize,
    /// Whether line numbers are shown and count as bytes.
    pub(crate) numbered: bool,
    /// The largest file that gets a version.
    pub(crate) most_hashed: u64,
    /// Bytes of a larger file of which lines are counted, whatever the page.
    pub(crate) most_counted: u64,
}

/// What a file holds.
#[derive(Debug)]
pub(crate) enum Content {
    Text(TextPage),
    Image(Image),
}

/// A page of a text file.
#[derive(Debug)]
pub(crate) struct TextPage {
    /// The lines with their line ends.
    pub(crate) content: String,
    /// How many lines the file has.
    pub(crate) total_lines: Total,
    /// The first line of the page; negative if it is counted from the end of the file.
    pub(crate) start: i64,
    /// The last line of the page, counted like the first; one less than that if there is none.
    pub(crate) end: i64,
    /// Whether the file goes on behind the page.
    pub(crate) more: bool,
    /// Whether bytes ended the page, and not the number of lines.
    pub(crate) full: bool,
    /// Bytes of the one line that did not fit and of which only the beginning is here.
    pub(crate) cut_line: Option<u64>,
    pub(crate) version: Option<Version>,
    pub(crate) encoding: Encoding,
    pub(crate) line_ending: LineEnding,
    /// Why the file was not read to its end.
    pub(crate) stopped: Option<Incomplete>,
    /// Whether the file changed while it was read, twice.
    pub(crate) changed: bool,
}

/// How many lines a file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Total {
    Exactly(u64),
    /// The file is too large to count them all.
    MoreThan(u64),
    /// The reading was stopped.
    AtLeast(u64),
}

/// Reads a page of a text file, or an image.
///
/// # Errors
/// `INVALID_PATH` for anything but a regular file, `NOT_TEXT` for what is neither text nor a
/// sound image, `TOO_LARGE` for an image over 20 MiB, `INVALID_ARGUMENT` for an offset behind the
/// end, `CONFLICT` for a file that shrinks all the time, `TIMEOUT` or `CANCELLED` if the page was
/// not reached.
pub(crate) fn read(
    path: &WorkspacePath,
    options: &PageOptions,
    call: &Call,
) -> Result<Content, Error> {
    let file = path.open_file()?;
    let (content, changed) = read_once(&file, path, options, call);
    if !changed {
        return content;
    }
    let (content, changed) = read_once(&file, path, options, call);
    let mut content = content?;
    if let (Content::Text(page), true) = (&mut content, changed) {
        // It may belong to a content that never was.
        page.version = None;
        page.changed = true;
    }
    Ok(content)
}

/// Reads, and tells whether the file changed meanwhile.
fn read_once(
    file: &File,
    path: &WorkspacePath,
    options: &PageOptions,
    call: &Call,
) -> (Result<Content, Error>, bool) {
    let source = Source { file, path };
    let before = source.moment();
    let size = before.as_ref().map_or(0, |moment| moment.0);
    let reading = Reading { source, size, options, call };
    let content = reading.content();
    let changed = match (before, reading.source.moment()) {
        (Ok(before), Ok(after)) => before != after,
        _ => false,
    };
    (content, changed)
}

/// One reading of a file.
struct Reading<'a> {
    source: Source<'a>,
    /// Bytes of the file when it began.
    size: u64,
    options: &'a PageOptions,
    call: &'a Call,
}

impl Reading<'_> {
    fn content(&self) -> Result<Content, Error> {
        let mut buffer = vec![0; self.block()];
        let count = self.source.fill(&mut buffer, 0)?;
        let head = buffer.get(..count.min(HEAD)).ok_or_else(|| self.source.overrun())?;
        let is_text = Encoding::of(head).units() != units::Units::Bytes || !head.contains(&0);
        if let Some(format) = image::recognise(head) {
            match Image::read(&self.source, format, self.size)? {
                Ok(image) => return Ok(Content::Image(image)),
                // A text may begin like an image of a format that begins with letters.
                Err(_) if is_text && is_utf8(head) => {}
                Err(why) => return Err(broken_image(self.source.path, format, why)),
            }
        }
        // UTF-32 begins like UTF-16 and goes on with a NUL.
        if !is_text || head.starts_with(b"\xFF\xFE\0\0") {
            return Err(binary(self.source.path, self.size, "in its first bytes"));
        }
        let scan = Scan::run(&self.source, &mut buffer, count, self.extent(), self.call)?;
        self.text_page(&scan, buffer).map(Content::Text)
    }

    /// How far lines are counted.
    fn extent(&self) -> Extent {
        let PageOptions { offset, lines, most_hashed, most_counted, .. } = *self.options;
        let is_counted = self.size <= most_hashed.max(most_counted) || lines == 0;
        let before = u64::try_from(offset).map_or(0, |offset| offset.saturating_sub(1));
        Extent {
            most_hashed,
            bytes: (!is_counted).then_some(most_counted),
            feeds: before,
            size: self.size,
        }
    }

    /// Bytes of one read: one beyond the size, so that a short read tells the end.
    fn block(&self) -> usize {
        // What tells no size may have any.
        if self.size == 0 {
            return BLOCK;
        }
        let block = usize::try_from(self.size + 1).map_or(BLOCK, |all| all.clamp(HEAD, BLOCK));
        block.next_multiple_of(2)
    }

    fn text_page(&self, scan: &Scan, buffer: Vec<u8>) -> Result<TextPage, Error> {
        let found = self.find(scan, buffer)?;
        let Found { start, page } = found;
        let end = line_number(start, page.lines) - 1;
        if page.content.contains('\0') {
            let place = if start == end {
                format!("line {start}")
            } else {
                format!("lines {start} to {end}")
            };
            return Err(binary(self.source.path, self.size, &format!("in {place}")));
        }
        let total = scan.lines();
        let is_uncounted = !scan.whole && scan.stopped.is_none();
        let is_there = is_uncounted || i64::try_from(total).is_ok_and(|total| total >= start);
        if page.lines == 0 && is_there && self.options.lines > 0 {
            return Err(shrinking(self.source.path));
        }
        let last = u64::try_from(end).ok();
        let total_lines = match (last, scan.stopped) {
            // Only a file that changes while it is read has another end than the scan saw.
            (Some(last), None) if page.at_end && page.lines > 0 => Total::Exactly(last),
            (Some(last), None) if is_uncounted && page.end >= self.size => Total::Exactly(last),
            (last, None) if scan.whole => Total::Exactly(total.max(last.unwrap_or(0))),
            // Each of these line feeds ends a line, and more follows.
            (last, None) => Total::MoreThan(scan.feeds.max(last.unwrap_or(0))),
            (last, Some(_)) => Total::AtLeast(total.max(last.unwrap_or(0))),
        };
        let more = match (total_lines, last) {
            (Total::Exactly(total), Some(last)) => last < total,
            _ => !page.at_end && page.end < self.size,
        };
        // What the scan did not see is looked at here.
        let beyond = (page.begin >= scan.bytes).then(|| ending::feeds(&page.content));
        let is_unknown = page.is_lossy && scan.encoding() == Encoding::Utf8;
        Ok(TextPage {
            content: page.content,
            total_lines,
            start,
            end,
            more,
            full: page.full,
            cut_line: page.cut_line,
            version: scan.version(),
            encoding: if is_unknown { Encoding::Unknown } else { scan.encoding() },
            line_ending: scan.line_ending(beyond.unwrap_or_default()),
            stopped: scan.stopped.or(page.stopped),
            changed: false,
        })
    }

    /// Finds the page that was asked for.
    fn find(&self, scan: &Scan, buffer: Vec<u8>) -> Result<Found, Error> {
        if self.options.offset < 0 && !scan.whole && scan.stopped.is_none() {
            return self.find_from_end(scan, buffer);
        }
        let start = start(self.source.path, scan, self.options)?;
        let place = match scan.index.before(start - 1) {
            (0, _) => (scan.encoding.mark(), start - 1),
            (offset, feeds) => (offset, start - 1 - feeds),
        };
        let start = i64::try_from(start).unwrap_or(i64::MAX);
        Ok(Found { start, page: self.page(scan, place, start, buffer)? })
    }

    /// The same in a file that was not counted to its end.
    fn find_from_end(&self, scan: &Scan, mut buffer: Vec<u8>) -> Result<Found, Error> {
        let wanted = self.options.offset;
        buffer.resize(BLOCK, 0);
        let units = scan.encoding.units();
        let lines = wanted.unsigned_abs();
        let found = ending::find(&self.source, units, self.size, lines, &mut buffer, self.call)?;
        match found {
            ending::Found::At { offset, skipped } => {
                let place = (offset, skipped);
                let page = self.page(scan, place, wanted, buffer)?;
                Ok(Found { start: wanted, page })
            }
            ending::Found::Fewer => {
                let page = self.page(scan, (scan.encoding.mark(), 0), 1, buffer)?;
                Ok(Found { start: 1, page })
            }
            ending::Found::Stopped(why, lines) => Err(not_reached(self.source.path, why, lines)),
        }
    }

    /// The lines of the page that begins at a place, after some further line feeds.
    fn page(
        &self,
        scan: &Scan,
        place: (u64, u64),
        number: i64,
        buffer: Vec<u8>,
    ) -> Result<Page, Error> {
        let PageOptions { lines, bytes, numbered, .. } = *self.options;
        // What is appended meanwhile would have no number.
        let lines = if number < 0 { lines.min(number.unsigned_abs()) } else { lines };
        if lines == 0 {
            return Ok(Page::default());
        }
        let lines_from = Lines::at(&self.source, scan.encoding.units(), place, buffer)?;
        Page::take(lines_from, number, Room { lines, bytes, numbered }, self.call)
    }
}

/// A page, and the number of its first line.
struct Found {
    start: i64,
    page: Page,
}

/// Tells whether bytes are UTF-8, of which the last character may be cut.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).err().is_none_or(|error| error.error_len().is_none())
}

/// The number of the first line of the page.
fn start(path: &WorkspacePath, scan: &Scan, options: &PageOptions) -> Result<u64, Error> {
    let total = scan.lines();
    let from_end = options.offset.unsigned_abs();
    let start = match options.offset {
        ..0 => (total + 1).saturating_sub(from_end).max(1),
        offset => offset.unsigned_abs().max(1),
    };
    if let Some(why) = scan.stopped {
        let is_known = options.offset >= 0 && start - 1 <= scan.feeds;
        return if is_known { Ok(start) } else { Err(not_reached(path, why, total)) };
    }
    // Of a file that was not counted to its end, enough was.
    if start > total.max(1) && options.lines > 0 && scan.whole {
        let message = format!(
            "{path} has {}; offset {start} is past the end",
            counted(total, "line", "lines")
        );
        return Err(Error::new(ErrorCode::InvalidArgument, message).at(path.as_str()));
    }
    Ok(if scan.whole { start.min(total + 1) } else { start })
}

fn not_reached(path: &WorkspacePath, why: Incomplete, lines: u64) -> Error {
    let counted = counted(lines, "line", "lines");
    let message = format!("{why} after {counted} of {path}, before the page was reached");
    Error::new(why.into(), message).at(path.as_str())
}

fn binary(path: &WorkspacePath, size: u64, place: &str) -> Error {
    let size = counted(size, "byte", "bytes");
    let message = format!("{path} is binary, not text: it has a NUL byte {place} ({size} in all)");
    Error::new(ErrorCode::NotText, message).at(path.as_str())
}

fn broken_image(path: &WorkspacePath, format: image::Format, why: &str) -> Error {
    let message = format!("{path} begins like an image ({}), but {why}", format.mime());
    Error::new(ErrorCode::NotText, message).at(path.as_str())
}

fn shrinking(path: &WorkspacePath) -> Error {
    let message = format!("{path} became shorter while it was read");
    Error::new(ErrorCode::Conflict, message).at(path.as_str()).with_hint("Read it again.")
}
