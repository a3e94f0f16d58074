//! Looks for the lines from which `old_text` may have been copied: another place is meant then.

use crate::text::LineTable;

/// How many lines of the file a quotation may lack, and the fewest lines of which one may have changed.
const MAX_LACKING: usize = 2;
const MIN_CHANGED_LINES: usize = 4;

/// The longest quotation that is looked for, in lines.
const MAX_LINES: usize = 200;

/// The line, from 1, at which the lines of `old` begin in order and with the indentation that they have there,
/// but for one in four, and with others between them. They are at least two.
pub(super) fn line_of_origin(text: &[u8], old: &str) -> Option<usize> {
    let lines = old.lines().map(|line| line.as_bytes().trim_ascii_end());
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    if lines.len() < 2 || lines.len() > MAX_LINES {
        return None;
    }
    let max_changed = lines.len() / MIN_CHANGED_LINES;
    let firsts = &lines[..=max_changed];
    let len = old.lines().count() + MAX_LACKING;
    let file = LineTable::new(text);
    let begins_at = |at: &usize| {
        let below = || file.lines(*at..*at + len).map(<[u8]>::trim_ascii_end);
        if !below().next().is_some_and(|first| firsts.contains(&first)) {
            return false;
        }
        let (mut next, mut equal) = (0, 0);
        for line in below() {
            if let Some(skipped) =
                lines[next..].iter().take(max_changed + 1).position(|it| *it == line)
            {
                next += skipped + 1;
                equal += 1;
            }
        }
        equal + max_changed >= lines.len()
    };
    (0..file.len()).find(begins_at).map(|at| at + 1)
}
