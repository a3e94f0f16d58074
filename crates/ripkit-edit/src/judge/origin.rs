//! Looks for the lines from which `old_text` may have been copied: another place is meant then.

use std::ops::Range;

use crate::text::LineTable;

/// How many lines of the file a quotation may lack, and the fewest lines of which one may have changed.
const MAX_LACKING: usize = 2;
const MIN_CHANGED_LINES: usize = 4;

/// The longest quotation that is looked for, in lines.
const MAX_LINES: usize = 200;

/// The line, from 1, outside of the match, at which the lines of `old` begin in order and with the indentation
/// that they have there, but for one in four, and with others between them. They are at least two.
pub(super) fn line_of_origin(text: &[u8], matched: &Range<usize>, old: &str) -> Option<usize> {
    let lines = old.lines().map(|line| line.as_bytes().trim_ascii_end());
    let lines: Vec<&[u8]> = lines.filter(|line| !line.is_empty()).collect();
    (2..=MAX_LINES).contains(&lines.len()).then_some(())?;
    let max_changed = lines.len() / MIN_CHANGED_LINES;
    let len = old.lines().count() + MAX_LACKING;
    let file = LineTable::new(text);
    let found = file.line_at(matched.start)..=file.line_at(matched.end.saturating_sub(1));
    let line = |number: usize| file.line(number).filter(|_| !found.contains(&number));
    let line = |number: usize| line(number).map(<[u8]>::trim_ascii_end);
    let begins_at = |at: &usize| {
        if !line(*at).is_some_and(|first| lines[..=max_changed].contains(&first)) {
            return false;
        }
        let (mut next, mut equal) = (0, 0);
        for below in (*at..*at + len).filter_map(line) {
            let mut wanted = lines[next..].iter().take(max_changed + 1);
            if let Some(skipped) = wanted.position(|it| *it == below) {
                next += skipped + 1;
                equal += 1;
            }
        }
        equal + max_changed >= lines.len()
    };
    (0..file.len()).find(begins_at).map(|at| at + 1)
}
