//! How many lines an edit replaces, and by how many.

use std::iter::Peekable;
use std::ops::Range;

use crate::fit::Patch;

/// The number of lines that the matches lie on, before and after the edit. A line that several
/// matches touch counts once, and so does one of which only a part is matched or stays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineStats {
    /// Before the edit.
    pub old: usize,
    /// After it.
    pub new: usize,
}

impl LineStats {
    /// Matches and patches are in the order of the text.
    pub(crate) fn count(text: &[u8], matches: &[Range<usize>], patches: &[Patch]) -> LineStats {
        let mut stats = LineStats::default();
        let mut patches = patches.iter().peekable();
        let mut current: Option<TouchedLines<'_>> = None;
        // The end of the last line that was looked for, so that it is found once for all its matches.
        let mut line_end = 0;
        for matched in matches {
            let mut lines = match current.take() {
                Some(lines) if matched.start < lines.end => lines,
                before => {
                    let from = before.map_or(0, |lines| stats.add(lines));
                    let between = &text[from..matched.start];
                    let newline = memchr::memrchr(b'\n', between);
                    TouchedLines::new(text, newline.map_or(from, |newline| from + newline + 1))
                }
            };
            lines.add_match(matched, &mut patches);
            // The rest of the last line is touched unless both texts end a line here.
            if lines.old.is_open() || lines.new.is_open() {
                if line_end <= matched.end {
                    let rest = &text[matched.end..];
                    let newline = memchr::memchr(b'\n', rest);
                    line_end = matched.end + newline.map_or(rest.len(), |newline| newline + 1);
                }
                lines.end = line_end;
            }
            current = Some(lines);
        }
        if let Some(lines) = current {
            stats.add(lines);
        }
        stats
    }

    /// Adds the lines up to their end, which is returned.
    fn add(&mut self, mut lines: TouchedLines<'_>) -> usize {
        lines.keep(lines.end);
        self.old += lines.old.lines();
        self.new += lines.new.lines();
        lines.end
    }
}

/// Consecutive lines that matches touch, counted in the old and in the new text.
struct TouchedLines<'a> {
    text: &'a [u8],
    old: LineCount,
    new: LineCount,
    /// The offset up to which lines are counted.
    at: usize,
    /// The end of the touched lines.
    end: usize,
}

impl<'a> TouchedLines<'a> {
    fn new(text: &'a [u8], start: usize) -> TouchedLines<'a> {
        let (old, new) = (LineCount::default(), LineCount::default());
        TouchedLines { text, old, new, at: start, end: start }
    }

    fn add_match<'p>(
        &mut self,
        matched: &Range<usize>,
        patches: &mut Peekable<impl Iterator<Item = &'p Patch>>,
    ) {
        // Lines may be inserted where another match begins.
        let is_within = |patch: &&'p Patch| {
            patch.match_start <= matched.start && patch.range.end <= matched.end
        };
        while let Some(patch) = patches.next_if(is_within) {
            self.keep(patch.range.start);
            self.old.add(&self.text[patch.range.clone()]);
            self.new.add(&patch.text);
            self.at = patch.range.end;
        }
        self.end = matched.end;
        self.keep(matched.end);
    }

    /// Counts the unchanged text up to `end`.
    fn keep(&mut self, end: usize) {
        let kept = &self.text[self.at..end];
        self.old.add(kept);
        self.new.add(kept);
        self.at = end;
    }
}

/// A text whose lines are counted.
#[derive(Default)]
struct LineCount {
    newlines: usize,
    last: Option<u8>,
}

impl LineCount {
    fn add(&mut self, text: &[u8]) {
        self.newlines += memchr::memchr_iter(b'\n', text).count();
        self.last = text.last().copied().or(self.last);
    }

    /// Whether the text ends within a line.
    fn is_open(&self) -> bool {
        self.last.is_some_and(|last| last != b'\n')
    }

    fn lines(&self) -> usize {
        self.newlines + usize::from(self.is_open())
    }
}
