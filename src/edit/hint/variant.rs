//! Text of a file that is the old text but for one thing: blanks, case, HTML entities, escapes.

#[cfg(test)]
mod tests;

use memchr::memmem;

use crate::context::Call;
use crate::edit::hint::difference;
use crate::edit::hint::file::File;
use crate::edit::places::numbered;
use crate::edit::replacement::go_on;
use crate::error::Error;
use crate::text::clip;

/// Bytes of an old text that is compared without blanks and case, and of a line with which it is.
const MAX_OLD_BYTES: usize = 500;
const MAX_LINE_BYTES: usize = 2000;

/// Bytes of the file that are compared so.
const MAX_SEARCHED: usize = 32 << 20;

/// The fewest letters and signs that are worth looking for.
const MIN_LETTERS: usize = 3;

/// Bytes shown of each text.
const SHOWN_BYTES: usize = 120;

const ENTITIES: [(&str, &str); 6] = [
    ("<", "&lt;"),
    (">", "&gt;"),
    ("\"", "&quot;"),
    ("'", "&#39;"),
    ("'", "&apos;"),
    ("&", "&amp;"),
];

/// A line of the file that has the old text in another form.
pub(in crate::edit) struct Variant<'a> {
    line: &'a [u8],
    /// The number of the line, from 1.
    number: usize,
    /// Where in the line the text begins and ends.
    span: (usize, usize),
    sentence: String,
}

impl Variant<'_> {
    /// The line, numbered, and what differs.
    pub(super) fn advice(&self) -> String {
        let (line, _) = numbered(self.line, self.number, &[self.span]);
        format!("Did you mean:\n```\n{line}```\n{}", self.sentence)
    }
}

/// The first text of the file that is `old` with or without escapes or HTML entities.
pub(super) fn rewritten<'a>(
    file: &File<'a>,
    old: &str,
    call: &Call,
) -> Result<Option<Variant<'a>>, Error> {
    let decoded =
        ENTITIES.iter().fold(old.to_owned(), |text, (sign, name)| text.replace(name, sign));
    let named = |all: &[(&str, &str)]| {
        let text = old.replace('&', "&amp;");
        all.iter()
            .filter(|(sign, _)| *sign != "&")
            .fold(text, |text, (sign, name)| text.replace(sign, name))
    };
    let brackets = ENTITIES.get(..2).unwrap_or(&[]);
    let quotes = ENTITIES.get(..4).unwrap_or(&[]);
    let forms = [
        (decoded, "old_text has HTML entities where the file has the characters"),
        (named(brackets), "the file has HTML entities where old_text has the characters"),
        (named(quotes), "the file has HTML entities where old_text has the characters"),
        (unescaped(old), "old_text has escapes where the file has the characters"),
        (old.replace('"', "\\\""), "the file has escapes where old_text has the characters"),
        (
            old.trim_end_matches('\n').replace('\n', "\\n"),
            "the file has `\\n` where old_text has a line end",
        ),
    ];
    for (form, what) in forms.iter().filter(|(form, _)| form != old && !form.trim().is_empty()) {
        go_on(call)?;
        // Without what else was written.
        if form == old.trim_end_matches('\n') {
            continue;
        }
        let Some(at) = memmem::find(file.text, form.as_bytes()) else { continue };
        let index = file.line_of(at);
        let (Some(line), Some(start)) = (file.line(index), file.starts.get(index)) else {
            continue;
        };
        let first = form.split('\n').next().unwrap_or(form);
        let span = (at - start, at - start + first.len());
        let sentence = format!("Line {} is like it, but {what}.", index + 1);
        return Ok(Some(Variant { line, number: index + 1, span, sentence }));
    }
    Ok(None)
}

/// The text with the escapes of string literals taken for what they stand for.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let next = letters.clone().next();
        let stands_for = match next {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(sign @ ('"' | '\'' | '\\' | '`')) => sign,
            _ => letter,
        };
        if letter == '\\' && (stands_for != letter || next == Some('\\')) {
            plain.push(stands_for);
            letters.next();
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// The first line of at most `most` bytes that has `old`, a part of one line, but for blanks and
/// case.
pub(super) fn spaced<'a>(
    file: &File<'a>,
    old: &str,
    most: usize,
    call: &Call,
) -> Result<Option<Variant<'a>>, Error> {
    let old = old.strip_suffix('\n').unwrap_or(old);
    let wanted = Squeezed::of(old.as_bytes());
    let is_short = old.len() <= MAX_OLD_BYTES && wanted.text.len() >= MIN_LETTERS;
    if !is_short || old.contains('\n') {
        return Ok(None);
    }
    let finder = memmem::Finder::new(&wanted.text);
    for index in 0..file.starts.len() {
        if index % 4096 == 0 {
            go_on(call)?;
        }
        if file.starts.get(index).is_none_or(|&start| start > MAX_SEARCHED) {
            break;
        }
        let Some(line) = file.line(index) else { break };
        if line.len() < wanted.text.len() || line.len() > most.min(MAX_LINE_BYTES) {
            continue;
        }
        let squeezed = Squeezed::of(line);
        let Some(found) = finder.find(&squeezed.text) else { continue };
        let Some((start, end)) = squeezed.span(found, wanted.text.len()) else { continue };
        let Some(part) = line.get(start..end) else { continue };
        let is_case = part.eq_ignore_ascii_case(old.trim().as_bytes());
        let is_blanks = without_blanks(part).eq(without_blanks(old.as_bytes()));
        let what = match (is_blanks, is_case) {
            (true, _) => "blanks",
            (_, true) => "case",
            _ => "blanks and case",
        };
        let shown = |text: &[u8]| {
            let shown = clip::window(text, &[], SHOWN_BYTES).text;
            if is_case { shown } else { difference::visible(&shown) }
        };
        let number = index + 1;
        let sentence = format!(
            "Line {number} differs only in {what}: the file has `{}`, old_text has `{}`.",
            shown(part),
            shown(old.as_bytes())
        );
        return Ok(Some(Variant { line, number, span: (start, end), sentence }));
    }
    Ok(None)
}

fn without_blanks(text: &[u8]) -> impl Iterator<Item = &u8> {
    text.iter().filter(|byte| !byte.is_ascii_whitespace())
}

/// A text without blanks and case.
struct Squeezed<'a> {
    source: &'a [u8],
    text: Vec<u8>,
}

impl<'a> Squeezed<'a> {
    fn of(source: &'a [u8]) -> Squeezed<'a> {
        let text = without_blanks(source).map(u8::to_ascii_lowercase).collect();
        Squeezed { source, text }
    }

    /// Where a part of the text begins and ends in the source.
    fn span(&self, at: usize, len: usize) -> Option<(usize, usize)> {
        let mut places =
            self.source.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
        let (start, _) = places.nth(at)?;
        let end = match len.checked_sub(2) {
            Some(more) => places.nth(more)?.0,
            None => start,
        };
        Some((start, end + 1))
    }
}
