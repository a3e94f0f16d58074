//! Copying the content of a file, with its holes.

use std::io;

use crate::context::Call;
use crate::error::Error;
use crate::os::{File, ReadBuffer, Volume};

/// Bytes per read, which is what is copied between two checks.
const BUFFER: usize = 1 << 20;

/// Copies the content to its end, even beyond the `size` that the file system reports. Shares the
/// blocks if the file system can. `check` is called before every read, with its offset.
pub(super) fn copy_content<E: From<io::Error>>(
    from: &File,
    to: &File,
    size: u64,
    check: impl FnMut(u64) -> Result<(), E>,
) -> Result<(), E> {
    if to.share_blocks(from) {
        return Ok(());
    }
    ContentCopy { from, to, size, check, buffer: ReadBuffer::new(BUFFER) }.run()
}

/// Ends a copy that a call is not to finish; [`failed`] makes the error of it.
pub(super) fn check_stop(call: &Call) -> io::Result<()> {
    call.stop_reason().map_or(Ok(()), |_| Err(io::ErrorKind::TimedOut.into()))
}

/// The error of a change that failed while it was prepared, or was ended by [`check_stop`].
pub(super) fn failed(verb: &str, path: &str, error: io::Error, call: &Call) -> Error {
    match call.stop_reason() {
        Some(why) if error.kind() == io::ErrorKind::TimedOut => {
            Error::stopped(why, &format!("{path} was changed")).at(path)
        }
        _ => Error::io(verb, path, error),
    }
}

/// Whether these bytes could be a hole.
fn is_zeros(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| ZEROS.starts_with(chunk))
}

/// A copy of the content of one file in progress.
struct ContentCopy<'a, C> {
    from: &'a File,
    to: &'a File,
    size: u64,
    check: C,
    buffer: ReadBuffer,
}

impl<E: From<io::Error>, C: FnMut(u64) -> Result<(), E>> ContentCopy<'_, C> {
    fn run(&mut self) -> Result<(), E> {
        let mut end = 0;
        // Other file systems may report wrong sizes and holes.
        if self.from.volume() == Volume::Disk {
            end = self.copy_data()?;
        }
        while let Some(next) = self.copy_piece(end, None)? {
            end = next;
        }
        // Zeros at the end were not written.
        Ok(self.to.set_size(end)?)
    }

    /// Copies the ranges that the file system reports as data; returns the offset up to which the
    /// content is known.
    fn copy_data(&mut self) -> Result<u64, E> {
        let mut end = 0;
        while let Some((start, stop)) = self.from.next_data(end)? {
            end = start;
            if stop <= start {
                // An invalid report: read the rest instead.
                return Ok(end);
            }
            while end < stop {
                match self.copy_piece(end, Some(stop - end))? {
                    Some(next) => end = next,
                    // The file was truncated meanwhile.
                    None => return Ok(end),
                }
            }
        }
        // The rest is a hole, unless the file was truncated meanwhile.
        Ok(end.max(self.from.stat()?.size.min(self.size)))
    }

    /// Copies the result of one read of at most `max` bytes; returns the offset behind it, or `None`
    /// at the end of the file. Zeros are not written, so that holes stay holes.
    fn copy_piece(&mut self, at: u64, max: Option<u64>) -> Result<Option<u64>, E> {
        (self.check)(at)?;
        let room = &mut self.buffer[ReadBuffer::position(at)..];
        let max = max.and_then(|max| usize::try_from(max).ok()).unwrap_or(BUFFER);
        let max = max.min(room.len());
        let count = self.from.read_at(&mut room[..max], at)?;
        let bytes = &room[..count];
        if !is_zeros(bytes) {
            self.to.write_at(bytes, at)?;
        }
        Ok((count > 0).then_some(at + count as u64))
    }
}
