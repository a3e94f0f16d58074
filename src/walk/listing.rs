//! What is in a directory, in the order of paths.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::workspace::Kind;

/// The names and kinds of a directory's entries. Clones share the names.
#[derive(Clone, Debug, Default)]
pub(crate) struct DirListing {
    names: Arc<Vec<u8>>,
    entries: Vec<Slot>,
}

#[derive(Clone, Copy, Debug)]
struct Slot {
    start: usize,
    end: usize,
    /// Which entry it was when everything was listed.
    position: u32,
    kind: Kind,
}

impl DirListing {
    pub(crate) fn push(&mut self, name: &[u8], kind: Kind) {
        let names = Arc::make_mut(&mut self.names);
        let start = names.len();
        names.extend_from_slice(name);
        let position = u32::try_from(self.entries.len()).unwrap_or(u32::MAX);
        self.entries.push(Slot { start, end: names.len(), position, kind });
    }

    /// Tells whether both come from one listing, so that positions mean the same.
    pub(crate) fn is_part_of(&self, other: &DirListing) -> bool {
        Arc::ptr_eq(&self.names, &other.names)
    }

    /// Which entry of the whole listing the entry at `index` is.
    pub(crate) fn position(&self, index: usize) -> Option<usize> {
        self.entries.get(index).map(|slot| slot.position as usize)
    }

    /// Keeps the entries for which `keep` is true.
    pub(crate) fn retain(&mut self, mut keep: impl FnMut(&[u8], Kind) -> bool) {
        let names = &*self.names;
        self.entries.retain(|slot| keep(name(names, *slot), slot.kind));
    }

    /// Puts the entries into the byte order of whole paths, where a directory's name ends in `/`.
    pub(crate) fn sort(&mut self) {
        let names = &*self.names;
        self.entries.sort_unstable_by(|a, b| {
            path_order((name(names, *a), a.kind), (name(names, *b), b.kind))
        });
    }

    /// Bytes that it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        self.names.len() + self.entries.len() * size_of::<Slot>()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_in_the_byte_order_of_whole_paths() {
        let mut listing = DirListing::default();
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
