//! What to suggest when `old_text` is not found: the most similar lines, the most similar part of a
//! long line, or a text that differs only in blanks, case or escapes.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use memchr::memmem::{self, Finder};
use similar::{Algorithm, DiffTag, capture_diff_slices};

use crate::context::Call;
use crate::edit::align::{self, Alignment, Pair, is_placeholder};
use crate::edit::normalize::Normalized;
use crate::edit::replacement::{MatchKind, Replacement, TextSource, check_stop};
use crate::edit::show::{
    LINE_BYTES, common_prefix, difference, differs_in_blanks, numbered_line, numbered_lines,
    starts_with_ignoring_blanks, visible_blanks,
};
use crate::edit::text::{LineTable, count_letters};
use crate::error::Error;
use crate::text::clip;
use crate::text::line_number::LineNumber;

/// Lines of the old text with the same probe that count.
const MAX_LINES_OF_PROBE: usize = 4;

/// Lines of the old text that are compared.
const MAX_LINES: usize = 200;

/// The least similarity of lines worth suggesting.
const MIN_SIMILARITY: f64 = 0.5;

/// Bytes of the file that all probes together search, whatever its size.
const MAX_SEARCHED: usize = 160 << 20;

/// The fewest and the most probes.
const PROBES: Range<usize> = 4..32;

/// Hits of a probe that count; one that is found in more lines identifies none of them.
const MAX_HITS: usize = 200;

/// Candidates that are compared precisely.
const CANDIDATES: usize = 8;

/// Bytes of a line that are compared.
const MAX_LINE_BYTES: usize = 2000;

/// Words and signs that are compared.
const MAX_TOKENS: usize = 6000;

/// The fewest bytes of a piece that is looked for.
const MIN_PIECE_BYTES: usize = 6;

/// Pieces of the old text that are displaced by at most this many bytes belong together.
const SLACK: usize = 32;

/// The least similarity of a part worth suggesting; any two sentences have letters in common.
const MIN_PART_SIMILARITY: f64 = 0.6;

/// Lines above and below the old lines that may belong to them, and lines for which a placeholder may
/// stand.
const SLACK_LINES: usize = 8;
const MAX_OMITTED_LINES: usize = 120;

/// Stands for further lines.
const CUT: &str = "...\n";

/// How much less the lines round a place may be like the old ones than those at the place.
const LESS_IN_PLACE: f64 = 0.05;

/// Bytes shown of a line that the file does not have.
const MISSING_BYTES: usize = 80;

/// Bytes shown of a long line, where there is room and where there is not.
const WINDOW_BYTES: usize = 800;
const MIN_WINDOW_BYTES: usize = 160;

/// Bytes of an old text, and of a line, that are compared regardless of blanks and case.
const MAX_OLD_BYTES: usize = 500;
const MAX_VARIANT_LINE_BYTES: usize = 2000;

/// Bytes of the file that are compared in this way.
const MAX_VARIANT_SEARCHED: usize = 32 << 20;

/// The fewest non-blank bytes of a text that is compared in this way.
const MIN_LETTERS: usize = 3;

/// Bytes shown of each text.
const VARIANT_BYTES: usize = 120;

/// Signs and their HTML entities.
const BRACKETS: [(&str, &str); 2] = [("<", "&lt;"), (">", "&gt;")];
const QUOTES: [(&str, &str); 3] = [("\"", "&quot;"), ("'", "&#39;"), ("'", "&apos;")];
const AMPERSAND: (&str, &str) = ("&", "&amp;");

/// What of the file is similar to `old_text`.
pub(super) enum Suggestion<'a> {
    Lines(SimilarLines<'a>),
    Part(SimilarPart<'a>),
    /// The message on a line that has the old text with other blanks, case or escapes.
    Variant(String),
}

/// The best suggestion, if anything in the file is similar to `old`: as many lines, or a part of a
/// line that is too long to be shown or compared as a whole.
pub(super) fn suggest<'a>(
    text: &'a [u8],
    old: &'a str,
    source: TextSource,
    call: &Call,
) -> Result<Option<Suggestion<'a>>, Error> {
    let file = LineTable::new(text);
    let variant = match find_rewritten(&file, old, call)? {
        None => find_squeezed(&file, old, LINE_BYTES, call)?,
        found => found,
    };
    if let Some(variant) = variant {
        return Ok(Some(Suggestion::Variant(variant)));
    }
    let whole = old;
    // A placeholder above the lines does not show where they begin.
    let old = old.split_terminator('\n').take(MAX_LINES).skip_while(|line| is_placeholder(line));
    let old: Vec<&str> = old.collect();
    let lines = most_similar_lines(&file, &old, call)?;
    if let [old] = old.as_slice() {
        let is_shown = |first: usize| file.line(first).is_some_and(|line| line.len() <= LINE_BYTES);
        let part = match &lines {
            Some((_, near)) if is_shown(near.first) => None,
            _ => most_similar_part(&file, old, call)?,
        };
        let least = lines.as_ref().map_or(0.0, |(similarity, _)| *similarity);
        if let Some(part) = part.filter(|part| part.similarity >= least) {
            return Ok(Some(Suggestion::Part(part)));
        }
    }
    let within = || first_line_within(&file, &old);
    let near = lines.map(|(_, near)| near);
    let near = near.or_else(|| Some(SimilarLines::one_to_one(&file, &old, within()?)));
    if let Some(mut near) = near {
        near.begins_within = source == TextSource::Arguments;
        near.ends_within = near.begins_within && !whole.ends_with('\n');
        return Ok(Some(Suggestion::Lines(near)));
    }
    Ok(find_squeezed(&file, whole, usize::MAX, call)?.map(Suggestion::Variant))
}

/// The most similar lines, and how similar they are.
fn most_similar_lines<'a>(
    file: &LineTable<'a>,
    old: &[&'a str],
    call: &Call,
) -> Result<Option<(f64, SimilarLines<'a>)>, Error> {
    let mut best: Option<(f64, SimilarLines<'a>)> = None;
    for first in candidates(file, old, call)? {
        check_stop(call)?;
        let mut near = SimilarLines::near(file, old, first);
        let lines: Vec<&[u8]> = file.lines(first..first + old.len()).collect();
        let in_place = similarity(&lines, old);
        let aligned = if old.iter().any(|line| is_placeholder(line)) {
            near.score
        } else {
            let lines = near.rows.iter().filter_map(Row::file).map(|(_, line)| line);
            similarity(&lines.collect::<Vec<_>>(), old)
        };
        if aligned + LESS_IN_PLACE < in_place {
            near = SimilarLines::one_to_one(file, old, first);
        }
        let similarity = in_place.max(aligned);
        if best.as_ref().is_none_or(|(max, _)| similarity > *max) {
            best = Some((similarity, near));
        }
    }
    Ok(best.filter(|(similarity, _)| *similarity >= MIN_SIMILARITY))
}

/// Whether a line is so long that only its start is compared.
pub(super) fn has_long_lines(text: &[u8]) -> bool {
    let mut start = 0;
    let mut ends = memchr::memchr_iter(b'\n', text).chain([text.len()]);
    ends.any(|end| end - std::mem::replace(&mut start, end + 1) > MAX_LINE_BYTES)
}

/// The first line of the file that contains the first non-blank line of `old`.
fn first_line_within(file: &LineTable<'_>, old: &[&str]) -> Option<usize> {
    let blank = old.iter().take_while(|line| line.trim().is_empty()).count();
    let first = old.get(blank)?.trim();
    if !first.contains(char::is_alphanumeric) {
        return None;
    }
    let at = memchr::memmem::find(file.text(), first.as_bytes())?;
    Some(file.line_at(at).saturating_sub(blank))
}

/// A text to look for, and the lines of `old` that have it.
struct Probe<'a> {
    text: &'a str,
    lines: Vec<usize>,
    /// Its weight.
    weight: usize,
}

/// First lines of ranges that have much in common with `old`, the best first.
fn candidates(file: &LineTable<'_>, old: &[&str], call: &Call) -> Result<Vec<usize>, Error> {
    let mut votes = StartVotes::default();
    votes.equal_lines(file, old, call)?;
    for probe in probes(old, probe_count(file.text().len())) {
        check_stop(call)?;
        let finder = Finder::new(probe.text);
        let hits = finder.find_iter(file.text()).take(MAX_HITS);
        let hits: Vec<usize> = hits.map(|at| file.line_at(at)).collect();
        votes.add(&hits, &probe.lines, probe.weight * 1000 / hits.len().max(1));
    }
    Ok(votes.best())
}

/// Votes for the line at which the similar lines begin.
#[derive(Default)]
struct StartVotes(BTreeMap<usize, usize>);

impl StartVotes {
    /// Adds votes: each of the `hits` in the file may be each of the `lines` of the old text.
    fn add(&mut self, hits: &[usize], lines: &[usize], weight: usize) {
        for hit in hits {
            for at in lines.iter().take(MAX_LINES_OF_PROBE) {
                *self.0.entry(hit.saturating_sub(*at)).or_default() += weight;
            }
        }
    }

    /// Adds the votes of lines that are equal apart from blanks around them, with more weight the
    /// rarer a line is in the file.
    fn equal_lines(
        &mut self,
        file: &LineTable<'_>,
        old: &[&str],
        call: &Call,
    ) -> Result<(), Error> {
        // A bit for each length: comparing these is cheaper than hashing.
        let mut lengths = 0_u128;
        let bit = |line: &[u8]| 1_u128 << (line.len() % 128);
        let mut lines: HashMap<&[u8], EqualLine> = HashMap::new();
        for (at, line) in old.iter().enumerate().filter(|(_, line)| is_distinctive(line)) {
            let line = line.as_bytes().trim_ascii();
            lengths |= bit(line);
            lines.entry(line).or_default().old.push(at);
        }
        for (number, line) in file.lines(0..file.len()).enumerate() {
            if number % 16_384 == 0 {
                check_stop(call)?;
            }
            let line = line.trim_ascii();
            if lengths & bit(line) == 0 {
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

    /// The lines with the most votes, the best first.
    fn best(&self) -> Vec<usize> {
        // A line too many or too few moves some votes next to the others.
        let near = |first: usize| {
            let range = first.saturating_sub(2)..=first + 2;
            self.0.range(range).map(|(_, votes)| votes).sum::<usize>()
        };
        let ranked = self.0.iter().map(|(&first, own)| (near(first) + own, first));
        let mut ranked: Vec<(usize, usize)> = ranked.collect();
        ranked.sort_by_key(|&(votes, first)| (usize::MAX - votes, first));
        ranked.into_iter().take(CANDIDATES).map(|(_, first)| first).collect()
    }
}

/// The numbers of a line in the old text and in the file.
#[derive(Default)]
struct EqualLine {
    old: Vec<usize>,
    /// The first of them.
    hits: Vec<usize>,
    count: usize,
}

/// Whole lines, the longest words, and pieces of the longest lines, at most `max` in all.
fn probes<'a>(old: &[&'a str], max: usize) -> Vec<Probe<'a>> {
    let mut lines: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
    let mut words: BTreeMap<&'a str, Vec<usize>> = BTreeMap::new();
    for (at, line) in old.iter().enumerate() {
        let line = clip::truncate(line.trim(), MAX_LINE_BYTES);
        if is_distinctive(line) {
            lines.entry(line).or_default().push(at);
        }
        for word in line.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            if word.len() > 3 {
                words.entry(word).or_default().push(at);
            }
        }
    }
    let (lines, words) = (by_length(lines), by_length(words));
    let pieces = lines.iter().filter(|(line, _)| line.len() > 11).take(max / 8);
    let pieces =
        pieces.flat_map(|(line, at)| split_evenly(line, 3).map(|(_, piece)| (piece, at.clone())));
    let pieces: Vec<_> = pieces.collect();
    // Lines count here as parts of longer ones; equal lines have been counted.
    let room = max.saturating_sub(pieces.len());
    let words: Vec<_> = words.into_iter().take(room / 2).collect();
    let lines: Vec<_> = lines.into_iter().take(room - words.len()).collect();
    let groups = [(8, lines), (2, words), (3, pieces)];
    let probes = groups.into_iter().flat_map(|(weight, group)| {
        group.into_iter().map(move |(text, lines)| Probe { text, lines, weight })
    });
    probes.collect()
}

fn by_length(texts: BTreeMap<&str, Vec<usize>>) -> Vec<(&str, Vec<usize>)> {
    let mut texts: Vec<_> = texts.into_iter().collect();
    texts.sort_by_key(|(text, _)| usize::MAX - text.len());
    texts
}

/// The text in parts of about the same length, each with its offset.
fn split_evenly(text: &str, count: usize) -> impl Iterator<Item = (usize, &str)> {
    let cut = move |part: usize| text.floor_char_boundary(text.len() * part / count);
    (0..count).filter_map(move |part| Some((cut(part), text.get(cut(part)..cut(part + 1))?)))
}

impl Suggestion<'_> {
    /// Whether it has some of these lines, counted from 1.
    pub(super) fn overlaps(&self, lines: &Range<usize>) -> bool {
        match self {
            Suggestion::Lines(near) => lines.start <= near.end && near.first + 1 < lines.end,
            Suggestion::Part(_) | Suggestion::Variant(_) => false,
        }
    }

    /// "Did you mean" with the numbered lines and the first difference, in about `room` bytes.
    pub(super) fn message(&self, is_exact: bool, room: usize) -> String {
        match self {
            Suggestion::Lines(lines) => lines.message(is_exact, room),
            Suggestion::Part(part) => part.message(room),
            Suggestion::Variant(message) => message.clone(),
        }
    }
}

/// Lines of the file that are like those of `old_text`.
pub(super) struct SimilarLines<'a> {
    /// The numbers of the lines of the file, from 0.
    first: usize,
    end: usize,
    rows: Vec<Row<'a>>,
    score: f64,
    /// Whether the file ends with these lines, and whether it does without a line feed.
    is_last: bool,
    is_open: bool,
    /// Whether the old text may begin, and end, within a line.
    begins_within: bool,
    ends_within: bool,
}

/// A line of the file with its number from 0, a line of `old_text`, or both in the same place.
enum Row<'a> {
    Both((usize, &'a [u8]), &'a str),
    File((usize, &'a [u8])),
    Old(&'a str),
}

impl<'a> Row<'a> {
    fn file(&self) -> Option<(usize, &'a [u8])> {
        match self {
            Row::Both(file, _) | Row::File(file) => Some(*file),
            Row::Old(_) => None,
        }
    }
}

impl<'a> SimilarLines<'a> {
    /// The lines round this one that are most like the old ones.
    fn near(file: &LineTable<'a>, old: &[&'a str], first: usize) -> SimilarLines<'a> {
        let has_placeholder = old.iter().any(|line| is_placeholder(line));
        let more = if has_placeholder { MAX_OMITTED_LINES } else { SLACK_LINES };
        let above = first.saturating_sub(SLACK_LINES);
        let lines = above..(first + old.len() + more).min(file.len());
        let texts: Vec<&[u8]> = file.lines(lines).collect();
        SimilarLines::of(file, old, above, &align::align(&texts, old))
    }

    /// The lines from this one on, each with the old one in its place.
    fn one_to_one(file: &LineTable<'a>, old: &[&'a str], first: usize) -> SimilarLines<'a> {
        let pair =
            |at: usize| Pair { file: Some(at).filter(|at| first + at < file.len()), old: Some(at) };
        let pairs = (0..old.len()).map(pair).collect();
        SimilarLines::of(file, old, first, &Alignment { pairs, score: 0.0 })
    }

    fn of(
        file: &LineTable<'a>,
        old: &[&'a str],
        above: usize,
        alignment: &Alignment,
    ) -> SimilarLines<'a> {
        let rows = alignment.pairs.iter().filter_map(|pair| {
            let number = pair.file.map(|at| above + at);
            let line = number.and_then(|number| Some((number, file.line(number)?)));
            match (line, pair.old.and_then(|at| old.get(at).copied())) {
                (Some(line), Some(old)) => Some(Row::Both(line, old)),
                (Some(line), None) => Some(Row::File(line)),
                (None, old) => old.map(Row::Old),
            }
        });
        let rows: Vec<Row<'a>> = rows.collect();
        let mut numbers = rows.iter().filter_map(Row::file).map(|(number, _)| number);
        let first = numbers.next().unwrap_or(above);
        let end = numbers.next_back().unwrap_or(first) + 1;
        let is_last = end >= file.len();
        let is_open = is_last && file.text().last().is_some_and(|&byte| byte != b'\n');
        let score = alignment.score;
        let (begins_within, ends_within) = (false, false);
        SimilarLines { first, end, rows, score, is_last, is_open, begins_within, ends_within }
    }

    fn message(&self, is_exact: bool, room: usize) -> String {
        let without_return = |line: &[u8]| line.strip_suffix(b"\r").unwrap_or(line).to_vec();
        let plain = || self.first_unlike(|file, old| without_return(file) == without_return(old));
        let difference = if is_exact {
            plain().or_else(|| self.first_unlike(|file, old| file == old))
        } else {
            // What safe matching ignores is not why it failed.
            self.first_unlike(|file, old| file == old || normalized(file) == normalized(old))
                .or_else(plain)
        };
        let sentence = match difference {
            Some((at, row)) => self.sentence(at, row),
            None => self.end(),
        };
        let frame = "Did you mean:\n```\n```\n".len();
        let room = room.saturating_sub(sentence.len() + frame);
        let lines = self.shown(difference.map(|(at, _)| at), room);
        format!("Did you mean:\n```\n{lines}```\n{sentence}")
    }

    /// Where no line differs, the end of the file may.
    fn end(&self) -> String {
        if !self.is_open {
            return String::new();
        }
        let last = self.end;
        format!("The file ends at line {last} without a line feed, the old text goes on with one.")
    }

    /// The lines as far as there is room, whole if all of them fit, including the one that differs.
    fn shown(&self, difference: Option<usize>, room: usize) -> String {
        let from = |first: usize, limit: usize| -> (usize, String) {
            let (mut end, mut shown) = (first, String::new());
            for (at, row) in self.rows.iter().enumerate().skip(first) {
                let Some((number, line)) = row.file() else {
                    end = at + 1;
                    continue;
                };
                let span = match row {
                    Row::Both(_, old) if difference == Some(at) => {
                        let same = common_prefix(line, old);
                        Some((same, same))
                    }
                    _ => None,
                };
                let (line, _) = numbered_line(line, number + 1, span.as_slice(), limit);
                if shown.len() + line.len() + CUT.len() > room {
                    break;
                }
                shown.push_str(&line);
                end = at + 1;
            }
            (end, shown)
        };
        let (mut end, mut shown) = from(0, WINDOW_BYTES);
        if end < self.rows.len() {
            (end, shown) = from(0, LINE_BYTES);
        }
        if let Some(at) = difference.filter(|at| *at >= end) {
            (end, shown) = from(at.saturating_sub(3), LINE_BYTES);
        }
        if self.rows.iter().skip(end).any(|row| row.file().is_some()) {
            shown.push_str(CUT);
        }
        shown
    }

    /// The first line that is not the same. The first one of an old text is the same if the line of the
    /// file ends with it, and the last one if that begins with it, unless no other differs.
    fn first_unlike(&self, is_same: impl Fn(&[u8], &[u8]) -> bool) -> Option<(usize, &Row<'a>)> {
        let is_unlike = |row: &Row<'_>| match row {
            Row::Both((_, line), old) => !is_same(line, old.as_bytes()),
            Row::File(_) | Row::Old(_) => true,
        };
        let last = self.rows.len().saturating_sub(1);
        let is_part = |at: usize, row: &Row<'_>| {
            let Row::Both((_, line), old) = row else { return false };
            let end = line.len().saturating_sub(old.len());
            let is_end = || line.get(end..).is_some_and(|end| is_same(end, old.as_bytes()));
            let is_start =
                || line.get(..old.len()).is_some_and(|start| is_same(start, old.as_bytes()));
            (self.begins_within && at == 0 && is_end())
                || (self.ends_within && at == last && is_start())
        };
        let mut unlike = self.rows.iter().enumerate().filter(|(_, row)| is_unlike(row)).peekable();
        let first = unlike.peek().copied();
        unlike.find(|(at, row)| !is_part(*at, row)).or(first)
    }

    fn sentence(&self, at: usize, row: &Row<'_>) -> String {
        match row {
            Row::Both((number, line), old) => {
                let difference = difference(line, old, differs_in_blanks(line, old));
                format!("Line {} differs: {difference}.", number + 1)
            }
            Row::File((number, _)) => format!("The old text lacks line {}.", number + 1),
            Row::Old(old) => self.missing(at, old.trim()),
        }
    }

    /// The sentence about a line of the old text that the file does not have.
    fn missing(&self, at: usize, old: &str) -> String {
        let below = self.rows.iter().skip(at).find_map(Row::file);
        let next = below.map_or(self.end, |(number, _)| number) + 1;
        if is_placeholder(old) {
            return self.omitted(at, old);
        }
        if below.is_none() && self.is_last {
            format!("The file ends at line {}, the old text goes on.", self.end)
        } else if old.is_empty() {
            format!("The file has no blank line before line {next}.")
        } else {
            let old = clip::ellipsize(old, MISSING_BYTES);
            format!("The file does not have `{old}` before line {next}.")
        }
    }

    /// The sentence about a placeholder.
    fn omitted(&self, at: usize, old: &str) -> String {
        let mut lines = self.rows.iter().skip(at + 1).map_while(|row| match row {
            Row::File((number, _)) => Some(number + 1),
            Row::Both(..) | Row::Old(_) => None,
        });
        match (lines.next(), lines.last()) {
            (Some(first), Some(last)) => {
                format!("`{old}` stands for no lines: give lines {first}-{last} in its place.")
            }
            (Some(only), None) => {
                format!("`{old}` stands for no lines: give line {only} in its place.")
            }
            (None, _) => format!("`{old}` stands for no lines: leave it out."),
        }
    }
}

/// The line without what safe matching ignores in a line.
fn normalized(line: &[u8]) -> Option<Vec<u8>> {
    let normalized = Normalized::new(line, MatchKind::Typography, false, &Call::default());
    Some(normalized.ok()?.text)
}

fn is_distinctive(line: &str) -> bool {
    count_letters(line) > 2
}

/// The number of probes for a file of `len` bytes.
fn probe_count(len: usize) -> usize {
    (MAX_SEARCHED / len.max(1)).clamp(PROBES.start, PROBES.end)
}

/// How much of the two texts is equal, from 0 to 1, blanks ignored.
fn similarity(file: &[&[u8]], old: &[&str]) -> f64 {
    let lines: Vec<String> = file.iter().map(|line| lossy(line)).collect();
    let file: Vec<&str> = lines.iter().map(String::as_str).collect();
    let old: Vec<&str> = old.iter().map(|line| clip::truncate(line, MAX_LINE_BYTES)).collect();
    let is_short = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>() < 500;
    let by_letters = is_short(&file) && is_short(&old);
    let (file, old) = (tokens(&file, by_letters), tokens(&old, by_letters));
    let len = |tokens: &[&str]| tokens.iter().map(|token| token.len()).sum::<usize>();
    let operations = capture_diff_slices(Algorithm::Myers, &old, &file);
    let same = operations.iter().filter(|operation| operation.tag() == DiffTag::Equal);
    let same = same.flat_map(|operation| {
        let range = operation.old_range();
        old.iter().skip(range.start).take(range.len()).map(|token| token.len())
    });
    2.0 * same.sum::<usize>() as f64 / (len(&old) + len(&file)).max(1) as f64
}

fn lossy(line: &[u8]) -> String {
    String::from_utf8_lossy(line.get(..MAX_LINE_BYTES).unwrap_or(line)).into_owned()
}

/// The characters, or the words and signs, of the lines.
fn tokens<'a>(lines: &[&'a str], by_letters: bool) -> Vec<&'a str> {
    let mut tokens = Vec::new();
    for line in lines {
        let mut rest = line.trim_start();
        while let Some(letter) = rest.chars().next().filter(|_| tokens.len() < MAX_TOKENS) {
            let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
            let len = if is_word(letter) && !by_letters {
                rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
            } else {
                letter.len_utf8()
            };
            let Some((token, after)) = rest.split_at_checked(len) else { break };
            tokens.push(token);
            rest = after.trim_start();
        }
    }
    tokens
}

/// A part of a line that is like `old`.
pub(super) struct SimilarPart<'a> {
    line: &'a [u8],
    /// The number of the line, from 1.
    number: usize,
    /// Where in the line the part begins.
    start: usize,
    /// The line from there on.
    text: &'a [u8],
    old: &'a str,
    similarity: f64,
}

/// A piece of the old text that was found.
#[derive(Clone, Copy)]
struct PieceHit {
    /// Where the old text would begin.
    start: usize,
    /// Where the piece begins in the old text.
    offset: usize,
    /// Where the piece is.
    at: usize,
    weight: usize,
}

/// The part of a line of the file that is most similar to `old`.
fn most_similar_part<'a>(
    file: &LineTable<'a>,
    old: &'a str,
    call: &Call,
) -> Result<Option<SimilarPart<'a>>, Error> {
    let mut best: Option<SimilarPart<'a>> = None;
    let start = clip::truncate(old, MAX_LINE_BYTES);
    if !is_distinctive(start) {
        return Ok(None);
    }
    for hit in part_candidates(file.text(), start, call)? {
        check_stop(call)?;
        let Some(part) = SimilarPart::at(file, hit, old) else { continue };
        let max = best.as_ref().map_or(MIN_PART_SIMILARITY, |best| best.similarity);
        // Of equally similar parts the first.
        if part.similarity > max || (best.is_none() && part.similarity >= max) {
            best = Some(part);
        }
    }
    Ok(best)
}

/// The earliest piece of each range that has much in common with `old`, the best range first.
fn part_candidates(text: &[u8], old: &str, call: &Call) -> Result<Vec<PieceHit>, Error> {
    let mut hits: Vec<PieceHit> = Vec::new();
    for (offset, piece) in pieces(old, probe_count(text.len())) {
        check_stop(call)?;
        let finder = Finder::new(piece);
        let found: Vec<usize> = finder.find_iter(text).take(MAX_HITS).collect();
        let weight = 1000 / found.len().max(1);
        let found = found.into_iter();
        hits.extend(found.map(|at| PieceHit {
            start: at.saturating_sub(offset),
            offset,
            at,
            weight,
        }));
    }
    hits.sort_by_key(|hit| (hit.start, hit.offset));
    let ranked = hits.iter().enumerate().filter_map(|(index, first)| {
        let near = hits.get(index..)?.iter().take_while(|hit| hit.start - first.start <= SLACK);
        let votes: usize = near.clone().map(|hit| hit.weight).sum();
        Some((votes, *near.min_by_key(|hit| hit.offset)?))
    });
    let mut ranked: Vec<(usize, PieceHit)> = ranked.collect();
    ranked.sort_by_key(|(votes, hit)| (usize::MAX - votes, hit.start));
    ranked.dedup_by_key(|(_, hit)| hit.start);
    Ok(ranked.into_iter().take(CANDIDATES).map(|(_, hit)| hit).collect())
}

/// At most `max` pieces of about the same length, each with its offset.
fn pieces(old: &str, max: usize) -> impl Iterator<Item = (usize, &str)> {
    let count = (old.len() / MIN_PIECE_BYTES).clamp(1, max);
    split_evenly(old, count).filter(|(_, piece)| !piece.trim().is_empty())
}

impl<'a> SimilarPart<'a> {
    fn at(file: &LineTable<'a>, hit: PieceHit, old: &'a str) -> Option<SimilarPart<'a>> {
        let index = file.line_at(hit.at);
        let line = file.line(index)?;
        let start = hit.start.saturating_sub(file.start(index)?);
        let text = line.get(start..)?;
        let similarity = similarity(&[text.get(..old.len()).unwrap_or(text)], &[old]);
        Some(SimilarPart { line, number: index + 1, start, text, old, similarity })
    }

    /// "Did you mean" with the part and the first difference, in about `room` bytes.
    fn message(&self, room: usize) -> String {
        let same = common_prefix(self.text, self.old);
        let with_signs = starts_with_ignoring_blanks(self.text, self.old);
        let difference = difference(self.text, self.old, with_signs);
        let (number, column) = (self.number, self.start + same + 1);
        let sentence = format!("Line {number} differs at column {column}: {difference}.");
        let left = room.saturating_sub(sentence.len());
        let window = Some(self.window(same, WINDOW_BYTES)).filter(|window| window.len() <= left);
        let window = window.unwrap_or_else(|| self.window(same, MIN_WINDOW_BYTES));
        format!("Did you mean:\n```\n{}{window}\n```\n{sentence}", LineNumber(number as u64))
    }

    /// At most `limit` bytes of the line: all of the part, or a window around the first difference.
    fn window(&self, same: usize, limit: usize) -> String {
        let line = self.line.strip_suffix(b"\r").unwrap_or(self.line);
        let len = self.old.len();
        let end = self.start + len;
        let at = self.start + same;
        let span = if len <= limit { (self.start, end) } else { (at, at) };
        clip::window(line, &[span], limit.min(len.max(MIN_WINDOW_BYTES) + SLACK)).text
    }
}

/// "Did you mean" with the numbered line and `sentence`.
fn variant_message(line: &[u8], number: usize, span: (usize, usize), sentence: &str) -> String {
    let (line, _) = numbered_line(line, number, &[span], LINE_BYTES);
    format!("Did you mean:\n```\n{line}```\n{sentence}")
}

/// The first text of the file that is `old` with or without escapes or HTML entities.
fn find_rewritten(file: &LineTable<'_>, old: &str, call: &Call) -> Result<Option<String>, Error> {
    let entities = || BRACKETS.into_iter().chain(QUOTES).chain([AMPERSAND]);
    let decoded = entities().fold(old.to_owned(), |text, (sign, name)| text.replace(name, sign));
    let (sign, name) = AMPERSAND;
    let escaped = old.replace(sign, name);
    let brackets =
        BRACKETS.into_iter().fold(escaped, |text, (sign, name)| text.replace(sign, name));
    let [(quote, quote_name), (apostrophe, apostrophe_name), _] = QUOTES;
    let quotes = brackets.replace(quote, quote_name).replace(apostrophe, apostrophe_name);
    let forms = [
        (decoded, "the old text has HTML entities where the file has the characters"),
        (brackets, "the file has HTML entities where the old text has the characters"),
        (quotes, "the file has HTML entities where the old text has the characters"),
        (unescaped(old), "the old text has escapes where the file has the characters"),
        (old.replace('"', "\\\""), "the file has escapes where the old text has the characters"),
        (
            old.trim_end_matches('\n').replace('\n', "\\n"),
            "the file has `\\n` where the old text has a line end",
        ),
        (without_fence(old), "the old text stands in a code fence, which the file does not have"),
    ];
    for (form, what) in forms.iter().filter(|(form, _)| form != old && !form.trim().is_empty()) {
        check_stop(call)?;
        // Only line ends at the end were removed.
        if form == old.trim_end_matches('\n') {
            continue;
        }
        let Some(at) = memmem::find(file.text(), form.as_bytes()) else { continue };
        let index = file.line_at(at);
        let (Some(line), Some(start)) = (file.line(index), file.start(index)) else {
            continue;
        };
        let first = form.split('\n').next().unwrap_or(form);
        let span = (at - start, at - start + first.len());
        let sentence = format!("Line {} is like it, but {what}.", index + 1);
        return Ok(Some(variant_message(line, index + 1, span, &sentence)));
    }
    Ok(None)
}

/// The text within a code fence; the text itself if it is in none.
fn without_fence(text: &str) -> String {
    let inner = || {
        let (first, rest) = text.trim_start_matches('\n').split_once('\n')?;
        let (inner, last) = rest.trim_end().rsplit_once('\n')?;
        (first.starts_with("```") && last.trim() == "```").then_some(inner)
    };
    inner().unwrap_or(text).to_owned()
}

/// The message on texts that have the signs of a diff before their lines, without which the old text is
/// in the file.
pub(super) fn signed(text: &[u8], edit: &Replacement) -> Option<String> {
    let Replacement { old_text, new_text } = edit;
    let are_signed = |text: &str, sign: char| {
        text.split_terminator('\n').all(|line| line.is_empty() || line.starts_with([' ', sign]))
    };
    let has_sign = |text: &str, sign: char| text.lines().any(|line| line.starts_with(sign));
    if !are_signed(old_text, '-') || !are_signed(new_text, '+') {
        return None;
    }
    let (in_old, in_new) = (has_sign(old_text, '-'), has_sign(new_text, '+'));
    // The signs of one text alone may be meant, as those of a list. Those of a diff are before whole
    // lines, and the unchanged lines are in both texts.
    let are_sure = in_old && in_new;
    let may_be = (in_old || in_new) && unchanged_lines(old_text).eq(unchanged_lines(new_text));
    if !are_sure && !may_be {
        return None;
    }
    let bare = old_text.split_inclusive('\n');
    let bare: String = bare.map(|line| line.strip_prefix([' ', '-']).unwrap_or(line)).collect();
    let bare = Some(bare.trim_end_matches('\n')).filter(|bare| !bare.trim().is_empty())?;
    let file = LineTable::new(text);
    let is_found = |at: &usize| are_sure || are_whole_lines(text, *at, bare.len());
    let at = memmem::find_iter(text, bare).find(is_found)?;
    let (first, end) = (file.line_at(at), file.line_at(at + bare.len() - 1) + 1);
    let shown = numbered_lines(&file, first..end, VARIANT_BYTES);
    let sentence = if new_text.trim_end_matches('\n').is_empty() {
        "The old text has signs before its lines, as a diff has: give it without."
    } else {
        "Both texts have signs before their lines, as a diff has: give them without."
    };
    Some(format!("Did you mean:\n```\n{shown}```\n{sentence}"))
}

/// The lines that have the sign of an unchanged line.
fn unchanged_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| line.starts_with(' '))
}

/// Whether a part of the text begins and ends where lines do.
fn are_whole_lines(text: &[u8], at: usize, len: usize) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else { return false };
    let Some(after) = rest.get(len..) else { return false };
    let begins = before.last().is_none_or(|byte| *byte == b'\n');
    begins && (after.is_empty() || after.starts_with(b"\n") || after.starts_with(b"\r"))
}

/// The text with the escapes of string literals replaced by their characters.
fn unescaped(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        let next = letters.clone().next();
        let stands_for = match next {
            Some('n') => '\n',
            Some('t') => '\t',
            Some(sign @ ('"' | '\'' | '\\' | '`')) => sign,
            _ => letter,
        };
        if letter == '\\' && (stands_for != letter || next == Some('\\')) {
            plain.push(stands_for);
            letters.next();
        } else {
            plain.push(letter);
        }
    }
    plain
}

/// The first line of at most `max` bytes that contains `old`, at most one line, regardless of blanks
/// and case.
fn find_squeezed(
    file: &LineTable<'_>,
    old: &str,
    max: usize,
    call: &Call,
) -> Result<Option<String>, Error> {
    let old = old.strip_suffix('\n').unwrap_or(old);
    let wanted = Squeezed::of(old.as_bytes());
    let is_short = old.len() <= MAX_OLD_BYTES && wanted.text.len() >= MIN_LETTERS;
    if !is_short || old.contains('\n') {
        return Ok(None);
    }
    let finder = Finder::new(&wanted.text);
    for (index, line) in file.lines(0..file.len()).enumerate() {
        if index % 4096 == 0 {
            check_stop(call)?;
        }
        if file.start(index).is_none_or(|start| start > MAX_VARIANT_SEARCHED) {
            break;
        }
        if line.len() < wanted.text.len() || line.len() > max.min(MAX_VARIANT_LINE_BYTES) {
            continue;
        }
        let squeezed = Squeezed::of(line);
        let Some(found) = finder.find(&squeezed.text) else { continue };
        let Some((start, end)) = squeezed.span(found, wanted.text.len()) else { continue };
        let Some(part) = line.get(start..end) else { continue };
        let is_case = part.eq_ignore_ascii_case(old.trim().as_bytes());
        let is_blanks = without_blanks(part).eq(without_blanks(old.as_bytes()));
        let what = match (is_blanks, is_case) {
            (true, _) => "blanks",
            (_, true) => "case",
            _ => "blanks and case",
        };
        let shown = |text: &[u8]| {
            let shown = clip::window(text, &[], VARIANT_BYTES).text;
            if is_case && !is_blanks { shown } else { visible_blanks(&shown) }
        };
        let number = index + 1;
        if part == old.as_bytes() {
            let sentence =
                format!("Line {number} has more than the old text, which is whole lines.");
            return Ok(Some(variant_message(line, number, (start, end), &sentence)));
        }
        let sentence = format!(
            "Line {number} differs only in {what}: the file has `{}`, the old text has `{}`.",
            shown(part),
            shown(old.as_bytes())
        );
        return Ok(Some(variant_message(line, number, (start, end), &sentence)));
    }
    Ok(None)
}

fn without_blanks(text: &[u8]) -> impl Iterator<Item = &u8> {
    text.iter().filter(|byte| !byte.is_ascii_whitespace())
}

/// A text without blanks and case.
struct Squeezed<'a> {
    source: &'a [u8],
    text: Vec<u8>,
}

impl<'a> Squeezed<'a> {
    fn of(source: &'a [u8]) -> Squeezed<'a> {
        let text = without_blanks(source).map(u8::to_ascii_lowercase).collect();
        Squeezed { source, text }
    }

    /// The start and end in the source of a part of the text.
    fn span(&self, at: usize, len: usize) -> Option<(usize, usize)> {
        let mut offsets =
            self.source.iter().enumerate().filter(|(_, byte)| !byte.is_ascii_whitespace());
        let (start, _) = offsets.nth(at)?;
        let end = match len.checked_sub(2) {
            Some(more) => offsets.nth(more)?.0,
            None => start,
        };
        Some((start, end + 1))
    }
}
