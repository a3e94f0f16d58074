//! The errors of refused edits, and the message about a file that changed since it was read.

#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

use crate::context::Call;
use crate::edit::matcher::{MAX_REPLACED, MatchSet, Matcher};
use crate::edit::replacement::{EditOptions, MatchKind, Matching, Replacement, TextSource};
use crate::edit::show::{CONTEXT, MatchList, numbered_lines, short_path};
use crate::edit::suggest;
use crate::edit::text::{DecodedText, LineTable, count_letters, is_whole_lines, line_number};
use crate::error::{Error, ErrorCode};
use crate::hint::Hint;

/// Bytes shown of the lines that match in a file that has changed.
const CONFLICT_BYTES: usize = 1000;

/// Why a replacement cannot be made.
pub(super) enum RefusalReason {
    EmptyOldText,
    EqualTexts,
    NotFound,
    NotUnique(MatchSet),
    /// `new_text` begins at `at`; `near` matches `old_text` elsewhere.
    AlreadyApplied {
        at: usize,
        near: Option<NearMatch>,
    },
    /// The lines that `new_text` adds to `old_text` are beside it; all of them begin at this line.
    AlreadyAdded(usize),
    /// The indentation of `new_text` cannot be decided.
    UndecidedIndentation(NearMatch),
    /// `old_text` is one line without its indentation, and it is open whether the further lines of
    /// `new_text` lack it too. The whole lines are then the first of the `readings`, else the second.
    UndecidedFurtherLines {
        near: NearMatch,
        readings: [String; 2],
    },
    /// It is not clear what is meant, because of `why`.
    Unclear {
        near: NearMatch,
        why: Cow<'static, str>,
    },
    /// The texts differ only in a terminator between two lines.
    JoinsLines,
    /// `new_text` has U+FFFD, and it is not clear for which bytes.
    UnclearBytes,
    TooManyMatches,
    /// Texts too long to be reindented for each of the matches.
    TooMuchReindenting,
    TooLarge,
    NoChange,
    /// The hunk changes how lines end, but its lines are not exactly those of the file.
    ChangesLineEnds(NearMatch),
    /// The place of a hunk contradicts what the patch says.
    Misplaced(Misplaced),
}

/// Why a hunk cannot be applied where its lines are.
#[derive(Clone, Copy)]
pub(super) enum Misplaced {
    /// It stands above the one before it, at this line.
    OutOfOrder(usize),
    /// It is found only at `line`, and neither its words nor its number name this place.
    FarFromNumber { line: usize, number: usize },
    /// Another one changes the same line.
    Overlaps(usize),
    /// It only adds lines, and no line beside them says where.
    NoPlace,
}

impl Misplaced {
    fn message(self) -> String {
        match self {
            Misplaced::OutOfOrder(line) => {
                format!("its lines are at line {line}, above the hunk before")
            }
            Misplaced::FarFromNumber { line, number } => format!(
                "its lines are found only at line {line}, far from line {number} that it names, \
                 and none of them has a word"
            ),
            Misplaced::Overlaps(line) => {
                format!("line {line} is changed by an earlier part of the patch too")
            }
            Misplaced::NoPlace => {
                "it only adds lines, and no line beside them says where".to_owned()
            }
        }
    }

    fn hint(self) -> &'static str {
        match self {
            Misplaced::OutOfOrder(_) => "The hunks of a file stand in the order of its lines.",
            Misplaced::FarFromNumber { .. } => "Add unchanged lines with words above or below.",
            Misplaced::Overlaps(_) => "Make one of the two.",
            Misplaced::NoPlace => "Add the unchanged lines above or below, each after a space.",
        }
    }
}

impl RefusalReason {
    /// The code of the error.
    pub(super) fn code(&self) -> ErrorCode {
        match self {
            RefusalReason::NotFound
            | RefusalReason::AlreadyApplied { .. }
            | RefusalReason::AlreadyAdded(_)
            | RefusalReason::ChangesLineEnds(_)
            | RefusalReason::UndecidedIndentation(_)
            | RefusalReason::UndecidedFurtherLines { .. }
            | RefusalReason::Unclear { .. }
            | RefusalReason::Misplaced(
                Misplaced::OutOfOrder(_) | Misplaced::FarFromNumber { .. },
            ) => ErrorCode::PatternNotFound,
            RefusalReason::NotUnique(_) => ErrorCode::PatternNotUnique,
            RefusalReason::TooManyMatches
            | RefusalReason::TooMuchReindenting
            | RefusalReason::TooLarge => ErrorCode::TooLarge,
            RefusalReason::EmptyOldText
            | RefusalReason::EqualTexts
            | RefusalReason::JoinsLines
            | RefusalReason::UnclearBytes
            | RefusalReason::NoChange
            | RefusalReason::Misplaced(Misplaced::Overlaps(_) | Misplaced::NoPlace) => {
                ErrorCode::InvalidArgument
            }
        }
    }
}

/// Why a replacement was not located.
pub(super) enum LocateError {
    Refused(RefusalReason),
    /// The call failed or was stopped.
    Failed(Error),
}

impl From<RefusalReason> for LocateError {
    fn from(reason: RefusalReason) -> LocateError {
        LocateError::Refused(reason)
    }
}

impl From<Error> for LocateError {
    fn from(error: Error) -> LocateError {
        LocateError::Failed(error)
    }
}

/// A range that matches `old_text` normalized.
pub(super) struct NearMatch {
    pub(super) kind: MatchKind,
    pub(super) range: Range<usize>,
}

/// A replacement that is refused.
pub(super) struct Refusal<'r, 'a> {
    pub(super) matcher: &'r mut Matcher<'a>,
    pub(super) edit: &'r Replacement,
    /// The label of the replacement, if there are several, such as `edits[2]: `.
    pub(super) label: String,
    /// How many other replacements fail.
    pub(super) others: usize,
    /// The longest message, in bytes.
    pub(super) room: usize,
}

impl Refusal<'_, '_> {
    /// The error to return.
    ///
    /// # Errors
    /// `CANCELLED`, `TIMEOUT`, `TOO_LARGE` and `INTERNAL` while the message is put together.
    pub(super) fn error(mut self, reason: RefusalReason) -> Result<Error, Error> {
        let code = reason.code();
        let path = short_path(self.matcher.path);
        let (old, new) = (self.source().old_name(), self.source().new_name());
        let is_unlike =
            matches!(reason, RefusalReason::NotFound | RefusalReason::UndecidedIndentation(_));
        let signed = is_unlike.then(|| suggest::signed(self.matcher.text, self.edit)).flatten();
        if let Some(signed) = signed {
            return Ok(self.plain(code, format!("{old} not found in {path}.\n\n{signed}"), None));
        }
        Ok(match reason {
            RefusalReason::EmptyOldText => self.plain(
                code,
                "old_text must not be empty",
                [
                    Hint::tool("To create a file or replace all of it, use ", "write_file", "."),
                    "To insert, include a neighbouring line in both texts.".into(),
                ],
            ),
            RefusalReason::EqualTexts if self.is_hunk() => {
                self.plain(code, "it has no line that begins with + or -", None)
            }
            RefusalReason::EqualTexts => self.plain(
                code,
                "old_text and new_text are the same",
                ["Nothing would change; give in new_text what is to stand there instead.".into()],
            ),
            RefusalReason::NoChange => {
                let message = format!(
                    "nothing would change in {path}: {old} was found, but it differs from {new} \
                     only in what the file already has or in line endings, which stay as the file \
                     has them"
                );
                let exact = Hint::argument("To change line endings, use ", "match", "exact", ".");
                self.plain(code, message, Some(exact).filter(|_| !self.is_hunk()))
            }
            RefusalReason::Misplaced(why) => self.plain(code, why.message(), [why.hint().into()]),
            RefusalReason::ChangesLineEnds(near) => {
                let why =
                    "it changes how lines end, so its lines must be exactly those of the file";
                self.unclear(code, &near, why)
            }
            RefusalReason::TooManyMatches => self.plain(
                code,
                format!("more than {MAX_REPLACED} places of {path} would be replaced"),
                ["Include more context, or edit the file by parts.".into()],
            ),
            RefusalReason::TooMuchReindenting => self.plain(
                code,
                format!("{old} is too long to be indented anew at each of its places in {path}"),
                ["Give it with the indentation and the blanks that the file has.".into()],
            ),
            RefusalReason::TooLarge => {
                let max = self.matcher.options.max_bytes;
                let message = format!("{path} would become larger than {max} bytes by this edit");
                self.plain(code, message, None)
            }
            RefusalReason::NotUnique(found) => self.not_unique(code, &found)?,
            RefusalReason::NotFound => self.not_found(code)?,
            RefusalReason::AlreadyApplied { at, near } => {
                self.already_applied(code, at, near.as_ref())
            }
            RefusalReason::AlreadyAdded(line) => self.already_added(code, line),
            RefusalReason::UndecidedIndentation(near) => self.undecided_indentation(code, &near),
            RefusalReason::UndecidedFurtherLines { near, readings } => {
                self.undecided_further_lines(code, &near, &readings)
            }
            RefusalReason::Unclear { near, why } => self.unclear(code, &near, &why),
            RefusalReason::JoinsLines => self.plain(
                code,
                "old_text and new_text differ only in the line terminator at their end, and \
                 without it two lines would be joined",
                [Hint::argument("To join them, use ", "match", "exact", ".")],
            ),
            RefusalReason::UnclearBytes => self.plain(
                code,
                format!(
                    "{new} has U+FFFD, which stands for bytes of {path} that are not UTF-8, and \
                     it cannot be told which bytes are meant"
                ),
                [format!(
                    "Leave the text with U+FFFD as {old} has it, or choose a smaller part of it."
                )
                .into()],
            ),
        })
    }

    fn source(&self) -> TextSource {
        self.matcher.options.source
    }

    fn is_hunk(&self) -> bool {
        self.source() == TextSource::Hunk
    }

    fn plain(
        &self,
        code: ErrorCode,
        message: impl AsRef<str>,
        hints: impl IntoIterator<Item = Hint>,
    ) -> Error {
        let message = format!("{}{}", self.label, message.as_ref());
        let error = Error::new(code, message).at(self.matcher.path);
        let error = hints.into_iter().fold(error, Error::with_hint);
        match self.others {
            0 => error,
            1 => error.with_hint("1 other edit fails too."),
            others => error.with_hint(format!("{others} other edits fail too.")),
        }
    }

    /// Bytes left for lines of the file below `message`, with `reserved` bytes for what follows.
    fn room(&self, message: &str, reserved: usize) -> usize {
        self.room.saturating_sub(self.label.len() + message.len() + reserved)
    }

    fn not_unique(&self, code: ErrorCode, found: &MatchSet) -> Result<Error, Error> {
        let count = found.matches.len();
        let count = if found.has_more { format!("at least {count}") } else { count.to_string() };
        let list = MatchList::new(self.matcher.text, found)?;
        let mut message = format!(
            "{} matches {count} locations. Include more context to make match unique.\n\n{}",
            self.source().old_name(),
            list.positions()
        );
        let shown = list.lines(self.room(&message, 102));
        if !shown.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(message, "\n\n```\n{shown}```\n");
        }
        let all = Hint::argument_name("To replace every one, set ", "replace_all", ".");
        let all = Some(all).filter(|_| !self.is_hunk());
        Ok(self.plain(code, message, all))
    }

    fn already_applied(&self, code: ErrorCode, at: usize, near: Option<&NearMatch>) -> Error {
        let path = short_path(self.matcher.path);
        let line = line_number(self.matcher.text, at);
        let old = self.source().old_name();
        let mut message = format!("{old} not found in {path}.{}", self.done_at(line));
        let mut hint = None;
        if let Some(near) = near {
            hint = Some(format!("To change them, give {old} exactly as they are.").into());
            let kind = near.kind.overlooked();
            let (lines, text) = self.lines(near);
            // Writing to a string cannot fail.
            let _ = write!(
                message,
                "\n\n{lines} without regard to {kind}; nothing was changed:\n```\n{text}```\n"
            );
        }
        self.plain(code, message, hint)
    }

    fn already_added(&self, code: ErrorCode, line: usize) -> Error {
        let hint = if self.is_hunk() {
            "To add the lines once more, quote the ones below them too.".into()
        } else {
            Hint::argument("To add the lines once more, use ", "match", "exact", ".")
        };
        self.plain(code, self.done_at(line).trim_start(), [hint])
    }

    fn undecided_indentation(&self, code: ErrorCode, near: &NearMatch) -> Error {
        let path = short_path(self.matcher.path);
        let (lines, text) = self.lines(near);
        let (old, new) = (self.source().old_name(), self.source().new_name());
        let why = if self.edit.new_text.trim().is_empty() {
            format!("lines are deleted only where they are exactly as {old} says")
        } else {
            format!("it cannot be decided whether {new} is indented like {old} or like the file")
        };
        let message = format!(
            "{old} not found in {path} as it is indented. {lines} except for indentation, and \
             {why}.\n\n```\n{text}```\n"
        );
        let hint = "Give both texts with the indentation that the file has.".into();
        self.plain(code, message, [hint])
    }

    fn undecided_further_lines(
        &self,
        code: ErrorCode,
        near: &NearMatch,
        [deeper, as_given]: &[String; 2],
    ) -> Error {
        let path = short_path(self.matcher.path);
        let (line, shown) = (line_number(self.matcher.text, near.range.start), self.lines(near).1);
        let (old, new) = (self.source().old_name(), self.source().new_name());
        let mut message = format!(
            "{old} is line {line} of {path} without its indentation, and it is open whether the further \
             lines of {new} lack it too.\n\n```\n{shown}```\n"
        );
        let readings = [("if they do", deeper), ("if they do not", as_given)];
        let readings = readings.map(|(when, text)| {
            format!("\n{new} {when}:\n```\n{}\n```\n", text.trim_end_matches('\n'))
        });
        if readings.iter().map(String::len).sum::<usize>() < self.room(&message, 200) {
            message.extend(readings);
        }
        let hint =
            "Give both texts as whole lines with the indentation that they have in the file.";
        self.plain(code, message, [hint.into()])
    }

    fn unclear(&self, code: ErrorCode, near: &NearMatch, why: &str) -> Error {
        let path = short_path(self.matcher.path);
        let kind = near.kind.overlooked();
        let (lines, text) = self.lines(near);
        let old = self.source().old_name();
        let message = format!(
            "{old} not found in {path}. {lines} without regard to {kind}, but {why}.\n\n\
             ```\n{text}```\n"
        );
        let hint = format!("Read the file again, and give {old} exactly as it is there.");
        self.plain(code, message, [hint.into()])
    }

    fn done_at(&self, line: usize) -> String {
        let (path, new) = (short_path(self.matcher.path), self.source().new_name());
        format!(" {new} is already in {path} at line {line}: the edit seems to be done.")
    }

    /// "Lines 3-4 match `old_text`" or "Line 3 matches `old_text`", and these lines.
    fn lines(&self, near: &NearMatch) -> (String, String) {
        let text = self.matcher.text;
        let table = LineTable::new(text);
        let first = line_number(text, near.range.start);
        let last = line_number(text, near.range.end.saturating_sub(1)).max(first);
        let shown = numbered_lines(&table, first - 1..last, self.room / 2);
        let old = self.source().old_name();
        let lines = if first == last {
            format!("Line {first} matches {old}")
        } else {
            format!("Lines {first}-{last} match {old}")
        };
        (lines, shown)
    }

    fn not_found(&mut self, code: ErrorCode) -> Result<Error, Error> {
        let path = short_path(self.matcher.path);
        let mut message = format!("{} not found in {path}.", self.source().old_name());
        let mut hints = Vec::new();
        let new = self.lines_of_new_text()?;
        let (old, call) = (&self.edit.old_text, self.matcher.call);
        let near = suggest::suggest(self.matcher.text, old, self.source(), call)?;
        // Elsewhere it does not prove that this edit was applied.
        let is_here = |lines: &Range<usize>| {
            near.as_ref().map_or(lines.len() > 1, |near| near.overlaps(lines))
        };
        let done = new.filter(is_here).map(|lines| lines.start);
        if let Some(line) = done {
            message.push_str(&self.done_at(line));
        }
        match near {
            Some(near) => {
                let room = self.room(&message, 200);
                let is_exact = self.matcher.options.matching == Matching::Exact;
                let _ = write!(message, "\n\n{}", near.message(is_exact, room));
            }
            None if done.is_some() => {}
            None => {
                message.push_str("\n\n");
                let after = format!(" to see contents of {path}.");
                hints.push(Hint::tool("Tip: Use ", "read_file", after));
                if suggest::has_long_lines(self.matcher.text) {
                    hints.push(Hint::tool(
                        "It has long lines: ",
                        "search",
                        " shows windows of them.",
                    ));
                }
            }
        }
        if self.matcher.options.matching == Matching::Exact && self.would_match()? {
            hints.push(Hint::argument("With ", "match", "safe", " it would be found."));
        }
        Ok(self.plain(code, message, hints))
    }

    /// The lines, from 1, that already are `new_text`, if it is distinctive and unique.
    fn lines_of_new_text(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.edit;
        // A short text, or a part of the old text, may be there for other reasons.
        if count_letters(new_text) < 4 || old_text.contains(new_text.trim()) {
            return Ok(None);
        }
        let options = EditOptions { replace_all: false, ..*self.matcher.options };
        let found = self.matcher.find(new_text, &options)?;
        let found = found.filter(|found| found.matches.len() == 1);
        let text = self.matcher.text;
        let range = found.and_then(|found| Some(found.matches.first()?.range.clone()));
        let range = range.filter(|range| is_whole_lines(text, range));
        Ok(range.map(|range| {
            let first = line_number(text, range.start);
            first..first + new_text.lines().count()
        }))
    }

    fn would_match(&mut self) -> Result<bool, Error> {
        let options = EditOptions { matching: Matching::Safe, ..*self.matcher.options };
        let found = self.matcher.find(&self.edit.old_text, &options)?;
        Ok(found.is_some_and(|found| found.matches.len() == 1 || options.replace_all))
    }
}

/// The current content of a file that changed since it was read.
pub(crate) struct ConflictReport {
    /// A sentence, and lines of the file.
    pub(crate) message: String,
    /// Whether `old_text` is still in the file.
    pub(crate) has_old_text: bool,
}

/// Reports where `old_text` is in the changed file, or what is most similar to it.
///
/// # Errors
/// `CANCELLED`, `TIMEOUT`, `TOO_LARGE`.
pub(crate) fn report_conflict(
    content: &[u8],
    edit: &Replacement,
    options: &EditOptions,
    call: &Call,
) -> Result<ConflictReport, Error> {
    let text = DecodedText::new(content);
    let mut matcher = Matcher::new("", &text, options, call);
    let mut message = String::new();
    if let Some(found) = matcher.find(&edit.old_text, options)? {
        let list = MatchList::new(text.bytes(), &found)?;
        let lines = list.lines(CONFLICT_BYTES);
        // Writing to a string cannot fail.
        let _ = match found.matches.as_slice() {
            [_] => write!(message, "old_text is at line {} now:", list.first_line()),
            _ => write!(message, "old_text is in several places now. {}", list.positions()),
        };
        let _ = write!(message, "\n```\n{lines}```\n");
        return Ok(ConflictReport { message, has_old_text: true });
    }
    message.push_str("old_text is not in it any more.");
    if let Some(near) = suggest::suggest(text.bytes(), &edit.old_text, options.source, call)? {
        let is_exact = options.matching == Matching::Exact;
        let _ = write!(message, " {}", near.message(is_exact, CONFLICT_BYTES));
    }
    Ok(ConflictReport { message, has_old_text: false })
}

/// Where a file that changed since it was read differs from the `content` that was to be written
/// over it, with the lines of the file around the first difference.
pub(crate) fn report_difference(present: &[u8], content: &[u8]) -> String {
    let text = DecodedText::new(present);
    let (present, new) = (LineTable::new(text.bytes()), LineTable::new(content));
    let line =
        |line: Option<&[u8]>| line.map(|line| line.strip_suffix(b"\r").unwrap_or(line).to_vec());
    let mut numbers = 0..present.len().max(new.len());
    let Some(first) = numbers.find(|&at| line(present.line(at)) != line(new.line(at))) else {
        return "It has the lines of the content.".to_owned();
    };
    let what = match (first < present.len(), first < new.len()) {
        (true, true) => format!("It differs from the content at line {}:", first + 1),
        (true, false) => format!("The content ends before line {}:", first + 1),
        (false, _) => format!("The content goes on after its last line {first}:"),
    };
    let around = first.saturating_sub(CONTEXT)..(first + CONTEXT + 1).min(present.len());
    format!("{what}\n```\n{}```\n", numbered_lines(&present, around, CONFLICT_BYTES))
}
