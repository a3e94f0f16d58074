//! The answer of a search, as data and as text.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::Value;

use crate::context::Incomplete;
use crate::output::{Outcome, Output, Receipt, Truncation, counted};
use crate::search::Report;
use crate::search::events::{self, Stats};
use crate::search::lines::Lines;
use crate::text::escape;

/// What a search found.
///
/// ```
/// use ripkit::tools::search::{Args, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let args = Args { pattern: "edition".into(), path: "Cargo.toml".into(), ..Args::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// assert_eq!(report.files[0].path, "Cargo.toml");
/// assert!(report.cursor.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchReport {
    /// How many results are in `files`: matching lines, or files where only those are asked.
    pub matches: u64,
    /// The files with matches, in path order unless sorted by time.
    pub files: Vec<FileMatches>,
    /// Whether more results exist than are shown.
    pub truncated: bool,
    /// Pass this to go on exactly after the last result; absent when nothing is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What was searched, and what was left out and why.
    pub receipt: Receipt,
    /// Why the search ended early; absent when it did not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<Incomplete>,
    /// The first match in ignored or hidden files, when there was none elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub left_out: Option<LeftOutMatch>,
    /// Surprises worth a sentence each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    #[serde(skip)]
    pub(crate) shape: Shape,
    /// The sums of the events that were written elsewhere.
    #[serde(skip)]
    pub(crate) stats: Stats,
    /// The path as shown of the file with the most matches, and how many.
    #[serde(skip)]
    pub(crate) largest: Option<(String, usize)>,
}

/// How a report is to be shown.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Shape {
    pub(crate) report: Report,
    /// Whether groups of lines are set apart, as context was asked for.
    pub(crate) grouped: bool,
    /// Whether files were written elsewhere as they were found.
    pub(crate) streamed: bool,
    pub(crate) truncation: Option<Truncation>,
    pub(crate) text_bytes: usize,
    /// Whether events are written elsewhere, so that there is no text.
    pub(crate) events: bool,
}

/// The matches of one file.
///
/// ```
/// use ripkit::tools::search::{Args, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let args = Args { pattern: "edition".into(), path: "Cargo.toml".into(), ..Args::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// for line in report.files[0].matches() {
///     println!("{}: {}", line.line, line.text);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct FileMatches {
    /// The path, relative to the workspace.
    pub path: String,
    /// How many lines match, where that was asked for.
    pub count: Option<u64>,
    /// Whether the file has more matches than `max_per_file` allows.
    pub more: bool,
    /// Where the first NUL byte is, in a binary file.
    pub binary_offset: Option<u64>,
    /// The version token of the content that was searched, where it was asked for.
    pub version: Option<String>,
    /// The path as it is on disk, where that is not UTF-8.
    pub(crate) bytes: Vec<u8>,
    /// Bytes of its text that were searched.
    pub(crate) searched: u64,
    pub(crate) lines: Lines,
}

impl FileMatches {
    /// The matching lines, in order.
    pub fn matches(&self) -> impl Iterator<Item = LineMatch> {
        self.lines.matches()
    }

    /// The lines around them, where context was asked for.
    pub fn context(&self) -> impl Iterator<Item = ContextLine> {
        self.lines.context()
    }
}

/// The matches of one file.
#[derive(Serialize, JsonSchema)]
#[schemars(inline)]
struct FileDetails {
    /// The path, relative to the workspace.
    path: String,
    /// The matching lines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    matches: Vec<LineMatch>,
    /// The lines around them, where context was asked for.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    context: Vec<ContextLine>,
    /// How many lines match, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Whether the file has more matches than `max_per_file` allows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
    /// Where the first NUL byte is, in a binary file.
    #[serde(skip_serializing_if = "Option::is_none")]
    binary_offset: Option<u64>,
    /// The version token of the content that was searched, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    version: Option<String>,
}

impl Serialize for FileMatches {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let details = FileDetails {
            path: self.path.clone(),
            matches: self.matches().collect(),
            context: self.context().collect(),
            count: self.count,
            more: self.more,
            binary_offset: self.binary_offset,
            version: self.version.clone(),
        };
        details.serialize(serializer)
    }
}

impl JsonSchema for FileMatches {
    fn schema_name() -> Cow<'static, str> {
        FileDetails::schema_name()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        FileDetails::json_schema(generator)
    }
}

/// One match: a line, or the lines that a multi-line match covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct LineMatch {
    /// The number of the line, from 1.
    pub line: u64,
    /// The byte in the line where the first match begins, from 1; absent if the call asked for
    /// text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The line without its end; of a long one a window round the first match.
    pub text: String,
    /// Begin and end of each match, as bytes of `text`.
    pub spans: Vec<[usize; 2]>,
}

/// A line near a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct ContextLine {
    /// The number of the line, from 1.
    pub line: u64,
    /// The line without its end, cut when long.
    pub text: String,
}

/// A match in a file that the walk left out.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct LeftOutMatch {
    /// The path, relative to the workspace.
    pub path: String,
    /// The number of the line.
    pub line: u64,
    /// Whether it was left out for its name; else an ignore rule did.
    pub hidden: bool,
}

impl Output for SearchReport {
    fn outcome(&self) -> Outcome {
        match self.incomplete {
            Some(why) => Outcome::Partial(why),
            None if self.matches == 0 => Outcome::Empty,
            None => Outcome::Found,
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn events(&self, elapsed: Duration) -> Option<Vec<Value>> {
        (self.shape.report == Report::Content).then(|| events::of(self, elapsed))
    }
}

impl fmt::Display for SearchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.events {
            return Ok(());
        }
        let footer = self.footer();
        if self.shape.streamed {
            return f.write_str(footer.strip_prefix('\n').unwrap_or_default());
        }
        if self.files.is_empty() {
            return write!(f, "{}{}", self.empty(), footer);
        }
        let last = self.files.len() - 1;
        for (index, file) in self.files.iter().enumerate() {
            if index > 0 && self.shape.grouped {
                f.write_str("--\n")?;
            }
            if index == last && footer.is_empty() {
                return file.fmt_last(self.shape.report, f);
            }
            write!(f, "{}", file.shown(self.shape.report))?;
        }
        f.write_str(footer.strip_prefix('\n').unwrap_or_default())
    }
}

impl SearchReport {
    /// What is said when there is nothing to show.
    fn empty(&self) -> String {
        let found = match self.incomplete {
            Some(why) => format!("No matches found before the search ended ({why})"),
            None => "No matches found".to_owned(),
        };
        let searched = self.receipt.sentence("Searched");
        let hint = self.left_out.as_ref().map_or_else(String::new, LeftOutMatch::hint);
        format!("{found}\n{searched}{hint}")
    }

    /// What follows the matches; each line with its line end before it.
    fn footer(&self) -> String {
        let mut lines = Vec::new();
        if let Some(truncation) = self.shape.truncation {
            let noun = if self.shape.report == Report::Content { "matches" } else { "files" };
            lines.push(truncation.line(self.matches, noun, self.shape.text_bytes));
        }
        if let (Some(why), true) = (self.incomplete, self.matches > 0) {
            let searched = self.receipt.sentence("Searched");
            lines.push(format!("... (incomplete: {why}) {searched}"));
        }
        let unread = self.receipt.shortfall("searched").filter(|_| self.matches > 0);
        if let (Some(unread), None) = (unread, self.incomplete) {
            lines.push(format!("... ({unread})"));
        }
        if let Some(cursor) = &self.cursor {
            lines.push(format!("To go on, pass cursor: {cursor:?}"));
        }
        lines.extend(self.greedy());
        lines.iter().flat_map(|line| ["\n", line]).collect()
    }

    /// One file that fills the answer hides the others; there are ways to see them.
    fn greedy(&self) -> Option<String> {
        if self.shape.truncation.is_none() || self.matches <= 3 {
            return None;
        }
        let half = usize::try_from(self.matches / 2).unwrap_or(usize::MAX);
        let (path, count) = self.largest.as_ref().filter(|(_, count)| *count > half)?;
        Some(format!(
            "{path} holds {count} of these {}; output \"files\" or \"count\", or max_per_file, \
             shows the other files.",
            counted(self.matches, "match", "matches"),
        ))
    }
}

impl LeftOutMatch {
    fn hint(&self) -> String {
        let (what, how) =
            if self.hidden { ("Hidden", "hidden: true") } else { ("Ignored", "no_ignore: true") };
        let path = escape::display_path(self.path.as_bytes());
        format!("\n{what} files match, the first is {path}:{}; include them with {how}.", self.line)
    }
}

impl FileMatches {
    /// The path as it is on disk.
    pub(crate) fn exact_bytes(&self) -> &[u8] {
        if self.bytes.is_empty() { self.path.as_bytes() } else { &self.bytes }
    }

    /// What is shown of the file, with the last line end.
    pub(crate) fn shown(&self, report: Report) -> impl fmt::Display {
        let tail = self.tail(report);
        fmt::from_fn(move |f| {
            f.write_str(self.lines.text())?;
            f.write_str(&tail)
        })
    }

    /// Writes what is shown of the file, without the last line end.
    fn fmt_last(&self, report: Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, tail) = (self.lines.text(), self.tail(report));
        match tail.strip_suffix('\n') {
            Some(tail) => write!(f, "{text}{tail}"),
            None => f.write_str(text.strip_suffix('\n').unwrap_or(text)),
        }
    }

    /// What is said of the file as a whole.
    pub(super) fn tail(&self, report: Report) -> String {
        let path = escape::display_path(self.path.as_bytes());
        match report {
            Report::Files => return format!("{path}\n"),
            Report::Count => return format!("{path}:{}\n", self.count.unwrap_or(0)),
            Report::Content => {}
        }
        let more = "more matches in this file, cut by max_per_file";
        let more = if self.more { format!("{path}: {more}\n") } else { String::new() };
        let binary = self.binary_offset.map_or_else(String::new, |offset| {
            format!("{path}: binary file, the first NUL byte is at offset {offset}\n")
        });
        more + &binary
    }
}
