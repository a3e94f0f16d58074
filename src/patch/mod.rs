//! Patches of several files in three formats: the `*** Begin Patch` envelope, unified diffs, and
//! SEARCH/REPLACE blocks.
//!
//! A parser turns the text into changes of files, without looking at any file. The planner finds all
//! of them in memory, and reports all that cannot be made together; then a transaction makes all.

mod blocks;
mod envelope;
mod failure;
mod format;
mod lines;
mod paths;
mod plan;
mod unified;

#[cfg(test)]
mod properties;

pub(crate) use crate::patch::format::parse;
pub(crate) use crate::patch::plan::{PlanOptions, PlannedChange, plan};

use ripkit_edit::hunks::{Hunk, HunkRules};

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FilePatch {
    /// The path as the patch has it, without prefixes such as `a/`.
    pub(crate) path: String,
    /// The line of the patch, from 1, that names the file.
    pub(crate) line: usize,
    pub(crate) action: Action,
    /// What is ignored of it, one sentence each.
    pub(crate) notes: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// A new file with this content.
    Create(String),
    /// The removal of a file, which must have what the hunks remove, if there are any.
    Delete(Vec<PatchHunk>),
    Update {
        hunks: Vec<PatchHunk>,
        /// Whether the hunks are SEARCH/REPLACE blocks.
        are_blocks: bool,
        move_to: Option<String>,
    },
    /// Something that is not supported or malformed, and why.
    Refused(String),
    /// The content of a binary file.
    Binary,
}

/// A hunk and the line of the patch, from 1, at which it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PatchHunk {
    pub(crate) hunk: Hunk,
    pub(crate) line: usize,
}

/// The rules for hunks of a unified diff or an envelope, and for blocks: these may stand in any
/// order, and cannot say whether a file ends with a line feed.
fn hunk_rules(are_blocks: bool) -> HunkRules {
    HunkRules { is_ordered: !are_blocks, keeps_end: are_blocks }
}
