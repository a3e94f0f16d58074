//! Memory-mapped files, for the index only.

use std::io;
use std::ops::Deref;

#[cfg(not(target_os = "wasi"))]
use memmap2::{Mmap as Bytes, MmapOptions};

use super::{File, Kind, not_regular};

/// The bytes of a file, read-only.
///
/// Only for our own files that are written under a temporary name and renamed, never for files of
/// the workspace: reading a mapping beyond the end of a truncated file kills the process.
#[derive(Debug)]
pub(crate) struct Mapping(Bytes);

impl Mapping {
    /// Maps a regular file at its current size.
    pub(crate) fn of(file: &File) -> io::Result<Mapping> {
        let stat = file.stat()?;
        if stat.kind != Kind::File {
            return Err(not_regular());
        }
        let length = usize::try_from(stat.size).map_err(|_| io::ErrorKind::FileTooLarge)?;
        map(file, length).map(Mapping)
    }
}

/// Nothing can be mapped there: the file is read.
#[cfg(target_os = "wasi")]
type Bytes = Vec<u8>;

#[cfg(target_os = "wasi")]
fn map(file: &File, length: usize) -> io::Result<Bytes> {
    file.read_range(0, length, length)
}

#[cfg(not(target_os = "wasi"))]
#[expect(unsafe_code, reason = "no safe call maps a file: the bytes are borrowed from the kernel")]
fn map(file: &File, length: usize) -> io::Result<Bytes> {
    let mut options = MmapOptions::new();
    // SAFETY: the bytes must not change and the file must not become shorter while the map lives.
    // Only our own index is mapped. It is written under a temporary name, closed, and renamed; we
    // replace it by renaming and never write it in place or truncate it, and its owner and mode
    // prevent other users from doing so. Files of the workspace, which any program may change, are
    // never mapped. The map is private and read-only, so nothing is written through it.
    unsafe { options.len(length).map_copy_read_only(file.handle()) }
}

impl Deref for Mapping {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}
