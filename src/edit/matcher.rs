//! The match strategies: `old_text` is searched for exactly, then with increasing normalization,
//! then as whole lines at another indentation. The first strategy with a match decides.

#[cfg(test)]
mod tests;

use std::ops::Range;

use memchr::memmem::Finder;

use crate::context::Call;
use crate::edit::normalize::{Normalized, trim_trailing_blanks};
use crate::edit::replacement::{EditOptions, MatchKind, Matching, check_stop};
use crate::edit::text::{DecodedText, indentation, is_line_start, out_of_range, slice};
use crate::error::Error;

/// Matches of a text that is not unique are counted up to this many.
const MAX_COUNTED: usize = 1000;

/// The maximum number of matches that are replaced in one call.
pub(super) const MAX_REPLACED: usize = 1_000_000;

/// Steps, and bytes, between two checks for cancellation.
const CHECK_INTERVAL: usize = 4096;
const CHECK_BYTES: usize = 1 << 20;

/// The normalized forms of a text up to this length are all kept for the next replacement; of a
/// longer one only the last form is.
const MAX_CACHED_BYTES: usize = 8 << 20;

/// Numbers of spaces that may replace a tab, the most likely first.
const TAB_WIDTHS: [usize; 3] = [4, 2, 8];

/// All matches of `old_text` with one strategy.
#[derive(Clone)]
pub(super) struct MatchSet {
    pub(super) kind: MatchKind,
    /// In ascending order.
    pub(super) matches: Vec<TextMatch>,
    /// Whether there are more matches than counted.
    pub(super) has_more: bool,
}

/// A range of the text that matches `old_text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TextMatch {
    pub(super) range: Range<usize>,
    /// How the indentation of `old_text` may become that of the range, the most likely first; empty
    /// if it is the same.
    pub(super) mappings: Vec<IndentMapping>,
}

impl TextMatch {
    fn unindented(range: Range<usize>) -> TextMatch {
        TextMatch { range, mappings: Vec::new() }
    }

    /// Whether tabs replace spaces, or the reverse.
    pub(super) fn converts_tabs(&self) -> bool {
        self.mappings.first().is_some_and(|mapping| mapping.tabs != TabConversion::None)
    }
}

/// The file of one call, with the normalized forms that its replacements share.
pub(super) struct Matcher<'a> {
    pub(super) path: &'a str,
    pub(super) text: &'a [u8],
    pub(super) is_utf16: bool,
    pub(super) options: &'a EditOptions,
    pub(super) call: &'a Call,
    normalized: NormalizedForms,
    relative: Option<RelativeIndentText>,
}

impl<'a> Matcher<'a> {
    pub(super) fn new(
        path: &'a str,
        text: &'a DecodedText<'_>,
        options: &'a EditOptions,
        call: &'a Call,
    ) -> Matcher<'a> {
        let (is_utf16, text) = (text.is_utf16(), text.bytes());
        let normalized = NormalizedForms::default();
        Matcher { path, text, is_utf16, options, call, normalized, relative: None }
    }

    /// The matches of `old_text` with the first strategy that has one.
    pub(super) fn find(
        &mut self,
        old_text: &str,
        options: &EditOptions,
    ) -> Result<Option<MatchSet>, Error> {
        self.find_up_to(MatchKind::Indentation, old_text, options)
    }

    /// The matches of `old_text` with the first strategy that has one, none looser than `last`.
    pub(super) fn find_up_to(
        &mut self,
        last: MatchKind,
        old_text: &str,
        options: &EditOptions,
    ) -> Result<Option<MatchSet>, Error> {
        let last = if options.matching == Matching::Exact { MatchKind::Exact } else { last };
        let kinds = [
            MatchKind::Exact,
            MatchKind::LineEndings,
            MatchKind::TrailingBlanks,
            MatchKind::Typography,
            MatchKind::Indentation,
        ];
        for kind in kinds.into_iter().filter(|kind| *kind <= last) {
            let found = self.find_at(kind, old_text, options)?;
            if !found.matches.is_empty() {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// The matches of `old_text` with one strategy.
    pub(super) fn find_at(
        &mut self,
        kind: MatchKind,
        old_text: &str,
        options: &EditOptions,
    ) -> Result<MatchSet, Error> {
        match kind {
            MatchKind::Exact => self.find_exact(old_text, options),
            MatchKind::Indentation => self.find_indented(old_text, options),
            _ => self.find_normalized(old_text, kind, options),
        }
    }

    /// Normalizes a part of the file, or a text to compare with it.
    pub(super) fn normalize(&self, text: &[u8], kind: MatchKind) -> Result<Normalized, Error> {
        Normalized::new(text, kind, self.is_utf16, self.call)
    }

    fn find_exact(&self, old_text: &str, options: &EditOptions) -> Result<MatchSet, Error> {
        let needle = old_text.as_bytes();
        let (starts, has_more) =
            find_all(self.text, needle, options.replace_all, self.call, |_| true)?;
        let ranges = starts.into_iter().map(|at| at..at + needle.len());
        let mut matches: Vec<_> = ranges.map(TextMatch::unindented).collect();
        // A match must not split `\r\n`: the next strategy treats both as one.
        let splits = |at: usize| {
            let before = at.checked_sub(1).and_then(|before| self.text.get(before));
            before == Some(&b'\r') && self.text.get(at) == Some(&b'\n')
        };
        let is_safe = options.matching == Matching::Safe;
        if is_safe && matches.iter().any(|at| splits(at.range.start) || splits(at.range.end)) {
            matches.clear();
        }
        Ok(MatchSet { kind: MatchKind::Exact, matches, has_more })
    }

    fn find_normalized(
        &mut self,
        old_text: &str,
        kind: MatchKind,
        options: &EditOptions,
    ) -> Result<MatchSet, Error> {
        let old = self.normalize(old_text.as_bytes(), kind)?;
        let (text, call) = (self.text, self.call);
        let file = self.normalized.get(text, kind, self.is_utf16, call)?;
        let ends_in_blanks = old.ends_in_blanks();
        // A line of blanks normalizes to its terminator, which must not match that of the line
        // above.
        let has_blank_first = kind >= MatchKind::TrailingBlanks && begins_with_blank_line(old_text);
        let accept = |at: usize| {
            let end = at + old.text.len();
            let begins = !has_blank_first
                || at.checked_sub(1).is_none_or(|above| file.text.get(above) == Some(&b'\n'));
            let ends = !ends_in_blanks || file.ends_line(end);
            begins && ends && file.is_boundary(at) && file.is_boundary(end)
        };
        let (starts, has_more) =
            find_all(&file.text, &old.text, options.replace_all, call, accept)?;
        let matches = starts.into_iter().map(|at| {
            let (start, mut end) = (file.source_end(at), file.source_start(at + old.text.len()));
            if ends_in_blanks {
                end = skip_trailing_blanks(text, end, kind)?;
            }
            Ok(TextMatch::unindented(start..end))
        });
        let matches = matches.collect::<Result<_, Error>>()?;
        Ok(MatchSet { kind, matches, has_more })
    }

    fn find_indented(&mut self, old_text: &str, options: &EditOptions) -> Result<MatchSet, Error> {
        let kind = MatchKind::Typography;
        let Matcher { text, is_utf16, call, normalized, relative, .. } = self;
        let file = normalized.get(text, kind, *is_utf16, call)?;
        let relative = match relative {
            Some(relative) => relative,
            None => relative.insert(RelativeIndentText::new(&file.text, call)?),
        };
        let max = if options.replace_all { MAX_REPLACED } else { MAX_COUNTED };
        let mut matches: Vec<TextMatch> = Vec::new();
        let mut has_more = false;
        for tabs in TabConversion::candidates(old_text, text) {
            let Some(converted) = tabs.apply(old_text) else { continue };
            let old = Normalized::new(converted.as_bytes(), kind, *is_utf16, call)?;
            let with_same = tabs != TabConversion::None;
            let search = IndentedSearch { file, relative, old: &old, with_same };
            let (found, is_cut) = search.find(max, options.replace_all, call)?;
            has_more |= is_cut;
            for (range, shift) in found {
                let (start, mut end) = (file.source_end(range.start), file.source_start(range.end));
                if old.ends_in_blanks() {
                    end = skip_trailing_blanks(text, end, kind)?;
                }
                let mappings = vec![IndentMapping { tabs, shift }];
                matches.push(TextMatch { range: start..end, mappings });
            }
        }
        let mut matches = merge_equal_ranges(matches);
        if options.replace_all {
            // Only the matches of one search are disjoint.
            let mut end = 0;
            matches.retain(|found| {
                let is_disjoint = found.range.start >= end;
                end = if is_disjoint { found.range.end } else { end };
                is_disjoint
            });
        }
        Ok(MatchSet { kind: MatchKind::Indentation, matches, has_more })
    }
}

/// The matches in order, one for each range.
fn merge_equal_ranges(mut matches: Vec<TextMatch>) -> Vec<TextMatch> {
    // A stable sort: of several mappings the first stays the first.
    matches.sort_by_key(|found| (found.range.start, found.range.end));
    matches.dedup_by(|next, kept| {
        let is_same = next.range == kept.range;
        if is_same {
            kept.mappings.append(&mut next.mappings);
        }
        is_same
    });
    matches
}

/// The normalized forms of the file, created when first needed: each takes as much memory as the
/// file.
#[derive(Default)]
struct NormalizedForms {
    /// The strategy for which each was made.
    forms: Vec<(MatchKind, Normalized)>,
    /// For trailing blanks and typography, the stricter strategy that sees the same form, if any.
    same: Option<[MatchKind; 2]>,
}

impl NormalizedForms {
    fn get(
        &mut self,
        text: &[u8],
        kind: MatchKind,
        is_utf16: bool,
        call: &Call,
    ) -> Result<&Normalized, Error> {
        let same = if let Some(same) = self.same {
            same
        } else {
            let has_blanks = has_trailing_blanks(text)?;
            let blanks =
                if has_blanks { MatchKind::TrailingBlanks } else { MatchKind::LineEndings };
            [blanks, if text.is_ascii() { blanks } else { MatchKind::Typography }]
        };
        self.same = Some(same);
        let [blanks, typography] = same;
        let kind = match kind {
            MatchKind::Exact | MatchKind::LineEndings => MatchKind::LineEndings,
            MatchKind::TrailingBlanks => blanks,
            MatchKind::Typography | MatchKind::Indentation => typography,
        };
        if !self.forms.iter().any(|(known, _)| *known == kind) {
            if text.len() > MAX_CACHED_BYTES {
                self.forms.clear();
            }
            self.forms.push((kind, Normalized::new(text, kind, is_utf16, call)?));
        }
        let form = self.forms.iter().find(|(known, _)| *known == kind);
        form.map(|(_, form)| form).ok_or_else(out_of_range)
    }
}

/// Whether the first line consists of blanks and is not empty.
fn begins_with_blank_line(text: &str) -> bool {
    let line = text.split_once('\n').map_or("", |(line, _)| line);
    let line = line.strip_suffix('\r').unwrap_or(line);
    !line.is_empty() && line.trim().is_empty()
}

fn has_trailing_blanks(text: &[u8]) -> Result<bool, Error> {
    let is_blank = |line: &[u8]| matches!(line.last(), Some(b' ' | b'\t'));
    for end in memchr::memchr_iter(b'\n', text) {
        let line = slice(text, ..end)?;
        if is_blank(line.strip_suffix(b"\r").unwrap_or(line)) {
            return Ok(true);
        }
    }
    Ok(is_blank(text))
}

/// The end of the line of `at` without its terminator if only blanks are between, else `at`.
fn skip_trailing_blanks(text: &[u8], at: usize, kind: MatchKind) -> Result<usize, Error> {
    let rest = slice(text, at..)?;
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    let line = slice(rest, ..end)?;
    let line =
        if line.len() < rest.len() { line.strip_suffix(b"\r").unwrap_or(line) } else { line };
    Ok(if trim_trailing_blanks(line, kind).is_empty() { at + line.len() } else { at })
}

/// The offsets of `needle` that are accepted, and whether there are more than the maximum: all,
/// overlapping ones included, or if `disjoint` those that do not overlap, from the left.
fn find_all(
    text: &[u8],
    needle: &[u8],
    disjoint: bool,
    call: &Call,
    accept: impl Fn(usize) -> bool,
) -> Result<(Vec<usize>, bool), Error> {
    let mut found = Vec::new();
    if needle.is_empty() {
        return Ok((found, false));
    }
    let max = if disjoint { MAX_REPLACED } else { MAX_COUNTED };
    let mut occurrences = Occurrences::new(needle, text, call);
    while let Some(at) = occurrences.find_next()? {
        if !accept(at) {
            continue;
        }
        if found.len() == max {
            return Ok((found, true));
        }
        found.push(at);
        if disjoint {
            occurrences.skip_to(at + needle.len());
        }
    }
    Ok((found, false))
}

/// How the indentation of `old_text` becomes that of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IndentMapping {
    pub(super) tabs: TabConversion,
    pub(super) shift: IndentShift,
}

impl IndentMapping {
    /// The text as it stands in the file; `None` if a line cannot be mapped.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        self.shift.apply(&self.tabs.apply(text)?)
    }
}

/// How much deeper or shallower the lines of the file are indented than those of `old_text`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum IndentShift {
    None,
    /// Every line of the file has these blanks in addition.
    Deeper(String),
    /// Every line of `old_text` has these blanks in addition.
    Shallower(String),
}

impl IndentShift {
    /// The shift from the indentation `old` to `file`; `None` if they are equal, or neither ends
    /// with the other.
    fn between(file: &[u8], old: &[u8]) -> Option<IndentShift> {
        let blanks = |blanks: &[u8]| String::from_utf8_lossy(blanks).into_owned();
        match (file.strip_suffix(old), old.strip_suffix(file)) {
            (Some([]), _) => None,
            (Some(more), _) => Some(IndentShift::Deeper(blanks(more))),
            (_, Some(less)) => Some(IndentShift::Shallower(blanks(less))),
            _ => None,
        }
    }

    /// The text with every non-blank line shifted; `None` if a line lacks the blanks to remove.
    pub(super) fn apply(&self, text: &str) -> Option<String> {
        let mut shifted = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let line = match self {
                IndentShift::Shallower(blanks) if !is_blank(line.as_bytes()) => {
                    line.strip_prefix(blanks.as_str())?
                }
                IndentShift::Deeper(blanks) if !is_blank(line.as_bytes()) => {
                    shifted.push_str(blanks);
                    line
                }
                _ => line,
            };
            shifted.push_str(line);
        }
        Some(shifted)
    }
}

/// Whether the file is indented with tabs where `old_text` has spaces, or the reverse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TabConversion {
    None,
    /// The file has a tab for this many spaces.
    ToTabs(usize),
    /// The file has this many spaces for a tab.
    ToSpaces(usize),
}

impl TabConversion {
    /// The conversions after which the indentation of `old` could be that of the file.
    fn candidates(old: &str, file: &[u8]) -> Vec<TabConversion> {
        let has = |blank: char| old.lines().any(|line| indentation(line).contains(blank));
        let file_has = |blank: u8| {
            file.first() == Some(&blank) || memchr::memmem::find(file, &[b'\n', blank]).is_some()
        };
        let mut candidates = vec![TabConversion::None];
        if has(' ') && file_has(b'\t') {
            candidates.extend(TAB_WIDTHS.map(TabConversion::ToTabs));
        }
        if has('\t') && file_has(b' ') {
            candidates.extend(TAB_WIDTHS.map(TabConversion::ToSpaces));
        }
        candidates
    }

    /// The text with its indentation converted; `None` if a line mixes tabs and spaces
    /// ambiguously.
    fn apply(self, text: &str) -> Option<String> {
        let mut converted = String::with_capacity(text.len() + 64);
        for line in text.split_inclusive('\n') {
            let blanks = indentation(line);
            if is_blank(line.as_bytes()) {
                converted.push_str(line);
                continue;
            }
            converted.push_str(&self.convert(blanks)?);
            converted.push_str(line.strip_prefix(blanks)?);
        }
        Some(converted)
    }

    fn convert(self, blanks: &str) -> Option<String> {
        match self {
            TabConversion::None => Some(blanks.to_owned()),
            TabConversion::ToTabs(_) if blanks.contains('\t') => None,
            TabConversion::ToTabs(width) => {
                Some("\t".repeat(blanks.len() / width) + &" ".repeat(blanks.len() % width))
            }
            TabConversion::ToSpaces(width) => {
                let rest = blanks.trim_start_matches('\t');
                let tabs = blanks.len() - rest.len();
                (!rest.contains('\t')).then(|| " ".repeat(tabs * width + rest.len()))
            }
        }
    }
}

fn is_blank(line: &[u8]) -> bool {
    let mut chunks = line.utf8_chunks();
    chunks.all(|chunk| chunk.invalid().is_empty() && chunk.valid().chars().all(char::is_whitespace))
}

/// A range of the normalized file, and the shift from `old_text` to it.
type IndentedMatch = (Range<usize>, IndentShift);

/// A search for the lines of `old_text` at any uniform indentation; both texts are normalized.
struct IndentedSearch<'a> {
    file: &'a Normalized,
    /// Of the file.
    relative: &'a RelativeIndentText,
    old: &'a Normalized,
    /// Whether lines with the same indentation match, too.
    with_same: bool,
}

impl IndentedSearch<'_> {
    /// The matches, at most `max`, and whether there are more; if `disjoint`, those that do not
    /// overlap, from the left.
    fn find(
        &self,
        max: usize,
        disjoint: bool,
        call: &Call,
    ) -> Result<(Vec<IndentedMatch>, bool), Error> {
        let mut matches: Vec<IndentedMatch> = Vec::new();
        let old = &self.old.text;
        let Some(first) = IndentedLines::new(old).find(|line| line.change.is_some()) else {
            return Ok((matches, false));
        };
        let lines = IndentedLines::new(old).filter(|line| line.change.is_some()).count();
        let RelativeIndentText(needle) = RelativeIndentText::new(old, call)?;
        // The blank lines before the first non-blank one are compared at each match.
        let needle = slice(&needle, first.start + first.prefix_len()..)?;
        let mut cursor = LineCursor::new(&self.file.text);
        let mut occurrences = Occurrences::new(needle, &self.relative.0, call);
        while let Some(at) = occurrences.find_next()? {
            let Some(line) = cursor.line_with(at, call)? else { continue };
            let Some((range, shift)) = self.match_at(&first, lines, line) else { continue };
            if disjoint && matches.last().is_some_and(|(last, _)| range.start < last.end) {
                continue;
            }
            if matches.len() == max {
                return Ok((matches, true));
            }
            matches.push((range, shift));
        }
        Ok((matches, false))
    }

    /// The match in which `line` of the file is the first non-blank line, `first` of `old`; `lines`
    /// is the number of non-blank lines of `old`.
    fn match_at(
        &self,
        first: &IndentedLine<'_>,
        lines: usize,
        line: &IndentedLine<'_>,
    ) -> Option<IndentedMatch> {
        let (file, old) = (&self.file.text, &self.old.text);
        let shift = if self.with_same && line.indentation == first.indentation {
            IndentShift::None
        } else {
            IndentShift::between(line.indentation, first.indentation)?
        };
        let start = line.start.checked_sub(first.start)?;
        // From the end, so that no blank line is compared for more than one match.
        let blank = old.get(..first.start)?.iter().rev();
        let above = file.get(start..line.start)?;
        if !is_line_start(file, start) || !blank.eq(above.iter().rev()) {
            return None;
        }
        let end = match &shift {
            IndentShift::None => start + old.len(),
            IndentShift::Deeper(blanks) => start + old.len() + lines * blanks.len(),
            IndentShift::Shallower(blanks) => {
                (start + old.len()).checked_sub(lines * blanks.len())?
            }
        };
        let is_whole = old.ends_with(b"\n") && !self.old.ends_in_blanks();
        (is_whole || self.file.ends_line(end)).then_some((start..end, shift))
    }
}

/// A text in a form that does not change when all its lines are shifted together.
///
/// The indentation of each line is replaced by its difference from that of the line before: what
/// only that line has, NUL, what only this line has, NUL. Blank lines are unchanged.
struct RelativeIndentText(Vec<u8>);

impl RelativeIndentText {
    fn new(text: &[u8], call: &Call) -> Result<RelativeIndentText, Error> {
        let mut relative = Vec::with_capacity(text.len() + text.len() / 8);
        for (round, line) in IndentedLines::new(text).enumerate() {
            if round % CHECK_INTERVAL == 0 {
                check_stop(call)?;
            }
            if let Some((less, more)) = line.change {
                relative.extend_from_slice(less);
                relative.push(0);
                relative.extend_from_slice(more);
                relative.push(0);
            }
            relative.extend_from_slice(line.content);
        }
        Ok(RelativeIndentText(relative))
    }
}

/// A line of a text, its terminator included.
struct IndentedLine<'a> {
    start: usize,
    indentation: &'a [u8],
    /// What follows the indentation; of a blank line, all of it.
    content: &'a [u8],
    /// What only the indentation of the line before has, and what only this one has; `None` for a
    /// blank line.
    change: Option<(&'a [u8], &'a [u8])>,
}

impl IndentedLine<'_> {
    /// Length in the relative text of what precedes the content.
    fn prefix_len(&self) -> usize {
        self.change.map_or(0, |(less, more)| less.len() + more.len() + 2)
    }
}

/// Iterates over the lines of a text.
struct IndentedLines<'a> {
    rest: &'a [u8],
    start: usize,
    /// The indentation of the last non-blank line.
    before: &'a [u8],
}

impl<'a> IndentedLines<'a> {
    fn new(text: &'a [u8]) -> IndentedLines<'a> {
        IndentedLines { rest: text, start: 0, before: &[] }
    }
}

impl<'a> Iterator for IndentedLines<'a> {
    type Item = IndentedLine<'a>;

    fn next(&mut self) -> Option<IndentedLine<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let start = self.start;
        let len = memchr::memchr(b'\n', self.rest).map_or(self.rest.len(), |end| end + 1);
        let (line, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest;
        self.start += len;
        if is_blank(line) {
            return Some(IndentedLine { start, indentation: &[], content: line, change: None });
        }
        let blanks = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let (indentation, content) = line.split_at_checked(blanks)?;
        let pairs = self.before.iter().zip(indentation);
        let same = pairs.take_while(|(a, b)| a == b).count();
        let change = Some((self.before.get(same..)?, indentation.get(same..)?));
        self.before = indentation;
        Some(IndentedLine { start, indentation, content, change })
    }
}

/// Maps offsets of the relative text to lines of the text.
struct LineCursor<'a> {
    lines: IndentedLines<'a>,
    line: Option<IndentedLine<'a>>,
    /// The range of the content of the line in the relative text.
    content: Range<usize>,
}

impl<'a> LineCursor<'a> {
    fn new(text: &'a [u8]) -> LineCursor<'a> {
        LineCursor { lines: IndentedLines::new(text), line: None, content: 0..0 }
    }

    /// The line whose content begins at `at`; offsets must be asked for in ascending order.
    fn line_with(&mut self, at: usize, call: &Call) -> Result<Option<&IndentedLine<'a>>, Error> {
        let mut rounds = 0;
        while self.content.end <= at {
            let Some(line) = self.lines.next() else { return Ok(None) };
            let start = self.content.end + line.prefix_len();
            self.content = start..start + line.content.len();
            self.line = Some(line);
            rounds += 1;
            if rounds % CHECK_INTERVAL == 0 {
                check_stop(call)?;
            }
        }
        Ok(self.line.as_ref().filter(|_| self.content.start == at))
    }
}

/// All offsets of a needle in a text, from the left, overlapping ones included, in time linear in
/// both.
///
/// Two occurrences no further apart than half the needle show its period. From then on, all
/// occurrences in a run, the part of the text that continues with that period, are known without
/// searching it again, and the next one after it is more than half the needle away.
pub(super) struct Occurrences<'a> {
    text: &'a [u8],
    finder: Finder<'a>,
    call: &'a Call,
    /// Where the search continues.
    from: usize,
    /// The last occurrence, if the search continues right after it.
    last: Option<usize>,
    period: Option<usize>,
    run: Run,
    /// Bytes read so far; linear in the text and the needle.
    work: usize,
    /// The work, and the number of occurrences, at which the call is checked next.
    next_check: usize,
    left: usize,
}

/// Known occurrences: every `period` bytes from `next` to `last`.
#[derive(Clone, Copy)]
struct Run {
    next: usize,
    last: usize,
}

impl Run {
    const NONE: Run = Run { next: 1, last: 0 };
}

impl<'a> Occurrences<'a> {
    pub(super) fn new(needle: &'a [u8], text: &'a [u8], call: &'a Call) -> Occurrences<'a> {
        Occurrences {
            text,
            finder: Finder::new(needle),
            call,
            from: 0,
            last: None,
            period: None,
            run: Run::NONE,
            work: 0,
            next_check: 0,
            left: CHECK_INTERVAL,
        }
    }

    /// The next occurrence.
    ///
    /// # Errors
    /// `CANCELLED`, `TIMEOUT`.
    pub(super) fn find_next(&mut self) -> Result<Option<usize>, Error> {
        self.left -= 1;
        if self.left == 0 || self.work >= self.next_check {
            check_stop(self.call)?;
            (self.left, self.next_check) = (CHECK_INTERVAL, self.work + CHECK_BYTES);
        }
        if let Some(at) = self.next_of_run() {
            return Ok(Some(at));
        }
        let Some(rest) = self.text.get(self.from..) else { return Ok(None) };
        let len = self.finder.needle().len();
        let Some(found) = self.finder.find(rest) else {
            self.work += rest.len();
            self.from = self.text.len() + 1;
            return Ok(None);
        };
        self.work += found + len;
        let at = self.from + found;
        if self.period.is_none() {
            let max = (len / 2).max(1);
            self.period = self.last.map(|last| at - last).filter(|&period| period <= max);
        }
        self.begin_run(at)?;
        Ok(Some(at))
    }

    /// Skips the occurrences before `from`.
    fn skip_to(&mut self, from: usize) {
        if let Some(period) = self.period {
            let behind = from.saturating_sub(self.run.next);
            self.run.next += behind.div_ceil(period) * period;
        }
        self.from = self.from.max(from);
        self.last = None;
    }

    fn next_of_run(&mut self) -> Option<usize> {
        let next = self.run.next;
        if next > self.run.last {
            return None;
        }
        self.run.next += self.period?;
        Some(next)
    }

    /// Determines how far the text continues with the period of the needle found at `at`.
    fn begin_run(&mut self, at: usize) -> Result<(), Error> {
        self.last = Some(at);
        self.from = at + 1;
        let Some(period) = self.period else { return Ok(()) };
        let end = at + self.finder.needle().len();
        let (more, again) = (slice(self.text, end..)?, slice(self.text, end - period..)?);
        let same = more.iter().zip(again).take_while(|(a, b)| a == b).count();
        self.run = Run { next: at + period, last: at + same };
        self.from = at + same + 1;
        self.work += same;
        Ok(())
    }
}
