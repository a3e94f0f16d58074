//! The account of one directory.

use crate::output::ScanStats;

/// What listing a directory told.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectoryReport {
    /// Counts and trouble.
    pub(crate) stats: ScanStats,
    /// Ignored and hidden entries, as paths, so that a hint can look into them.
    pub(crate) skipped_entries: Vec<SkippedEntry>,
    /// The call ended before the directory was read to its end.
    pub(crate) interrupted: bool,
}

impl DirectoryReport {
    /// Adds another account of the same directory.
    pub(crate) fn absorb(&mut self, other: DirectoryReport) {
        self.stats.absorb(other.stats);
        self.skipped_entries.extend(other.skipped_entries);
        self.interrupted |= other.interrupted;
    }

    /// Whether it tells nothing but numbers.
    pub(super) fn is_bare(&self) -> bool {
        let DirectoryReport { stats, skipped_entries, interrupted } = self;
        let nothing = stats.trouble.is_empty() && stats.warnings.is_empty();
        nothing && skipped_entries.is_empty() && !interrupted
    }
}

/// An entry that a rule left out.
#[derive(Clone, Debug)]
pub(crate) struct SkippedEntry {
    /// Its path in the workspace.
    pub(crate) path: Vec<u8>,
    pub(crate) is_directory: bool,
    /// Its name was the reason; else an ignore rule was.
    pub(crate) hidden: bool,
}

impl SkippedEntry {
    /// Tells whether a path is this entry or lies below it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let rest = path.as_bytes().strip_prefix(self.path.as_slice());
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}
