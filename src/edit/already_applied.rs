//! Whether an edit was already applied.
//!
//! A repeated edit finds its `old_text` gone. Another text that matches it only after normalization
//! is not the intended one. So before such a match is replaced, `new_text` is looked for, and so
//! are the lines from which `old_text` may have been copied.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use crate::edit::fit::ComparedTexts;
use crate::edit::matcher::{MatchSet, Matcher, Occurrences, TextMatch};
use crate::edit::refusal::{LocateError, NearMatch, RefusalReason};
use crate::edit::replacement::{MatchKind, Replacement, check_stop};
use crate::edit::text::{
    LineEndings, count_filled_lines, count_letters, indentation, is_line_start, is_whole_lines,
    line_number, slice,
};
use crate::edit::whitespace::{BlankMatch, BlankVerdict};
use crate::error::Error;

/// Letters and digits that `new_text` must have, as whole lines or as a part of a line, for finding
/// it to prove that the edit was applied.
const MIN_LETTERS_OF_LINES: usize = 4;
const MIN_LETTERS_OF_PART: usize = 8;

/// The same for lines that match `new_text` only normalized.
const MIN_LETTERS_OF_NORMALIZED: usize = 16;

/// Bytes of a `new_text` whose lines are compared with the file at any indentation.
const MAX_ALIGNED_BYTES: usize = 16 << 10;

/// A line that occurs more often, at any indentation, does not identify a place.
const MAX_REPEATS: usize = 3;

/// The fewest lines of an `old_text` of which one may have changed since it was quoted.
const MIN_CHANGED_LINES: usize = 4;

/// How many lines the lines of a block may have moved relative to each other.
const MAX_MOVED: usize = 8;

/// Checks one replacement and the matches that were found for it.
pub(super) struct AppliedCheck<'p, 'a> {
    pub(super) matcher: &'p mut Matcher<'a>,
    pub(super) edit: &'p Replacement,
    pub(super) found: &'p MatchSet,
    pub(super) evidence: NumberEvidence,
}

/// What identifies the match besides `old_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NumberEvidence {
    None,
    /// Line numbers were removed from the texts, and the match has these numbers.
    Numbers,
    /// Line numbers were removed from the texts, and the match has others.
    OtherNumbers,
}

impl AppliedCheck<'_, '_> {
    /// Refuses to replace a match that is not exact if the edit may have been applied already, or be
    /// meant for another place.
    pub(super) fn refuse(
        &mut self,
        texts: &ComparedTexts,
        endings: &LineEndings,
    ) -> Result<(), LocateError> {
        let kind = self.found.kind;
        let is_sure = kind == MatchKind::Exact && self.evidence != NumberEvidence::OtherNumbers;
        let Some(first) = self.found.matches.first().filter(|_| !is_sure) else { return Ok(()) };
        let (text, range) = (self.matcher.text, &first.range);
        let near = NearMatch { kind, range: range.clone() };
        if kind == MatchKind::Indentation && self.edit.new_text.trim().is_empty() {
            return Err(RefusalReason::UndecidedIndentation(near).into());
        }
        if kind >= MatchKind::TrailingBlanks {
            let blank_match = BlankMatch { text, range, old: &texts.old, new: &texts.new };
            match blank_match.verdict()? {
                BlankVerdict::Apply => {}
                BlankVerdict::AlreadyApplied => {
                    let at = range.start;
                    return Err(RefusalReason::AlreadyApplied { at, near: None }.into());
                }
                BlankVerdict::Unclear(why) => {
                    return Err(RefusalReason::Unclear { near, why: why.into() }.into());
                }
            }
        }
        if let Some(applied) = self.find_elsewhere(endings)? {
            let near = Some(near);
            return Err(RefusalReason::AlreadyApplied { at: applied.start, near }.into());
        }
        let origin = match self.find_origin(first)? {
            None => self.find_changed_origin(first)?,
            found => found,
        };
        if let Some(origin) = origin {
            let line = line_number(text, origin.start);
            let why = format!(
                "line {line} has the indentation of the old text, so another place may be meant"
            );
            return Err(RefusalReason::Unclear { near, why: why.into() }.into());
        }
        Ok(())
    }

    /// A range outside of the matches that has `new_text`, if it proves that the edit was applied
    /// there.
    fn find_elsewhere(&mut self, endings: &LineEndings) -> Result<Option<Range<usize>>, Error> {
        if self.edit.new_text.trim().is_empty() {
            return Ok(None);
        }
        let kind = match self.found.kind {
            kind if self.evidence == NumberEvidence::OtherNumbers => kind,
            // The same text with other line endings, where not all are alike.
            MatchKind::LineEndings if matches!(endings, LineEndings::Mixed(_)) => MatchKind::Exact,
            MatchKind::Exact | MatchKind::LineEndings => return Ok(None),
            MatchKind::TrailingBlanks => MatchKind::LineEndings,
            MatchKind::Typography => MatchKind::TrailingBlanks,
            MatchKind::Indentation => MatchKind::Typography,
        };
        match self.find_stricter(kind)? {
            None => self.find_same_kind(),
            done => Ok(done),
        }
    }

    /// A range that matches `new_text` with a stricter strategy than the one that found `old_text`.
    fn find_stricter(&mut self, kind: MatchKind) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.edit;
        let options = self.matcher.options.to_search();
        let found = self.matcher.find_at(kind, new_text, &options)?;
        let (letters, lines) = (count_letters(new_text), count_filled_lines(new_text));
        let is_part_of_old = old_text.contains(new_text.trim());
        let text = self.matcher.text;
        for matched in &found.matches {
            let at = &matched.range;
            // The matches are in order and disjoint, or there is only one.
            let before =
                self.found.matches.partition_point(|matched| matched.range.start <= at.start);
            let before = before.checked_sub(1).and_then(|last| self.found.matches.get(last));
            if before.is_some_and(|matched| contains(&matched.range, at)) {
                continue;
            }
            let is_proof = if self.found.kind == MatchKind::Indentation {
                is_line_start(text, at.start) && is_whole_lines(text, at)
            } else if is_whole_lines(text, at) {
                letters >= MIN_LETTERS_OF_LINES && (!is_part_of_old || lines > 1)
            } else {
                letters >= MIN_LETTERS_OF_PART && !is_part_of_old && is_word(text, at)
            };
            if is_proof {
                return Ok(Some(at.clone()));
            }
        }
        Ok(None)
    }

    /// A range that matches `new_text` with the strategy that found `old_text`: around the match, or
    /// the only one elsewhere if it is too long to be a coincidence.
    fn find_same_kind(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.edit;
        let kind = self.found.kind;
        if kind < MatchKind::TrailingBlanks {
            return Ok(None);
        }
        let options = self.matcher.options.to_search();
        let found = self.matcher.find_at(kind, new_text, &options)?;
        let (olds, lines) = (&self.found.matches, count_filled_lines(new_text));
        let is_longer = lines > count_filled_lines(old_text);
        let round = found.matches.iter().find(|matched| {
            let is_round = |old: &TextMatch| {
                contains(&matched.range, &old.range) && matched.range != old.range
            };
            is_longer && olds.iter().any(is_round)
        });
        if let Some(round) = round {
            return Ok(Some(round.range.clone()));
        }
        let is_apart = |matched: &&TextMatch| {
            let Range { start, end } = matched.range;
            olds.iter().all(|old| end <= old.range.start || old.range.end <= start)
        };
        let mut apart = found.matches.iter().filter(is_apart);
        let (Some(matched), None) = (apart.next(), apart.next()) else { return Ok(None) };
        let text = self.matcher.text;
        let is_proof = lines > 1
            && count_letters(new_text) >= MIN_LETTERS_OF_NORMALIZED
            && is_line_start(text, matched.range.start)
            && is_whole_lines(text, &matched.range)
            && !old_text.contains(new_text.trim());
        Ok(is_proof.then(|| matched.range.clone()))
    }

    /// Lines outside of the match that have the content and the indentation of lines of `old_text`,
    /// if the match has another indentation.
    fn find_origin(&self, matched: &TextMatch) -> Result<Option<Range<usize>>, Error> {
        if self.found.kind != MatchKind::Indentation {
            return Ok(None);
        }
        let text = self.matcher.text;
        let mut olds: HashMap<&[u8], OldLine> = HashMap::new();
        let (mut count, lines) = (0_usize, self.edit.old_text.lines().count());
        for (at, line) in self.edit.old_text.lines().enumerate() {
            let content = line.as_bytes().trim_ascii();
            if content.is_empty() {
                continue;
            }
            count += 1;
            if count_letters(line) > 2 {
                let indentation = indentation(line).as_bytes();
                let old = OldLine { at, indentation, count: 0, hits: Vec::new() };
                olds.entry(content).or_insert(old);
            }
        }
        let mut start = 0;
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if number % 16_384 == 0 {
                check_stop(self.matcher.call)?;
            }
            let content = line.trim_ascii();
            if let Some(old) = olds.get_mut(content).filter(|_| !content.is_empty()) {
                old.count += 1;
                let is_same = line.strip_prefix(old.indentation);
                let is_same = is_same.is_some_and(|rest| rest.starts_with(content));
                if is_same && !matched.range.contains(&start) && old.hits.len() < MAX_REPEATS {
                    old.hits.push((number, start..start + line.len()));
                }
            }
            start += line.len() + 1;
        }
        let rare = olds.into_values().filter(|old| old.count <= MAX_REPEATS);
        let mut hits: Vec<(usize, Range<usize>)> = rare
            .flat_map(|old| {
                let at = old.at;
                // Sorted by where the block would begin, plus its length to stay above 0.
                old.hits.into_iter().map(move |(number, range)| (number + lines - at, range))
            })
            .collect();
        hits.sort_by_key(|(first, range)| (*first, range.start));
        let needed = count.div_ceil(4).max(1);
        for (index, (first, range)) in hits.iter().enumerate() {
            let near = hits.iter().skip(index).take_while(|(other, _)| other - first <= MAX_MOVED);
            if near.count() >= needed {
                return Ok(Some(range.clone()));
            }
        }
        Ok(None)
    }

    /// The first line, outside of the match, of lines that are `old_text` with its indentation but for
    /// one in four: these may have changed since they were quoted.
    fn find_changed_origin(&self, matched: &TextMatch) -> Result<Option<Range<usize>>, Error> {
        if self.found.kind != MatchKind::Indentation {
            return Ok(None);
        }
        let mut olds: HashMap<&[u8], Vec<usize>> = HashMap::new();
        let mut count = 0_usize;
        for (at, line) in self.edit.old_text.lines().enumerate() {
            if !line.trim().is_empty() {
                count += 1;
                let same = olds.entry(line.trim_end().as_bytes()).or_default();
                if same.len() < MAX_REPEATS {
                    same.push(at);
                }
            }
        }
        if count < MIN_CHANGED_LINES {
            return Ok(None);
        }
        let needed = count - count / MIN_CHANGED_LINES;
        // How many lines are where they would be if `old_text` began at a line of the file.
        let mut equal: HashMap<usize, usize> = HashMap::new();
        let mut start = 0;
        for (number, line) in self.matcher.text.split(|&byte| byte == b'\n').enumerate() {
            if number % 16_384 == 0 {
                check_stop(self.matcher.call)?;
            }
            let range = start..start + line.len();
            start += line.len() + 1;
            let Some(same) = olds.get(line.trim_ascii_end()) else { continue };
            if matched.range.contains(&range.start) {
                continue;
            }
            for first in same.iter().filter_map(|at| number.checked_sub(*at)) {
                let equal = equal.entry(first).or_default();
                *equal += 1;
                if *equal == needed {
                    return Ok(Some(range));
                }
            }
        }
        Ok(None)
    }

    /// The refusal if the match is part of `new` already, `old` being part of `new`.
    pub(super) fn refusal_at(
        &self,
        matched: &Range<usize>,
        old: &str,
        new: &str,
    ) -> Result<Option<RefusalReason>, Error> {
        if self.found.kind == MatchKind::Exact && self.evidence == NumberEvidence::None {
            if self.matcher.options.replace_all {
                return Ok(None);
            }
            let line = line_of_added(self.matcher.text, matched, old, new)?;
            return Ok(line.map(RefusalReason::AlreadyAdded));
        }
        let applied = RefusalReason::AlreadyApplied { at: matched.start, near: None };
        Ok(self.is_applied_at(matched, old, new)?.then_some(applied))
    }

    fn is_applied_at(&self, matched: &Range<usize>, old: &str, new: &str) -> Result<bool, Error> {
        let kind = self.found.kind.min(MatchKind::Typography);
        if new.len() <= old.len() {
            return Ok(false);
        }
        if self.found.kind == MatchKind::Indentation {
            // At any indentation: in a file that mixes tabs and spaces no single shift maps all lines.
            let lines = WholeLines { old, new, trim: <[u8]>::trim_ascii };
            let added = lines.added_around(self.matcher.text, matched)?;
            if added.is_some_and(|added| added.letters >= MIN_LETTERS_OF_LINES) {
                return Ok(true);
            }
        }
        let normalize = |text: &[u8]| self.matcher.normalize(text, kind);
        let (old, new) = (normalize(old.as_bytes())?, normalize(new.as_bytes())?);
        let is_longer = new.text.len() > old.text.len();
        if !is_longer || memchr::memmem::find(&new.text, &old.text).is_none() {
            return Ok(false);
        }
        let margin = 2 * new.text.len() + 64;
        let start = matched.start.saturating_sub(margin);
        let end = matched.end.saturating_add(margin).min(self.matcher.text.len());
        let text = self.matcher.text;
        let file = normalize(slice(text, start..end)?)?;
        let mut occurrences = Occurrences::new(&new.text, &file.text, self.matcher.call);
        while let Some(at) = occurrences.find_next()? {
            let begin = start + file.source_start(at);
            let finish = start + file.source_end(at + new.text.len());
            if begin <= matched.start && matched.end <= finish {
                return Ok(true);
            }
            if begin > matched.start {
                return Ok(false);
            }
        }
        Ok(false)
    }
}

/// The line, from 1, at which the file has all lines of `new`, if these are lines added to those of
/// `old`, which match byte for byte. They must have words: a bracket may be meant to be added to
/// another.
pub(super) fn line_of_added(
    text: &[u8],
    matched: &Range<usize>,
    old: &str,
    new: &str,
) -> Result<Option<usize>, Error> {
    let lines = WholeLines { old, new, trim: <[u8]>::trim_ascii_end };
    let added = lines.added_around(text, matched)?;
    let added = added.filter(|added| added.letters >= MIN_LETTERS_OF_PART);
    Ok(added.map(|added| line_number(text, matched.start).saturating_sub(added.above)))
}

/// Texts of whole lines that may differ in lines that are added only.
struct WholeLines<'a> {
    old: &'a str,
    new: &'a str,
    /// What of a line is compared.
    trim: fn(&[u8]) -> &[u8],
}

/// Lines of the new text that stand round a match of the old one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct AddedLines {
    /// How many letters and digits they have.
    letters: usize,
    /// How many of them are above the match.
    above: usize,
}

impl WholeLines<'_> {
    /// The added lines, if the lines around the match are those of the new text.
    fn added_around(
        &self,
        text: &[u8],
        matched: &Range<usize>,
    ) -> Result<Option<AddedLines>, Error> {
        let WholeLines { old, new, trim } = *self;
        if new.len() > MAX_ALIGNED_BYTES {
            return Ok(None);
        }
        let is_newline = |byte: &u8| *byte == b'\n';
        let old: Vec<&[u8]> = old.lines().map(|line| trim(line.as_bytes())).collect();
        let new: Vec<&[u8]> = new.lines().map(|line| trim(line.as_bytes())).collect();
        let below = slice(text, matched.start..)?.split(is_newline).take(new.len());
        let below: Vec<&[u8]> = below.map(trim).collect();
        let above = slice(text, ..matched.start)?.rsplit(is_newline).skip(1).take(new.len());
        let above: Vec<&[u8]> = above.map(trim).collect();
        let mut most = None;
        // For each line of `new` that may be the first line of `old`.
        for (first, part) in new.windows(old.len().max(1)).enumerate() {
            let (before, after) = new.split_at(first);
            let (_, behind) = after.split_at(part.len());
            let is_there = part == old
                && below.starts_with(after)
                && above.iter().take(first).eq(before.iter().rev());
            if is_there {
                let added = before.iter().chain(behind);
                let letters = added.map(|line| count_letters(&String::from_utf8_lossy(line))).sum();
                most = most.max(Some(AddedLines { letters, above: first }));
            }
        }
        Ok(most)
    }
}

/// A line of `old_text`, and the lines of the file with the same content.
struct OldLine<'a> {
    at: usize,
    indentation: &'a [u8],
    /// How often the file has it, at any indentation.
    count: usize,
    /// The number and the range of lines with the same indentation.
    hits: Vec<(usize, Range<usize>)>,
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

/// Whether a range does not begin or end within a word.
fn is_word(text: &[u8], at: &Range<usize>) -> bool {
    let is_letter = |at: Option<usize>| {
        at.and_then(|at| text.get(at))
            .is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii())
    };
    let splits = |at: usize| is_letter(at.checked_sub(1)) && is_letter(Some(at));
    !splits(at.start) && !splits(at.end)
}
