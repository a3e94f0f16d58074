//! An opened file: reading, writing, making durable.

use std::io;

use super::{facts, retry, system};
use crate::os::{Leased, Stat, Volume, split_at_count};

/// An opened file.
#[derive(Debug)]
pub(crate) struct File(system::Handle);

/// Reading.
impl File {
    pub(super) fn new(file: cap_std::fs::File) -> File {
        File(system::Handle::new(file))
    }

    /// What the system knows the file by.
    pub(in crate::os) fn handle(&self) -> &cap_std::fs::File {
        self.0.file()
    }

    /// Reads from where the last read ended; 0 is the end.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        retry(|| self.0.read(buffer))
    }

    /// Reads at `offset` without moving; 0 is the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        retry(|| self.0.read_at(buffer, offset))
    }

    /// The facts about the opened file.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(facts(&self.0.file().metadata()?))
    }

    /// Tells whether it belongs to the user of this process, or to root, who may do anything;
    /// where files have no such owner the directory decides.
    pub(crate) fn is_own(&self) -> io::Result<bool> {
        system::is_own(self.0.file())
    }

    /// What the file system of this file promises, which only Linux tells.
    #[expect(clippy::unused_self, reason = "the same signature as on Linux")]
    pub(crate) fn volume(&self) -> Volume {
        Volume::Other
    }

    /// Where the next bytes that are not a hole begin and end, from `offset` on; `None` behind
    /// the last. Here all is data.
    pub(crate) fn next_data(&self, offset: u64) -> io::Result<Option<(u64, u64)>> {
        let size = self.stat()?.size;
        Ok((offset < size).then_some((offset, size)))
    }
}

/// What only Linux has.
#[derive(Debug)]
pub(crate) struct Lease<'a>(std::marker::PhantomData<&'a File>);

impl File {
    /// Takes no lease.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn lease(&self) -> Leased<'_> {
        Leased::Unknown
    }

    /// Writes all of `bytes` at the end of the file; tells where that was. What others append at the
    /// same moment may be written over.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let end = self.stat()?.size;
        self.write_at(bytes, end)?;
        Ok(end)
    }
}

impl Lease<'_> {
    /// Tells whether somebody waits to open the file for writing.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn is_awaited(&self) -> bool {
        false
    }
}

/// Writing.
impl File {
    /// Writes all of `bytes` at `offset`.
    pub(crate) fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = retry(|| self.0.write_at(bytes, offset))?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            (_, bytes) = split_at_count(bytes, count)?;
            offset += count as u64;
        }
        Ok(())
    }

    /// Cuts or lengthens the file.
    pub(crate) fn set_size(&self, size: u64) -> io::Result<()> {
        retry(|| self.0.file().set_len(size))
    }

    /// Reserves nothing: not every system can without changing the size.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
    pub(crate) fn reserve(&self, _size: u64) -> io::Result<()> {
        Ok(())
    }

    /// Waits until content and size are on stable storage.
    pub(crate) fn sync(&self) -> io::Result<()> {
        retry(|| self.0.file().sync_all())
    }

    /// Shares no blocks.
    #[expect(clippy::unused_self, reason = "as on Linux")]
    pub(crate) fn share_blocks(&self, _from: &File) -> bool {
        false
    }

    /// Sets the permission bits, as far as the system has them.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        system::set_mode(self.0.file(), mode)
    }

    /// Takes over owner, extended attributes and permissions, as far as the system has them; the
    /// names of those that could not be taken are returned.
    pub(crate) fn take_attributes(&self, from: &File) -> io::Result<Vec<&'static str>> {
        system::take_attributes(self.0.file(), from.0.file())
    }

    /// Takes over the times of the last access and change.
    pub(crate) fn take_times(&self, from: &File) -> io::Result<()> {
        system::take_times(self.0.file(), from.0.file())
    }

    /// Locks the file against others who ask for this lock, or tells that somebody holds it.
    /// The lock ends with the handle. `Unsupported` where the system has no such locks.
    pub(crate) fn try_lock(&self) -> io::Result<bool> {
        system::try_lock(self.0.file())
    }
}
