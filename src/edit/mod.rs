//! Edits: `old_text` found in a file's bytes and replaced there, every other byte left as it is.
//!
//! All changes are located in the original; then all are applied, or none. In a match that
//! overlooks something, only what differs between `old_text` and `new_text` is spliced: what
//! both say alike stays in the file's own bytes, with its quotes, trailing blanks and line ends.

mod blank_lines;
mod checked;
pub(crate) mod diff;
mod done;
mod edges;
mod endings;
mod fold;
mod frame;
mod gutter;
mod hint;
mod indent;
mod ladder;
mod locate;
mod occurrences;
mod places;
mod refusal;
mod regions;
mod replacement;
mod site;
mod terminator;
mod text;
mod touched;
mod typography;
mod undecodable;
mod whereabouts;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::context::Call;
use crate::edit::locate::{Located, Locator, Piece};
pub use crate::edit::replacement::{MatchKind, Matching, Replacement};
pub(crate) use crate::edit::replacement::{Options, Splice};
use crate::edit::text::Text;
use crate::edit::touched::Lines;
pub(crate) use crate::edit::whereabouts::whereabouts;
use crate::error::{Error, ErrorCode};

/// An edited file.
#[derive(Debug)]
pub(crate) struct Edited {
    pub(crate) content: Vec<u8>,
    /// What was replaced, in the order of the file.
    pub(crate) splices: Vec<Splice>,
    /// One for each change.
    pub(crate) match_kinds: Vec<MatchKind>,
    /// Repairs worth a sentence each.
    pub(crate) notes: Vec<String>,
    /// How many places were replaced, for each change.
    pub(crate) places: Vec<usize>,
    /// The lines that the places lay on, and those that stand there now.
    pub(crate) lines: Lines,
}

/// Makes all `changes` in `content`, the bytes of the file at `path`.
///
/// # Errors
/// `INVALID_ARGUMENT`: an `old_text` is empty or equal to its `new_text`, changes overlap, or
/// nothing would change. `PATTERN_NOT_FOUND`, `PATTERN_NOT_UNIQUE`. `NOT_TEXT`: NUL bytes in a
/// file that is not UTF-16. `TOO_LARGE`: over `max_bytes`. `CANCELLED`, `TIMEOUT`.
pub(crate) fn apply(
    path: &str,
    content: &[u8],
    changes: &[Replacement],
    options: &Options,
    call: &Call,
) -> Result<Edited, Error> {
    let text = Text::of(content);
    if let Some(at) = memchr::memchr(0, content).filter(|_| !text.is_utf16()) {
        let message = format!("{} is not text: byte {at} is NUL", refusal::shown(path));
        return Err(Error::new(ErrorCode::NotText, message).at(path));
    }
    let mut locator = Locator::new(path, &text, options, call);
    let located = locator.locate_all(changes)?;
    refuse_overlaps(path, text.bytes(), &located)?;
    assemble(path, content, &text, located, options)
}

fn refuse_overlaps(path: &str, text: &[u8], located: &[Located]) -> Result<(), Error> {
    let places = located.iter().enumerate();
    let places = places.flat_map(|(index, change)| change.places.iter().map(move |at| (at, index)));
    let mut places: Vec<_> = places.collect();
    places.sort_by_key(|(at, index)| (at.start, *index));
    let overlap = places.windows(2).find_map(|pair| match pair {
        [(one, first), (other, second)] if other.start < one.end => {
            Some((*first.min(second), *first.max(second), other.start))
        }
        _ => None,
    });
    let Some((first, second, at)) = overlap else { return Ok(()) };
    let line = places::line_number(text, at);
    let shown = refusal::shown(path);
    let message = format!("edits[{first}] and edits[{second}] overlap at line {line} of {shown}");
    let error = Error::new(ErrorCode::InvalidArgument, message).at(path);
    Err(error.with_hint("Nothing was changed; make one edit of the two."))
}

/// Puts the new content together.
fn assemble(
    path: &str,
    content: &[u8],
    text: &Text<'_>,
    located: Vec<Located>,
    options: &Options,
) -> Result<Edited, Error> {
    let match_kinds = located.iter().map(|change| change.kind).collect();
    let counts = located.iter().map(|change| change.places.len()).collect();
    let (mut notes, mut pieces, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for change in located {
        let new: Vec<String> =
            change.notes.into_iter().filter(|note| !notes.contains(note)).collect();
        notes.extend(new);
        pieces.extend(change.pieces);
        places.extend(change.places);
    }
    // Stable, and by the place that a piece belongs to: two may insert at the same byte.
    pieces.sort_by_key(|piece: &Piece| (piece.place, piece.range.start));
    places.sort_by_key(|place: &Range<usize>| place.start);
    let lines = touched::count(text.bytes(), &places, &pieces);
    let growth: usize = pieces.iter().map(|piece| text.encode(&piece.text).len()).sum();
    if content.len().saturating_add(growth) > options.max_bytes {
        refuse_size(path, content.len(), &pieces, text, options)?;
    }
    let mut new = Vec::with_capacity(content.len() + growth);
    let splices = splice(content, text, &pieces, &mut new)?;
    Ok(Edited { content: new, splices, match_kinds, notes, places: counts, lines })
}

/// Copies the content with the pieces put in, and tells what was replaced.
fn splice(
    content: &[u8],
    text: &Text<'_>,
    pieces: &[Piece],
    new: &mut Vec<u8>,
) -> Result<Vec<Splice>, Error> {
    let mut splices = Vec::with_capacity(pieces.len());
    let mut offsets = text.offsets();
    let mut copied = 0;
    for piece in pieces {
        let old = offsets.in_file(piece.range.start)?..offsets.in_file(piece.range.end)?;
        new.extend_from_slice(checked::bytes(content, copied..old.start)?);
        let start = new.len();
        new.extend_from_slice(&text.encode(&piece.text));
        copied = old.end;
        splices.push(Splice { old, new: start..new.len() });
    }
    new.extend_from_slice(checked::bytes(content, copied..)?);
    Ok(splices)
}

fn refuse_size(
    path: &str,
    len: usize,
    pieces: &[Piece],
    text: &Text<'_>,
    options: &Options,
) -> Result<(), Error> {
    let mut offsets = text.offsets();
    let mut size = len;
    for piece in pieces {
        let from = offsets.in_file(piece.range.start)?;
        let removed = offsets.in_file(piece.range.end)? - from;
        size = size.saturating_add(text.encode(&piece.text).len()) - removed;
    }
    if size <= options.max_bytes {
        return Ok(());
    }
    let most = options.max_bytes;
    let shown = refusal::shown(path);
    let message = format!("{shown} would have {size} bytes; an edit makes at most {most}");
    Err(Error::new(ErrorCode::TooLarge, message).at(path))
}
