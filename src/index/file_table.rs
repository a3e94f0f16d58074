//! What the index knows of the files of one directory.

use std::collections::HashMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::index::bit_slices::Column;
use crate::index::memoized_query::MemoizedQuery;
use crate::index::record::{Bits, Content, DirectoryRecord, EntryRecord, KnownFile};
use crate::walk::{CachedDir, DirListing, Generation, Reservation};
use crate::workspace::{Fingerprint, Kind, Stat};

/// The files of a directory, each by its place in the listing.
#[derive(Debug)]
pub(crate) struct FileTable {
    listing: Arc<DirListing>,
    slots: RwLock<Vec<Option<Slot>>>,
}

#[derive(Debug)]
struct Slot {
    known: KnownFile,
    /// The epoch of the last call that found the file's stamp so; 0 for none.
    verified: AtomicU64,
    /// The memory that it takes, if any.
    taken: Option<Reservation>,
}

/// A file that need not be opened, as a search would have reported it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Excluded {
    /// A text of this many bytes, without a match.
    Text(u64),
    /// It is binary.
    Binary,
}

/// Identifies a file of the directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileRef<'a> {
    pub(crate) name: &'a [u8],
    /// Its place in the listing.
    pub(crate) position: usize,
    pub(crate) cached: &'a CachedDir,
}

impl Slot {
    /// What a search need not open, as long as the file is the same.
    fn exclude(&self, query: Option<&MemoizedQuery>) -> Option<Excluded> {
        let is_excluded = match &self.known.content {
            Content::Binary => true,
            Content::Filtered(bits) => !query?.may_match(bits),
            Content::Opaque => false,
        };
        is_excluded.then(|| self.excluded())
    }

    fn excluded(&self) -> Excluded {
        match self.known.content {
            Content::Binary => Excluded::Binary,
            Content::Filtered(_) | Content::Opaque => Excluded::Text(self.known.text_bytes),
        }
    }

    /// Whether a watch would have reported a change.
    fn is_told_of(&self, file: FileRef<'_>, generation: Generation) -> bool {
        let verified = self.verified.load(Ordering::Acquire);
        file.cached.is_unchanged(file.name, verified, generation)
    }

    /// Whether the file is still the one that was indexed.
    fn is_same(
        &self,
        file: FileRef<'_>,
        generation: Generation,
        stat: impl FnOnce() -> io::Result<Stat>,
    ) -> bool {
        if self.is_told_of(file, generation) {
            return true;
        }
        let Ok(stat) = stat() else { return false };
        let is_same = stat.kind == Kind::File && Fingerprint::of(&stat) == self.known.stamp;
        // A watch does not report what is written through a hard link elsewhere.
        if is_same && stat.links == 1 {
            self.verified.fetch_max(generation.current, Ordering::AcqRel);
        }
        is_same
    }
}

impl FileTable {
    /// An empty table for the files of a listing.
    pub(crate) fn new(listing: Arc<DirListing>) -> FileTable {
        let slots = RwLock::new((0..listing.len()).map(|_| None).collect());
        FileTable { listing, slots }
    }

    /// The table for a newer listing of the same directory; files that still exist keep their entries.
    pub(crate) fn renewed(&self, listing: Arc<DirListing>) -> FileTable {
        let table = FileTable::new(listing);
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let old: HashMap<&[u8], usize> = (0..self.listing.len())
            .filter_map(|index| Some((self.listing.get(index)?.0, index)))
            .collect();
        for position in 0..table.listing.len() {
            let Some((name, Kind::File)) = table.listing.get(position) else { continue };
            let Some(slot) = old.get(name).and_then(|index| slots.get_mut(*index)?.take()) else {
                continue;
            };
            table.put(position, Some(slot));
        }
        table
    }

    /// A table from an index file; the listing consists of its entries in their order.
    pub(crate) fn recorded(listing: Arc<DirListing>, record: DirectoryRecord) -> FileTable {
        let known = record.entries.into_iter().map(|entry| entry.known);
        // It stays in the file, and takes no room.
        let slot = |known| Slot { known, verified: AtomicU64::new(0), taken: None };
        let slots = known.map(|known| known.map(slot));
        FileTable { listing, slots: RwLock::new(slots.collect()) }
    }

    /// Whether it was made for this listing.
    pub(crate) fn is_of(&self, listing: &DirListing) -> bool {
        self.listing.is_part_of(listing)
    }

    /// Keeps what was learned of a file.
    pub(super) fn learn(&self, position: usize, known: KnownFile, taken: Reservation) {
        self.put(position, Some(Slot { known, verified: AtomicU64::new(0), taken: Some(taken) }));
    }

    /// Calls `each` with the filters that are beside no others, and the places of their files.
    pub(super) fn for_each_alone(&self, mut each: impl FnMut(usize, &Bits)) {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        for (position, slot) in slots.iter().enumerate() {
            match slot.as_ref().map(|slot| &slot.known.content) {
                Some(Content::Filtered(bits)) if bits.alone().is_some() => each(position, bits),
                _ => {}
            }
        }
    }

    /// Keeps a filter beside others, if it is still the one that was put there.
    pub(super) fn slices(&self, position: usize, alone: &Bits, column: Column) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        let Some(Some(slot)) = slots.get_mut(position) else { return };
        match &mut slot.known.content {
            Content::Filtered(bits) if bits.is(alone) => *bits = Bits::Sliced(column),
            _ => return,
        }
        if let Some(taken) = &mut slot.taken {
            taken.shrink_to(slot.known.bytes());
        }
    }

    /// How many files nothing is known of.
    pub(crate) fn unknown(&self) -> usize {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let is_file =
            |index: &usize| self.listing.get(*index).is_some_and(|(_, kind)| kind == Kind::File);
        let unknown = slots.iter().enumerate().filter(|(_, slot)| slot.is_none());
        unknown.filter(|(index, _)| is_file(index)).count()
    }

    /// Calls `each` with what is known.
    pub(crate) fn for_each(&self, mut each: impl FnMut(&KnownFile)) {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.iter().flatten().for_each(|slot| each(&slot.known));
    }

    /// Everything, to be stored.
    pub(crate) fn record(&self, stamp: Option<Fingerprint>) -> DirectoryRecord {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let entries = (0..self.listing.len()).filter_map(|index| {
            let (name, kind) = self.listing.get(index)?;
            let slot = slots.get(index).and_then(Option::as_ref);
            let known = slot.map(|slot| slot.known.clone());
            Some(EntryRecord { name: name.to_vec(), kind, known })
        });
        DirectoryRecord { stamp, entries: entries.collect() }
    }

    /// Whether a file need not be opened, and why; `stat` is called only where nothing else shows that
    /// the file is still the one that was indexed.
    pub(crate) fn exclude(
        &self,
        file: FileRef<'_>,
        query: Option<&MemoizedQuery>,
        generation: Generation,
        stat: impl FnOnce() -> io::Result<Stat>,
    ) -> Option<Excluded> {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.get(file.position)?.as_ref()?;
        let excluded = slot.exclude(query)?;
        if slot.is_same(file, generation, stat) {
            return Some(excluded);
        }
        drop(slots);
        self.put(file.position, None);
        None
    }

    /// Forgets a file that is not the one that was learned.
    pub(crate) fn refresh(
        &self,
        file: FileRef<'_>,
        generation: Generation,
        stat: impl FnOnce() -> io::Result<Stat>,
    ) {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        let Some(Some(slot)) = slots.get(file.position) else { return };
        let is_same = slot.is_same(file, generation, stat);
        drop(slots);
        if !is_same {
            self.put(file.position, None);
        }
    }

    /// Whether the file has an entry, valid or not.
    pub(crate) fn knows(&self, position: usize) -> bool {
        let slots = self.slots.read().unwrap_or_else(PoisonError::into_inner);
        slots.get(position).is_some_and(Option::is_some)
    }

    fn put(&self, position: usize, slot: Option<Slot>) {
        let mut slots = self.slots.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = slots.get_mut(position) {
            *place = slot;
        }
    }
}

// Elsewhere nothing is kept.
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod tests;
