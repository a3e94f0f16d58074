//! Where the block of each directory lies, in order of their prefixes.

use std::cmp::Ordering;
use std::ops::Range;

use super::byte_reader::ByteReader;
use super::header::Header;
use super::is_prefix;

/// The most bytes that a table may have, which is room for some millions of directories: it is
/// read whole when the index is opened.
pub(super) const MAX_BYTES: usize = 256 << 20;

/// A row without its prefix. Blocks and prefixes lie one behind the other, so that each begins
/// where the one before ends and none can overlap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    /// Where the block ends in the file.
    pub(super) block_end: u64,
    /// Where the prefix ends among the prefixes.
    pub(super) prefix_end: u32,
    /// Checksum of the block.
    pub(super) checksum: u32,
}

impl Row {
    pub(super) const LENGTH: usize = 16;

    pub(super) fn encode(self) -> [u8; Row::LENGTH] {
        let mut bytes = [0; Row::LENGTH];
        let (block_end, rest) = bytes.split_at_mut(8);
        let (prefix_end, checksum) = rest.split_at_mut(4);
        block_end.copy_from_slice(&self.block_end.to_le_bytes());
        prefix_end.copy_from_slice(&self.prefix_end.to_le_bytes());
        checksum.copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }
}

/// A block of the file.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) bytes: Range<usize>,
    pub(super) checksum: u32,
}

/// The table in the bytes of a file: rows, then prefixes.
#[derive(Clone, Debug)]
pub(super) struct Table {
    rows: Range<usize>,
    prefixes: Range<usize>,
    count: usize,
}

impl Table {
    /// The table of a file with this header, if all of it is sound; `checked` tells whether its
    /// checksum must be right.
    pub(super) fn decode(file: &[u8], header: &Header, checked: bool) -> Option<Table> {
        let count = usize::try_from(header.count).ok()?;
        let start = usize::try_from(header.table).ok()?;
        let middle = start.checked_add(count.checked_mul(Row::LENGTH)?)?;
        let (rows, prefixes) = (start..middle, middle..file.len());
        let bytes = file.get(start..).filter(|bytes| bytes.len() <= MAX_BYTES)?;
        if checked && crc32fast::hash(bytes) != header.checksum {
            return None;
        }
        let table = Table { rows, prefixes, count };
        table.is_ordered(file).then_some(table)
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// The prefix of the directory in a row.
    pub(super) fn prefix<'a>(&self, file: &'a [u8], index: usize) -> Option<&'a [u8]> {
        let end = self.row(file, index)?.prefix_end;
        let start = match index.checked_sub(1) {
            Some(before) => self.row(file, before)?.prefix_end,
            None => 0,
        };
        file.get(self.prefixes.clone())?.get(start as usize..end as usize)
    }

    /// The block of the directory in a row.
    pub(super) fn place(&self, file: &[u8], index: usize) -> Option<Place> {
        let Row { block_end, checksum, .. } = self.row(file, index)?;
        let start = match index.checked_sub(1) {
            Some(before) => usize::try_from(self.row(file, before)?.block_end).ok()?,
            None => Header::LENGTH,
        };
        Some(Place { bytes: start..usize::try_from(block_end).ok()?, checksum })
    }

    /// The row of a directory.
    pub(super) fn find(&self, file: &[u8], prefix: &[u8]) -> Option<usize> {
        let (mut low, mut high) = (0, self.count);
        while low < high {
            let middle = low.midpoint(high);
            match self.prefix(file, middle)?.cmp(prefix) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    fn row(&self, file: &[u8], index: usize) -> Option<Row> {
        let bytes = file.get(self.rows.clone())?.get(index * Row::LENGTH..)?;
        let mut cursor = ByteReader::new(bytes);
        Some(Row { block_end: cursor.u64()?, prefix_end: cursor.u32()?, checksum: cursor.u32()? })
    }

    /// Whether blocks and prefixes fill the room that they have, one behind the other, and
    /// prefixes are paths that ascend.
    fn is_ordered(&self, file: &[u8]) -> bool {
        let mut ends = (Header::LENGTH as u64, 0);
        let mut last: Option<&[u8]> = None;
        for index in 0..self.count {
            let Some(row) = self.row(file, index) else { return false };
            let Some(prefix) = self.prefix(file, index) else { return false };
            let is_next = last.is_none_or(|last| last < prefix) && is_prefix(prefix);
            if !is_next || row.block_end < ends.0 || row.prefix_end < ends.1 {
                return false;
            }
            ends = (row.block_end, row.prefix_end);
            last = Some(prefix);
        }
        ends.0 == self.rows.start as u64 && ends.1 as usize == self.prefixes.len()
    }
}
