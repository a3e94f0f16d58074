//! A report as the events of `rg --json`, for programs that read these.

use std::cell::Cell;
use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::context::TextStream;
use crate::output::ScanStats;
use crate::search::exact::ExactLine;
use crate::search::file_matches::FileMatches;

/// What ripgrep counts for a file, and for all of them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Stats {
    searches: u64,
    searches_with_match: u64,
    bytes_searched: u64,
    bytes_printed: u64,
    matched_lines: u64,
    matches: u64,
}

/// Writes the events of one file, a line each, and adds up what they count.
///
/// # Errors
/// That of the writer.
pub(super) fn write(file: &FileMatches, sum: &mut Stats, to: &TextStream) -> fmt::Result {
    let path = data(file.exact_bytes()).to_string();
    let mut stats = Stats::of(file);
    stats.bytes_printed += printed(to, &begin(&path))?;
    for lines in blocks(file.lines.exact()) {
        stats.bytes_printed += printed(to, &LinesEvent { lines, path: &path })?;
    }
    to.write(format_args!("{}\n", end(file, stats)))?;
    sum.add(stats);
    Ok(())
}

/// Those of the files that were not written yet, `begin`, then `match` and `context` in line order,
/// and `end` for each; then the `summary` of all.
pub(super) fn of(
    files: &[FileMatches],
    written: Stats,
    receipt: &ScanStats,
    took: Duration,
) -> Vec<Value> {
    let mut events = Vec::new();
    let mut sum = written;
    for file in files {
        sum.add(of_file(file, &mut events));
    }
    sum.searches = receipt.files;
    sum.bytes_searched = receipt.bytes;
    events.push(json!({
        "data": { "elapsed_total": elapsed(took), "stats": sum.shown(took) },
        "type": "summary",
    }));
    events
}

fn of_file(file: &FileMatches, events: &mut Vec<Value>) -> Stats {
    let mut stats = Stats::of(file);
    let path = data(file.exact_bytes());
    stats.bytes_printed += length(&begin(&path.to_string()));
    events.push(json!({ "type": "begin", "data": { "path": path } }));
    for lines in blocks(file.lines.exact()) {
        stats.bytes_printed += length(&LinesEvent { lines, path: &path.to_string() });
        events.push(of_lines(lines, &path));
    }
    events.push(end(file, stats));
    stats
}

/// The text of the event that a file begins.
fn begin(path: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, r#"{{"type":"begin","data":{{"path":{path}}}}}"#))
}

/// The event that a file ends.
fn end(file: &FileMatches, stats: Stats) -> Value {
    let path = data(file.exact_bytes());
    // The time that one file took is not measured.
    let shown = stats.shown(Duration::ZERO);
    let end = json!({ "path": path, "binary_offset": file.binary_offset, "stats": shown });
    json!({ "type": "end", "data": end })
}

/// Lines of context by themselves, and lines that match in their blocks.
fn blocks(lines: &[ExactLine]) -> impl Iterator<Item = &[ExactLine]> {
    lines.chunk_by(|_, next| next.joined)
}

/// The lines of one event, which are adjacent.
fn together(lines: &[ExactLine]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.bytes.iter().copied()).collect()
}

/// Where the pattern matches in the text of a block. What a cap has cut off the block is cut off
/// its last match too.
fn places(lines: &[ExactLine], length: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut before = 0;
    lines.iter().flat_map(move |line| {
        let begin = before;
        before += line.bytes.len();
        let places = line.places.iter().flatten();
        places.map(move |(start, end)| (begin + start, (begin + end).min(length)))
    })
}

fn of_lines(lines: &[ExactLine], path: &Value) -> Value {
    let text = together(lines);
    let found = places(lines, text.len()).filter_map(|(start, end)| {
        let found = data(text.get(start..end)?);
        Some(json!({ "match": found, "start": start, "end": end }))
    });
    let found: Vec<Value> = found.collect();
    let first = lines.first();
    json!({ "type": kind(lines), "data": {
        "path": path,
        "lines": data(&text),
        "line_number": first.map(|first| first.line),
        "absolute_offset": first.map(|first| first.offset),
        "submatches": found,
    } })
}

fn kind(lines: &[ExactLine]) -> &'static str {
    if lines.iter().any(|line| line.places.is_some()) { "match" } else { "context" }
}

/// The text of the event of some lines. A line can hold millions of matches, so it is not made
/// from JSON values.
struct LinesEvent<'a> {
    /// One line of context, or a block of lines that match.
    lines: &'a [ExactLine],
    /// As JSON.
    path: &'a str,
}

impl fmt::Display for LinesEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.lines.first() else { return Ok(()) };
        let (path, text) = (self.path, together(self.lines));
        let (kind, line, offset) = (kind(self.lines), first.line, first.offset);
        let lines = data(&text);
        write!(f, r#"{{"type":"{kind}","data":{{"path":{path},"lines":{lines},"#)?;
        write!(f, r#""line_number":{line},"absolute_offset":{offset},"submatches":["#)?;
        for (number, (start, end)) in places(self.lines, text.len()).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let found = data(text.get(start..end).ok_or(fmt::Error)?);
            write!(f, r#"{comma}{{"match":{found},"start":{start},"end":{end}}}"#)?;
        }
        f.write_str("]}}")
    }
}

/// Writes an event as a line, and tells how many bytes that were.
fn printed(to: &TextStream, event: &impl fmt::Display) -> Result<u64, fmt::Error> {
    let bytes = Cell::new(0);
    let counted = fmt::from_fn(|f| {
        let mut counter = Counter { to: f, bytes: 0 };
        let written = writeln!(counter, "{event}");
        bytes.set(counter.bytes);
        written
    });
    to.write(format_args!("{counted}"))?;
    Ok(bytes.get())
}

/// How many bytes the line of an event has.
fn length(event: &impl fmt::Display) -> u64 {
    let mut counter = Counter { to: &mut Nowhere, bytes: 0 };
    // Counting does not fail.
    let _ = writeln!(counter, "{event}");
    counter.bytes
}

/// Counts the bytes of a text on its way.
struct Counter<'a, W> {
    to: &'a mut W,
    bytes: u64,
}

impl<W: fmt::Write> fmt::Write for Counter<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes += text.len() as u64;
        self.to.write_str(text)
    }
}

struct Nowhere;

impl fmt::Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// Text as it is, other bytes in base64.
fn data(bytes: &[u8]) -> Value {
    match std::str::from_utf8(bytes) {
        Ok(text) => json!({ "text": text }),
        Err(_) => json!({ "bytes": STANDARD.encode(bytes) }),
    }
}

fn elapsed(took: Duration) -> Value {
    let human = format!("{:.6}s", took.as_secs_f64());
    json!({ "human": human, "nanos": took.subsec_nanos(), "secs": took.as_secs() })
}

impl Stats {
    /// What is counted in a file, but for the bytes of its events.
    fn of(file: &FileMatches) -> Stats {
        let places = || file.lines.exact().iter().filter_map(|line| line.places.as_ref());
        Stats {
            searches: 1,
            searches_with_match: 1,
            bytes_searched: file.searched,
            bytes_printed: 0,
            matched_lines: places().count() as u64,
            matches: places().map(|places| places.len() as u64).sum(),
        }
    }

    fn add(&mut self, other: Stats) {
        self.searches_with_match += other.searches_with_match;
        self.bytes_searched += other.bytes_searched;
        self.bytes_printed += other.bytes_printed;
        self.matched_lines += other.matched_lines;
        self.matches += other.matches;
    }

    fn shown(self, took: Duration) -> Value {
        json!({
            "elapsed": elapsed(took),
            "searches": self.searches,
            "searches_with_match": self.searches_with_match,
            "bytes_searched": self.bytes_searched,
            "bytes_printed": self.bytes_printed,
            "matched_lines": self.matched_lines,
            "matches": self.matches,
        })
    }
}
