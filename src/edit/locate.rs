//! From a change to the pieces of the file that it replaces.

use std::ops::Range;

use crate::context::Call;
use crate::edit::change::{Change, Matching, Options, Step, go_on};
use crate::edit::endings::Endings;
use crate::edit::fold::Folded;
use crate::edit::gutter;
use crate::edit::indent::Shift;
use crate::edit::ladder::{Found, Haystack, MAX_REPLACED, Place};
use crate::edit::refusal::{self, Refusal, Why};
use crate::edit::regions::{self, Changed, Region};
use crate::edit::site::Site;
use crate::edit::text::Text;
use crate::error::{Error, ErrorCode};

/// Bytes that are searched for all changes of a call, each of which goes through the whole text.
const MAX_SEARCHED: usize = 64 << 30;

/// Bytes of texts that are shifted for places of different indentation.
const MAX_SHIFTED: usize = 1 << 30;

/// A change whose places are known.
pub(super) struct Located {
    pub(super) step: Step,
    pub(super) places: Vec<Range<usize>>,
    pub(super) pieces: Vec<Piece>,
    pub(super) notes: Vec<String>,
}

/// A range of the text and what is to stand there.
pub(super) struct Piece {
    /// Where the matched place begins.
    pub(super) place: usize,
    pub(super) range: Range<usize>,
    pub(super) text: String,
}

/// Locates changes in a file, one after the other.
pub(super) struct Locator<'a> {
    site: Site<'a>,
    has_mark: bool,
    endings: Endings,
    /// What the changes before have replaced.
    replaced: Replaced,
}

/// How much is replaced.
#[derive(Clone, Copy, Default)]
struct Replaced {
    places: usize,
    /// Bytes in their place.
    bytes: usize,
}

impl<'a> Locator<'a> {
    pub(super) fn new(
        path: &'a str,
        text: &'a Text<'_>,
        options: &'a Options,
        call: &'a Call,
    ) -> Locator<'a> {
        let endings = match options.matching {
            Matching::Exact => Endings::None,
            Matching::Safe => Endings::of(text.bytes()),
        };
        let haystack = Haystack::new(text.bytes());
        let replaced = Replaced::default();
        let site = Site { path, options, call, haystack };
        Locator { site, has_mark: text.has_mark(), endings, replaced }
    }

    /// Locates every change, or tells why the first of those that cannot be located cannot.
    pub(super) fn locate_all(&mut self, changes: &[Change]) -> Result<Vec<Located>, Error> {
        self.refuse_number(changes.len())?;
        let mut located = Vec::with_capacity(changes.len());
        let mut refused: Option<(usize, Change, Why)> = None;
        let mut others = 0;
        for (index, change) in changes.iter().enumerate() {
            let change = self.without_mark(change);
            match self.locate(&change)? {
                Ok(change) => located.push(change),
                Err(_) if refused.is_some() => others += 1,
                Err(why) => refused = Some((index, change, why)),
            }
        }
        let Some((index, change, why)) = refused else { return Ok(located) };
        let label = if changes.len() > 1 { format!("edits[{index}]: ") } else { String::new() };
        Err(Refusal { site: &mut self.site, change: &change, label, others }.error(why)?)
    }

    /// Refuses more changes than can be looked for in a text of this length.
    fn refuse_number(&self, changes: usize) -> Result<(), Error> {
        let len = self.site.haystack.text.len();
        if changes.saturating_mul(len) <= MAX_SEARCHED {
            return Ok(());
        }
        let (path, most) = (refusal::shown(self.site.path), MAX_SEARCHED / len.max(1));
        let message = format!(
            "{changes} edits are too many to look for in the {len} bytes of {path}; at most {most} \
             can be made at once"
        );
        let error = Error::new(ErrorCode::TooLarge, message).at(self.site.path);
        Err(error.with_hint("Make them in several calls."))
    }

    /// The byte order mark is the file's and no part of its first line.
    fn without_mark(&self, change: &Change) -> Change {
        let unmarked = |text: &str| text.strip_prefix('\u{FEFF}').unwrap_or(text).to_owned();
        if !self.has_mark || !change.old_text.starts_with('\u{FEFF}') {
            return change.clone();
        }
        Change { old_text: unmarked(&change.old_text), new_text: unmarked(&change.new_text) }
    }

    fn locate(&mut self, change: &Change) -> Result<Result<Located, Why>, Error> {
        if change.old_text.is_empty() {
            return Ok(Err(Why::Empty));
        }
        if change.old_text == change.new_text {
            return Ok(Err(Why::Same));
        }
        let Some(found) =
            self.site.haystack.find(&change.old_text, self.site.options, self.site.call)?
        else {
            return self.locate_without_gutter(change);
        };
        self.checked(change, found)
    }

    /// Takes off the line numbers that were pasted with the lines.
    fn locate_without_gutter(&mut self, change: &Change) -> Result<Result<Located, Why>, Error> {
        if self.site.options.matching == Matching::Exact {
            return Ok(Err(Why::NotFound));
        }
        let Some(bare) = gutter::strip(change) else { return Ok(Err(Why::NotFound)) };
        let found =
            self.site.haystack.find(&bare.change.old_text, self.site.options, self.site.call)?;
        // A text that was repaired once is not bent further.
        let fits = |found: &Found| match found.places.first() {
            Some(place) if found.step <= Step::TrailingBlanks => {
                bare.fits(self.site.haystack.text, place.range.start)
            }
            _ => false,
        };
        let Some(found) = found.filter(fits) else { return Ok(Err(Why::NotFound)) };
        if bare.change.old_text == bare.change.new_text {
            return Ok(Err(Why::Same));
        }
        Ok(self.checked(&bare.change, found)?.map(|mut located| {
            located.notes.push(bare.note());
            located
        }))
    }

    fn checked(&mut self, change: &Change, found: Found) -> Result<Result<Located, Why>, Error> {
        let places = self.replaced.places + found.places.len();
        if self.site.options.replace_all && (found.is_more || places > MAX_REPLACED) {
            return Ok(Err(Why::TooMany));
        }
        if found.places.len() > 1 && !self.site.options.replace_all {
            return Ok(Err(Why::NotUnique(found)));
        }
        let (pieces, bytes) = match self.pieces(change, &found)? {
            Ok(pieces) => pieces,
            Err(why) => return Ok(Err(why)),
        };
        if pieces.is_empty() {
            return Ok(Err(Why::NoChange));
        }
        self.replaced = Replaced { places, bytes };
        let places = found.places.into_iter().map(|place| place.range).collect();
        Ok(Ok(Located { step: found.step, places, pieces, notes: Vec::new() }))
    }

    /// The pieces that change, and the bytes of all pieces so far.
    fn pieces(
        &self,
        change: &Change,
        found: &Found,
    ) -> Result<Result<(Vec<Piece>, usize), Why>, Error> {
        let mut pieces = Vec::new();
        let mut bytes = self.replaced.bytes;
        let mut plain = None;
        let mut shifted = 0_usize;
        let mut replacement: Option<Replacement> = None;
        for (round, place) in found.places.iter().enumerate() {
            if round % 1024 == 0 {
                go_on(self.site.call)?;
            }
            let before = pieces.len();
            if self.site.options.matching == Matching::Exact {
                pieces.push(Piece::whole(&place.range, change.new_text.clone()));
            } else {
                if replacement.as_ref().is_none_or(|last| last.shift != place.shift) {
                    let plain = plain.get_or_insert_with(|| self.plain(change));
                    shifted = shifted.saturating_add(plain.len());
                    if shifted > MAX_SHIFTED && round > 0 {
                        return Ok(Err(Why::TooMuch));
                    }
                    go_on(self.site.call)?;
                    replacement = self.replacement(plain, found.step, place)?;
                }
                // A text that cannot be shifted as `old_text` is has no place either.
                let Some(replacement) = &replacement else { return Ok(Err(Why::NotFound)) };
                self.replace(replacement, &place.range, &mut pieces)?;
            }
            let new = pieces.get(before..).unwrap_or_default();
            bytes += new.iter().map(|piece| piece.text.len()).sum::<usize>();
            // Twice, since three bytes of the text may be two in UTF-16.
            if bytes / 2 > self.site.options.max_bytes {
                return Ok(Err(Why::TooLarge));
            }
        }
        Ok(Ok((pieces, bytes)))
    }

    /// The texts with the line endings in which they are compared.
    fn plain(&self, change: &Change) -> Plain {
        let plain = |text: &str| match self.endings {
            Endings::None => text.to_owned(),
            _ => text.replace("\r\n", "\n"),
        };
        let (mut old, new) = (plain(&change.old_text), plain(&change.new_text));
        // What `\r\r\n` became would be folded once more, and its places be those of other bytes.
        if old.contains("\r\n") {
            old.clone_from(&change.old_text);
        }
        let changed = Changed::of(&old, &new);
        Plain { old, new, changed }
    }

    fn replacement(
        &self,
        plain: &Plain,
        step: Step,
        place: &Place,
    ) -> Result<Option<Replacement>, Error> {
        let shifted = |text: &str| place.shift.apply(text);
        let (Some(old), Some(new)) = (shifted(&plain.old), shifted(&plain.new)) else {
            return Ok(None);
        };
        let step = step.max(Step::LineEndings);
        let folded = Folded::new(old.as_bytes(), step, self.site.call)?;
        let regions = plain.changed.regions(&old, &new);
        Ok(Some(Replacement { shift: place.shift.clone(), step, folded, new, regions }))
    }

    /// Adds what changes at one place.
    fn replace(
        &self,
        replacement: &Replacement,
        place: &Range<usize>,
        pieces: &mut Vec<Piece>,
    ) -> Result<(), Error> {
        let matched = self.site.haystack.text.get(place.clone()).unwrap_or_default();
        let file = Folded::new(matched, replacement.step, self.site.call)?;
        for (new, range) in replacement.in_file(&file) {
            let text = replacement.new.get(new).unwrap_or_default();
            let inner = place.start + range.start..place.start + range.end;
            let text = match self.endings {
                Endings::None => text.to_owned(),
                _ => text.replace('\n', self.endings.near(&inner, place)),
            };
            if matched.get(range) != Some(text.as_bytes()) {
                pieces.push(Piece { place: place.start, range: inner, text });
            }
        }
        Ok(())
    }
}

impl Piece {
    fn whole(place: &Range<usize>, text: String) -> Piece {
        Piece { place: place.start, range: place.clone(), text }
    }
}

/// A change as it is compared.
struct Plain {
    old: String,
    new: String,
    changed: Changed,
}

impl Plain {
    fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }
}

/// `new_text` and where it differs from `old_text`, the same for all places of one shift.
struct Replacement {
    shift: Shift,
    step: Step,
    /// Of `old_text`.
    folded: Folded,
    new: String,
    regions: Vec<Region>,
}

impl Replacement {
    /// Ranges of `new`, and of the matched text that they replace.
    fn in_file(&self, file: &Folded) -> Vec<(Range<usize>, Range<usize>)> {
        // Regions are apart by a whole line at least, and no fold is wider, so none meet.
        self.regions.iter().map(|region| regions::place(region, &self.folded, file)).collect()
    }
}
