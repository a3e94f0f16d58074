//! Finding the processes that a command started, through `/proc`.

use std::collections::HashSet;
use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use memchr::{memmem, memrchr};
use rustix::fs::{CWD, Mode, OFlags, RawDir};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

/// Bytes of an environment per read.
const BLOCK: usize = 64 * 1024;

/// How much of an environment is searched, in bytes; the kernel allows less.
const MAX_ENVIRONMENT: u64 = 8 << 20;

/// A process that belongs to a command.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Descendant {
    /// Its process ID.
    pub(crate) id: i32,
    /// Its start time, which distinguishes it from another process with the same ID.
    started: u64,
    /// Its process group.
    group: i32,
}

impl Descendant {
    /// Whether a signal to the group reaches it.
    pub(crate) fn is_in_group(&self, group: i32) -> bool {
        self.group == group
    }

    /// Sends a signal to this process, but not to another one that has its ID now. Returns false if this
    /// process may not send it.
    pub(crate) fn signal(&self, signal: Signal) -> bool {
        let pid = Pid::from_raw(self.id).expect("process IDs in `/proc` are positive");
        let handle = rustix::process::pidfd_open(pid, PidfdFlags::empty());
        let is_same =
            || proc().and_then(|proc| read_stat(&proc, self.id)).is_some_and(|now| now.is(self));
        let sent = match handle {
            Ok(handle) if is_same() => rustix::process::pidfd_send_signal(&handle, signal),
            // Before Linux 5.3 there is no pidfd_open.
            Err(Errno::NOSYS | Errno::PERM) if is_same() => {
                rustix::process::kill_process(pid, signal)
            }
            _ => Ok(()),
        };
        // After another error the process has ended, or it is found again.
        sent != Err(Errno::PERM)
    }
}

/// The fields of `/proc/PID/stat` that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ProcessStat {
    id: i32,
    /// False for a zombie.
    is_alive: bool,
    parent: i32,
    group: i32,
    session: i32,
    started: u64,
}

impl ProcessStat {
    fn descendant(&self) -> Descendant {
        Descendant { id: self.id, started: self.started, group: self.group }
    }

    fn is(&self, descendant: &Descendant) -> bool {
        self.is_alive && (self.id, self.started) == (descendant.id, descendant.started)
    }
}

/// Finds the living processes of a command: those in the session of `leader`, its first process,
/// those that have `marker` in their environment, those that are `known` from before, and children
/// of any of these. Returns none if `/proc` cannot be read. If the leader was reaped elsewhere, its
/// ID may belong to another process and is not used.
pub(crate) fn descendants(leader: i32, marker: &[u8], known: &[Descendant]) -> Vec<Descendant> {
    let Some(proc) = proc() else { return Vec::new() };
    let first = read_stat(&proc, leader).map(|stat| stat.started);
    let mut search = TreeSearch {
        ids: first.map(|_| leader).into_iter().collect(),
        others: started_since(&proc, first),
        found: Vec::new(),
    };
    let mut buffer = vec![0; BLOCK];
    let mut is_marked = |id| environment_contains(&proc, id, marker, &mut buffer);
    search.take(|stat, ids| {
        let is_near = ids.contains(&stat.session) || ids.contains(&stat.id);
        let is_known = || known.iter().any(|descendant| stat.is(descendant));
        is_near || is_known() || is_marked(stat.id)
    });
    while search.take(|stat, ids| ids.contains(&stat.parent)) {}
    search.found.iter().map(ProcessStat::descendant).collect()
}

/// The living processes that may descend from one started at `first`. No process is older than its
/// ancestors, but start times can be equal.
fn started_since(proc: &OwnedFd, first: Option<u64>) -> Vec<ProcessStat> {
    let own = rustix::process::getpid().as_raw_nonzero().get();
    let ids = process_ids(proc).into_iter().filter(|id| *id != own && *id > 1);
    let stat = ids.filter_map(|id| read_stat(proc, id));
    stat.filter(|stat| stat.is_alive && first.is_none_or(|first| stat.started >= first)).collect()
}

/// The processes found to belong to a command, and those still to be examined.
struct TreeSearch {
    ids: HashSet<i32>,
    found: Vec<ProcessStat>,
    others: Vec<ProcessStat>,
}

impl TreeSearch {
    /// Moves the processes for which `belongs` returns true to `found`; returns whether there were any.
    fn take(&mut self, mut belongs: impl FnMut(&ProcessStat, &HashSet<i32>) -> bool) -> bool {
        let before = self.found.len();
        self.others.retain(|stat| {
            let is_new = belongs(stat, &self.ids);
            if is_new {
                self.ids.insert(stat.id);
                self.found.push(*stat);
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

/// The IDs of all processes.
fn process_ids(proc: &OwnedFd) -> Vec<i32> {
    let mut buffer = vec![MaybeUninit::uninit(); 32 * 1024];
    let mut entries = RawDir::new(proc, &mut buffer);
    let mut process_ids = Vec::new();
    while let Some(Ok(entry)) = entries.next() {
        process_ids.extend(parse_id(entry.file_name()));
    }
    process_ids
}

fn parse_id(name: &CStr) -> Option<i32> {
    name.to_str().ok()?.parse().ok()
}

fn open(proc: &OwnedFd, id: i32, file: &str) -> Option<OwnedFd> {
    let path = format!("{id}/{file}");
    rustix::fs::openat(proc, path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()
}

fn read_stat(proc: &OwnedFd, id: i32) -> Option<ProcessStat> {
    let mut line = [0; 1024];
    let length = rustix::io::read(open(proc, id, "stat")?, &mut line).ok()?;
    parse(id, line.get(..length)?)
}

/// Parses the line after its last parenthesis: the process name before it may contain anything.
fn parse(id: i32, line: &[u8]) -> Option<ProcessStat> {
    let rest = line.get(memrchr(b')', line)? + 1..)?;
    let mut fields = str::from_utf8(rest).ok()?.split_ascii_whitespace();
    let is_alive = !matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    let session = fields.next()?.parse().ok()?;
    let started = fields.nth(15)?.parse().ok()?;
    Some(ProcessStat { id, is_alive, parent, group, session, started })
}

/// Whether the initial environment of a process contains `marker`.
fn environment_contains(proc: &OwnedFd, id: i32, marker: &[u8], buffer: &mut [u8]) -> bool {
    let Some(file) = open(proc, id, "environ") else { return false };
    let mut offset = 0;
    while offset < MAX_ENVIRONMENT {
        let Ok(length) = rustix::io::pread(&file, &mut *buffer, offset) else { return false };
        let Some(block) = buffer.get(..length) else { return false };
        if memmem::find(block, marker).is_some() {
            return true;
        }
        // Blocks overlap, because the marker may lie across the end of one.
        if length <= marker.len() {
            return false;
        }
        offset += (length - marker.len()) as u64;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_process_may_hold_anything() {
        let rest = "S 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1";
        let stat =
            ProcessStat { id: 3, is_alive: true, parent: 7, group: 8, session: 9, started: 12345 };
        for name in ["sh", "a b", ") Z 1 1 1", "(x", ""] {
            let line = format!("3 ({name}) {rest}\n");
            assert_eq!(parse(3, line.as_bytes()), Some(stat), "{name:?}");
        }
        let dead = parse(3, b"3 (sh) Z 7 8 9 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 12345 99 1");
        assert_eq!(dead.map(|stat| stat.is_alive), Some(false));
        for line in ["", "3 (sh", "3 (sh) S 7", "3 (sh) S 7 8 nine"] {
            assert_eq!(parse(3, line.as_bytes()), None, "{line:?}");
        }
    }

    #[test]
    fn an_environment_is_searched_across_blocks() {
        let proc = proc().unwrap();
        let own = rustix::process::getpid().as_raw_nonzero().get();
        let mut whole = vec![0; 1 << 20];
        assert!(!environment_contains(&proc, own, b"no such value \0\0\0", &mut whole));
        let file = open(&proc, own, "environ").unwrap();
        let length = rustix::io::pread(&file, &mut whole, 0).unwrap();
        let part = whole[length / 2..length / 2 + 16.min(length / 4)].to_vec();
        for size in [part.len() + 1, part.len() + 7, 1 << 16] {
            assert!(environment_contains(&proc, own, &part, &mut vec![0; size]), "{size}");
        }
    }
}
