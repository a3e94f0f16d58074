//! Locates replacements in a file, one after the other: finds the matches, refuses those that must
//! not be replaced, and plans the patches.

use std::borrow::Cow;
use std::ops::Range;

use crate::context::Call;
use crate::edit::already_applied::{AppliedCheck, NumberEvidence};
use crate::edit::fit::{ComparedTexts, Patch, Planner};
use crate::edit::line_numbers;
use crate::edit::lines::LineLocator;
use crate::edit::matcher::{MAX_REPLACED, MatchSet, Matcher};
use crate::edit::refusal::{LocateError, Refusal, RefusalReason};
use crate::edit::replacement::{Change, EditOptions, MatchKind, Matching, Replacement};
use crate::edit::show::short_path;
use crate::edit::text::{DecodedText, LineEndings, indentation, line_number};
use crate::error::{Error, ErrorCode, MAX_MESSAGE_BYTES};

/// Bytes that all replacements of a call may search; each searches the whole text.
const MAX_SEARCHED: u64 = 64 << 30;

/// Edits by line number of which a note says what went.
const MAX_NAMED: usize = 10;

/// A replacement whose matches are known.
pub(super) struct Located {
    pub(super) kind: MatchKind,
    /// The matched ranges.
    pub(super) matches: Vec<Range<usize>>,
    pub(super) patches: Vec<Patch>,
    pub(super) notes: Vec<String>,
}

/// Locates replacements in a file, one after the other.
pub(super) struct Locator<'a> {
    text: &'a DecodedText<'a>,
    pub(super) matcher: Matcher<'a>,
    has_mark: bool,
    pub(super) endings: LineEndings,
    /// Totals of the earlier replacements of the call.
    total: Total,
}

#[derive(Clone, Copy, Default)]
struct Total {
    matches: usize,
    /// Bytes of the new texts.
    bytes: usize,
}

impl<'a> Locator<'a> {
    pub(super) fn new(
        path: &'a str,
        text: &'a DecodedText<'_>,
        options: &'a EditOptions,
        call: &'a Call,
    ) -> Locator<'a> {
        let endings = match options.matching {
            Matching::Exact => LineEndings::None,
            Matching::Safe => LineEndings::of(text.bytes()),
        };
        let matcher = Matcher::new(path, text, options, call);
        Locator { text, matcher, has_mark: text.has_mark(), endings, total: Total::default() }
    }

    /// Locates every replacement.
    ///
    /// # Errors
    /// The refusal of the first replacement that cannot be made.
    pub(super) fn locate_all(&mut self, edits: &[Change]) -> Result<Vec<Located>, Error> {
        self.refuse_number(edits.iter().filter(|edit| matches!(edit, Change::Text(_))).count())?;
        let mut lines = None;
        let mut located = Vec::with_capacity(edits.len());
        let mut refused: Option<(usize, Replacement, RefusalReason)> = None;
        let mut others = 0;
        for (index, edit) in edits.iter().enumerate() {
            let edit = match edit {
                Change::Text(edit) => self.without_marks(edit),
                Change::Lines(edit) => {
                    let (path, matching) = (self.matcher.path, self.matcher.options.matching);
                    let lines = lines.get_or_insert_with(|| LineLocator::new(path, self.text));
                    let found = lines.locate(edit, matching);
                    let labelled = |error: Error| error.labelled(&label(index, edits)).at(path);
                    let mut found = found.map_err(labelled)?;
                    if index >= MAX_NAMED {
                        found.notes.clear();
                    }
                    located.push(found);
                    continue;
                }
            };
            match self.locate(&edit) {
                Ok(edit) => located.push(edit),
                Err(LocateError::Failed(error)) => return Err(error),
                Err(LocateError::Refused(_)) if refused.is_some() => others += 1,
                Err(LocateError::Refused(reason)) => refused = Some((index, edit, reason)),
            }
        }
        let Some((index, edit, reason)) = refused else { return Ok(located) };
        let label = label(index, edits);
        let (matcher, room) = (&mut self.matcher, MAX_MESSAGE_BYTES);
        Err(Refusal { matcher, edit: &edit, label, others, room }.error(reason)?)
    }

    /// Refuses more replacements than can be searched for in a text of this length.
    pub(super) fn refuse_number(&self, edits: usize) -> Result<(), Error> {
        let len = self.matcher.text.len() as u64;
        if (edits as u64).saturating_mul(len) <= MAX_SEARCHED {
            return Ok(());
        }
        let (path, max) = (short_path(self.matcher.path), MAX_SEARCHED / len.max(1));
        let message = format!(
            "{edits} edits are too many to look for in the {len} bytes of {path}; at most {max} \
             can be made at once"
        );
        let error = Error::new(ErrorCode::TooLarge, message).at(self.matcher.path);
        Err(error.with_hint("Make them in several calls."))
    }

    /// The replacement without a byte order mark in `old_text`, if the file has one: it is not part of
    /// the first line.
    pub(super) fn without_marks(&self, edit: &Replacement) -> Replacement {
        let unmarked = |text: &str| text.strip_prefix('\u{FEFF}').unwrap_or(text).to_owned();
        if !self.has_mark || !edit.old_text.starts_with('\u{FEFF}') {
            return edit.clone();
        }
        Replacement { old_text: unmarked(&edit.old_text), new_text: unmarked(&edit.new_text) }
    }

    fn locate(&mut self, edit: &Replacement) -> Result<Located, LocateError> {
        if edit.old_text.is_empty() {
            return Err(RefusalReason::EmptyOldText.into());
        }
        if edit.old_text == edit.new_text {
            return Err(RefusalReason::EqualTexts.into());
        }
        match self.matcher.find(&edit.old_text, self.matcher.options)? {
            Some(found) => self.locate_in(edit, &found, NumberEvidence::None),
            None => self.locate_without_numbers(edit),
        }
    }

    /// Locates a replacement after removing line numbers that were pasted with the lines.
    fn locate_without_numbers(&mut self, edit: &Replacement) -> Result<Located, LocateError> {
        let (options, text) = (self.matcher.options, self.matcher.text);
        if options.matching == Matching::Exact {
            return Err(RefusalReason::NotFound.into());
        }
        for unnumbered in line_numbers::strip(edit, self.matcher.path) {
            // A repaired text is not matched loosely in addition.
            let last = MatchKind::TrailingBlanks;
            let found = self.matcher.find_up_to(last, &unnumbered.edit.old_text, options)?;
            let Some(found) = found else { continue };
            let Some(start) = found.matches.first().map(|first| first.range.start) else {
                continue;
            };
            if !unnumbered.fits(text, start) {
                continue;
            }
            if unnumbered.edit.old_text == unnumbered.edit.new_text {
                return Err(RefusalReason::EqualTexts.into());
            }
            let has_numbers = unnumbered.has_numbers(text, start);
            let evidence =
                if has_numbers { NumberEvidence::Numbers } else { NumberEvidence::OtherNumbers };
            let mut located = self.locate_in(&unnumbered.edit, &found, evidence)?;
            located.notes.insert(0, unnumbered.note(options.source));
            return Ok(located);
        }
        Err(RefusalReason::NotFound.into())
    }

    /// Plans a replacement whose matches were found.
    pub(super) fn locate_in(
        &mut self,
        edit: &Replacement,
        found: &MatchSet,
        evidence: NumberEvidence,
    ) -> Result<Located, LocateError> {
        let edit = &*self.without_second_mark(edit, found);
        if let Some(first) = found.matches.first().filter(|_| edit.old_text == edit.new_text) {
            let at = first.range.start;
            return Err(RefusalReason::AlreadyApplied { at, near: None }.into());
        }
        let count = self.total.matches + found.matches.len();
        let replace_all = self.matcher.options.replace_all;
        if replace_all && (found.has_more || count > MAX_REPLACED) {
            return Err(RefusalReason::TooManyMatches.into());
        }
        if found.matches.len() > 1 && !replace_all {
            return Err(RefusalReason::NotUnique(found.clone()).into());
        }
        let texts = ComparedTexts::new(edit, &self.endings);
        let mut check = AppliedCheck { matcher: &mut self.matcher, edit, found, evidence };
        check.refuse(&texts, &self.endings)?;
        let plan =
            Planner { check: &check, endings: &self.endings, texts }.plan(self.total.bytes)?;
        if plan.patches.is_empty() {
            return Err(RefusalReason::NoChange.into());
        }
        self.total = Total { matches: count, bytes: plan.bytes };
        let mut matches: Vec<Range<usize>> =
            found.matches.iter().map(|matched| matched.range.clone()).collect();
        // Blanks behind a single match may be replaced as well.
        if let ([only], Some(patch)) = (matches.as_mut_slice(), plan.patches.last()) {
            only.end = only.end.max(patch.range.end);
        }
        Ok(Located { kind: found.kind, matches, patches: plan.patches, notes: plan.notes })
    }

    /// The replacement without the byte order mark that only `new_text` has, in the first line of a
    /// file that has one.
    pub(super) fn without_second_mark<'c>(
        &self,
        edit: &'c Replacement,
        found: &MatchSet,
    ) -> Cow<'c, Replacement> {
        let Replacement { old_text, new_text } = edit;
        let is_first_line = found
            .matches
            .first()
            .is_some_and(|first| line_number(self.matcher.text, first.range.start) == 1);
        let blanks = indentation(new_text);
        let marked = new_text.strip_prefix(blanks).and_then(|text| text.strip_prefix('\u{FEFF}'));
        let is_safe = self.matcher.options.matching == Matching::Safe;
        match marked {
            Some(rest) if is_safe && self.has_mark && is_first_line => Cow::Owned(Replacement {
                old_text: old_text.clone(),
                new_text: format!("{blanks}{rest}"),
            }),
            _ => Cow::Borrowed(edit),
        }
    }
}

/// The label of one of several changes, for errors.
fn label(index: usize, edits: &[Change]) -> String {
    if edits.len() > 1 { format!("edits[{index}]: ") } else { String::new() }
}
