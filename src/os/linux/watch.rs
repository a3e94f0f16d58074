//! inotify, without a thread of its own.
//!
//! An event is in the kernel's queue before the call that caused it returns. Who drains the queue
//! when a search begins therefore sees whatever was finished before; a watcher that hands events
//! on from a thread of its own cannot promise that.
//!
//! The kernel does not tell of
//!
//! - stores through a shared mapping, nor, on older kernels, of `splice`, until both the mapping
//!   and the handle that it was made with are gone;
//! - writes through another name of the file (a hard link) that lies in another directory, nor of
//!   attributes that are set through it;
//! - what is done by a handle to a file whose name in the directory is gone;
//! - a mount over the directory or over an entry of it, nor its removal;
//! - a move of a directory further up: the directory keeps its watch and has another path;
//! - the removal of the directory, for as long as somebody holds a handle to it: the directory
//!   above tells it at once, as a change of its listing;
//! - what other machines do on a network file system, or a program in user space on its own, or
//!   anybody in the layers below an overlay. Only file systems that lie on a local disk or in
//!   memory are watched; the layers cannot be told from here.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

use super::{Dir, attempt, volume};
use crate::os::watch::{Event, WatchId};
use crate::os::{Volume, split_at_count};

/// What is asked for. A handle that could write and is gone counts as a change, for the sake of
/// mappings and `splice`.
const CHANGES: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF);

/// Events that say that a name came or went.
const NAMES: ReadFlags = ReadFlags::CREATE
    .union(ReadFlags::DELETE)
    .union(ReadFlags::MOVED_FROM)
    .union(ReadFlags::MOVED_TO);

/// Where the kernel shows the handles of the thread that asks, which may have a table of its own.
const HANDLES: &str = "/proc/thread-self/fd";

/// Bytes that are read at once: at least 60 events, and some 500 with names of usual length.
const BUFFER: usize = 16 * 1024;

/// Watches directories and keeps what happens in them until it is asked.
///
/// The kernel gives a user 128 of them, unless told otherwise, and limits how many directories
/// they watch together: reaching a limit is an error of `new` or `watch`.
#[derive(Debug)]
pub(crate) struct Watcher(OwnedFd);

impl Watcher {
    /// A watcher of nothing. An error where there is no `/proc`, by which handles are named.
    pub(crate) fn new() -> io::Result<Watcher> {
        let facts = attempt(|| rustix::fs::statfs(HANDLES))?;
        if volume(facts.f_type) != Volume::Pseudo {
            return Err(io::ErrorKind::Unsupported.into());
        }
        attempt(|| inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)).map(Watcher)
    }

    /// Watches the directory of this handle, which must be readable to us, whatever its path is
    /// meanwhile; what lies in its subdirectories is not watched.
    ///
    /// Watch first and list afterwards: a change between the two is then told. `Unsupported` on
    /// a file system that others than this kernel may change.
    pub(crate) fn watch(&self, dir: &Dir) -> io::Result<WatchId> {
        if dir.volume() != Volume::Disk {
            return Err(io::ErrorKind::Unsupported.into());
        }
        // There is no call by handle. This name is the handle itself and no path that a rename
        // could lead elsewhere.
        let path = format!("{HANDLES}/{}", dir.0.as_raw_fd());
        let flags = CHANGES | WatchFlags::ONLYDIR | WatchFlags::EXCL_UNLINK;
        attempt(|| inotify::add_watch(&self.0, path.as_str(), flags)).map(WatchId)
    }

    /// Ends a watch. What was queued before is still told, and then [`Event::Gone`].
    pub(crate) fn forget(&self, id: WatchId) {
        // It fails for a watch that is gone already, which is what was wanted.
        let _ = inotify::remove_watch(&self.0, id.0);
    }

    /// Tells all that is queued now, in order, and waits for nothing. What happens meanwhile may
    /// be left for the next time, so this ends however busy others are. After an error events
    /// may be lost.
    pub(crate) fn drain(&self, each: &mut dyn FnMut(Event<'_>)) -> io::Result<()> {
        let mut queued = attempt(|| rustix::io::ioctl_fionread(&self.0))?;
        let mut buffer = [0; BUFFER];
        while queued > 0 {
            let count = match attempt(|| rustix::io::read(&self.0, &mut buffer)) {
                // Another thread drained the rest.
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                read => read?,
            };
            tell(split_at_count(&buffer, count)?.0, each);
            queued = queued.saturating_sub(count as u64);
        }
        Ok(())
    }
}

fn tell(mut bytes: &[u8], each: &mut dyn FnMut(Event<'_>)) {
    while let Some((event, rest)) = next(bytes) {
        each(event);
        bytes = rest;
    }
}

/// The first event, as `inotify(7)` lays it out: four numbers, then a name with NUL bytes behind.
fn next(bytes: &[u8]) -> Option<(Event<'_>, &[u8])> {
    let (header, rest) = bytes.split_first_chunk::<16>()?;
    let ([watch, mask, _, length], []) = header.as_chunks::<4>() else { return None };
    let (name, rest) = rest.split_at_checked(u32::from_ne_bytes(*length) as usize)?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let mask = ReadFlags::from_bits_retain(u32::from_ne_bytes(*mask));
    Some((event(WatchId(i32::from_ne_bytes(*watch)), mask, name), rest))
}

fn event(id: WatchId, mask: ReadFlags, name: &[u8]) -> Event<'_> {
    if mask.contains(ReadFlags::QUEUE_OVERFLOW) {
        Event::Overflow
    } else if mask.contains(ReadFlags::IGNORED) {
        Event::Gone(id)
    } else if name.is_empty() {
        // Moved, removed, unmounted, or its own attributes.
        Event::Doubtful(id)
    } else if mask.intersects(NAMES) {
        Event::Listing(id, name)
    } else {
        Event::Content(id, name)
    }
}
