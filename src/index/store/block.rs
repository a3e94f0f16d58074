//! What the file holds of one directory: its record, then the filters of its files.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use super::byte_reader::ByteReader;
use super::is_name;
use super::mapped_slice::{MappedSlice, Source};
use crate::index::record::{Bits, Content, DirectoryRecord, EntryRecord, KnownFile};
use crate::os::Identity;
use crate::workspace::{Fingerprint, Kind};

/// The most bytes of a block: what holds more, some gigabytes of text in one directory, is left
/// out, so that asking for a directory never takes long.
pub(super) const MAX_BYTES: usize = 1 << 30;

/// A directory made ready for the file.
#[derive(Debug)]
pub(super) struct Block<'a> {
    /// All but the filters.
    pub(super) record: Vec<u8>,
    /// In the order of their files.
    pub(super) filters: Vec<Cow<'a, [u8]>>,
}

/// Makes a block, with the entries in order of their names so that the same directory gives the
/// same bytes. Nothing if it could not be read again: no name, one name twice, too large.
pub(super) fn encode(directory: &DirectoryRecord) -> Option<Block<'_>> {
    let mut entries: Vec<&EntryRecord> = directory.entries.iter().collect();
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    let mut block = Block { record: vec![0; size_of::<u32>()], filters: Vec::new() };
    block.record.push(u8::from(directory.stamp.is_some()));
    if let Some(stamp) = &directory.stamp {
        put_stamp(&mut block.record, stamp);
    }
    block.record.extend_from_slice(&u32::try_from(entries.len()).ok()?.to_le_bytes());
    let mut last: Option<&[u8]> = None;
    for entry in entries {
        if !is_name(&entry.name) || last.is_some_and(|last| last == entry.name) {
            return None;
        }
        put_entry(&mut block, entry)?;
        last = Some(&entry.name);
    }
    let length = u32::try_from(block.record.len()).ok()?;
    block.record.get_mut(..size_of::<u32>())?.copy_from_slice(&length.to_le_bytes());
    let filters = block.filters.iter().map(|filter| filter.len()).sum::<usize>();
    (block.record.len() + filters <= MAX_BYTES).then_some(block)
}

fn put_entry<'a>(block: &mut Block<'a>, entry: &'a EntryRecord) -> Option<()> {
    let record = &mut block.record;
    record.push(kind_code(entry.kind) | content_code(entry.known.as_ref()) << 4);
    record.extend_from_slice(&u16::try_from(entry.name.len()).ok()?.to_le_bytes());
    record.extend_from_slice(&entry.name);
    let Some(known) = &entry.known else { return Some(()) };
    put_stamp(record, &known.stamp);
    record.extend_from_slice(&known.text_bytes.to_le_bytes());
    if let Content::Filtered(filter) = &known.content {
        record.extend_from_slice(&u32::try_from(filter.len()).ok()?.to_le_bytes());
        block.filters.push(filter.gathered());
    }
    Some(())
}

fn put_stamp(record: &mut Vec<u8>, stamp: &Fingerprint) {
    let Fingerprint { identity: Identity { device, inode }, size, modified, changed } = *stamp;
    for number in [device, inode, size] {
        record.extend_from_slice(&number.to_le_bytes());
    }
    for time in [modified, changed] {
        record.extend_from_slice(&time.to_le_bytes());
    }
}

fn kind_code(kind: Kind) -> u8 {
    match kind {
        Kind::File => 0,
        Kind::Directory => 1,
        Kind::Link => 2,
        Kind::Special => 3,
    }
}

fn content_code(known: Option<&KnownFile>) -> u8 {
    match known.map(|known| &known.content) {
        None => 0,
        Some(Content::Filtered(_)) => 1,
        Some(Content::Binary) => 2,
        Some(Content::Opaque) => 3,
    }
}

/// The directory in a block, which is a range of `source`, if every byte of it makes sense.
pub(super) fn decode(source: &Arc<Source>, block: Range<usize>) -> Option<DirectoryRecord> {
    let bytes = source.get(block.clone()).filter(|bytes| bytes.len() <= MAX_BYTES)?;
    let length = usize::try_from(ByteReader::new(bytes).u32()?).ok()?;
    let record = bytes.get(size_of::<u32>()..length)?;
    let filters = block.start + length..block.end;
    let mut reader = Reader { record: ByteReader::new(record), source, filters };
    let directory = reader.directory(bytes.len())?;
    (reader.record.is_empty() && reader.filters.is_empty()).then_some(directory)
}

/// What of a block is still to be read.
struct Reader<'a> {
    record: ByteReader<'a>,
    source: &'a Arc<Source>,
    filters: Range<usize>,
}

impl Reader<'_> {
    fn directory(&mut self, block_bytes: usize) -> Option<DirectoryRecord> {
        let stamp = match self.record.u8()? {
            0 => None,
            1 => Some(self.stamp()?),
            _ => return None,
        };
        let count = usize::try_from(self.record.u32()?).ok()?;
        // A count may lie: no more room than the block itself has is taken for it.
        let budget = count.min(block_bytes / size_of::<EntryRecord>());
        let mut entries: Vec<EntryRecord> = Vec::with_capacity(budget);
        for _ in 0..count {
            let entry = self.entry()?;
            if entries.last().is_some_and(|last| last.name >= entry.name) {
                return None;
            }
            entries.push(entry);
        }
        Some(DirectoryRecord { stamp, entries })
    }

    fn entry(&mut self) -> Option<EntryRecord> {
        let codes = self.record.u8()?;
        let kind = kind(codes & 0xF)?;
        let length = self.record.u16()?;
        let name = self.record.take(length.into()).filter(|name| is_name(name))?;
        let known = match codes >> 4 {
            0 => None,
            code => Some(self.known(code)?),
        };
        Some(EntryRecord { name: name.to_vec(), kind, known })
    }

    fn known(&mut self, code: u8) -> Option<KnownFile> {
        let (stamp, text_bytes) = (self.stamp()?, self.record.u64()?);
        let content = match code {
            1 => Content::Filtered(Bits::Stored(self.filter()?)),
            2 => Content::Binary,
            3 => Content::Opaque,
            _ => return None,
        };
        Some(KnownFile { stamp, text_bytes, content })
    }

    fn filter(&mut self) -> Option<MappedSlice> {
        let (part, rest) = MappedSlice::cut(self.source, &self.filters, self.record.u32()?)?;
        self.filters = rest;
        Some(part)
    }

    fn stamp(&mut self) -> Option<Fingerprint> {
        let cursor = &mut self.record;
        let identity = Identity { device: cursor.u64()?, inode: cursor.u64()? };
        let (size, modified, changed) = (cursor.u64()?, cursor.i64()?, cursor.i64()?);
        Some(Fingerprint { identity, size, modified, changed })
    }
}

fn kind(code: u8) -> Option<Kind> {
    match code {
        0 => Some(Kind::File),
        1 => Some(Kind::Directory),
        2 => Some(Kind::Link),
        3 => Some(Kind::Special),
        _ => None,
    }
}
