//! The lines of a file that are nearest to a text that is not in it.

mod difference;
mod file;
mod likeness;
mod part;
#[cfg(test)]
mod tests;
mod variant;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memchr::memmem::Finder;

use crate::context::Call;
use crate::edit::fold::Folded;
use crate::edit::hint::file::{CANDIDATES, File, MAX_HITS, probe_count, says_something};
use crate::edit::hint::likeness::{MAX_LINE_BYTES, likeness};
use crate::edit::hint::part::Part;
use crate::edit::hint::variant::Variant;
use crate::edit::places::{LINE_BYTES, numbered};
use crate::edit::replacement::{MatchKind, go_on};
use crate::edit::undecodable::Wide;
use crate::error::Error;
use crate::text::clip;

/// Of the lines of the old text that have a probe in common, so many count.
const MAX_LINES_OF_PROBE: usize = 4;

/// Lines that are compared.
const MAX_LINES: usize = 200;

/// From this similarity on, of 1, a place is worth showing.
const WORTH_SHOWING: f64 = 0.5;

/// What of the file is like `old`.
pub(super) enum Near<'a> {
    Lines(Lines<'a>),
    Part(Part<'a>),
    Variant(Variant<'a>),
}

/// Lines of the file that are like the lines of `old`.
pub(super) struct Lines<'a> {
    file: File<'a>,
    old: Vec<&'a str>,
    first: usize,
}

/// What of the file is most like `old`, if anything is like it at all: as many lines, or a part
/// of a line that is too long to be shown or too long to be like it whole.
pub(super) fn nearest<'a>(
    text: &'a [u8],
    old: &'a str,
    call: &Call,
) -> Result<Option<Near<'a>>, Error> {
    let file = File::of(text);
    let variant = match variant::rewritten(&file, old, call)? {
        None => variant::spaced(&file, old, LINE_BYTES, call)?,
        found => found,
    };
    if let Some(variant) = variant {
        return Ok(Some(Near::Variant(variant)));
    }
    let whole = old;
    let old: Vec<&str> = old.split_terminator('\n').take(MAX_LINES).collect();
    // What is left out above the lines says nothing about where they begin.
    let left_out = old.iter().take_while(|line| is_left_out(line)).count();
    let old = old.get(left_out..).unwrap_or(&[]).to_vec();
    let lines = nearest_lines(&file, &old, call)?;
    if let [old] = old.as_slice() {
        let is_shown = |first: usize| file.line(first).is_some_and(|line| line.len() <= LINE_BYTES);
        let part = match lines {
            Some((_, first)) if is_shown(first) => None,
            _ => part::nearest(&file, old, call)?,
        };
        let least = lines.map_or(0.0, |(likeness, _)| likeness);
        if let Some(part) = part.filter(|part| part.likeness >= least) {
            return Ok(Some(Near::Part(part)));
        }
    }
    let first = lines.map(|(_, first)| first).or_else(|| first_line_within(&file, &old));
    if let Some(first) = first {
        return Ok(Some(Near::Lines(Lines { file, old, first })));
    }
    Ok(variant::spaced(&file, whole, usize::MAX, call)?.map(Near::Variant))
}

/// Whether a line only stands for others.
fn is_left_out(line: &str) -> bool {
    let line = line.trim().trim_start_matches(['/', '#', '*', '-', ';']).trim();
    matches!(line, "..." | "…")
}

/// How much the nearest lines are like `old`, and the first of them.
fn nearest_lines(
    file: &File<'_>,
    old: &[&str],
    call: &Call,
) -> Result<Option<(f64, usize)>, Error> {
    let mut best: Option<(f64, usize)> = None;
    for first in candidates(file, old, call)? {
        go_on(call)?;
        let likeness = likeness(&file.window(first, old.len()), old);
        if best.is_none_or(|(most, _)| likeness > most) {
            best = Some((likeness, first));
        }
    }
    Ok(best.filter(|(likeness, _)| *likeness >= WORTH_SHOWING))
}

/// Whether a line is so long that only its start is compared.
pub(super) fn has_long_lines(text: &[u8]) -> bool {
    let mut start = 0;
    let mut ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    ends.any(|end| end - std::mem::replace(&mut start, end + 1) > MAX_LINE_BYTES)
}

/// The first line of the file that contains the first line of `old` that says something.
fn first_line_within(file: &File<'_>, old: &[&str]) -> Option<usize> {
    let blank = old.iter().take_while(|line| line.trim().is_empty()).count();
    let first = old.get(blank)?.trim();
    if !first.contains(char::is_alphanumeric) {
        return None;
    }
    let at = memchr::memmem::find(file.text, first.as_bytes())?;
    Some(file.line_of(at).saturating_sub(blank))
}

/// A text that is looked for, and the lines of `old` that have it.
struct Probe<'a> {
    text: &'a str,
    lines: Vec<usize>,
    /// What a hit is worth.
    worth: usize,
}

/// First lines of places that share much with `old`, the best first.
fn candidates(file: &File<'_>, old: &[&str], call: &Call) -> Result<Vec<usize>, Error> {
    let mut votes = Votes::default();
    votes.equal_lines(file, old, call)?;
    for probe in probes(old, probe_count(file.text.len())) {
        go_on(call)?;
        let finder = Finder::new(probe.text);
        let hits = finder.find_iter(file.text).take(MAX_HITS);
        let hits: Vec<usize> = hits.map(|at| file.line_of(at)).collect();
        votes.add(&hits, &probe.lines, probe.worth * 1000 / hits.len().max(1));
    }
    Ok(votes.best())
}

/// Votes for the line at which the place begins.
#[derive(Default)]
struct Votes(BTreeMap<usize, usize>);

impl Votes {
    /// Adds the votes of lines of the file for what corresponds to `lines` of the old text.
    fn add(&mut self, hits: &[usize], lines: &[usize], worth: usize) {
        for hit in hits {
            for at in lines.iter().take(MAX_LINES_OF_PROBE) {
                *self.0.entry(hit.saturating_sub(*at)).or_default() += worth;
            }
        }
    }

    /// Adds the votes of lines that are the same but for blanks around them; the rarer a line
    /// is in the file, the more its vote is worth.
    fn equal_lines(&mut self, file: &File<'_>, old: &[&str], call: &Call) -> Result<(), Error> {
        let mut lengths = [false; 256];
        let mut lines: HashMap<&[u8], Equal> = HashMap::new();
        for (at, line) in old.iter().enumerate().filter(|(_, line)| says_something(line)) {
            let line = line.as_bytes().trim_ascii();
            set(&mut lengths, line.len());
            lines.entry(line).or_default().old.push(at);
        }
        for number in 0..file.starts.len() {
            if number % 16_384 == 0 {
                go_on(call)?;
            }
            let line = file.line(number).unwrap_or_default().trim_ascii();
            // Most lines are told apart by their length, which is cheaper than their hash.
            if !is_set(&lengths, line.len()) {
                continue;
            }
            let Some(equal) = lines.get_mut(line) else { continue };
            equal.count += 1;
            if equal.hits.len() < MAX_HITS {
                equal.hits.push(number);
            }
        }
        for equal in lines.into_values() {
            self.add(&equal.hits, &equal.old, 16_000 / equal.count.max(1));
        }
        Ok(())
    }

    /// The places with the most votes, the best first.
    fn best(&self) -> Vec<usize> {
        let votes = &self.0;
        // A line too many or too few moves some votes next to the others.
        let near = |first: usize| {
            let range = first.saturating_sub(2)..=first + 2;
            let own = votes.get(&first).copied().unwrap_or_default();
            votes.range(range).map(|(_, votes)| votes).sum::<usize>() + own
        };
        let mut ranked: Vec<(usize, usize)> = votes.keys().map(|&at| (near(at), at)).collect();
        ranked.sort_by_key(|&(votes, first)| (usize::MAX - votes, first));
        ranked.into_iter().take(CANDIDATES).map(|(_, first)| first).collect()
    }
}

/// Where a line of the old text stands, and the same line of the file.
#[derive(Default)]
struct Equal {
    old: Vec<usize>,
    /// The first of them.
    hits: Vec<usize>,
    count: usize,
}

fn set(lengths: &mut [bool; 256], len: usize) {
    if let Some(slot) = lengths.get_mut(len % 256) {
        *slot = true;
    }
}

fn is_set(lengths: &[bool; 256], len: usize) -> bool {
    lengths.get(len % 256).copied().unwrap_or_default()
}

/// Whole lines, the longest words, and pieces of the longest lines, at most `most` in all.
fn probes<'a>(old: &[&'a str], most: usize) -> Vec<Probe<'a>> {
    let mut lines: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
    let mut words: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
    for (at, line) in old.iter().enumerate() {
        let line = clip::truncate(line.trim(), MAX_LINE_BYTES);
        if says_something(line) {
            lines.entry(line).or_default().push(at);
        }
        for word in line.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            if word.len() > 3 {
                words.entry(word).or_default().push(at);
            }
        }
    }
    let (lines, words) = (by_length(lines), by_length(words));
    let pieces = lines.iter().filter(|(line, _)| line.len() > 11).take(most / 8);
    let pieces = pieces.flat_map(|(line, at)| thirds(line).map(|piece| (piece, at.clone())));
    let pieces: Vec<_> = pieces.collect();
    // The lines only as parts of longer ones: where they are lines is known.
    let room = most.saturating_sub(pieces.len());
    let words: Vec<_> = words.into_iter().take(room / 2).collect();
    let lines: Vec<_> = lines.into_iter().take(room - words.len()).collect();
    let groups = [(8, lines), (2, words), (3, pieces)];
    let probes = groups.into_iter().flat_map(|(worth, group)| {
        group.into_iter().map(move |(text, lines)| Probe { text, lines, worth })
    });
    probes.collect()
}

fn by_length(texts: BTreeMap<&str, Vec<usize>>) -> Vec<(&str, Vec<usize>)> {
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by_key(|(text, _)| usize::MAX - text.len());
    texts
}

fn thirds(line: &str) -> [&str; 3] {
    let cut = |part: usize| line.floor_char_boundary(line.len() * part / 3);
    [(0, 1), (1, 2), (2, 3)].map(|(from, to)| line.get(cut(from)..cut(to)).unwrap_or(line))
}

impl Near<'_> {
    /// Tells whether some of these lines, from 1, are among them.
    pub(super) fn overlaps(&self, lines: &Range<usize>) -> bool {
        match self {
            Near::Lines(near) => {
                lines.start <= near.first + near.old.len() && near.first + 1 < lines.end
            }
            Near::Part(_) | Near::Variant(_) => false,
        }
    }

    /// The lines, numbered, and what differs first, in at most `room` bytes or little more.
    pub(super) fn advice(&self, is_exact: bool, room: usize) -> String {
        match self {
            Near::Lines(lines) => lines.advice(is_exact, room),
            Near::Part(part) => part.advice(room),
            Near::Variant(variant) => variant.advice(),
        }
    }
}

impl Lines<'_> {
    fn advice(&self, is_exact: bool, room: usize) -> String {
        let difference = self.first_difference(false);
        // What a safe edit overlooks is not why it was not made.
        let real = if is_exact { None } else { self.first_unlike() };
        let difference = real.or(difference);
        let difference = difference.or_else(|| self.first_difference(true).filter(|_| is_exact));
        let sentence = difference.map_or_else(|| self.end(), |at| self.sentence(at));
        let frame = "Did you mean:\n```\n```\n".len();
        let lines = self.shown(difference, room.saturating_sub(sentence.len() + frame));
        format!("Did you mean:\n```\n{lines}```\n{sentence}")
    }

    /// Where no line differs, what follows the last one may.
    fn end(&self) -> String {
        let last = self.first + self.old.len();
        let is_open = self.file.text.last().is_some_and(|&byte| byte != b'\n');
        if last != self.file.starts.len() || !is_open {
            return String::new();
        }
        format!("The file ends at line {last} without a line feed, old_text goes on with one.")
    }

    /// The lines as far as there is room, the one that differs among them.
    fn shown(&self, difference: Option<usize>, room: usize) -> String {
        let count = self.old.len().max(1);
        let all = |from: usize| {
            let mut left = room;
            let lines = (self.first + from..self.first + count).map_while(|line| {
                let at = Some(line - self.first).filter(|_| Some(line - self.first) == difference);
                let span = at.map(|at| self.same(at)).map(|same| (same, same));
                let (shown, _) = numbered(self.file.line(line)?, line + 1, span.as_slice());
                left = left.checked_sub(shown.len())?;
                Some(shown)
            });
            lines.collect::<Vec<String>>()
        };
        let lines = all(0);
        let is_seen = difference.is_none_or(|at| at < lines.len());
        let lines = if is_seen { lines } else { all(difference.unwrap_or(0).saturating_sub(3)) };
        lines.concat()
    }

    /// The first of the lines that differs; with or without regard to `\r` at its end.
    fn first_difference(&self, with_returns: bool) -> Option<usize> {
        let plain = |line: &[u8]| match line.strip_suffix(b"\r") {
            Some(line) if !with_returns => line.to_vec(),
            _ => line.to_vec(),
        };
        let differs = |(at, old): &(usize, &&str)| {
            let line = self.file.line(self.first + at);
            line.is_none_or(|line| plain(line) != plain(old.as_bytes()))
        };
        self.old.iter().enumerate().find(differs).map(|(at, _)| at)
    }

    /// The first of the lines that differs in more than what a safe edit overlooks in a line.
    fn first_unlike(&self) -> Option<usize> {
        let call = Call::default();
        let folded = |line: &[u8]| {
            Folded::new(line, MatchKind::Typography, Wide(false), &call)
                .map(|folded| folded.text)
                .ok()
        };
        let differs = |(at, old): &(usize, &&str)| {
            let line = self.file.line(self.first + at);
            line.is_none_or(|line| line != old.as_bytes() && folded(line) != folded(old.as_bytes()))
        };
        self.old.iter().enumerate().find(differs).map(|(at, _)| at)
    }

    fn sentence(&self, at: usize) -> String {
        let number = self.first + at + 1;
        let old = self.old.get(at).copied().unwrap_or_default();
        let Some(line) = self.file.line(self.first + at) else {
            let last = self.first + at;
            return format!("The file ends at line {last}, old_text goes on.");
        };
        let told = difference::told(line, old, difference::is_blank(line, old));
        format!("Line {number} differs: {told}.")
    }

    /// How many bytes of a line are as in the old text.
    fn same(&self, at: usize) -> usize {
        let line = self.file.line(self.first + at).unwrap_or_default();
        difference::same(line, self.old.get(at).copied().unwrap_or_default())
    }
}
