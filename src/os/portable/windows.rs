//! Names are text, and reading at an offset moves the system's position, so we keep our own.

use std::ffi::{OsStr, OsString};
use std::fs::FileTimes;
use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use cap_fs_ext::DirExt;
use cap_std::fs::{Dir, File, FileExt, Metadata, OpenOptions};

/// Bytes that no name holds: separators, and the colon of drives and of alternate streams,
/// which would open `name` under another name.
pub(super) const SPECIAL: &[u8] = b"/\\:\0";

/// Takes text that does not end in a dot or space: `cap-std` lists a directory by its path,
/// where Windows would leave those out and so list another one.
pub(super) fn name(bytes: &[u8]) -> io::Result<&OsStr> {
    match str::from_utf8(bytes) {
        Ok(text) if text == "." || !text.ends_with(['.', ' ']) => Ok(OsStr::new(text)),
        Ok(_) => Err(invalid("the name ends in a dot or space")),
        Err(_) => Err(invalid("the name is not UTF-8")),
    }
}

fn invalid(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// A name that is not Unicode is shown with replacement characters and opens nothing.
pub(super) fn bytes(name: OsString) -> Vec<u8> {
    let text = name.into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned());
    text.into_bytes()
}

/// No name holds `\`, so `/` in its place says the same and is what callers split at.
pub(super) fn link_text(text: PathBuf) -> Vec<u8> {
    let mut text = bytes(text.into_os_string());
    text.iter_mut().filter(|byte| **byte == b'\\').for_each(|byte| *byte = b'/');
    text
}

/// Nothing that a directory holds here blocks when it is opened.
pub(super) fn never_block(_: &mut OpenOptions) {}

/// Opens a child directory for listing; every handle to a directory is good for that.
pub(super) fn open_dir(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    dir.open_dir_nofollow(name)
}

/// New files take their rights from the directory.
pub(super) fn create_with(_: &mut OpenOptions, _: u32) {}

/// The system tells no time but that of the content.
pub(super) fn changed(_: &Metadata) -> Option<i128> {
    None
}

/// The one permission of a file, as bits.
pub(super) fn mode(metadata: &Metadata) -> u32 {
    if metadata.permissions().readonly() { 0o444 } else { 0o666 }
}

/// Sets the one permission of a file.
pub(super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    let mut permissions = file.metadata()?.permissions();
    permissions.set_readonly(mode & 0o222 == 0);
    file.set_permissions(permissions)
}

/// Who may write a file is up to the directory.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Unix")]
pub(super) fn is_own(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Takes over the one permission; rights come from the directory.
pub(super) fn take_attributes(to: &File, from: &File) -> io::Result<Vec<&'static str>> {
    set_mode(to, mode(&from.metadata()?))?;
    Ok(Vec::new())
}

/// Takes over the times of the last access and change.
pub(super) fn take_times(to: &File, from: &File) -> io::Result<()> {
    let from = from.metadata()?;
    let times = FileTimes::new();
    let times = times.set_accessed(from.accessed()?.into_std());
    let times = times.set_modified(from.modified()?.into_std());
    to.try_clone()?.into_std().set_times(times)
}

/// A lock here would also keep others from reading, so none is taken.
pub(super) fn try_lock(_: &File) -> io::Result<bool> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Links need a privilege and the kind of their target: none is made.
pub(super) fn make_link(_: &Dir, _: &[u8], _: &OsStr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The file system keeps its names in a journal of its own.
pub(super) fn sync_directory(_: &Dir) -> io::Result<()> {
    Ok(())
}

/// An opened file and where to read on.
#[derive(Debug)]
pub(super) struct Handle {
    file: File,
    position: Mutex<u64>,
}

impl Handle {
    /// A handle that reads from the start.
    pub(super) fn new(file: File) -> Handle {
        Handle { file, position: Mutex::new(0) }
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Reads from where the last read ended.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut position = self.position.lock().unwrap_or_else(PoisonError::into_inner);
        let count = self.read_at(buffer, *position)?;
        *position += count as u64;
        Ok(count)
    }

    /// Reads at `offset` without moving.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.file.seek_read(buffer, offset)
    }

    /// Writes at `offset`.
    pub(super) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        self.file.seek_write(bytes, offset)
    }
}
