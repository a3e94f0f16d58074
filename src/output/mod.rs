//! The parts of every answer: outcome, content, scan statistics and truncation.

mod scan_stats;

use std::fmt::{self, Display};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Incomplete;

pub(crate) use self::scan_stats::counted;
pub use self::scan_stats::{IndexUse, MAX_TROUBLE, MAX_WARNINGS, ReadError, ScanStats, Skipped};

/// The output of a tool: `Display` is the text for a model, `Serialize` the data for a program.
pub trait Output: Serialize + JsonSchema + Display + Send + 'static {
    /// How the call ended. Default: [`Outcome::Done`].
    fn outcome(&self) -> Outcome {
        Outcome::Done
    }

    /// Notes on repairs and unexpected findings, a sentence each. Default: none.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// Non-text content, such as an image. Default: none.
    fn attachments(&self) -> Vec<Content> {
        Vec::new()
    }

    /// What the command line needs besides the text. Default: none.
    #[doc(hidden)]
    fn for_shell(&self) -> Option<&dyn ShellOutput> {
        None
    }
}

/// What the `ripkit` program needs of an output besides its text.
#[doc(hidden)]
pub trait ShellOutput {
    /// Whether the text is exactly the content of a file, so that no line end is added to it.
    fn is_verbatim(&self) -> bool {
        false
    }

    /// The exit status, if it does not follow from the outcome.
    fn exit_status(&self) -> Option<u8> {
        None
    }

    /// The results as the events of `rg --json`, for a call with exact lines that took `elapsed`.
    /// Those that were streamed are not repeated.
    fn events(&self, _elapsed: Duration) -> Option<Vec<Value>> {
        None
    }
}

/// How a call that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The work is done, or something was found.
    Done,
    /// The scan was complete and found nothing.
    Empty,
    /// The call stopped early; the answer holds partial results.
    Partial(Incomplete),
}

/// A part of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Text that a model reads.
    Text {
        /// The text itself.
        text: String,
    },
    /// An image that a model sees.
    Image {
        /// Its bytes in base64.
        data: String,
        /// Its type, such as `image/png`.
        #[serde(rename = "mimeType")]
        mime_type: String,
    },
}

/// Where and why an answer was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Truncation {
    /// The asked number of results is reached and at least one more exists.
    Results,
    /// The text reached its byte limit and at least one more result exists.
    Bytes,
}

impl Truncation {
    /// The line that tells a model about the cut: `... (truncated at 50 matches)`.
    pub(crate) fn line(self, shown: u64, noun: &str, limit_bytes: usize) -> String {
        match self {
            Truncation::Results => format!("... (truncated at {shown} {noun})"),
            Truncation::Bytes => {
                format!("... (truncated at {limit_bytes} bytes, after {shown} {noun})")
            }
        }
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Truncation::Results => "results",
            Truncation::Bytes => "bytes",
        })
    }
}
