//! Colours for a terminal: matches as in `rg`, listings as in `fd`, diffs as in `git`.

use std::collections::HashSet;
use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use ripkit::printable;
use serde_json::Value;

const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const MATCH: Style = AnsiColor::Red.on_default().bold();

const DIRECTORY: Style = AnsiColor::Blue.on_default().bold();

const HEADER: Style = Style::new().bold();
const HUNK: Style = AnsiColor::Cyan.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
const REMOVED: Style = AnsiColor::Red.on_default();

/// A match in the details of an answer.
struct MatchDetails<'a> {
    path: &'a str,
    line: u64,
    text: &'a str,
    spans: Vec<(usize, usize)>,
}

/// Colours a text by what its details say it is: a diff, a listing or matches. Control characters are
/// escaped.
pub(super) fn coloured(text: &str, details: &Value) -> String {
    if let Some(diff) = details.get("diff").and_then(Value::as_str)
        && let Some((before, after)) = text.split_once(diff).filter(|_| !diff.is_empty())
    {
        return [&*printable(before), &coloured_diff(diff), &*printable(after)].concat();
    }
    match listed(details) {
        names if names.is_empty() => coloured_matches(text, details),
        names => coloured_listing(text, &names),
    }
}

fn coloured_diff(diff: &str) -> String {
    let mut shown = String::with_capacity(diff.len() * 2);
    for line in diff.split_inclusive('\n') {
        let content = line.trim_end_matches('\n');
        let style = match content.bytes().next() {
            _ if content.starts_with("--- ") || content.starts_with("+++ ") => HEADER,
            Some(b'@') => HUNK,
            Some(b'+') => ADDED,
            Some(b'-') => REMOVED,
            _ => Style::new(),
        };
        styled(&mut shown, style, content);
        shown.push_str(&line[content.len()..]);
    }
    shown
}

/// The names of a listing.
fn listed(details: &Value) -> HashSet<&str> {
    let lists = ["files", "paths", "entries"].into_iter().filter_map(|name| details.get(name));
    let items = lists.filter_map(Value::as_array).flatten();
    items.filter_map(|item| item.as_str().or_else(|| item.get("name")?.as_str())).collect()
}

/// Directories, and the parents of files, are blue.
fn coloured_listing(text: &str, names: &HashSet<&str>) -> String {
    let mut shown = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let path = line.trim_end_matches('\n');
        let is_listed = names.contains(path) || names.contains(path.trim_end_matches('/'));
        let end = path.rfind('/').filter(|_| is_listed).map_or(0, |slash| slash + 1);
        let (directory, rest) = line.split_at(end);
        if !directory.is_empty() {
            styled(&mut shown, DIRECTORY, directory);
        }
        shown.push_str(&printable(rest));
    }
    shown
}

/// Colours the lines that begin with a path of the details and a line number.
fn coloured_matches(text: &str, details: &Value) -> String {
    let matches = matches(details);
    let mut next = matches.iter().peekable();
    let mut path = None;
    let mut shown = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let paths = path.into_iter().chain(next.peek().map(|found| found.path));
        let Some(result) = paths.into_iter().find_map(|path| ResultLine::parse(line, path)) else {
            shown.push_str(&printable(line));
            continue;
        };
        path = Some(result.path);
        let here = next.next_if(|found| found.path == result.path && found.line == result.line);
        result.colour(here, &mut shown);
    }
    shown
}

/// `path:line:text` of a match, or `path-line-text` of its context.
struct ResultLine<'a> {
    path: &'a str,
    line: u64,
    separator: char,
    text: &'a str,
}

impl<'a> ResultLine<'a> {
    fn parse(line: &'a str, path: &'a str) -> Option<ResultLine<'a>> {
        let rest = line.strip_prefix(path)?;
        let separator = rest.chars().next().filter(|separator| matches!(separator, ':' | '-'))?;
        let (digits, text) = rest.get(1..)?.split_once(separator)?;
        Some(ResultLine { path, line: digits.parse().ok()?, separator, text })
    }

    fn colour(&self, found: Option<&MatchDetails<'_>>, shown: &mut String) {
        styled(shown, PATH, self.path);
        shown.push(self.separator);
        styled(shown, LINE, &self.line.to_string());
        shown.push(self.separator);
        let mut end = 0;
        for (from, to) in found.map_or(&[][..], |found| found.spans_in(self.text)) {
            let until = (*to).min(self.text.trim_end().len());
            // A span that does not fit the text is not styled, so that no text is left out.
            let (Some(before), Some(matched)) =
                (self.text.get(end..*from), self.text.get(*from..until))
            else {
                continue;
            };
            shown.push_str(&printable(before));
            styled(shown, MATCH, matched);
            end = until;
        }
        shown.push_str(&printable(&self.text[end..]));
    }
}

impl MatchDetails<'_> {
    /// The spans, unless `line` shows only a window of the matching line.
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

/// All of `files[].matches[]`, if the details have that.
fn matches(details: &Value) -> Vec<MatchDetails<'_>> {
    let files = details.get("files").and_then(Value::as_array).into_iter().flatten();
    files
        .flat_map(|file| {
            let path = file.get("path").and_then(Value::as_str);
            let matches = file.get("matches").and_then(Value::as_array).into_iter().flatten();
            matches.filter_map(move |found| {
                let line = found.get("line")?.as_u64()?;
                let text = found.get("text").and_then(Value::as_str).unwrap_or_default();
                let spans = found.get("spans").and_then(Value::as_array).into_iter().flatten();
                Some(MatchDetails {
                    path: path?,
                    line,
                    text,
                    spans: spans.filter_map(span).collect(),
                })
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
    fn directories_of_a_listing_are_blue() {
        let text = "a/b/c.rs\nd/\nx.rs\n... 3 in e/\n";
        let blue = |name| format!("\u{1b}[1m\u{1b}[34m{name}\u{1b}[0m");
        let wanted = format!("{}c.rs\n{}\nx.rs\n... 3 in e/\n", blue("a/b/"), blue("d/"));
        assert_eq!(coloured(text, &json!({ "files": ["a/b/c.rs", "d", "x.rs"] })), wanted);
        let entries = json!({ "entries": [{ "name": "a/b/c.rs" }, { "name": "d" }] });
        assert_eq!(coloured(text, &entries), wanted);
        assert_eq!(coloured(text, &json!(null)), text);
    }

    #[test]
    fn a_diff_is_coloured_as_git_does() {
        let diff = "--- a\n+++ b\n@@ -1 +1 @@\n x\n-y\u{1b}\n+z\n";
        let shown = coloured(&format!("Replaced\n{diff}end"), &json!({ "diff": diff }));
        let wanted = "Replaced\n\u{1b}[1m--- a\u{1b}[0m\n\u{1b}[1m+++ b\u{1b}[0m\n\
            \u{1b}[36m@@ -1 +1 @@\u{1b}[0m\n x\n\u{1b}[31m-y\\u{1b}\u{1b}[0m\n\
            \u{1b}[32m+z\u{1b}[0m\nend";
        assert_eq!(shown, wanted);
    }
}
