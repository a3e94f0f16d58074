//! Lines of `old_text` that stand elsewhere as they are quoted, but with others between them.

use crate::text::LineTable;

/// How many lines between them a quotation may lack.
const MAX_LACKING: usize = 2;

/// The line, from 1, at which the lines of `old` begin with the indentation that they have there, if they are
/// several and are in order.
pub(super) fn line_of_gapped(text: &[u8], old: &str) -> Option<usize> {
    let lines = old.lines().map(|line| line.as_bytes().trim_ascii_end());
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    let (first, further) = lines.split_first()?;
    let len = old.lines().count() + MAX_LACKING;
    let file = LineTable::new(text);
    let begins_at = |at: &usize| {
        let mut below = file.lines(*at..*at + len).map(<[u8]>::trim_ascii_end);
        below.next() == Some(first) && further.iter().all(|line| below.any(|next| next == *line))
    };
    let at = (0..file.len()).find(begins_at).filter(|_| !further.is_empty())?;
    Some(at + 1)
}
