//! What changed in a directory, call by call.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::pool::lock;

/// How many changed entries of a directory are told apart; names of temporary files add up.
const MAX_NAMES: usize = 1024;

/// An epoch that never comes.
const NEVER: u64 = u64::MAX;

/// What a call may believe of what was looked at before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Generation {
    /// The number of the call; what it looked at itself it trusts.
    pub(crate) current: u64,
    /// What was looked at by calls before this one is not trusted, whatever a watcher says.
    pub(crate) min_valid: u64,
}

/// What a watcher told of a directory, since when it is asked.
#[derive(Debug)]
pub(crate) struct DirChanges {
    /// The epoch of the call that began to watch.
    since: AtomicU64,
    /// The last epoch in which an entry came or went.
    listing: AtomicU64,
    /// The last epoch in which the content or the attributes of any entry changed.
    latest: AtomicU64,
    /// The last epoch in which any entry may have changed.
    all: AtomicU64,
    /// Entries with the last epoch in which their content or attributes changed.
    names: Mutex<HashMap<Vec<u8>, u64>>,
}

impl Default for DirChanges {
    fn default() -> DirChanges {
        DirChanges {
            since: AtomicU64::new(NEVER),
            listing: AtomicU64::new(0),
            latest: AtomicU64::new(0),
            all: AtomicU64::new(0),
            names: Mutex::default(),
        }
    }
}

impl DirChanges {
    /// Whether the directory is watched.
    pub(super) fn are_told(&self) -> bool {
        self.since.load(Ordering::Acquire) != NEVER
    }

    /// Whether the entries are those that a call of the epoch `verified` saw.
    pub(super) fn leave_listing(&self, verified: u64, generation: Generation) -> bool {
        self.are_told_since(verified, generation)
            && self.listing.load(Ordering::Acquire) <= verified
    }

    /// Whether an entry is as a call of the epoch `verified` saw it.
    pub(super) fn leave(&self, name: &[u8], verified: u64, generation: Generation) -> bool {
        self.are_told_since(verified, generation) && self.name(name) <= verified
    }

    /// Whether every entry is as a call of the epoch `verified` saw it.
    pub(super) fn leave_all(&self, verified: u64, generation: Generation) -> bool {
        self.are_told_since(verified, generation) && self.latest.load(Ordering::Acquire) <= verified
    }

    /// Whether everything was told that happened after a call of the epoch `verified` began.
    fn are_told_since(&self, verified: u64, generation: Generation) -> bool {
        verified >= self.since.load(Ordering::Acquire) && verified >= generation.min_valid
    }

    /// Notes that the watch is gone or was never placed.
    pub(super) fn forget(&self) {
        self.since.store(NEVER, Ordering::Release);
    }

    pub(super) fn watched_since(&self, current: u64) {
        self.since.store(current, Ordering::Release);
    }

    /// Notes that entries came or went, or that the directory may be another one now.
    pub(super) fn note_listing(&self, current: u64) {
        self.listing.fetch_max(current, Ordering::AcqRel);
    }

    /// Notes that the content or the attributes of an entry changed, or that it is another one.
    pub(super) fn note_name(&self, name: &[u8], current: u64) {
        let mut names = lock(&self.names);
        if names.len() >= MAX_NAMES {
            names.clear();
            self.all.fetch_max(current, Ordering::AcqRel);
        }
        names.insert(name.to_vec(), current);
        self.latest.fetch_max(current, Ordering::AcqRel);
    }

    fn name(&self, name: &[u8]) -> u64 {
        if self.latest.load(Ordering::Acquire) == 0 {
            return 0;
        }
        let all = self.all.load(Ordering::Acquire);
        lock(&self.names).get(name).copied().unwrap_or(0).max(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_changes_than_are_told_apart_are_changes_of_all() {
        let changes = DirChanges::default();
        for number in 0..MAX_NAMES {
            changes.note_name(format!("{number}").as_bytes(), 3);
        }
        assert_eq!((changes.name(b"7"), changes.name(b"other")), (3, 0));
        changes.note_name(b"one more", 4);
        assert_eq!((changes.name(b"7"), changes.name(b"other")), (4, 4));
        changes.note_name(b"7", 5);
        assert_eq!((changes.name(b"7"), changes.name(b"other")), (5, 4));
    }
}
