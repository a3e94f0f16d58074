//! A SKILL.md, opened to be read a piece at a time.

use std::io::{self, BufReader, Read};

use crate::error::{Error, ErrorCode};
use crate::workspace::{File, WorkspacePath};

/// The largest SKILL.md that is loaded, in bytes.
pub const MAX_SKILL_BYTES: u64 = 1 << 20;

/// How much is read at a time, so that of most skills only one piece is.
const PIECE: usize = 4096;

/// A SKILL.md, opened to be read a piece at a time.
#[derive(Debug)]
pub(super) struct Opened(File);

impl Opened {
    /// Opens a regular file of a bearable size.
    ///
    /// # Errors
    /// `INVALID_PATH` for what is no regular file, `TOO_LARGE`, and failures to open.
    pub(super) fn open(path: &WorkspacePath) -> Result<Opened, Error> {
        if !path.is_file() {
            let message = "it is no regular file, and only those are read";
            return Err(Error::new(ErrorCode::InvalidPath, message));
        }
        let file = path.open_file()?;
        let stat = file.stat().map_err(|reason| Error::io("examine", path.as_str(), reason))?;
        if stat.size > MAX_SKILL_BYTES { Err(too_large(stat.size)) } else { Ok(Opened(file)) }
    }

    pub(super) fn reader(&self) -> BufReader<&Opened> {
        BufReader::with_capacity(PIECE, self)
    }
}

impl Read for &Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

pub(super) fn too_large(bytes: u64) -> Error {
    let message = format!("a SKILL.md of {bytes} bytes is over {MAX_SKILL_BYTES}");
    Error::new(ErrorCode::TooLarge, message)
}
