//! Names are bytes, and reading at an offset does not move.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use cap_std::fs::{Dir, File, FileExt, Metadata, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

/// Bytes that no name holds.
pub(super) const SPECIAL: &[u8] = b"/\0";

/// Opening a FIFO or device does not wait, and none becomes the controlling terminal.
const NEVER_BLOCK: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Any bytes are a name.
#[expect(clippy::unnecessary_wraps, reason = "the same signature as on Windows")]
pub(super) fn name(bytes: &[u8]) -> io::Result<&OsStr> {
    Ok(OsStr::from_bytes(bytes))
}

/// The bytes of a name.
pub(super) fn bytes(name: OsString) -> Vec<u8> {
    name.into_vec()
}

/// The bytes of a link's text, as they are.
pub(super) fn link_text(text: PathBuf) -> Vec<u8> {
    text.into_os_string().into_vec()
}

/// Makes an open return at once whatever it meets.
pub(super) fn never_block(options: &mut OpenOptions) {
    set_flags(options, NEVER_BLOCK);
}

/// Opens a child directory for listing, which fails here and not later if it is not readable.
pub(super) fn open_dir(dir: &Dir, name: &OsStr) -> io::Result<Dir> {
    let mut options = super::reading();
    set_flags(&mut options, NEVER_BLOCK | OFlags::DIRECTORY);
    Ok(Dir::from_std_file(dir.open_with(name, &options)?.into_std()))
}

fn set_flags(options: &mut OpenOptions, flags: OFlags) {
    options.custom_flags(flags.bits().cast_signed());
}

/// A file and where to read on.
#[derive(Debug)]
pub(super) struct Reader(File);

impl Reader {
    /// A reader at the start of a file.
    pub(super) fn new(file: File) -> Reader {
        Reader(file)
    }

    /// Reads from where the last read ended.
    pub(super) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0).read(buffer)
    }

    /// Reads at `offset` without moving.
    pub(super) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.0.read_at(buffer, offset)
    }

    /// The facts about the file.
    pub(super) fn metadata(&self) -> io::Result<Metadata> {
        self.0.metadata()
    }
}
