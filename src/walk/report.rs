//! The account of one directory.

use crate::output::ScanStats;

/// What listing a directory told.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirectoryReport {
    /// Counts and trouble.
    pub(crate) receipt: ScanStats,
    /// Ignored and hidden entries, as paths, so that a hint can look into them.
    pub(crate) left_out: Vec<LeftOut>,
    /// The call ended before the directory was read to its end.
    pub(crate) interrupted: bool,
}

impl DirectoryReport {
    /// Adds another account of the same directory.
    pub(crate) fn absorb(&mut self, other: DirectoryReport) {
        self.receipt.absorb(other.receipt);
        self.left_out.extend(other.left_out);
        self.interrupted |= other.interrupted;
    }

    /// Whether it tells nothing but numbers.
    pub(super) fn is_bare(&self) -> bool {
        let DirectoryReport { receipt, left_out, interrupted } = self;
        let nothing = receipt.trouble.is_empty() && receipt.warnings.is_empty();
        nothing && left_out.is_empty() && !interrupted
    }
}

/// An entry that a rule left out.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// Its path in the workspace.
    pub(crate) path: Vec<u8>,
    pub(crate) is_directory: bool,
    /// Its name was the reason; else an ignore rule was.
    pub(crate) hidden: bool,
}

impl LeftOut {
    /// Tells whether a path is this entry or lies below it.
    pub(crate) fn holds(&self, path: &str) -> bool {
        let rest = path.as_bytes().strip_prefix(self.path.as_slice());
        rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
    }
}
