//! Whether an edit was made before.
//!
//! An edit that is repeated finds its `old_text` gone. If another place is like it but for what a
//! kind overlooks, that place is not meant. So before such a place is changed, `new_text` is looked
//! for, and so is the place from which `old_text` may have been copied.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use crate::edit::checked;
use crate::edit::endings::Endings;
use crate::edit::fold::Folded;
use crate::edit::indent::indentation;
use crate::edit::ladder::{Found, Place};
use crate::edit::occurrences::Occurrences;
use crate::edit::refusal::is_whole_lines;
use crate::edit::replacement::{MatchKind, Matching, Options, Replacement, go_on};
use crate::edit::site::Site;
use crate::error::Error;

/// Letters and digits that a text of whole lines must have to prove that the edit was made; of a
/// part of a line more are needed.
const LETTERS_OF_LINES: usize = 4;
const LETTERS_OF_PART: usize = 8;

/// The same for lines that are only like `new_text`.
const LETTERS_OF_ALIKE: usize = 16;

/// A line that occurs more often, however it is indented, says nothing about its place.
const MAX_SAME: usize = 3;

/// How far lines of a block may have moved against each other, in lines.
const MAX_MOVED: usize = 8;

/// Looks for the edits of a call that were made before.
pub(super) struct Past<'p, 'a> {
    pub(super) site: &'p mut Site<'a>,
    pub(super) change: &'p Replacement,
    pub(super) found: &'p Found,
    pub(super) evidence: Evidence,
}

/// What speaks for the place besides `old_text`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evidence {
    Text,
    /// Line numbers were taken off the texts, and the place has these numbers.
    Numbers,
    /// Line numbers were taken off the texts, and the place has others.
    OtherNumbers,
}

impl Past<'_, '_> {
    /// Where `new_text` is outside of the places that were found, if that can only be because the
    /// edit was made there.
    pub(super) fn elsewhere(&mut self, endings: &Endings) -> Result<Option<Range<usize>>, Error> {
        if self.change.new_text.trim().is_empty() {
            return Ok(None);
        }
        let kind = match self.found.kind {
            kind if self.evidence == Evidence::OtherNumbers => kind,
            // The same text with other line endings, where not all are alike.
            MatchKind::LineEndings if matches!(endings, Endings::Mixed(_)) => MatchKind::Exact,
            MatchKind::Exact | MatchKind::LineEndings => return Ok(None),
            MatchKind::TrailingBlanks => MatchKind::LineEndings,
            MatchKind::Typography => MatchKind::TrailingBlanks,
            MatchKind::Indentation => MatchKind::Typography,
        };
        match self.elsewhere_exactly(kind)? {
            Some(done) => Ok(Some(done)),
            None => self.elsewhere_alike(),
        }
    }

    /// Where `new_text` is at a kind before that at which `old_text` was found.
    fn elsewhere_exactly(&mut self, kind: MatchKind) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.change;
        let options =
            Options { replace_all: false, matching: Matching::Safe, ..*self.site.options };
        let found = self.site.haystack.find_at(kind, new_text, &options, self.site.call)?;
        let letters = new_text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let lines = new_text.lines().filter(|line| !line.trim().is_empty()).count();
        let is_part_of_old = old_text.contains(new_text.trim());
        let text = self.site.haystack.text;
        for place in &found.places {
            let at = &place.range;
            // They are in order and apart, or only one.
            let before = self.found.places.partition_point(|place| place.range.start <= at.start);
            let before = before.checked_sub(1).and_then(|last| self.found.places.get(last));
            if before.is_some_and(|place| contains(&place.range, at)) {
                continue;
            }
            let is_proof = if self.found.kind == MatchKind::Indentation {
                is_line_start(text, at.start) && is_whole_lines(text, at)
            } else if is_whole_lines(text, at) {
                letters >= LETTERS_OF_LINES && (!is_part_of_old || lines > 1)
            } else {
                letters >= LETTERS_OF_PART && !is_part_of_old && is_word(text, at)
            };
            if is_proof {
                return Ok(Some(at.clone()));
            }
        }
        Ok(None)
    }

    /// Where `new_text` is for the comparison that found `old_text`: round the place that was found,
    /// or at a single other place, if it is long enough to be no coincidence.
    fn elsewhere_alike(&mut self) -> Result<Option<Range<usize>>, Error> {
        let Replacement { old_text, new_text } = self.change;
        let kind = self.found.kind;
        if kind < MatchKind::TrailingBlanks {
            return Ok(None);
        }
        let options =
            Options { replace_all: false, matching: Matching::Safe, ..*self.site.options };
        let found = self.site.haystack.find_at(kind, new_text, &options, self.site.call)?;
        let lines = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        let olds = &self.found.places;
        let is_longer = lines(new_text) > lines(old_text);
        let round = found.places.iter().find(|place| {
            let is_round =
                |old: &Place| contains(&place.range, &old.range) && place.range != old.range;
            is_longer && olds.iter().any(is_round)
        });
        if let Some(round) = round {
            return Ok(Some(round.range.clone()));
        }
        let is_apart = |place: &&Place| {
            let Range { start, end } = place.range;
            olds.iter().all(|old| end <= old.range.start || old.range.end <= start)
        };
        let mut apart = found.places.iter().filter(is_apart);
        let (Some(place), None) = (apart.next(), apart.next()) else { return Ok(None) };
        let letters = new_text.chars().filter(|letter| letter.is_alphanumeric()).count();
        let text = self.site.haystack.text;
        let is_proof = lines(new_text) > 1
            && letters >= LETTERS_OF_ALIKE
            && is_line_start(text, place.range.start)
            && is_whole_lines(text, &place.range)
            && !old_text.contains(new_text.trim());
        Ok(is_proof.then(|| place.range.clone()))
    }

    /// Where lines of `old_text` are with their own indentation, outside of the place that was
    /// found without it.
    pub(super) fn origin(&self, place: &Place) -> Result<Option<Range<usize>>, Error> {
        if self.found.kind != MatchKind::Indentation {
            return Ok(None);
        }
        let text = self.site.haystack.text;
        let mut olds: HashMap<&[u8], Same> = HashMap::new();
        let (mut count, lines) = (0_usize, self.change.old_text.lines().count());
        for (at, line) in self.change.old_text.lines().enumerate() {
            let content = line.as_bytes().trim_ascii();
            if content.is_empty() {
                continue;
            }
            count += 1;
            if line.chars().filter(|letter| letter.is_alphanumeric()).count() > 2 {
                let indentation = indentation(line).as_bytes();
                let old = Same { at, indentation, count: 0, hits: Vec::new() };
                olds.entry(content).or_insert(old);
            }
        }
        let mut start = 0;
        for (number, line) in text.split(|&byte| byte == b'\n').enumerate() {
            if number % 16_384 == 0 {
                go_on(self.site.call)?;
            }
            let content = line.trim_ascii();
            if let Some(old) = olds.get_mut(content).filter(|_| !content.is_empty()) {
                old.count += 1;
                let is_same = line.strip_prefix(old.indentation);
                let is_same = is_same.is_some_and(|rest| rest.starts_with(content));
                if is_same && !place.range.contains(&start) && old.hits.len() < MAX_SAME {
                    old.hits.push((number, start..start + line.len()));
                }
            }
            start += line.len() + 1;
        }
        let rare = olds.into_values().filter(|old| old.count <= MAX_SAME);
        let mut hits: Vec<(usize, Range<usize>)> = rare
            .flat_map(|old| {
                let at = old.at;
                // Sorted by where the block would begin; counted from its end to stay above 0.
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

    /// Whether `new`, as it is to stand at the place, is there already, `old` being a part of it.
    pub(super) fn is_there(
        &self,
        place: &Range<usize>,
        old: &str,
        new: &str,
    ) -> Result<bool, Error> {
        let kind = self.found.kind.min(MatchKind::Typography);
        let is_exact = self.found.kind == MatchKind::Exact && self.evidence == Evidence::Text;
        if is_exact || new.len() <= old.len() {
            return Ok(false);
        }
        let Site { haystack, call, .. } = &*self.site;
        let fold = |text: &[u8]| Folded::new(text, kind, haystack.wide, call);
        let (old, new) = (fold(old.as_bytes())?, fold(new.as_bytes())?);
        let is_longer = new.text.len() > old.text.len();
        if !is_longer || memchr::memmem::find(&new.text, &old.text).is_none() {
            return Ok(false);
        }
        let margin = 2 * new.text.len() + 64;
        let start = place.start.saturating_sub(margin);
        let end = place.end.saturating_add(margin).min(haystack.text.len());
        let file = fold(checked::bytes(haystack.text, start..end)?)?;
        let mut occurrences = Occurrences::of(&new.text, &file.text);
        for at in &mut occurrences {
            let begin = start + file.earliest(at);
            let finish = start + file.latest(at + new.text.len());
            if begin <= place.start && place.end <= finish {
                return Ok(true);
            }
            if begin > place.start {
                return Ok(false);
            }
        }
        occurrences.check()?;
        Ok(false)
    }
}

/// Where a line of `old_text` is, and where the file has the same.
struct Same<'a> {
    at: usize,
    indentation: &'a [u8],
    /// How often the file has it, however it is indented.
    count: usize,
    /// The number and the range of lines that are indented alike.
    hits: Vec<(usize, Range<usize>)>,
}

fn contains(outer: &Range<usize>, inner: &Range<usize>) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

fn is_line_start(text: &[u8], at: usize) -> bool {
    at.checked_sub(1).is_none_or(|before| text.get(before) == Some(&b'\n'))
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
