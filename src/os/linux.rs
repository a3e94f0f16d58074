//! Linux: handles, getdents and openat2, by `rustix`.

mod change;
mod file;
mod lease;
#[cfg(feature = "watch")]
mod watch;

use std::io;
use std::mem::MaybeUninit;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir, ResolveFlags};
use rustix::io::Errno;

#[cfg(test)]
use crate::os::faults;
use crate::os::{Identity, Kind, Stat, Volume};

pub(crate) use file::File;
pub(crate) use lease::Lease;
#[cfg(feature = "watch")]
pub(crate) use watch::Watcher;

/// Flags of every open: close on exec, never follow the last link, never block, never become
/// the controlling terminal.
const SAFE: OFlags =
    OFlags::CLOEXEC.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::NOCTTY);

/// How often a call that a signal or a rename got in the way of is tried again.
const RETRIES: usize = 64;

/// Makes a call, again after a signal.
fn attempt<T>(mut call: impl FnMut() -> Result<T, Errno>) -> io::Result<T> {
    #[cfg(test)]
    faults::strike()?;
    for _ in 0..RETRIES {
        match call() {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
    Err(Errno::INTR.into())
}

/// A directory handle.
#[derive(Debug)]
pub(crate) struct Dir(OwnedFd);

impl Dir {
    /// Opens a directory by a path that the host names, following links.
    pub(crate) fn open_ambient(path: &Path) -> io::Result<Dir> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        attempt(|| rustix::fs::open(path, flags, Mode::empty())).map(Dir)
    }

    /// Opens a child directory for passing through; it need not be readable.
    pub(crate) fn traverse(&self, name: &[u8]) -> io::Result<Dir> {
        self.open(name, OFlags::PATH | OFlags::DIRECTORY).map(Dir)
    }

    /// Opens a child directory for listing; `.` opens this one anew.
    pub(crate) fn open_dir(&self, name: &[u8]) -> io::Result<Dir> {
        self.open(name, OFlags::RDONLY | OFlags::DIRECTORY).map(Dir)
    }

    /// Opens a descendant directory for passing through, without any link on the way.
    ///
    /// One call where the kernel can (5.6 and later), name by name where it cannot.
    pub(crate) fn descend(&self, path: &[u8]) -> io::Result<Dir> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        #[cfg(test)]
        faults::strike()?;
        for _ in 0..RETRIES {
            match rustix::fs::openat2(&self.0, path, flags, Mode::empty(), resolve) {
                Err(Errno::AGAIN | Errno::INTR) => {}
                // A seccomp filter says EPERM for calls that it does not know.
                Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => {
                    return self.step_down(path);
                }
                opened => return Ok(Dir(opened?)),
            }
        }
        Err(Errno::AGAIN.into())
    }

    fn step_down(&self, path: &[u8]) -> io::Result<Dir> {
        let mut names = path.split(|byte| *byte == b'/');
        let first = names.next().unwrap_or(b".");
        names.try_fold(self.traverse(first)?, |dir, name| dir.traverse(name))
    }

    /// Opens a child for reading. A FIFO or device does not block; [`File::stat`] tells it.
    pub(crate) fn open_file(&self, name: &[u8]) -> io::Result<File> {
        self.open(name, OFlags::RDONLY).map(File::new)
    }

    /// The facts about a child.
    pub(crate) fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        let stat = attempt(|| rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW))?;
        Ok(facts(&stat))
    }

    /// The text of a child that is a symbolic link; `EINVAL` if it is something else.
    pub(crate) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        let text = attempt(|| rustix::fs::readlinkat(&self.0, name, Vec::new()))?;
        Ok(text.into_bytes())
    }

    /// Calls `each` with the name and kind of every entry, in no order, until it breaks.
    pub(crate) fn list(
        &self,
        mut each: impl FnMut(&[u8], Kind) -> ControlFlow<()>,
    ) -> io::Result<()> {
        #[cfg(test)]
        faults::strike()?;
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut entries = RawDir::new(&self.0, &mut buffer);
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            if name == b"." || name == b".." {
                continue;
            }
            let kind = match entry.file_type() {
                // Some file systems do not say; an entry that vanished meanwhile is left out.
                FileType::Unknown => match self.stat(name) {
                    Ok(stat) => stat.kind,
                    Err(_) => continue,
                },
                known => kind(known),
            };
            if each(name, kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What the file system of this directory promises.
    pub(crate) fn volume(&self) -> Volume {
        volume_of(&self.0)
    }

    fn open(&self, name: &[u8], flags: OFlags) -> io::Result<OwnedFd> {
        let name = checked(name)?;
        attempt(|| rustix::fs::openat(&self.0, name, flags | SAFE, Mode::empty()))
    }

    /// A second handle to the directory that the host opened.
    pub(crate) fn root_of_host() -> io::Result<Dir> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        attempt(|| rustix::fs::openat(CWD, "/", flags, Mode::empty())).map(Dir)
    }
}

#[cfg(feature = "command")]
impl std::os::fd::AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Takes one name and nothing that would lead elsewhere.
fn checked(name: &[u8]) -> io::Result<&[u8]> {
    if name == b".." || name.contains(&b'/') {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    Ok(name)
}

fn volume_of(handle: &OwnedFd) -> Volume {
    match rustix::fs::fstatfs(handle) {
        Ok(facts) => volume(facts.f_type),
        Err(_) => Volume::Other,
    }
}

/// The magic numbers of `statfs(2)`.
fn volume(magic: i64) -> Volume {
    match magic {
        // ext, xfs, btrfs, tmpfs, f2fs, zfs, overlayfs
        0xEF53 | 0x5846_5342 | 0x9123_683E | 0x0102_1994 | 0xF2F5_2010 | 0x2FC1_2FC1
        | 0x794C_7630 => Volume::Disk,
        // proc, sysfs, debugfs, tracefs, devpts, cgroup2, cgroup
        0x9FA0 | 0x6265_6572 | 0x6462_6720 | 0x7472_6163 | 0x1CD1 | 0x6367_7270 | 0x0027_E0EB
        // configfs, securityfs, pstore, efivarfs, bpf, selinuxfs, binfmt_misc, mqueue
        | 0x6265_6570 | 0x7363_6673 | 0x6165_676C | 0xDE5E_81E4 | 0xCAFE_4A11 | 0xF97C_FF8C
        | 0x4249_4E4D | 0x1980_0202 => Volume::Pseudo,
        _ => Volume::Other,
    }
}

fn facts(stat: &rustix::fs::Stat) -> Stat {
    Stat {
        kind: kind(FileType::from_raw_mode(stat.st_mode)),
        size: u64::try_from(stat.st_size).unwrap_or(0),
        modified: nanoseconds(stat.st_mtime, stat.st_mtime_nsec),
        changed: nanoseconds(stat.st_ctime, stat.st_ctime_nsec),
        identity: Identity { device: stat.st_dev, inode: stat.st_ino },
        links: stat.st_nlink,
        mode: stat.st_mode & 0o7777,
    }
}

fn nanoseconds(seconds: impl Into<i128>, rest: impl Into<i128>) -> i128 {
    seconds.into() * 1_000_000_000 + rest.into()
}

fn kind(file_type: FileType) -> Kind {
    match file_type {
        FileType::RegularFile => Kind::File,
        FileType::Directory => Kind::Directory,
        FileType::Symlink => Kind::Link,
        _ => Kind::Special,
    }
}
