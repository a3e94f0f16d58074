//! What may be done about a refused edit.

use std::borrow::Cow;
use std::fmt;

/// A next step that an [`Explanation`](crate::Explanation) suggests. `Display` writes it as a sentence with
/// the names of this crate; a host writes its own names instead.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NextStep {
    /// A sentence that names nothing that a host would call otherwise.
    Sentence(Cow<'static, str>),
    /// To create the file or to replace all of it.
    WriteFile,
    /// To look at the file with this name.
    ReadFile(String),
    /// To search the file, which has long lines.
    Search,
    /// To let the text be found by [safe matching](crate::Matching::Safe).
    MatchSafely,
    /// To use [exact matching](crate::Matching::Exact) for this purpose, such as `To join them`.
    MatchExactly(&'static str),
    /// To replace [every place](crate::Options::with_replace_all).
    ReplaceAll,
}

impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NextStep::Sentence(sentence) => f.write_str(sentence),
            NextStep::WriteFile => {
                f.write_str("To create a file or replace all of it, use write_file.")
            }
            NextStep::ReadFile(path) => write!(f, "Tip: Use read_file to see contents of {path}."),
            NextStep::Search => f.write_str("It has long lines: search shows windows of them."),
            NextStep::MatchSafely => f.write_str("With match: safe it would be found."),
            NextStep::MatchExactly(purpose) => write!(f, "{purpose}, use match: exact."),
            NextStep::ReplaceAll => f.write_str("To replace every one, set replace_all."),
        }
    }
}

impl From<&'static str> for NextStep {
    fn from(sentence: &'static str) -> NextStep {
        NextStep::Sentence(sentence.into())
    }
}

impl From<String> for NextStep {
    fn from(sentence: String) -> NextStep {
        NextStep::Sentence(sentence.into())
    }
}
