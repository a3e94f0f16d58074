//! Whatever the bytes are.

use super::super::block::{Block, encode};
use super::super::header::Header;
use super::super::table::Row;
use super::super::{Unusable, parse_all};
use super::*;

/// Records of all kinds in few bytes.
fn small() -> Records {
    let mut dice = Dice::new(0);
    let stamp = dice.stamp();
    let content = [
        Some(Content::Filtered(Bits::Owned(dice.bytes(40).into()))),
        Some(Content::Binary),
        None,
        Some(Content::Filtered(Bits::Owned([9; 5].into()))),
    ];
    let entries = content.into_iter().zip(0_u8..).map(|(content, index)| EntryRecord {
        name: vec![b'a' + index],
        kind: [Kind::File, Kind::Link][usize::from(index % 2)],
        known: content.map(|content| KnownFile { stamp, text_bytes: 77, content }),
    });
    let record = DirectoryRecord { stamp: Some(stamp), entries: entries.collect() };
    [
        (b"".to_vec(), DirectoryRecord::default()),
        (b"src/".to_vec(), record),
        (b"src/os/".to_vec(), one_file(b"filter")),
    ]
    .into()
}

/// Every directory of what was written is as it was, or not there.
fn assert_honest(bytes: &[u8], records: &Records) {
    let Ok(mapped) = MappedIndex::of_bytes(bytes.to_vec(), &key()) else { return };
    for (prefix, record) in records {
        assert!(mapped.directory(prefix).is_none_or(|read| read == *record));
    }
    assert!(mapped.prefixes().all(|prefix| records.contains_key(prefix)));
}

#[test]
fn a_file_that_is_cut_or_longer_is_unusable() {
    let bytes = written(&small());
    for length in 0..bytes.len() {
        assert!(MappedIndex::of_bytes(bytes[..length].to_vec(), &key()).is_err(), "{length} bytes");
        parse_all(bytes[..length].to_vec()).unwrap();
    }
    let longer = [bytes.as_slice(), b"\0"].concat();
    assert_eq!(MappedIndex::of_bytes(longer, &key()).unwrap_err(), Unusable::Damaged);
}

#[test]
fn no_flipped_bit_changes_a_record() {
    let records = small();
    let mut bytes = written(&records);
    let mut spared = 0;
    for bit in 0..bytes.len() * 8 {
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert_honest(&bytes, &records);
        parse_all(bytes.clone()).unwrap();
        if let Ok(mapped) = MappedIndex::of_bytes(bytes.clone(), &key()) {
            let whole = records.keys().filter(|prefix| mapped.directory(prefix).is_some()).count();
            assert_eq!(whole, records.len() - 1, "bit {bit} is in no checksum");
            spared += 1;
        }
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
    assert!(spared > 0, "one damaged block makes all unusable");
    assert_eq!(read(&MappedIndex::of_bytes(bytes, &key()).unwrap()), records);
}

#[test]
fn bytes_made_at_random_do_no_harm() {
    let mut found = 0;
    for seed in 0..20_000 {
        let mut dice = Dice::new(seed);
        let mut bytes = if seed % 4 == 0 { dice.bytes(400) } else { written_once(seed % 7) };
        change_numbers(&mut dice, &mut bytes);
        found += parse_all(bytes).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
    }
    assert!(found > 0, "nothing random was ever parsed");
}

fn change_numbers(dice: &mut Dice, bytes: &mut [u8]) {
    for _ in 0..dice.below(6) {
        let Some(last) = bytes.len().checked_sub(1) else { break };
        // The header and the ends of tables are where numbers are.
        let at = dice.below(bytes.len()).min(last);
        let numbers = [0, 0xFF, 0x80, 1, dice.number().to_le_bytes()[0]];
        let number = numbers[dice.below(numbers.len())];
        let until = (at + [1, 4, 8][dice.below(3)]).min(bytes.len());
        bytes[at..until].fill(number);
    }
}

// Miri maps no files and opens few, so the bytes come from memory here: see `just miri`.
#[test]
fn numbers_that_lie_in_an_index_in_memory_do_no_harm() {
    let records = small();
    let sound = assembled(&records);
    assert_eq!(read(&MappedIndex::of_bytes(sound.clone(), &key()).unwrap()), records);
    if !cfg!(miri) {
        assert_eq!(sound, written(&records));
    }
    let (seeds, mut found) = (if cfg!(miri) { 100 } else { 2_000 }, 0);
    for seed in 0..seeds {
        let mut bytes = sound.clone();
        change_numbers(&mut Dice::new(seed), &mut bytes);
        found += parse_all(bytes).unwrap_or_else(|lie| panic!("seed {seed}: {lie}"));
    }
    assert!(found > 0, "nothing was ever parsed");
}

/// The bytes of an index of these records, made without a file.
fn assembled(records: &Records) -> Vec<u8> {
    let directories: Vec<(&str, Vec<u8>)> = records
        .iter()
        .map(|(prefix, record)| {
            let Block { record, filters } = encode(record).unwrap();
            (str::from_utf8(prefix).unwrap(), [record, filters.concat()].concat())
        })
        .collect();
    let borrowed: Vec<_> = directories.iter().map(|(prefix, block)| (*prefix, &**block)).collect();
    Forgery::of(&borrowed).bytes()
}

#[test]
fn what_fuzzing_has_found_does_no_harm() {
    let found = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/regressions/store");
    // It may have found nothing yet.
    for entry in std::fs::read_dir(found).into_iter().flatten().flatten() {
        parse_all(std::fs::read(entry.path()).unwrap()).unwrap();
    }
}

fn written_once(seed: u64) -> Vec<u8> {
    use std::sync::OnceLock;
    static WRITTEN: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    let all =
        WRITTEN.get_or_init(|| (0..7).map(|seed| written(&Dice::new(seed).records())).collect());
    all[usize::try_from(seed).unwrap()].clone()
}

/// An index whose checksums are right, whatever else it says.
struct Forgery {
    blocks: Vec<Vec<u8>>,
    rows: Vec<Row>,
    prefixes: Vec<u8>,
    count: u32,
}

impl Forgery {
    fn of(directories: &[(&str, &[u8])]) -> Forgery {
        let (mut blocks, mut rows, mut prefixes) = (Vec::new(), Vec::new(), Vec::new());
        let mut block_end = Header::LENGTH as u64;
        for (prefix, block) in directories {
            prefixes.extend_from_slice(prefix.as_bytes());
            block_end += block.len() as u64;
            let prefix_end = u32::try_from(prefixes.len()).unwrap();
            rows.push(Row { block_end, prefix_end, checksum: crc32fast::hash(block) });
            blocks.push(block.to_vec());
        }
        let count = u32::try_from(rows.len()).unwrap();
        Forgery { blocks, rows, prefixes, count }
    }

    fn bytes(&self) -> Vec<u8> {
        let blocks = self.blocks.concat();
        let rows: Vec<u8> = self.rows.iter().flat_map(|row| row.encode()).collect();
        let rest = [rows, self.prefixes.clone()].concat();
        let table = (Header::LENGTH + blocks.len()) as u64;
        let header = Header {
            key: key(),
            length: table + rest.len() as u64,
            table,
            count: self.count,
            checksum: crc32fast::hash(&rest),
        };
        [header.encode(), blocks, rest].concat()
    }

    fn open(&self) -> Result<MappedIndex, Unusable> {
        MappedIndex::of_bytes(self.bytes(), &key())
    }
}

/// A directory without stamp and entries, as it lies in the file.
const EMPTY: &[u8] = &[9, 0, 0, 0, 0, 0, 0, 0, 0];

#[test]
fn a_table_that_lies_is_unusable() {
    assert!(Forgery::of(&[("", EMPTY), ("a/", EMPTY)]).open().is_ok());
    let wrong: [&[&str]; 9] = [
        &["a/", ""],
        &["b/", "a/"],
        &["a/", "a/"],
        &["a"],
        &["/"],
        &["../"],
        &["a/../b/"],
        &["a//"],
        &["./"],
    ];
    for prefixes in wrong {
        let directories: Vec<_> = prefixes.iter().map(|prefix| (*prefix, EMPTY)).collect();
        assert_eq!(
            Forgery::of(&directories).open().unwrap_err(),
            Unusable::Damaged,
            "{prefixes:?}"
        );
    }
    let lies: [fn(&mut Forgery); 9] = [
        |forgery| forgery.rows[0].block_end = 0,
        |forgery| forgery.rows[0].block_end += 1000,
        |forgery| forgery.rows[1].block_end += 1,
        |forgery| forgery.rows[1].block_end = u64::MAX,
        |forgery| forgery.rows[0].prefix_end = u32::MAX,
        |forgery| forgery.rows[1].prefix_end = 1,
        |forgery| forgery.count = 1,
        |forgery| forgery.count = 3,
        |forgery| forgery.count = u32::MAX,
    ];
    for (index, lie) in lies.into_iter().enumerate() {
        let mut forgery = Forgery::of(&[("a/", EMPTY), ("b/", EMPTY)]);
        lie(&mut forgery);
        assert_eq!(forgery.open().unwrap_err(), Unusable::Damaged, "lie {index}");
    }
}

/// A block whose first number is right.
fn block(record: &[u8], filters: &[u8]) -> Vec<u8> {
    let length = u32::try_from(record.len() + 4).unwrap();
    [&length.to_le_bytes(), record, filters].concat()
}

#[test]
fn a_block_that_lies_is_no_directory() {
    let stamp = [0; 48];
    let file = |name: &str| [&[0, u8::try_from(name.len()).unwrap(), 0], name.as_bytes()].concat();
    let entries = |count: u8, entries: &[Vec<u8>]| {
        block(&[vec![0, count, 0, 0, 0], entries.concat()].concat(), b"")
    };
    let filtered = |length: [u8; 4], filters: &[u8]| {
        let record = [&[0, 1, 0, 0, 0, 0x10, 1, 0, b'a'], &stamp[..], &length].concat();
        block(&record, filters)
    };
    let right = [
        EMPTY.to_vec(),
        entries(2, &[file("a"), file("b")]),
        filtered([2, 0, 0, 0], b"xy"),
        filtered([0; 4], b""),
    ];
    for bytes in right {
        let mapped = Forgery::of(&[("a/", &bytes)]).open().unwrap();
        assert!(mapped.directory(b"a/").is_some(), "{bytes:?}");
    }
    let wrong = [
        vec![],
        vec![9, 0, 0],
        vec![0; 9],
        vec![255; 9],
        block(&[2, 0, 0, 0, 0], b""),
        block(&[0, 255, 255, 255, 255], b""),
        block(&[0, 0, 0, 0, 0, 0], b""),
        block(&[0, 0, 0, 0, 0], b"x"),
        entries(1, &[]),
        entries(1, &[file("a"), file("b")]),
        entries(3, &[file("a"), file("b")]),
        entries(2, &[file("b"), file("a")]),
        entries(2, &[file("a"), file("a")]),
        entries(1, &[file("")]),
        entries(1, &[file(".")]),
        entries(1, &[file("..")]),
        entries(1, &[file("a/b")]),
        entries(1, &[file("a\0b")]),
        entries(1, &[vec![4, 1, 0, b'a']]),
        entries(1, &[[&[0x40, 1, 0, b'a'], &stamp[..]].concat()]),
        filtered([3, 0, 0, 0], b"xy"),
        filtered([1, 0, 0, 0], b"xy"),
        filtered([255; 4], b"xy"),
    ];
    for bytes in wrong {
        let mapped = Forgery::of(&[("a/", &bytes), ("b/", EMPTY)]).open().unwrap();
        assert_eq!(mapped.directory(b"a/"), None, "{bytes:?}");
        assert!(mapped.directory(b"b/").is_some(), "{bytes:?}");
    }
}

#[test]
fn what_is_no_index_or_not_ours_says_so() {
    let bytes = written(&small());
    let with = |at: usize, byte: u8| {
        let mut bytes = bytes.clone();
        bytes[at] = byte;
        MappedIndex::of_bytes(bytes, &key()).unwrap_err()
    };
    assert_eq!(with(0, b'#'), Unusable::Foreign);
    assert_eq!(with(8, 0), Unusable::OtherVersion);
    assert_eq!(with(12, 0), Unusable::Damaged);
    assert_eq!(MappedIndex::of_bytes(Vec::new(), &key()).unwrap_err(), Unusable::Foreign);
    let mut header = Header::decode(&bytes, true).unwrap();
    header.length += 1;
    let longer = [&header.encode(), &bytes[Header::LENGTH..]].concat();
    assert_eq!(MappedIndex::of_bytes(longer, &key()).unwrap_err(), Unusable::Damaged);
    let other = IndexFileKey::of(b"another root");
    assert_eq!(MappedIndex::of_bytes(bytes, &other).unwrap_err(), Unusable::OtherKey);
}
