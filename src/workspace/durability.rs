//! How sure a write must be before it counts.

use std::io;

use crate::os::File;

/// What a successful write has on stable storage.
///
/// ```
/// use ripkit::Workspace;
/// use ripkit::workspace::Durability;
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let scratch = Workspace::open(".")?.with_durability(Durability::Fast);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Durability {
    /// Nothing: a power cut may leave the old content, the new, or an empty file.
    Fast,
    /// The new content, before it takes the place of the old: a power cut leaves one of the two.
    #[default]
    File,
    /// The directory too: after a success a power cut leaves the new content.
    Full,
}

impl Durability {
    /// Makes the content of a file durable, if that is wanted.
    pub(super) fn sync_file(self, file: &File) -> io::Result<()> {
        if self == Durability::Fast { Ok(()) } else { file.sync() }
    }
}
