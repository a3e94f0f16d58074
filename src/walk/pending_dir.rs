//! A directory to be listed.

use std::sync::Arc;

use crate::walk::handle::DirHandle;
use crate::walk::ignore_rules::IgnoreRules;

/// A directory to be listed, and what is known of it from above.
#[derive(Debug)]
pub(crate) struct PendingDir {
    /// The directory above it.
    pub(crate) parent: DirHandle,
    /// Its name in there.
    pub(crate) name: Vec<u8>,
    /// Its path in the workspace, empty or ending in `/`.
    pub(crate) prefix: Arc<[u8]>,
    /// The rules of the directory above it.
    pub(crate) rules: IgnoreRules,
    /// How deep it lies below where the walk began; 0 is the beginning itself.
    pub(crate) depth: usize,
    /// Which beginning it lies below.
    pub(crate) start: usize,
    /// Whether the directory above is as it was kept; if not, another one may be in this place,
    /// of which nobody who watches this one would be told.
    pub(crate) is_in_place: bool,
}

impl PendingDir {
    /// A directory in this one, whose rules these are.
    pub(super) fn child(&self, name: &[u8], parent: DirHandle, rules: &IgnoreRules) -> PendingDir {
        PendingDir {
            parent,
            name: name.to_vec(),
            prefix: [&*self.prefix, name, b"/"].concat().into(),
            rules: rules.clone(),
            depth: self.depth + 1,
            start: self.start,
            is_in_place: false,
        }
    }
}
