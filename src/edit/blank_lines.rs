//! Edits of trailing blanks and blank lines where `old_text` matches only without regard to blanks.
//!
//! Such an edit changes just what was overlooked when its place was found. It is made only where
//! the file shows that it was not made before.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::edit::edges::trailing_blanks;

/// An `old_text` that was found by overlooking blanks at line ends, and what stands at its place.
/// Both texts have `\n` as terminator.
pub(super) struct Overlooked<'a> {
    pub(super) text: &'a [u8],
    pub(super) place: &'a Range<usize>,
    pub(super) old: &'a str,
    pub(super) new: &'a str,
}

/// What is to be done about the edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Make,
    /// The file has `new_text` already.
    Done,
    /// It cannot be told which lines or blanks are meant.
    Unclear(&'static str),
}

impl Overlooked<'_> {
    pub(super) fn verdict(&self) -> Verdict {
        let matched = self.text.get(self.place.clone()).unwrap_or(&[]);
        let matched = String::from_utf8_lossy(matched).replace("\r\n", "\n");
        if let Some(verdict) = self.blanks_only(&matched) {
            return verdict;
        }
        if self.new.trim().is_empty() {
            return Verdict::Make;
        }
        let loses = |part: fn(&str) -> &str| {
            let count = |text: &str| part(text).matches('\n').count();
            count(self.old) > count(self.new) && part(self.old) != part(&matched)
        };
        let removes_last = last_lines(self.old) > last_lines(self.new)
            && white_end(self.old) != white_end(&matched);
        let is_line_start = self.place.start.checked_sub(1).map(|above| self.text.get(above));
        let begins_within = is_line_start.is_some_and(|byte| byte != Some(&b'\n'));
        let removes_first = loses(white_start)
            || (begins_within
                && self.old.starts_with('\n')
                && first_lines(self.old) > first_lines(self.new));
        if removes_first || removes_last {
            return Verdict::Unclear(
                "the edit removes blank lines that are not as old_text has them",
            );
        }
        let blank = |text: &str| text.split('\n').filter(|line| line.trim().is_empty()).count();
        let has_blanks =
            |text: &str| text.lines().any(|line| !line.is_empty() && line.trim().is_empty());
        if blank(self.new) > blank(self.old)
            && has_blanks(self.new)
            && has_blanks(&matched)
            && !has_blanks(self.old)
        {
            return Verdict::Unclear("it cannot be told which blank lines of new_text have blanks");
        }
        if self.has_exact_neighbour(&matched) {
            return Verdict::Unclear("a line beside them is exactly like one of old_text");
        }
        Verdict::Make
    }

    /// The verdict if the texts differ in nothing but blanks at line ends.
    fn blanks_only(&self, matched: &str) -> Option<Verdict> {
        let bare = |text: &str| -> Vec<String> {
            text.split('\n').map(|line| line.trim_end_matches([' ', '\t']).to_owned()).collect()
        };
        if bare(self.old) != bare(self.new) {
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
                       old_text has them";
            return Some(Verdict::Unclear(why));
        }
        // The last line of the place may end before its blanks.
        let has_more = trailing_blanks(self.text, self.place.end) > 0;
        let is_made = !has_more && !changed.iter().any(|(_, file)| has_blanks(file));
        Some(if is_made { Verdict::Done } else { Verdict::Make })
    }

    /// Whether the file has the first line of `old_text` exactly above the place, or the last one
    /// below it, while the lines of the place have other blanks.
    fn has_exact_neighbour(&self, matched: &str) -> bool {
        let whole = |text: &str| text.ends_with('\n') && text.matches('\n').count() > 1;
        let Some(above) = self.text.get(..self.place.start) else { return false };
        let Some(below) = self.text.get(self.place.end..) else { return false };
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
        let is_last = whole(self.old)
            && has_other_blanks(&last(self.old), &last(matched))
            && below == last(self.old);
        is_first || is_last
    }
}

/// White space before the first line that is not blank.
fn white_start(text: &str) -> &str {
    let rest = text.trim_start();
    let white = text.strip_suffix(rest).unwrap_or("");
    let end = white.rfind('\n').map_or(0, |at| at + 1);
    white.get(..end).unwrap_or("")
}

fn first_lines(text: &str) -> usize {
    white_start(text).matches('\n').count()
}

/// What follows the last line that is not blank and its terminator.
fn white_end(text: &str) -> &str {
    let white = text.strip_prefix(text.trim_end()).unwrap_or("");
    white.split_once('\n').map_or("", |(_, rest)| rest)
}

fn last_lines(text: &str) -> usize {
    white_end(text).lines().count()
}
