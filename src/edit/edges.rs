//! Blanks beside a place that `new_text` has as well.
//!
//! An `old_text` may begin behind the indentation of its line, or end before the blanks at the end
//! of its line, while `new_text` is given with whole lines. Inserted as it is, it would double
//! these blanks.

#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::ops::Range;

use crate::edit::indent::indentation;

const BLANKS: [char; 2] = [' ', '\t'];

/// The note for blanks before a place that were not doubled.
pub(super) const NOTE: &str = "old_text begins behind the indentation of its line and new_text \
                               begins with that indentation: it was not doubled.";

/// How many bytes `new_text` has at its start and its end that the file has beside the place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Edges {
    pub(super) lead: usize,
    pub(super) tail: usize,
}

impl Edges {
    /// What `new` has of the blanks beside the `place` of `old`; both have `\n` as terminator.
    pub(super) fn of(text: &[u8], place: &Range<usize>, old: &str, new: &str) -> Edges {
        let lead = lead(indentation_before(text, place.start), old, new);
        let tail = tail(text.get(place.end..).unwrap_or(&[]), old, new, lead > 0);
        let is_apart = lead + tail <= new.len();
        if is_apart { Edges { lead, tail } } else { Edges::default() }
    }

    /// The part of `new` that is to be inserted.
    pub(super) fn inner(self, new: &str) -> Option<&str> {
        new.get(self.lead..new.len().checked_sub(self.tail)?)
    }
}

/// The indentation of the line of `at` if `at` is where it ends, else nothing.
pub(super) fn indentation_before(text: &[u8], at: usize) -> &str {
    let before = text.get(..at).unwrap_or(&[]);
    // Not from the start of the line, which may be far away for each of many places.
    let count = before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match before.split_at_checked(before.len() - count) {
        Some(([] | [.., b'\n'], blanks)) => std::str::from_utf8(blanks).unwrap_or(""),
        _ => "",
    }
}

/// Whether nothing but blanks is between the start of a line and `at`.
pub(super) fn is_line_start(text: &[u8], at: usize) -> bool {
    let before = text.get(..at).unwrap_or(&[]);
    let rest = before.iter().rev().find(|byte| !matches!(byte, b' ' | b'\t'));
    rest.is_none_or(|byte| *byte == b'\n')
}

fn lead(blanks: &str, old: &str, new: &str) -> usize {
    let is_behind = !blanks.is_empty() && !old.starts_with([' ', '\t', '\r', '\n']);
    let is_same = indentation(new.split('\n').next().unwrap_or("")) == blanks;
    let is_doubled = is_behind && is_same && !is_shifted(blanks, old, new);
    if is_doubled { blanks.len() } else { 0 }
}

/// Whether `new` is `old` with deeper lines, so that the blanks are just what is to be added.
fn is_shifted(blanks: &str, old: &str, new: &str) -> bool {
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

/// The white space at the end of `new`, blanks and terminators, if the file goes on with it and
/// `new` is known to be given with whole lines, while `old` is not.
fn tail(following: &[u8], old: &str, new: &str, is_whole: bool) -> usize {
    let rest = new.trim_end_matches([' ', '\t', '\n']);
    let white = new.strip_prefix(rest).unwrap_or("");
    // Terminators alone may be empty lines that are wanted.
    let is_whole = is_whole || white.starts_with(BLANKS);
    if old.ends_with(char::is_whitespace) || !is_whole || !white.contains('\n') {
        return 0;
    }
    let following = following.iter().filter(|&&byte| byte != b'\r').take(white.len());
    if following.eq(white.as_bytes()) { white.len() } else { 0 }
}

/// How many blanks there are at `at` if the line ends behind them.
pub(super) fn trailing_blanks(text: &[u8], at: usize) -> usize {
    let rest = text.get(at..).unwrap_or(&[]);
    let blanks = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match rest.get(blanks..) {
        None | Some([] | [b'\n', ..] | [b'\r', b'\n', ..]) => blanks,
        _ => 0,
    }
}
