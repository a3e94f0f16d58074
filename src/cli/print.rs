//! Printing: answers in the form that was asked for, errors and notes. Writing to a closed pipe is
//! not an error.

use std::borrow::Cow;
use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use ripkit::shell;
use ripkit::{Answer, Call, Error, Syntax, TextFormat, TextStream, printable};
use serde_json::{Map, Value};

use super::call::exit;
use super::flags::{GlobalFlags, OutputFlags};

/// The colours of ripgrep.
const PATH: Style = AnsiColor::Magenta.on_default();
const LINE: Style = AnsiColor::Green.on_default();
const MATCH: Style = AnsiColor::Red.on_default().bold();

/// The form in which an answer is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// The whole answer as one line of JSON.
    Json,
    /// The events of `rg --json`, streamed.
    Events,
    /// Errors only.
    Quiet,
    /// Text for a file or another program, streamed so that it need not fit into memory.
    StreamedText,
    /// Text for a terminal, without control characters.
    Text,
    /// Text for a terminal, with colours.
    ColouredText,
}

impl Form {
    fn new(output: OutputFlags, globals: &GlobalFlags) -> Form {
        match output {
            _ if globals.json => Form::Json,
            OutputFlags { events: true, .. } => Form::Events,
            OutputFlags { quiet: true, .. } => Form::Quiet,
            _ if globals.color => Form::ColouredText,
            _ if io::stdout().is_terminal() => Form::Text,
            _ => Form::StreamedText,
        }
    }
}

/// Prints one answer.
pub(super) struct Printer {
    form: Form,
    stream: Arc<Mutex<Stream>>,
}

impl Printer {
    pub(super) fn new(output: OutputFlags, globals: &GlobalFlags) -> Printer {
        Printer { form: Form::new(output, globals), stream: Arc::new(Mutex::new(Stream::new())) }
    }

    /// The call to make, which writes to this printer if the form is streamed.
    pub(super) fn call(&self) -> Call {
        let call = Call::default();
        let stream = || TextStream::new(Arc::clone(&self.stream));
        match self.form {
            Form::Events => call.with_exact_lines().with_text(stream()),
            Form::StreamedText => call.with_text(stream()),
            Form::Json | Form::Quiet | Form::Text | Form::ColouredText => call,
        }
    }

    /// Prints what was not streamed; `elapsed` is the time the call took.
    pub(super) fn print(&self, answer: &Answer, elapsed: Duration) -> io::Result<()> {
        match (self.form, answer.error()) {
            (Form::Json, _) => return json(answer),
            (_, Some(_)) => {
                line_to_stderr("ripkit: ", answer.body());
                return Ok(());
            }
            (Form::Quiet, None) => return Ok(()),
            (Form::Events, None) => {
                self.finish()?;
                // The option is there only for tools whose answers have events.
                let events = shell::events(answer, elapsed);
                json_lines(&events.ok_or_else(|| io::Error::other("the answer has no events"))?)?;
            }
            (Form::StreamedText, None) => {
                if !shell::is_verbatim(answer) {
                    self.lock().end_line();
                }
                self.finish()?;
            }
            (Form::Text | Form::ColouredText, None) if shell::is_verbatim(answer) => {
                exact(&terminal_safe(answer.body()))?;
            }
            (Form::Text, None) => text(&terminal_safe(answer.body()))?,
            (Form::ColouredText, None) => {
                text(&coloured(answer.body(), answer.details()))?;
            }
        }
        answer.notes().iter().for_each(|text| note(text));
        Ok(())
    }

    fn finish(&self) -> io::Result<()> {
        self.lock().finish()
    }

    fn lock(&self) -> MutexGuard<'_, Stream> {
        self.stream.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes a text and a line feed after its last line, in one write.
pub(super) fn text(text: &str) -> io::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    exact(&[text, end].concat())
}

/// Writes a text as it is, in one write.
pub(super) fn exact(text: &str) -> io::Result<()> {
    bytes(text.as_bytes())
}

/// Writes bytes as they are, in one write.
pub(super) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes);
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Buffered standard output. The first error is kept until [`Stream::finish`].
struct Stream {
    to: BufWriter<Stdout>,
    ends_line: bool,
    error: Option<io::Error>,
}

impl Stream {
    fn new() -> Stream {
        Stream {
            to: BufWriter::with_capacity(64 * 1024, io::stdout()),
            ends_line: true,
            error: None,
        }
    }

    /// Ends the last line, unless it is ended.
    fn end_line(&mut self) {
        if !self.ends_line {
            // An error is kept in `self`.
            let _ = self.write_str("\n");
        }
    }

    /// Writes what is buffered, and returns the first error.
    fn finish(&mut self) -> io::Result<()> {
        let written = self.error.take().map_or_else(|| self.to.flush(), Err);
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written,
        }
    }
}

impl fmt::Write for Stream {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.error.is_none() {
            self.error = self.to.write_all(text.as_bytes()).err();
        }
        if !text.is_empty() {
            self.ends_line = text.ends_with('\n');
        }
        if self.error.is_some() { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Writes the whole answer as one line of JSON.
pub(super) fn json(answer: &Answer) -> io::Result<()> {
    text(&answer.to_json().to_string())
}

/// Writes each value as a line of JSON.
fn json_lines(values: &[Value]) -> io::Result<()> {
    let mut lines = Stream::new();
    for value in values {
        if writeln!(lines, "{value}").is_err() {
            break;
        }
    }
    lines.finish()
}

/// Writes an error to standard error, in one line.
pub(super) fn error(error: &Error) {
    line_to_stderr("ripkit: ", &error.text(&shell_format()));
}

/// How texts refer to flags and commands.
pub(super) fn shell_format() -> TextFormat {
    TextFormat::default().with_syntax(Syntax::Shell)
}

/// Prints the requested help, or what is wrong with the command line in one line, and returns the
/// exit status.
pub(super) fn usage(mut usage: clap::Error) -> u8 {
    keep_nearest_suggestion(&mut usage);
    let is_help = !usage.use_stderr();
    if is_help || usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // If the help cannot be written, neither can an error.
        let _ = usage.print();
    } else {
        line_to_stderr("ripkit: ", &usage_line(&usage.render().to_string()));
    }
    if is_help { exit::DONE } else { exit::FAILED }
}

/// Of several similar commands and aliases, suggests only the most similar.
fn keep_nearest_suggestion(usage: &mut clap::Error) {
    if let Some(ContextValue::Strings(names)) = usage.get(ContextKind::SuggestedSubcommand) {
        let nearest = names.last().cloned().into_iter().collect();
        usage.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
    }
}

/// A message of clap in one line, without the usage.
fn usage_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let paragraphs = message.split("\n\n").map(one_line);
    let paragraphs =
        paragraphs.filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("Usage:"));
    paragraphs.collect::<Vec<_>>().join("; ").replace("For more information, try", "try")
}

/// Writes a note to standard error, in one line.
pub(super) fn note(note: &str) {
    line_to_stderr("ripkit: note: ", note);
}

/// Reports that the answer could not be written, and returns the exit status.
pub(super) fn write_error(reason: &io::Error) -> u8 {
    line_to_stderr("ripkit: ", &format!("cannot write the answer: {reason}"));
    exit::FAILED
}

/// Failures to write to standard error are ignored.
fn line_to_stderr(label: &str, message: &str) {
    let mut stderr = io::stderr().lock();
    let line = one_line(message);
    let line = if stderr.is_terminal() { printable(&line).into_owned() } else { line };
    let _ = stderr.write_all(format!("{label}{line}\n").as_bytes());
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

/// On a terminal, the text with its control characters escaped.
pub(super) fn terminal_safe(text: &str) -> Cow<'_, str> {
    if io::stdout().is_terminal() { printable(text) } else { Cow::Borrowed(text) }
}

/// A match in the details of an answer.
struct MatchDetails<'a> {
    path: &'a str,
    line: u64,
    text: &'a str,
    spans: Vec<(usize, usize)>,
}

/// Colours the lines that begin with a path of the details and a line number.
fn coloured(text: &str, details: &Value) -> String {
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

/// Writes the scan statistics of an answer, if it has any, to standard error.
pub(super) fn stats(details: &Value, elapsed: Duration) {
    if let Some(text) = stats_text(details, elapsed) {
        let _ = io::stderr().lock().write_all(text.as_bytes());
    }
}

fn stats_text(details: &Value, elapsed: Duration) -> Option<String> {
    let receipt = details.get("receipt")?.as_object()?;
    let mut text = String::new();
    // Writing to a string does not fail.
    let mut add = |count: &dyn Display, what: &str| {
        let _ = writeln!(text, "{count} {what}");
    };
    if let Some(matches) = details.get("matches").and_then(Value::as_u64) {
        add(&matches, "matches");
    }
    for (name, count) in counts(receipt) {
        add(&count, &name);
    }
    let skipped = receipt.get("skipped").and_then(Value::as_object);
    for (reason, count) in skipped.into_iter().flat_map(counts).filter(|(_, count)| *count > 0) {
        add(&count, &format!("skipped: {reason}"));
    }
    if let Some(excluded) = receipt.get("index").and_then(|index| index.get("excluded")) {
        add(excluded, "files excluded by the index");
    }
    if details.pointer("/receipt/index/asked") == Some(&Value::Bool(false)) {
        add(&"the index could not help:", "the pattern asks nothing of it");
    }
    add(&format_args!("{:.6}", elapsed.as_secs_f64()), "seconds");
    Some(text)
}

fn counts(object: &Map<String, Value>) -> impl Iterator<Item = (String, u64)> {
    object.iter().filter_map(|(name, count)| Some((name.replace('_', " "), count.as_u64()?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bad_usage_is_reported_in_one_line() {
        let message = "error: unrecognized subcommand 'serch'\n\n  tip: a similar subcommand \
            exists: 'search'\n\nUsage: ripkit [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.\n";
        let line = "unrecognized subcommand 'serch'; tip: a similar subcommand exists: 'search'; try '--help'.";
        assert_eq!(usage_line(message), line);
    }

    #[test]
    fn a_message_of_many_lines_becomes_one() {
        assert_eq!(
            one_line("not found.\nDid you mean:\n\n  12 | fn x\r\n"),
            "not found. Did you mean: 12 | fn x"
        );
    }

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

    #[test]
    fn statistics_are_printed_as_far_as_the_answer_has_them() {
        let details = json!({ "matches": 3, "receipt": {
            "files": 12, "directories": 2, "trouble": ["x"],
            "skipped": { "ignored_files": 4, "hidden": 0, "too_large": 1 },
        } });
        let wanted = "3 matches\n12 files\n2 directories\n4 skipped: ignored files\n\
            1 skipped: too large\n0.001500 seconds\n";
        assert_eq!(stats_text(&details, Duration::from_micros(1500)).as_deref(), Some(wanted));
        assert_eq!(stats_text(&json!({ "bytes": 3 }), Duration::ZERO), None);
    }

    #[test]
    fn files_excluded_by_the_index_are_counted() {
        let details = |asked: bool| {
            let index = json!({ "excluded": 7, "asked": asked });
            json!({ "receipt": { "files": 9, "skipped": {}, "index": index } })
        };
        let wanted = "9 files\n7 files excluded by the index\n0.000000 seconds\n";
        assert_eq!(stats_text(&details(true), Duration::ZERO).as_deref(), Some(wanted));
        let wanted = "9 files\n7 files excluded by the index\n\
            the index could not help: the pattern asks nothing of it\n0.000000 seconds\n";
        assert_eq!(stats_text(&details(false), Duration::ZERO).as_deref(), Some(wanted));
    }
}
