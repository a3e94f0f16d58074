//! A file by its lines, and what is worth looking for in it.

use std::ops::Range;

/// Bytes of the file that are searched in all, whatever its size.
pub(super) const MAX_SEARCHED: usize = 160 << 20;

/// The most and the fewest texts that are looked for.
pub(super) const PROBES: Range<usize> = 4..32;

/// A text that is found in more lines than this says little about the place.
pub(super) const MAX_HITS: usize = 200;

/// Places that are compared precisely.
pub(super) const CANDIDATES: usize = 8;

pub(super) struct File<'a> {
    pub(super) text: &'a [u8],
    /// Where each line starts.
    pub(super) starts: Vec<usize>,
}

impl<'a> File<'a> {
    pub(super) fn of(text: &'a [u8]) -> File<'a> {
        let ends = memchr::memchr_iter(b'\n', text).map(|at| at + 1);
        let starts = std::iter::once(0).chain(ends).filter(|&start| start < text.len());
        File { text, starts: starts.collect() }
    }

    pub(super) fn line_of(&self, at: usize) -> usize {
        self.starts.partition_point(|&start| start <= at).saturating_sub(1)
    }

    /// A line with its `\r`, if it has one, and without its `\n`.
    pub(super) fn line(&self, line: usize) -> Option<&'a [u8]> {
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).copied().unwrap_or(self.text.len());
        let line = self.text.get(start..end)?;
        Some(line.strip_suffix(b"\n").unwrap_or(line))
    }

    pub(super) fn window(&self, first: usize, lines: usize) -> Vec<&'a [u8]> {
        (first..first + lines).map_while(|line| self.line(line)).collect()
    }
}

pub(super) fn says_something(line: &str) -> bool {
    line.chars().filter(|letter| letter.is_alphanumeric()).count() > 2
}

/// How many texts are looked for in a file of `len` bytes.
pub(super) fn probe_count(len: usize) -> usize {
    (MAX_SEARCHED / len.max(1)).clamp(PROBES.start, PROBES.end)
}
