//! The matches of one file, as data and as text.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};

use crate::search::line_match::{ContextLine, LineMatch};
use crate::search::lines::Lines;
use crate::search::options::Report;
use crate::text::escape;

/// The matches of one file.
///
/// ```
/// use ripkit::tools::search::{SearchArgs, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let args = SearchArgs { pattern: "edition".into(), path: "Cargo.toml".into(), ..SearchArgs::default() };
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
    /// How many lines match, where that was asked for; in a binary file that was not named, in
    /// the lines before the NUL byte at `binary_offset`.
    pub count: Option<u64>,
    /// Whether the file has more matches than `max_per_file` allows.
    pub more: bool,
    /// Where the first NUL byte is, in a binary file.
    pub binary_offset: Option<u64>,
    /// The version token of the content that was searched, where it was asked for.
    pub version: Option<String>,
    /// The path as it is on disk, where that is not UTF-8.
    pub(crate) bytes: Vec<u8>,
    /// The real path, where a link led there from the path that is shown.
    pub(crate) real: Vec<u8>,
    /// Bytes of its text that were searched.
    pub(crate) searched: u64,
    /// The search ended before the NUL byte; what lies behind it is not known.
    pub(crate) stopped: bool,
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
    /// How many lines match, where that was asked for; with `binary_offset`, only those before
    /// that NUL byte, unless the file was named.
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

impl FileMatches {
    /// The path as it is on disk.
    pub(crate) fn exact_bytes(&self) -> &[u8] {
        if self.bytes.is_empty() { self.path.as_bytes() } else { &self.bytes }
    }

    /// The real path, by which a cursor finds the file again.
    pub(crate) fn real_bytes(&self) -> &[u8] {
        if self.real.is_empty() { self.exact_bytes() } else { &self.real }
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
    pub(super) fn fmt_last(&self, report: Report, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (text, tail) = (self.lines.text(), self.tail(report));
        match tail.strip_suffix('\n') {
            Some(tail) => write!(f, "{text}{tail}"),
            None => f.write_str(text.strip_suffix('\n').unwrap_or(text)),
        }
    }

    /// What is said of the file as a whole.
    pub(super) fn tail(&self, report: Report) -> String {
        let path = escape::display_path(self.path.as_bytes());
        let (more, binary) = (self.cut(&path), self.binary(&path));
        match (report, self.count) {
            (Report::Files, _) => format!("{path}\n"),
            (Report::Count, Some(count)) => format!("{path}:{count}\n{binary}"),
            // Only where lines were asked for there is no count.
            (Report::Count, None) | (Report::Content, _) => more + &binary,
        }
    }

    fn cut(&self, path: &str) -> String {
        if !self.more {
            return String::new();
        }
        format!("{path}: more matches in this file, cut by max_per_file\n")
    }

    fn binary(&self, path: &str) -> String {
        match self.binary_offset {
            Some(offset) if self.stopped => {
                format!(
                    "{path}: binary file, searched only before the NUL byte at offset {offset}\n"
                )
            }
            Some(offset) => {
                format!("{path}: binary file, the first NUL byte is at offset {offset}\n")
            }
            None => String::new(),
        }
    }
}
