//! What differs between `old_text` and `new_text`, and where that lies in the matched bytes.

use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use crate::edit::checked;
use crate::edit::fold::Folded;
use crate::error::Error;

/// Texts of more lines together than this are one region.
const MAX_LINES: usize = 4000;

/// A range of `old_text` and the range of `new_text` that replaces it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Region {
    pub(super) old: Range<usize>,
    pub(super) new: Range<usize>,
}

/// Which lines of two texts differ: the same ones however both texts are shifted.
pub(super) struct Changed(Option<Vec<DiffOp>>);

impl Changed {
    pub(super) fn of(old: &str, new: &str) -> Changed {
        let old: Vec<&str> = old.split_inclusive('\n').collect();
        let new: Vec<&str> = new.split_inclusive('\n').collect();
        if old.len() + new.len() > MAX_LINES {
            return Changed(None);
        }
        let mut operations = capture_diff_slices(Algorithm::Myers, &old, &new);
        operations.retain(|operation| operation.tag() != DiffTag::Equal);
        Changed(Some(operations))
    }

    /// The regions in which the two texts, shifted alike, differ, in order; lines that both have
    /// are in none.
    ///
    /// # Errors
    /// `INTERNAL` if the texts are not those that were compared.
    pub(super) fn regions(&self, old: &str, new: &str) -> Result<Vec<Region>, Error> {
        let Changed(Some(operations)) = self else {
            let whole = Region { old: 0..old.len(), new: 0..new.len() };
            return Ok(trimmed(whole, old, new)?.into_iter().collect());
        };
        let (old_starts, new_starts) = (starts(old), starts(new));
        let bytes = |starts: &[usize], lines: Range<usize>| {
            let at = |line: usize| starts.get(line).copied().ok_or_else(checked::fault);
            Ok::<_, Error>(at(lines.start)?..at(lines.end)?)
        };
        let regions = operations.iter().map(|operation| {
            let old_bytes = bytes(&old_starts, operation.old_range())?;
            let new_bytes = bytes(&new_starts, operation.new_range())?;
            trimmed(Region { old: old_bytes, new: new_bytes }, old, new)
        });
        regions.filter_map(Result::transpose).collect()
    }
}

/// Where each line starts, and where the last one ends.
fn starts(text: &str) -> Vec<usize> {
    let mut at = 0;
    let starts = text.split_inclusive('\n').map(|line| {
        at += line.len();
        at
    });
    std::iter::once(0).chain(starts).collect()
}

/// The region without the characters that both sides begin and end with.
fn trimmed(region: Region, old: &str, new: &str) -> Result<Option<Region>, Error> {
    let old_part = checked::text(old, region.old.clone())?;
    let new_part = checked::text(new, region.new.clone())?;
    let pairs = old_part.chars().zip(new_part.chars());
    let prefix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let (old_rest, new_rest) =
        (checked::text(old_part, prefix..)?, checked::text(new_part, prefix..)?);
    let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
    let suffix: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    let inner = |range: Range<usize>| range.start + prefix..range.end - suffix;
    let region = Region { old: inner(region.old), new: inner(region.new) };
    Ok((!region.old.is_empty() || !region.new.is_empty()).then_some(region))
}

/// The range of `new_text` for a region, and the range of the matched bytes, which `file` was
/// folded from, that it replaces; both are widened alike where a fold would be split.
pub(super) fn place(region: &Region, old: &Folded, file: &Folded) -> (Range<usize>, Range<usize>) {
    let raw = &region.old;
    let mut folded = old.of_source(raw);
    loop {
        let wider = old.whole(file.whole(folded.clone()));
        if wider == folded {
            break;
        }
        folded = wider;
    }
    // Characters that fold to nothing go only if those of `old_text` at the same place go.
    let takes_before = !raw.is_empty() && raw.start < old.latest(folded.start);
    let takes_after = !raw.is_empty() && raw.end > old.earliest(folded.end);
    let ends = |text: &Folded| {
        let start =
            if takes_before { text.earliest(folded.start) } else { text.latest(folded.start) };
        let end = if takes_after { text.latest(folded.end) } else { text.earliest(folded.end) };
        start.min(end)..end
    };
    let wide = ends(old);
    let (start, end) = (wide.start.min(raw.start), wide.end.max(raw.end));
    let new_start = region.new.start - (raw.start - start).min(region.new.start);
    (new_start..region.new.end + (end - raw.end), ends(file))
}
