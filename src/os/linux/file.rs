//! An opened file: reading, writing, making durable.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{FallocateFlags, FlockOperation, Mode, SeekFrom};
use rustix::io::{Errno, ReadWriteFlags};

use super::{attempt, facts};
use crate::os::{Stat, Volume, attributes, split_at_count};

/// An opened file.
#[derive(Debug)]
pub(crate) struct File(OwnedFd);

/// Reading.
impl File {
    pub(super) fn new(handle: OwnedFd) -> File {
        File(handle)
    }

    /// What the system knows the file by.
    pub(in crate::os) fn handle(&self) -> &OwnedFd {
        &self.0
    }

    /// Reads from where the last read ended; 0 is the end.
    pub(crate) fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        attempt(|| rustix::io::read(&self.0, &mut *buffer))
    }

    /// Reads at `offset` without moving; 0 is the end.
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        attempt(|| rustix::io::pread(&self.0, &mut *buffer, offset))
    }

    /// The facts about the opened file.
    pub(crate) fn stat(&self) -> io::Result<Stat> {
        Ok(facts(&attempt(|| rustix::fs::fstat(&self.0))?))
    }

    /// Tells whether it belongs to the user of this process, or to root, who may do anything.
    pub(crate) fn is_own(&self) -> io::Result<bool> {
        attributes::is_own(self.0.as_fd())
    }

    /// What the file system of this file promises.
    pub(crate) fn volume(&self) -> Volume {
        super::volume_of(&self.0)
    }

    /// Where the next bytes that are not a hole begin and end, from `offset` on; `None` behind
    /// the last. A file system that knows no holes says that all is data.
    pub(crate) fn next_data(&self, offset: u64) -> io::Result<Option<(u64, u64)>> {
        let seek = |to| attempt(|| rustix::fs::seek(&self.0, to));
        match seek(SeekFrom::Data(offset)) {
            Ok(start) => Ok(Some((start, seek(SeekFrom::Hole(start))?))),
            Err(error) if error.raw_os_error() == Some(Errno::NXIO.raw_os_error()) => Ok(None),
            Err(error) if error.raw_os_error() == Some(Errno::INVAL.raw_os_error()) => {
                let size = self.stat()?.size;
                Ok((offset < size).then_some((offset, size)))
            }
            Err(error) => Err(error),
        }
    }
}

/// Writing.
impl File {
    /// Writes all of `bytes` at `offset`.
    pub(crate) fn write_at(&self, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
        while !bytes.is_empty() {
            let count = attempt(|| rustix::io::pwrite(&self.0, bytes, offset))?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            (_, bytes) = split_at_count(bytes, count)?;
            offset += count as u64;
        }
        Ok(())
    }

    /// Writes all of `bytes` at the end of the file in one step; tells where that was. Whatever
    /// others append at the same moment is before or behind it.
    pub(crate) fn append(&self, bytes: &[u8]) -> io::Result<u64> {
        let slices = [io::IoSlice::new(bytes)];
        let flags = ReadWriteFlags::APPEND;
        // The offset -1 stands for the position of the handle, which is then behind what was written.
        let count = attempt(|| rustix::io::pwritev2(&self.0, &slices, u64::MAX, flags))?;
        if count < bytes.len() {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let end = attempt(|| rustix::fs::seek(&self.0, SeekFrom::Current(0)))?;
        end.checked_sub(count as u64).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Cuts or lengthens the file.
    pub(crate) fn set_size(&self, size: u64) -> io::Result<()> {
        attempt(|| rustix::fs::ftruncate(&self.0, size))
    }

    /// Reserves room for `size` bytes without changing what the file holds; a file system that
    /// cannot reserve does nothing.
    pub(crate) fn reserve(&self, size: u64) -> io::Result<()> {
        let reserved =
            attempt(|| rustix::fs::fallocate(&self.0, FallocateFlags::KEEP_SIZE, 0, size));
        match reserved {
            Err(error) if error.raw_os_error() == Some(Errno::OPNOTSUPP.raw_os_error()) => Ok(()),
            other => other,
        }
    }

    /// Waits until content and size are on stable storage.
    pub(crate) fn sync(&self) -> io::Result<()> {
        attempt(|| rustix::fs::fsync(&self.0))
    }

    /// Shares the blocks of `from`, where the file system can; tells whether it did.
    pub(crate) fn share_blocks(&self, from: &File) -> bool {
        attempt(|| rustix::fs::ioctl_ficlone(&self.0, &from.0)).is_ok()
    }

    /// Sets the permission bits.
    pub(crate) fn set_mode(&self, mode: u32) -> io::Result<()> {
        attempt(|| rustix::fs::fchmod(&self.0, Mode::from_raw_mode(mode)))
    }

    /// Takes over owner, extended attributes and permissions; the names of those that could not
    /// be taken are returned.
    pub(crate) fn take_attributes(&self, from: &File) -> io::Result<Vec<&'static str>> {
        attributes::take(self.0.as_fd(), from.0.as_fd())
    }

    /// Takes over the times of the last access and change.
    pub(crate) fn take_times(&self, from: &File) -> io::Result<()> {
        attributes::take_times(self.0.as_fd(), from.0.as_fd())
    }

    /// Locks the file against others who ask for this lock, or tells that somebody holds it.
    /// The lock ends with the handle. `Unsupported` where the file system has no locks.
    pub(crate) fn try_lock(&self) -> io::Result<bool> {
        match attempt(|| rustix::fs::flock(&self.0, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // Network file systems refuse it to handles that only read, or altogether.
            Err(_) => Err(io::ErrorKind::Unsupported.into()),
        }
    }
}
