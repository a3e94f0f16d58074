//! Edits of blanks at line ends, which change just what was overlooked in finding their place.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::text::{is_line_start, trailing_blanks, without_return};

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
    pub(super) fn verdict(&self) -> BlankVerdict {
        let matched = &self.text[self.range.clone()];
        let matched = String::from_utf8_lossy(matched).replace("\r\n", "\n");
        if let Some(verdict) = self.verdict_on_blanks(&matched) {
            return verdict;
        }
        if self.new.trim().is_empty() {
            return self.verdict_on_deletion(&matched);
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
            return BlankVerdict::Unclear(
                "the edit removes blank lines that are not as the old text has them",
            );
        }
        let blank_lines = |text: &str| text.lines().filter(|line| is_blank(line)).count();
        let has_blanks = |text: &str| text.lines().any(|line| !line.is_empty() && is_blank(line));
        let (olds, news) = (blank_lines(self.old), blank_lines(self.new));
        if (news > olds || olds > 1)
            && has_blanks(self.new)
            && has_blanks(&matched)
            && !has_blanks(self.old)
        {
            return BlankVerdict::Unclear(
                "it cannot be told which blank lines of the new text have blanks",
            );
        }
        let first = |text: &str| text.lines().next().unwrap_or("").to_owned();
        let above = self.text[..self.range.start].strip_suffix(b"\n");
        let above = above.and_then(|above| above.rsplit(|&byte| byte == b'\n').next());
        let is_line_above = above.map(without_return) == Some(first(self.old).as_bytes());
        if self.old.contains('\n') && is_line_above && first(self.old) != first(&matched) {
            return BlankVerdict::Unclear(
                "the line above them is exactly the first of the old text",
            );
        }
        BlankVerdict::Apply
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
