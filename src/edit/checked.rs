//! Parts of a text by ranges that must lie within it.
//!
//! An edit that takes an empty part where a range is wrong loses or invents content, so such a
//! range is an error of the call.

use std::slice::SliceIndex;

use crate::error::{Error, ErrorCode};

/// The part of `text` at `range`.
///
/// # Errors
/// `INTERNAL` if the range does not lie within the text.
pub(super) fn bytes<I: SliceIndex<[u8], Output = [u8]>>(
    text: &[u8],
    range: I,
) -> Result<&[u8], Error> {
    text.get(range).ok_or_else(fault)
}

/// The part of `text` at `range`.
///
/// # Errors
/// `INTERNAL` if the range does not lie within the text or splits a character.
pub(super) fn text<I: SliceIndex<str, Output = str>>(text: &str, range: I) -> Result<&str, Error> {
    text.get(range).ok_or_else(fault)
}

/// The error for a range that was computed wrongly.
pub(super) fn fault() -> Error {
    let message = "the edit was not made: a range was computed that is not within the text";
    Error::new(ErrorCode::Internal, message)
        .with_hint("This is a defect of the tool; write the whole file instead.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_outside_of_the_text_is_an_error_and_not_an_empty_part() {
        assert_eq!(bytes(b"abc", 1..3).unwrap(), b"bc");
        assert_eq!(bytes(b"abc", 3..).unwrap(), b"");
        assert_eq!(bytes(b"abc", 2..4).unwrap_err().code(), ErrorCode::Internal);
        assert_eq!(bytes(b"abc", 4..).unwrap_err().code(), ErrorCode::Internal);
        assert_eq!(text("é", 1..).unwrap_err().code(), ErrorCode::Internal);
    }
}
