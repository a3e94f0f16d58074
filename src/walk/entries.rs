//! What is in a directory, in order, and the batches it is handed on in.

use std::cmp::Ordering;
use std::io;
use std::ops::{Deref, Range};
use std::sync::Arc;
use std::sync::atomic::{self, AtomicUsize};

use crate::workspace::{Dir, Kind, Volume};

/// How many directories one scan keeps open before it opens them again by path.
const MAX_OPEN: usize = 256;

/// The names and kinds of a directory's entries.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    names: Vec<u8>,
    entries: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: usize,
    end: usize,
    kind: Kind,
}

impl Listing {
    pub(crate) fn push(&mut self, name: &[u8], kind: Kind) {
        let start = self.names.len();
        self.names.extend_from_slice(name);
        self.entries.push(Slot { start, end: self.names.len(), kind });
    }

    /// Keeps the entries for which `keep` is true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&[u8], Kind) -> bool) {
        let names = &self.names;
        self.entries.retain(|slot| keep(name(names, *slot), slot.kind));
    }

    /// Puts the entries into the byte order of whole paths, where a directory's name ends in `/`.
    pub(crate) fn sort(&mut self) {
        let names = &self.names;
        self.entries.sort_unstable_by(|a, b| {
            path_order((name(names, *a), a.kind), (name(names, *b), b.kind))
        });
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, index: usize) -> Option<(&[u8], Kind)> {
        let slot = self.entries.get(index)?;
        Some((name(&self.names, *slot), slot.kind))
    }
}

fn name(names: &[u8], slot: Slot) -> &[u8] {
    names.get(slot.start..slot.end).unwrap_or_default()
}

fn path_order((a, a_kind): (&[u8], Kind), (b, b_kind): (&[u8], Kind)) -> Ordering {
    let shared = a.len().min(b.len());
    let (a_head, b_head) = (a.get(..shared), b.get(..shared));
    a_head
        .cmp(&b_head)
        .then_with(|| next_byte(a, a_kind, shared).cmp(&next_byte(b, b_kind, shared)))
}

/// The byte after the shared part: of the name, or the `/` of a directory, or none.
fn next_byte(name: &[u8], kind: Kind, at: usize) -> Option<u8> {
    name.get(at).copied().or((kind == Kind::Directory).then_some(b'/'))
}

/// Counts the directories that a scan holds open.
pub(crate) type OpenCount = Arc<AtomicUsize>;

/// An open directory of a scan.
#[derive(Debug)]
pub(crate) struct OpenDir {
    dir: Dir,
    count: OpenCount,
    /// What a short read of its files means.
    pub(crate) volume: Volume,
}

impl OpenDir {
    pub(crate) fn new(dir: Dir, count: &OpenCount) -> Arc<OpenDir> {
        count.fetch_add(1, atomic::Ordering::Relaxed);
        let volume = dir.volume();
        Arc::new(OpenDir { dir, count: count.clone(), volume })
    }
}

impl Deref for OpenDir {
    type Target = Dir;

    fn deref(&self) -> &Dir {
        &self.dir
    }
}

impl Drop for OpenDir {
    fn drop(&mut self) {
        self.count.fetch_sub(1, atomic::Ordering::Relaxed);
    }
}

/// A directory to come back to: held open, or by its path when too many are open.
#[derive(Clone, Debug)]
pub(crate) enum Handle {
    /// The directory itself.
    Open(Arc<OpenDir>),
    /// Its path below a directory that stays open.
    Path(Arc<Dir>, Arc<[u8]>, OpenCount),
}

impl Handle {
    /// Keeps `dir` open if there is room, else its path below `root`.
    pub(crate) fn keep(dir: &Arc<OpenDir>, root: &Arc<Dir>, prefix: &Arc<[u8]>) -> Handle {
        if dir.count.load(atomic::Ordering::Relaxed) <= MAX_OPEN {
            Handle::Open(dir.clone())
        } else {
            Handle::Path(root.clone(), prefix.clone(), dir.count.clone())
        }
    }

    pub(crate) fn open(&self) -> io::Result<Arc<OpenDir>> {
        match self {
            Handle::Open(dir) => Ok(dir.clone()),
            Handle::Path(root, prefix, count) => {
                let path = prefix.strip_suffix(b"/").unwrap_or(prefix);
                let dir = match path.strip_prefix(b"/") {
                    // Only a relaxed workspace walks outside its root.
                    Some(outside) => Dir::root_of_host()?.descend(outside)?,
                    None if path.is_empty() => root.traverse(b".")?,
                    None => root.descend(path)?,
                };
                Ok(OpenDir::new(dir, count))
            }
        }
    }
}

/// Some consecutive entries of one directory.
#[derive(Debug)]
pub(crate) struct Batch {
    /// The directory.
    pub(crate) handle: Handle,
    /// Its path in the workspace, empty or ending in `/`.
    pub(crate) prefix: Arc<[u8]>,
    /// Bytes of its paths that belong to where the walk began.
    pub(crate) base: usize,
    listing: Arc<Listing>,
    range: Range<usize>,
}

impl Batch {
    pub(crate) fn new(
        handle: Handle,
        (prefix, base): (Arc<[u8]>, usize),
        listing: Arc<Listing>,
        range: Range<usize>,
    ) -> Batch {
        Batch { handle, prefix, base, listing, range }
    }

    /// The entries by name and kind, in path order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&[u8], Kind)> {
        self.range.clone().filter_map(|index| self.listing.get(index))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_byte_order_of_whole_paths() {
        let mut listing = Listing::default();
        for (name, kind) in [
            ("a0", Kind::File),
            ("a", Kind::Directory),
            ("a.rs", Kind::File),
            ("a-b", Kind::Directory),
            ("A", Kind::File),
        ] {
            listing.push(name.as_bytes(), kind);
        }
        listing.sort();
        let names: Vec<_> = (0..listing.len()).filter_map(|index| listing.get(index)).collect();
        let names: Vec<_> = names.iter().map(|(name, _)| String::from_utf8_lossy(name)).collect();
        // As whole paths: "A" < "a-b/" < "a.rs" < "a/" < "a0".
        assert_eq!(names, ["A", "a-b", "a.rs", "a", "a0"]);
    }
}
