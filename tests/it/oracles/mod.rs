//! What must hold for any bytes: of each part a `check`, which makes a case of the bytes and holds
//! what the library does with it against a model, another program's library or a plain look.
//!
//! The seeded tests call these with random bytes and with the files of `fixtures/regressions`, the
//! fuzz targets with what libFuzzer thinks of. So they use nothing but public items of the library.

#![allow(unreachable_pub, dead_code, reason = "the fuzz targets are another crate")]

pub mod edit;
#[cfg(any(fuzzing, feature = "mcp"))]
pub mod framing;
pub mod frontmatter;
#[cfg(unix)]
pub mod globs;
#[cfg(unix)]
pub mod listing;
pub mod paging;
pub mod patterns;
#[cfg(unix)]
pub mod prompt;
#[cfg(unix)]
pub mod resolve;
pub mod search;

mod choices;
mod scratch;

pub use choices::Choices;
