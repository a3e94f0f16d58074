//! Edits by line number: whole lines are replaced, deleted or inserted. The new lines may be copies of
//! those of a file.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::edit::fit::Patch;
use crate::edit::locate::Located;
use crate::edit::replacement::{MatchKind, Matching};
use crate::edit::show::short_path;
use crate::edit::text::{DecodedText, LineEndings, LineTable, slice};
use crate::error::{Error, ErrorCode};
use crate::text::{clip, line_number};

/// Bytes shown of the first and of the last line of a copy that are not blank.
const SHOWN_BYTES: usize = 60;

/// The numbers of the first and the last of consecutive lines, from 1. With `last` = `first` - 1 it is
/// the place before line `first`.
///
/// ```
/// use ripkit::tools::edit_file::LineRange;
///
/// assert_eq!(LineRange::new(3, 5).to_string(), "[3, 5]");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(from = "[u64; 2]", into = "[u64; 2]")]
pub struct LineRange {
    first: u64,
    last: u64,
}

impl LineRange {
    /// The lines from `first` to `last`.
    pub fn new(first: u64, last: u64) -> LineRange {
        LineRange { first, last }
    }

    /// The lines as numbers from 0, in a text of `count` lines; `what` names the text.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for lines that the text does not have, and for a reversed range.
    fn within(self, count: usize, what: &str) -> Result<Range<usize>, Error> {
        let LineRange { first, last } = self;
        let (start, end) = (first.checked_sub(1), count as u64);
        let why = match start {
            None => "lines are counted from 1".to_owned(),
            Some(start) if start > last => "the first line comes after the last".to_owned(),
            Some(start) if start > end || last > end => match count {
                0 => format!("{what} is empty"),
                1 => format!("{what} has only 1 line"),
                _ => format!("{what} has only {count} lines"),
            },
            Some(start) => {
                let number = |number: u64| usize::try_from(number).unwrap_or(count);
                return Ok(number(start)..number(last));
            }
        };
        Err(Error::new(ErrorCode::InvalidArgument, format!("lines {self}: {why}")))
    }

    /// How to insert where a range that is refused begins, in a text of `count` lines.
    fn insertion_hint(self, count: usize) -> Option<String> {
        let LineRange { first, last } = self;
        let count = count as u64;
        match first.checked_sub(1) {
            None => Some("[1, 0] inserts before the first line.".to_owned()),
            Some(start) if start > count => {
                Some(format!("[{}, {count}] inserts at its end.", count + 1))
            }
            Some(start) if start > last => Some(format!("[{first}, {start}] inserts before it.")),
            Some(_) => None,
        }
    }
}

impl From<[u64; 2]> for LineRange {
    fn from([first, last]: [u64; 2]) -> LineRange {
        LineRange { first, last }
    }
}

impl From<LineRange> for [u64; 2] {
    fn from(lines: LineRange) -> [u64; 2] {
        [lines.first, lines.last]
    }
}

impl std::fmt::Display for LineRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {}]", self.first, self.last)
    }
}

impl JsonSchema for LineRange {
    fn schema_name() -> Cow<'static, str> {
        "LineRange".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        // The format marks it for the repair of arguments; providers do not get it.
        json_schema!({
            "type": "array",
            "items": { "type": "integer" },
            "format": "line_range"
        })
    }
}

/// Lines to replace, and the text in their place.
#[derive(Clone, Debug)]
pub(crate) struct LineEdit {
    pub(crate) lines: LineRange,
    pub(crate) new_lines: NewLines,
}

/// The text in the place of lines; empty to delete them.
#[derive(Clone, Debug)]
pub(crate) enum NewLines {
    Text(String),
    Copied(Vec<u8>),
}

impl NewLines {
    /// The text in the place of `old_text`. Copied lines end with a line terminator where it does, so
    /// that no lines are joined or split.
    ///
    /// # Errors
    /// `NOT_TEXT` for copied bytes that are not UTF-8.
    pub(crate) fn in_place_of(self, old_text: &str) -> Result<String, Error> {
        let copied = match self {
            NewLines::Text(text) => return Ok(text),
            NewLines::Copied(bytes) => bytes,
        };
        let mut text = String::from_utf8(copied).map_err(|error| {
            Error::new(ErrorCode::NotText, "the lines to copy are not UTF-8")
                .because(error)
                .with_hint("Pass lines instead of old_text.")
        })?;
        match (old_text.ends_with('\n'), text.ends_with('\n')) {
            (true, false) => text.push('\n'),
            (false, true) => {
                let line = text.strip_suffix("\r\n").or(text.strip_suffix('\n'));
                text.truncate(line.map_or(text.len(), str::len));
            }
            _ => {}
        }
        Ok(text)
    }
}

/// Lines of a file, to be copied.
#[derive(Debug)]
pub(crate) struct CopiedLines {
    /// The bytes of the file; those of a UTF-16 file as UTF-8.
    pub(crate) bytes: Vec<u8>,
    /// What was copied, by its first and its last line, so that a wrong range is noticed.
    pub(crate) note: String,
}

/// The lines of a file with their terminators.
///
/// # Errors
/// `NOT_TEXT` for a binary file, `INVALID_ARGUMENT` for lines that it does not have.
pub(crate) fn copy_lines(
    path: &str,
    content: &[u8],
    lines: LineRange,
) -> Result<CopiedLines, Error> {
    let text = DecodedText::of_text(path, content)?;
    let shown = short_path(path);
    let table = LineTable::new(text.bytes());
    let numbers = lines.within(table.len(), &shown).map_err(|error| error.at(path))?;
    if numbers.is_empty() {
        let message = format!("lines {lines}: no line would be copied");
        return Err(Error::new(ErrorCode::InvalidArgument, message).at(path));
    }
    let bytes = slice(text.bytes(), table.bytes_of(numbers.clone())?)?.to_vec();
    if text.is_utf16() && str::from_utf8(&bytes).is_err() {
        let message = format!("lines {lines} of {shown} have unpaired surrogates");
        return Err(Error::new(ErrorCode::NotText, message).at(path));
    }
    let note = format!("copied {}", named_lines(&table, numbers, &shown));
    Ok(CopiedLines { bytes, note })
}

/// "lines 3-5 of a.rs, from `first` to `last`", so that a wrong range is noticed.
fn named_lines(table: &LineTable<'_>, numbers: Range<usize>, path: &str) -> String {
    let show = |line: &[u8]| {
        clip::ellipsize(String::from_utf8_lossy(line).trim(), SHOWN_BYTES).into_owned()
    };
    let (first, last) = (numbers.start + 1, numbers.end);
    let mut filled = table.lines(numbers).map(show).filter(|line| !line.is_empty());
    let what = match (filled.next(), filled.last()) {
        (None, _) if first == last => "which is blank".to_owned(),
        (None, _) => "which are blank".to_owned(),
        (Some(only), None) => format!("`{only}`"),
        (Some(first), Some(last)) => format!("from `{first}` to `{last}`"),
    };
    if first == last {
        format!("line {first} of {path}, {what}")
    } else {
        format!("lines {first}-{last} of {path}, {what}")
    }
}

/// Locates line edits in one text.
pub(super) struct LineLocator<'a> {
    path: &'a str,
    text: &'a DecodedText<'a>,
    table: LineTable<'a>,
    endings: LineEndings,
}

impl<'a> LineLocator<'a> {
    pub(super) fn new(path: &'a str, text: &'a DecodedText<'_>) -> LineLocator<'a> {
        let endings = LineEndings::of(text.bytes());
        LineLocator { path, text, table: LineTable::new(text.bytes()), endings }
    }

    /// Plans a line edit.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if the text does not have these lines, nothing would change, or the new lines
    /// begin with line numbers, `NOT_TEXT` if they have bytes that the encoding of the text does not have.
    pub(super) fn locate(&self, edit: &LineEdit, matching: Matching) -> Result<Located, Error> {
        let text = self.text.bytes();
        let shown = short_path(self.path);
        let count = self.table.len();
        let numbers = edit.lines.within(count, &shown);
        let numbers = numbers.map_err(|error| match edit.lines.insertion_hint(count) {
            Some(hint) => error.with_hint(hint),
            None => error,
        })?;
        let range = self.table.bytes_of(numbers.clone())?;
        let is_open = text.last().is_some_and(|&byte| byte != b'\n');
        let is_last = is_open && range.end == text.len();
        let ending = self.endings.near(&range, &range);
        let mut new = match &edit.new_lines {
            NewLines::Copied(bytes) => {
                self.check_encoding(bytes)?;
                with_endings(bytes, self.ending_of_copy(ending))
            }
            NewLines::Text(given) => {
                self.refuse_numbers(edit.lines, given)?;
                let first_line = self.text.has_mark() && range.start == 0;
                let unmarked = given.strip_prefix('\u{FEFF}').filter(|_| first_line);
                let given = unmarked.unwrap_or(given).as_bytes();
                let converts = matching == Matching::Safe;
                with_endings(given, self.ending_of_copy(ending).filter(|_| converts))
            }
        };
        if is_last && !new.is_empty() {
            // The last line of the file has no terminator, and it stays so.
            if new.ends_with(b"\n") {
                new.truncate(new.len() - if new.ends_with(b"\r\n") { 2 } else { 1 });
            }
            if range.is_empty() {
                new.splice(..0, ending.bytes());
            }
        } else if !new.is_empty() && !new.ends_with(b"\n") {
            new.extend_from_slice(ending.as_bytes());
        }
        if slice(text, range.clone())? == new {
            let LineRange { first, last } = edit.lines;
            let what = match last + 1 - first {
                0 => "new_text is empty".to_owned(),
                1 => format!("line {first} of {shown} is this text already"),
                _ => format!("lines {first}-{last} of {shown} are this text already"),
            };
            let message = format!("nothing would change: {what}");
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        }
        let matched = match count.checked_sub(1) {
            // A terminator is added to the last line.
            Some(last) if is_last && range.is_empty() => {
                self.table.bytes_of(last..last + 1)?.start..range.end
            }
            _ => range.clone(),
        };
        let note = (!numbers.is_empty()).then(|| {
            let done = if new.is_empty() { "deleted" } else { "replaced" };
            format!("{done} {}", named_lines(&self.table, numbers, &shown))
        });
        let patch = Patch { match_start: matched.start, range, text: new };
        Ok(Located {
            kind: MatchKind::Exact,
            matches: vec![matched],
            patches: vec![patch],
            notes: Vec::from_iter(note),
        })
    }

    /// The line ending that new lines get; none if the text has no line ending to follow.
    fn ending_of_copy(&self, near: &'static str) -> Option<&'static str> {
        (!matches!(self.endings, LineEndings::None)).then_some(near)
    }

    /// Refuses lines that begin with their numbers, as `read_file` shows them, in a file without such
    /// lines.
    fn refuse_numbers(&self, lines: LineRange, new: &str) -> Result<(), Error> {
        let numbers = new.lines().map(|line| line_number::split(line).map(|(number, _)| number));
        let mut wanted = i64::try_from(lines.first).into_iter().flat_map(|first| first..);
        let is_numbered = !new.is_empty() && numbers.into_iter().all(|it| it == wanted.next());
        let mut old = self.text.bytes().split(|&byte| byte == b'\n').map(String::from_utf8_lossy);
        if !is_numbered || old.any(|line| line_number::split(&line).is_some()) {
            return Ok(());
        }
        let message = "the lines of new_text begin with line numbers; nothing was changed";
        let error = Error::new(ErrorCode::InvalidArgument, message);
        Err(error.with_hint("Give the text itself, without them."))
    }

    /// Refuses bytes that would make the text one of two encodings.
    fn check_encoding(&self, copied: &[u8]) -> Result<(), Error> {
        let is_utf8 = |text: &[u8]| !text.is_ascii() && str::from_utf8(text).is_ok();
        let has_encoding = self.text.is_utf16() || is_utf8(self.text.bytes());
        if !has_encoding || str::from_utf8(copied).is_ok() {
            return Ok(());
        }
        let (path, encoding) =
            (short_path(self.path), if self.text.is_utf16() { "UTF-16" } else { "UTF-8" });
        let message = format!("the lines to copy are not UTF-8, and {path} is {encoding}");
        let error = Error::new(ErrorCode::NotText, message).at(self.path);
        Err(error.with_hint("Give the text instead, as new_text."))
    }
}

/// The text with this line ending, or as it is.
fn with_endings(text: &[u8], ending: Option<&str>) -> Vec<u8> {
    let Some(ending) = ending else { return text.to_vec() };
    let mut converted = Vec::with_capacity(text.len());
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => {
                converted.extend_from_slice(line.strip_suffix(b"\r").unwrap_or(line));
                converted.extend_from_slice(ending.as_bytes());
            }
            None => converted.extend_from_slice(line),
        }
    }
    converted
}

#[cfg(test)]
mod tests;
