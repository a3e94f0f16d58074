//! Edits: finds `old_text` in the bytes of a file and replaces it; all other bytes stay unchanged.
//!
//! All replacements are located in the original; then all are applied, or none. Where `old_text`
//! matches only normalized, only what differs between `old_text` and `new_text` is spliced: what
//! both have in common stays in the file's own bytes, with its quotes, trailing blanks and line
//! endings.

mod already_applied;
pub(crate) mod diff;
mod fit;
mod line_numbers;
mod line_stats;
mod locate;
mod matcher;
mod normalize;
mod refusal;
mod regions;
mod reindent;
mod replacement;
mod show;
mod suggest;
mod text;
mod whitespace;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::context::Call;
use crate::edit::fit::Patch;
use crate::edit::line_stats::LineStats;
use crate::edit::locate::{Located, Locator};
pub(crate) use crate::edit::refusal::{report_conflict, report_difference};
pub(crate) use crate::edit::replacement::{EditOptions, Splice};
pub use crate::edit::replacement::{MatchKind, Matching, Replacement};
use crate::edit::text::{DecodedText, OffsetMap, line_number, slice};
use crate::error::{Error, ErrorCode};

/// An edited file.
#[derive(Debug)]
pub(crate) struct EditedFile {
    pub(crate) content: Vec<u8>,
    /// In ascending order.
    pub(crate) splices: Vec<Splice>,
    /// One for each replacement.
    pub(crate) match_kinds: Vec<MatchKind>,
    /// Repairs that the caller should know about, one sentence each.
    pub(crate) notes: Vec<String>,
    /// The number of matches of each replacement.
    pub(crate) match_counts: Vec<usize>,
    pub(crate) line_stats: LineStats,
}

/// Makes all replacements in `content`, the bytes of the file at `path`.
///
/// # Errors
/// `INVALID_ARGUMENT`: an `old_text` is empty or equal to its `new_text`, replacements overlap, or
/// nothing would change. `PATTERN_NOT_FOUND`, `PATTERN_NOT_UNIQUE`. `NOT_TEXT`: NUL bytes in a
/// file that is not UTF-16. `TOO_LARGE`: over `max_bytes`. `CANCELLED`, `TIMEOUT`.
pub(crate) fn apply(
    path: &str,
    content: &[u8],
    edits: &[Replacement],
    options: &EditOptions,
    call: &Call,
) -> Result<EditedFile, Error> {
    let text = DecodedText::new(content);
    if let Some(at) = memchr::memchr(0, content).filter(|_| !text.is_utf16()) {
        let message = format!("{} is not text: byte {at} is NUL", show::short_path(path));
        return Err(Error::new(ErrorCode::NotText, message).at(path));
    }
    let located = Locator::new(path, &text, options, call).locate_all(edits)?;
    refuse_overlaps(path, text.bytes(), &located)?;
    assemble(path, content, &text, located, options)
}

fn refuse_overlaps(path: &str, text: &[u8], located: &[Located]) -> Result<(), Error> {
    let matches = located.iter().enumerate();
    let matches = matches.flat_map(|(index, edit)| edit.matches.iter().map(move |at| (at, index)));
    let mut matches: Vec<_> = matches.collect();
    matches.sort_by_key(|(at, index)| (at.start, *index));
    let overlap = matches.windows(2).find_map(|pair| match pair {
        [(one, first), (other, second)] if other.start < one.end => {
            Some((*first.min(second), *first.max(second), other.start))
        }
        _ => None,
    });
    let Some((first, second, at)) = overlap else { return Ok(()) };
    let line = line_number(text, at);
    let shown = show::short_path(path);
    let message = format!("edits[{first}] and edits[{second}] overlap at line {line} of {shown}");
    let error = Error::new(ErrorCode::InvalidArgument, message).at(path);
    Err(error.with_hint("Nothing was changed; make one edit of the two."))
}

/// Assembles the new content.
fn assemble(
    path: &str,
    content: &[u8],
    text: &DecodedText<'_>,
    located: Vec<Located>,
    options: &EditOptions,
) -> Result<EditedFile, Error> {
    let match_kinds = located.iter().map(|edit| edit.kind).collect();
    let match_counts = located.iter().map(|edit| edit.matches.len()).collect();
    let (mut notes, mut patches, mut matches) = (Vec::new(), Vec::new(), Vec::new());
    for edit in located {
        let new: Vec<String> =
            edit.notes.into_iter().filter(|note| !notes.contains(note)).collect();
        notes.extend(new);
        patches.extend(edit.patches);
        matches.extend(edit.matches);
    }
    // A stable sort, first by match: two patches may insert at the same byte.
    patches.sort_by_key(|patch: &Patch| (patch.match_start, patch.range.start));
    matches.sort_by_key(|matched: &Range<usize>| matched.start);
    let line_stats = LineStats::count(text.bytes(), &matches, &patches)?;
    let growth: usize = patches.iter().map(|patch| text.encode(&patch.text).len()).sum();
    if content.len().saturating_add(growth) > options.max_bytes {
        refuse_size(path, content.len(), &patches, text, options)?;
    }
    let mut new = Vec::with_capacity(content.len() + growth);
    let splices = splice(content, text, &patches, &mut new)?;
    Ok(EditedFile { content: new, splices, match_kinds, notes, match_counts, line_stats })
}

/// Appends the content with the patches applied to `new`.
fn splice(
    content: &[u8],
    text: &DecodedText<'_>,
    patches: &[Patch],
    new: &mut Vec<u8>,
) -> Result<Vec<Splice>, Error> {
    let mut splices = Vec::with_capacity(patches.len());
    let mut offsets = text.offsets();
    let mut copied = 0;
    for patch in patches {
        let old = range_in_file(&mut offsets, patch)?;
        new.extend_from_slice(slice(content, copied..old.start)?);
        let start = new.len();
        new.extend_from_slice(&text.encode(&patch.text));
        copied = old.end;
        splices.push(Splice { old, new: start..new.len() });
    }
    new.extend_from_slice(slice(content, copied..)?);
    Ok(splices)
}

fn range_in_file(offsets: &mut OffsetMap<'_>, patch: &Patch) -> Result<Range<usize>, Error> {
    Ok(offsets.in_file(patch.range.start)?..offsets.in_file(patch.range.end)?)
}

fn refuse_size(
    path: &str,
    len: usize,
    patches: &[Patch],
    text: &DecodedText<'_>,
    options: &EditOptions,
) -> Result<(), Error> {
    let mut offsets = text.offsets();
    let mut size = len;
    for patch in patches {
        let removed = range_in_file(&mut offsets, patch)?.len();
        size = size.saturating_add(text.encode(&patch.text).len()) - removed;
    }
    let max = options.max_bytes;
    if size <= max {
        return Ok(());
    }
    let shown = show::short_path(path);
    let message = format!("{shown} would have {size} bytes; an edit makes at most {max}");
    Err(Error::new(ErrorCode::TooLarge, message).at(path))
}
