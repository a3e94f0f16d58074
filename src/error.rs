//! The error type and its stable codes.

pub use ripkit_fs::{Error, ErrorCode, MAX_MESSAGE_BYTES};
