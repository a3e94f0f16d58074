//! Why a change cannot be made, in words that say what to do next.

#[cfg(test)]
mod tests;

use std::fmt::Write;
use std::ops::Range;

use crate::edit::hint::{self, Near};
use crate::edit::ladder::{Found, MAX_REPLACED};
use crate::edit::places::{Places, line_number, numbered};
use crate::edit::replacement::{MatchKind, Matching, Options, Replacement};
use crate::edit::site::Site;
use crate::error::{Error, ErrorCode, MAX_MESSAGE_BYTES};
use crate::text::escape;

/// Bytes shown of a path; more are cut off its start.
const PATH_BYTES: usize = 300;

/// Why one change cannot be made.
pub(super) enum Why {
    Empty,
    Same,
    NotFound,
    NotUnique(Found),
    /// `new_text` is there already: where it begins, and what is like `old_text` elsewhere.
    Done {
        at: usize,
        near: Option<Alike>,
    },
    /// Lines of `old_text` are elsewhere with their own indentation.
    Stale {
        origin: usize,
        near: Alike,
    },
    /// It cannot be told how `new_text` is to be indented.
    Undecided(Alike),
    /// The edit changes just what was overlooked, for this reason.
    Unclear {
        near: Alike,
        why: &'static str,
    },
    /// The texts differ only in a terminator between two lines.
    Joins,
    /// `new_text` has U+FFFD for bytes that cannot be told.
    StandIn,
    /// Too many places.
    TooMany,
    /// Too many kinds of indentation for texts so long.
    TooMuch,
    TooLarge,
    NoChange,
}

/// A place that is like `old_text` but for what a kind overlooks.
pub(super) struct Alike {
    pub(super) kind: MatchKind,
    pub(super) range: Range<usize>,
}

/// What the words are about.
pub(super) struct Refusal<'r, 'a> {
    pub(super) site: &'r mut Site<'a>,
    pub(super) change: &'r Replacement,
    /// Which of several changes it is.
    pub(super) label: String,
    /// How many other changes fail.
    pub(super) others: usize,
}

impl Refusal<'_, '_> {
    /// The error, or the reason to stop.
    pub(super) fn error(mut self, why: Why) -> Result<Error, Error> {
        use ErrorCode::InvalidArgument;
        let path = shown(self.site.path);
        Ok(match why {
            Why::Empty => self.plain(
                InvalidArgument,
                "old_text must not be empty",
                "To create a file or replace all of it, use write_file; to insert, include a \
                 neighbouring line in both texts.",
            ),
            Why::Same => self.plain(
                InvalidArgument,
                "old_text and new_text are the same",
                "Nothing would change; give in new_text what is to stand there instead.",
            ),
            Why::NoChange => self.plain(
                InvalidArgument,
                &format!(
                    "nothing would change in {path}: old_text was found, but it differs from \
                     new_text only in what the file already has or in line endings, which stay \
                     as the file has them"
                ),
                "To change line endings, use match: exact.",
            ),
            Why::TooMany => self.plain(
                ErrorCode::TooLarge,
                &format!("more than {MAX_REPLACED} places of {path} would be replaced"),
                "Include more context, or edit the file by parts.",
            ),
            Why::TooMuch => self.plain(
                ErrorCode::TooLarge,
                &format!(
                    "old_text is too long to be indented anew at each of its places in {path}"
                ),
                "Give it with the indentation and the blanks that the file has.",
            ),
            Why::TooLarge => {
                let most = self.site.options.max_bytes;
                let message = format!("{path} would become larger than {most} bytes by this edit");
                self.plain(ErrorCode::TooLarge, &message, "")
            }
            Why::NotUnique(found) => self.not_unique(&found),
            Why::NotFound => self.not_found()?,
            Why::Done { at, near } => self.done(at, near.as_ref()),
            Why::Stale { origin, near } => self.stale(origin, &near),
            Why::Undecided(near) => self.undecided(&near),
            Why::Unclear { near, why } => self.unclear(&near, why),
            Why::Joins => self.plain(
                InvalidArgument,
                "old_text and new_text differ only in the line terminator at their end, and \
                 without it two lines would be joined",
                "To join them, use match: exact.",
            ),
            Why::StandIn => self.plain(
                InvalidArgument,
                &format!(
                    "new_text has U+FFFD, which stands for bytes of {path} that are not UTF-8, and \
                     it cannot be told which bytes are meant"
                ),
                "Leave the text with U+FFFD as old_text has it, or choose a smaller part of it.",
            ),
        })
    }

    fn plain(&self, code: ErrorCode, message: &str, hint: &str) -> Error {
        let error = Error::new(code, format!("{}{message}", self.label)).at(self.site.path);
        self.with_hint(error, hint)
    }

    fn with_hint(&self, error: Error, hint: &str) -> Error {
        let others = match self.others {
            0 => String::new(),
            1 => " 1 other edit fails too.".to_owned(),
            others => format!(" {others} other edits fail too."),
        };
        let hint = format!("{hint}{others}");
        if hint.is_empty() { error } else { error.with_hint(hint.trim_start()) }
    }

    fn not_unique(&self, found: &Found) -> Error {
        let count = found.places.len();
        let count = if found.is_more { format!("at least {count}") } else { count.to_string() };
        let places = Places::of(self.site.haystack.text, found);
        let mut message = format!(
            "{}old_text matches {count} locations. Include more context to make match unique.\n\n{}",
            self.label,
            places.named()
        );
        let hint = "To replace every one, set replace_all.";
        let room = MAX_MESSAGE_BYTES.saturating_sub(message.len() + hint.len() + 64);
        let shown = places.shown(room);
        if !shown.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(message, "\n\n```\n{shown}```\n");
        }
        let error = Error::new(ErrorCode::PatternNotUnique, message).at(self.site.path);
        self.with_hint(error, hint)
    }

    fn done(&self, at: usize, near: Option<&Alike>) -> Error {
        let path = shown(self.site.path);
        let line = line_number(self.site.haystack.text, at);
        let mut message = format!(
            "{}old_text not found in {path}. new_text is already in {path} at line {line}: the \
             edit seems to be done.",
            self.label
        );
        let mut hint = "";
        if let Some(near) = near {
            hint = "To change them, give old_text exactly as they are.";
            let kind = near.kind.overlooked();
            let (lines, text) = self.lines(near, MAX_MESSAGE_BYTES / 2);
            // Writing to a string cannot fail.
            let _ = write!(
                message,
                "\n\n{lines} without regard to {kind}; nothing was changed:\n```\n{text}```\n"
            );
        }
        let error = Error::new(ErrorCode::PatternNotFound, message).at(self.site.path);
        self.with_hint(error, hint)
    }

    fn stale(&self, origin: usize, near: &Alike) -> Error {
        let path = shown(self.site.path);
        let line = line_number(self.site.haystack.text, origin);
        let kind = near.kind.overlooked();
        let (lines, text) = self.lines(near, MAX_MESSAGE_BYTES / 2);
        let message = format!(
            "{}old_text not found in {path}. {lines} without regard to {kind}, but line {line} has \
             the indentation of old_text, so another place may be meant.\n\n```\n{text}```\n",
            self.label
        );
        let error = Error::new(ErrorCode::PatternNotFound, message).at(self.site.path);
        self.with_hint(error, "Read the file again, and give old_text exactly as it is there.")
    }

    fn undecided(&self, near: &Alike) -> Error {
        let path = shown(self.site.path);
        let (lines, text) = self.lines(near, MAX_MESSAGE_BYTES / 2);
        let why = if self.change.new_text.trim().is_empty() {
            "lines are deleted only where they are exactly as old_text says"
        } else {
            "it cannot be decided whether new_text is indented like old_text or like the file"
        };
        let message = format!(
            "{}old_text not found in {path} as it is indented. {lines} except for indentation, and \
             {why}.\n\n```\n{text}```\n",
            self.label
        );
        let error = Error::new(ErrorCode::PatternNotFound, message).at(self.site.path);
        self.with_hint(error, "Give both texts with the indentation that the file has.")
    }

    fn unclear(&self, near: &Alike, why: &str) -> Error {
        let path = shown(self.site.path);
        let kind = near.kind.overlooked();
        let (lines, text) = self.lines(near, MAX_MESSAGE_BYTES / 2);
        let message = format!(
            "{}old_text not found in {path}. {lines} without regard to {kind}, but {why}.\n\n\
             ```\n{text}```\n",
            self.label
        );
        let error = Error::new(ErrorCode::PatternNotFound, message).at(self.site.path);
        self.with_hint(error, "Read the file again, and give old_text exactly as it is there.")
    }

    /// "Lines 3-4 match `old_text`" or "Line 3 matches `old_text`", and these lines as far as there
    /// is `room`.
    fn lines(&self, near: &Alike, room: usize) -> (String, String) {
        let text = self.site.haystack.text;
        let first = line_number(text, near.range.start);
        let start = text.get(..near.range.start).unwrap_or(&[]);
        let start = memchr::memrchr(b'\n', start).map_or(0, |at| at + 1);
        let matched = text.get(start..near.range.end).unwrap_or(&[]);
        let matched = matched.strip_suffix(b"\n").unwrap_or(matched);
        let rest = text.get(start..).unwrap_or(&[]);
        let count = memchr::memchr_iter(b'\n', matched).count() + 1;
        let mut shown = String::new();
        for (index, line) in rest.split(|&byte| byte == b'\n').take(count).enumerate() {
            let (line, _) = numbered(line, first + index, &[]);
            if shown.len() + line.len() > room {
                shown.push_str("...\n");
                break;
            }
            shown.push_str(&line);
        }
        let last = first + count - 1;
        let lines = if count == 1 {
            format!("Line {first} matches old_text")
        } else {
            format!("Lines {first}-{last} match old_text")
        };
        (lines, shown)
    }

    fn not_found(&mut self) -> Result<Error, Error> {
        let path = shown(self.site.path);
        let mut message = format!("{}old_text not found in {path}.", self.label);
        let mut hint = "";
        let new = self.lines_of_new_text()?;
        let near = self.near()?;
        // In another place it says nothing about this edit.
        let is_here = |lines: &Range<usize>| {
            near.as_ref().map_or(lines.len() > 1, |near| near.overlaps(lines))
        };
        let done = new.filter(is_here).map(|lines| lines.start);
        if let Some(line) = done {
            let _ = write!(
                message,
                " new_text is already in {path} at line {line}: the edit seems to be done."
            );
        }
        match near {
            Some(near) => {
                let room = MAX_MESSAGE_BYTES.saturating_sub(message.len() + 200);
                let is_exact = self.site.options.matching == Matching::Exact;
                let _ = write!(message, "\n\n{}", near.advice(is_exact, room));
            }
            None if done.is_some() => {}
            None => {
                let _ = write!(message, "\n\nTip: Use read_file to see the contents of {path}.");
                if hint::has_long_lines(self.site.haystack.text) {
                    message.push_str(" It has long lines: search shows windows of them.");
                }
            }
        }
        if self.site.options.matching == Matching::Exact && self.would_match()? {
            hint = "With match: safe it would be found.";
        }
        let error = Error::new(ErrorCode::PatternNotFound, message).at(self.site.path);
        Ok(self.with_hint(error, hint))
    }

    fn near(&self) -> Result<Option<Near<'_>>, Error> {
        hint::nearest(self.site.haystack.text, &self.change.old_text, self.site.call)
    }

    /// The lines, from 1, that already are what `new_text` says, if that can be told.
    fn lines_of_new_text(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.change;
        let letters = new_text.chars().filter(|letter| letter.is_alphanumeric()).count();
        // What is short, or a part of the old text, is there for other reasons.
        if letters < 4 || old_text.contains(new_text.trim()) {
            return Ok(None);
        }
        let options = Options { replace_all: false, ..self.site.options.clone() };
        let found = self.site.haystack.find(new_text, &options, self.site.call)?;
        let found = found.filter(|found| found.places.len() == 1);
        let text = self.site.haystack.text;
        let range = found.and_then(|found| Some(found.places.first()?.range.clone()));
        let range = range.filter(|range| is_whole_lines(text, range));
        Ok(range.map(|range| {
            let first = line_number(text, range.start);
            first..first + new_text.lines().count()
        }))
    }

    fn would_match(&mut self) -> Result<bool, Error> {
        let options = Options { matching: Matching::Safe, ..self.site.options.clone() };
        let found = self.site.haystack.find(&self.change.old_text, &options, self.site.call)?;
        Ok(found.is_some_and(|found| found.places.len() == 1 || options.replace_all))
    }
}

/// Tells whether a range is all that its lines hold, but for blanks.
pub(super) fn is_whole_lines(text: &[u8], range: &Range<usize>) -> bool {
    let is_blank = |bytes: &[u8]| bytes.iter().all(|byte| b" \t\r".contains(byte));
    let (before, after) = (text.get(..range.start), text.get(range.end..));
    let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
    let start = memchr::memrchr(b'\n', before).map_or(0, |at| at + 1);
    let end = memchr::memchr(b'\n', after).unwrap_or(after.len());
    let ends_line = range.end > range.start && text.get(range.end - 1) == Some(&b'\n');
    is_blank(before.get(start..).unwrap_or_default())
        && (ends_line || is_blank(after.get(..end).unwrap_or_default()))
}

/// The path as shown in a message that has little room.
pub(super) fn shown(path: &str) -> String {
    let path = escape::display_path(path.as_bytes());
    match path.len().checked_sub(PATH_BYTES).filter(|over| *over > 0) {
        None => path.into_owned(),
        Some(over) => {
            let end = path.get(path.ceil_char_boundary(over)..).unwrap_or_default();
            format!("…{end}")
        }
    }
}
