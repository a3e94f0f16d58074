//! A line of an answer, as data.

use schemars::JsonSchema;
use serde::Serialize;

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
