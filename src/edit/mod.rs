//! Edits: finds `old_text` in the bytes of a file and replaces it; all other bytes stay unchanged.
//!
//! All replacements are located in the original; then all are applied, or none. Where `old_text`
//! matches only normalized, only what differs between `old_text` and `new_text` is spliced: what
//! both have in common stays in the file's own bytes, with its quotes, trailing blanks and line
//! endings.

mod align;
mod already_applied;
pub(crate) mod diff;
mod fit;
pub(crate) mod hunks;
mod line_numbers;
mod line_stats;
mod lines;
mod locate;
mod lone_line;
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

use std::borrow::Cow;
use std::ops::Range;

use crate::context::Call;
use crate::edit::fit::Patch;
use crate::edit::line_stats::LineStats;
pub use crate::edit::lines::LineRange;
pub(crate) use crate::edit::lines::{CopiedLines, LineEdit, NewLines, copy_lines};
use crate::edit::locate::{Located, Locator};
pub(crate) use crate::edit::refusal::{report_conflict, report_difference};
pub(crate) use crate::edit::replacement::{
    Change, EditOptions, Replacement, Splice, TextSource, changed_lines,
};
pub use crate::edit::replacement::{MatchKind, Matching};
pub(crate) use crate::edit::text::DecodedText;
use crate::edit::text::{OffsetMap, line_number, slice};
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

/// Makes all changes in `content`, the bytes of the file at `path`.
///
/// # Errors
/// `INVALID_ARGUMENT`: an `old_text` is empty or equal to its `new_text`, there are no such lines,
/// changes overlap, or nothing would change. `PATTERN_NOT_FOUND`, `PATTERN_NOT_UNIQUE`. `NOT_TEXT`:
/// NUL bytes in a file that is not UTF-16. `TOO_LARGE`: over `max_bytes`. `CANCELLED`, `TIMEOUT`.
pub(crate) fn apply<C: Clone + Into<Change>>(
    path: &str,
    content: &[u8],
    edits: &[C],
    options: &EditOptions,
    call: &Call,
) -> Result<EditedFile, Error> {
    let text = DecodedText::of_text(path, content)?;
    let edits: Vec<Change> = edits.iter().cloned().map(Into::into).collect();
    let located = Locator::new(path, &text, options, call).locate_all(&edits)?;
    refuse_overlaps(path, text.bytes(), &located)?;
    assemble(path, content, &text, located, options)
}

fn refuse_overlaps(path: &str, text: &[u8], located: &[Located]) -> Result<(), Error> {
    let matches = located.iter().enumerate();
    let matches = matches.flat_map(|(index, edit)| edit.matches.iter().map(move |at| (at, index)));
    let mut matches: Vec<_> = matches.collect();
    matches.sort_by_key(|(at, index)| (at.start, at.end, *index));
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
    // A stable sort, first by match: two patches may insert at the same byte, where another begins.
    patches.sort_by_key(|patch: &Patch| (patch.match_start, patch.range.start, patch.range.end));
    matches.sort_by_key(|matched: &Range<usize>| (matched.start, matched.end));
    let line_stats = LineStats::count(text.bytes(), &matches, &patches)?;
    let new_texts = patches.iter().map(|patch| text.encode(&patch.text));
    let new_texts = new_texts.collect::<Result<Vec<_>, Error>>()?;
    let growth: usize = new_texts.iter().map(|new| new.len()).sum();
    let mut offsets = text.offsets();
    let replaced = patches.iter().map(|patch| range_in_file(&mut offsets, patch));
    let replaced = replaced.collect::<Result<Vec<_>, Error>>()?;
    let removed: usize = replaced.iter().map(Range::len).sum();
    let size = content.len().saturating_add(growth) - removed;
    if size > options.max_bytes {
        return Err(too_large(path, size, options.max_bytes));
    }
    let mut new = Vec::with_capacity(size);
    let splices = splice(content, replaced, &new_texts, &mut new)?;
    Ok(EditedFile { content: new, splices, match_kinds, notes, match_counts, line_stats })
}

/// Appends the content, with each `replaced` range replaced, to `new`.
fn splice(
    content: &[u8],
    replaced: Vec<Range<usize>>,
    new_texts: &[Cow<'_, [u8]>],
    new: &mut Vec<u8>,
) -> Result<Vec<Splice>, Error> {
    let mut splices = Vec::with_capacity(replaced.len());
    let mut copied = 0;
    for (old, new_text) in replaced.into_iter().zip(new_texts) {
        new.extend_from_slice(slice(content, copied..old.start)?);
        let start = new.len();
        new.extend_from_slice(new_text);
        copied = old.end;
        splices.push(Splice { old, new: start..new.len() });
    }
    new.extend_from_slice(slice(content, copied..)?);
    Ok(splices)
}

fn range_in_file(offsets: &mut OffsetMap<'_>, patch: &Patch) -> Result<Range<usize>, Error> {
    Ok(offsets.in_file(patch.range.start)?..offsets.in_file(patch.range.end)?)
}

fn too_large(path: &str, size: usize, max: usize) -> Error {
    let shown = show::short_path(path);
    let message = format!("{shown} would have {size} bytes; an edit makes at most {max}");
    Error::new(ErrorCode::TooLarge, message).at(path)
}
