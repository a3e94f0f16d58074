//! Content to be written that is a page of a file, as `read_file` shows it, and not a whole file.
//!
//! A page that is written back as the whole file loses the rest of the file. Nothing is remembered
//! of earlier reads: the page is known by what is shown besides the text (numbers, header, notice),
//! or because it begins or ends exactly where a page of the present file does.

use std::collections::HashMap;

use crate::context::Limits;
use crate::read::page::{Room, Span, spans};
use crate::text::{decode, line_number};

/// How many lines at the end of a page, or at the beginning of a later one, tell that an edited
/// page is still that page. Fewer may be equal by chance, such as closing braces.
const COMMON_LINES: usize = 3;

/// How many of those must not be blank.
const COMMON_TEXTS: usize = 2;

/// An edited page is at most so many times as large as a page.
const MOST_GROWTH: usize = 4;

/// How many pages are compared line by line.
const MOST_COMPARED: usize = 8;

/// What shows that content is a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sign {
    /// It ends with this sentence of `read_file` on how to go on.
    Notice(String),
    /// Its lines begin with their numbers.
    Numbers,
    /// It begins and ends, or only ends, with these lines of the file, where a page does.
    Page {
        /// The first line of the page, from 1.
        first: u64,
        /// The last line of the page.
        last: u64,
    },
}

/// Tells by what sign `content` is a page, if it is one. `old` is the present file, empty if there
/// is none; of a huge file its beginning is enough. Text that looks like an answer of `read_file` is fine if it holds such text already.
pub(crate) fn sign(content: &str, old: &[u8], limits: &Limits) -> Option<Sign> {
    let mut decoded = String::new();
    let old = String::from_utf8_lossy(decode::text(old, &mut decoded));
    let notice = trailing(content).find(|line| is_continuation(line));
    if let Some(notice) = notice.filter(|_| !old.lines().any(is_continuation)) {
        return Some(Sign::Notice(notice.to_owned()));
    }
    if has_numbers(content, &old) {
        return Some(Sign::Numbers);
    }
    let text = without_notices(content);
    [true, false].into_iter().find_map(|numbered| {
        let room = Room { lines: limits.page_lines as u64, bytes: limits.text_bytes, numbered };
        File { text: &old, room }.page(text)
    })
}

/// Sentences about a page, or its file, behind its text.
fn is_told(line: &str) -> bool {
    line.starts_with("... (") || line.starts_with("Note: ")
}

/// Tells whether a line is the sentence with which a page says how to go on.
fn is_continuation(line: &str) -> bool {
    let notice = line.strip_prefix("... (").and_then(|line| line.strip_suffix(')'));
    let Some(notice) = notice.or_else(|| line.strip_prefix("Note: ")) else { return false };
    let begins_with_number =
        |text: &str| text.bytes().next().is_some_and(|byte| byte.is_ascii_digit());
    if let Some(size) = notice.strip_prefix("cut at ") {
        return begins_with_number(size) && (size.contains(" lines") || size.contains(" bytes"));
    }
    if let Some(line) = notice.strip_prefix("line ") {
        return begins_with_number(line) && line.contains(" bytes and is cut; ");
    }
    line.starts_with("... (incomplete: ")
}

/// The sentences at the end, the last first.
fn trailing(content: &str) -> impl Iterator<Item = &str> {
    content.trim_end().lines().rev().take_while(|line| is_told(line))
}

fn without_notices(content: &str) -> &str {
    let mut text = content;
    while let Some(line) = text.trim_end().lines().next_back().filter(|line| is_told(line)) {
        let end = text.trim_end().len() - line.len();
        text = text.split_at_checked(end).map_or(text, |(before, _)| before);
    }
    text
}

/// Tells whether the lines begin with their numbers in the old text, or are numbered throughout
/// as only a page is.
fn has_numbers(content: &str, old: &str) -> bool {
    if line_number::is_page(content) && !line_number::is_page(old) {
        let first = content.lines().find(|line| line_number::split(line).is_some());
        return !old.lines().any(|line| Some(line) == first);
    }
    let lines = content.lines().filter(|line| !is_told(line)).count();
    let after_end = old.lines().zip(2..).map(|(_, next)| next).last().unwrap_or(1);
    let mut old = old.lines().zip(1_i64..);
    let (mut equal, mut texts) = (0, 0);
    for (number, text) in content.lines().filter_map(line_number::split) {
        // A page from the end of a huge file has numbers that count from there.
        let number = if number < 0 { number.saturating_add(after_end) } else { number };
        // Numbers that do not ascend are not those of a page.
        let Some((line, _)) = old.by_ref().find(|(_, known)| *known >= number) else { break };
        // A line that is longer than a page is cut.
        let cut = text.strip_suffix('…').filter(|text| !text.is_empty());
        if line == text || cut.is_some_and(|text| line.starts_with(text)) {
            equal += 1;
            texts += usize::from(!text.trim().is_empty());
        }
    }
    texts > 0 && (equal >= COMMON_LINES || equal * 2 >= lines)
}

/// The present file, and how much of it a page holds.
struct File<'a> {
    text: &'a str,
    room: Room,
}

impl File<'_> {
    /// The page that the content is, if it is one and not the whole file.
    fn page(&self, content: &str) -> Option<Sign> {
        let too_large = content.len() > self.room.bytes.saturating_mul(MOST_GROWTH);
        let mut pages = spans(self.text, self.room);
        let first = pages.next()?;
        if content.is_empty() || too_large || first.rest.is_empty() && !first.cut {
            return None;
        }
        let mut compared = 0;
        let found = [first].into_iter().chain(pages).find(|page| {
            let is_near = self.is_near(page, content) && compared < MOST_COMPARED;
            compared += usize::from(is_near);
            is_exactly(page, content) || is_near && self.is_edited(page, content)
        })?;
        Some(Sign::Page { first: found.first, last: found.first + found.lines - 1 })
    }

    /// Tells whether the content ends where the first page ends, or begins where a later one
    /// begins, and the file does not end or begin so as well.
    fn is_near(&self, page: &Span<'_>, content: &str) -> bool {
        let (file, lines) = (self.text, page.text);
        match page.first {
            1 => {
                common(lines.lines().rev(), content.lines().rev())
                    && !common(file.lines().rev(), content.lines().rev())
            }
            _ => common(lines.lines(), content.lines()) && !common(file.lines(), content.lines()),
        }
    }

    /// Tells whether the content has most lines of the page and few of the others.
    fn is_edited(&self, page: &Span<'_>, content: &str) -> bool {
        let mut left: HashMap<&str, usize> = HashMap::new();
        for line in content.lines().filter(|line| !line.trim().is_empty()) {
            *left.entry(line).or_default() += 1;
        }
        let mut take = |text: &str| {
            let (mut all, mut found) = (0_usize, 0_usize);
            for line in text.lines().filter(|line| !line.trim().is_empty()) {
                all += 1;
                if let Some(count) = left.get_mut(line).filter(|count| **count > 0) {
                    *count -= 1;
                    found += 1;
                }
            }
            (all, found)
        };
        let (all, found) = take(page.text);
        let before = self.text.len() - page.text.len() - page.rest.len();
        let before = self.text.split_at_checked(before).map_or("", |(before, _)| before);
        let (others, kept) = (take(before), take(page.rest));
        let (others, kept) = (others.0 + kept.0, others.1 + kept.1);
        found * 2 >= all && kept * 5 < others
    }
}

/// Tells whether two texts have their first lines in common, in the order given.
fn common<'a>(one: impl Iterator<Item = &'a str>, other: impl Iterator<Item = &'a str>) -> bool {
    let equal = one.zip(other).take_while(|(one, other)| one == other).take(COMMON_LINES);
    let (lines, texts) = equal.fold((0, 0), |(lines, texts), (line, _)| {
        (lines + 1, texts + usize::from(!line.trim().is_empty()))
    });
    lines == COMMON_LINES && texts >= COMMON_TEXTS
}

/// Tells whether the content is this page to the byte, but for its line ends.
fn is_exactly(page: &Span<'_>, content: &str) -> bool {
    if page.cut {
        let content = content.trim_end().trim_end_matches('…');
        return content.trim_end() == page.text.trim_end() && !content.is_empty();
    }
    // One or two lines of a later page may be a file of their own.
    let is_long = page.first == 1 || page.lines >= COMMON_LINES as u64;
    is_long && page.text.lines().eq(content.lines())
}

#[cfg(test)]
mod tests;
