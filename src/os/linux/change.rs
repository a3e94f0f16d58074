//! Changing what a directory holds, an entry at a time.

use std::io;

use rustix::fs::{Access, AtFlags, Mode, OFlags, RenameFlags};

use super::{Dir, File, SAFE, attempt, checked};
use crate::os::Rename;

impl Dir {
    /// Makes a file that did not exist, with `mode` less what the umask of the process forbids.
    pub(crate) fn create_file(&self, name: &[u8], mode: u32) -> io::Result<File> {
        let name = checked(name)?;
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | SAFE;
        let mode = Mode::from_raw_mode(mode);
        attempt(|| rustix::fs::openat(&self.0, name, flags, mode)).map(File::new)
    }

    /// Opens a file that exists for writing in place.
    pub(crate) fn open_to_write(&self, name: &[u8]) -> io::Result<File> {
        self.open(name, OFlags::RDWR).map(File::new)
    }

    /// Tells, by an error, why this process may not write the content of a child.
    pub(crate) fn check_writable(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        // Only the real user is asked; a process with two users learns the rest when it renames.
        attempt(|| rustix::fs::accessat(&self.0, name, Access::WRITE_OK, AtFlags::empty()))
    }

    /// Makes a directory, as the umask of the process allows.
    pub(crate) fn make_dir(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        attempt(|| rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)))
    }

    /// Makes a symbolic link that holds `text`.
    pub(crate) fn make_link(&self, text: &[u8], name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        attempt(|| rustix::fs::symlinkat(text, &self.0, name))
    }

    /// Removes an entry that is not a directory.
    pub(crate) fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        attempt(|| rustix::fs::unlinkat(&self.0, name, AtFlags::empty()))
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        attempt(|| rustix::fs::unlinkat(&self.0, name, AtFlags::REMOVEDIR))
    }

    /// Gives an entry a name in another directory, or in this one.
    pub(crate) fn rename(&self, from: &[u8], to: (&Dir, &[u8]), how: Rename) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        let flags = match how {
            Rename::Replace => RenameFlags::empty(),
            Rename::Exclusive => RenameFlags::NOREPLACE,
            Rename::Exchange => RenameFlags::EXCHANGE,
        };
        attempt(|| rustix::fs::renameat_with(&self.0, from, &to_dir.0, to, flags))
    }

    /// Gives a file a second name; fails if there is something of that name.
    pub(crate) fn link(&self, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        attempt(|| rustix::fs::linkat(&self.0, from, &to_dir.0, to, AtFlags::empty()))
    }

    /// Waits until the names in this directory are on stable storage.
    pub(crate) fn sync(&self) -> io::Result<()> {
        // A handle for passing through cannot be synced.
        let readable = self.open(b".", OFlags::RDONLY | OFlags::DIRECTORY)?;
        attempt(|| rustix::fs::fsync(&readable))
    }
}
