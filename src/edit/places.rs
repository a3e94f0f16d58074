//! The places of a text that is not unique: named in a sentence, and shown with their lines.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::edit::ladder::Found;
use crate::edit::replacement::MatchKind;
use crate::text::clip;
use crate::text::line_number::LineNumber;

/// Bytes shown of a line.
pub(super) const LINE_BYTES: usize = 160;

/// Lines, or columns of one line, that are named.
const NAMED: usize = 10;

/// Places that are shown.
const SHOWN: usize = 3;

/// Lines shown on each side of a place, where there is room.
const CONTEXT: usize = 2;

/// A line as `read_file` numbers it; of a long one a window round the first of the `spans`, else
/// its start. How many of the spans are seen comes with it.
pub(super) fn numbered(line: &[u8], number: usize, spans: &[(usize, usize)]) -> (String, usize) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let window = clip::window(line, spans, LINE_BYTES);
    (format!("{}{}\n", LineNumber(number as u64), window.text), window.spans.len())
}

/// Places with the lines on which they begin.
pub(super) struct Places<'a> {
    text: &'a [u8],
    found: &'a Found,
    begun: Vec<Place>,
}

/// Where a place begins.
struct Place {
    range: Range<usize>,
    /// The number of the line, from 1.
    line: usize,
    /// Where the line begins.
    start: usize,
}

impl<'a> Places<'a> {
    pub(super) fn of(text: &'a [u8], found: &'a Found) -> Places<'a> {
        let (mut line, mut start, mut from) = (1, 0, 0);
        let places = found.places.iter().map(|place| {
            let range = place.range.clone();
            let passed = text.get(from..range.start).unwrap_or_default();
            for newline in memchr::memchr_iter(b'\n', passed) {
                line += 1;
                start = from + newline + 1;
            }
            from = range.start;
            Place { range, line, start }
        });
        Places { text, found, begun: places.collect() }
    }

    /// The number of the line on which the first place begins, from 1.
    pub(super) fn first_line(&self) -> usize {
        self.begun.first().map_or(1, |place| place.line)
    }

    /// "Lines 3, 17 (2 times) and 40.", or "Line 1, at columns 3 and 9."
    pub(super) fn named(&self) -> String {
        let lines: Vec<&[Place]> = self.begun.chunk_by(|one, next| one.line == next.line).collect();
        let list = if let [line] = lines.as_slice() {
            let number = line.first().map_or(0, |place| place.line);
            let columns = line.iter().map(|place| place.range.start - place.start + 1);
            let columns = self.list(columns.map(|column| column.to_string()));
            format!("Line {number}, at columns {columns}")
        } else {
            format!("Lines {}", self.list(self.counted(&lines)))
        };
        let overlooked = match self.found.kind {
            MatchKind::Exact => String::new(),
            kind => format!(", found by overlooking {}", kind.overlooked()),
        };
        format!("{list}{overlooked}.")
    }

    /// "2", or "2 (3 times)".
    fn counted(&self, lines: &[&[Place]]) -> impl ExactSizeIterator<Item = String> {
        // The count of the last line has not ended.
        let open = lines.len().checked_sub(1).filter(|_| self.found.is_more);
        lines.iter().enumerate().map(move |(index, line)| {
            let number = line.first().map_or(0, |place| place.line);
            match line.len() {
                2.. if open != Some(index) => format!("{number} ({} times)", line.len()),
                _ => number.to_string(),
            }
        })
    }

    /// "1, 2 and 3", and how many more there are.
    fn list(&self, items: impl ExactSizeIterator<Item = String>) -> String {
        let over = items.len().saturating_sub(NAMED);
        let mut items: Vec<String> = items.take(NAMED).collect();
        let last = match over {
            _ if self.found.is_more => "more".to_owned(),
            0 => items.pop().unwrap_or_default(),
            over => format!("{over} more"),
        };
        format!("{} and {last}", items.join(", "))
    }

    /// The lines of the first places, with some on each side, as far as there is room.
    pub(super) fn shown(&self, room: usize) -> String {
        let mut rows = Rows(BTreeMap::new());
        let mut shown = String::new();
        for place in self.begun.iter().take(SHOWN) {
            let contexts = [CONTEXT, 0].map(|context| {
                let rows = rows.with(self.text, place, context);
                (rows.rendered(), rows)
            });
            let Some((text, more)) = contexts.into_iter().find(|(text, _)| text.len() <= room)
            else {
                break;
            };
            (shown, rows) = (text, more);
        }
        shown
    }
}

/// Lines by their numbers, with the parts of them that are to be seen.
#[derive(Clone)]
struct Rows<'a>(BTreeMap<usize, Row<'a>>);

/// A line and the parts of it.
type Row<'a> = (&'a [u8], Vec<(usize, usize)>);

impl<'a> Rows<'a> {
    /// These lines and that of a place, with `context` lines on each side.
    fn with(&self, text: &'a [u8], place: &Place, context: usize) -> Rows<'a> {
        let mut rows = self.clone();
        let mut start = place.start;
        for number in (place.line.saturating_sub(context).max(1)..place.line).rev() {
            let before = text.get(..start.saturating_sub(1)).unwrap_or_default();
            start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
            rows.0.entry(number).or_insert_with(|| (line_at(text, start), Vec::new()));
        }
        let line = line_at(text, place.start);
        let span = (place.range.start - place.start, place.range.end - place.start);
        let row = rows.0.entry(place.line).or_insert_with(|| (line, Vec::new()));
        row.1.push((span.0, span.1.min(line.len()).max(span.0)));
        let mut end = place.start + line.len();
        for number in place.line + 1..=place.line + context {
            if end + 1 >= text.len() {
                break;
            }
            let line = line_at(text, end + 1);
            end += 1 + line.len();
            rows.0.entry(number).or_insert_with(|| (line, Vec::new()));
        }
        rows
    }

    fn rendered(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for (&number, (line, spans)) in &self.0 {
            if last.is_some_and(|last| last + 1 < number) {
                text.push_str("...\n");
            }
            last = Some(number);
            let mut spans = spans.as_slice();
            loop {
                let (window, seen) = numbered(line, number, spans);
                text.push_str(&window);
                spans = spans.get(seen.max(1)..).unwrap_or_default();
                if spans.is_empty() {
                    break;
                }
            }
        }
        text
    }
}

/// The line that begins at `start`, without its end.
fn line_at(text: &[u8], start: usize) -> &[u8] {
    let rest = text.get(start..).unwrap_or_default();
    let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    rest.get(..end).unwrap_or_default()
}

/// The number of the line of the place, from 1.
pub(super) fn line_number(text: &[u8], at: usize) -> usize {
    memchr::memchr_iter(b'\n', text.get(..at).unwrap_or_default()).count() + 1
}
