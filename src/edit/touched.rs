//! The lines that an edit touches, before and after it.

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::edit::locate::Piece;

/// How many lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lines {
    pub(crate) old: usize,
    pub(crate) new: usize,
}

/// Counts the lines that the `places` lie on, and those that stand there once the `pieces` are
/// put in; both are in the order of the text. A line that several places touch counts once, and
/// so does one of which only a part is touched or stays.
pub(super) fn count(text: &[u8], places: &[Range<usize>], pieces: &[Piece]) -> Lines {
    let mut count = Count { text, lines: Lines::default(), open: None, line_end: 0 };
    let mut pieces = pieces;
    for place in places {
        count.begin(place.start);
        let own = pieces.partition_point(|piece| piece.place <= place.start);
        let (mine, others) = pieces.split_at_checked(own).unwrap_or((pieces, &[]));
        for piece in mine {
            count.put(piece);
        }
        pieces = others;
        count.end(place.end);
    }
    count.close();
    count.lines
}

struct Count<'a> {
    text: &'a [u8],
    lines: Lines,
    /// The lines that are being counted.
    open: Option<Region>,
    /// The end of a line found before, so that no line is searched for each of its places.
    line_end: usize,
}

/// Whole lines of the old text and what has become of them.
struct Region {
    /// What is counted already.
    at: usize,
    /// Where its last line ends, if that is a part of it.
    end: usize,
    /// The last bytes before `at`, old and new.
    last: [Option<u8>; 2],
}

impl Count<'_> {
    /// Goes on with the lines at hand if `start` lies on them, else with those of `start`.
    fn begin(&mut self, start: usize) {
        let from = match &self.open {
            Some(region) if start < region.end => return,
            Some(region) => region.end,
            None => 0,
        };
        self.close();
        let between = self.text.get(from..start).unwrap_or_default();
        let line = memchr::memrchr(b'\n', between).map_or(from, |newline| from + newline + 1);
        self.open = Some(Region { at: line, end: line, last: [None; 2] });
    }

    /// Counts what stays up to `end`.
    fn keep(&mut self, end: usize) {
        let Some(region) = &mut self.open else { return };
        let Some(kept) = self.text.get(region.at..end) else { return };
        let newlines = newlines(kept);
        self.lines.old += newlines;
        self.lines.new += newlines;
        if let Some(&last) = kept.last() {
            region.last = [Some(last); 2];
        }
        region.at = end;
    }

    fn put(&mut self, piece: &Piece) {
        self.keep(piece.range.start);
        let Some(region) = &mut self.open else { return };
        let old = self.text.get(piece.range.clone()).unwrap_or_default();
        let new = piece.text.as_bytes();
        self.lines.old += newlines(old);
        self.lines.new += newlines(new);
        let [last_old, last_new] = region.last;
        region.last = [old.last().copied().or(last_old), new.last().copied().or(last_new)];
        region.at = piece.range.end;
    }

    /// Ends a place; the rest of its last line belongs to it unless both texts end a line here.
    fn end(&mut self, end: usize) {
        self.keep(end);
        let Some(region) = &mut self.open else { return };
        region.end = end;
        if !region.last.iter().any(|last| last.is_some_and(|last| last != b'\n')) {
            return;
        }
        if self.line_end <= end {
            let rest = self.text.get(end..).unwrap_or_default();
            let rest = memchr::memchr(b'\n', rest).map_or(rest.len(), |newline| newline + 1);
            self.line_end = end + rest;
        }
        region.end = self.line_end;
    }

    /// Counts the rest of the lines at hand.
    fn close(&mut self) {
        let Some(end) = self.open.as_ref().map(|region| region.end) else { return };
        self.keep(end);
        let Some(region) = self.open.take() else { return };
        let [old, new] =
            region.last.map(|last| usize::from(last.is_some_and(|last| last != b'\n')));
        self.lines.old += old;
        self.lines.new += new;
    }
}

fn newlines(text: &[u8]) -> usize {
    memchr::memchr_iter(b'\n', text).count()
}
