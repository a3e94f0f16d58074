//! From a change to the pieces of the file that it replaces.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::Range;

use unicode_normalization::is_nfc;

use crate::context::Call;
use crate::edit::blank_lines::{Overlooked, Verdict};
use crate::edit::checked;
use crate::edit::done::{Evidence, Past};
use crate::edit::edges::{self, Edges, trailing_blanks};
use crate::edit::endings::Endings;
use crate::edit::fold::Folded;
use crate::edit::frame::{Decided, Frames};
use crate::edit::gutter;
use crate::edit::indent::{Blanks, Fit, Shift, indentation};
use crate::edit::ladder::{Found, Haystack, MAX_REPLACED, Place};
use crate::edit::refusal::{self, Alike, Refusal, Why};
use crate::edit::regions::{self, Changed, Region};
use crate::edit::replacement::{MatchKind, Matching, Options, Replacement, go_on};
use crate::edit::site::Site;
use crate::edit::terminator::{self, Fitted, Next};
use crate::edit::text::Text;
use crate::edit::typography;
use crate::edit::undecodable::{self, STAND_IN, Wide};
use crate::error::{Error, ErrorCode};

/// Bytes that are searched for all changes of a call, each of which goes through the whole text.
const MAX_SEARCHED: u64 = 64 << 30;

/// Bytes of texts that are shifted for places of different indentation.
const MAX_SHIFTED: usize = 64 << 20;

/// Bytes above and below a place that tell how it is indented.
const AROUND_BYTES: usize = 8 << 10;

/// A change whose places are known.
pub(super) struct Located {
    pub(super) kind: MatchKind,
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
        let haystack = Haystack::new(text.bytes(), Wide(text.is_utf16()));
        let replaced = Replaced::default();
        let site = Site { path, options, call, haystack };
        Locator { site, has_mark: text.has_mark(), endings, replaced }
    }

    /// Locates every change, or tells why the first of those that cannot be located cannot.
    pub(super) fn locate_all(&mut self, changes: &[Replacement]) -> Result<Vec<Located>, Error> {
        self.refuse_number(changes.len())?;
        let mut located = Vec::with_capacity(changes.len());
        let mut refused: Option<(usize, Replacement, Why)> = None;
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
        // No address is longer than 64 bits.
        let wide = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let len = wide(self.site.haystack.text.len());
        if wide(changes).saturating_mul(len) <= MAX_SEARCHED {
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
    fn without_mark(&self, change: &Replacement) -> Replacement {
        let unmarked = |text: &str| text.strip_prefix('\u{FEFF}').unwrap_or(text).to_owned();
        if !self.has_mark || !change.old_text.starts_with('\u{FEFF}') {
            return change.clone();
        }
        Replacement { old_text: unmarked(&change.old_text), new_text: unmarked(&change.new_text) }
    }

    fn locate(&mut self, change: &Replacement) -> Result<Result<Located, Why>, Error> {
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
        self.checked(change, found, Evidence::Text)
    }

    /// Takes off the line numbers that were pasted with the lines.
    fn locate_without_gutter(
        &mut self,
        change: &Replacement,
    ) -> Result<Result<Located, Why>, Error> {
        if self.site.options.matching == Matching::Exact {
            return Ok(Err(Why::NotFound));
        }
        for bare in gutter::bare(change, self.site.path) {
            // A text that was repaired once is not bent further.
            let Site { haystack, options, call, .. } = &mut self.site;
            let old_text = &bare.change.old_text;
            let found = haystack.find_up_to(MatchKind::TrailingBlanks, old_text, options, call)?;
            let is_fit = |found: &Found| {
                let place = found.places.first();
                place.is_some_and(|place| bare.fits(haystack.text, place.range.start))
            };
            let Some(found) = found.filter(is_fit) else { continue };
            if bare.change.old_text == bare.change.new_text {
                return Ok(Err(Why::Same));
            }
            let start = found.places.first().map(|place| place.range.start);
            let has_numbers = start.is_some_and(|start| bare.has_numbers(haystack.text, start));
            let evidence = if has_numbers { Evidence::Numbers } else { Evidence::OtherNumbers };
            return Ok(self.checked(&bare.change, found, evidence)?.map(|mut located| {
                located.notes.insert(0, bare.note());
                located
            }));
        }
        Ok(Err(Why::NotFound))
    }

    fn checked(
        &mut self,
        change: &Replacement,
        found: Found,
        evidence: Evidence,
    ) -> Result<Result<Located, Why>, Error> {
        let change = &*self.without_second_mark(change, &found);
        if change.old_text == change.new_text {
            let at = found.places.first().map_or(0, |place| place.range.start);
            return Ok(Err(Why::Done { at, near: None }));
        }
        let places = self.replaced.places + found.places.len();
        if self.site.options.replace_all && (found.is_more || places > MAX_REPLACED) {
            return Ok(Err(Why::TooMany));
        }
        if found.places.len() > 1 && !self.site.options.replace_all {
            return Ok(Err(Why::NotUnique(found)));
        }
        if let Some(why) = self.refuse_past(change, &found, evidence)? {
            return Ok(Err(why));
        }
        let made = match self.pieces(change, &found, evidence)? {
            Ok(made) => made,
            Err(why) => return Ok(Err(why)),
        };
        if made.pieces.is_empty() {
            return Ok(Err(Why::NoChange));
        }
        self.replaced = Replaced { places, bytes: made.bytes };
        let mut places: Vec<Range<usize>> =
            found.places.into_iter().map(|place| place.range).collect();
        // Blanks behind a single place may be replaced as well.
        if let ([place], Some(piece)) = (places.as_mut_slice(), made.pieces.last()) {
            place.end = place.end.max(piece.range.end);
        }
        Ok(Ok(Located { kind: found.kind, places, pieces: made.pieces, notes: made.notes }))
    }

    /// The change without the byte order mark that only `new_text` has, at the start of a file that
    /// has one.
    fn without_second_mark<'c>(
        &self,
        change: &'c Replacement,
        found: &Found,
    ) -> Cow<'c, Replacement> {
        let Replacement { old_text, new_text } = change;
        let is_first_line = found.places.first().is_some_and(|place| {
            let above = self.site.haystack.text.get(..place.range.start);
            above.is_some_and(|above| memchr::memchr(b'\n', above).is_none())
        });
        let blanks = indentation(new_text);
        let marked = new_text.strip_prefix(blanks).and_then(|text| text.strip_prefix('\u{FEFF}'));
        let is_safe = self.site.options.matching == Matching::Safe;
        match marked {
            Some(rest) if is_safe && self.has_mark && is_first_line => Cow::Owned(Replacement {
                old_text: old_text.clone(),
                new_text: format!("{blanks}{rest}"),
            }),
            _ => Cow::Borrowed(change),
        }
    }

    /// Refuses to change a place that is only like `old_text` if the edit may have been made
    /// elsewhere, or be meant for another place.
    fn refuse_past(
        &mut self,
        change: &Replacement,
        found: &Found,
        evidence: Evidence,
    ) -> Result<Option<Why>, Error> {
        let is_sure = found.kind == MatchKind::Exact && evidence != Evidence::OtherNumbers;
        let Some(place) = found.places.first().filter(|_| !is_sure) else {
            return Ok(None);
        };
        let near = Alike { kind: found.kind, range: place.range.clone() };
        if found.kind == MatchKind::Indentation && change.new_text.trim().is_empty() {
            return Ok(Some(Why::Undecided(near)));
        }
        if found.kind >= MatchKind::TrailingBlanks {
            let plain = self.plain(change);
            let (text, range) = (self.site.haystack.text, &place.range);
            let overlooked = Overlooked { text, place: range, old: &plain.old, new: &plain.new };
            match overlooked.verdict() {
                Verdict::Make => {}
                Verdict::Done => return Ok(Some(Why::Done { at: range.start, near: None })),
                Verdict::Unclear(why) => return Ok(Some(Why::Unclear { near, why })),
            }
        }
        let mut past = Past { site: &mut self.site, change, found, evidence };
        if let Some(done) = past.elsewhere(&self.endings)? {
            return Ok(Some(Why::Done { at: done.start, near: Some(near) }));
        }
        let origin = past.origin(place)?;
        Ok(origin.map(|origin| Why::Stale { origin: origin.start, near }))
    }

    /// The pieces that change at all places.
    fn pieces(
        &mut self,
        change: &Replacement,
        found: &Found,
        evidence: Evidence,
    ) -> Result<Result<Made, Why>, Error> {
        let mut made = Made { bytes: self.replaced.bytes, ..Made::default() };
        let mut plain = self.plain(change);
        if let Some(place) = found.places.first().filter(|_| found.kind >= MatchKind::Typography) {
            made.note(&self.unicode_notes(change, place)?);
            let text = self.site.haystack.text;
            let matched = found.places.iter().filter_map(|place| text.get(place.range.clone()));
            let as_in_file = typography::plain_as_in_file(&plain.old, matched, &plain.new);
            if let Cow::Owned(new) = as_in_file {
                made.note(&[typography::NOTE]);
                plain.new = new;
            }
        }
        let mut shifted = 0_usize;
        let mut replacements = PreparedTexts::default();
        for (round, place) in found.places.iter().enumerate() {
            if round % 1024 == 0 {
                go_on(self.site.call)?;
            }
            let before = made.pieces.len();
            if self.site.options.matching == Matching::Exact {
                made.pieces.push(Piece::whole(&place.range, change.new_text.clone()));
            } else {
                let text = self.site.haystack.text;
                let next = Next::at(text, place.range.end);
                let edges = Edges::of(text, &place.range, &plain.old, &plain.new);
                if replacements.of(place, next, edges).is_none() {
                    shifted = shifted.saturating_add(plain.len());
                    if shifted > MAX_SHIFTED && round > 0 {
                        return Ok(Err(Why::TooMuch));
                    }
                    go_on(self.site.call)?;
                    let new = match self.replacement(&plain, found.kind, place, next, edges)? {
                        Ok(replacement) => replacement,
                        Err(why) => return Ok(Err(why)),
                    };
                    let past = Past { site: &mut self.site, change, found, evidence };
                    if round == 0 && past.is_there(&place.range, &new.old, &new.new)? {
                        return Ok(Err(Why::Done { at: place.range.start, near: None }));
                    }
                    made.note(&new.notes);
                    replacements.keep(new);
                }
                let Some(replacement) = replacements.of(place, next, edges) else {
                    return Err(checked::fault());
                };
                if let Err(why) = self.replace(replacement, &place.range, &mut made)? {
                    return Ok(Err(why));
                }
            }
            let new = made.pieces.iter().skip(before);
            made.bytes += new.map(|piece| piece.text.len()).sum::<usize>();
            // Twice, since three bytes of the text may be two in UTF-16.
            if made.bytes / 2 > self.site.options.max_bytes {
                return Ok(Err(Why::TooLarge));
            }
        }
        Ok(Ok(made))
    }

    /// What a typographic match overlooked besides punctuation and blanks.
    fn unicode_notes(
        &self,
        change: &Replacement,
        place: &Place,
    ) -> Result<Vec<&'static str>, Error> {
        let matched = checked::bytes(self.site.haystack.text, place.range.clone())?;
        let mut notes = Vec::new();
        if change.old_text.contains(STAND_IN) && undecodable::has_any(matched) {
            notes.push("U+FFFD in old_text was taken for bytes of the file that are not UTF-8.");
        }
        let matched = String::from_utf8_lossy(matched);
        if is_nfc(&matched) != is_nfc(&change.old_text) {
            notes.push("The file has letters in another Unicode form; those that stay were kept.");
        }
        Ok(notes)
    }

    /// The texts with the line endings in which they are compared.
    fn plain(&self, change: &Replacement) -> Plain {
        let plain = |text: &str| match self.endings {
            Endings::None => text.to_owned(),
            _ => text.replace("\r\n", "\n"),
        };
        let (mut old, new) = (plain(&change.old_text), plain(&change.new_text));
        // What `\r\r\n` became would be folded once more, and its places be those of other bytes.
        if old.contains("\r\n") {
            old.clone_from(&change.old_text);
        }
        let changed = OnceCell::new();
        Plain { old, new, changed }
    }

    fn replacement(
        &self,
        plain: &Plain,
        kind: MatchKind,
        place: &Place,
        next: Next,
        edges: Edges,
    ) -> Result<Result<PreparedText, Why>, Error> {
        let mut notes = Vec::new();
        let undecided = || Ok(Err(Why::Undecided(Alike { kind, range: place.range.clone() })));
        let Some(inner) = self.behind_indentation(plain, kind, place, edges)? else {
            return undecided();
        };
        if edges.lead > 0 {
            notes.push(edges::NOTE);
        }
        let fitted = terminator::fit(&plain.old, &inner, next);
        notes.extend(fitted.note());
        let new = match fitted {
            Fitted::Same => inner,
            Fitted::Added(new) | Fitted::Removed(new) => Cow::Owned(new),
            Fitted::Joins => return Ok(Err(Why::Joins)),
        };
        let has_fit = kind == MatchKind::Indentation;
        let decided = if has_fit {
            let Some(decided) = self.decide(&plain.old, &new, place)? else {
                return undecided();
            };
            if !decided.is_moved {
                notes.push("new_text was used as it is, since it is indented as the file is.");
            } else if place.fit.blanks != Blanks::Same {
                notes.push("new_text was indented with the kind of blanks that the file has.");
            }
            decided
        } else {
            Decided { old: plain.old.clone(), new: new.clone().into_owned(), is_moved: true }
        };
        let kind = kind.max(MatchKind::LineEndings);
        let folded =
            Folded::new(decided.old.as_bytes(), kind, self.site.haystack.wide, self.site.call)?;
        // Lines that are shifted together differ where they did before.
        let is_shared = new.len() == plain.new.len()
            && matches!(new, Cow::Borrowed(_))
            && decided.is_moved
            && place.fit.blanks == Blanks::Same;
        let regions = if is_shared {
            let changed = plain.changed.get_or_init(|| Changed::of(&plain.old, &plain.new));
            changed.regions(&decided.old, &decided.new)?
        } else {
            Changed::of(&decided.old, &decided.new).regions(&decided.old, &decided.new)?
        };
        let Decided { old, new, .. } = decided;
        let fit = place.fit.clone();
        Ok(Ok(PreparedText { fit, next, edges, kind, folded, old, new, regions, notes }))
    }

    /// `new_text` for a place that may begin behind the indentation of its line, without the blanks
    /// that the file has beside the place; `None` if it cannot be told how it is indented.
    fn behind_indentation<'p>(
        &self,
        plain: &'p Plain,
        kind: MatchKind,
        place: &Place,
        edges: Edges,
    ) -> Result<Option<Cow<'p, str>>, Error> {
        let Plain { old, new, .. } = plain;
        let inner = edges.inner(new).ok_or_else(checked::fault)?;
        let blanks = edges::indentation_before(self.site.haystack.text, place.range.start);
        let is_behind = !blanks.is_empty() && !old.starts_with(char::is_whitespace);
        // Up to line endings the match is exact, and new_text is taken as it is.
        if !is_behind || !matches!(kind, MatchKind::TrailingBlanks | MatchKind::Typography) {
            return Ok(Some(Cow::Borrowed(inner)));
        }
        let full = |text: &str| text.lines().filter(|line| !line.trim().is_empty()).count();
        if edges.lead > 0 {
            let mut lines = inner.lines().skip(1).filter(|line| !line.trim().is_empty());
            let is_whole = lines.all(|line| line.starts_with(blanks));
            return Ok(is_whole.then_some(Cow::Borrowed(inner)));
        }
        if inner.starts_with([' ', '\t']) || (inner.is_empty() && old.ends_with('\n')) {
            return Ok(None);
        }
        if full(old) > 1 || full(inner) < 2 {
            return Ok(Some(Cow::Borrowed(inner)));
        }
        // The lines after the first may have the indentation of the file or lack it as well.
        let shift = Shift::Deeper(blanks.to_owned());
        let fit = Fit { blanks: Blanks::Same, shift };
        let line = Place { range: place.range.clone(), fit, others: Vec::new() };
        let Some(decided) = self.decide(old, inner, &line)? else { return Ok(None) };
        let moved = decided.new.strip_prefix(blanks).map(|new| Cow::Owned(new.to_owned()));
        Ok(moved.filter(|_| decided.is_moved))
    }

    /// Tells what is to stand at a place that was found but for its indentation.
    fn decide(&self, old: &str, new: &str, place: &Place) -> Result<Option<Decided>, Error> {
        let text = self.site.haystack.text;
        let start = place.range.start.saturating_sub(AROUND_BYTES);
        let end = place.range.end.saturating_add(AROUND_BYTES).min(text.len());
        let above = String::from_utf8_lossy(checked::bytes(text, start..place.range.start)?);
        let below = String::from_utf8_lossy(checked::bytes(text, place.range.end..end)?);
        // What was cut is no line.
        let above =
            if start > 0 { above.split_once('\n').map_or("", |(_, rest)| rest) } else { &above };
        let mut fits = vec![place.fit.clone()];
        fits.extend(place.others.iter().cloned());
        Ok(Frames { old, new, fits: &fits, around: [above, &below] }.decide())
    }

    /// Adds what changes at one place.
    fn replace(
        &self,
        replacement: &PreparedText,
        place: &Range<usize>,
        made: &mut Made,
    ) -> Result<Result<(), Why>, Error> {
        let Site { haystack, call, .. } = &self.site;
        let matched = checked::bytes(haystack.text, place.clone())?;
        let file = Folded::new(matched, replacement.kind, haystack.wide, call)?;
        for (new, range) in replacement.in_file(&file) {
            let (new, range) = self.with_blanks(replacement, place, (new, range));
            let new = checked::text(&replacement.new, new)?;
            let old = place.start + range.start..place.start + range.end;
            let old = checked::bytes(haystack.text, old)?;
            let Some(parts) = self.kept_bytes(old, new) else { return Ok(Err(Why::StandIn)) };
            for (old, new) in parts {
                let range = range.start + old.start..range.start + old.end;
                let inner = place.start + range.start..place.start + range.end;
                let text = match self.endings {
                    Endings::None => new.to_owned(),
                    _ => new.replace('\n', self.endings.near(&inner, place)),
                };
                if haystack.text.get(inner.clone()) != Some(text.as_bytes()) {
                    made.pieces.push(Piece { place: place.start, range: inner, text });
                }
            }
        }
        Ok(Ok(()))
    }

    /// A range of `new` and the range of the place that it replaces, widened by blanks which the file
    /// has at the end of that range: they do not come behind those of `new`, and a line of blanks
    /// does not become the end of another line.
    fn with_blanks(
        &self,
        replacement: &PreparedText,
        place: &Range<usize>,
        (new, range): (Range<usize>, Range<usize>),
    ) -> (Range<usize>, Range<usize>) {
        let text = self.site.haystack.text;
        let end = place.start + range.end;
        let blanks = trailing_blanks(text, end);
        // Behind the place they are replaced only with whole lines: a part of a line is replaced
        // just as it was given.
        let has_lines = replacement.new.contains('\n') || edges::is_line_start(text, place.start);
        let is_within = end + blanks <= place.end || (has_lines && !self.site.options.replace_all);
        let before = replacement.new.get(..new.end).unwrap_or("");
        let inserted = replacement.new.get(new.clone()).unwrap_or("");
        let after = replacement.new.get(new.end..).unwrap_or("");
        if blanks == 0 || !is_within || !(after.is_empty() || after.starts_with('\n')) {
            return (new, range);
        }
        let widened = range.start..range.end + blanks;
        if inserted.ends_with([' ', '\t']) {
            return (new, widened);
        }
        let is_line_start = end.checked_sub(1).and_then(|above| text.get(above)) == Some(&b'\n');
        let terminator = match text.get(end + blanks..) {
            Some([b'\n', ..]) => 1,
            Some([b'\r', b'\n', ..]) => 2,
            _ => 0,
        };
        let is_joined = is_line_start && !range.is_empty() && !before.is_empty();
        let is_joined = is_joined && !before.ends_with('\n') && after.starts_with('\n');
        if is_joined && terminator > 0 && end + blanks + terminator <= place.end {
            return (new.start..new.end + 1, range.start..widened.end + terminator);
        }
        (new, range)
    }

    /// What of `new` replaces which parts of `old`, bytes of the file: those for which `new` has
    /// U+FFFD are in none, so they stay. `None` if it cannot be told which bytes are meant.
    fn kept_bytes<'t>(&self, old: &[u8], new: &'t str) -> Option<Vec<(Range<usize>, &'t str)>> {
        let whole = || vec![(0..old.len(), new)];
        if !new.contains(STAND_IN) {
            return Some(whole());
        }
        let wide = self.site.haystack.wide;
        let kept = undecodable::stand_ins(old, wide);
        let asked = new.matches(STAND_IN).count();
        if kept.is_empty() || asked > kept.len() {
            // In a text that has no such bytes it is a character like others.
            return (!undecodable::has_any(self.site.haystack.text)).then(whole);
        }
        let bytes = |range: &Range<usize>| old.get(range.clone());
        let first = kept.first().and_then(bytes);
        let is_same = kept.iter().all(|range| bytes(range) == first);
        // Bytes that differ must not change places, nor may it be unclear which of them go.
        if !is_same && (asked != kept.len() || !undecodable::are_in_order(old, new, &kept)) {
            return None;
        }
        let mut parts = Vec::new();
        let mut from = 0;
        let mut rest = new;
        for range in kept.iter().take(asked) {
            let (before, after) = rest.split_once(STAND_IN)?;
            parts.push((from..range.start, before));
            from = range.end;
            rest = after;
        }
        parts.push((from..old.len(), rest));
        Some(parts)
    }
}

impl Piece {
    fn whole(place: &Range<usize>, text: String) -> Piece {
        Piece { place: place.start, range: place.clone(), text }
    }
}

/// What becomes of one change.
#[derive(Default)]
struct Made {
    pieces: Vec<Piece>,
    /// Bytes of all pieces of the call so far.
    bytes: usize,
    notes: Vec<String>,
}

impl Made {
    fn note(&mut self, notes: &[&str]) {
        for note in notes {
            if !self.notes.iter().any(|known| known == note) {
                self.notes.push((*note).to_owned());
            }
        }
    }
}

/// A change as it is compared.
struct Plain {
    old: String,
    new: String,
    /// Where these two differ.
    changed: OnceCell<Changed>,
}

impl Plain {
    fn len(&self) -> usize {
        self.old.len() + self.new.len()
    }
}

/// `new_text` and where it differs from `old_text`, the same for all places that are alike.
struct PreparedText {
    fit: Fit,
    next: Next,
    edges: Edges,
    kind: MatchKind,
    /// Of `old`.
    folded: Folded,
    /// As the file has it, but for what the kind overlooks.
    old: String,
    new: String,
    regions: Vec<Region>,
    notes: Vec<&'static str>,
}

impl PreparedText {
    /// Ranges of `new`, and of the matched text that they replace.
    fn in_file(&self, file: &Folded) -> Vec<(Range<usize>, Range<usize>)> {
        // Regions are apart by a whole line at least, and no fold is wider, so none meet.
        self.regions.iter().map(|region| regions::place(region, &self.folded, file)).collect()
    }
}

/// The last replacements, the newest first.
#[derive(Default)]
struct PreparedTexts(Vec<PreparedText>);

impl PreparedTexts {
    /// How many are kept: places may take turns in how they are indented and in what follows.
    const KEPT: usize = 8;

    fn of(&self, place: &Place, next: Next, edges: Edges) -> Option<&PreparedText> {
        let is_same = |last: &&PreparedText| {
            last.fit == place.fit && last.next == next && last.edges == edges
        };
        self.0.iter().find(is_same)
    }

    fn keep(&mut self, replacement: PreparedText) {
        self.0.truncate(PreparedTexts::KEPT - 1);
        self.0.insert(0, replacement);
    }
}
