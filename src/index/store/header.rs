//! The first bytes of the file: what it is, whose it is, and where its table lies.

use super::byte_reader::ByteReader;
use super::{IndexFileKey, Unusable};

/// The first byte is no text and the last shows a transfer that changed line ends.
const MAGIC: &[u8; 8] = b"\xB6ripkit\n";

/// Counted up with every change of the layout.
const VERSION: u32 = 1;

/// What the file begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) key: IndexFileKey,
    /// Bytes of the whole file.
    pub(super) length: u64,
    /// Where the blocks end and the table begins.
    pub(super) table: u64,
    /// How many directories there are.
    pub(super) count: u32,
    /// Checksum of the table.
    pub(super) checksum: u32,
}

impl Header {
    /// Bytes of a header.
    pub(super) const LENGTH: usize = 72;

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(Header::LENGTH);
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.key.0);
        bytes.extend_from_slice(&self.length.to_le_bytes());
        bytes.extend_from_slice(&self.table.to_le_bytes());
        bytes.extend_from_slice(&self.count.to_le_bytes());
        bytes.extend_from_slice(&self.checksum.to_le_bytes());
        bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
        bytes
    }

    /// The header of a file; `checked` says whether its checksum must be right.
    pub(super) fn decode(file: &[u8], checked: bool) -> Result<Header, Unusable> {
        let mut cursor = ByteReader::new(file);
        if cursor.array() != Some(*MAGIC) {
            return Err(Unusable::Foreign);
        }
        if cursor.u32() != Some(VERSION) {
            return Err(Unusable::OtherVersion);
        }
        let header = Header::fields(&mut cursor).ok_or(Unusable::Damaged)?;
        let summed = file.get(..Header::LENGTH - size_of::<u32>()).unwrap_or_default();
        let is_sound = !checked || cursor.u32() == Some(crc32fast::hash(summed));
        if is_sound && header.length == file.len() as u64 {
            Ok(header)
        } else {
            Err(Unusable::Damaged)
        }
    }

    fn fields(cursor: &mut ByteReader<'_>) -> Option<Header> {
        Some(Header {
            key: IndexFileKey(cursor.array()?),
            length: cursor.u64()?,
            table: cursor.u64()?,
            count: cursor.u32()?,
            checksum: cursor.u32()?,
        })
    }
}
