//! Changing what a directory holds, an entry at a time.

use std::io;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};
use cap_std::fs::OpenOptions;

use super::{Dir, File, checked, retry, system};
use crate::os::Rename;

impl Dir {
    /// Makes a file that did not exist, with `mode` less what the umask of the process forbids,
    /// where there is one.
    pub(crate) fn create_file(&self, name: &[u8], mode: u32) -> io::Result<File> {
        let name = checked(name)?;
        let mut options = writing();
        options.create_new(true);
        system::create_with(&mut options, mode);
        retry(|| self.0.open_with(name, &options)).map(File::new)
    }

    /// Opens a file that exists for writing in place.
    pub(crate) fn open_to_write(&self, name: &[u8]) -> io::Result<File> {
        let name = checked(name)?;
        retry(|| self.0.open_with(name, &writing())).map(File::new)
    }

    /// Tells, by an error, why this process may not write the content of a child.
    pub(crate) fn check_writable(&self, name: &[u8]) -> io::Result<()> {
        self.open_to_write(name).map(drop)
    }

    /// Makes a directory, as the umask of the process allows.
    pub(crate) fn make_dir(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        retry(|| self.0.create_dir(name))
    }

    /// Makes a symbolic link that holds `text`.
    pub(crate) fn make_link(&self, text: &[u8], name: &[u8]) -> io::Result<()> {
        system::make_link(&self.0, text, checked(name)?)
    }

    /// Removes an entry that is not a directory.
    pub(crate) fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        retry(|| self.0.remove_file(name))
    }

    /// Removes an empty directory.
    pub(crate) fn remove_dir(&self, name: &[u8]) -> io::Result<()> {
        let name = checked(name)?;
        retry(|| self.0.remove_dir(name))
    }

    /// Gives an entry a name in another directory, or in this one. `Unsupported` for what only
    /// some systems can.
    pub(crate) fn rename(&self, from: &[u8], to: (&Dir, &[u8]), how: Rename) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        match how {
            Rename::Replace => retry(|| self.0.rename(from, &to_dir.0, to)),
            Rename::Exclusive | Rename::Exchange => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Gives a file a second name; fails if there is something of that name.
    pub(crate) fn link(&self, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        retry(|| self.0.hard_link(from, &to_dir.0, to))
    }

    /// Waits until the names in this directory are on stable storage, where that can be asked.
    pub(crate) fn sync(&self) -> io::Result<()> {
        system::sync_directory(&self.0)
    }
}

fn writing() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).follow(FollowSymlinks::No);
    system::never_block(&mut options);
    options
}
