//! The cached directories by path, and how much memory they take.

use std::collections::HashMap;
use std::sync::Arc;

use crate::walk::cached_dir::CachedDir;
use crate::workspace::Kind;

/// Estimated memory of a directory besides its names, in bytes.
const DIRECTORY_BYTES: usize = 512;

/// Cached directories, each as it was last read.
#[derive(Debug, Default)]
pub(super) struct DirTable {
    known: HashMap<Arc<[u8]>, Arc<CachedDir>>,
    /// Estimated memory, in bytes.
    bytes: usize,
}

impl DirTable {
    pub(super) fn get(&self, prefix: &[u8]) -> Option<&Arc<CachedDir>> {
        self.known.get(prefix)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Arc<CachedDir>> {
        self.known.values()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Replaces a directory, unless that takes more than `max` bytes. Returns the paths of the
    /// directories in it that are gone; everything below them is removed.
    pub(super) fn put(&mut self, cached: Arc<CachedDir>, max: usize) -> Vec<Vec<u8>> {
        let old = self.remove(&cached.prefix);
        let gone = old.map_or_else(Vec::new, |old| vanished(&old, &cached));
        if !gone.is_empty() {
            self.drop_below(&gone);
        }
        let bytes = size(&cached);
        if self.bytes + bytes <= max {
            self.bytes += bytes;
            cached.hold();
            self.known.insert(cached.prefix.clone(), cached);
        }
        gone
    }

    fn remove(&mut self, prefix: &[u8]) -> Option<Arc<CachedDir>> {
        let old = self.known.remove(prefix)?;
        self.bytes -= size(&old);
        Some(old)
    }

    fn drop_below(&mut self, gone: &[Vec<u8>]) {
        let bytes = &mut self.bytes;
        self.known.retain(|prefix, cached| {
            let goes = lies_below(prefix, gone);
            *bytes -= if goes { size(cached) } else { 0 };
            !goes
        });
    }
}

/// Whether a directory is one of `gone`, which are sorted, or lies below one.
pub(super) fn lies_below(prefix: &[u8], gone: &[Vec<u8>]) -> bool {
    // None of them begins with another, so only the last that is not after it may be above it.
    let upto = gone.partition_point(|gone| gone.as_slice() <= prefix);
    let last = upto.checked_sub(1).and_then(|last| gone.get(last));
    last.is_some_and(|gone| prefix.starts_with(gone))
}

fn size(cached: &CachedDir) -> usize {
    cached.prefix.len() + cached.listing.bytes() + DIRECTORY_BYTES
}

/// The paths of directories that were in `old` and are not in `new`; all of them, if the two
/// are not the same directory.
fn vanished(old: &CachedDir, new: &CachedDir) -> Vec<Vec<u8>> {
    let is_same = old.identity.is_some() && old.identity == new.identity;
    let new = if is_same { names(new) } else { Vec::new() };
    let gone = names(old).into_iter().filter(|name| new.binary_search(name).is_err());
    let mut gone: Vec<_> = gone.map(|name| [&*old.prefix, &name, b"/"].concat()).collect();
    gone.sort_unstable();
    gone
}

/// The names of its directories, in order.
fn names(cached: &CachedDir) -> Vec<Vec<u8>> {
    let entries = (0..cached.listing.len()).filter_map(|index| cached.listing.get(index));
    let directories = entries.filter(|(_, kind)| *kind == Kind::Directory);
    let mut names: Vec<_> = directories.map(|(name, _)| name.to_vec()).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::walk::directory::DirListing;
    use crate::walk::ignore_rules::IgnoreFiles;
    use crate::workspace::{Identity, Volume};

    fn cached(prefix: &str, inode: u64, entries: &[(&str, Kind)]) -> Arc<CachedDir> {
        let mut listing = DirListing::default();
        for (name, kind) in entries {
            listing.push(name.as_bytes(), *kind);
        }
        let facts = (Volume::Disk, None, Some(Identity { device: 1, inode }));
        let known = (Arc::new(listing), IgnoreFiles::default());
        Arc::new(CachedDir::new(prefix.as_bytes().into(), known, facts, Arc::default()))
    }

    fn prefixes(directories: &DirTable) -> Vec<String> {
        let prefix = |cached: &Arc<CachedDir>| String::from_utf8(cached.prefix.to_vec()).unwrap();
        let mut prefixes: Vec<_> = directories.iter().map(prefix).collect();
        prefixes.sort();
        prefixes
    }

    const A: (&str, Kind) = ("a", Kind::Directory);
    const AB: (&str, Kind) = ("a-b", Kind::Directory);

    fn tree() -> DirTable {
        let mut directories = DirTable::default();
        for cached in [
            cached("", 1, &[A, AB]),
            cached("a/", 2, &[A]),
            cached("a/a/", 3, &[]),
            cached("a-b/", 4, &[A]),
            cached("a-b/a/", 5, &[]),
        ] {
            assert!(directories.put(cached, usize::MAX).is_empty());
        }
        directories
    }

    #[test]
    fn what_lay_below_a_directory_that_is_gone_is_forgotten() {
        let gone = |entries: &[(&str, Kind)], inode| {
            let mut directories = tree();
            let gone = directories.put(cached("", inode, entries), usize::MAX);
            (gone.concat(), prefixes(&directories))
        };
        let all = ["", "a-b/", "a-b/a/", "a/", "a/a/"].map(str::to_owned).to_vec();
        assert_eq!(gone(&[AB, A], 1), (vec![], all.clone()));
        assert_eq!(gone(&[AB], 1), (b"a/".to_vec(), all[..3].to_vec()));
        assert_eq!(gone(&[A], 1).1, ["", "a/", "a/a/"]);
        assert_eq!(gone(&[AB, ("a", Kind::Link)], 1).1, all[..3]);
        assert_eq!(gone(&[], 1), (b"a-b/a/".to_vec(), vec![String::new()]));
        // Another directory with the same names is another tree.
        assert_eq!(gone(&[A, AB], 9).1, [""]);
    }

    #[test]
    fn bytes_are_those_of_what_is_held() {
        let mut directories = tree();
        let sum = |directories: &DirTable| directories.iter().map(|cached| size(cached)).sum();
        let held: usize = sum(&directories);
        assert_eq!(directories.bytes(), held);
        directories.put(cached("", 1, &[A]), usize::MAX);
        assert_eq!(directories.bytes(), sum(&directories));
        assert!(directories.bytes() < held);
        // What finds no room takes the place of what was there all the same.
        let large = cached("a/", 2, &[("b", Kind::File)]);
        directories.put(large.clone(), size(&large));
        assert!(directories.get(b"a/").is_none() && !large.is_held());
        assert_eq!(directories.bytes(), sum(&directories));
        directories.put(large.clone(), usize::MAX);
        assert!(large.is_held());
    }

    #[test]
    fn only_whole_names_lie_below_others() {
        let gone = [b"x/a-b/".to_vec(), b"x/a/".to_vec(), b"x/c/".to_vec()];
        let cases = [
            ("x/a/", true),
            ("x/a/b/", true),
            ("x/a-b/c/", true),
            ("x/c/d/e/", true),
            ("x/", false),
            ("", false),
            ("x/ab/", false),
            ("x/a-/", false),
            ("x/b/", false),
            ("x/d/", false),
            ("y/a/", false),
        ];
        for (prefix, expected) in cases {
            assert_eq!(lies_below(prefix.as_bytes(), &gone), expected, "{prefix}");
        }
        assert!(!lies_below(b"x/", &[]));
    }
}
