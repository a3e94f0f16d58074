//! The kinds of changes.

use std::fmt;

use serde::Serialize;

/// What a change does to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema), schemars(inline))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// A file that did not exist gets content.
    Create,
    /// A file gets other content.
    Modify,
    /// A file, a link or a directory with everything in it is removed.
    Delete,
    /// A file, a link or a directory gets another path.
    Move,
    /// A directory is created.
    CreateDirectory,
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}
