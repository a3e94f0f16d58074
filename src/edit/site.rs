//! Where changes are made, and how.

use crate::context::Call;
use crate::edit::ladder::Haystack;
use crate::edit::replacement::Options;

/// A file that is edited, as all changes of a call see it.
pub(super) struct Site<'a> {
    pub(super) path: &'a str,
    pub(super) options: &'a Options,
    pub(super) call: &'a Call,
    pub(super) haystack: Haystack<'a>,
}
