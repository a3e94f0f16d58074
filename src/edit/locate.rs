//! Finds the matches of replacements in a file, and plans what changes in each match.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};
use unicode_normalization::is_nfc;

use crate::context::Call;
use crate::edit::already_applied::{AppliedCheck, NumberEvidence};
use crate::edit::line_numbers;
use crate::edit::matcher::{
    IndentMapping, IndentShift, MAX_REPLACED, MatchSet, Matcher, TabConversion, TextMatch,
};
use crate::edit::normalize::{self, Normalized};
use crate::edit::refusal::{NearMatch, Refusal, RefusalReason};
use crate::edit::reindent::{ReindentInput, Reindented};
use crate::edit::replacement::{EditOptions, MatchKind, Matching, Replacement, check_stop};
use crate::edit::show::short_path;
use crate::edit::text::{
    DecodedText, LineEndings, REPLACEMENT_CHARACTER, indentation, is_line_start, keeps_order,
    line_number, out_of_range, replacement_character_ranges, slice, str_slice,
};
use crate::edit::whitespace::{
    self, BlankMatch, BlankVerdict, Following, SharedBlanks, TerminatorFit, trailing_blanks,
};
use crate::error::{Error, ErrorCode};

/// Bytes that all replacements of a call may search; each searches the whole text.
const MAX_SEARCHED: u64 = 64 << 30;

/// Bytes of texts that are reindented for matches of different indentation.
const MAX_REINDENTED: usize = 64 << 20;

/// Bytes above and below a match in which lines are looked for that show its indentation.
const AROUND_BYTES: usize = 8 << 10;

/// Texts with more lines together than this are treated as one region.
const MAX_DIFFED_LINES: usize = 4000;

/// A replacement whose matches are known.
pub(super) struct Located {
    pub(super) kind: MatchKind,
    /// The matched ranges.
    pub(super) matches: Vec<Range<usize>>,
    pub(super) patches: Vec<Patch>,
    pub(super) notes: Vec<String>,
}

/// A range of the text and the text to put there.
pub(super) struct Patch {
    /// Start of the match that it belongs to.
    pub(super) match_start: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Locates replacements in a file, one after the other.
pub(super) struct Locator<'a> {
    matcher: Matcher<'a>,
    has_mark: bool,
    endings: LineEndings,
    /// What the earlier replacements of the call replace.
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
        Locator { matcher, has_mark: text.has_mark(), endings, total: Total::default() }
    }

    /// Locates every replacement.
    ///
    /// # Errors
    /// The refusal of the first replacement that cannot be made.
    pub(super) fn locate_all(&mut self, edits: &[Replacement]) -> Result<Vec<Located>, Error> {
        self.refuse_number(edits.len())?;
        let mut located = Vec::with_capacity(edits.len());
        let mut refused: Option<(usize, Replacement, RefusalReason)> = None;
        let mut others = 0;
        for (index, edit) in edits.iter().enumerate() {
            let edit = self.without_marks(edit);
            match self.locate(&edit) {
                Ok(edit) => located.push(edit),
                Err(LocateError::Failed(error)) => return Err(error),
                Err(LocateError::Refused(_)) if refused.is_some() => others += 1,
                Err(LocateError::Refused(reason)) => refused = Some((index, edit, reason)),
            }
        }
        let Some((index, edit, reason)) = refused else { return Ok(located) };
        let label = if edits.len() > 1 { format!("edits[{index}]: ") } else { String::new() };
        Err(Refusal { matcher: &mut self.matcher, edit: &edit, label, others }.error(reason)?)
    }

    /// Refuses more replacements than can be looked for in a text of this length.
    fn refuse_number(&self, edits: usize) -> Result<(), Error> {
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
    fn without_marks(&self, edit: &Replacement) -> Replacement {
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
            // A text that was repaired once is not matched loosely as well.
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
            located.notes.insert(0, unnumbered.note());
            return Ok(located);
        }
        Err(RefusalReason::NotFound.into())
    }

    /// Plans a replacement whose matches were found.
    fn locate_in(
        &mut self,
        edit: &Replacement,
        found: &MatchSet,
        evidence: NumberEvidence,
    ) -> Result<Located, LocateError> {
        let edit = &*self.without_second_mark(edit, found);
        if edit.old_text == edit.new_text {
            let at = found.matches.first().map_or(0, |first| first.range.start);
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
        self.refuse_applied(edit, found, evidence)?;
        let plan = self.plan(edit, found, evidence)?;
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
    fn without_second_mark<'c>(
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

    /// Refuses to replace a normalized match if the edit may have been applied already, or be meant
    /// for another place.
    fn refuse_applied(
        &mut self,
        edit: &Replacement,
        found: &MatchSet,
        evidence: NumberEvidence,
    ) -> Result<(), LocateError> {
        let is_sure = found.kind == MatchKind::Exact && evidence != NumberEvidence::OtherNumbers;
        let Some(first) = found.matches.first().filter(|_| !is_sure) else { return Ok(()) };
        let near = NearMatch { kind: found.kind, range: first.range.clone() };
        if found.kind == MatchKind::Indentation && edit.new_text.trim().is_empty() {
            return Err(RefusalReason::UndecidedIndentation(near).into());
        }
        if found.kind >= MatchKind::TrailingBlanks {
            let texts = self.compared_texts(edit);
            let (text, range) = (self.matcher.text, &first.range);
            let blank_match = BlankMatch { text, range, old: &texts.old, new: &texts.new };
            match blank_match.verdict()? {
                BlankVerdict::Apply => {}
                BlankVerdict::AlreadyApplied => {
                    return Err(
                        RefusalReason::AlreadyApplied { at: range.start, near: None }.into()
                    );
                }
                BlankVerdict::Unclear(why) => {
                    return Err(RefusalReason::Unclear { near, why }.into());
                }
            }
        }
        let mut check = AppliedCheck { matcher: &mut self.matcher, edit, found, evidence };
        if let Some(applied) = check.find_elsewhere(&self.endings)? {
            let near = Some(near);
            return Err(RefusalReason::AlreadyApplied { at: applied.start, near }.into());
        }
        if let Some(origin) = check.find_origin(first)? {
            return Err(RefusalReason::OtherIndentation { origin: origin.start, near }.into());
        }
        Ok(())
    }

    /// Plans the patches of all matches.
    fn plan(
        &mut self,
        edit: &Replacement,
        found: &MatchSet,
        evidence: NumberEvidence,
    ) -> Result<Plan, LocateError> {
        let mut plan = Plan { bytes: self.total.bytes, ..Plan::default() };
        let mut texts = self.compared_texts(edit);
        let text = self.matcher.text;
        if let Some(first) = found.matches.first().filter(|_| found.kind >= MatchKind::Typography) {
            plan.note(&self.unicode_notes(edit, first)?);
            let matched = found.matches.iter().filter_map(|found| text.get(found.range.clone()));
            let as_in_file = normalize::plain_as_in_file(&texts.old, matched, &texts.new);
            if let Cow::Owned(new) = as_in_file {
                plan.note(&[normalize::TYPOGRAPHY_NOTE]);
                texts.new = new;
            }
        }
        let mut reindented = 0_usize;
        let mut fitted = FittedTexts::default();
        for (index, matched) in found.matches.iter().enumerate() {
            if index % 1024 == 0 {
                check_stop(self.matcher.call)?;
            }
            let before = plan.patches.len();
            if self.matcher.options.matching == Matching::Exact {
                let (range, text) = (matched.range.clone(), edit.new_text.clone());
                plan.patches.push(Patch { match_start: range.start, range, text });
            } else {
                let surroundings = Surroundings {
                    mapping: matched.mapping.clone(),
                    following: Following::at(text, matched.range.end),
                    shared: SharedBlanks::new(text, &matched.range, &texts.old, &texts.new),
                };
                if fitted.get(&surroundings).is_none() {
                    reindented = reindented.saturating_add(texts.old.len() + texts.new.len());
                    if reindented > MAX_REINDENTED && index > 0 {
                        return Err(RefusalReason::TooMuchReindenting.into());
                    }
                    check_stop(self.matcher.call)?;
                    let new = self.fit(&texts, found.kind, matched, surroundings.clone())?;
                    let check = AppliedCheck { matcher: &mut self.matcher, edit, found, evidence };
                    if index == 0 && check.is_applied_at(&matched.range, &new.old, &new.new)? {
                        let at = matched.range.start;
                        return Err(RefusalReason::AlreadyApplied { at, near: None }.into());
                    }
                    plan.note(&new.notes);
                    fitted.add(new);
                }
                let fitted = fitted.get(&surroundings).ok_or_else(out_of_range)?;
                self.add_patches(fitted, &matched.range, &mut plan)?;
            }
            plan.bytes +=
                plan.patches.iter().skip(before).map(|patch| patch.text.len()).sum::<usize>();
            // Half of it, since three bytes of UTF-8 may be two in UTF-16.
            if plan.bytes / 2 > self.matcher.options.max_bytes {
                return Err(RefusalReason::TooLarge.into());
            }
        }
        Ok(plan)
    }

    /// Notes on what a typographic match ignored besides punctuation and blanks.
    fn unicode_notes(
        &self,
        edit: &Replacement,
        matched: &TextMatch,
    ) -> Result<Vec<&'static str>, Error> {
        let matched = slice(self.matcher.text, matched.range.clone())?;
        let mut notes = Vec::new();
        if edit.old_text.contains(REPLACEMENT_CHARACTER) && str::from_utf8(matched).is_err() {
            notes.push("U+FFFD in old_text was taken for bytes of the file that are not UTF-8.");
        }
        let matched = String::from_utf8_lossy(matched);
        if is_nfc(&matched) != is_nfc(&edit.old_text) {
            notes.push("The file has letters in another Unicode form; those that stay were kept.");
        }
        Ok(notes)
    }

    /// The texts with LF line endings, as they are compared.
    fn compared_texts(&self, edit: &Replacement) -> ComparedTexts {
        let with_lf = |text: &str| match self.endings {
            LineEndings::None => text.to_owned(),
            _ => text.replace("\r\n", "\n"),
        };
        let (mut old, new) = (with_lf(&edit.old_text), with_lf(&edit.new_text));
        // Normalizing what `\r\r\n` became once more would match other bytes.
        if old.contains("\r\n") {
            old.clone_from(&edit.old_text);
        }
        ComparedTexts { old, new, diff: OnceCell::new() }
    }

    /// Fits `new_text` to a match and its surroundings.
    fn fit(
        &self,
        texts: &ComparedTexts,
        kind: MatchKind,
        matched: &TextMatch,
        surroundings: Surroundings,
    ) -> Result<FittedText, LocateError> {
        let mut notes = Vec::new();
        let undecided = || {
            RefusalReason::UndecidedIndentation(NearMatch { kind, range: matched.range.clone() })
        };
        let inner = self.without_shared_blanks(texts, kind, matched, surroundings.shared)?;
        let inner = inner.ok_or_else(undecided)?;
        if surroundings.shared.lead > 0 {
            notes.push(whitespace::INDENTATION_NOTE);
        }
        let fit = TerminatorFit::new(&texts.old, &inner, surroundings.following);
        notes.extend(fit.note());
        let new = match fit {
            TerminatorFit::Unchanged => inner,
            TerminatorFit::Added(new) | TerminatorFit::Removed(new) => Cow::Owned(new),
            TerminatorFit::JoinsLines => return Err(RefusalReason::JoinsLines.into()),
        };
        let reindented = if kind == MatchKind::Indentation {
            let reindented = self.reindent(&texts.old, &new, matched)?;
            let reindented = reindented.ok_or_else(undecided)?;
            if !reindented.is_moved {
                notes.push("new_text was used as it is, since it is indented as the file is.");
            } else if matched.mapping.tabs != TabConversion::None {
                notes.push("new_text was indented with the kind of blanks that the file has.");
            }
            reindented
        } else {
            Reindented { old: texts.old.clone(), new: new.to_string(), is_moved: true }
        };
        let kind = kind.max(MatchKind::LineEndings);
        let normalized_old = self.matcher.normalize(reindented.old.as_bytes(), kind)?;
        // Lines that are shifted together differ where they did before.
        let is_shared = new.len() == texts.new.len()
            && matches!(new, Cow::Borrowed(_))
            && reindented.is_moved
            && matched.mapping.tabs == TabConversion::None;
        let Reindented { old, new, .. } = reindented;
        let regions = if is_shared {
            let diff = texts.diff.get_or_init(|| LineDiff::new(&texts.old, &texts.new));
            diff.regions(&old, &new)?
        } else {
            LineDiff::new(&old, &new).regions(&old, &new)?
        };
        Ok(FittedText { surroundings, kind, old, normalized_old, new, regions, notes })
    }

    /// `new_text` without the blanks that the file has beside the match, which may begin behind the
    /// indentation of its line; `None` if its indentation cannot be decided.
    fn without_shared_blanks<'p>(
        &self,
        texts: &'p ComparedTexts,
        kind: MatchKind,
        matched: &TextMatch,
        shared: SharedBlanks,
    ) -> Result<Option<Cow<'p, str>>, Error> {
        let ComparedTexts { old, new, .. } = texts;
        let inner = shared.inner(new).ok_or_else(out_of_range)?;
        let blanks = whitespace::indentation_before(self.matcher.text, matched.range.start);
        let is_behind = !blanks.is_empty() && !old.starts_with(char::is_whitespace);
        // Up to line endings the match is exact, and new_text is taken as it is.
        if !is_behind || !matches!(kind, MatchKind::TrailingBlanks | MatchKind::Typography) {
            return Ok(Some(Cow::Borrowed(inner)));
        }
        let content_lines =
            |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        if shared.lead > 0 {
            let mut lines = inner.lines().skip(1).filter(|line| !line.trim().is_empty());
            let is_whole = lines.all(|line| line.starts_with(blanks));
            return Ok(is_whole.then_some(Cow::Borrowed(inner)));
        }
        if inner.starts_with([' ', '\t']) || (inner.is_empty() && old.ends_with('\n')) {
            return Ok(None);
        }
        if content_lines(old) > 1 || content_lines(inner) < 2 {
            return Ok(Some(Cow::Borrowed(inner)));
        }
        // The lines after the first may have the indentation of the file or lack it as well.
        let shift = IndentShift::Deeper(blanks.to_owned());
        let mapping = IndentMapping { tabs: TabConversion::None, shift };
        let range = matched.range.clone();
        let line = TextMatch { range, mapping, other_mappings: Vec::new() };
        let Some(reindented) = self.reindent(old, inner, &line)? else { return Ok(None) };
        let moved = reindented.new.strip_prefix(blanks).map(|new| Cow::Owned(new.to_owned()));
        Ok(moved.filter(|_| reindented.is_moved))
    }

    /// Decides how `new_text` is indented in a match with another indentation.
    fn reindent(
        &self,
        old: &str,
        new: &str,
        matched: &TextMatch,
    ) -> Result<Option<Reindented>, Error> {
        let (text, range) = (self.matcher.text, &matched.range);
        let start = range.start.saturating_sub(AROUND_BYTES);
        let end = range.end.saturating_add(AROUND_BYTES).min(text.len());
        let above = String::from_utf8_lossy(slice(text, start..range.start)?);
        let below = String::from_utf8_lossy(slice(text, range.end..end)?);
        // The first line may be cut.
        let above =
            if start > 0 { above.split_once('\n').map_or("", |(_, rest)| rest) } else { &above };
        let mut mappings = vec![matched.mapping.clone()];
        mappings.extend(matched.other_mappings.iter().cloned());
        Ok(ReindentInput { old, new, mappings: &mappings, around: [above, &below] }.decide())
    }

    /// Adds the patches of one match.
    fn add_patches(
        &self,
        fitted: &FittedText,
        matched: &Range<usize>,
        plan: &mut Plan,
    ) -> Result<(), LocateError> {
        let text = self.matcher.text;
        let file = self.matcher.normalize(slice(text, matched.clone())?, fitted.kind)?;
        // At least a whole line separates two regions, and no substitution is longer, so that the
        // ranges in the file are disjoint.
        for region in &fitted.regions {
            let (new, range) = region.in_match(&fitted.normalized_old, &file);
            let range = matched.start + range.start..matched.start + range.end;
            let (new, range) = self.widened_by_blanks(&fitted.new, matched, new, range)?;
            let new = str_slice(&fitted.new, new)?;
            let old = slice(text, range.clone())?;
            let parts = self.keep_undecodable(old, new)?;
            for (old, new) in parts.ok_or(RefusalReason::UnclearBytes)? {
                let inner = range.start + old.start..range.start + old.end;
                let new = match self.endings {
                    LineEndings::None => new.to_owned(),
                    _ => new.replace('\n', self.endings.near(&inner, matched)),
                };
                if slice(text, inner.clone())? != new.as_bytes() {
                    let match_start = matched.start;
                    plan.patches.push(Patch { match_start, range: inner, text: new });
                }
            }
        }
        Ok(())
    }

    /// A range `part` of `new` and the range of the file that it replaces, widened by the blanks that
    /// follow that range: they must not come behind those of `new`, and a line of blanks must not
    /// become the end of another line.
    fn widened_by_blanks(
        &self,
        new: &str,
        matched: &Range<usize>,
        part: Range<usize>,
        range: Range<usize>,
    ) -> Result<(Range<usize>, Range<usize>), Error> {
        let text = self.matcher.text;
        let blanks = trailing_blanks(text, range.end);
        // Behind the match they are replaced only with whole lines: a part of a line is replaced
        // exactly as given.
        let has_lines = new.contains('\n') || whitespace::follows_indentation(text, matched.start);
        let is_within =
            range.end + blanks <= matched.end || (has_lines && !self.matcher.options.replace_all);
        let before = str_slice(new, ..part.end)?;
        let inserted = str_slice(new, part.clone())?;
        let after = str_slice(new, part.end..)?;
        if blanks == 0 || !is_within || !(after.is_empty() || after.starts_with('\n')) {
            return Ok((part, range));
        }
        let end = range.end + blanks;
        // Behind several lines the blanks would come at the end of another line than before.
        let is_moved = inserted.contains('\n') && !inserted.ends_with('\n');
        if is_moved || inserted.ends_with([' ', '\t']) {
            return Ok((part, range.start..end));
        }
        let follows_newline = range.end > 0 && is_line_start(text, range.end);
        let terminator_len = match slice(text, end..)? {
            [b'\n', ..] => 1,
            [b'\r', b'\n', ..] => 2,
            _ => 0,
        };
        let is_joined = follows_newline && !range.is_empty() && !before.is_empty();
        let is_joined = is_joined && !before.ends_with('\n') && after.starts_with('\n');
        if is_joined && terminator_len > 0 && end + terminator_len <= matched.end {
            return Ok((part.start..part.end + 1, range.start..end + terminator_len));
        }
        Ok((part, range))
    }

    /// The ranges of `old`, bytes of the file, that change, each with the part of `new` for it: bytes
    /// for which `new` has U+FFFD stay. `None` if it is not clear which bytes are meant.
    fn keep_undecodable<'t>(
        &self,
        old: &[u8],
        new: &'t str,
    ) -> Result<Option<Vec<Part<'t>>>, Error> {
        let whole = || vec![(0..old.len(), new)];
        if !new.contains(REPLACEMENT_CHARACTER) {
            return Ok(Some(whole()));
        }
        let kept = replacement_character_ranges(old, self.matcher.is_utf16);
        let count = new.matches(REPLACEMENT_CHARACTER).count();
        if kept.is_empty() || count > kept.len() {
            // In a text without such bytes it is an ordinary character.
            return Ok(str::from_utf8(self.matcher.text).is_ok().then(whole));
        }
        let bytes = |range: &Range<usize>| old.get(range.clone());
        let first = kept.first().and_then(bytes);
        let is_same = kept.iter().all(|range| bytes(range) == first);
        // Different bytes must not be swapped, nor may it be unclear which of them are removed.
        if !is_same && (count != kept.len() || !keeps_order(old, new, &kept)?) {
            return Ok(None);
        }
        let mut parts = Vec::new();
        let mut from = 0;
        let mut rest = new.split(REPLACEMENT_CHARACTER);
        for (range, part) in kept.iter().zip(rest.by_ref().take(count)) {
            parts.push((from..range.start, part));
            from = range.end;
        }
        parts.extend(rest.map(|last| (from..old.len(), last)));
        Ok(Some(parts))
    }
}

/// A range of the file, and the text that replaces it.
type Part<'t> = (Range<usize>, &'t str);

/// Why a replacement was not located.
enum LocateError {
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

/// The patches of one replacement.
#[derive(Default)]
struct Plan {
    patches: Vec<Patch>,
    /// Bytes of all patches of the call so far.
    bytes: usize,
    notes: Vec<String>,
}

impl Plan {
    fn note(&mut self, notes: &[&str]) {
        for note in notes {
            if !self.notes.iter().any(|known| known == note) {
                self.notes.push((*note).to_owned());
            }
        }
    }
}

/// The texts of a replacement as they are compared.
struct ComparedTexts {
    old: String,
    new: String,
    diff: OnceCell<LineDiff>,
}

/// What determines how `new_text` is fitted to a match.
#[derive(Clone, PartialEq, Eq)]
struct Surroundings {
    mapping: IndentMapping,
    following: Following,
    shared: SharedBlanks,
}

/// `new_text` fitted to all matches with the same surroundings, and where it differs from `old_text`.
struct FittedText {
    surroundings: Surroundings,
    kind: MatchKind,
    /// As it stands in the file, apart from what `kind` ignores.
    old: String,
    normalized_old: Normalized,
    new: String,
    regions: Vec<DiffRegion>,
    notes: Vec<&'static str>,
}

/// The last fitted texts, the newest first.
#[derive(Default)]
struct FittedTexts(Vec<FittedText>);

impl FittedTexts {
    /// How many are kept: matches may alternate in their indentation and in what follows them.
    const MAX: usize = 8;

    fn get(&self, surroundings: &Surroundings) -> Option<&FittedText> {
        self.0.iter().find(|fitted| fitted.surroundings == *surroundings)
    }

    fn add(&mut self, fitted: FittedText) {
        self.0.truncate(FittedTexts::MAX - 1);
        self.0.insert(0, fitted);
    }
}

/// A range of `old_text` and the range of `new_text` that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct DiffRegion {
    old: Range<usize>,
    new: Range<usize>,
}

/// Which lines of two texts differ. They stay the same if both texts are shifted alike.
struct LineDiff(Option<Vec<DiffOp>>);

impl LineDiff {
    fn new(old: &str, new: &str) -> LineDiff {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        if old.len() + new.len() > MAX_DIFFED_LINES {
            return LineDiff(None);
        }
        let mut operations = capture_diff_slices(Algorithm::Myers, &old, &new);
        operations.retain(|operation| operation.tag() != DiffTag::Equal);
        LineDiff(Some(operations))
    }

    /// The regions in which the two texts, perhaps shifted alike, differ, in order. Lines that both
    /// have are in none.
    ///
    /// # Errors
    /// `INTERNAL` if the texts are not those that were compared.
    fn regions(&self, old: &str, new: &str) -> Result<Vec<DiffRegion>, Error> {
        let LineDiff(Some(operations)) = self else {
            let whole = DiffRegion { old: 0..old.len(), new: 0..new.len() };
            return Ok(trimmed(whole, old, new)?.into_iter().collect());
        };
        let (old_starts, new_starts) = (starts(old), starts(new));
        let bytes = |starts: &[usize], lines: Range<usize>| {
            let at = |line: usize| starts.get(line).copied().ok_or_else(out_of_range);
            Ok::<_, Error>(at(lines.start)?..at(lines.end)?)
        };
        let regions = operations.iter().map(|operation| {
            let old_bytes = bytes(&old_starts, operation.old_range())?;
            let new_bytes = bytes(&new_starts, operation.new_range())?;
            trimmed(DiffRegion { old: old_bytes, new: new_bytes }, old, new)
        });
        regions.filter_map(Result::transpose).collect()
    }
}

/// Where each line starts, and where the last one ends.
fn starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(starts).collect()
}

/// The region without the common prefix and suffix of its texts.
fn trimmed(region: DiffRegion, old: &str, new: &str) -> Result<Option<DiffRegion>, Error> {
    let old_part = str_slice(old, region.old.clone())?;
    let new_part = str_slice(new, region.new.clone())?;
    let pairs = old_part.chars().zip(new_part.chars());
    let prefix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old_rest, new_rest) = (str_slice(old_part, prefix..)?, str_slice(new_part, prefix..)?);
    let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
    let suffix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let inner = |range: Range<usize>| range.start + prefix..range.end - suffix;
    let region = DiffRegion { old: inner(region.old), new: inner(region.new) };
    Ok((!region.old.is_empty() || !region.new.is_empty()).then_some(region))
}

impl DiffRegion {
    /// The range of `new_text` for the region, and the range of the matched bytes that it replaces;
    /// both are widened alike where a substitution of `old`, the normalized `old_text`, or of `file`,
    /// the normalized match, would be split.
    fn in_match(&self, old: &Normalized, file: &Normalized) -> (Range<usize>, Range<usize>) {
        let source = &self.old;
        let mut range = old.range_of(source);
        loop {
            let wider = old.widened(file.widened(range.clone()));
            if wider == range {
                break;
            }
            range = wider;
        }
        // Dropped characters are removed only if those of `old_text` at the same offset are.
        let takes_before = !source.is_empty() && source.start < old.source_end(range.start);
        let takes_after = !source.is_empty() && source.end > old.source_start(range.end);
        let ends = |text: &Normalized| {
            let start = if takes_before {
                text.source_start(range.start)
            } else {
                text.source_end(range.start)
            };
            let end =
                if takes_after { text.source_end(range.end) } else { text.source_start(range.end) };
            start.min(end)..end
        };
        let wide = ends(old);
        let (start, end) = (wide.start.min(source.start), wide.end.max(source.end));
        let new_start = self.new.start - (source.start - start).min(self.new.start);
        (new_start..self.new.end + (end - source.end), ends(file))
    }
}
