//! What to suggest when `old_text` is not found: the most similar lines, or a text that differs only in
//! escapes, entities or signs.

mod similar_lines;
#[cfg(test)]
mod tests;

use std::ops::Range;

use memchr::memmem;

pub(super) use self::similar_lines::has_long_lines;
use self::similar_lines::{SimilarLines, is_placeholder};
use super::show::{LINE_BYTES, numbered_line, numbered_lines};
use crate::edit::Replacement;
use crate::options::{Stop, Stopped, TextSource};
use crate::text::LineTable;

/// Lines of the old text that are compared.
const MAX_LINES: usize = 200;

/// Bytes shown of a text with signs.
const SIGNED_BYTES: usize = 120;

/// Signs and their HTML entities, that of the ampersand at last.
const ENTITIES: [(&str, &str); 6] = [
    ("<", "&lt;"),
    (">", "&gt;"),
    ("\"", "&quot;"),
    ("'", "&#39;"),
    ("'", "&apos;"),
    ("&", "&amp;"),
];

/// What of the file is similar to `old_text`.
pub(super) enum Suggestion<'a> {
    Lines(SimilarLines<'a>),
    /// The message on a line that has the old text with or without escapes.
    Variant(String),
}

/// The best suggestion, if anything in the file is similar to `old`.
pub(super) fn suggest<'a>(
    text: &'a [u8],
    old: &'a str,
    source: TextSource,
    stop: Stop<'_>,
) -> Result<Option<Suggestion<'a>>, Stopped> {
    let file = LineTable::new(text);
    if let Some(variant) = find_rewritten(&file, old, stop)? {
        return Ok(Some(Suggestion::Variant(variant)));
    }
    // A placeholder above the lines does not show where they begin.
    let lines = old.split_terminator('\n').take(MAX_LINES).skip_while(|line| is_placeholder(line));
    let lines: Vec<&str> = lines.collect();
    Ok(SimilarLines::find(&file, &lines, old, source, stop)?.map(Suggestion::Lines))
}

impl Suggestion<'_> {
    /// Whether it has some of these lines, counted from 1.
    pub(super) fn overlaps(&self, lines: &Range<usize>) -> bool {
        match self {
            Suggestion::Lines(near) => near.overlaps(lines),
            Suggestion::Variant(_) => false,
        }
    }

    /// "Did you mean" with the numbered lines and the first difference, in about `room` bytes.
    pub(super) fn message(&self, is_exact: bool, room: usize) -> String {
        match self {
            Suggestion::Lines(lines) => lines.message(is_exact, room),
            Suggestion::Variant(message) => message.clone(),
        }
    }
}

/// "Did you mean" with the numbered line and `sentence`.
fn variant_message(line: &[u8], number: usize, span: (usize, usize), sentence: &str) -> String {
    let (line, _) = numbered_line(line, number, &[span], LINE_BYTES);
    format!("Did you mean:\n```\n{line}```\n{sentence}")
}

/// The first text of the file that is `old` with or without escapes or HTML entities.
fn find_rewritten(
    file: &LineTable<'_>,
    old: &str,
    stop: Stop<'_>,
) -> Result<Option<String>, Stopped> {
    let decoded =
        ENTITIES.iter().fold(old.to_owned(), |text, (sign, name)| text.replace(name, sign));
    let forms = [
        (decoded, "the old text has HTML entities where the file has the characters"),
        (unescaped(old), "the old text has escapes where the file has the characters"),
        (without_fence(old), "the old text stands in a code fence, which the file does not have"),
    ];
    for (form, what) in forms.iter().filter(|(form, _)| form != old && !form.trim().is_empty()) {
        stop.check()?;
        // Only line ends at the end were removed.
        if form == old.trim_end_matches('\n') {
            continue;
        }
        let Some(at) = memmem::find(file.text(), form.as_bytes()) else { continue };
        let index = file.line_at(at);
        let (Some(line), Some(start)) = (file.line(index), file.start(index)) else {
            continue;
        };
        let first = form.split('\n').next().unwrap_or(form);
        let span = (at - start, at - start + first.len());
        let sentence = format!("Line {} is like it, but {what}.", index + 1);
        return Ok(Some(variant_message(line, index + 1, span, &sentence)));
    }
    Ok(None)
}

/// The text within a code fence; the text itself if it is in none.
fn without_fence(text: &str) -> String {
    let inner = || {
        let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
        let (inner, last) = rest.trim_end().rsplit_once('\n')?;
        (first.starts_with("```") && last.trim() == "```").then_some(inner)
    };
    inner().unwrap_or(text).to_owned()
}

/// The message on texts that have the signs of a diff before their lines, without which the old text is
/// in the file.
pub(super) fn signed(text: &[u8], edit: &Replacement) -> Option<String> {
    let Replacement { old_text, new_text } = edit;
    let are_signed = |text: &str, sign: char| {
        text.split_terminator('\n').all(|line| line.is_empty() || line.starts_with([' ', sign]))
    };
    let has_sign = |text: &str, sign: char| text.lines().any(|line| line.starts_with(sign));
    if !are_signed(old_text, '-') || !are_signed(new_text, '+') {
        return None;
    }
    let (in_old, in_new) = (has_sign(old_text, '-'), has_sign(new_text, '+'));
    // The signs of one text alone may be meant, as those of a list. Those of a diff are before whole
    // lines, and the unchanged lines are in both texts.
    let are_sure = in_old && in_new;
    let may_be = (in_old || in_new) && unchanged_lines(old_text).eq(unchanged_lines(new_text));
    if !are_sure && !may_be {
        return None;
    }
    let bare = old_text.split_inclusive('\n');
    let bare: String = bare.map(|line| line.strip_prefix([' ', '-']).unwrap_or(line)).collect();
    let bare = Some(bare.trim_end_matches('\n')).filter(|bare| !bare.trim().is_empty())?;
    let file = LineTable::new(text);
    let is_found = |at: &usize| are_sure || are_whole_lines(text, *at, bare.len());
    let at = memmem::find_iter(text, bare).find(is_found)?;
    let (first, end) = (file.line_at(at), file.line_at(at + bare.len() - 1) + 1);
    let shown = numbered_lines(&file, first..end, SIGNED_BYTES);
    let sentence = if new_text.trim_end_matches('\n').is_empty() {
        "The old text has signs before its lines, as a diff has: give it without."
    } else {
        "Both texts have signs before their lines, as a diff has: give them without."
    };
    Some(format!("Did you mean:\n```\n{shown}```\n{sentence}"))
}

/// The lines that have the sign of an unchanged line.
fn unchanged_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with(' '))
}

/// Whether a part of the text begins and ends where lines do.
fn are_whole_lines(text: &[u8], at: usize, len: usize) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else { return false };
    let Some(after) = rest.get(len..) else { return false };
    let begins = before.last().is_none_or(|byte| *byte == b'\n');
    begins && (after.is_empty() || after.starts_with(b"\n") || after.starts_with(b"\r"))
}

/// The text with the escapes of string literals replaced by their characters.
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
