//! A report as the events of `rg --json`, for programs that read these.

use std::fmt;
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::context::TextStream;
use crate::output::Receipt;
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
pub(super) fn write(file: &FileMatches, sum: &mut Stats, to: &TextStream) -> fmt::Result {
    let mut events = Vec::new();
    sum.add(of_file(file, &mut events));
    events.iter().try_for_each(|event| to.write(format_args!("{event}\n")))
}

/// Those of the files that were not written yet, `begin`, then `match` and `context` in line order,
/// and `end` for each; then the `summary` of all.
pub(super) fn of(
    files: &[FileMatches],
    written: Stats,
    receipt: &Receipt,
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
    let first = events.len();
    let path = data(file.exact_bytes());
    events.push(json!({ "type": "begin", "data": { "path": path } }));
    events.extend(file.lines.exact().iter().map(|line| of_line(line, &path)));
    let printed = events.iter().skip(first).map(|event| event.to_string().len() + 1);
    let found = || file.lines.exact().iter().filter_map(|line| Some((line, line.places.as_ref()?)));
    let stats = Stats {
        searches: 1,
        searches_with_match: 1,
        bytes_searched: file.searched,
        bytes_printed: printed.sum::<usize>() as u64,
        matched_lines: found().map(|(line, _)| lines(&line.bytes)).sum(),
        matches: found().map(|(_, places)| places.len() as u64).sum(),
    };
    let binary = file.binary_offset;
    // The time that one file took is not measured.
    let shown = stats.shown(Duration::ZERO);
    let end = json!({ "path": path, "binary_offset": binary, "stats": shown });
    events.push(json!({ "type": "end", "data": end }));
    stats
}

fn of_line(line: &ExactLine, path: &Value) -> Value {
    let kind = if line.places.is_some() { "match" } else { "context" };
    let submatches = line.places.iter().flatten().map(|(start, end)| {
        let found = line.bytes.get(*start..*end).unwrap_or_default();
        json!({ "match": data(found), "start": start, "end": end })
    });
    json!({ "type": kind, "data": {
        "path": path,
        "lines": data(&line.bytes),
        "line_number": line.line,
        "absolute_offset": line.offset,
        "submatches": submatches.collect::<Vec<_>>(),
    } })
}

/// How many lines these bytes are.
fn lines(bytes: &[u8]) -> u64 {
    let ends = memchr::memchr_iter(b'\n', bytes).count();
    (ends + usize::from(!bytes.ends_with(b"\n"))) as u64
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
