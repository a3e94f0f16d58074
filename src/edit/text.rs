//! The text of a file as edits see it: decoded, sliced with checked ranges, with its line endings
//! and the bytes that are not UTF-8.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::char::decode_utf16;
use std::ops::Range;
use std::slice::SliceIndex;

use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::edit::show::short_path;
use crate::error::{Error, ErrorCode};
use crate::text::decode;

/// What bytes that are not UTF-8 are shown as.
pub(super) const REPLACEMENT_CHARACTER: &str = "\u{FFFD}";

/// Characters of two texts together that are compared to decide which undecodable bytes stay.
const MAX_COMPARED_CHARS: usize = 20_000;

/// The part of `text` at `range`.
///
/// A wrong range must not become an empty part: the edit would lose or invent content.
///
/// # Errors
/// `INTERNAL` if the range does not lie within the text.
pub(super) fn slice<I: SliceIndex<[u8], Output = [u8]>>(
    text: &[u8],
    range: I,
) -> Result<&[u8], Error> {
    text.get(range).ok_or_else(out_of_range)
}

/// The part of `text` at `range`.
///
/// # Errors
/// `INTERNAL` if the range does not lie within the text or splits a character.
pub(super) fn str_slice<I: SliceIndex<str, Output = str>>(
    text: &str,
    range: I,
) -> Result<&str, Error> {
    text.get(range).ok_or_else(out_of_range)
}

/// The error for a range that was computed wrongly.
pub(super) fn out_of_range() -> Error {
    let message = "the edit was not made: a range was computed that is not within the text";
    Error::new(ErrorCode::Internal, message)
        .with_hint("This is a defect of the tool; write the whole file instead.")
}

/// The content of a file without its byte order mark; UTF-16 is decoded to UTF-8.
pub(crate) struct DecodedText<'a> {
    bytes: Cow<'a, [u8]>,
    encoding: Encoding,
    /// Length of the byte order mark.
    mark_len: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Encoding {
    /// UTF-8, Latin-1 or anything else: the bytes are the text.
    Bytes,
    Utf16Le,
    Utf16Be,
}

impl<'a> DecodedText<'a> {
    pub(crate) fn new(content: &'a [u8]) -> DecodedText<'a> {
        if let Some(text) = content.strip_prefix(decode::UTF8_MARK) {
            let mark_len = decode::UTF8_MARK.len();
            return DecodedText { bytes: Cow::Borrowed(text), encoding: Encoding::Bytes, mark_len };
        }
        let (encoding, bytes, mark_len) = match content {
            [0xFF, 0xFE, units @ ..] => {
                (Encoding::Utf16Le, Cow::Owned(decode_units(units, u16::from_le_bytes)), 2)
            }
            [0xFE, 0xFF, units @ ..] => {
                (Encoding::Utf16Be, Cow::Owned(decode_units(units, u16::from_be_bytes)), 2)
            }
            _ => (Encoding::Bytes, Cow::Borrowed(content), 0),
        };
        DecodedText { bytes, encoding, mark_len }
    }

    /// The same, for the file at `path`.
    ///
    /// # Errors
    /// `NOT_TEXT`: NUL bytes in a file that is not UTF-16.
    pub(super) fn of_text(path: &str, content: &'a [u8]) -> Result<DecodedText<'a>, Error> {
        let text = DecodedText::new(content);
        if let Some(at) = memchr::memchr(0, content).filter(|_| !text.is_utf16()) {
            let message = format!("{} is not text: byte {at} is NUL", short_path(path));
            return Err(Error::new(ErrorCode::NotText, message).at(path));
        }
        Ok(text)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn is_utf16(&self) -> bool {
        self.encoding != Encoding::Bytes
    }

    pub(super) fn has_mark(&self) -> bool {
        self.mark_len > 0
    }

    /// `text` in the encoding of the file.
    ///
    /// # Errors
    /// `INTERNAL` if the file is UTF-16 and the text is not UTF-8.
    pub(super) fn encode<'t>(&self, text: &'t [u8]) -> Result<Cow<'t, [u8]>, Error> {
        if self.encoding == Encoding::Bytes {
            return Ok(Cow::Borrowed(text));
        }
        let text = str::from_utf8(text).map_err(|error| out_of_range().because(error))?;
        let units = text.encode_utf16();
        Ok(Cow::Owned(match self.encoding {
            Encoding::Utf16Be => units.flat_map(u16::to_be_bytes).collect(),
            _ => units.flat_map(u16::to_le_bytes).collect(),
        }))
    }

    /// The bytes of a file like `content`, of which this is the text, with another text: its byte order
    /// mark is kept, and an odd last byte of UTF-16. `None` if the text must be encoded as UTF-16 and
    /// is not valid UTF-8.
    pub(crate) fn with_text(&self, content: &[u8], text: Vec<u8>) -> Option<Vec<u8>> {
        if !self.has_mark() {
            return Some(text);
        }
        let mark = content.get(..self.mark_len)?;
        if !self.is_utf16() {
            return Some([mark, &text].concat());
        }
        let odd = content.get(content.len() - content.len() % 2..)?;
        Some([mark, &self.encode(&text).ok()?, odd].concat())
    }

    /// A cursor that maps offsets between the text and the file.
    pub(super) fn offsets(&self) -> OffsetMap<'_> {
        OffsetMap { text: self, at: 0, file_at: self.mark_len }
    }
}

/// Unpaired surrogates become the three bytes that UTF-8 forbids, so that no text matches them. An
/// odd last byte belongs to no character and is left out.
fn decode_units(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Vec<u8> {
    let mut text = Vec::with_capacity(bytes.len());
    let (pairs, _) = bytes.as_chunks::<2>();
    for unit in decode_utf16(pairs.iter().map(|&pair| read(pair))) {
        match unit {
            Ok(letter) => text.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes()),
            Err(error) => {
                let [high, low] = error.unpaired_surrogate().to_be_bytes();
                text.push(0xE0 | (high >> 4));
                text.push(0x80 | ((high & 0xF) << 2) | (low >> 6));
                text.push(0x80 | (low & 0x3F));
            }
        }
    }
    text
}

/// Maps offsets between the decoded text and the file. Offsets must be asked for in ascending
/// order: each call continues from the one before.
pub(super) struct OffsetMap<'a> {
    text: &'a DecodedText<'a>,
    at: usize,
    file_at: usize,
}

impl OffsetMap<'_> {
    /// The offset in the file of the offset `at` of the text.
    ///
    /// # Errors
    /// `INTERNAL` if `at` lies before the last one, or behind the text.
    pub(super) fn in_file(&mut self, at: usize) -> Result<usize, Error> {
        let passed = slice(&self.text.bytes, self.at..at)?;
        self.file_at += match self.text.encoding {
            Encoding::Bytes => passed.len(),
            Encoding::Utf16Le | Encoding::Utf16Be => {
                passed.iter().map(|&byte| utf16_len(byte)).sum()
            }
        };
        self.at = at;
        Ok(self.file_at)
    }

    /// The offset in the text of an offset of the file; one inside a character maps to its end.
    pub(super) fn in_text(&mut self, file_offset: usize) -> usize {
        if self.text.encoding == Encoding::Bytes {
            return file_offset.saturating_sub(self.text.mark_len).min(self.text.bytes.len());
        }
        while self.file_at < file_offset {
            let Some(&byte) = self.text.bytes.get(self.at) else { break };
            self.file_at += utf16_len(byte);
            self.at += 1;
            while self.text.bytes.get(self.at).is_some_and(|byte| byte & 0xC0 == 0x80) {
                self.at += 1;
            }
        }
        self.at
    }
}

/// The bytes in UTF-16 of the character whose first UTF-8 byte is given; 0 for a further byte.
fn utf16_len(byte: u8) -> usize {
    match byte {
        0x80..0xC0 => 0,
        0xF0.. => 4,
        _ => 2,
    }
}

/// The line endings of a text.
pub(super) enum LineEndings {
    /// The text is a single line.
    None,
    /// All are the same.
    Uniform(&'static str),
    /// Both LF and CRLF occur: the offset of each `\n`, and whether a `\r` precedes it.
    Mixed(Vec<(usize, bool)>),
}

impl LineEndings {
    pub(super) fn of(text: &[u8]) -> LineEndings {
        let ends = || memchr::memchr_iter(b'\n', text).map(|at| (at, is_after_return(text, at)));
        let Some((_, first)) = ends().next() else { return LineEndings::None };
        if ends().all(|(_, is_crlf)| is_crlf == first) {
            return LineEndings::Uniform(ending(first));
        }
        LineEndings::Mixed(ends().collect())
    }

    /// The ending for lines that replace `region`, a part of the match `matched`: the first one in
    /// the match from the region on, else the last one in the match before the region, else the
    /// next one in the text, else the one before.
    pub(super) fn near(&self, region: &Range<usize>, matched: &Range<usize>) -> &'static str {
        let ends = match self {
            LineEndings::None => return "\n",
            LineEndings::Uniform(ending) => return ending,
            LineEndings::Mixed(ends) => ends,
        };
        let after = ends.partition_point(|(at, _)| *at < region.start);
        let next = ends.get(after);
        let before = after.checked_sub(1).and_then(|before| ends.get(before));
        let inside = next.filter(|(at, _)| *at < matched.end);
        let inside = inside.or(before.filter(|(at, _)| *at >= matched.start));
        inside.or(next).or(before).map_or("\n", |(_, is_crlf)| ending(*is_crlf))
    }
}

fn is_after_return(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).and_then(|before| text.get(before)) == Some(&b'\r')
}

fn ending(is_crlf: bool) -> &'static str {
    if is_crlf { "\r\n" } else { "\n" }
}

/// Whether a line begins at the offset.
pub(super) fn is_line_start(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b'\n'))
}

/// The number, from 1, of the line that holds the offset.
pub(super) fn line_number(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', text).take_while(|newline| *newline < at).count() + 1
}

/// Whether the range covers whole lines but for blanks at their ends.
pub(super) fn is_whole_lines(text: &[u8], range: &Range<usize>) -> bool {
    let is_blank = |byte: &&u8| b" \t\r".contains(*byte);
    let before = text.iter().take(range.start).rev().find(|byte| !is_blank(byte));
    let after = text.iter().skip(range.end).find(|byte| !is_blank(byte));
    let is_newline = |byte: Option<&u8>| byte.is_none_or(|byte| *byte == b'\n');
    let ends_line = !range.is_empty() && text.get(range.end - 1) == Some(&b'\n');
    is_newline(before) && (ends_line || is_newline(after))
}

/// The lines of a text by their number, from 0.
pub(super) struct LineTable<'a> {
    text: &'a [u8],
    /// The offset of each line.
    starts: Vec<usize>,
}

impl<'a> LineTable<'a> {
    pub(super) fn new(text: &'a [u8]) -> LineTable<'a> {
        let ends = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        let starts = std::iter::once(0).chain(ends).filter(|&start| start < text.len());
        LineTable { text, starts: starts.collect() }
    }

    pub(super) fn text(&self) -> &'a [u8] {
        self.text
    }

    pub(super) fn len(&self) -> usize {
        self.starts.len()
    }

    /// The number of the line that holds the offset.
    pub(super) fn line_at(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// The offset of a line.
    pub(super) fn start(&self, number: usize) -> Option<usize> {
        self.starts.get(number).copied()
    }

    /// A line with its `\r` but without its `\n`.
    pub(super) fn line(&self, number: usize) -> Option<&'a [u8]> {
        let end = self.start(number + 1).unwrap_or(self.text.len());
        let line = self.text.get(self.start(number)?..end)?;
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    }

    /// Lines with their `\r` but without their `\n`, as far as there are any.
    pub(super) fn lines(&self, numbers: Range<usize>) -> impl Iterator<Item = &'a [u8]> {
        numbers.map_while(|number| self.line(number))
    }

    /// The bytes of consecutive lines with their terminators.
    ///
    /// # Errors
    /// `INTERNAL` if there are no such lines.
    pub(super) fn bytes_of(&self, lines: Range<usize>) -> Result<Range<usize>, Error> {
        let offset = |line: usize| match self.start(line) {
            None if line == self.starts.len() => Ok(self.text.len()),
            start => start.ok_or_else(out_of_range),
        };
        Ok(offset(lines.start)?..offset(lines.end)?)
    }

    /// Consecutive lines with their terminators.
    ///
    /// # Errors
    /// `INTERNAL` if there are no such lines.
    pub(super) fn whole_lines(&self, lines: Range<usize>) -> Result<Vec<&'a [u8]>, Error> {
        let bytes = slice(self.text, self.bytes_of(lines)?)?;
        Ok(bytes.split_inclusive(|&byte| byte == b'\n').collect())
    }
}

/// The number of letters and digits.
pub(super) fn count_letters(text: &str) -> usize {
    text.chars().filter(|letter| letter.is_alphanumeric()).count()
}

/// The number of lines that are not blank.
pub(super) fn count_filled_lines(text: &str) -> usize {
    text.lines().filter(|line| !line.trim().is_empty()).count()
}

/// The indentation of a line: the spaces and tabs at its start.
pub(super) fn indentation(line: &str) -> &str {
    let content = line.trim_start_matches([' ', '\t']);
    line.strip_suffix(content).unwrap_or(line)
}

/// A run of valid UTF-8 and the bytes after it that are shown as one U+FFFD.
pub(super) struct Utf8Run<'a> {
    pub(super) start: usize,
    pub(super) valid: &'a str,
    /// Length of these bytes; 0 at the end of the text.
    pub(super) invalid_len: usize,
}

impl Utf8Run<'_> {
    pub(super) fn invalid(&self) -> Range<usize> {
        let start = self.start + self.valid.len();
        start..start + self.invalid_len
    }
}

/// Splits a text into runs of valid UTF-8, as `read_file` shows it. In text decoded from UTF-16 the
/// three bytes of an unpaired surrogate are shown as one U+FFFD.
pub(super) fn utf8_runs(text: &[u8], is_utf16: bool) -> impl Iterator<Item = Utf8Run<'_>> {
    let (mut rest, mut start) = (text, 0);
    std::iter::from_fn(move || {
        let chunk = rest.utf8_chunks().next()?;
        let valid = chunk.valid();
        let (_, after) = rest.split_at_checked(valid.len())?;
        let invalid_len = match after {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] if is_utf16 => 3,
            _ => chunk.invalid().len(),
        };
        (_, rest) = after.split_at_checked(invalid_len)?;
        let run = Utf8Run { start, valid, invalid_len };
        start = run.invalid().end;
        Some(run)
    })
}

/// The ranges of `text` that are shown as U+FFFD, those of the character itself included.
pub(super) fn replacement_character_ranges(text: &[u8], is_utf16: bool) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    for run in utf8_runs(text, is_utf16) {
        let literal = run.valid.match_indices(REPLACEMENT_CHARACTER);
        ranges.extend(literal.map(|(at, sign)| run.start + at..run.start + at + sign.len()));
        ranges.extend(Some(run.invalid()).filter(|range| !range.is_empty()));
    }
    ranges
}

/// Whether a diff of `old` and `new` keeps the U+FFFD of all `kept` ranges of `old`: then the first
/// U+FFFD of `new` stands for the first of these ranges, and so on.
///
/// # Errors
/// `INTERNAL` if the ranges are not ascending ranges of `old`.
pub(super) fn keeps_order(old: &[u8], new: &str, kept: &[Range<usize>]) -> Result<bool, Error> {
    let mut shown = String::new();
    let mut from = 0;
    for range in kept {
        shown.push_str(&String::from_utf8_lossy(slice(old, from..range.start)?));
        shown.push_str(REPLACEMENT_CHARACTER);
        from = range.end;
    }
    shown.push_str(&String::from_utf8_lossy(slice(old, from..)?));
    let (old, new): (Vec<char>, Vec<char>) = (shown.chars().collect(), new.chars().collect());
    if old.len() + new.len() > MAX_COMPARED_CHARS {
        return Ok(false);
    }
    let operations = capture_diff_slices(Algorithm::Myers, &old, &new);
    let equal = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let mut count = 0;
    for operation in equal {
        let letters = old.get(operation.old_range()).ok_or_else(out_of_range)?;
        count += letters.iter().filter(|letter| **letter == char::REPLACEMENT_CHARACTER).count();
    }
    Ok(count == kept.len())
}
