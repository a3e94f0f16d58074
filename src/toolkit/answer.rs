//! The answer of a call: text for a model, details for a program, and how the call ended.

use std::fmt;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use crate::context::TextStream;
use crate::error::{Error, ErrorCode};
use crate::output::{Content, Outcome, Output, ShellOutput};

/// The answer of a call, a success or a failure. An [`Error`] converts into an answer.
///
/// `Display` writes [`Answer::text`], and `Serialize` is [`Answer::to_json`].
///
/// ```
/// use ripkit::{Call, ErrorCode, Toolkit, Workspace};
/// use serde_json::json;
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let tools = Toolkit::new(Workspace::open(".")?);
/// let answer = tools.call("read_file", json!({ "path": "missing.txt" }), &Call::default());
/// assert!(answer.is_error());
/// assert_eq!(answer.error_code(), Some(ErrorCode::FileNotFound));
/// assert!(answer.text().ends_with("[FILE_NOT_FOUND]"));
/// # Ok(())
/// # }
/// ```
pub struct Answer {
    text: String,
    /// The length of the text before the notes.
    body: usize,
    notes: Vec<String>,
    result: CallResult,
    /// Serialized on first use, as printing a large text needs no JSON.
    details: OnceLock<Value>,
}

enum CallResult {
    /// The lock makes the answer `Sync`, which an output need not be.
    Done {
        outcome: Outcome,
        output: Mutex<Box<dyn AnyOutput>>,
    },
    Failed(Error),
}

/// An [`Output`] without its type.
pub(super) trait AnyOutput: Send {
    fn text(&self) -> String;
    fn write_text(&self, to: &TextStream) -> fmt::Result;
    fn details(&self) -> Option<Value>;
    fn outcome(&self) -> Outcome;
    fn notes(&self) -> &[String];
    fn attachments(&self) -> Vec<Content>;
    fn for_shell(&self) -> Option<&dyn ShellOutput>;
}

impl<O: Output> AnyOutput for O {
    fn text(&self) -> String {
        self.to_string()
    }

    fn write_text(&self, to: &TextStream) -> fmt::Result {
        to.write(format_args!("{self}"))
    }

    fn details(&self) -> Option<Value> {
        serde_json::to_value(self).ok()
    }

    fn outcome(&self) -> Outcome {
        Output::outcome(self)
    }

    fn notes(&self) -> &[String] {
        Output::notes(self)
    }

    fn attachments(&self) -> Vec<Content> {
        Output::attachments(self)
    }

    fn for_shell(&self) -> Option<&dyn ShellOutput> {
        Output::for_shell(self)
    }
}

impl Answer {
    /// `notes` are those of the arguments; the output's own follow them.
    pub(super) fn new(output: Box<dyn AnyOutput>, notes: Vec<String>) -> Answer {
        let mut text = output.text();
        let body = text.len();
        let answer = Answer::streamed(output, notes);
        for note in &answer.notes {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
            text.push_str("Note: ");
            text.push_str(note);
        }
        Answer { text, body, ..answer }
    }

    /// An answer whose text was streamed.
    pub(super) fn streamed(output: Box<dyn AnyOutput>, mut notes: Vec<String>) -> Answer {
        notes.extend_from_slice(output.notes());
        let result = CallResult::Done { outcome: output.outcome(), output: Mutex::new(output) };
        Answer { text: String::new(), body: 0, notes, result, details: OnceLock::new() }
    }

    /// The text for a model: that of the output and the notes, or the message and code of the error.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text without the notes.
    pub fn body(&self) -> &str {
        self.text.get(..self.body).unwrap_or(&self.text)
    }

    /// The data for a program: the output as JSON, or `code`, `message`, `path` and `hint` of the
    /// error. `null` if the output cannot be serialized.
    pub fn details(&self) -> &Value {
        self.details.get_or_init(|| match &self.result {
            CallResult::Failed(error) => error_details(error),
            CallResult::Done { .. } => self.ask(AnyOutput::details).unwrap_or_default(),
        })
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.error().is_some()
    }

    /// The stable code of the failure, or `None` for a success.
    pub fn error_code(&self) -> Option<ErrorCode> {
        self.error().map(Error::code)
    }

    /// The failure itself, or `None` for a success.
    pub fn error(&self) -> Option<&Error> {
        match &self.result {
            CallResult::Failed(error) => Some(error),
            CallResult::Done { .. } => None,
        }
    }

    /// Whether the body is exactly the content of a file.
    #[doc(hidden)]
    pub fn is_verbatim(&self) -> bool {
        self.ask(|output| output.for_shell().is_some_and(ShellOutput::is_verbatim))
    }

    /// The exit status, if it does not follow from the outcome.
    #[doc(hidden)]
    pub fn exit_status(&self) -> Option<u8> {
        self.ask(|output| output.for_shell()?.exit_status())
    }

    /// Notes on repaired arguments and unexpected findings, a sentence each.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The parts of the answer, for protocols that carry more than text: the text, then attachments
    /// such as images.
    pub fn content(&self) -> Vec<Content> {
        let mut content = vec![Content::Text { text: self.text.clone() }];
        content.append(&mut self.ask(AnyOutput::attachments));
        content
    }

    /// The results as the events of `rg --json`, if the output has such a form.
    #[doc(hidden)]
    pub fn events(&self, elapsed: Duration) -> Option<Vec<Value>> {
        self.ask(|output| output.for_shell()?.events(elapsed))
    }

    /// How the call ended, or `None` if it failed.
    pub fn outcome(&self) -> Option<Outcome> {
        match &self.result {
            CallResult::Failed(_) => None,
            CallResult::Done { outcome, .. } => Some(*outcome),
        }
    }

    /// The whole answer, with the keys `is_error`, `code`, `text`, `details`, `content`, `notes`.
    pub fn to_json(&self) -> Value {
        json!({
            "is_error": self.is_error(),
            "code": self.error_code().map(ErrorCode::as_str),
            "text": self.text,
            "details": self.details(),
            "content": self.content(),
            "notes": self.notes,
        })
    }

    /// Queries the output; the default value if the call failed or the output panics.
    fn ask<R: Default>(&self, query: impl FnOnce(&(dyn AnyOutput + 'static)) -> R) -> R {
        let CallResult::Done { output, .. } = &self.result else { return R::default() };
        let output = output.lock().unwrap_or_else(PoisonError::into_inner);
        panic::catch_unwind(AssertUnwindSafe(|| query(&**output))).unwrap_or_default()
    }
}

fn error_details(error: &Error) -> Value {
    json!({
        "code": error.code().as_str(),
        "message": error.to_string(),
        "path": error.path(),
        "hint": error.hint(),
    })
}

impl From<Error> for Answer {
    fn from(error: Error) -> Answer {
        let text = format!("{error} [{}]", error.code());
        let (body, details) = (text.len(), OnceLock::new());
        Answer { text, body, notes: Vec::new(), result: CallResult::Failed(error), details }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer")
            .field("text", &self.text)
            .field("code", &self.error_code())
            .field("outcome", &self.outcome())
            .finish_non_exhaustive()
    }
}
