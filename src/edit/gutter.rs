//! Line numbers pasted together with the lines that they number.

use crate::edit::change::Change;
use crate::edit::places::line_number;
use crate::text::gutter;

/// What stands between the number and the line: as `read_file` prints it, or as others do.
const MARKS: [&str; 4] = [gutter::MARK, "\t", ":", "→"];

/// A change without its line numbers.
pub(super) struct Bare {
    pub(super) change: Change,
    first: usize,
    lines: usize,
    mark: &'static str,
    is_new_stripped: bool,
}

impl Bare {
    /// A single number proves little, such as the `8080:` of a port, and so do marks that stand in
    /// tables and mappings: then the lines must have these very numbers.
    pub(super) fn fits(&self, text: &[u8], at: usize) -> bool {
        let is_ours = self.mark == gutter::MARK && self.lines > 1;
        is_ours || line_number(text, at) == self.first
    }

    pub(super) fn note(&self) -> String {
        let texts = if self.is_new_stripped { "old_text and new_text" } else { "old_text" };
        format!("The line numbers at the start of the lines of {texts} were taken off.")
    }
}

/// The change without line numbers, if every line of `old_text` has one and they count up. Those of
/// `new_text` go too, whatever they are; `None` if only some of its lines have one.
pub(super) fn strip(change: &Change) -> Option<Bare> {
    MARKS.iter().find_map(|mark| {
        let (numbers, old_text) = bare(gutter::without_header(&change.old_text), mark)?;
        let first = *numbers.first()?;
        let last = *numbers.last()?;
        if !numbers.iter().copied().eq(first..=last) {
            return None;
        }
        let new_text = gutter::without_header(&change.new_text);
        let (new_text, is_new_stripped) = match bare(new_text, mark) {
            Some((_, new_text)) => (new_text, true),
            None if new_text.lines().any(|line| split(line, mark).is_some()) => return None,
            None => (change.new_text.clone(), false),
        };
        let lines = numbers.len();
        Some(Bare { change: Change { old_text, new_text }, first, lines, mark, is_new_stripped })
    })
}

/// The numbers of all lines, and the text without them.
fn bare(text: &str, mark: &str) -> Option<(Vec<usize>, String)> {
    let mut numbers = Vec::new();
    let mut stripped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let (number, rest) = split(line, mark)?;
        numbers.push(number);
        stripped.push_str(rest);
    }
    (!stripped.is_empty()).then_some((numbers, stripped))
}

fn split<'a>(line: &'a str, mark: &str) -> Option<(usize, &'a str)> {
    let line = line.trim_start_matches(' ');
    let digits = line.len() - line.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
    let (number, rest) = line.split_at_checked(digits)?;
    let number = number.parse().ok()?;
    if let Some(rest) = rest.strip_prefix(mark) {
        return Some((number, rest));
    }
    // An empty line, whose last blank was lost on the way.
    let bare = rest.strip_prefix(mark.trim_end_matches(' '))?;
    matches!(bare, "" | "\n" | "\r\n").then_some((number, bare))
}
