//! Looks for the lines from which `old_text` may have been copied: another place is meant then.

use std::collections::HashMap;
use std::ops::Range;

use super::Judge;
use crate::locate::TextMatch;
use crate::matching::MatchKind;
use crate::options::Stopped;

/// How many equal lines of `old_text` count.
const MAX_REPEATS: usize = 3;

/// The fewest lines of an `old_text` of which one may have changed since it was quoted.
const MIN_CHANGED_LINES: usize = 4;

/// Lines between two checks of whether to stop.
const CHECK_INTERVAL: usize = 16_384;

impl Judge<'_, '_> {
    /// The first line, outside of the match, of lines that are `old_text` with its indentation but for
    /// one in four: these may have changed since they were quoted.
    pub(super) fn find_origin(&self, matched: &TextMatch) -> Result<Option<Range<usize>>, Stopped> {
        if self.found.kind != MatchKind::Indentation {
            return Ok(None);
        }
        let mut olds: HashMap<&[u8], Vec<usize>> = HashMap::new();
        let mut count = 0_usize;
        for (at, line) in self.edit.old_text.lines().enumerate() {
            if !line.trim().is_empty() {
                count += 1;
                let same = olds.entry(line.trim_end().as_bytes()).or_default();
                if same.len() < MAX_REPEATS {
                    same.push(at);
                }
            }
        }
        if count < MIN_CHANGED_LINES {
            return Ok(None);
        }
        let needed = count - count / MIN_CHANGED_LINES;
        // How many lines are where they would be if `old_text` began at a line of the file.
        let mut equal: HashMap<usize, usize> = HashMap::new();
        let mut start = 0;
        for (number, line) in self.matcher.text().split(|&byte| byte == b'\n').enumerate() {
            if number % CHECK_INTERVAL == 0 {
                self.matcher.stop().check()?;
            }
            let range = start..start + line.len();
            start += line.len() + 1;
            let Some(same) = olds.get(line.trim_ascii_end()) else { continue };
            if matched.range.contains(&range.start) {
                continue;
            }
            for first in same.iter().filter_map(|at| number.checked_sub(*at)) {
                let equal = equal.entry(first).or_default();
                *equal += 1;
                if *equal == needed {
                    return Ok(Some(range));
                }
            }
        }
        Ok(None)
    }
}
