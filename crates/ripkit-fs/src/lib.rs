//! A directory tree as a sandbox.

pub mod byte_path;
mod context;
mod error;
pub mod escape;
mod hint;
pub mod names;
pub mod os;
mod sync;
#[cfg(test)]
#[path = "../../../src/test_rng.rs"]
mod test_rng;
mod workspace;

pub use self::context::{Call, CallHandle, Cancel, Incomplete};
pub use self::error::{Error, ErrorCode, MAX_MESSAGE_BYTES};
pub use self::hint::{Hint, HintNames, NextStep, OwnNames};
pub use self::workspace::*;
