//! The part of a line that is nearest to a text of one line.

#[cfg(test)]
mod tests;

use memchr::memmem::Finder;

use crate::context::Call;
use crate::edit::hint::difference;
use crate::edit::hint::file::{CANDIDATES, File, MAX_HITS, probe_count, says_something};
use crate::edit::hint::likeness::{MAX_LINE_BYTES, likeness};
use crate::edit::replacement::go_on;
use crate::error::Error;
use crate::text::clip;
use crate::text::line_number::LineNumber;

/// The fewest bytes of a piece that is looked for.
const PIECE_BYTES: usize = 6;

/// Pieces of the old text that are out of place by no more than this are of one place.
const SLACK: usize = 32;

/// From this likeness on, of 1, a part is worth showing; the letters of any two sentences are
/// somewhat alike.
const WORTH_SHOWING: f64 = 0.6;

/// Bytes of a line that are shown, if there is room, and at least.
const WINDOW_BYTES: usize = 800;
const LEAST_WINDOW_BYTES: usize = 160;

/// A part of a line that is like `old`.
pub(in crate::edit) struct Part<'a> {
    line: &'a [u8],
    /// The number of the line, from 1.
    number: usize,
    /// Where in the line the part begins.
    start: usize,
    old: &'a str,
    pub(super) likeness: f64,
}

/// A piece of the old text that was found.
#[derive(Clone, Copy)]
struct Hit {
    /// Where the old text would begin.
    start: usize,
    /// Where the piece begins in the old text.
    offset: usize,
    /// Where the piece is.
    at: usize,
    worth: usize,
}

/// The part of a line of the file that is most like `old`, if one is like it at all.
pub(super) fn nearest<'a>(
    file: &File<'a>,
    old: &'a str,
    call: &Call,
) -> Result<Option<Part<'a>>, Error> {
    let mut best: Option<Part<'a>> = None;
    let start = clip::truncate(old, MAX_LINE_BYTES);
    if !says_something(start) {
        return Ok(None);
    }
    for hit in candidates(file.text, start, call)? {
        go_on(call)?;
        let Some(part) = Part::at(file, hit, old) else { continue };
        let most = best.as_ref().map_or(WORTH_SHOWING, |best| best.likeness);
        // Of parts that are alike the first, except of none.
        if part.likeness > most || (best.is_none() && part.likeness >= most) {
            best = Some(part);
        }
    }
    Ok(best)
}

/// Of places that have much in common with `old`, the earliest piece, the best first.
fn candidates(text: &[u8], old: &str, call: &Call) -> Result<Vec<Hit>, Error> {
    let mut hits: Vec<Hit> = Vec::new();
    for (offset, piece) in pieces(old, probe_count(text.len())) {
        go_on(call)?;
        let finder = Finder::new(piece);
        let found: Vec<usize> = finder.find_iter(text).take(MAX_HITS).collect();
        let worth = 1000 / found.len().max(1);
        let found = found.into_iter();
        hits.extend(found.map(|at| Hit { start: at.saturating_sub(offset), offset, at, worth }));
    }
    hits.sort_by_key(|hit| (hit.start, hit.offset));
    let ranked = hits.iter().enumerate().filter_map(|(index, first)| {
        let near = hits.get(index..)?.iter().take_while(|hit| hit.start - first.start <= SLACK);
        let votes: usize = near.clone().map(|hit| hit.worth).sum();
        Some((votes, *near.min_by_key(|hit| hit.offset)?))
    });
    let mut ranked: Vec<(usize, Hit)> = ranked.collect();
    ranked.sort_by_key(|(votes, hit)| (usize::MAX - votes, hit.start));
    ranked.dedup_by_key(|(_, hit)| hit.start);
    Ok(ranked.into_iter().take(CANDIDATES).map(|(_, hit)| hit).collect())
}

/// Pieces of about the same length, at most `most`, and where they begin.
fn pieces(old: &str, most: usize) -> impl Iterator<Item = (usize, &str)> {
    let count = (old.len() / PIECE_BYTES).clamp(1, most);
    let cut = move |part: usize| old.floor_char_boundary(old.len() * part / count);
    let pieces = (0..count).filter_map(move |part| {
        let start = cut(part);
        Some((start, old.get(start..cut(part + 1))?))
    });
    pieces.filter(|(_, piece)| !piece.trim().is_empty())
}

impl<'a> Part<'a> {
    fn at(file: &File<'a>, hit: Hit, old: &'a str) -> Option<Part<'a>> {
        let index = file.line_of(hit.at);
        let line = file.line(index)?;
        let start = hit.start.saturating_sub(*file.starts.get(index)?);
        let mut part = Part { line, number: index + 1, start, old, likeness: 0.0 };
        let text = part.text();
        let text = text.get(..old.len()).unwrap_or(text);
        part.likeness = likeness(&[text], &[old]);
        Some(part)
    }

    /// The line from the start of the part.
    fn text(&self) -> &'a [u8] {
        self.line.get(self.start..).unwrap_or_default()
    }

    /// The part with what is round it, and what differs first, in at most `room` bytes or little
    /// more.
    pub(super) fn advice(&self, room: usize) -> String {
        let same = difference::same(self.text(), self.old);
        let with_signs = difference::begins_but_for_blanks(self.text(), self.old);
        let told = difference::told(self.text(), self.old, with_signs);
        let (number, column) = (self.number, self.start + same + 1);
        let sentence = format!("Line {number} differs at column {column}: {told}.");
        let left = room.saturating_sub(sentence.len());
        let window = Some(self.window(same, WINDOW_BYTES)).filter(|window| window.len() <= left);
        let window = window.unwrap_or_else(|| self.window(same, LEAST_WINDOW_BYTES));
        format!("Did you mean:\n```\n{}{window}\n```\n{sentence}", LineNumber(number as u64))
    }

    /// At most `limit` bytes of the line: all of the part, or what is round the first difference.
    fn window(&self, same: usize, limit: usize) -> String {
        let line = self.line.strip_suffix(b"\r").unwrap_or(self.line);
        let len = self.old.len();
        let end = self.start + len;
        let at = self.start + same;
        let span = if len <= limit { (self.start, end) } else { (at, at) };
        clip::window(line, &[span], limit.min(len.max(LEAST_WINDOW_BYTES) + SLACK)).text
    }
}
