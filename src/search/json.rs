//! The report as the JSON events of `rg --json`.

use std::cell::Cell;
use std::fmt;
use std::fmt::Write as _;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::context::TextStream;
use crate::search::lines::{FileMatches, RawLine};

/// The statistics of ripgrep for one file or all files.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MatchStats {
    searches: u64,
    searches_with_match: u64,
    bytes_searched: u64,
    bytes_printed: u64,
    matched_lines: u64,
    matches: u64,
}

/// Writes the events of one file, one per line, and adds its statistics to `sum`.
///
/// # Errors
/// The error of the stream.
pub(super) fn write(file: &FileMatches, sum: &mut MatchStats, to: &TextStream) -> fmt::Result {
    let path = data(file.path_bytes()).to_string();
    let mut stats = MatchStats::of(file);
    stats.bytes_printed += printed(to, &begin(&path))?;
    for lines in file.lines.raw_blocks() {
        let lines = lines.as_slice();
        stats.bytes_printed += printed(to, &LinesEvent { lines, path: &path })?;
    }
    to.write(format_args!("{}\n", end(file, stats)))?;
    sum.add(stats);
    Ok(())
}

/// The text of a `begin` event.
fn begin(path: &str) -> impl fmt::Display {
    fmt::from_fn(move |f| write!(f, r#"{{"type":"begin","data":{{"path":{path}}}}}"#))
}

/// An `end` event.
fn end(file: &FileMatches, stats: MatchStats) -> Value {
    let path = data(file.path_bytes());
    // The time per file is not measured.
    let shown = stats.shown(Duration::ZERO);
    let end = json!({ "path": path, "binary_offset": file.binary_offset, "stats": shown });
    json!({ "type": "end", "data": end })
}

/// The text of the lines of an event.
fn concat(lines: &[RawLine<'_>]) -> Vec<u8> {
    lines.iter().flat_map(|line| line.bytes.iter().copied()).collect()
}

/// The spans of the matches in the text of a block, which a limit may have shortened.
fn spans(lines: &[RawLine<'_>], length: usize) -> impl Iterator<Item = (usize, usize)> {
    let mut next = 0;
    lines.iter().flat_map(move |line| {
        let begin = next;
        next += line.bytes.len();
        let spans = line.spans.unwrap_or_default().iter();
        spans.map(move |span| (begin + span.start(), (begin + span.end()).min(length)))
    })
}

fn kind(lines: &[RawLine<'_>]) -> &'static str {
    if lines.iter().any(|line| line.spans.is_some()) { "match" } else { "context" }
}

/// The text of a `match` or `context` event. A line can have millions of matches, so it is written
/// without building JSON values.
struct LinesEvent<'a> {
    /// A line of context, or a block of matching lines.
    lines: &'a [RawLine<'a>],
    /// The path as JSON.
    path: &'a str,
}

impl fmt::Display for LinesEvent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.lines.first() else { return Ok(()) };
        let (path, text) = (self.path, concat(self.lines));
        let (kind, line, offset) = (kind(self.lines), first.number, first.offset);
        let lines = data(&text);
        write!(f, r#"{{"type":"{kind}","data":{{"path":{path},"lines":{lines},"#)?;
        write!(f, r#""line_number":{line},"absolute_offset":{offset},"submatches":["#)?;
        for (number, (start, end)) in spans(self.lines, text.len()).enumerate() {
            let comma = if number > 0 { "," } else { "" };
            let found = data(text.get(start..end).ok_or(fmt::Error)?);
            write!(f, r#"{comma}{{"match":{found},"start":{start},"end":{end}}}"#)?;
        }
        f.write_str("]}}")
    }
}

/// Writes an event as a line; returns its size in bytes.
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

/// Counts the bytes that are written.
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

/// Text as text, other bytes in base64.
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

impl MatchStats {
    /// The statistics of a file, without the bytes of its events.
    fn of(file: &FileMatches) -> MatchStats {
        let spans = || file.lines.raw().filter_map(|line| line.spans);
        MatchStats {
            searches: 1,
            searches_with_match: 1,
            bytes_searched: file.searched_bytes,
            bytes_printed: 0,
            matched_lines: spans().count() as u64,
            matches: spans().map(|spans| spans.len() as u64).sum(),
        }
    }

    fn add(&mut self, other: MatchStats) {
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
