//! Where the pattern matches in a line.

use std::ops::Range;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;

/// Matches between two looks at the clock; in a long text each of them may take long.
const CHECK_EVERY: usize = 128;

/// A text so long that one search for a match may take long, in bytes.
const LONG: usize = 256 * 1024;

/// The matches in a text that begin in a range of it, one after the other, as ripgrep reports
/// them: an empty match directly behind a match is none.
pub(super) struct Spans<'a> {
    matcher: &'a RegexMatcher,
    text: &'a [u8],
    /// Where the next search begins, and where no match begins any more.
    begins: Range<usize>,
    /// Where the last match ended.
    last: Option<usize>,
    keeps_going: &'a dyn Fn() -> bool,
    found: usize,
    /// The call ended before the last match was found.
    interrupted: bool,
}

impl<'a> Spans<'a> {
    pub(super) fn new(
        matcher: &'a RegexMatcher,
        text: &'a [u8],
        begins: Range<usize>,
        keeps_going: &'a dyn Fn() -> bool,
    ) -> Spans<'a> {
        Spans { matcher, text, begins, last: None, keeps_going, found: 0, interrupted: false }
    }

    /// Whether the call has ended, looked up now and then.
    fn is_over(&mut self) -> bool {
        let due = self.found > 0
            && (self.found.is_multiple_of(CHECK_EVERY)
                || self.text.len().saturating_sub(self.begins.start) > LONG);
        self.interrupted |= due && !(self.keeps_going)();
        self.interrupted
    }
}

impl Iterator for Spans<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<(usize, usize)> {
        while self.begins.start <= self.text.len() && !self.is_over() {
            // The error of this matcher has no values.
            let found = self.matcher.find_at(self.text, self.begins.start).ok().flatten();
            let Some(found) = found.filter(|found| found.start() < self.begins.end) else { break };
            self.found += 1;
            self.begins.start = found.end() + usize::from(found.is_empty());
            let behind = found.is_empty() && self.last == Some(found.end());
            self.last = Some(found.end());
            if !behind {
                return Some((found.start(), found.end()));
            }
        }
        self.begins.start = usize::MAX;
        None
    }
}

/// Which places in a line are wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    /// How many at most.
    pub(super) most: usize,
    /// How far behind the end of the first match they may begin, in bytes. What lies further is
    /// not shown.
    pub(super) within: usize,
}

/// The places of matches in one line, in bytes from its start.
#[derive(Debug, Default)]
pub(super) struct SpansInLine {
    /// A match that began before the line begins at 0 here. One that goes on in later lines ends
    /// behind this one.
    pub(super) places: Vec<(usize, usize)>,
    /// The first of them began before the line.
    pub(super) continued: bool,
    /// There are, or may be, more of those that are wanted.
    pub(super) more: bool,
}

impl SpansInLine {
    /// Adds a match that is at least partly in `line`; false if it is not wanted, nor are those
    /// after it.
    fn add(&mut self, (start, end): (usize, usize), line: &Range<usize>, wanted: Wanted) -> bool {
        let place = (start.saturating_sub(line.start), end - line.start);
        let first = self.places.first().map_or(place.1, |(_, end)| *end);
        if place.0 > first.saturating_add(wanted.within) {
            return false;
        }
        if self.places.len() >= wanted.most {
            self.more = true;
            return false;
        }
        self.continued |= start < line.start;
        self.places.push(place);
        true
    }
}

/// Assigns matches to lines, which are asked for in their order.
pub(super) struct LineSpans<'a> {
    spans: Spans<'a>,
    /// A match that was found and reaches beyond the lines asked for so far.
    pending: Option<(usize, usize)>,
}

impl<'a> LineSpans<'a> {
    pub(super) fn new(spans: Spans<'a>) -> LineSpans<'a> {
        LineSpans { spans, pending: None }
    }

    /// The matches in a line, given as the range of its bytes with the line end.
    pub(super) fn of_line(&mut self, line: Range<usize>, wanted: Wanted) -> SpansInLine {
        let mut found = SpansInLine::default();
        let mut full = false;
        while let Some((start, end)) = self.pending.take().or_else(|| self.spans.next()) {
            if start >= line.end {
                self.pending = Some((start, end));
                return found;
            }
            if !full && (start >= line.start || end > line.start) {
                full = !found.add((start, end), &line, wanted);
            }
            if end > line.end {
                self.pending = Some((start, end));
                return found;
            }
        }
        found.more |= self.spans.interrupted;
        found
    }

    /// The matches in the last line that is asked for: those behind what is wanted need not be
    /// found.
    pub(super) fn of_last_line(&mut self, line: Range<usize>, wanted: Wanted) -> SpansInLine {
        let mut found = SpansInLine::default();
        while let Some((start, end)) = self.pending.take().or_else(|| self.spans.next()) {
            let is_inside = start >= line.start || end > line.start;
            if is_inside && !found.add((start, end), &line, wanted) {
                return found;
            }
        }
        found.more |= self.spans.interrupted;
        found
    }

    /// Whether the call ended before all matches were found.
    pub(super) fn is_interrupted(&self) -> bool {
        self.spans.interrupted
    }
}

#[cfg(test)]
mod tests {
    use grep_regex::RegexMatcherBuilder;

    use super::*;

    const ALL: Wanted = Wanted { most: usize::MAX, within: usize::MAX };

    fn matcher(pattern: &str) -> RegexMatcher {
        RegexMatcherBuilder::new().multi_line(true).build(pattern).unwrap()
    }

    #[test]
    fn an_empty_match_directly_behind_a_match_is_none() {
        type Places = &'static [(usize, usize)];
        let cases: [(&str, &str, Places); 6] = [
            (r"\w*", "ab cd", &[(0, 2), (3, 5)]),
            (".*", "abc", &[(0, 3)]),
            ("a?", "aab", &[(0, 1), (1, 2), (3, 3)]),
            ("a*", "bab", &[(0, 0), (1, 2), (3, 3)]),
            ("", "ab", &[(0, 0), (1, 1), (2, 2)]),
            ("$", "ab", &[(2, 2)]),
        ];
        for (pattern, text, expected) in cases {
            let matcher = matcher(pattern);
            let spans = Spans::new(&matcher, text.as_bytes(), 0..usize::MAX, &|| true);
            assert_eq!(spans.collect::<Vec<_>>(), expected, "{pattern}");
        }
    }

    #[test]
    fn a_match_over_several_lines_has_a_part_in_each() {
        let text = b"one\ntwo\nend one\n\nx\n";
        let lines = [0..4, 4..8, 8..16, 16..17, 17..19];
        let matcher = matcher(r"one\n(?:two\n)?|e|x");
        let mut spans = LineSpans::new(Spans::new(&matcher, text, 0..text.len(), &|| true));
        let found = lines.map(|line| {
            let found = spans.of_line(line, ALL);
            (found.places, found.continued)
        });
        let expected = [
            (vec![(0, 8)], false),
            (vec![(0, 4)], true),
            (vec![(0, 1), (4, 8)], false),
            (vec![], false),
            (vec![(0, 1)], false),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn places_that_are_not_wanted_do_not_move_those_of_the_next_line() {
        let text = b"aaaaa\nba\n";
        let matcher = matcher("a");
        let few = Wanted { most: 2, within: usize::MAX };
        let near = Wanted { most: 9, within: 1 };
        for (wanted, count, more) in [(few, 2, true), (near, 3, false), (ALL, 5, false)] {
            let mut spans = LineSpans::new(Spans::new(&matcher, text, 0..text.len(), &|| true));
            let first = spans.of_line(0..6, wanted);
            assert_eq!((first.places.len(), first.more), (count, more), "{wanted:?}");
            let last = spans.of_last_line(6..9, wanted);
            assert_eq!((last.places, last.more), (vec![(1, 2)], false), "{wanted:?}");
        }
    }

    #[test]
    fn a_call_that_ends_among_the_matches_of_a_line_leaves_the_rest_and_says_so() {
        let text = vec![b'a'; 1000];
        let matcher = matcher("a");
        let mut spans = LineSpans::new(Spans::new(&matcher, &text, 0..usize::MAX, &|| false));
        let found = spans.of_last_line(0..1000, ALL);
        assert_eq!((found.places.len(), found.more), (CHECK_EVERY, true));
        assert!(spans.is_interrupted());
    }
}
