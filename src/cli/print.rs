//! Writing to standard output and standard error; a closed pipe is no error.

use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};

use clap::error::{ContextKind, ContextValue, ErrorKind};
use ripkit::{Answer, Error, printable};
use serde_json::Value;

use super::exit;

/// Writes a text and ends its last line, in one piece.
pub(super) fn text(text: &str) -> io::Result<()> {
    let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
    exact(&[text, end].concat())
}

/// Writes a text as it is, in one piece.
pub(super) fn exact(text: &str) -> io::Result<()> {
    bytes(text.as_bytes())
}

/// Writes bytes as they are, in one piece.
pub(super) fn bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes);
    match written.and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written,
    }
}

/// Standard output for a text that comes in pieces; a closed pipe is no error.
pub(super) struct Stream {
    to: BufWriter<Stdout>,
    ends_line: bool,
    error: Option<io::Error>,
}

impl Stream {
    pub(super) fn new() -> Stream {
        Stream {
            to: BufWriter::with_capacity(64 * 1024, io::stdout()),
            ends_line: true,
            error: None,
        }
    }

    /// Ends the last line, if it has no end.
    pub(super) fn end_line(&mut self) {
        if !self.ends_line {
            // An error stays in `self`.
            let _ = self.write_str("\n");
        }
    }

    /// Writes what is left, and tells whether everything could be written.
    pub(super) fn finish(&mut self) -> io::Result<()> {
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
pub(super) fn json_lines(values: &[Value]) -> io::Result<()> {
    let mut lines = Stream::new();
    for value in values {
        if writeln!(lines, "{value}").is_err() {
            break;
        }
    }
    lines.finish()
}

/// Tells lines that were asked for.
pub(super) fn lines(text: &str) {
    // Whoever closed standard error does not want to know.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

/// Tells about a failure in one line.
pub(super) fn error(error: &Error) {
    to_stderr("ripkit: ", &error.to_string());
}

/// Prints the help that was asked for, or tells in one line what is wrong with the command line.
pub(super) fn usage(mut usage: clap::Error) -> u8 {
    keep_nearest(&mut usage);
    let asked = !usage.use_stderr();
    if asked || usage.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        // Nobody is left to tell that help could not be written.
        let _ = usage.print();
    } else {
        to_stderr("ripkit: ", &usage_line(&usage.render().to_string()));
    }
    if asked { exit::DONE } else { exit::FAILED }
}

/// Of several commands that are near, aliases among them, only the nearest helps.
fn keep_nearest(usage: &mut clap::Error) {
    if let Some(ContextValue::Strings(names)) = usage.get(ContextKind::SuggestedSubcommand) {
        let nearest = names.last().cloned().into_iter().collect();
        usage.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(nearest));
    }
}

/// The paragraphs of a message in one line, without the usage.
fn usage_line(message: &str) -> String {
    let message = message.strip_prefix("error: ").unwrap_or(message);
    let paragraphs = message.split("\n\n").map(one_line);
    let told =
        paragraphs.filter(|paragraph| !paragraph.is_empty() && !paragraph.starts_with("Usage:"));
    told.collect::<Vec<_>>().join("; ").replace("For more information, try", "try")
}

/// Tells about a repair or a surprise in one line.
pub(super) fn note(note: &str) {
    to_stderr("ripkit: note: ", note);
}

/// Tells that the answer could not be written, and returns the status for that.
pub(super) fn trouble(reason: &io::Error) -> u8 {
    to_stderr("ripkit: ", &format!("cannot write the answer: {reason}"));
    exit::FAILED
}

/// Whoever closed standard error does not want to know.
fn to_stderr(label: &str, message: &str) {
    let mut stderr = io::stderr().lock();
    let line = one_line(message);
    let line = if stderr.is_terminal() { printable(&line).into_owned() } else { line };
    let _ = stderr.write_all(format!("{label}{line}\n").as_bytes());
}

fn one_line(message: &str) -> String {
    message.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_usage_is_told_in_one_line() {
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
}
