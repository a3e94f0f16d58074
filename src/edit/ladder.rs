//! The ladder: from exact bytes to indentation, the first step at which `old_text` is found.

use std::ops::Range;

use crate::context::Call;
use crate::edit::change::{Matching, Options, Step, go_on};
use crate::edit::fold::{Folded, without_blanks};
use crate::edit::indent::{Block, Relative, Shift};
use crate::edit::occurrences::Occurrences;
use crate::error::Error;

/// Places are counted up to here; a text that occurs more often is "at least" so many times.
const MAX_COUNTED: usize = 1000;

/// Places that are looked at, and bytes, before the call is asked whether to go on.
const ROUNDS: usize = 4096;
const BYTES: usize = 1 << 20;

/// A text up to this length is kept folded for every step, for the next change; of a longer one
/// only the last form is.
const KEPT_BYTES: usize = 8 << 20;

/// The most places that are replaced in one call.
pub(super) const MAX_REPLACED: usize = 1_000_000;

/// Where `old_text` was found.
pub(super) struct Found {
    pub(super) step: Step,
    pub(super) places: Vec<Place>,
    /// Whether the count ended early.
    pub(super) is_more: bool,
}

/// A range of the text that `old_text` stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) range: Range<usize>,
    pub(super) shift: Shift,
}

/// The text that is searched, folded once for all changes.
pub(super) struct Haystack<'a> {
    pub(super) text: &'a [u8],
    folds: Folds,
    relative: Option<Relative>,
}

impl<'a> Haystack<'a> {
    pub(super) fn new(text: &'a [u8]) -> Haystack<'a> {
        Haystack { text, folds: Folds::default(), relative: None }
    }

    /// The places of `old_text` at the first step that has one.
    pub(super) fn find(
        &mut self,
        old_text: &str,
        options: &Options,
        call: &Call,
    ) -> Result<Option<Found>, Error> {
        let exact = self.exact(old_text, options, call)?;
        if !exact.places.is_empty() || options.matching == Matching::Exact {
            return Ok(Some(exact).filter(|found| !found.places.is_empty()));
        }
        for step in [Step::LineEndings, Step::TrailingBlanks, Step::Typography] {
            let found = self.folded(old_text, step, options, call)?;
            if !found.places.is_empty() {
                return Ok(Some(found));
            }
        }
        let found = self.shifted(old_text, options, call)?;
        Ok(Some(found).filter(|found| !found.places.is_empty()))
    }

    fn exact(&self, old_text: &str, options: &Options, call: &Call) -> Result<Found, Error> {
        let needle = old_text.as_bytes();
        let scan = scan(self.text, needle, options.replace_all, call, |_| true)?;
        let places = scan.places.into_iter().map(|at| at..at + needle.len());
        let mut places: Vec<_> = places.map(Place::unshifted).collect();
        // Between `\r` and `\n` is no place for a line to begin or end: the next step sees both.
        let splits = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.text.get(before));
            before == Some(&b'\r') && self.text.get(at) == Some(&b'\n')
        };
        let is_safe = options.matching == Matching::Safe;
        if is_safe && places.iter().any(|at| splits(at.range.start) || splits(at.range.end)) {
            places.clear();
        }
        Ok(Found { step: Step::Exact, places, is_more: scan.is_more })
    }

    fn folded(
        &mut self,
        old_text: &str,
        step: Step,
        options: &Options,
        call: &Call,
    ) -> Result<Found, Error> {
        let old = Folded::new(old_text.as_bytes(), step, call)?;
        let text = self.text;
        let file = self.folds.at_step(text, step, call)?;
        let ends_in_blanks = old.ends_in_blanks();
        let accept = |at: usize| {
            let end = at + old.text.len();
            let ends = !ends_in_blanks || file.ends_line(end);
            ends && file.is_boundary(at) && file.is_boundary(end)
        };
        let scan = scan(&file.text, &old.text, options.replace_all, call, accept)?;
        let places = scan.places.into_iter().map(|at| {
            let (start, mut end) = (file.latest(at), file.earliest(at + old.text.len()));
            if ends_in_blanks {
                end = after_blanks(text, end, step);
            }
            Place::unshifted(start..end)
        });
        Ok(Found { step, places: places.collect(), is_more: scan.is_more })
    }

    fn shifted(&mut self, old_text: &str, options: &Options, call: &Call) -> Result<Found, Error> {
        let step = Step::Typography;
        let old = Folded::new(old_text.as_bytes(), step, call)?;
        let Haystack { text, folds, relative } = self;
        let file = folds.at_step(text, step, call)?;
        let relative = match relative {
            Some(relative) => relative,
            None => relative.insert(Relative::of(&file.text, call)?),
        };
        let is_all = options.replace_all;
        let most = if is_all { MAX_REPLACED } else { MAX_COUNTED };
        let block = Block { file, relative, old: &old };
        let (hits, is_more) = block.find(most, is_all, call)?;
        let places = hits.into_iter().map(|(hit, shift)| {
            let (start, mut end) = (file.latest(hit.start), file.earliest(hit.end));
            if old.ends_in_blanks() {
                end = after_blanks(text, end, step);
            }
            Place { range: start..end, shift }
        });
        Ok(Found { step: Step::Indentation, places: places.collect(), is_more })
    }
}

/// A text as the steps see it. Most texts have nothing that a later step folds and an earlier
/// one does not: these are not folded again, which would take as much memory as the text.
#[derive(Default)]
struct Folds {
    folded: [Option<Folded>; 3],
    /// Which of them each step sees, once it is known.
    seen: Option<[usize; 3]>,
}

impl Folds {
    fn at_step(&mut self, text: &[u8], step: Step, call: &Call) -> Result<&Folded, Error> {
        let [endings, blanks, typography] = *self.seen.get_or_insert_with(|| {
            let blanks = usize::from(has_trailing_blanks(text));
            [0, blanks, if text.is_ascii() { blanks } else { 2 }]
        });
        let (slot, step) = match step {
            Step::Exact | Step::LineEndings => (endings, Step::LineEndings),
            Step::TrailingBlanks => (blanks, Step::TrailingBlanks),
            Step::Typography | Step::Indentation => (typography, Step::Typography),
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
            None => Ok(folded.insert(Folded::new(text, step, call)?)),
        }
    }
}

fn has_trailing_blanks(text: &[u8]) -> bool {
    let is_blank = |line: &[u8]| matches!(line.last(), Some(b' ' | b'\t'));
    let mut lines = memchr::memchr_iter(b'\n', text).map(|end| text.get(..end).unwrap_or_default());
    is_blank(text) || lines.any(|line| is_blank(line.strip_suffix(b"\r").unwrap_or(line)))
}

impl Place {
    fn unshifted(range: Range<usize>) -> Place {
        Place { range, shift: Shift::None }
    }
}

/// The end of the blanks that begin at `at`.
fn after_blanks(text: &[u8], at: usize, step: Step) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let line = rest.split(|&byte| byte == b'\n').next().unwrap_or_default();
    let line =
        if line.len() < rest.len() { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
    if without_blanks(line, step).is_empty() { at + line.len() } else { at }
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
    Ok(Scan { places, is_more: false })
}
