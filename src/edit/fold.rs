//! Text normalized as a match strategy compares it, with a mapping back to the original bytes.

use std::ops::Range;

use unicode_normalization::char::canonical_combining_class;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use crate::context::Call;
use crate::edit::checked;
use crate::edit::replacement::{MatchKind, go_on};
use crate::edit::undecodable::{STAND_IN, Wide, invalid_len};
use crate::error::{Error, ErrorCode};

/// A folded text. What is not folded is copied, so only the folds are kept.
pub(super) struct Folded {
    pub(super) text: Vec<u8>,
    folds: Vec<Fold>,
}

/// A piece of the source that stands otherwise, or not at all, in the folded text. There may be
/// one for every other byte of a file, so it is small.
struct Fold {
    at: u32,
    source: u32,
    source_len: u32,
    len: u32,
}

impl Fold {
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

impl Folded {
    /// Folds `source` for `kind`; a line's trailing blanks and its end fold together.
    pub(super) fn new(
        source: &[u8],
        kind: MatchKind,
        wide: Wide,
        call: &Call,
    ) -> Result<Folded, Error> {
        if u32::try_from(source.len()).is_err() {
            return Err(too_large());
        }
        let folded = Folded { text: Vec::with_capacity(source.len()), folds: Vec::new() };
        let mut work = Folder { source, kind, wide, copied: 0, folded };
        let mut start = 0;
        let mut asked = 0;
        while start < source.len() {
            let end = line_end(source, start)?;
            work.line(start, end)?;
            start = end + 1;
            if start >= asked {
                go_on(call)?;
                asked = start + (1 << 20);
            }
        }
        work.copy_to(source.len())?;
        Ok(work.folded)
    }

    /// Whether the place does not lie inside of what stands for one character.
    pub(super) fn is_boundary(&self, at: usize) -> bool {
        // Of the plain forms only `...` has ASCII behind its first byte.
        let is_plain = |byte: &u8| byte.is_ascii() && *byte != b'.';
        self.text.get(at).is_none_or(is_plain) || self.inside(at).is_none()
    }

    /// Whether the line, but for what was folded away, ends at the place.
    pub(super) fn ends_line(&self, at: usize) -> bool {
        self.text.get(at).is_none_or(|&byte| byte == b'\n')
    }

    /// Whether something was folded away at the end of the text.
    pub(super) fn ends_in_blanks(&self) -> bool {
        self.folds.last().is_some_and(|fold| fold.len == 0 && fold.at() == self.text.len())
    }

    /// The range, widened so that it splits no fold.
    pub(super) fn whole(&self, range: Range<usize>) -> Range<usize> {
        let start = self.inside(range.start).map_or(range.start, Fold::at);
        start..self.inside(range.end).map_or(range.end, Fold::end)
    }

    /// The first place of the source that a boundary stands for.
    pub(super) fn earliest(&self, at: usize) -> usize {
        let before = self.folds_before(at);
        match before.checked_sub(1).and_then(|last| self.folds.get(last)) {
            Some(fold) => fold.source().end + (at - fold.end()),
            None => at,
        }
    }

    /// The last place of the source that a boundary stands for: after what was folded away there.
    pub(super) fn latest(&self, at: usize) -> usize {
        let after = self.folds.get(self.folds_before(at)..).unwrap_or_default();
        let dropped = after.iter().take_while(|fold| fold.at() == at && fold.len == 0);
        dropped.last().map_or_else(|| self.earliest(at), |fold| fold.source().end)
    }

    /// The folded range of a range of the source, widened so that it splits no fold.
    pub(super) fn of_source(&self, source: &Range<usize>) -> Range<usize> {
        let side = |place: usize, inside: fn(&Fold) -> usize| {
            let ended = self.folds.partition_point(|fold| fold.source().end <= place);
            match self.folds.get(ended) {
                Some(fold) if fold.source().start < place => return inside(fold),
                _ => {}
            }
            match ended.checked_sub(1).and_then(|last| self.folds.get(last)) {
                Some(fold) => fold.end() + (place - fold.source().end),
                None => place,
            }
        };
        side(source.start, Fold::at)..side(source.end, Fold::end)
    }

    /// How many folds end before the place, or at it without being dropped there.
    fn folds_before(&self, at: usize) -> usize {
        self.folds.partition_point(|fold| fold.end() < at || (fold.end() == at && fold.len > 0))
    }

    fn inside(&self, at: usize) -> Option<&Fold> {
        let begun = self.folds.partition_point(|fold| fold.at() < at);
        let fold = self.folds.get(begun.checked_sub(1)?)?;
        (at < fold.end()).then_some(fold)
    }
}

fn too_large() -> Error {
    Error::new(ErrorCode::TooLarge, "4 GiB and more are compared byte for byte only")
}

/// Where the line of `start` ends: at its `\n` or at the end of the text.
fn line_end(text: &[u8], start: usize) -> Result<usize, Error> {
    let rest = checked::bytes(text, start..)?;
    Ok(memchr::memchr(b'\n', rest).map_or(text.len(), |at| start + at))
}

/// A folded text in the making.
struct Folder<'a> {
    source: &'a [u8],
    kind: MatchKind,
    wide: Wide,
    copied: usize,
    folded: Folded,
}

impl<'a> Folder<'a> {
    fn line(&mut self, start: usize, end: usize) -> Result<(), Error> {
        let is_ended = end < self.source.len();
        let source: &'a [u8] = self.source;
        let line = checked::bytes(source, start..end)?;
        let mut body = if is_ended { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
        if self.kind >= MatchKind::TrailingBlanks {
            body = without_blanks(body, self.kind);
        }
        if self.kind >= MatchKind::Typography && !body.is_ascii() {
            self.typography(start, body)?;
        }
        let tail = start + body.len();
        if is_ended && tail < end {
            self.fold("\n", tail..end + 1)?;
        } else if !is_ended && tail < end {
            self.fold("", tail..end)?;
        }
        Ok(())
    }

    fn typography(&mut self, start: usize, body: &[u8]) -> Result<(), Error> {
        let mut at = start;
        let mut rest = body;
        while let Some(chunk) = rest.utf8_chunks().next() {
            let valid = chunk.valid();
            self.characters(at, valid)?;
            at += valid.len();
            rest = checked::bytes(rest, valid.len()..)?;
            let len = invalid_len(rest, self.wide);
            if len > 0 {
                self.fold(STAND_IN, at..at + len)?;
                at += len;
                rest = checked::bytes(rest, len..)?;
            }
        }
        Ok(())
    }

    /// Folds typographic characters, and sequences that are not in Unicode's composed form (NFC).
    fn characters(&mut self, start: usize, text: &str) -> Result<(), Error> {
        let mut at = 0;
        loop {
            let rest = checked::text(text, at..)?;
            let Some(ascii) = rest.bytes().position(|byte| !byte.is_ascii()) else { return Ok(()) };
            let rest = checked::text(rest, ascii..)?;
            let first = at + ascii;
            if let Some((len, plain)) = typographic(rest.as_bytes()) {
                self.fold(plain, start + first..start + first + len)?;
                at = first + len;
                continue;
            }
            let mut letters = rest.char_indices();
            let Some((_, letter)) = letters.next() else { return Ok(()) };
            // The ASCII letter before a combining mark belongs to it.
            let from = if ascii > 0 && joins_previous(letter) { first - 1 } else { first };
            let len = letters.find(|(_, letter)| !joins_previous(*letter));
            let end = len.map_or(text.len(), |(len, _)| first + len);
            let sequence = checked::text(text, from..end)?;
            if is_nfc_quick(sequence.chars()) != IsNormalized::Yes {
                let composed: String = sequence.nfc().collect();
                if composed != sequence {
                    self.fold(&composed, start + from..start + end)?;
                }
            }
            at = end;
        }
    }

    fn fold(&mut self, plain: &str, source: Range<usize>) -> Result<(), Error> {
        self.copy_to(source.start)?;
        let at = self.folded.text.len();
        self.folded.text.extend_from_slice(plain.as_bytes());
        self.copied = source.end;
        // A composed form may be longer than what it stands for.
        let small = |place: usize| u32::try_from(place).map_err(|_| too_large());
        small(self.folded.text.len())?;
        self.folded.folds.push(Fold {
            at: small(at)?,
            source: small(source.start)?,
            source_len: small(source.len())?,
            len: small(plain.len())?,
        });
        Ok(())
    }

    fn copy_to(&mut self, end: usize) -> Result<(), Error> {
        let same = checked::bytes(self.source, self.copied..end)?;
        self.folded.text.extend_from_slice(same);
        self.copied = end;
        Ok(())
    }
}

/// Whether a character can change or be changed by the one before it in the composed form.
fn joins_previous(letter: char) -> bool {
    // The most frequent ranges without such characters.
    if matches!(letter, ..'\u{300}' | '\u{4E00}'..='\u{9FFF}' | '\u{AC00}'..='\u{D7A3}') {
        return false;
    }
    canonical_combining_class(letter) != 0
        || is_nfc_quick(std::iter::once(letter)) == IsNormalized::Maybe
}

/// The line without the blanks at its end.
pub(super) fn without_blanks(mut line: &[u8], kind: MatchKind) -> &[u8] {
    while let Some((&last, rest)) = line.split_last() {
        line = match last {
            b' ' | b'\t' => rest,
            0x80.. if kind >= MatchKind::Typography => match without_wide_blank(line) {
                Some(rest) => rest,
                None => return line,
            },
            _ => return line,
        };
    }
    line
}

fn without_wide_blank(line: &[u8]) -> Option<&[u8]> {
    [2, 3].into_iter().find_map(|len| {
        let (rest, last) = line.split_at_checked(line.len().checked_sub(len)?)?;
        matches!(typographic(last), Some((n, " " | "")) if n == len).then_some(rest)
    })
}

/// What the typographic character at the start of `text` stands for, and its length in bytes.
pub(super) fn typographic(text: &[u8]) -> Option<(usize, &'static str)> {
    Some(match text {
        [0xC2, 0xA0, ..] => (2, " "),
        // Modifier prime, apostrophe and double prime: U+02B9, U+02BC, U+02BA.
        [0xCA, 0xB9 | 0xBC, ..] => (2, "'"),
        [0xCA, 0xBA, ..] => (2, "\""),
        [0xE1, 0x9A, 0x80, ..] | [0xE2, 0x81, 0x9F, ..] | [0xE3, 0x80, 0x80, ..] => (3, " "),
        [0xE2, 0x80, last, ..] => (3, punctuation(*last)?),
        // Word joiner and the mark of byte order inside a text: no width.
        [0xE2, 0x81, 0xA0, ..] | [0xEF, 0xBB, 0xBF, ..] => (3, ""),
        // Minus, and the small and full-width forms of it.
        [0xE2, 0x88, 0x92, ..] | [0xEF, 0xB9, 0x98 | 0xA3, ..] | [0xEF, 0xBC, 0x8D, ..] => (3, "-"),
        _ => return None,
    })
}

/// The characters from U+2000 to U+203F, by the last byte of their UTF-8.
fn punctuation(last: u8) -> Option<&'static str> {
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
