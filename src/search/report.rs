//! The answer of a search, as data and as text.

use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Incomplete;
use crate::output::{Outcome, Output, ScanStats, ShellOutput, Truncation, counted};
use crate::search::events::{self, Stats};
use crate::search::file_matches::FileMatches;
use crate::search::options::Report;
use crate::text::escape;

/// What a search found.
///
/// ```
/// use ripkit::tools::search::{SearchArgs, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let args = SearchArgs { pattern: "edition".into(), path: "Cargo.toml".into(), ..SearchArgs::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// assert_eq!(report.files[0].path, "Cargo.toml");
/// assert!(report.cursor.is_none());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct SearchOutput {
    /// How many lines match in `files`; with output `files`, how many files.
    pub matches: u64,
    /// The files with matches, in path order unless sorted by time.
    pub files: Vec<FileMatches>,
    /// Whether more results exist than are shown.
    pub truncated: bool,
    /// Pass this to go on exactly after the last result; absent when nothing is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// What was searched, and what was left out and why.
    pub receipt: ScanStats,
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
    /// How many results there are: matching lines, or files where lines are not shown.
    #[serde(skip)]
    pub(crate) results: u64,
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

/// A match in a file that the walk left out.
///
/// ```
/// use ripkit::tools::search::{SearchArgs, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join(".gitignore"), "*.log\n")?;
/// # std::fs::write(directory.path().join("app.log"), "TODO\n")?;
/// let tools = Toolkit::new(Workspace::open(directory.path())?);
/// let args = SearchArgs { pattern: "TODO".into(), ..SearchArgs::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// let left_out = report.left_out.expect("one in an ignored file");
/// assert_eq!((left_out.path.as_str(), left_out.line, left_out.hidden), ("app.log", 1, false));
/// # Ok(())
/// # }
/// ```
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

impl Output for SearchOutput {
    fn outcome(&self) -> Outcome {
        match self.incomplete {
            Some(why) => Outcome::Partial(why),
            None if self.matches == 0 => Outcome::Empty,
            None => Outcome::Done,
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn for_shell(&self) -> Option<&dyn ShellOutput> {
        Some(self)
    }
}

impl ShellOutput for SearchOutput {
    /// As for grep, a path that cannot be searched is an error, whatever the others hold.
    fn exit_status(&self) -> Option<u8> {
        (!self.receipt.missing.is_empty()).then_some(2)
    }

    fn events(&self, elapsed: Duration) -> Option<Vec<Value>> {
        (self.shape.report == Report::Content)
            .then(|| events::of(&self.files, self.stats, &self.receipt, elapsed))
    }
}

impl fmt::Display for SearchOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.shape.events {
            return Ok(());
        }
        let footer = self.footer().join("\n");
        if self.shape.streamed {
            return f.write_str(&footer);
        }
        if self.files.is_empty() {
            let apart = if footer.is_empty() { "" } else { "\n" };
            return write!(f, "{}{apart}{footer}", self.empty());
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
        f.write_str(&footer)
    }
}

impl SearchOutput {
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

    /// The lines that follow the matches.
    fn footer(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(truncation) = self.shape.truncation {
            let noun = if self.shape.report == Report::Content { "matches" } else { "files" };
            lines.push(truncation.line(self.results, noun, self.shape.text_bytes));
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
        lines
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
