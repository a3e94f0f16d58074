//! What a terminal shows: colours as ripgrep's, and nothing that could control it.

use std::borrow::Cow;
use std::fmt::Write;
use std::io::{self, IsTerminal};

use anstyle::{AnsiColor, Style};
use ripkit::printable;
use serde_json::Value;

const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const MATCH: Style = AnsiColor::Red.on_default().bold();

/// A text as it is, but on a terminal nothing that could control it.
pub(super) fn harmless(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { printable(text) } else { Cow::Borrowed(text) }
}

/// A match as the details tell of it.
struct Found<'a> {
    path: &'a str,
    line: u64,
    text: &'a str,
    spans: Vec<(usize, usize)>,
}

/// Colours lines that begin with a path and a line number of the details; others stay plain.
pub(super) fn coloured(text: &str, details: &Value) -> String {
    let found = found(details);
    let mut next = found.iter().peekable();
    let mut path = None;
    let mut shown = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let paths = path.into_iter().chain(next.peek().map(|found| found.path));
        let Some(parts) = paths.into_iter().find_map(|path| Parts::of(line, path)) else {
            shown.push_str(&printable(line));
            continue;
        };
        path = Some(parts.path);
        let here = next.next_if(|found| found.path == parts.path && found.line == parts.line);
        parts.colour(here, &mut shown);
    }
    shown
}

/// `path:line:text` of a match, or `path-line-text` of its context.
struct Parts<'a> {
    path: &'a str,
    line: u64,
    separator: char,
    text: &'a str,
}

impl<'a> Parts<'a> {
    fn of(line: &'a str, path: &'a str) -> Option<Parts<'a>> {
        let rest = line.strip_prefix(path)?;
        let separator = rest.chars().next().filter(|separator| matches!(separator, ':' | '-'))?;
        let (digits, text) = rest.get(1..)?.split_once(separator)?;
        Some(Parts { path, line: digits.parse().ok()?, separator, text })
    }

    fn colour(&self, found: Option<&Found<'_>>, shown: &mut String) {
        styled(shown, PATH, self.path);
        shown.push(self.separator);
        styled(shown, LINE, &self.line.to_string());
        shown.push(self.separator);
        let mut end = 0;
        for (from, to) in found.map_or(&[][..], |found| found.spans_in(self.text)) {
            let Some(matched) = self.text.get(*from..(*to).min(self.text.trim_end().len())) else {
                continue;
            };
            shown.push_str(&printable(self.text.get(end..*from).unwrap_or_default()));
            styled(shown, MATCH, matched);
            end = from + matched.len();
        }
        shown.push_str(&printable(self.text.get(end..).unwrap_or_default()));
    }
}

impl Found<'_> {
    /// The spans, if they are of this very text and not of a window cut from it.
    fn spans_in(&self, line: &str) -> &[(usize, usize)] {
        let first = |text: &str| text.lines().next().unwrap_or_default().len();
        let length = first(line);
        let same = first(self.text) == length && line.get(..length) == self.text.get(..length);
        if same { &self.spans } else { &[] }
    }
}

fn styled(shown: &mut String, style: Style, text: &str) {
    // Writing to a string does not fail.
    let _ = write!(shown, "{style}{}{style:#}", printable(text));
}

/// All matches of `files[].matches[]`, if the details hold such.
fn found(details: &Value) -> Vec<Found<'_>> {
    let files = details.get("files").and_then(Value::as_array).into_iter().flatten();
    files
        .flat_map(|file| {
            let path = file.get("path").and_then(Value::as_str);
            let matches = file.get("matches").and_then(Value::as_array).into_iter().flatten();
            matches.filter_map(move |found| {
                let line = found.get("line")?.as_u64()?;
                let text = found.get("text").and_then(Value::as_str).unwrap_or_default();
                let spans = found.get("spans").and_then(Value::as_array).into_iter().flatten();
                Some(Found { path: path?, line, text, spans: spans.filter_map(span).collect() })
            })
        })
        .collect()
}

/// `[start, end]` or `{"start": …, "end": …}`, in bytes of the text.
fn span(span: &Value) -> Option<(usize, usize)> {
    let bound = |index: usize, name: &str| {
        let bound = span.get(index).or_else(|| span.get(name))?;
        usize::try_from(bound.as_u64()?).ok()
    };
    Some((bound(0, "start")?, bound(1, "end")?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn results_are_coloured_as_ripgrep_does() {
        let details = json!({ "files": [{ "path": "a:1.rs", "matches": [
            { "line": 2, "text": "fn one", "spans": [[3, 6]] },
            { "line": 9, "text": "other", "spans": [{ "start": 0, "end": 1 }] },
        ] }] });
        let text = "a:1.rs-1-x\na:1.rs:2:fn one\n--\na:1.rs:9:…her\nb:1:fn\n";
        let path = "\u{1b}[35ma:1.rs\u{1b}[0m";
        let line = |number| format!("\u{1b}[32m{number}\u{1b}[0m");
        let wanted = format!(
            "{path}-{}-x\n{path}:{}:fn \u{1b}[1m\u{1b}[31mone\u{1b}[0m\n--\n{path}:{}:…her\nb:1:fn\n",
            line(1),
            line(2),
            line(9)
        );
        assert_eq!(coloured(text, &details), wanted);
    }

    #[test]
    fn colours_never_let_content_through() {
        let details = json!({ "files": [{ "path": "a", "matches": [
            { "line": 1, "text": "x\u{1b}y", "spans": [[0, 3], [90, 99], [2, 1]] },
        ] }] });
        let shown = coloured("a:1:x\u{1b}y\n\u{1b}c", &details);
        assert!(shown.contains("x\\u{1b}y") && shown.ends_with("\\u{1b}c"), "{shown:?}");
    }

    #[test]
    fn details_of_other_tools_colour_nothing() {
        let text = "a.rs\nb.rs\n";
        assert_eq!(coloured(text, &json!({ "files": ["a.rs", "b.rs"] })), text);
        assert_eq!(coloured(text, &json!(null)), text);
    }
}
