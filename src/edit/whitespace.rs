//! White space at the ends of a match: line terminators that only one of the texts has, blanks that
//! `new_text` would double, and edits that change only blanks.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::edit::text::{indentation, is_line_start, slice};
use crate::error::Error;

/// The note for indentation before a match that was not doubled.
pub(super) const INDENTATION_NOTE: &str = "old_text begins behind the indentation of its line and new_text begins with that \
     indentation: it was not doubled.";

/// What follows a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Following {
    /// The end of the line, perhaps after blanks.
    LineEnd,
    /// The end of the text, perhaps after blanks.
    TextEnd,
    Text,
}

impl Following {
    pub(super) fn at(text: &[u8], end: usize) -> Following {
        let mut rest = text.iter().skip(end).skip_while(|byte| matches!(byte, b' ' | b'\t'));
        match (rest.next(), rest.next()) {
            (None, _) => Following::TextEnd,
            (Some(b'\n'), _) | (Some(b'\r'), Some(b'\n')) => Following::LineEnd,
            _ => Following::Text,
        }
    }
}

/// `new_text` with the line terminator that the file has.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum TerminatorFit {
    /// As it was given.
    Unchanged,
    /// It lacked the terminators of `old_text`.
    Added(String),
    /// It had one too many.
    Removed(String),
    /// The terminator is all that differs, and without it two lines would be joined.
    JoinsLines,
}

impl TerminatorFit {
    /// Fits `new` to a match of `old`: where only one of them ends with a line terminator, that of
    /// the file is kept, so that a line is neither joined with the next one nor followed by an
    /// empty one.
    ///
    /// Unchanged are: an empty `new_text`, which deletes lines; a blank `old_text`, whose
    /// terminators are to be replaced; matches that end within a line, or at the end of a text
    /// without a terminator; and texts that differ in nothing else, if no lines are joined. If
    /// `new_text` has several terminators too many, one is removed: the others are empty lines.
    pub(super) fn new(old: &str, new: &str, following: Following) -> TerminatorFit {
        match (terminators_len(old), terminators_len(new)) {
            (0, 1..) if following == Following::LineEnd => {
                let kept = without_terminator(new);
                if kept == old {
                    TerminatorFit::Unchanged
                } else {
                    TerminatorFit::Removed(kept.to_owned())
                }
            }
            (len @ 1.., 0) if !new.is_empty() && !old.trim().is_empty() => {
                let (_, end) = old.split_at_checked(old.len() - len).unwrap_or((old, ""));
                let kept = format!("{new}{end}");
                match following {
                    Following::Text if kept == old => TerminatorFit::JoinsLines,
                    _ if kept == old => TerminatorFit::Unchanged,
                    _ => TerminatorFit::Added(kept),
                }
            }
            _ => TerminatorFit::Unchanged,
        }
    }

    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            TerminatorFit::Added(_) => Some(
                "old_text ends with a line terminator and new_text does not: the file's was kept.",
            ),
            TerminatorFit::Removed(_) => Some(
                "new_text ends with a line terminator and old_text does not: the file's was kept, \
                 and no empty line was added.",
            ),
            TerminatorFit::Unchanged | TerminatorFit::JoinsLines => None,
        }
    }
}

/// Length of the line terminators at the end.
fn terminators_len(text: &str) -> usize {
    let mut rest = text;
    while let Some(less) = rest.strip_suffix('\n') {
        rest = less.strip_suffix('\r').unwrap_or(less);
    }
    text.len() - rest.len()
}

fn without_terminator(text: &str) -> &str {
    let less = text.strip_suffix('\n').unwrap_or(text);
    less.strip_suffix('\r').unwrap_or(less)
}

/// How many bytes `new_text` has at its start and its end that the file already has beside the
/// match: inserted as it is, it would double them.
///
/// An `old_text` may begin behind the indentation of its line, or end before its trailing blanks,
/// while `new_text` is given in whole lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct SharedBlanks {
    pub(super) lead: usize,
    pub(super) tail: usize,
}

impl SharedBlanks {
    /// For a match of `old`; both texts have `\n` as terminator.
    pub(super) fn new(text: &[u8], matched: &Range<usize>, old: &str, new: &str) -> SharedBlanks {
        let lead = shared_indentation(indentation_before(text, matched.start), old, new);
        let tail = shared_tail(text.iter().skip(matched.end), old, new, lead > 0);
        let is_disjoint = lead + tail <= new.len();
        if is_disjoint { SharedBlanks { lead, tail } } else { SharedBlanks::default() }
    }

    /// The part of `new` to insert.
    pub(super) fn inner(self, new: &str) -> Option<&str> {
        new.get(self.lead..new.len().checked_sub(self.tail)?)
    }
}

/// Lines of a new text without the blanks at their end, where `old` has the same line and the
/// `matched` text of the file has it without blanks.
pub(super) fn without_mistaken_blanks<'n>(
    old: &str,
    matched: &[u8],
    lines: &'n str,
) -> Cow<'n, str> {
    let has_blanks = |line: &&str| line.ends_with([' ', '\t']) && !line.trim().is_empty();
    let mistaken: HashSet<&str> = old.lines().filter(has_blanks).collect();
    if !lines.lines().any(|line| mistaken.contains(line)) {
        return Cow::Borrowed(lines);
    }
    let matched = String::from_utf8_lossy(matched);
    let bare = matched.lines().filter(|line| !has_blanks(line));
    let bare: HashSet<&str> = bare.map(str::trim).collect();
    let bare = lines.split_inclusive('\n').flat_map(|line| {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let is_mistaken = mistaken.contains(body) && bare.contains(body.trim());
        let end = if body.len() < line.len() { "\n" } else { "" };
        [if is_mistaken { body.trim_end() } else { body }, end]
    });
    Cow::Owned(bare.collect())
}

/// The indentation that ends at `at`; empty if `at` lies elsewhere in its line.
pub(super) fn indentation_before(text: &[u8], at: usize) -> &str {
    let Some((before, _)) = text.split_at_checked(at) else { return "" };
    // Not from the start of the line, which may be far away for each of many matches.
    let count = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match before.split_at_checked(before.len() - count) {
        Some(([] | [.., b'\n'], blanks)) => std::str::from_utf8(blanks).unwrap_or(""),
        _ => "",
    }
}

/// Whether only blanks precede `at` in its line.
pub(super) fn follows_indentation(text: &[u8], at: usize) -> bool {
    let mut before = text.iter().take(at).rev();
    before.find(|byte| !matches!(byte, b' ' | b'\t')).is_none_or(|byte| *byte == b'\n')
}

fn shared_indentation(blanks: &str, old: &str, new: &str) -> usize {
    let is_behind = !blanks.is_empty() && !old.starts_with([' ', '\t', '\r', '\n']);
    let is_same = indentation(new.split('\n').next().unwrap_or("")) == blanks;
    if is_behind && is_same && !indents_old(blanks, old, new) { blanks.len() } else { 0 }
}

/// Whether `new` is `old` with deeper lines, so that the blanks are exactly what is to be added.
fn indents_old(blanks: &str, old: &str, new: &str) -> bool {
    let Some(inner) = new.strip_prefix(blanks) else { return false };
    if inner.trim_end() == old.trim_end() {
        return true;
    }
    let first = |text: &str| text.lines().next().map(|line| line.trim_end().to_owned());
    if first(inner) != first(old) {
        return false;
    }
    let same: HashSet<&str> = new.lines().collect();
    let deeper: HashSet<&str> = same.iter().filter_map(|new| new.strip_prefix(blanks)).collect();
    let mut lines = old.lines().skip(1).filter(|line| !line.trim().is_empty());
    lines.any(|line| deeper.contains(line) && !same.contains(line))
}

/// The white space at the end of `new` if the file continues with it, and `new` is known to be given
/// in whole lines while `old` is not.
fn shared_tail<'t>(
    following: impl Iterator<Item = &'t u8>,
    old: &str,
    new: &str,
    is_whole: bool,
) -> usize {
    let rest = new.trim_end_matches([' ', '\t', '\n']);
    let white = new.strip_prefix(rest).unwrap_or("");
    // Terminators alone may be empty lines that are wanted.
    let is_whole = is_whole || white.starts_with([' ', '\t']);
    if old.ends_with(char::is_whitespace) || !is_whole || !white.contains('\n') {
        return 0;
    }
    let following = following.filter(|byte| **byte != b'\r').take(white.len());
    if following.eq(white.as_bytes()) { white.len() } else { 0 }
}

/// How many blanks begin at `at` if the line ends behind them, else 0.
pub(super) fn trailing_blanks(text: &[u8], at: usize) -> usize {
    if Following::at(text, at) == Following::Text {
        return 0;
    }
    text.iter().skip(at).take_while(|byte| matches!(byte, b' ' | b'\t')).count()
}

/// A match that differs from `old_text` in blanks at line ends, so that an edit of trailing blanks or
/// blank lines changes just what was ignored in finding it. Both texts have `\n` as terminator.
pub(super) struct BlankMatch<'a> {
    pub(super) text: &'a [u8],
    pub(super) range: &'a Range<usize>,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
}

/// What to do about such an edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlankVerdict {
    Apply,
    /// The file has `new_text` already.
    AlreadyApplied,
    /// It is not clear which lines or blanks are meant, for this reason.
    Unclear(&'static str),
}

impl BlankMatch<'_> {
    /// # Errors
    /// `INTERNAL` if the range does not lie within the text.
    pub(super) fn verdict(&self) -> Result<BlankVerdict, Error> {
        let matched = slice(self.text, self.range.clone())?;
        let matched = String::from_utf8_lossy(matched).replace("\r\n", "\n");
        if let Some(verdict) = self.verdict_on_blanks(&matched) {
            return Ok(verdict);
        }
        if self.new.trim().is_empty() {
            return Ok(self.verdict_on_deletion(&matched));
        }
        let newlines = |text: &str| text.matches('\n').count();
        let (old_start, new_start) = (blank_start(self.old), blank_start(self.new));
        let (old_end, new_end) = (blank_end(self.old), blank_end(self.new));
        let removes_last =
            old_end.lines().count() > new_end.lines().count() && old_end != blank_end(&matched);
        let begins_within_line = !is_line_start(self.text, self.range.start);
        let removes_first = newlines(old_start) > newlines(new_start)
            && (old_start != blank_start(&matched)
                || (begins_within_line && self.old.starts_with('\n')));
        if removes_first || removes_last {
            return Ok(BlankVerdict::Unclear(
                "the edit removes blank lines that are not as the old text has them",
            ));
        }
        let blank_lines = |text: &str| text.lines().filter(|line| is_blank(line)).count();
        let has_blanks = |text: &str| text.lines().any(|line| !line.is_empty() && is_blank(line));
        let (olds, news) = (blank_lines(self.old), blank_lines(self.new));
        if (news > olds || olds > 1)
            && has_blanks(self.new)
            && has_blanks(&matched)
            && !has_blanks(self.old)
        {
            return Ok(BlankVerdict::Unclear(
                "it cannot be told which blank lines of the new text have blanks",
            ));
        }
        if self.has_exact_neighbour(&matched)? {
            return Ok(BlankVerdict::Unclear(
                "a line beside them is exactly like one of the old text",
            ));
        }
        Ok(BlankVerdict::Apply)
    }

    /// The verdict on the deletion of lines. A deletion leaves nothing by which it could be seen that
    /// it was made before, so lines with other blanks are not taken for those that were meant.
    fn verdict_on_deletion(&self, matched: &str) -> BlankVerdict {
        fn blanks(text: &str) -> Vec<&str> {
            let lines = text.trim_end_matches('\n').split('\n');
            lines.map(|line| line.split_at(line.trim_end_matches([' ', '\t']).len()).1).collect()
        }
        if self.old.trim().is_empty() || blanks(self.old) == blanks(matched) {
            return BlankVerdict::Apply;
        }
        BlankVerdict::Unclear(
            "lines are deleted only where they are exactly as the old text has them",
        )
    }

    /// The verdict if the texts differ only in blanks at line ends.
    fn verdict_on_blanks(&self, matched: &str) -> Option<BlankVerdict> {
        let trimmed = |text: &str| -> Vec<String> {
            text.split('\n').map(|line| line.trim_end_matches([' ', '\t']).to_owned()).collect()
        };
        if trimmed(self.old) != trimmed(self.new) {
            return None;
        }
        let lines = self.old.split('\n').zip(self.new.split('\n')).zip(matched.split('\n'));
        let changed: Vec<(&str, &str)> = lines
            .filter(|((old, new), _)| old != new)
            .map(|((_, new), file)| (new, file))
            .collect();
        let has_blanks = |line: &str| line.ends_with([' ', '\t']);
        if changed.iter().any(|(new, _)| has_blanks(new)) {
            let why = "the edit changes nothing but blanks at line ends, and these are not as \
                       the old text has them";
            return Some(BlankVerdict::Unclear(why));
        }
        // The match may end before the blanks of its last line.
        let has_more = trailing_blanks(self.text, self.range.end) > 0;
        let is_applied = !has_more && !changed.iter().any(|(_, file)| has_blanks(file));
        Some(if is_applied { BlankVerdict::AlreadyApplied } else { BlankVerdict::Apply })
    }

    /// Whether the file has the first line of `old_text` exactly above the match, or the last one
    /// below it, while the matched line has other blanks.
    fn has_exact_neighbour(&self, matched: &str) -> Result<bool, Error> {
        let above = slice(self.text, ..self.range.start)?;
        let below = slice(self.text, self.range.end..)?;
        let line = |line: Option<&[u8]>| {
            let line = line.unwrap_or(&[]);
            String::from_utf8_lossy(line.strip_suffix(b"\r").unwrap_or(line)).into_owned()
        };
        let above =
            above.strip_suffix(b"\n").map(|above| line(above.rsplit(|&byte| byte == b'\n').next()));
        let below = line(below.split(|&byte| byte == b'\n').next());
        let first = |text: &str| text.lines().next().unwrap_or("").to_owned();
        let last = |text: &str| text.lines().next_back().unwrap_or("").to_owned();
        let has_other_blanks =
            |old: &str, file: &str| old != file && old.trim_end() == file.trim_end();
        let is_first = self.old.contains('\n')
            && has_other_blanks(&first(self.old), &first(matched))
            && above == Some(first(self.old));
        let is_last = self.old.ends_with('\n')
            && self.old.matches('\n').count() > 1
            && has_other_blanks(&last(self.old), &last(matched))
            && below == last(self.old);
        Ok(is_first || is_last)
    }
}

fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

/// The white space before the first non-blank line.
fn blank_start(text: &str) -> &str {
    let white = text.strip_suffix(text.trim_start()).unwrap_or("");
    let end = white.rfind('\n').map_or(0, |at| at + 1);
    white.split_at_checked(end).map_or("", |(start, _)| start)
}

/// The white space after the last non-blank line and its terminator.
fn blank_end(text: &str) -> &str {
    let white = text.strip_prefix(text.trim_end()).unwrap_or("");
    white.split_once('\n').map_or("", |(_, rest)| rest)
}
