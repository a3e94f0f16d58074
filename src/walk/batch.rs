//! The files of a directory, in the batches that they are handed on in.

use std::ops::Range;
use std::sync::Arc;

use crate::walk::cached_dir::CachedDir;
use crate::walk::handle::DirHandle;
use crate::walk::listing::DirListing;
use crate::workspace::Kind;

/// Some consecutive entries of one directory.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The directory.
    pub(crate) handle: DirHandle,
    /// Its path in the workspace, empty or ending in `/`.
    pub(crate) prefix: Arc<[u8]>,
    /// Bytes of its paths that belong to where the walk began.
    pub(crate) base: usize,
    listing: Arc<DirListing>,
    range: Range<usize>,
    /// The whole directory, where it is kept.
    pub(crate) cached: Option<Arc<CachedDir>>,
    /// A bit for each entry that need not be looked at any more.
    done: u32,
}

/// The most entries of a batch: few enough to share out, enough to be worth handing over.
pub(crate) const BATCH: usize = u32::BITS as usize;

impl Batch {
    pub(crate) fn new(
        handle: DirHandle,
        (prefix, base): (Arc<[u8]>, usize),
        listing: Arc<DirListing>,
        range: Range<usize>,
    ) -> Batch {
        Batch { handle, prefix, base, listing, range, cached: None, done: 0 }
    }

    /// The same batch, of a directory that is kept.
    pub(crate) fn of(mut self, cached: Option<Arc<CachedDir>>) -> Batch {
        self.cached = cached;
        self
    }

    /// Which entries of which listing they are.
    pub(super) fn part(&self) -> (&Arc<DirListing>, Range<usize>) {
        (&self.listing, self.range.clone())
    }

    /// The entries by name and kind, in path order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&[u8], Kind)> + Clone {
        self.range.clone().filter_map(|index| self.listing.get(index))
    }

    /// Notes which entries need not be looked at any more, a bit for each.
    pub(crate) fn mark_done(&mut self, done: u32) {
        self.done = done;
    }

    /// Whether the entry at `index` need not be looked at.
    pub(crate) fn is_done(&self, index: usize) -> bool {
        index < BATCH && self.done >> index & 1 != 0
    }

    /// Which entries of the whole listing they are.
    pub(crate) fn positions(&self) -> impl Iterator<Item = usize> {
        self.range.clone().filter_map(|index| self.listing.position(index))
    }

    /// The path of its first entry.
    pub(crate) fn first(&self) -> Vec<u8> {
        self.entries().next().map_or_else(Vec::new, |(name, _)| self.path(name))
    }

    /// The path of one of its entries in the workspace.
    pub(crate) fn path(&self, name: &[u8]) -> Vec<u8> {
        [&*self.prefix, name].concat()
    }
}
