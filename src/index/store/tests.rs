#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the file by other means than the ones they test"
)]

mod damage;
mod place;

use std::collections::BTreeMap;

use tempfile::TempDir;

use super::{IndexFileKey, MappedIndex, is_prefix, write};
use crate::index::record::{Bits, Content, DirectoryRecord, EntryRecord, KnownFile};
use crate::os::{Dir, Identity};
use crate::workspace::{Fingerprint, Kind};

const NAME: &str = "index";

type Records = BTreeMap<Vec<u8>, DirectoryRecord>;

/// A small generator of pseudo-random choices.
struct Dice(u64);

impl Dice {
    fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_add(1).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.number() % limit as u64).unwrap()
    }

    fn bytes(&mut self, limit: usize) -> Vec<u8> {
        (0..self.below(limit)).map(|_| self.number().to_le_bytes()[3]).collect()
    }

    /// Often short, seldom text.
    fn name(&mut self) -> Vec<u8> {
        let limit = if self.below(8) == 0 { 300 } else { 6 };
        let mut name = self.bytes(limit);
        name.retain(|byte| !matches!(byte, b'/' | 0));
        name.push(b'a' + self.number().to_le_bytes()[2] % 26);
        name
    }

    fn stamp(&mut self) -> Fingerprint {
        let identity = Identity { device: self.number(), inode: self.number() };
        let (modified, changed) = (self.number().cast_signed(), self.number().cast_signed());
        Fingerprint { identity, size: self.number(), modified, changed }
    }

    fn known(&mut self) -> KnownFile {
        let content = match self.below(4) {
            0 => Content::Binary,
            1 => Content::Opaque,
            _ => Content::Filtered(Bits::Owned(self.bytes(200).into())),
        };
        KnownFile { stamp: self.stamp(), text_bytes: self.number(), content }
    }

    fn directory(&mut self) -> DirectoryRecord {
        let kinds = [Kind::File, Kind::Directory, Kind::Link, Kind::Special];
        let names: std::collections::BTreeSet<_> =
            (0..self.below(9)).map(|_| self.name()).collect();
        let entries = names.into_iter().map(|name| {
            let known = (self.below(3) > 0).then(|| self.known());
            EntryRecord { name, kind: kinds[self.below(4)], known }
        });
        let entries = entries.collect();
        DirectoryRecord { stamp: (self.below(3) > 0).then(|| self.stamp()), entries }
    }

    /// Directories of any depth, seldom with the one above.
    fn records(&mut self) -> Records {
        let prefix = |dice: &mut Dice| {
            (0..dice.below(4)).flat_map(|_| [dice.name(), b"/".to_vec()].concat()).collect()
        };
        (0..self.below(12)).map(|_| (prefix(self), self.directory())).collect()
    }
}

fn key() -> IndexFileKey {
    IndexFileKey::of(b"this root, these grams")
}

fn fixture() -> (TempDir, Dir) {
    let temporary = TempDir::new().unwrap();
    let dir = Dir::open_ambient(temporary.path()).unwrap();
    (temporary, dir)
}

/// The bytes of an index of these records.
fn written(records: &Records) -> Vec<u8> {
    let (temporary, dir) = fixture();
    let length = write(&dir, NAME, &key(), records).unwrap();
    let bytes = std::fs::read(temporary.path().join(NAME)).unwrap();
    assert_eq!(bytes.len() as u64, length);
    bytes
}

/// All that an index holds.
fn read(mapped: &MappedIndex) -> Records {
    let prefixes = mapped.prefixes();
    prefixes.map(|prefix| (prefix.to_vec(), mapped.directory(prefix).unwrap())).collect()
}

#[test]
fn what_was_written_is_read_again() {
    for seed in 0..300 {
        let records = Dice::new(seed).records();
        let (_temporary, dir) = fixture();
        let length = write(&dir, NAME, &key(), &records).unwrap();
        let mapped = MappedIndex::open(&dir, NAME, &key()).unwrap();
        assert_eq!(read(&mapped), records, "seed {seed}");
        assert!(mapped.prefixes().eq(records.keys()), "seed {seed}");
        assert_eq!(mapped.bytes(), length);
        for _ in 0..20 {
            let other = Dice::new(seed).name();
            assert_eq!(mapped.directory(&other), records.get(&other).cloned(), "seed {seed}");
        }
    }
}

#[test]
fn an_index_may_hold_nothing() {
    let mapped = MappedIndex::of_bytes(written(&Records::new()), &key()).unwrap();
    assert_eq!(mapped.prefixes().len(), 0);
    assert_eq!(mapped.directory(b""), None);
}

#[test]
fn filters_stay_in_the_file_and_outlive_its_image() {
    let records: Records = [(b"a/".to_vec(), one_file(&[7; 1000]))].into();
    let (_temporary, dir) = fixture();
    write(&dir, NAME, &key(), &records).unwrap();
    let mapped = MappedIndex::open(&dir, NAME, &key()).unwrap();
    let (one, two) = (mapped.directory(b"a/").unwrap(), mapped.directory(b"a/").unwrap());
    drop(mapped);
    let (one, two) = (one.entries[0].filter().unwrap(), two.entries[0].filter().unwrap());
    assert_eq!(one, [7; 1000]);
    assert_eq!(one.as_ptr(), two.as_ptr());
}

fn one_file(filter: &[u8]) -> DirectoryRecord {
    let mut dice = Dice::new(1);
    let content = Content::Filtered(Bits::Owned(filter.into()));
    let known = Some(KnownFile { stamp: dice.stamp(), text_bytes: 9, content });
    let entries = vec![EntryRecord { name: b"file".to_vec(), kind: Kind::File, known }];
    DirectoryRecord { stamp: None, entries }
}

#[test]
fn a_filter_may_be_larger_than_the_buffer() {
    let small = || one_file(b"small");
    let records: Records = [
        (b"".to_vec(), small()),
        (b"a/".to_vec(), one_file(&vec![1; (1 << 20) + 1])),
        (b"b/".to_vec(), one_file(&vec![2; 1 << 20])),
        (b"c/".to_vec(), small()),
    ]
    .into();
    assert_eq!(read(&MappedIndex::of_bytes(written(&records), &key()).unwrap()), records);
}

#[test]
fn the_same_records_give_the_same_bytes_in_whatever_order_entries_come() {
    for seed in 0..50 {
        let mut records = Dice::new(seed).records();
        let bytes = written(&records);
        for record in records.values_mut() {
            record.entries.reverse();
        }
        assert_eq!(written(&records), bytes, "seed {seed}");
    }
}

#[test]
fn what_was_read_can_be_written_again() {
    let bytes = written(&Dice::new(3).records());
    let mapped = MappedIndex::of_bytes(bytes.clone(), &key()).unwrap();
    assert_eq!(written(&read(&mapped)), bytes);
}

#[test]
fn a_directory_that_could_not_be_read_again_is_left_out() {
    let named = |names: &[&[u8]]| {
        let entry =
            |name: &&[u8]| EntryRecord { name: name.to_vec(), kind: Kind::File, known: None };
        DirectoryRecord { stamp: None, entries: names.iter().map(entry).collect() }
    };
    let long = vec![b'a'; 1 << 16];
    let wrong: [&[&[u8]]; 8] = [
        &[b""],
        &[b"."],
        &[b".."],
        &[b"a/b"],
        &[b"/"],
        &[b"a\0b"],
        &[b"same", b"other", b"same"],
        &[&long],
    ];
    let good = named(&[b"a", b"..."]);
    for names in wrong {
        let records: Records =
            [(b"a/".to_vec(), named(names)), (b"b/".to_vec(), good.clone())].into();
        let mapped = MappedIndex::of_bytes(written(&records), &key()).unwrap();
        assert_eq!(mapped.directory(b"a/"), None, "{names:?}");
        assert_eq!(mapped.directory(b"b/").unwrap().entries.len(), 2, "{names:?}");
    }
}

#[test]
fn prefixes_are_paths_that_ascend() {
    for prefix in ["", "a/", "a/b/", ".../", " /", "a\\/"] {
        assert!(is_prefix(prefix.as_bytes()), "{prefix:?}");
    }
    for prefix in ["/", "a", "//", "a//", "/a/", "./", "../", "a/../", "a/b", "a\0/"] {
        assert!(!is_prefix(prefix.as_bytes()), "{prefix:?}");
    }
    for prefixes in [["b/", "a/"], ["a/", "a/"], ["a/", ""], ["", "x"]] {
        let (_temporary, dir) = fixture();
        let records = prefixes.map(|prefix| (prefix, DirectoryRecord::default()));
        let error = write(&dir, NAME, &key(), records).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::InvalidInput, "{prefixes:?}");
    }
}
