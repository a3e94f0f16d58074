//! A control group for one command, which contains all processes that it starts and kills them at
//! once.

use std::io;
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use memchr::memmem;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawDir};

/// How often to check whether the group is empty.
const TICK: Duration = Duration::from_millis(1);

/// How many levels of nested groups are removed.
const MAX_DEPTH: usize = 16;

/// A group below a directory that the host provides. When dropped, it is removed if it is empty.
#[derive(Debug)]
pub(crate) struct ControlGroup {
    parent: OwnedFd,
    name: String,
    group: OwnedFd,
    kill: OwnedFd,
}

impl ControlGroup {
    /// Creates the group `name` in `directory`, a directory of a cgroup v2 file system.
    pub(crate) fn make(directory: &Path, name: String) -> io::Result<ControlGroup> {
        let parent = open(&CWD, directory, OFlags::RDONLY | OFlags::DIRECTORY)?;
        rustix::fs::mkdirat(&parent, &name, Mode::from_raw_mode(0o755))?;
        let opened = open(&parent, &name, OFlags::RDONLY | OFlags::DIRECTORY).and_then(|group| {
            // Before 5.14, and in other file systems, there is no such file.
            let kill = open(&group, "cgroup.kill", OFlags::WRONLY)?;
            Ok((group, kill))
        });
        match opened {
            Ok((group, kill)) => Ok(ControlGroup { parent, name, group, kill }),
            Err(error) => {
                let _ = rustix::fs::unlinkat(&parent, &name, AtFlags::REMOVEDIR);
                Err(error)
            }
        }
    }

    /// Opens the `cgroup.procs` file; a process that writes `0` to it joins the group.
    pub(crate) fn entrance(&self) -> io::Result<OwnedFd> {
        open(&self.group, "cgroup.procs", OFlags::WRONLY)
    }

    /// The IDs of its processes, without those in nested groups.
    pub(crate) fn members(&self) -> Vec<i32> {
        let text = self.read("cgroup.procs", 64 * 1024);
        text.split(|byte| *byte == b'\n')
            .filter_map(|line| str::from_utf8(line).ok()?.parse().ok())
            .collect()
    }

    /// Whether no living process is in it or in nested groups.
    pub(crate) fn is_empty(&self) -> bool {
        memmem::find(&self.read("cgroup.events", 4096), b"populated 0").is_some()
    }

    /// Kills all of its processes, and waits until it is empty or `until` has passed.
    pub(crate) fn kill(&self, until: Instant) {
        if self.is_empty() {
            return;
        }
        // An error is ignored: the caller reports the processes that are left.
        let _ = rustix::io::write(&self.kill, b"1");
        while !self.is_empty() && Instant::now() < until {
            thread::sleep(TICK);
        }
    }

    fn read(&self, file: &str, limit: usize) -> Vec<u8> {
        let mut bytes = vec![0; limit];
        let read = open(&self.group, file, OFlags::RDONLY)
            .and_then(|file| Ok(rustix::io::read(file, &mut bytes)?));
        bytes.truncate(read.unwrap_or(0));
        bytes
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // The group stays if background processes were left running in it.
        let _ = remove(&self.parent, self.name.as_bytes(), MAX_DEPTH);
    }
}

fn open(
    at: &impl std::os::fd::AsFd,
    path: impl rustix::path::Arg,
    how: OFlags,
) -> io::Result<OwnedFd> {
    Ok(rustix::fs::openat(at, path, how | OFlags::CLOEXEC, Mode::empty())?)
}

/// Removes a group and its nested groups, bottom up.
fn remove(parent: &OwnedFd, name: &[u8], depth: usize) -> io::Result<()> {
    if let (Ok(group), true) = (open(parent, name, OFlags::RDONLY | OFlags::DIRECTORY), depth > 0) {
        groups(&group, |inner| {
            let removed = remove(&group, inner, depth - 1);
            if removed.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
    }
    Ok(rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

fn groups(group: &OwnedFd, mut each: impl FnMut(&[u8]) -> ControlFlow<()>) {
    let mut buffer = vec![std::mem::MaybeUninit::uninit(); 8 * 1024];
    let mut entries = RawDir::new(group, &mut buffer);
    while let Some(Ok(entry)) = entries.next() {
        let name = entry.file_name().to_bytes();
        let is_group = entry.file_type() == FileType::Directory && name != b"." && name != b"..";
        if is_group && each(name).is_break() {
            break;
        }
    }
}
