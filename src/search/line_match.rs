//! A line of an answer, as data.

use schemars::JsonSchema;
use serde::Serialize;

/// A matching line. A match over several lines gives one for each line that it covers.
///
/// ```
/// use ripkit::tools::search::{SearchArgs, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let (pattern, path) = ("ripkit".into(), "Cargo.toml".into());
/// let args = SearchArgs { pattern, path, max_results: 1, ..SearchArgs::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// let found = report.files[0].matches().next().expect("one match");
/// let [begin, end] = found.spans[0];
/// assert_eq!(&found.text[begin..end], "ripkit");
/// assert_eq!((found.line, found.column), (2, Some(9))); // name = "ripkit"
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct LineMatch {
    /// The number of the line, from 1.
    pub line: u64,
    /// The byte in the line where the first match begins, from 1; that is 1 if it began in an
    /// earlier line. Absent if the call asked for text only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u64>,
    /// The line without its end; of a long one a window round the first match.
    pub text: String,
    /// Begin and end of each match, as bytes of `text`; of a match over several lines, the part
    /// in this line. At most 100.
    pub spans: Vec<[usize; 2]>,
    /// Whether the line has, or may have, more matches than `spans` tells: over 100 in what is
    /// shown, or any in a line over 4 MiB.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub spans_truncated: bool,
}

/// A line near a match. After the last match that `max_results` or `max_per_file` allow, it may
/// match itself.
///
/// ```
/// use ripkit::tools::search::{SearchArgs, Search};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let (pattern, path) = ("^name = \"ripkit\"".into(), "Cargo.toml".into());
/// let args = SearchArgs { pattern, path, before: Some(1), max_results: 1, ..SearchArgs::default() };
/// let report = tools.run::<Search>(args, &Call::default())?;
/// let line = report.files[0].context().next().expect("a line before it");
/// assert_eq!((line.line, line.text.as_str()), (1, "[package]"));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct ContextLine {
    /// The number of the line, from 1.
    pub line: u64,
    /// The line without its end, cut when long.
    pub text: String,
}
