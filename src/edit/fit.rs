//! Fits `new_text` to each match: its line terminators, blanks, indentation and punctuation become
//! those of the file there. Only what differs between `old_text` and `new_text` becomes a patch.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use unicode_normalization::is_nfc;

use crate::edit::already_applied::AppliedCheck;
use crate::edit::lone_line::{self, FurtherLines, LoneLine};
use crate::edit::matcher::{IndentMapping, Matcher, TextMatch};
use crate::edit::normalize::{self, Normalized, PlainForms};
use crate::edit::refusal::{LocateError, NearMatch, RefusalReason};
use crate::edit::regions::{DiffRegion, LineDiff};
use crate::edit::reindent::{ReindentInput, Reindented};
use crate::edit::replacement::{MatchKind, Matching, Replacement, TextSource, check_stop};
use crate::edit::text::{
    LineEndings, REPLACEMENT_CHARACTER, count_filled_lines, is_line_start, keeps_order,
    out_of_range, replacement_character_ranges, slice, str_slice,
};
use crate::edit::whitespace::{self, Following, SharedBlanks, TerminatorFit, trailing_blanks};
use crate::error::Error;

/// Bytes of texts that are reindented for matches of different indentation. Fewer in unit tests,
/// which are slow without optimization.
const MAX_REINDENTED: usize = if cfg!(test) { 4 << 20 } else { 64 << 20 };

/// Bytes above and below a match that are searched for lines that show its indentation.
const AROUND_BYTES: usize = 8 << 10;

/// A range of the text and its replacement.
pub(super) struct Patch {
    /// Start of the match that it belongs to.
    pub(super) match_start: usize,
    pub(super) range: Range<usize>,
    pub(super) text: Vec<u8>,
}

/// Plans the patches of one replacement whose matches were found.
pub(super) struct Planner<'p, 'a> {
    pub(super) check: &'p AppliedCheck<'p, 'a>,
    pub(super) endings: &'p LineEndings,
    pub(super) texts: ComparedTexts,
}

impl Planner<'_, '_> {
    /// Plans the patches of all matches; those of earlier replacements have `bytes`.
    pub(super) fn plan(mut self, bytes: usize) -> Result<Plan, LocateError> {
        let mut plan = Plan { patches: Vec::new(), bytes, notes: Vec::new() };
        self.undo_mistakes(&mut plan)?;
        let (matcher, found) = (self.matcher(), self.check.found);
        let mut fitted = FittedTexts::default();
        for (index, matched) in found.matches.iter().enumerate() {
            if index % 1024 == 0 {
                check_stop(matcher.call)?;
            }
            let planned = plan.patches.len();
            if matcher.options.matching == Matching::Exact {
                let range = matched.range.clone();
                let text = self.check.edit.new_text.clone().into_bytes();
                plan.patches.push(Patch { match_start: range.start, range, text });
            } else {
                let fitted = self.fitted(matched, index == 0, &mut fitted, &mut plan)?;
                self.add_patches(fitted, &matched.range, &mut plan.patches)?;
            }
            let new = plan.patches.iter().skip(planned);
            plan.bytes += new.map(|patch| patch.text.len()).sum::<usize>();
            // Half of it, since three bytes of UTF-8 may be two in UTF-16.
            if plan.bytes / 2 > matcher.options.max_bytes {
                return Err(RefusalReason::TooLarge.into());
            }
        }
        Ok(plan)
    }

    fn matcher(&self) -> &Matcher<'_> {
        self.check.matcher
    }

    /// Replaces what `new_text` has only because `old_text` has it by mistake: typographic characters
    /// that the file has in their plain form, and blanks at the end of lines that the file has without.
    /// Lines that both texts have stay the same in both.
    fn undo_mistakes(&mut self, plan: &mut Plan) -> Result<(), Error> {
        let found = self.check.found;
        let Some(first) = found.matches.first() else { return Ok(()) };
        if found.kind < MatchKind::TrailingBlanks {
            return Ok(());
        }
        let ComparedTexts { old, new, diff } = &self.texts;
        let changed = diff.get_or_init(|| LineDiff::new(old, new)).changed(new)?;
        let text = self.matcher().text;
        let mut forms = None;
        if found.kind >= MatchKind::Typography {
            plan.note(&self.unicode_notes(first)?);
            let matched = found.matches.iter().map(|found| slice(text, found.range.clone()));
            let matched = matched.collect::<Result<Vec<_>, Error>>()?.into_iter();
            forms = Some(PlainForms::new(old, matched, new));
        }
        let end = first.range.end + trailing_blanks(text, first.range.end);
        let matched = slice(text, first.range.start..end)?;
        let (mut right, mut copied) = (String::with_capacity(new.len()), 0);
        for range in changed {
            right.push_str(str_slice(new, copied..range.start)?);
            copied = range.end;
            let bare = whitespace::without_mistaken_blanks(old, matched, str_slice(new, range)?);
            for line in bare.split_inclusive('\n') {
                let fixed = forms.as_ref().map_or(Cow::Borrowed(line), |forms| forms.of_line(line));
                if let Cow::Owned(_) = fixed {
                    plan.note(&[normalize::TYPOGRAPHY_NOTE]);
                }
                right.push_str(&fixed);
            }
        }
        right.push_str(str_slice(new, copied..)?);
        self.texts.new = right;
        Ok(())
    }

    /// `new_text` fitted to a match: as for an earlier match with the same surroundings, or anew.
    fn fitted<'f>(
        &self,
        matched: &TextMatch,
        is_first: bool,
        fitted: &'f mut FittedTexts,
        plan: &mut Plan,
    ) -> Result<&'f FittedText, LocateError> {
        let (text, ComparedTexts { old, new, .. }) = (self.matcher().text, &self.texts);
        let surroundings = Surroundings {
            mappings: matched.mappings.clone(),
            following: Following::at(text, matched.range.end),
            shared: SharedBlanks::new(text, &matched.range, old, new),
        };
        if fitted.get(&surroundings).is_none() {
            fitted.reindented = fitted.reindented.saturating_add(old.len() + new.len());
            if fitted.reindented > MAX_REINDENTED && !is_first {
                return Err(RefusalReason::TooMuchReindenting.into());
            }
            check_stop(self.matcher().call)?;
            let new = self.fit(matched, surroundings.clone())?;
            if is_first
                && let Some(refusal) = self.check.refusal_at(&matched.range, &new.old, &new.new)?
            {
                return Err(refusal.into());
            }
            plan.note(&new.notes);
            fitted.add(new);
        }
        fitted.get(&surroundings).ok_or_else(|| out_of_range().into())
    }

    /// Notes on what a typographic match ignored besides punctuation and blanks.
    fn unicode_notes(&self, matched: &TextMatch) -> Result<Vec<&'static str>, Error> {
        let old_text = &self.check.edit.old_text;
        let matched = slice(self.matcher().text, matched.range.clone())?;
        let mut notes = Vec::new();
        if old_text.contains(REPLACEMENT_CHARACTER) && str::from_utf8(matched).is_err() {
            notes
                .push("U+FFFD in the old text was taken for bytes of the file that are not UTF-8.");
        }
        let matched = String::from_utf8_lossy(matched);
        if is_nfc(&matched) != is_nfc(old_text) {
            notes.push("The file has letters in another Unicode form; those that stay were kept.");
        }
        Ok(notes)
    }

    /// Fits `new_text` to a match and its surroundings.
    fn fit(
        &self,
        matched: &TextMatch,
        surroundings: Surroundings,
    ) -> Result<FittedText, LocateError> {
        let (texts, kind) = (&self.texts, self.check.found.kind);
        let mut notes = Vec::new();
        let undecided = || {
            RefusalReason::UndecidedIndentation(NearMatch { kind, range: matched.range.clone() })
        };
        let inner = self.without_shared_blanks(matched, surroundings.shared)?;
        let mut inner = inner.ok_or_else(undecided)?;
        if surroundings.shared.lead > 0 {
            notes.push(whitespace::INDENTATION_NOTE);
        } else if let Some(indented) = self.below_lone_line(matched, &inner)? {
            notes.push(lone_line::NOTE);
            inner = Cow::Owned(indented);
        }
        let fit = match self.matcher().options.source {
            TextSource::Arguments => TerminatorFit::new(&texts.old, &inner, surroundings.following),
            TextSource::Hunk => TerminatorFit::Unchanged,
        };
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
                notes.push("The new text was used as it is, since it is indented as the file is.");
            } else if matched.converts_tabs() {
                notes.push("The new text was indented with the kind of blanks that the file has.");
            }
            reindented
        } else {
            Reindented { old: texts.old.clone(), new: new.to_string(), is_moved: true }
        };
        let kind = kind.max(MatchKind::LineEndings);
        let normalized_old = self.matcher().normalize(reindented.old.as_bytes(), kind)?;
        // Lines that are shifted together differ where they did before.
        let is_shared = new.len() == texts.new.len()
            && matches!(new, Cow::Borrowed(_))
            && reindented.is_moved
            && !matched.converts_tabs();
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
    fn without_shared_blanks(
        &self,
        matched: &TextMatch,
        shared: SharedBlanks,
    ) -> Result<Option<Cow<'_, str>>, Error> {
        let (kind, ComparedTexts { old, new, .. }) = (self.check.found.kind, &self.texts);
        let inner = shared.inner(new).ok_or_else(out_of_range)?;
        let blanks = whitespace::indentation_before(self.matcher().text, matched.range.start);
        let is_behind = !blanks.is_empty() && !old.starts_with(char::is_whitespace);
        // Up to line endings the match is exact, and new_text is taken as it is.
        if !is_behind || !matches!(kind, MatchKind::TrailingBlanks | MatchKind::Typography) {
            return Ok(Some(Cow::Borrowed(inner)));
        }
        if shared.lead > 0 {
            let mut lines = inner.lines().skip(1).filter(|line| !line.trim().is_empty());
            let is_whole = lines.all(|line| line.starts_with(blanks));
            return Ok(is_whole.then_some(Cow::Borrowed(inner)));
        }
        if inner.starts_with([' ', '\t']) || (inner.is_empty() && old.ends_with('\n')) {
            return Ok(None);
        }
        Ok(Some(Cow::Borrowed(inner)))
    }

    /// `new` with the indentation that its further lines lack, where `old_text` is one line without its
    /// own.
    fn below_lone_line(
        &self,
        matched: &TextMatch,
        new: &str,
    ) -> Result<Option<String>, LocateError> {
        let (text, kind, old) = (self.matcher().text, self.check.found.kind, &self.texts.old);
        let range = &matched.range;
        let indent = whitespace::indentation_before(text, range.start);
        let is_whole = old.ends_with('\n') || Following::at(text, range.end) != Following::Text;
        if kind == MatchKind::Indentation
            || self.check.found.matches.len() > 1
            || indent.is_empty()
            || !is_whole
            || [old, new].iter().any(|text| text.starts_with(char::is_whitespace))
            || count_filled_lines(old) != 1
            || count_filled_lines(new) < 2
        {
            return Ok(None);
        }
        let end = range.end.saturating_add(AROUND_BYTES).min(text.len());
        let below = String::from_utf8_lossy(slice(text, range.end..end)?);
        let line = LoneLine { indent, new, below: &below };
        match line.decide() {
            FurtherLines::AsInFile => Ok(None),
            FurtherLines::Stripped => Ok(Some(line.indented())),
            FurtherLines::Undecided => {
                let readings = [line.indented(), new.to_owned()];
                let readings = readings.map(|reading| format!("{indent}{reading}"));
                let near = NearMatch { kind, range: range.clone() };
                Err(RefusalReason::UndecidedFurtherLines { near, readings }.into())
            }
        }
    }

    /// Decides how `new_text` is indented in a match with another indentation.
    fn reindent(
        &self,
        old: &str,
        new: &str,
        matched: &TextMatch,
    ) -> Result<Option<Reindented>, Error> {
        let (text, range) = (self.matcher().text, &matched.range);
        let start = range.start.saturating_sub(AROUND_BYTES);
        let end = range.end.saturating_add(AROUND_BYTES).min(text.len());
        let above = String::from_utf8_lossy(slice(text, start..range.start)?);
        let below = String::from_utf8_lossy(slice(text, range.end..end)?);
        let above = match above.split_once('\n') {
            // The first line may be cut.
            Some((_, rest)) if start > 0 => rest,
            None if start > 0 => "",
            _ => &above,
        };
        let mappings = &matched.mappings;
        Ok(ReindentInput { old, new, mappings, around: [above, &below] }.decide())
    }

    /// Adds the patches of one match.
    fn add_patches(
        &self,
        fitted: &FittedText,
        matched: &Range<usize>,
        patches: &mut Vec<Patch>,
    ) -> Result<(), LocateError> {
        let text = self.matcher().text;
        let file = self.matcher().normalize(slice(text, matched.clone())?, fitted.kind)?;
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
                    patches.push(Patch { match_start, range: inner, text: new.into_bytes() });
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
        let text = self.matcher().text;
        let blanks = trailing_blanks(text, range.end);
        // Behind the match they are replaced only with whole lines: a part of a line is replaced
        // exactly as given.
        let has_lines = new.contains('\n') || whitespace::follows_indentation(text, matched.start);
        let is_within =
            range.end + blanks <= matched.end || (has_lines && !self.matcher().options.replace_all);
        let before = str_slice(new, ..part.end)?;
        let inserted = str_slice(new, part.clone())?;
        let after = str_slice(new, part.end..)?;
        if blanks == 0 || !is_within || !(after.is_empty() || after.starts_with('\n')) {
            return Ok((part, range));
        }
        let end = range.end + blanks;
        if range.is_empty() && inserted.starts_with('\n') && !is_line_start(text, range.start) {
            // Lines are added below a line that stays as it is.
            return Ok((part, end..end));
        }
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
        let kept = replacement_character_ranges(old, self.matcher().is_utf16);
        let count = new.matches(REPLACEMENT_CHARACTER).count();
        if kept.is_empty() || count > kept.len() {
            // In a text without such bytes it is an ordinary character.
            return Ok(str::from_utf8(self.matcher().text).is_ok().then(whole));
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

/// The patches of one replacement.
pub(super) struct Plan {
    pub(super) patches: Vec<Patch>,
    /// Bytes of all patches of the call so far.
    pub(super) bytes: usize,
    pub(super) notes: Vec<String>,
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

/// The texts of a replacement as they are compared, with LF line endings.
pub(super) struct ComparedTexts {
    pub(super) old: String,
    pub(super) new: String,
    diff: OnceCell<LineDiff>,
}

impl ComparedTexts {
    /// The texts for a file with these line endings.
    pub(super) fn new(edit: &Replacement, endings: &LineEndings) -> ComparedTexts {
        let with_lf = |text: &str| match endings {
            LineEndings::None => text.to_owned(),
            _ => text.replace("\r\n", "\n"),
        };
        let (mut old, new) = (with_lf(&edit.old_text), with_lf(&edit.new_text));
        // Normalizing the result of `\r\r\n` again would match other bytes.
        if old.contains("\r\n") {
            old.clone_from(&edit.old_text);
        }
        ComparedTexts { old, new, diff: OnceCell::new() }
    }
}

/// What determines how `new_text` is fitted to a match.
#[derive(Clone, PartialEq, Eq)]
struct Surroundings {
    mappings: Vec<IndentMapping>,
    following: Following,
    shared: SharedBlanks,
}

/// `new_text` fitted to all matches with the same surroundings, and where it differs from `old_text`.
struct FittedText {
    surroundings: Surroundings,
    kind: MatchKind,
    /// The text as in the file, apart from differences that `kind` ignores.
    old: String,
    normalized_old: Normalized,
    new: String,
    regions: Vec<DiffRegion>,
    notes: Vec<&'static str>,
}

/// The last fitted texts, the newest first.
#[derive(Default)]
struct FittedTexts {
    texts: Vec<FittedText>,
    /// Bytes of texts that were fitted so far.
    reindented: usize,
}

impl FittedTexts {
    /// How many are kept: matches may alternate in their indentation and in the text after them.
    const MAX: usize = 8;

    fn get(&self, surroundings: &Surroundings) -> Option<&FittedText> {
        self.texts.iter().find(|fitted| fitted.surroundings == *surroundings)
    }

    fn add(&mut self, fitted: FittedText) {
        self.texts.truncate(FittedTexts::MAX - 1);
        self.texts.insert(0, fitted);
    }
}
