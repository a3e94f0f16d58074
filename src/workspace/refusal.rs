//! Why a file is not changed, in words.

use crate::error::{Error, ErrorCode};
use crate::workspace::WorkspacePath;

/// The error for a file that is not as it was found.
pub(super) fn changed(path: &WorkspacePath, why: &str) -> Error {
    Error::new(ErrorCode::Conflict, format!("{path} has changed: {why}; it was left as it is"))
        .at(path.as_str())
        .with_hint("Read it again before you change it.")
}

/// The error for a file that is not there any more.
pub(super) fn gone(path: &WorkspacePath) -> Error {
    Error::new(ErrorCode::Conflict, format!("{path} does not exist any more"))
        .at(path.as_str())
        .with_hint("Look where it went with find_files.")
}

/// The error for a file that cannot be held in memory.
pub(super) fn too_large(path: &WorkspacePath, size: u64, limit: usize) -> Error {
    let message = format!("{path} is too large to change: {size} bytes, the limit is {limit}");
    Error::new(ErrorCode::TooLarge, message).at(path.as_str())
}

/// The error for an entry where there should be none.
pub(super) fn exists(path: &WorkspacePath, more: &str) -> Error {
    Error::new(ErrorCode::FileAlreadyExists, format!("{path} exists already{more}"))
        .at(path.as_str())
}

/// The error for an entry that is something else.
pub(super) fn not_a_file(path: &WorkspacePath, what: &str) -> Error {
    Error::new(ErrorCode::InvalidPath, format!("{path} {what}, not a file"))
        .at(path.as_str())
        .with_hint("Name a file.")
}

/// The error for a name that something else has.
pub(super) fn taken(place: &WorkspacePath) -> Error {
    exists(place, "").with_hint("Choose another name.")
}
