//! How an index is kept.

use std::path::{Path, PathBuf};

/// How an index is kept: where, how large, and how it learns.
///
/// ```
/// use ripkit::{IndexOptions, Toolkit, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let options = IndexOptions::default().with_share(3).with_max_bytes(64 << 20);
/// let tools = Toolkit::new(Workspace::open(".")?).with_index(options)?;
/// assert!(tools.index().is_some());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexOptions {
    pub(crate) directory: Option<PathBuf>,
    pub(crate) share: u8,
    pub(crate) max_bytes: usize,
    pub(crate) watched: bool,
    pub(crate) background: bool,
}

/// The share of the text that filters take where the host says nothing, in percent.
const SHARE: u8 = 7;

/// Bytes that an index holds at most where the host says nothing.
const MAX_BYTES: usize = 512 << 20;

impl Default for IndexOptions {
    fn default() -> IndexOptions {
        IndexOptions {
            directory: None,
            share: SHARE,
            max_bytes: MAX_BYTES,
            watched: false,
            background: true,
        }
    }
}

impl IndexOptions {
    /// Keeps the index in a file of this directory too, which must not lie in the workspace. If the
    /// directory is missing it is made when the index is first stored, its parent must exist. Every process that names it shares the file, whatever its
    /// workspace. Default: in memory only.
    pub fn stored_in(mut self, directory: impl AsRef<Path>) -> IndexOptions {
        self.directory = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets how much room filters take, in percent of the text, from 3 to 8; with less room more
    /// files are opened in vain. Default: 7.
    pub fn with_share(mut self, percent: u8) -> IndexOptions {
        self.share = percent.clamp(3, 8);
        self
    }

    /// Sets how many bytes the index holds in memory at most, or so; what finds no room is
    /// searched without it. What is read from a stored index takes room only when it is
    /// rearranged. Default: 512 MiB.
    pub fn with_max_bytes(mut self, bytes: usize) -> IndexOptions {
        self.max_bytes = bytes;
        self
    }

    /// Asks the operating system what changes, instead of looking at every file by its stamp:
    /// for processes that live long. Where that cannot be had (only Linux has it, with the
    /// feature `watch`, and not without limits) files are looked at as before. Default: no.
    ///
    /// Twice a minute a call looks at every file all the same: the system does not tell of
    /// content that is changed through a memory mapping, by another name outside the tree, or by a
    /// handle to a name that is gone.
    pub fn watched(mut self) -> IndexOptions {
        self.watched = true;
        self
    }

    /// Learns only within calls, of which it takes a sixteenth of the time, and when it is told to
    /// ([`Index::build`](crate::Index::build)): for processes that end soon. Default: a thread
    /// learns what is left when a call is over, and rearranges what is known so that searches come
    /// sooner.
    pub fn in_the_foreground(mut self) -> IndexOptions {
        self.background = false;
        self
    }
}
