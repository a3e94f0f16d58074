//! Hunks of a patch: blocks of whole lines, placed as a model means them or as `git apply` does.

mod git;
mod hunk;
mod loose;

pub use self::git::apply_git_hunks;
pub use self::hunk::{Hunk, HunkShape, MAX_REFUSED};
pub use self::loose::{HunkRules, apply_hunks};
