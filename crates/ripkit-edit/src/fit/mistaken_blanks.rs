//! Blanks at the ends of lines that a new text has only because the old one has them by mistake.

use std::borrow::Cow;
use std::collections::HashSet;

/// Lines of a new text without the blanks at their end, where `old` has the same line and the
/// `matched` text of the file has it without blanks.
pub(super) fn without_mistaken_blanks<'n>(
    old: &str,
    matched: &[u8],
    lines: &'n str,
) -> Cow<'n, str> {
    let has_blanks = |line: &&str| line.ends_with([' ', '\t']) && !line.trim().is_empty();
    let mistaken: HashSet<&str> = old.lines().filter(has_blanks).collect();
    if !lines.lines().any(|line| mistaken.contains(line)) {
        return Cow::Borrowed(lines);
    }
    let matched = String::from_utf8_lossy(matched);
    let bare = matched.lines().filter(|line| !has_blanks(line));
    let bare: HashSet<&str> = bare.map(str::trim).collect();
    let bare = lines.split_inclusive('\n').flat_map(|line| {
        let body = line.strip_suffix('\n').unwrap_or(line);
        let is_mistaken = mistaken.contains(body) && bare.contains(body.trim());
        let end = if body.len() < line.len() { "\n" } else { "" };
        [if is_mistaken { body.trim_end() } else { body }, end]
    });
    Cow::Owned(bare.collect())
}
