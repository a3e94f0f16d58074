//! The file that is read: whole blocks by place, and errors that name the path.

use crate::error::{Error, ErrorCode};
use crate::workspace::{File, WorkspacePath};

/// A file opened for content, and its path for messages.
pub(super) struct Source<'a> {
    pub(super) file: &'a File,
    pub(super) path: &'a WorkspacePath,
}

/// What tells that a file changed: its size, and nanoseconds of its last change.
pub(super) type Moment = (u64, i128);

impl Source<'_> {
    /// Reads at `offset` until the buffer is full or the file ends.
    pub(super) fn fill(&self, buffer: &mut [u8], offset: u64) -> Result<usize, Error> {
        let mut length = 0;
        while let Some(room) = buffer.get_mut(length..).filter(|room| !room.is_empty()) {
            match self.file.read_at(room, offset + length as u64) {
                Ok(0) => break,
                Ok(count) => length += count,
                Err(error) => return Err(Error::io("read", self.path.as_str(), error)),
            }
        }
        Ok(length)
    }

    /// The error where a file gives more bytes than there is room for.
    pub(super) fn overrun(&self) -> Error {
        let message = format!("{} cannot be read: its file system miscounts bytes", self.path);
        Error::new(ErrorCode::Internal, message).at(self.path.as_str())
    }

    pub(super) fn moment(&self) -> Result<Moment, Error> {
        let stat = self.file.stat();
        let stat = stat.map_err(|error| Error::io("examine", self.path.as_str(), error))?;
        Ok((stat.size, stat.modified))
    }
}
