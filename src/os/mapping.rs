//! Our own files in memory, read by the kernel as they are touched.

use std::io;
use std::ops::Deref;

use memmap2::{Mmap, MmapOptions};

use super::{File, Kind, not_regular};

/// The bytes of a file, which nobody can change through it.
///
/// Only for files that we write once under another name and then rename, never for a file of the
/// workspace: reading behind the end of one that was cut short ends the process.
#[derive(Debug)]
pub(crate) struct Mapping(Mmap);

impl Mapping {
    /// Maps the whole of a regular file as long as it is now.
    pub(crate) fn of(file: &File) -> io::Result<Mapping> {
        let stat = file.stat()?;
        if stat.kind != Kind::File {
            return Err(not_regular());
        }
        let length = usize::try_from(stat.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        map(file, length).map(Mapping)
    }
}

#[expect(unsafe_code, reason = "no safe call maps a file: the bytes are borrowed from the kernel")]
fn map(file: &File, length: usize) -> io::Result<Mmap> {
    let mut options = MmapOptions::new();
    // SAFETY: the bytes must not change and the file must not become shorter while the map lives.
    // Callers map nothing but our own index. It is written under another name by a handle that is
    // gone when it gets its own, it is replaced by renaming and never written in place or cut by
    // us, and its owner and mode keep other users from doing so. A file of the workspace, which anybody
    // may change, is never mapped. The map is private and read-only, so nothing is written
    // through it.
    unsafe { options.len(length).map_copy_read_only(file.handle()) }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
