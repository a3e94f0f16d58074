//! One directory as it was when it was last listed.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use crate::pool::lock;
use crate::walk::dir_changes::{DirChanges, Generation};
use crate::walk::handle::OpenDir;
use crate::walk::ignore_fingerprints::IgnoreFingerprints;
use crate::walk::ignore_rules::{Found, IgnoreRules};
use crate::walk::listing::DirListing;
use crate::walk::memory_budget::{MemoryBudget, Reservation};
use crate::walk::report::{DirectoryReport, SkippedEntry};
use crate::workspace::{Fingerprint, Identity, Volume, Workspace};

/// How many ways to walk a directory are remembered with what they leave of it.
const MAX_SIEVED: usize = 4;

/// Bytes that an entry takes which stays.
const ENTRY_BYTES: usize = 24;

/// A directory as it was listed, and what followed from that.
#[derive(Debug)]
pub(crate) struct CachedDir {
    /// Its path in the workspace, empty or ending in `/`.
    pub(crate) prefix: Arc<[u8]>,
    /// All its entries, in the order in which the system gave them.
    pub(crate) listing: Arc<DirListing>,
    pub(super) found: Found,
    pub(crate) volume: Volume,
    /// None if the directory had not settled when it was listed; then only names are of use.
    pub(crate) stamp: Option<Fingerprint>,
    /// Which directory it was, if known.
    pub(super) identity: Option<Identity>,
    /// The epoch of the last call that found the stamp unchanged.
    verified: AtomicU64,
    /// Whether there was room to keep it.
    is_held: AtomicBool,
    pub(super) changes: Arc<DirChanges>,
    rules: Mutex<Option<KeptRules>>,
    sieved: Mutex<Vec<(FilterKey, Arc<FilteredDir>, Reservation)>>,
}

/// Rules that were read, and from which state of which files.
#[derive(Debug)]
struct KeptRules {
    above: IgnoreRules,
    entered: IgnoreRules,
    stamps: IgnoreFingerprints,
    warnings: Vec<String>,
}

/// What a walk asks of a directory, but for its filter.
#[derive(Clone, Debug)]
pub(super) struct FilterKey {
    pub(super) rules: IgnoreRules,
    pub(super) hidden: bool,
    pub(super) no_ignore: bool,
    pub(super) drop_noise: bool,
    pub(super) contents: bool,
}

/// What stays of a listing, in path order, and the account of the rest.
#[derive(Clone, Debug)]
pub(super) struct FilteredDir {
    pub(super) listing: Arc<DirListing>,
    pub(super) report: DirectoryReport,
}

impl CachedDir {
    pub(super) fn new(
        prefix: Arc<[u8]>,
        (listing, found): (Arc<DirListing>, Found),
        (volume, stamp, identity): (Volume, Option<Fingerprint>, Option<Identity>),
        changes: Arc<DirChanges>,
    ) -> CachedDir {
        CachedDir {
            prefix,
            listing,
            found,
            volume,
            stamp,
            identity,
            verified: AtomicU64::new(0),
            is_held: AtomicBool::new(false),
            changes,
            rules: Mutex::default(),
            sieved: Mutex::default(),
        }
    }

    /// Notes that there is room for it.
    pub(super) fn hold(&self) {
        self.is_held.store(true, Ordering::Release);
    }

    /// Whether it is kept for calls to come, and not for this one only.
    pub(crate) fn is_held(&self) -> bool {
        self.is_held.load(Ordering::Acquire)
    }

    /// Notes that a call of this epoch found the directory as it is kept.
    pub(super) fn verify(&self, current: u64) {
        self.verified.fetch_max(current, Ordering::AcqRel);
    }

    /// Whether the listing needs no look at the directory to be trusted.
    pub(super) fn is_current(&self, generation: Generation) -> bool {
        let verified = self.verified.load(Ordering::Acquire);
        verified == generation.current || self.changes.leave_listing(verified, generation)
    }

    /// Whether an entry that a call of the epoch `verified` looked at needs no further look.
    pub(crate) fn is_unchanged(&self, name: &[u8], verified: u64, generation: Generation) -> bool {
        self.changes.leave(name, verified, generation)
    }

    /// Whether no entry needs a further look that a call of the epoch `verified` looked at.
    pub(crate) fn are_all_unchanged(&self, verified: u64, generation: Generation) -> bool {
        self.changes.leave_all(verified, generation)
    }

    /// The rules inside the directory, read anew only if one of its ignore files changed.
    pub(super) fn enter(
        &self,
        workspace: &Workspace,
        above: &IgnoreRules,
        open: &dyn Fn() -> io::Result<Arc<OpenDir>>,
        warnings: &mut Vec<String>,
        (generation, budget): (Generation, &MemoryBudget),
    ) -> io::Result<IgnoreRules> {
        if self.found.is_empty() {
            return Ok(above.clone());
        }
        let mut rules = lock(&self.rules);
        if let Some(cached) = rules.as_ref().filter(|cached| cached.above.is(above)) {
            let unchanged = |name: &[u8], verified| self.is_unchanged(name, verified, generation);
            if cached.stamps.hold(open, &unchanged, generation.current) {
                warnings.extend_from_slice(&cached.warnings);
                return Ok(cached.entered.clone());
            }
        }
        let mut told = Vec::new();
        let dir = open()?;
        let place = (&**dir, &*self.prefix);
        let stamps = IgnoreFingerprints::of(workspace, place, self.found, generation.current);
        let entered = above.enter(workspace, place, self.found, &mut told);
        warnings.extend_from_slice(&told);
        *rules = entered.keep(budget).then(|| {
            let (above, entered) = (above.clone(), entered.clone());
            KeptRules { above, entered, stamps, warnings: told }
        });
        Ok(entered)
    }

    /// Whether the rules inside the directory still are `entered`, below those `above`.
    pub(super) fn has_rules(
        &self,
        (above, entered): (&IgnoreRules, &IgnoreRules),
        open: &dyn Fn() -> io::Result<Arc<OpenDir>>,
        generation: Generation,
    ) -> bool {
        let unchanged = |name: &[u8], verified| self.is_unchanged(name, verified, generation);
        lock(&self.rules).as_ref().is_some_and(|cached| {
            cached.above.is(above)
                && cached.entered.is(entered)
                && cached.stamps.hold(open, &unchanged, generation.current)
        })
    }

    /// Whether ignore files lie in it.
    pub(super) fn is_ruled(&self) -> bool {
        !self.found.is_empty()
    }

    /// What such a walk leaves of the directory, by `sieve` if none came by before; it is kept if
    /// there is room.
    pub(super) fn sieved(
        &self,
        key: FilterKey,
        budget: &MemoryBudget,
        sieve: impl FnOnce() -> FilteredDir,
    ) -> Arc<FilteredDir> {
        let mut sieved = lock(&self.sieved);
        if let Some((_, known, _)) = sieved.iter().find(|(known, ..)| known.is(&key)) {
            return known.clone();
        }
        if sieved.len() >= MAX_SIEVED {
            sieved.remove(0);
        }
        let left = Arc::new(sieve());
        // Rules that are not kept are other ones the next time.
        let taken = key.rules.are_kept().then(|| budget.take(left.bytes(), 0)).flatten();
        sieved.extend(taken.map(|taken| (key, left.clone(), taken)));
        left
    }
}

impl FilteredDir {
    /// Bytes that it takes, or so; the names are those of the whole listing.
    fn bytes(&self) -> usize {
        let left_out = self.report.skipped_entries.iter().map(|entry| entry.path.len());
        let left_out: usize = left_out.map(|path| path + size_of::<SkippedEntry>()).sum();
        size_of::<FilteredDir>() + self.listing.len() * ENTRY_BYTES + left_out
    }
}

impl FilterKey {
    pub(super) fn is(&self, other: &FilterKey) -> bool {
        let flags = |key: &FilterKey| (key.hidden, key.no_ignore, key.drop_noise, key.contents);
        flags(self) == flags(other) && self.rules.is(&other.rules)
    }
}

#[cfg(test)]
mod tests;
