//! Whether `new_text` is indented like `old_text` or like the file, where the two differ.
//!
//! A model that gives `old_text` with another indentation than the file may give `new_text` with
//! the same mistake or without it. Only in the first case may `new_text` be indented anew. Lines
//! that both texts have, and lines of `new_text` that the file has near the place, show which case
//! it is. If they do not, or contradict each other, nothing may be changed.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use crate::edit::indent::{Blanks, Fit, Shift, indentation};

/// What is known about one place at which `old_text` was found but for its indentation.
pub(super) struct Frames<'a> {
    pub(super) old: &'a str,
    pub(super) new: &'a str,
    /// The ways in which `old` becomes the lines of the file.
    pub(super) fits: &'a [Fit],
    /// The text of the file above and below the place.
    pub(super) around: [&'a str; 2],
}

/// `new_text` as it is to stand in the file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Decided {
    /// `old_text` as the file has it.
    pub(super) old: String,
    pub(super) new: String,
    /// Whether `new_text` was indented anew, as `old_text` was.
    pub(super) is_moved: bool,
}

/// A line that is not blank.
#[derive(Clone, Copy)]
struct Line<'a> {
    blanks: &'a str,
    content: &'a str,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let lines = text.lines().map(|line| {
        let blanks = indentation(line);
        Line { blanks, content: line.strip_prefix(blanks).unwrap_or(line).trim_end() }
    });
    lines.filter(|line| !line.content.is_empty()).collect()
}

impl Frames<'_> {
    /// The text for the place, or `None` if it cannot be decided.
    pub(super) fn decide(&self) -> Option<Decided> {
        let fit = self.fits.first()?;
        let old = fit.apply(self.old)?;
        let moved = self.moved();
        let decided = |new: String, is_moved| Some(Decided { old: old.clone(), new, is_moved });
        let texts = Texts {
            old: lines(self.old),
            file: lines(&old),
            new: lines(self.new),
            moved: moved.as_deref().map(lines),
            shift: shift_blanks(&fit.shift),
        };
        if texts.old.len() != texts.file.len() || texts.new.is_empty() {
            return None;
        }
        // Both readings may come to the same.
        if moved.as_deref() == Some(self.new) {
            let is_level = texts.is_level(&texts.old) || texts.is_level(&texts.file);
            return is_level.then(|| decided(self.new.to_owned(), true)).flatten();
        }
        match texts.frame(self.fits, self.around)? {
            Frame::Old if fit.blanks == Blanks::Same && texts.is_rescaled(self.around) => None,
            Frame::Old => decided(moved?, true),
            Frame::File => decided(self.new.to_owned(), false),
        }
    }

    /// `new_text` indented anew as `old_text` is, if there is only one way to do that.
    fn moved(&self) -> Option<String> {
        let fits = plausible(self.fits, self.old, self.new);
        let mut all = fits.iter().filter_map(|fit| {
            let moved = fit.apply(self.new)?;
            self.is_known(&moved, fit).then_some(moved)
        });
        let moved = all.next()?;
        all.all(|other| other == moved).then_some(moved)
    }

    /// Whether every line has an indentation that is not made of tabs and spaces mixed, unless the
    /// lines of `old_text` have the same.
    fn is_known(&self, moved: &str, fit: &Fit) -> bool {
        let Some(old) = fit.apply(self.old) else { return false };
        let known: HashSet<&str> = lines(&old).iter().map(|line| line.blanks).collect();
        let is_mixed = |blanks: &str| blanks.contains(' ') && blanks.contains('\t');
        lines(moved).iter().all(|line| !is_mixed(line.blanks) || known.contains(line.blanks))
    }
}

/// Of several fits those whose number of spaces for a tab is that by which the texts indent.
fn plausible<'a>(fits: &'a [Fit], old: &str, new: &str) -> Vec<&'a Fit> {
    let lengths = [old, new]
        .map(|text| lines(text).iter().map(|line| line.blanks.len()).collect::<Vec<usize>>());
    let lengths = lengths.concat();
    let least = lengths.iter().min().copied().unwrap_or(0);
    let unit = lengths.iter().fold(0, |unit, len| divisor(unit, len - least));
    let is_plausible = |fit: &&Fit| match fit.blanks {
        Blanks::ToTabs(width) => match unit {
            8 | 16 | 24 => width != 2,
            2 | 4 => width == unit,
            12 => width == 4,
            _ => true,
        },
        Blanks::Same | Blanks::ToSpaces(_) => true,
    };
    let mut plausible: Vec<&Fit> = fits.iter().filter(is_plausible).collect();
    let is_level = |fit: &&Fit| fit.shift == Shift::None;
    if !plausible.iter().any(is_level) && fits.iter().any(|fit| is_level(&fit)) {
        // Lines that stand just as deep with tabs of a width that the steps contradict, such as
        // lines that go on by half a tab: the steps say nothing of the width then.
        return Vec::new();
    }
    if plausible.iter().any(|fit| fit.shift == Shift::None) {
        plausible.retain(|fit| fit.shift == Shift::None);
    }
    plausible
}

fn divisor(one: usize, other: usize) -> usize {
    if other == 0 { one } else { divisor(other, one % other) }
}

fn shift_blanks(shift: &Shift) -> &str {
    match shift {
        Shift::None => "",
        Shift::Deeper(blanks) | Shift::Shallower(blanks) => blanks,
    }
}

/// Which indentation a text has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    Old,
    File,
}

/// Lines that speak for one or the other.
#[derive(Clone, Copy, Default)]
struct Votes {
    old: usize,
    file: usize,
    /// For the file, if they were not put into a new block.
    file_unless_nested: usize,
}

impl Votes {
    fn is_none(self) -> bool {
        self.old == 0 && self.file == 0 && self.file_unless_nested == 0
    }
}

/// The lines that are not blank.
struct Texts<'a> {
    old: Vec<Line<'a>>,
    /// Those of `old` as the file has them.
    file: Vec<Line<'a>>,
    new: Vec<Line<'a>>,
    moved: Option<Vec<Line<'a>>>,
    shift: &'a str,
}

impl Texts<'_> {
    fn frame(&self, fits: &[Fit], around: [&str; 2]) -> Option<Frame> {
        let shared = self.shared_votes();
        if fits.iter().any(|fit| fit.blanks != Blanks::Same && fit.shift == Shift::None) {
            return self.frame_by_kind(shared);
        }
        let votes = if shared.is_none() { self.votes_around(around) } else { shared };
        match (self.is_old(votes), self.is_file(votes)) {
            (true, false) => Some(Frame::Old),
            (false, true) => Some(Frame::File),
            _ => None,
        }
    }

    /// Where the levels are the same and only tabs stand for spaces, or spaces for tabs.
    fn frame_by_kind(&self, votes: Votes) -> Option<Frame> {
        let blanks =
            |lines: &[Line<'_>]| -> String { lines.iter().map(|line| line.blanks).collect() };
        let file_has_tabs = blanks(&self.file).contains('\t');
        let mut indented = self.new.iter().filter(|line| !line.blanks.is_empty()).peekable();
        indented.peek()?;
        let first = |line: &&Line<'_>| line.blanks.starts_with('\t') == file_has_tabs;
        let count = indented.clone().count();
        match indented.filter(first).count() {
            0 if votes.file == 0 && self.moved.is_some() && self.is_level(&self.old) => {
                Some(Frame::Old)
            }
            like if like == count && votes.old == 0 && self.is_level(&self.file) => {
                Some(Frame::File)
            }
            _ => None,
        }
    }

    /// Whether `new_text` begins or lies as deep as these lines.
    fn is_level(&self, lines: &[Line<'_>]) -> bool {
        let first = |lines: &[Line<'_>]| lines.first().map(|line| line.blanks.to_owned());
        first(&self.new) == first(lines) || least(&self.new) == least(lines)
    }

    /// What the lines say that both texts have equally often.
    fn shared_votes(&self) -> Votes {
        let mut olds: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, line) in self.old.iter().enumerate() {
            olds.entry(line.content).or_default().push(at);
        }
        let mut news: HashMap<&str, usize> = HashMap::new();
        for line in &self.new {
            *news.entry(line.content).or_default() += 1;
        }
        let mut seen: HashMap<&str, usize> = HashMap::new();
        let mut votes = Votes::default();
        for (at, line) in self.new.iter().enumerate() {
            let Some(same) = olds.get(line.content) else { continue };
            if Some(&same.len()) != news.get(line.content) {
                continue;
            }
            let round = seen.entry(line.content).or_default();
            let Some(index) = same.get(*round) else { continue };
            *round += 1;
            let (Some(old), Some(file)) = (self.old.get(*index), self.file.get(*index)) else {
                continue;
            };
            match (line.blanks == old.blanks, line.blanks == file.blanks) {
                (true, false) => votes.old += 1,
                (false, true) if self.is_nested(at, &olds) => votes.file_unless_nested += 1,
                (false, true) => votes.file += 1,
                _ => {}
            }
        }
        votes
    }

    /// Whether the line was put below a line that is new and opens a block.
    fn is_nested(&self, at: usize, olds: &HashMap<&str, Vec<usize>>) -> bool {
        let Some(line) = self.new.get(at) else { return false };
        let above = self.new.get(..at).unwrap_or(&[]).iter().rev();
        let mut parents = above.filter(|above| is_deeper(line.blanks, above.blanks));
        let Some(parent) = parents.next() else { return false };
        !olds.contains_key(parent.content)
            && opens(parent.content)
            && line.blanks.len() == parent.blanks.len() + self.shift.len()
    }

    /// What lines of `new_text` say that are not in `old_text`, but once near the place.
    fn votes_around(&self, around: [&str; 2]) -> Votes {
        let mut near: HashMap<&str, (usize, &str)> = HashMap::new();
        for line in around.iter().flat_map(|text| lines(text)) {
            near.entry(line.content).or_insert((0, line.blanks)).0 += 1;
        }
        let mut votes = Votes::default();
        for (at, line) in self.new.iter().enumerate() {
            let letters = line.content.chars().filter(|letter| letter.is_alphanumeric()).count();
            let is_old = self.old.iter().any(|old| old.content == line.content);
            let Some((1, blanks)) = near.get(line.content).filter(|_| letters > 3 && !is_old)
            else {
                continue;
            };
            let moved = self.moved.as_ref().and_then(|moved| moved.get(at));
            let moved = moved.map(|line| line.blanks);
            match (*blanks == line.blanks, Some(*blanks) == moved) {
                (true, false) => votes.file += 1,
                (false, true) => votes.old += 1,
                _ => {}
            }
        }
        votes
    }

    /// Whether `new_text` can be taken for indented like `old_text`.
    fn is_old(&self, votes: Votes) -> bool {
        let (Some(first), Some(old), Some(file)) =
            (self.new.first(), self.old.first(), self.file.first())
        else {
            return false;
        };
        let is_like_first = first.blanks == old.blanks;
        let base = least(&self.old);
        let is_based = is_like_first || least(&self.new) == base;
        let is_above = |line: &&Line<'_>| !line.blanks.starts_with(base) && !closes(line.content);
        self.moved.is_some()
            && votes.file == 0
            && (votes.old > 0 || is_like_first)
            && is_based
            && (is_like_first || first.blanks != file.blanks)
            && !self.new.iter().any(|line| is_above(&line))
            && !self.has_stripped_first()
            && !self.has_jump()
    }

    /// Whether `new_text` can be taken for indented like the file.
    fn is_file(&self, votes: Votes) -> bool {
        let (Some(first), Some(old), Some(file)) =
            (self.new.first(), self.old.first(), self.file.first())
        else {
            return false;
        };
        let base = least(&self.file);
        let is_like_first = first.blanks == file.blanks;
        votes.old == 0
            && votes.file + votes.file_unless_nested > 0
            && (is_like_first || least(&self.new) == base)
            && (is_like_first || first.blanks != old.blanks)
            && self.new.iter().all(|line| line.blanks.starts_with(base))
            && !self.has_jump()
    }

    /// Whether all lines but the first may be indented as in the file.
    fn has_stripped_first(&self) -> bool {
        let rest = |lines: &[Line<'_>]| lines.get(1..).map_or("", least).to_owned();
        let (Some(first), Some(second)) = (self.new.first(), self.new.get(1)) else { return false };
        let (new, old, file) = (rest(&self.new), rest(&self.old), rest(&self.file));
        let is_nested = opens(first.content)
            && !self.old.iter().any(|old| old.content == first.content)
            && second.blanks.len() == first.blanks.len() + self.shift.len();
        let is_like_file = if self.file.len() > 1 {
            new == file && new != old
        } else {
            self.file.first().is_some_and(|file| file.blanks == new)
        };
        is_like_file && !is_nested
    }

    /// Whether `new_text` may indent by other steps than the file. An `old_text` whose lines are all
    /// equally deep does not show its steps; lines of `new_text` that are deeper than them do. One
    /// blank more, as before the ` *` of a comment, is no step.
    fn is_rescaled(&self, around: [&str; 2]) -> bool {
        let blanks = self.old.iter().map(|line| line.blanks);
        let Some(depth) = blanks.clone().min_by_key(|blanks| blanks.len()) else { return false };
        let shows_no_step = |blanks: &str| {
            blanks.strip_prefix(depth).is_some_and(|more| more.is_empty() || more == " ")
        };
        if self.shift.contains('\t') || !blanks.clone().all(shows_no_step) {
            return false;
        }
        let steps = self.new.iter().filter_map(|line| line.blanks.strip_prefix(depth));
        let least = steps.map(str::len).filter(|step| *step > 1).min();
        let (Some(least), Some(level)) = (least, least.and_then(|_| level(around))) else {
            return false;
        };
        let is_odd = |step: usize| step < level || !step.is_multiple_of(level);
        let file = self.file.first().map_or(depth, |line| line.blanks);
        let is_enlarged = depth.len() > file.len() && least > level;
        least < level || is_enlarged || (is_odd(least) && is_odd(self.shift.len()))
    }

    /// Whether a line is deeper than the one before by just the difference between the two
    /// indentations, without a reason: then one of them may have the other indentation.
    fn has_jump(&self) -> bool {
        let is_jump = |before: &Line<'_>, line: &Line<'_>| {
            !self.shift.is_empty()
                && is_deeper(line.blanks, before.blanks)
                && line.blanks.len() == before.blanks.len() + self.shift.len()
                && !opens(before.content)
                && !continues(line.content)
        };
        let pairs = |lines: &[Line<'_>]| -> Vec<(String, String)> {
            let pairs = lines.windows(2).filter_map(|pair| match pair {
                [before, line] if is_jump(before, line) => {
                    Some((before.content.to_owned(), line.content.to_owned()))
                }
                _ => None,
            });
            pairs.collect()
        };
        let known = pairs(&self.old);
        // Where `old_text` has such lines too, it is the way of this text.
        known.is_empty() && !pairs(&self.new).is_empty()
    }
}

/// By how many spaces the lines of a text are deeper than those before them most often.
fn level(around: [&str; 2]) -> Option<usize> {
    let mut counts: HashMap<usize, usize> = HashMap::new();
    for text in around {
        let lines = lines(text);
        for pair in lines.windows(2) {
            let [before, line] = pair else { continue };
            // The second line of a comment of several lines is deeper by one space.
            if is_deeper(line.blanks, before.blanks)
                && !line.blanks.contains('\t')
                && !line.content.starts_with('*')
            {
                *counts.entry(line.blanks.len() - before.blanks.len()).or_default() += 1;
            }
        }
    }
    counts.into_iter().max_by_key(|(step, count)| (*count, Reverse(*step))).map(|(step, _)| step)
}

fn is_deeper(blanks: &str, than: &str) -> bool {
    blanks.len() > than.len() && blanks.starts_with(than)
}

/// The shortest indentation.
fn least<'a>(lines: &[Line<'a>]) -> &'a str {
    lines.iter().map(|line| line.blanks).min_by_key(|blanks| blanks.len()).unwrap_or("")
}

/// Whether deeper lines may follow a line.
fn opens(content: &str) -> bool {
    const ENDS: &[char] =
        &[':', '{', '(', '[', '<', '>', ',', '=', '|', '&', '+', '-', '*', '/', '\\', '?', '.'];
    const LAST: &[&str] = &["do", "then", "else", "begin", "try", "of", "where", "loop", "in"];
    const FIRST: &[&str] = &[
        "def",
        "class",
        "module",
        "if",
        "unless",
        "while",
        "until",
        "for",
        "case",
        "when",
        "fn",
        "func",
        "function",
        "else",
        "elsif",
        "elif",
        "with",
        "switch",
        "match",
        "impl",
        "enum",
        "-",
        "public",
        "private",
        "protected",
        "static",
        "export",
        "async",
        "local",
        "pub",
        "describe",
        "it",
        "begin",
        "do",
        "try",
    ];
    let first = content.split_whitespace().next().unwrap_or("");
    let last = content.split_whitespace().next_back().unwrap_or("");
    let count = |signs: [char; 3]| content.matches(signs).count();
    content.ends_with(ENDS)
        || LAST.contains(&last)
        || FIRST.contains(&first)
        || content.starts_with('<')
        || count(['(', '[', '{']) > count([')', ']', '}'])
}

/// Whether a line goes on with the one before.
fn continues(content: &str) -> bool {
    const STARTS: &[char] = &['.', '?', ':', '|', '&', '+', '*', '/', '=', '<', '>', '"', '\''];
    content.starts_with(STARTS)
}

/// Whether a line ends a block that begins above.
fn closes(content: &str) -> bool {
    content.starts_with(['}', ')', ']']) || content.starts_with("end") || content.starts_with("</")
}
