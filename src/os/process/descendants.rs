//! Finding the processes that a command started, through `/proc`.

use std::collections::HashSet;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use memchr::{memmem, memrchr};
use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// Bytes of an environment that are read at once.
const BLOCK: usize = 64 * 1024;

/// The longest environment that is looked through, in bytes; the kernel allows less.
const MAX_ENVIRONMENT: u64 = 8 << 20;

/// A process that belongs to a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descendant {
    /// Its number.
    pub(crate) id: i32,
    /// When it was started; with the number it says which process it is.
    started: u64,
    /// Its process group.
    group: i32,
}

impl Descendant {
    /// Whether a signal to the group reaches it.
    pub(crate) fn is_in_group(&self, group: i32) -> bool {
        self.group == group
    }

    /// Sends a signal to this process, and to no other that has its number by now.
    pub(crate) fn signal(&self, signal: Signal) {
        let Some(pid) = Pid::from_raw(self.id) else { return };
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let is_same =
            || proc().and_then(|proc| facts(&proc, self.id)).is_some_and(|now| now.is(self));
        // Errors are ignored: the process has ended, or it is found again and reported as a survivor.
        let _ = match handle {
            Ok(handle) if is_same() => rustix::process::pidfd_send_signal(&handle, signal),
            // Before 5.3 there are no such handles.
            Err(Errno::NOSYS | Errno::PERM) if is_same() => {
                rustix::process::kill_process(pid, signal)
            }
            _ => Ok(()),
        };
    }
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Facts {
    id: i32,
    /// Whether it has not ended; a zombie has.
    lives: bool,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl Facts {
    fn descendant(&self) -> Descendant {
        Descendant { id: self.id, started: self.started, group: self.group }
    }

    fn is(&self, descendant: &Descendant) -> bool {
        self.lives && (self.id, self.started) == (descendant.id, descendant.started)
    }
}

/// Finds the living processes of a command: those in the session of `leader`, its first process,
/// those that have `mark` in their environment, those that are `known` from before, and children
/// of any of these. Returns none if `/proc` cannot be read. If the leader was reaped elsewhere, its
/// number may belong to another process and is not used.
pub(crate) fn descendants(leader: i32, mark: &[u8], known: &[Descendant]) -> Vec<Descendant> {
    let Some(proc) = proc() else { return Vec::new() };
    let first = facts(&proc, leader).map(|facts| facts.started);
    let mut search = TreeSearch {
        ids: first.map(|_| leader).into_iter().collect(),
        others: not_older(&proc, first),
        found: Vec::new(),
    };
    let mut buffer = vec![0; BLOCK];
    let mut is_marked = |id| environment_holds(&proc, id, mark, &mut buffer);
    search.take(|facts, ids| {
        let is_near = ids.contains(&facts.session) || ids.contains(&facts.id);
        let is_known = || known.iter().any(|descendant| facts.is(descendant));
        is_near || is_known() || is_marked(facts.id)
    });
    while search.take(|facts, ids| ids.contains(&facts.parent)) {}
    search.found.iter().map(Facts::descendant).collect()
}

/// The living processes that may descend from one started at `first`: no process is older than its
/// ancestors, but some have the same time, since the clock has ticks.
fn not_older(proc: &OwnedFd, first: Option<u64>) -> Vec<Facts> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let ids = numbers(proc).into_iter().filter(|id| *id != own && *id > 1);
    let facts = ids.filter_map(|id| facts(proc, id));
    facts.filter(|facts| facts.lives && first.is_none_or(|first| facts.started >= first)).collect()
}

/// The processes found to belong to a command, and those still to be examined.
struct TreeSearch {
    ids: HashSet<i32>,
    found: Vec<Facts>,
    others: Vec<Facts>,
}

impl TreeSearch {
    /// Moves the processes for which `belongs` returns true to `found`; returns whether there were any.
    fn take(&mut self, mut belongs: impl FnMut(&Facts, &HashSet<i32>) -> bool) -> bool {
        let before = self.found.len();
        self.others.retain(|facts| {
            let is_new = belongs(facts, &self.ids);
            if is_new {
                self.ids.insert(facts.id);
                self.found.push(*facts);
            }
            !is_new
        });
        self.found.len() > before
    }
}

fn proc() -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat(CWD, "/proc", flags, Mode::empty()).ok()
}

/// The numbers of all processes.
fn numbers(proc: &OwnedFd) -> Vec<i32> {
    let mut buffer = vec![MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(proc, &mut buffer);
    let mut numbers = Vec::new();
    while let Some(Ok(entry)) = entries.next() {
        numbers.extend(number(entry.file_name()));
    }
    numbers
}

fn number(name: &CStr) -> Option<i32> {
    name.to_str().ok()?.parse().ok()
}

fn open(proc: &OwnedFd, id: i32, file: &str) -> Option<OwnedFd> {
    let path = format!("{id}/{file}");
    rustix::fs::openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn facts(proc: &OwnedFd, id: i32) -> Option<Facts> {
    let mut line = [0; 1024];
    let length = rustix::io::read(open(proc, id, "stat")?, &mut line).ok()?;
    parse(id, line.get(..length)?)
}

/// Reads the line by the last parenthesis: the name before it may hold anything.
fn parse(id: i32, line: &[u8]) -> Option<Facts> {
    let rest = line.get(memrchr(b')', line)? + 1..)?;
    let mut fields = str::from_utf8(rest).ok()?.split_ascii_whitespace();
    let lives = !matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(Facts { id, lives, parent, group, session, started })
}

/// Whether the environment with which a process was started holds `mark`.
fn environment_holds(proc: &OwnedFd, id: i32, mark: &[u8], buffer: &mut [u8]) -> bool {
    let Some(file) = open(proc, id, "environ") else { return false };
    let mut offset = 0;
    while offset < MAX_ENVIRONMENT {
        let Ok(length) = rustix::io::pread(&file, &mut *buffer, offset) else { return false };
        let block = buffer.get(..length).unwrap_or_default();
        if memmem::find(block, mark).is_some() {
            return true;
        }
        // The mark may lie across the end of a block.
        if length <= mark.len() {
            return false;
        }
        offset += (length - mark.len()) as u64;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let rest = "S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let facts = Facts { id: 3, lives: true, parent: 7, group: 8, session: 9, started: 12345 };
        for name in ["sh", "a b", ") Z 1 1 1", "(x", ""] {
            let line = format!("3 ({name}) {rest}\n");
            assert_eq!(parse(3, line.as_bytes()), Some(facts), "{name:?}");
        }
        let dead = parse(3, b"3 (sh) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1");
        assert_eq!(dead.map(|facts| facts.lives), Some(false));
        for line in ["", "3 (sh", "3 (sh) S 7", "3 (sh) S 7 8 nine"] {
            assert_eq!(parse(3, line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn an_environment_is_searched_across_blocks() {
        let proc = proc().unwrap();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut whole = vec![0; 1 << 20];
        assert!(!environment_holds(&proc, own, b"no such value \0\0\0", &mut whole));
        let file = open(&proc, own, "environ").unwrap();
        let length = rustix::io::pread(&file, &mut whole, 0).unwrap();
        let part = whole[length / 2..length / 2 + 16.min(length / 4)].to_vec();
        for size in [part.len() + 1, part.len() + 7, 1 << 16] {
            assert!(environment_holds(&proc, own, &part, &mut vec![0; size]), "{size}");
        }
    }
}
