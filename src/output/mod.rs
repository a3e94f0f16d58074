//! What every answer is made of: an outcome, content, the statistics of a scan, and how it was cut.

mod scan_stats;

use std::fmt::{self, Display};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use crate::context::Incomplete;

pub(crate) use self::scan_stats::counted;
pub use self::scan_stats::{IndexUse, MAX_TROUBLE, MAX_WARNINGS, ReadError, ScanStats, Skipped};

/// The result of a tool: `Display` is what a model reads, `Serialize` what a program reads.
pub trait Output: Serialize + JsonSchema + Display + Send + 'static {
    /// How the call ended, from which a shell's exit status follows. Default: [`Outcome::Done`].
    fn outcome(&self) -> Outcome {
        Outcome::Done
    }

    /// Whether the text is exactly what a file holds, so that a program that prints it adds no
    /// line end. Default: it is not.
    fn is_verbatim(&self) -> bool {
        false
    }

    /// The exit status of a shell's command for this answer, where the outcome does not say it
    /// all. Default: none.
    fn exit_status(&self) -> Option<u8> {
        None
    }

    /// Repairs and surprises worth a sentence each. Default: none.
    fn notes(&self) -> &[String] {
        &[]
    }

    /// The results as the events that `rg --json` prints, with `elapsed` as the time the call took;
    /// for a call made with [`Call::with_exact_lines`](crate::Call::with_exact_lines). Those that
    /// went to a [`TextStream`](crate::TextStream) are not repeated.
    /// Default: there is no such form.
    fn events(&self, _elapsed: Duration) -> Option<Vec<Value>> {
        None
    }

    /// What goes with the text and is none, such as an image. Default: nothing.
    fn attachments(&self) -> Vec<Content> {
        Vec::new()
    }
}

/// How a call that did not fail ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// It did its work, or found something.
    Done,
    /// It looked at everything and found nothing.
    Empty,
    /// It stopped early; the answer holds what was there by then.
    Partial(Incomplete),
}

/// One piece of an answer.
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
