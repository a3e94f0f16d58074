//! Names are text, and reading at an offset moves the system's position, so we keep our own.

use std::ffi::{OsStr, OsString};
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

/// A file and where to read on.
#[derive(Debug)]
pub(super) struct Reader {
    file: File,
    position: Mutex<u64>,
}

impl Reader {
    /// A reader at the start of a file.
    pub(super) fn new(file: File) -> Reader {
        Reader { file, position: Mutex::new(0) }
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

    /// The facts about the file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.file.metadata()
    }
}
