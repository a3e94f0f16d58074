//! The ladder: from exact bytes to indentation, the first kind at which `old_text` is found.

use std::ops::Range;

use crate::context::Call;
use crate::edit::checked;
use crate::edit::fold::{Folded, without_blanks};
use crate::edit::indent::{Blanks, Block, Fit, Relative};
use crate::edit::occurrences::Occurrences;
use crate::edit::replacement::{MatchKind, Matching, Options, go_on};
use crate::edit::undecodable::Wide;
use crate::error::Error;

/// Places are counted up to here; a text that occurs more often is "at least" so many times.
const MAX_COUNTED: usize = 1000;

/// Places that are looked at, and bytes, before the call is asked whether to go on.
const ROUNDS: usize = 4096;
const BYTES: usize = 1 << 20;

/// A text up to this length is kept folded for every kind, for the next change; of a longer one
/// only the last form is.
const KEPT_BYTES: usize = 8 << 20;

/// The most places that are replaced in one call.
pub(super) const MAX_REPLACED: usize = 1_000_000;

/// Where `old_text` was found.
pub(super) struct Found {
    pub(super) kind: MatchKind,
    pub(super) places: Vec<Place>,
    /// Whether the count ended early.
    pub(super) is_more: bool,
}

/// A range of the text that `old_text` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    /// How `old_text` becomes what stands there.
    pub(super) fit: Fit,
    /// Other ways in which it does.
    pub(super) others: Vec<Fit>,
}

/// The text that is searched, folded once for all changes.
pub(super) struct Haystack<'a> {
    pub(super) text: &'a [u8],
    pub(super) wide: Wide,
    folds: Folds,
    relative: Option<Relative>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(text: &'a [u8], wide: Wide) -> Haystack<'a> {
        Haystack { text, wide, folds: Folds::default(), relative: None }
    }

    /// The places of `old_text` at the first kind that has one.
    pub(super) fn find(
        &mut self,
        old_text: &str,
        options: &Options,
        call: &Call,
    ) -> Result<Option<Found>, Error> {
        self.find_up_to(MatchKind::Indentation, old_text, options, call)
    }

    /// The places of `old_text` at the first kind that has one, `last` being the last of them.
    pub(super) fn find_up_to(
        &mut self,
        last: MatchKind,
        old_text: &str,
        options: &Options,
        call: &Call,
    ) -> Result<Option<Found>, Error> {
        let last = if options.matching == Matching::Exact { MatchKind::Exact } else { last };
        let kinds = [
            MatchKind::Exact,
            MatchKind::LineEndings,
            MatchKind::TrailingBlanks,
            MatchKind::Typography,
            MatchKind::Indentation,
        ];
        for kind in kinds.into_iter().filter(|kind| *kind <= last) {
            let found = self.find_at(kind, old_text, options, call)?;
            if !found.places.is_empty() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The places of `old_text` at one kind.
    pub(super) fn find_at(
        &mut self,
        kind: MatchKind,
        old_text: &str,
        options: &Options,
        call: &Call,
    ) -> Result<Found, Error> {
        match kind {
            MatchKind::Exact => self.exact(old_text, options, call),
            MatchKind::Indentation => self.shifted(old_text, options, call),
            _ => self.folded(old_text, kind, options, call),
        }
    }

    fn exact(&self, old_text: &str, options: &Options, call: &Call) -> Result<Found, Error> {
        let needle = old_text.as_bytes();
        let scan = scan(self.text, needle, options.replace_all, call, |_| true)?;
        let places = scan.places.into_iter().map(|at| at..at + needle.len());
        let mut places: Vec<_> = places.map(Place::unshifted).collect();
        // Between `\r` and `\n` is no place for a line to begin or end: the next kind sees both.
        let splits = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.text.get(before));
            before == Some(&b'\r') && self.text.get(at) == Some(&b'\n')
        };
        let is_safe = options.matching == Matching::Safe;
        if is_safe && places.iter().any(|at| splits(at.range.start) || splits(at.range.end)) {
            places.clear();
        }
        Ok(Found { kind: MatchKind::Exact, places, is_more: scan.is_more })
    }

    fn folded(
        &mut self,
        old_text: &str,
        kind: MatchKind,
        options: &Options,
        call: &Call,
    ) -> Result<Found, Error> {
        let old = Folded::new(old_text.as_bytes(), kind, self.wide, call)?;
        let (text, wide) = (self.text, self.wide);
        let file = self.folds.at_step(text, kind, wide, call)?;
        let ends_in_blanks = old.ends_in_blanks();
        // A line of blanks is folded to its terminator, which must not be that of a line above.
        let has_blank_first = kind >= MatchKind::TrailingBlanks && begins_with_blank_line(old_text);
        let accept = |at: usize| {
            let end = at + old.text.len();
            let begins = !has_blank_first
                || at.checked_sub(1).is_none_or(|above| file.text.get(above) == Some(&b'\n'));
            let ends = !ends_in_blanks || file.ends_line(end);
            begins && ends && file.is_boundary(at) && file.is_boundary(end)
        };
        let scan = scan(&file.text, &old.text, options.replace_all, call, accept)?;
        let places = scan.places.into_iter().map(|at| {
            let (start, mut end) = (file.latest(at), file.earliest(at + old.text.len()));
            if ends_in_blanks {
                end = after_blanks(text, end, kind)?;
            }
            Ok(Place::unshifted(start..end))
        });
        let places = places.collect::<Result<_, Error>>()?;
        Ok(Found { kind, places, is_more: scan.is_more })
    }

    fn shifted(&mut self, old_text: &str, options: &Options, call: &Call) -> Result<Found, Error> {
        let kind = MatchKind::Typography;
        let Haystack { text, wide, folds, relative } = self;
        let file = folds.at_step(text, kind, *wide, call)?;
        let relative = match relative {
            Some(relative) => relative,
            None => relative.insert(Relative::of(&file.text, call)?),
        };
        let is_all = options.replace_all;
        let most = if is_all { MAX_REPLACED } else { MAX_COUNTED };
        let mut places: Vec<Place> = Vec::new();
        let mut is_more = false;
        for blanks in Blanks::of(old_text, text) {
            let Some(converted) = blanks.apply(old_text) else { continue };
            let old = Folded::new(converted.as_bytes(), kind, *wide, call)?;
            let with_same = blanks != Blanks::Same;
            let block = Block { file, relative, old: &old, with_same };
            let (hits, more) = block.find(most, is_all, call)?;
            is_more |= more;
            for (hit, shift) in hits {
                let (start, mut end) = (file.latest(hit.start), file.earliest(hit.end));
                if old.ends_in_blanks() {
                    end = after_blanks(text, end, kind)?;
                }
                let fit = Fit { blanks, shift };
                places.push(Place { range: start..end, fit, others: Vec::new() });
            }
        }
        let mut places = merged(places);
        if is_all {
            // From the left, as within each search.
            let mut end = 0;
            places.retain(|place| {
                let is_apart = place.range.start >= end;
                end = if is_apart { place.range.end } else { end };
                is_apart
            });
        }
        Ok(Found { kind: MatchKind::Indentation, places, is_more })
    }
}

/// The places in order, one for each range.
fn merged(mut places: Vec<Place>) -> Vec<Place> {
    // Stable: of several fits the first stays the first.
    places.sort_by_key(|place| (place.range.start, place.range.end));
    places.dedup_by(|next, place| {
        let is_same = next.range == place.range;
        if is_same {
            place.others.push(next.fit.clone());
        }
        is_same
    });
    places
}

/// A text as the kinds see it. Most texts have nothing that a later kind folds and an earlier
/// one does not: these are not folded again, which would take as much memory as the text.
#[derive(Default)]
struct Folds {
    folded: [Option<Folded>; 3],
    /// Which of them each kind sees, once it is known.
    seen: Option<[usize; 3]>,
}

impl Folds {
    fn at_step(
        &mut self,
        text: &[u8],
        kind: MatchKind,
        wide: Wide,
        call: &Call,
    ) -> Result<&Folded, Error> {
        let seen = if let Some(seen) = self.seen {
            seen
        } else {
            let blanks = usize::from(has_trailing_blanks(text)?);
            [0, blanks, if text.is_ascii() { blanks } else { 2 }]
        };
        self.seen = Some(seen);
        let [endings, blanks, typography] = seen;
        let (slot, kind) = match kind {
            MatchKind::Exact | MatchKind::LineEndings => (endings, MatchKind::LineEndings),
            MatchKind::TrailingBlanks => (blanks, MatchKind::TrailingBlanks),
            MatchKind::Typography | MatchKind::Indentation => (typography, MatchKind::Typography),
        };
        let [first, second, third] = &mut self.folded;
        let (folded, others) = match slot {
            0 => (first, [second, third]),
            1 => (second, [first, third]),
            _ => (third, [first, second]),
        };
        if text.len() > KEPT_BYTES {
            for other in others {
                *other = None;
            }
        }
        match folded {
            Some(folded) => Ok(folded),
            None => Ok(folded.insert(Folded::new(text, kind, wide, call)?)),
        }
    }
}

/// Whether the first line has blanks and nothing else.
fn begins_with_blank_line(text: &str) -> bool {
    let line = text.split_once('\n').map_or("", |(line, _)| line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    !line.is_empty() && line.trim().is_empty()
}

fn has_trailing_blanks(text: &[u8]) -> Result<bool, Error> {
    let is_blank = |line: &[u8]| matches!(line.last(), Some(b' ' | b'\t'));
    for end in memchr::memchr_iter(b'\n', text) {
        let line = checked::bytes(text, ..end)?;
        if is_blank(line.strip_suffix(b"\r").unwrap_or(line)) {
            return Ok(true);
        }
    }
    Ok(is_blank(text))
}

impl Place {
    fn unshifted(range: Range<usize>) -> Place {
        Place { range, fit: Fit::EXACT, others: Vec::new() }
    }
}

/// The end of the blanks that begin at `at`.
fn after_blanks(text: &[u8], at: usize, kind: MatchKind) -> Result<usize, Error> {
    let rest = checked::bytes(text, at..)?;
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let line = checked::bytes(rest, ..end)?;
    let line =
        if line.len() < rest.len() { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
    Ok(if without_blanks(line, kind).is_empty() { at + line.len() } else { at })
}

struct Scan {
    places: Vec<usize>,
    is_more: bool,
}

/// The places of `needle` that are accepted: all, overlapping ones too, as far as they are
/// counted, or those `apart` from each other, from the left.
fn scan(
    text: &[u8],
    needle: &[u8],
    apart: bool,
    call: &Call,
    accept: impl Fn(usize) -> bool,
) -> Result<Scan, Error> {
    let mut places = Vec::new();
    if needle.is_empty() {
        return Ok(Scan { places, is_more: false });
    }
    let most = if apart { MAX_REPLACED } else { MAX_COUNTED };
    let mut occurrences = Occurrences::of(needle, text);
    let (mut rounds, mut asked) = (0, 0);
    go_on(call)?;
    while let Some(at) = occurrences.next() {
        rounds += 1;
        if rounds % ROUNDS == 0 || occurrences.work() > asked {
            go_on(call)?;
            asked = occurrences.work() + BYTES;
        }
        if !accept(at) {
            continue;
        }
        if places.len() == most {
            return Ok(Scan { places, is_more: true });
        }
        places.push(at);
        if apart {
            occurrences.skip_to(at + needle.len());
        }
    }
    go_on(call)?;
    occurrences.check()?;
    Ok(Scan { places, is_more: false })
}
