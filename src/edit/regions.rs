//! The regions in which `old_text` and `new_text` differ, and where they lie in a match.

use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::edit::normalize::Normalized;
use crate::edit::text::{LineTable, str_slice};
use crate::error::Error;

/// Texts with more lines together than this are treated as one region.
const MAX_DIFFED_LINES: usize = 4000;

/// A range of `old_text` and the range of `new_text` that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DiffRegion {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Which lines of two texts differ. They stay the same if both texts are shifted alike.
pub(super) struct LineDiff(Option<Vec<DiffOp>>);

impl LineDiff {
    pub(super) fn new(old: &str, new: &str) -> LineDiff {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        if old.len() + new.len() > MAX_DIFFED_LINES {
            return LineDiff(None);
        }
        let mut operations = capture_diff_slices(Algorithm::Myers, &old, &new);
        operations.retain(|operation| operation.tag() != DiffTag::Equal);
        LineDiff(Some(operations))
    }

    /// The ranges of `new` with the lines that the other text does not have in their place.
    ///
    /// # Errors
    /// `INTERNAL` if the text is not the one that was compared.
    pub(super) fn changed(&self, new: &str) -> Result<Vec<Range<usize>>, Error> {
        let LineDiff(Some(operations)) = self else {
            return Ok(std::iter::once(0..new.len()).collect());
        };
        let lines = LineTable::new(new.as_bytes());
        operations.iter().map(|operation| lines.bytes_of(operation.new_range())).collect()
    }

    /// The regions in which the two texts, perhaps shifted alike, differ, in order. Lines that both
    /// have are in none.
    ///
    /// # Errors
    /// `INTERNAL` if the texts are not those that were compared.
    pub(super) fn regions(&self, old: &str, new: &str) -> Result<Vec<DiffRegion>, Error> {
        let LineDiff(Some(operations)) = self else {
            let whole = DiffRegion { old: 0..old.len(), new: 0..new.len() };
            return Ok(whole.trimmed(old, new)?.into_iter().collect());
        };
        let (old_lines, new_lines) =
            (LineTable::new(old.as_bytes()), LineTable::new(new.as_bytes()));
        let regions = operations.iter().map(|operation| {
            let region = DiffRegion {
                old: old_lines.bytes_of(operation.old_range())?,
                new: new_lines.bytes_of(operation.new_range())?,
            };
            region.trimmed(old, new)
        });
        regions.filter_map(Result::transpose).collect()
    }
}

impl DiffRegion {
    /// The region without the common prefix and suffix of its texts; `None` if nothing is left.
    fn trimmed(self, old: &str, new: &str) -> Result<Option<DiffRegion>, Error> {
        let (old, new) = (str_slice(old, self.old.clone())?, str_slice(new, self.new.clone())?);
        let pairs = old.chars().zip(new.chars());
        let prefix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let (old, new) = (str_slice(old, prefix..)?, str_slice(new, prefix..)?);
        let pairs = old.chars().rev().zip(new.chars().rev());
        let suffix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
        let inner = |range: Range<usize>| range.start + prefix..range.end - suffix;
        let region = DiffRegion { old: inner(self.old), new: inner(self.new) };
        Ok((!region.old.is_empty() || !region.new.is_empty()).then_some(region))
    }

    /// The range of `new_text` for the region, and the range of the matched bytes that it replaces;
    /// both are widened alike where a substitution of `old`, the normalized `old_text`, or of `file`,
    /// the normalized match, would be split.
    pub(super) fn in_match(
        &self,
        old: &Normalized,
        file: &Normalized,
    ) -> (Range<usize>, Range<usize>) {
        let source = &self.old;
        let mut range = old.range_of(source);
        loop {
            let wider = old.widened(file.widened(range.clone()));
            if wider == range {
                break;
            }
            range = wider;
        }
        // Dropped characters are removed only if those of `old_text` at the same offset are.
        let takes_before = !source.is_empty() && source.start < old.source_end(range.start);
        let takes_after = !source.is_empty() && source.end > old.source_start(range.end);
        let ends = |text: &Normalized| {
            let start = if takes_before {
                text.source_start(range.start)
            } else {
                text.source_end(range.start)
            };
            let end =
                if takes_after { text.source_end(range.end) } else { text.source_start(range.end) };
            start.min(end)..end
        };
        let wide = ends(old);
        let (start, end) = (wide.start.min(source.start), wide.end.max(source.end));
        let new_start = self.new.start - (source.start - start).min(self.new.start);
        (new_start..self.new.end + (end - source.end), ends(file))
    }
}
