//! The ground floor: the only place that names the operating system.
//!
//! Everything is relative to a directory handle and takes one name, never a path with `/`, and
//! never follows a symbolic link; [`Dir::descend`] is the one call that takes several names.
//! Nothing here knows about policy: [`workspace`](crate::workspace) is the only caller that may
//! turn text into a handle.

#[cfg(unix)]
mod attributes;
#[cfg(all(test, target_os = "linux", not(ripkit_portable)))]
pub(crate) mod faults;
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod linux;
mod mapping;
#[cfg(any(not(target_os = "linux"), ripkit_portable))]
mod portable;
#[cfg(all(unix, feature = "command"))]
pub(crate) mod process;
pub(crate) mod watch;

#[cfg(test)]
mod tests;

#[cfg(all(target_os = "linux", not(ripkit_portable)))]
pub(crate) use linux::{Dir, File, Lease};
#[cfg(any(not(target_os = "linux"), ripkit_portable))]
pub(crate) use portable::{Dir, File, Lease};

pub(crate) use mapping::Mapping;

use std::io;
use std::path::{Path, PathBuf};

/// What a directory entry is, without following links.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A FIFO, socket or device.
    Special,
}

/// What the file system of a directory promises about its files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// A read that gives less than was asked for has reached the end of the file.
    Disk,
    /// The files are made by the kernel as they are read; some never end.
    Pseudo,
    /// Nothing is known.
    Other,
}

/// The facts about one entry that the tools use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    /// What it is.
    pub(crate) kind: Kind,
    /// Bytes of a regular file.
    pub(crate) size: u64,
    /// Nanoseconds of the last change of the content since 1970; negative before.
    pub(crate) modified: i128,
    /// The same for any change, where the system tells; else that of the content.
    pub(crate) changed: i128,
    /// Which file it is, whatever its name.
    pub(crate) identity: Identity,
    /// How many names it has.
    pub(crate) links: u64,
    /// The permission bits.
    pub(crate) mode: u32,
}

impl Stat {
    /// Tells whether both are of one file with the same content, as far as facts tell. The time of
    /// any change is not asked: a rename sets it.
    pub(crate) fn is_alike(&self, other: &Stat) -> bool {
        let known = |stat: &Stat| (stat.identity, stat.kind, stat.size, stat.modified);
        known(self) == known(other)
    }

    /// Tells whether its permissions let nobody write it.
    pub(crate) fn is_read_only(&self) -> bool {
        self.mode & 0o222 == 0
    }
}

/// Which file it is: two names of one file have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Identity {
    pub(crate) device: u64,
    pub(crate) inode: u64,
}

/// What a rename does about an entry that has the new name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rename {
    /// Takes its place.
    Replace,
    /// Fails.
    Exclusive,
    /// Gives it the old name.
    Exchange,
}

/// The absolute path without links of a directory that the host names, for messages and for
/// recognising absolute paths; containment never rests on it.
pub(crate) fn canonical(path: &Path) -> io::Result<PathBuf> {
    #[expect(clippy::disallowed_methods, reason = "os is the floor that may")]
    std::fs::canonicalize(path)
}

/// Reads at most `limit` bytes of a file that the host names, outside any workspace.
///
/// Anything but a regular file is an error, and opening it does not block.
pub(crate) fn read_ambient(path: &Path, limit: usize) -> io::Result<Vec<u8>> {
    let path = canonical(path)?;
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Dir::open_ambient(parent)?.open_file(name.as_encoded_bytes())?.read_up_to(limit)
}

/// Tells whether a path that the host names exists, without following a final link.
pub(crate) fn exists_ambient(path: &Path) -> bool {
    #[expect(clippy::disallowed_methods, reason = "os is the floor that may")]
    std::fs::symlink_metadata(path).is_ok()
}

/// Tells whether a path that the host names is a directory, following links.
pub(crate) fn is_directory_ambient(path: &Path) -> bool {
    #[expect(clippy::disallowed_methods, reason = "os is the floor that may")]
    std::fs::metadata(path).is_ok_and(|metadata| metadata.is_dir())
}

/// Whether others are kept from opening a file for writing.
#[derive(Debug)]
#[cfg_attr(any(not(target_os = "linux"), ripkit_portable), expect(dead_code))]
pub(crate) enum Leased<'a> {
    /// They wait as long as this is held.
    Held(Lease<'a>),
    /// Somebody has it open for writing.
    Busy,
    /// Neither can be told.
    Unknown,
}

impl File {
    /// Reads a regular file from its start, at most `limit` bytes.
    pub(crate) fn read_up_to(&self, limit: usize) -> io::Result<Vec<u8>> {
        if self.stat()?.kind != Kind::File {
            return Err(not_regular());
        }
        self.read_range(0, limit, 64 * 1024)
    }

    /// Reads from `offset` to the end of the file, at most `limit` bytes. `size_hint` is how many
    /// bytes are expected.
    pub(crate) fn read_range(
        &self,
        offset: u64,
        limit: usize,
        size_hint: usize,
    ) -> io::Result<Vec<u8>> {
        // With one byte more, a file of the expected size is read without growing the buffer.
        let mut bytes = vec![0; size_hint.saturating_add(1).min(limit)];
        let mut length = 0;
        while length < limit {
            if length == bytes.len() {
                bytes.resize(length.saturating_mul(2).clamp(length + 1, limit), 0);
            }
            let (_, room) = bytes.split_at_mut(length);
            let count = self.read_full_at(room, offset + length as u64)?;
            let (_, unread) = split_at_count(room, count)?;
            length += count;
            if !unread.is_empty() {
                break;
            }
        }
        bytes.truncate(length);
        Ok(bytes)
    }

    /// Reads at `offset` until the buffer is full or the file ends. Returns the number of bytes as the
    /// file system reports it; a faulty one may report more than the buffer has.
    pub(crate) fn read_full_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut length = 0;
        while let Some(room) = buffer.get_mut(length..).filter(|room| !room.is_empty()) {
            match self.read_at(room, offset + length as u64)? {
                0 => break,
                count => length += count,
            }
        }
        Ok(length)
    }
}

/// Splits a buffer after the `count` bytes that the system says it read or wrote.
///
/// # Errors
/// If `count` is larger than the buffer: file systems in user space may return anything.
pub(crate) fn split_at_count(buffer: &[u8], count: usize) -> io::Result<(&[u8], &[u8])> {
    let why = "the system tells of more bytes than it was given room for";
    buffer.split_at_checked(count).ok_or_else(|| io::Error::other(why))
}

/// The error for a FIFO, socket, device or directory where a regular file is needed.
pub(crate) fn not_regular() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "not a regular file")
}
