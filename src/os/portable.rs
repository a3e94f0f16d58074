//! Every system but Linux: handles by `cap-std`, which asks the system itself where it contains
//! paths and goes name by name where it does not.
//!
//! `--cfg ripkit_portable` puts it in the place of `linux` on Linux, for tests.

mod change;
mod file;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, Prefix};
use std::time::SystemTime;

use cap_fs_ext::{DirExt, FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{FileType, Metadata, OpenOptions};

use crate::os::{Identity, Kind, Stat, Volume, canonical, not_regular};

pub(crate) use file::{File, Lease};

/// How often a call that a signal interrupted is tried again.
const RETRIES: usize = 64;

/// A directory handle.
#[derive(Debug)]
pub(crate) struct Dir(cap_std::fs::Dir);

impl Dir {
    /// Opens a directory by a path that the host names, following links.
    pub(crate) fn open_ambient(path: &Path) -> io::Result<Dir> {
        Dir::ambient(path)?.open_dir(b".")
    }

    /// Opens a child directory for passing through; where the system has handles for that, it
    /// need not be readable.
    pub(crate) fn traverse(&self, name: &[u8]) -> io::Result<Dir> {
        let name = checked(name)?;
        retry(|| self.0.open_dir_nofollow(name)).map(Dir)
    }

    /// Opens a child directory for listing; `.` opens this one anew.
    pub(crate) fn open_dir(&self, name: &[u8]) -> io::Result<Dir> {
        let name = checked(name)?;
        retry(|| system::open_dir(&self.0, name)).map(Dir)
    }

    /// Opens a descendant directory for passing through, without any link on the way.
    pub(crate) fn descend(&self, path: &[u8]) -> io::Result<Dir> {
        let mut names = path.split(|byte| *byte == b'/');
        let first = names.next().unwrap_or(b".");
        names.try_fold(self.traverse(first)?, |dir, name| dir.traverse(name))
    }

    /// Opens a child for reading. A FIFO or device does not block; [`File::stat`] tells it.
    pub(crate) fn open_file(&self, name: &[u8]) -> io::Result<File> {
        let options = reading();
        let path = checked(name)?;
        match retry(|| self.0.open_with(path, &options)) {
            Ok(file) => Ok(File::new(file)),
            // Unix opens directories like files and leaves the refusal to the caller.
            Err(_) if cfg!(windows) && self.is_directory(name) => Err(not_regular()),
            Err(error) => Err(error),
        }
    }

    /// The facts about a child.
    pub(crate) fn stat(&self, name: &[u8]) -> io::Result<Stat> {
        Ok(facts(&self.0.symlink_metadata(checked(name)?)?))
    }

    /// The text of a child that is a symbolic link, with `/` between names; `InvalidInput` if it
    /// is something else.
    pub(crate) fn read_link(&self, name: &[u8]) -> io::Result<Vec<u8>> {
        match self.0.read_link_contents(checked(name)?) {
            Ok(text) => Ok(system::link_text(text)),
            Err(_) if self.stat(name).is_ok_and(|stat| stat.kind != Kind::Link) => {
                Err(io::Error::new(io::ErrorKind::InvalidInput, "not a symbolic link"))
            }
            Err(error) => Err(error),
        }
    }

    /// Calls `each` with the name and kind of every entry, in no order, until it breaks.
    pub(crate) fn list(
        &self,
        mut each: impl FnMut(&[u8], Kind) -> ControlFlow<()>,
    ) -> io::Result<()> {
        for entry in retry(|| self.0.entries())? {
            let entry = entry?;
            let name = system::bytes(entry.file_name());
            let kind = match entry.file_type() {
                Ok(known) if known != FileType::unknown() => kind(known),
                // Some file systems do not say; an entry that vanished meanwhile is left out.
                _ => match self.stat(&name) {
                    Ok(stat) => stat.kind,
                    Err(_) => continue,
                },
            };
            if each(&name, kind).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// What the file system of this directory promises, which only Linux tells.
    #[expect(clippy::unused_self, reason = "the same signature as on Linux")]
    pub(crate) fn volume(&self) -> Volume {
        Volume::Other
    }

    /// A handle to the root of the file system; of the current drive where there are drives.
    pub(crate) fn root_of_host() -> io::Result<Dir> {
        Dir::ambient(Path::new("/"))
    }

    fn ambient(path: &Path) -> io::Result<Dir> {
        if cfg!(windows) && !on_drive(path) {
            let why = "a directory that is not on a drive, such as a network share";
            return Err(io::Error::new(io::ErrorKind::Unsupported, why));
        }
        retry(|| cap_std::fs::Dir::open_ambient_dir(path, ambient_authority())).map(Dir)
    }

    fn is_directory(&self, name: &[u8]) -> bool {
        self.stat(name).is_ok_and(|stat| stat.kind == Kind::Directory)
    }
}

#[cfg(all(unix, feature = "command"))]
impl std::os::fd::AsFd for Dir {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// The options of every open: read, never follow the last link, never block.
fn reading() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).follow(FollowSymlinks::No);
    system::never_block(&mut options);
    options
}

/// Takes one name and nothing that the system would read as more than that.
fn checked(name: &[u8]) -> io::Result<&OsStr> {
    if name == b".." || name.iter().any(|byte| system::SPECIAL.contains(byte)) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a single name"));
    }
    system::name(name)
}

/// Tells whether a path is on a drive, or nowhere. On Windows `cap-std` lists a directory by its
/// path and gets it wrong for one that begins with anything else.
fn on_drive(path: &Path) -> bool {
    let Ok(canonical) = canonical(path) else { return true };
    match canonical.components().next() {
        Some(Component::Prefix(prefix)) => {
            matches!(prefix.kind(), Prefix::Disk(_) | Prefix::VerbatimDisk(_))
        }
        _ => false,
    }
}

/// Calls again what a signal interrupted.
fn retry<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    for _ in 0..RETRIES {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
    Err(io::ErrorKind::Interrupted.into())
}

fn facts(metadata: &Metadata) -> Stat {
    // A file system without times counts as one that never changes.
    let modified = metadata.modified().map_or(0, |time| nanoseconds(time.into_std()));
    Stat {
        kind: kind(metadata.file_type()),
        size: metadata.len(),
        modified,
        changed: system::changed(metadata).unwrap_or(modified),
        identity: Identity { device: metadata.dev(), inode: metadata.ino() },
        links: metadata.nlink(),
        mode: system::mode(metadata),
    }
}

/// Nanoseconds since 1970; negative before.
fn nanoseconds(time: SystemTime) -> i128 {
    let (sign, apart) = match time.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(after) => (1, after),
        Err(before) => (-1, before.duration()),
    };
    sign * (i128::from(apart.as_secs()) * 1_000_000_000 + i128::from(apart.subsec_nanos()))
}

fn kind(file_type: FileType) -> Kind {
    if file_type.is_symlink() {
        Kind::Link
    } else if file_type.is_dir() {
        Kind::Directory
    } else if file_type.is_file() {
        Kind::File
    } else {
        Kind::Special
    }
}
