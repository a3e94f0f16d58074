//! A file of a skill, opened to be read a piece at a time.

use std::io::{self, BufReader, Read};

use crate::error::{Error, ErrorCode};
use crate::workspace::{File, WorkspacePath};

/// The largest file of a skill that is loaded, its SKILL.md among them, in bytes.
pub const MAX_SKILL_BYTES: u64 = 1 << 20;

/// How much is read at a time, so that of most skills only one piece is.
const PIECE: usize = 4096;

/// A file of a skill, opened to be read a piece at a time.
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

/// Reads to the end of the file at `path`, which may have grown since it was opened.
///
/// # Errors
/// `TOO_LARGE` over [`MAX_SKILL_BYTES`], and failures to read.
pub(super) fn read_rest(reader: impl Read, path: &str) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = reader.take(MAX_SKILL_BYTES + 1).read_to_end(&mut bytes);
    let read = read.map_err(|reason| Error::io("read", path, reason))? as u64;
    if read > MAX_SKILL_BYTES { Err(too_large(read).at(path)) } else { Ok(bytes) }
}

fn too_large(bytes: u64) -> Error {
    let message = format!("a file of a skill has {bytes} bytes; {MAX_SKILL_BYTES} are the limit");
    Error::new(ErrorCode::TooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_grew_over_the_limit_is_refused_rather_than_cut() {
        let endless = || io::repeat(b'x');
        let whole = read_rest(endless().take(MAX_SKILL_BYTES), "SKILL.md").unwrap();
        assert_eq!(whole.len() as u64, MAX_SKILL_BYTES);
        let error = read_rest(endless(), "SKILL.md").unwrap_err();
        assert_eq!((error.code(), error.path()), (ErrorCode::TooLarge, Some("SKILL.md")));
    }
}
