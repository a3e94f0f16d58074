//! WASI (preview 1), through `rustix`: the runtime opened the directories that the program may use, and
//! there are no threads, locks, users or permissions.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Timespec, Timestamps};

use crate::os::{Identity, Kind, Rename, Stat, checked_count};

/// Flags of every open of a child: never follow the last link, never block.
const SAFE: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);

/// The permissions of new entries, which the runtime ignores.
const MODE: Mode = Mode::empty();

/// The absolute path of a directory or file named by the host. Relative paths begin at `/`, and the
/// links in it, which cannot be resolved here, are kept.
pub(super) fn canonical(path: &Path) -> io::Result<PathBuf> {
    let mut canonical = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => canonical.push(name),
            Component::ParentDir => drop(canonical.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    rustix::fs::stat(path)?;
    Ok(canonical)
}

/// A directory handle.
#[derive(Debug)]
pub struct Dir(OwnedFd);

impl Dir {
    /// Opens a directory by a path from the host, following links.
    pub fn open_ambient(path: &Path) -> io::Result<Dir> {
        Ok(Dir(rustix::fs::open(path, OFlags::RDONLY | OFlags::DIRECTORY, MODE)?))
    }

    /// Opens the root of the file system, if the runtime allows it.
    pub fn root_of_host() -> io::Result<Dir> {
        Dir::open_ambient(Path::new("/"))
    }

    /// Opens a child directory as a base for other calls.
    pub fn traverse(&self, name: &[u8]) -> io::Result<Dir> {
        self.open_dir(name)
    }

    /// Opens a child directory for listing; `.` reopens this one.
    pub fn open_dir(&self, name: &[u8]) -> io::Result<Dir> {
        self.open(name, OFlags::RDONLY | OFlags::DIRECTORY).map(Dir)
    }

    /// Always an error: a handle does not lead above its directory.
    pub fn parent(&self) -> io::Result<Dir> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Opens a child for reading; check [`File::stat`].
    pub fn open_file(&self, name: &[u8]) -> io::Result<File> {
        self.open(name, OFlags::RDONLY).map(File)
    }

    /// The metadata of a child.
    pub fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(to_stat(&rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)?))
    }

    /// The target of a symbolic link; `EINVAL` if the child is not one.
    pub fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        Ok(rustix::fs::readlinkat(&self.0, name, Vec::new())?.into_bytes())
    }

    /// Calls `each` with the name and kind of every entry, unordered, until it breaks.
    pub fn list(&self, mut each: impl FnMut(&[u8], Kind) -> ControlFlow<()>) -> io::Result<()> {
        for entry in rustix::fs::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            if each(name, kind(entry.file_type())).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// Creates a file that must not exist.
    pub fn create_file(&self, name: &[u8], _mode: u32) -> io::Result<File> {
        self.open(name, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL).map(File)
    }

    /// Opens an existing file for writing in place.
    pub fn open_to_write(&self, name: &[u8]) -> io::Result<File> {
        self.open(name, OFlags::RDWR).map(File)
    }

    /// Returns an error if this process may not write to a child.
    pub(crate) fn check_writable(&self, name: &[u8]) -> io::Result<()> {
        self.open_to_write(name).map(drop)
    }

    /// Always `Ok`: permissions are known only when they are used.
    #[expect(
        clippy::unnecessary_wraps,
        clippy::unused_self,
        reason = "the same signature as on Linux"
    )]
    pub(crate) fn check_changeable(&self) -> io::Result<()> {
        Ok(())
    }

    /// Always `Unsupported`: there are no locks.
    pub fn try_lock(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Creates a directory.
    pub fn make_dir(&self, name: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::mkdirat(&self.0, checked(name)?, MODE)?)
    }

    /// Creates a symbolic link with the target `text`.
    pub fn make_link(&self, text: &[u8], name: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(text, &self.0, checked(name)?)?)
    }

    /// Removes an entry that is not a directory.
    pub fn remove_file(&self, name: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, checked(name)?, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_dir(&self, name: &[u8]) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, checked(name)?, AtFlags::REMOVEDIR)?)
    }

    /// Renames an entry, within this directory or to another one. `Unsupported` unless `how` is
    /// `Replace`.
    pub fn rename(&self, from: &[u8], to: (&Dir, &[u8]), how: Rename) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        match how {
            Rename::Replace => Ok(rustix::fs::renameat(&self.0, from, &to_dir.0, to)?),
            Rename::Exclusive | Rename::Exchange => Err(io::ErrorKind::Unsupported.into()),
        }
    }

    /// Creates a hard link; fails if the new name exists.
    pub fn link(&self, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
        let (from, to_dir, to) = (checked(from)?, to.0, checked(to.1)?);
        Ok(rustix::fs::linkat(&self.0, from, &to_dir.0, to, AtFlags::empty())?)
    }

    /// Does nothing: runtimes synchronize only files.
    pub fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    fn open(&self, name: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        Ok(rustix::fs::openat(&self.0, checked(name)?, flags | SAFE, MODE)?)
    }
}

/// An opened file.
#[derive(Debug)]
pub struct File(OwnedFd);

impl File {
    /// Reads at the current position; returns 0 at the end.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = rustix::io::read(&self.0, &mut *buffer)?;
        checked_count(count, buffer)
    }

    /// Reads at `offset` without moving the position; returns 0 at the end.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let count = rustix::io::pread(&self.0, &mut *buffer, offset)?;
        checked_count(count, buffer)
    }

    /// The metadata of the file.
    pub fn stat(&self) -> io::Result<Stat> {
        Ok(to_stat(&rustix::fs::fstat(&self.0)?))
    }

    /// Always true: there are no users.
    pub fn is_own(&self) -> io::Result<bool> {
        Ok(true)
    }

    /// Writes at `offset`; returns how many bytes were written, which may be fewer.
    pub(super) fn write_some_at(&self, bytes: &[u8], offset: u64) -> io::Result<usize> {
        Ok(rustix::io::pwrite(&self.0, bytes, offset)?)
    }

    /// Truncates or extends the file.
    pub fn set_size(&self, size: u64) -> io::Result<()> {
        Ok(rustix::fs::ftruncate(&self.0, size)?)
    }

    /// Waits until content and size are on stable storage.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    /// Does nothing: there are no permissions.
    pub fn set_mode(&self, _mode: u32) -> io::Result<()> {
        Ok(())
    }

    /// Does nothing: there are no owners, attributes and permissions.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as on Linux")]
    pub(crate) fn copy_attributes(&self, _from: &File) -> io::Result<Vec<&'static str>> {
        Ok(Vec::new())
    }

    /// Copies the times of the last access and modification.
    pub(crate) fn copy_times(&self, from: &File) -> io::Result<()> {
        let stat = rustix::fs::fstat(&from.0)?;
        let times = Timestamps {
            last_access: Timespec { tv_sec: stat.st_atim.tv_sec, tv_nsec: stat.st_atim.tv_nsec },
            last_modification: Timespec {
                tv_sec: stat.st_mtim.tv_sec,
                tv_nsec: stat.st_mtim.tv_nsec,
            },
        };
        Ok(rustix::fs::futimens(&self.0, &times)?)
    }

    /// Always `Unsupported`: there are no locks.
    pub fn try_lock(&self) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// Rejects everything that is not a single name.
fn checked(name: &[u8]) -> io::Result<&[u8]> {
    if name == b".." || name.contains(&b'/') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(name)
}

fn to_stat(stat: &rustix::fs::Stat) -> Stat {
    let nanoseconds = |seconds: i64, rest| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanoseconds(stat.st_mtim.tv_sec, stat.st_mtim.tv_nsec),
        changed: nanoseconds(stat.st_ctim.tv_sec, stat.st_ctim.tv_nsec),
        identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        links: stat.st_nlink,
        mode: 0o666,
    }
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}
