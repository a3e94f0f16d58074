//! The answer of a call.

use ripkit::{Content, Error, ErrorCode};

/// The answer of a call, a success or a failure.
#[derive(Debug)]
pub struct Answer(ripkit::Answer);

/// An image of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image {
    /// Its bytes in base64.
    pub data: String,
    /// Its type, such as `image/png`.
    pub mime_type: String,
}

impl Answer {
    /// The text for a model.
    pub fn text(&self) -> &str {
        self.0.text()
    }

    /// The data for a program, as JSON: that of the tool, or `code`, `message`, `path` and `hint` of
    /// the error.
    pub fn structured(&self) -> String {
        self.0.details().to_string()
    }

    /// Whether the call failed.
    pub fn is_error(&self) -> bool {
        self.0.is_error()
    }

    /// The stable code of the failure, such as `FILE_NOT_FOUND`.
    pub fn code(&self) -> Option<&'static str> {
        self.0.error_code().map(ErrorCode::as_str)
    }

    /// Notes on repaired arguments and unexpected findings, which the text has too.
    pub fn notes(&self) -> &[String] {
        self.0.notes()
    }

    /// The images.
    pub fn images(&self) -> Vec<Image> {
        let parts = self.0.content().into_iter();
        let images = parts.filter_map(|part| match part {
            Content::Image { data, mime_type } => Some(Image { data, mime_type }),
            _ => None,
        });
        images.collect()
    }

    /// All of it as one JSON object, with the keys `is_error`, `code`, `text`, `details`, `content`
    /// and `notes`.
    pub fn to_json(&self) -> String {
        self.0.to_json().to_string()
    }
}

impl From<ripkit::Answer> for Answer {
    fn from(answer: ripkit::Answer) -> Answer {
        Answer(answer)
    }
}

impl From<Error> for Answer {
    fn from(error: Error) -> Answer {
        Answer(error.into())
    }
}
