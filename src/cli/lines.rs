//! Matching lines as `rg` prints them with `-o`, `-N` and `-0`. They are made from the events of the
//! search, which have the place of every match and the exact bytes of lines and paths.

use std::fmt;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;

use super::flags::LineFlags;
use super::print::Stream;

/// Prints the events that are written to it as lines.
pub(super) struct LineWriter {
    to: Stream,
    flags: LineFlags,
    /// The begin of an event whose end is not written yet.
    pending: String,
    /// The number of the last line of this file.
    last: Option<u64>,
    has_written: bool,
}

#[derive(Deserialize)]
struct Event {
    #[serde(rename = "type")]
    kind: String,
    data: EventData,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct EventData {
    path: Bytes,
    lines: Bytes,
    line_number: u64,
    submatches: Vec<Span>,
}

#[derive(Deserialize)]
struct Span {
    start: usize,
    end: usize,
}

/// Bytes in an event: `text` if they are UTF-8, else `bytes` in base64.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Bytes {
    text: String,
    bytes: Option<String>,
}

impl Bytes {
    fn decode(self) -> Result<Vec<u8>, fmt::Error> {
        match self.bytes {
            None => Ok(self.text.into_bytes()),
            Some(encoded) => STANDARD.decode(encoded).map_err(|_| fmt::Error),
        }
    }
}

impl LineWriter {
    pub(super) fn new(flags: LineFlags) -> LineWriter {
        let (pending, last, has_written) = (String::new(), None, false);
        LineWriter { to: Stream::new(), flags, pending, last, has_written }
    }

    /// Writes what is buffered, and returns the first error.
    pub(super) fn finish(&mut self) -> io::Result<()> {
        self.to.finish()
    }

    fn event(&mut self, line: &str) -> fmt::Result {
        let Event { kind, data } = serde_json::from_str(line).map_err(|_| fmt::Error)?;
        let separator = match kind.as_str() {
            "begin" => {
                self.last = None;
                return Ok(());
            }
            "match" => b':',
            "context" => b'-',
            _ => return Ok(()),
        };
        let (path, text) = (data.path.decode()?, data.lines.decode()?);
        let follows = self.last.is_some_and(|last| last + 1 == data.line_number);
        if self.flags.has_context && self.has_written && !follows {
            self.to.write_bytes(b"--\n")?;
        }
        self.has_written = true;
        let mut begin = 0;
        for (number, line) in (data.line_number..).zip(text.split_inclusive(|byte| *byte == b'\n'))
        {
            self.last = Some(number);
            let mut prefix = path.clone();
            prefix.push(if self.flags.null { 0 } else { separator });
            if self.flags.line_numbers {
                prefix.extend_from_slice(number.to_string().as_bytes());
                prefix.push(separator);
            }
            if self.flags.only_matching && separator == b':' {
                let content = line.strip_suffix(b"\n").unwrap_or(line);
                for span in &data.submatches {
                    let end = span.end.min(begin + content.len());
                    let start = span.start.max(begin);
                    let part = start.checked_sub(begin).zip(end.checked_sub(begin));
                    let part = part.and_then(|(start, end)| content.get(start..end));
                    if let Some(part) = part.filter(|part| !part.is_empty()) {
                        self.to.write_bytes(&[&prefix, part, b"\n"].concat())?;
                    }
                }
            } else {
                let end: &[u8] = if line.ends_with(b"\n") { b"" } else { b"\n" };
                self.to.write_bytes(&[&prefix, line, end].concat())?;
            }
            begin += line.len();
        }
        Ok(())
    }
}

impl fmt::Write for LineWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for piece in text.split_inclusive('\n') {
            self.pending.push_str(piece);
            if piece.ends_with('\n') {
                let line = std::mem::take(&mut self.pending);
                self.event(&line)?;
            }
        }
        Ok(())
    }
}
