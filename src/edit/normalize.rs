//! Text normalized as a match strategy compares it, with a mapping back to the original bytes.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::context::Call;
use crate::edit::replacement::{MatchKind, check_stop};
use crate::edit::text::{REPLACEMENT_CHARACTER, slice, str_slice, utf8_runs};
use crate::error::{Error, ErrorCode};

/// The note for typographic characters of `new_text` that were replaced.
pub(super) const TYPOGRAPHY_NOTE: &str = "Typographic quotes, dashes or blanks of the new text were \
                                          replaced by plain ones, as in the file.";

/// A normalized text. Most of it is a copy of the source; the rest are substitutions.
pub(super) struct Normalized {
    pub(super) text: Vec<u8>,
    /// In ascending order.
    substitutions: Vec<Substitution>,
}

/// A range of the source that is replaced, or dropped, in the normalized text. There may be one for
/// every other byte of a file, so offsets are 32 bits wide.
struct Substitution {
    at: u32,
    len: u32,
    source: u32,
    source_len: u32,
}

impl Substitution {
    fn at(&self) -> usize {
        self.at as usize
    }

    fn end(&self) -> usize {
        self.at() + self.len as usize
    }

    fn source(&self) -> Range<usize> {
        let start = self.source as usize;
        start..start + self.source_len as usize
    }
}

impl Normalized {
    /// Normalizes `source` for `kind`; the trailing blanks of a line and its end are one
    /// substitution.
    pub(super) fn new(
        source: &[u8],
        kind: MatchKind,
        is_utf16: bool,
        call: &Call,
    ) -> Result<Normalized, Error> {
        if u32::try_from(source.len()).is_err() {
            return Err(too_large());
        }
        let output =
            Normalized { text: Vec::with_capacity(source.len()), substitutions: Vec::new() };
        let mut normalizer = Normalizer { source, kind, is_utf16, copied: 0, output };
        let mut start = 0;
        let mut checked = 0;
        while start < source.len() {
            let rest = slice(source, start..)?;
            let end = memchr::memchr(b'\n', rest).map_or(source.len(), |at| start + at);
            normalizer.line(start, end)?;
            start = end + 1;
            if start >= checked {
                check_stop(call)?;
                checked = start + (1 << 20);
            }
        }
        normalizer.copy_to(source.len())?;
        Ok(normalizer.output)
    }

    /// Whether the offset does not lie inside a substituted character.
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        // Of the plain forms only `...` has ASCII behind its first byte.
        let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'.';
        self.text.get(at).is_none_or(is_plain) || self.containing(at).is_none()
    }

    /// Whether the line ends at the offset, apart from what was dropped.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|&byte| byte == b'\n')
    }

    /// Whether something was dropped at the end of the text.
    pub(super) fn ends_in_blanks(&self) -> bool {
        self.substitutions.last().is_some_and(|last| last.len == 0 && last.at() == self.text.len())
    }

    /// The range, widened so that it splits no substitution.
    pub(super) fn widened(&self, range: Range<usize>) -> Range<usize> {
        let start = self.containing(range.start).map_or(range.start, Substitution::at);
        start..self.containing(range.end).map_or(range.end, Substitution::end)
    }

    /// The first offset of the source that maps to a boundary of the normalized text.
    pub(super) fn source_start(&self, at: usize) -> usize {
        match self.before(at).last() {
            Some(last) => last.source().end + (at - last.end()),
            None => at,
        }
    }

    /// The last offset of the source that maps to a boundary: behind what was dropped there.
    pub(super) fn source_end(&self, at: usize) -> usize {
        let after = self.substitutions.iter().skip(self.before(at).len());
        let dropped = after.take_while(|next| next.at() == at && next.len == 0);
        dropped.last().map_or_else(|| self.source_start(at), |last| last.source().end)
    }

    /// The normalized range of a range of the source, widened so that it splits no substitution.
    pub(super) fn range_of(&self, source: &Range<usize>) -> Range<usize> {
        let map = |offset: usize, inside: fn(&Substitution) -> usize| {
            let ended = self.substitutions.partition_point(|next| next.source().end <= offset);
            match self.substitutions.get(ended) {
                Some(next) if next.source().start < offset => return inside(next),
                _ => {}
            }
            match ended.checked_sub(1).and_then(|last| self.substitutions.get(last)) {
                Some(last) => last.end() + (offset - last.source().end),
                None => offset,
            }
        };
        map(source.start, Substitution::at)..map(source.end, Substitution::end)
    }

    /// The substitutions that end before the offset, or at it without being dropped there.
    fn before(&self, at: usize) -> &[Substitution] {
        let is_before = |next: &Substitution| next.end() < at || (next.end() == at && next.len > 0);
        self.substitutions.split_at(self.substitutions.partition_point(is_before)).0
    }

    fn containing(&self, at: usize) -> Option<&Substitution> {
        let begun = self.substitutions.partition_point(|next| next.at() < at);
        let last = self.substitutions.get(begun.checked_sub(1)?)?;
        (at < last.end()).then_some(last)
    }
}

fn too_large() -> Error {
    Error::new(ErrorCode::TooLarge, "4 GiB and more are compared byte for byte only")
}

struct Normalizer<'a> {
    source: &'a [u8],
    kind: MatchKind,
    is_utf16: bool,
    /// Bytes of the source that are in the output.
    copied: usize,
    output: Normalized,
}

impl<'a> Normalizer<'a> {
    /// Normalizes the line from `start` to `end`, the offset of its `\n` or the end of the text.
    fn line(&mut self, start: usize, end: usize) -> Result<(), Error> {
        let is_ended = end < self.source.len();
        let source: &'a [u8] = self.source;
        let line = slice(source, start..end)?;
        let mut body = if is_ended { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
        if self.kind >= MatchKind::TrailingBlanks {
            body = trim_trailing_blanks(body, self.kind);
        }
        if self.kind >= MatchKind::Typography && !body.is_ascii() {
            for run in utf8_runs(body, self.is_utf16) {
                self.characters(start + run.start, run.valid)?;
                let Range { start: from, end: to } = run.invalid();
                if run.invalid_len > 0 {
                    self.substitute(REPLACEMENT_CHARACTER, start + from..start + to)?;
                }
            }
        }
        let tail = start + body.len();
        if is_ended && tail < end {
            self.substitute("\n", tail..end + 1)?;
        } else if !is_ended && tail < end {
            self.substitute("", tail..end)?;
        }
        Ok(())
    }

    /// Normalizes typographic characters, and sequences that are not in Unicode's composed form
    /// (NFC).
    fn characters(&mut self, start: usize, text: &str) -> Result<(), Error> {
        let mut at = 0;
        loop {
            let rest = str_slice(text, at..)?;
            let Some(ascii) = rest.bytes().position(|byte| !byte.is_ascii()) else { return Ok(()) };
            let rest = str_slice(rest, ascii..)?;
            let first = at + ascii;
            if let Some((len, plain)) = plain_form(rest.as_bytes()) {
                self.substitute(plain, start + first..start + first + len)?;
                at = first + len;
                continue;
            }
            let mut letters = rest.char_indices();
            let Some((_, letter)) = letters.next() else { return Ok(()) };
            // The ASCII letter before a combining mark belongs to it.
            let from = if ascii > 0 && joins_previous(letter) { first - 1 } else { first };
            let len = letters.find(|(_, letter)| !joins_previous(*letter));
            let end = len.map_or(text.len(), |(len, _)| first + len);
            let sequence = str_slice(text, from..end)?;
            if is_nfc_quick(sequence.chars()) != IsNormalized::Yes {
                let composed: String = sequence.nfc().collect();
                if composed != sequence {
                    self.substitute(&composed, start + from..start + end)?;
                }
            }
            at = end;
        }
    }

    fn substitute(&mut self, normalized: &str, source: Range<usize>) -> Result<(), Error> {
        self.copy_to(source.start)?;
        let at = self.output.text.len();
        self.output.text.extend_from_slice(normalized.as_bytes());
        self.copied = source.end;
        // A composed form may be longer than its source.
        let small = |offset: usize| u32::try_from(offset).map_err(|_| too_large());
        small(self.output.text.len())?;
        self.output.substitutions.push(Substitution {
            at: small(at)?,
            len: small(normalized.len())?,
            source: small(source.start)?,
            source_len: small(source.len())?,
        });
        Ok(())
    }

    fn copy_to(&mut self, end: usize) -> Result<(), Error> {
        let unchanged = slice(self.source, self.copied..end)?;
        self.output.text.extend_from_slice(unchanged);
        self.copied = end;
        Ok(())
    }
}

/// Whether composition can join a character with the one before it.
fn joins_previous(letter: char) -> bool {
    // The most frequent ranges without such characters.
    if matches!(letter, ..'\u{300}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}') {
        return false;
    }
    canonical_combining_class(letter) != 0
        || is_nfc_quick(std::iter::once(letter)) == IsNormalized::Maybe
}

/// The line without the blanks at its end.
pub(super) fn trim_trailing_blanks(mut line: &[u8], kind: MatchKind) -> &[u8] {
    while let Some((&last, rest)) = line.split_last() {
        line = match last {
            b' ' | b'\t' => rest,
            0x80.. if kind >= MatchKind::Typography => match trim_typographic_blank(line) {
                Some(rest) => rest,
                None => return line,
            },
            _ => return line,
        };
    }
    line
}

fn trim_typographic_blank(line: &[u8]) -> Option<&[u8]> {
    [2, 3].into_iter().find_map(|len| {
        let (rest, last) = line.split_at_checked(line.len().checked_sub(len)?)?;
        matches!(plain_form(last), Some((n, " " | "")) if n == len).then_some(rest)
    })
}

/// The length in bytes and the plain form of the typographic character at the start of `text`.
fn plain_form(text: &[u8]) -> Option<(usize, &'static str)> {
    Some(match text {
        [0xC2, 0xA0, ..] => (2, " "),
        // Modifier prime, apostrophe and double prime: U+02B9, U+02BC, U+02BA.
        [0xCA, 0xB9 | 0xBC, ..] => (2, "'"),
        [0xCA, 0xBA, ..] => (2, "\""),
        [0xE1, 0x9A, 0x80, ..] | [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] => (3, " "),
        [0xE2, 0x80, last, ..] => (3, plain_punctuation(*last)?),
        // Word joiner, and a byte order mark inside a text: no width.
        [0xE2, 0x81, 0xA0, ..] | [0xEF, 0xBB, 0xBF, ..] => (3, ""),
        // Minus, and its small and full-width forms.
        [0xE2, 0x88, 0x92, ..] | [0xEF, 0xB9, 0x98 | 0xA3, ..] | [0xEF, 0xBC, 0x8D, ..] => (3, "-"),
        _ => return None,
    })
}

/// The plain forms of U+2000 to U+203F, by the last byte of their UTF-8.
fn plain_punctuation(last: u8) -> Option<&'static str> {
    Some(match last {
        0x80..=0x8A | 0xAF => " ",
        0x8B => "",
        0x90..=0x95 => "-",
        0x98..=0x9B | 0xB2 | 0xB5 => "'",
        0x9C..=0x9F | 0xB3 | 0xB6 => "\"",
        0xA6 => "...",
        _ => return None,
    })
}

/// The typographic characters of an old text whose plain form the file has instead.
///
/// A model may write curly quotes, dashes or no-break spaces for plain ones. Where `old_text` was
/// found regardless of them, `new_text` has them by the same mistake: inserted as they are, they
/// would break code. A character stays typographic if the file has one of its kind in a match, or,
/// in lines that `old_text` does not have, if `new_text` uses both forms.
pub(super) struct PlainForms<'o> {
    mistaken: Vec<(char, &'static str)>,
    /// Those of which the new text has the plain form too.
    ambiguous: Vec<char>,
    old_lines: HashSet<&'o str>,
}

impl<'o> PlainForms<'o> {
    pub(super) fn new<'m>(
        old: &'o str,
        matched: impl Iterator<Item = &'m [u8]>,
        new: &str,
    ) -> PlainForms<'o> {
        let mut mistaken: Vec<(char, &'static str)> = typographic_characters(old).collect();
        if !mistaken.is_empty() {
            for part in matched {
                let part = String::from_utf8_lossy(part);
                for (_, plain) in typographic_characters(&part) {
                    mistaken.retain(|(_, known)| *known != plain);
                }
            }
        }
        // A text with both forms of a mark distinguishes them; every text has plain blanks.
        let is_ambiguous =
            |(_, plain): &&(char, &str)| !matches!(*plain, "" | " ") && new.contains(plain);
        let ambiguous = mistaken.iter().filter(is_ambiguous).map(|(letter, _)| *letter).collect();
        PlainForms { mistaken, ambiguous, old_lines: old.lines().collect() }
    }

    /// A line of the new text with these characters made plain.
    pub(super) fn of_line<'n>(&self, line: &'n str) -> Cow<'n, str> {
        let is_old = self.old_lines.contains(line.strip_suffix('\n').unwrap_or(line));
        let plain = |letter: char| {
            let found = self.mistaken.iter().find(|(known, _)| *known == letter);
            found.filter(|_| is_old || !self.ambiguous.contains(&letter))
        };
        if !line.chars().any(|letter| plain(letter).is_some()) {
            return Cow::Borrowed(line);
        }
        let mut made = String::with_capacity(line.len());
        for letter in line.chars() {
            match plain(letter) {
                Some((_, plain)) => made.push_str(plain),
                None => made.push(letter),
            }
        }
        Cow::Owned(made)
    }
}

/// The typographic characters of a text, each with its plain form.
fn typographic_characters(text: &str) -> impl Iterator<Item = (char, &'static str)> {
    let letters = text.chars().filter(|letter| !letter.is_ascii());
    letters.filter_map(|letter| {
        let (_, plain) = plain_form(letter.encode_utf8(&mut [0; 4]).as_bytes())?;
        Some((letter, plain))
    })
}
