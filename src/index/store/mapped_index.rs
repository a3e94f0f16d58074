//! An index file that is mapped for reading.

use std::io;
use std::sync::Arc;

use super::block;
use super::header::Header;
use super::mapped_slice::Source;
#[cfg(any(test, fuzzing))]
use super::table::Row;
use super::table::{Place, Table};
use super::{IndexFileKey, Unusable, is_name};
use crate::index::record::DirectoryRecord;
use crate::os::{Dir, File, Kind, Mapping};

/// Permission bits of others than the owner to write.
const OTHERS_WRITE: u32 = 0o022;

/// An index file. It stays what it was when it was opened, whoever writes another meanwhile.
#[derive(Clone, Debug)]
pub(crate) struct MappedIndex {
    source: Arc<Source>,
    table: Table,
    checked: bool,
}

impl MappedIndex {
    /// Opens the index of this name, without following a link and without waiting.
    pub(crate) fn open(dir: &Dir, name: &str, key: &IndexFileKey) -> Result<MappedIndex, Unusable> {
        let name = name.as_bytes();
        if !is_name(name) {
            return Err(Unusable::Unreadable(io::ErrorKind::InvalidInput));
        }
        let file = dir.open_file(name).map_err(|error| refused(dir, name, &error))?;
        MappedIndex::new(Source::Mapped(map(&file)?), Some(key))
    }

    /// The index in these bytes; without a key any will do, and checksums are not looked at.
    fn new(source: Source, key: Option<&IndexFileKey>) -> Result<MappedIndex, Unusable> {
        let checked = key.is_some();
        let header = Header::decode(&source, checked)?;
        if key.is_some_and(|key| *key != header.key) {
            return Err(Unusable::OtherKey);
        }
        let table = Table::decode(&source, &header, checked).ok_or(Unusable::Damaged)?;
        Ok(MappedIndex { source: Arc::new(source), table, checked })
    }

    /// The index in bytes that need not come from a file.
    #[cfg(test)]
    pub(super) fn of_bytes(bytes: Vec<u8>, key: &IndexFileKey) -> Result<MappedIndex, Unusable> {
        MappedIndex::new(Source::Held(bytes), Some(key))
    }

    /// What was written of the directory with this prefix, its entries in order of their names;
    /// nothing if it was not, or is damaged. Each time all of it is read, filters too.
    pub(crate) fn directory(&self, prefix: &[u8]) -> Option<DirectoryRecord> {
        let index = self.table.find(&self.source, prefix)?;
        let Place { bytes, checksum } = self.table.place(&self.source, index)?;
        let block = self.source.get(bytes.clone())?;
        if block.len() > block::MAX_BYTES || self.checked && crc32fast::hash(block) != checksum {
            return None;
        }
        block::decode(&self.source, bytes)
    }

    /// The prefixes of all directories, ascending, damaged ones too.
    pub(crate) fn prefixes(&self) -> impl ExactSizeIterator<Item = &[u8]> {
        (0..self.table.len())
            .map(|index| self.table.prefix(&self.source, index).unwrap_or_default())
    }

    /// Bytes of the file.
    pub(crate) fn bytes(&self) -> u64 {
        self.source.len() as u64
    }
}

fn map(file: &File) -> Result<Mapping, Unusable> {
    let unreadable = |error: io::Error| Unusable::Unreadable(error.kind());
    let stat = file.stat().map_err(unreadable)?;
    if stat.kind != Kind::File {
        return Err(Unusable::NotAFile);
    }
    if is_exposed(stat.mode) || !file.is_own().map_err(unreadable)? {
        return Err(Unusable::Exposed);
    }
    Mapping::of(file).map_err(unreadable)
}

/// Whether other users may write a file; elsewhere than on Unix the directory decides.
pub(super) fn is_exposed(mode: u32) -> bool {
    cfg!(unix) && mode & OTHERS_WRITE != 0
}

fn refused(dir: &Dir, name: &[u8], error: &io::Error) -> Unusable {
    match dir.stat(name) {
        Ok(stat) if stat.kind != Kind::File => Unusable::NotAFile,
        _ if error.kind() == io::ErrorKind::NotFound => Unusable::Missing,
        _ => Unusable::Unreadable(error.kind()),
    }
}

/// Reads whatever these bytes hold, and tells how many entries that is, or of what directory the
/// bytes are not those that it would be written as. Checksums are not looked at, so that bytes made
/// at random get as far as they can.
#[cfg(any(test, fuzzing))]
pub(crate) fn parse_all(bytes: Vec<u8>) -> Result<usize, String> {
    let Ok(mapped) = MappedIndex::new(Source::Held(bytes), None) else { return Ok(0) };
    let (mut entries, mut end) = (0, Header::LENGTH);
    for (index, prefix) in mapped.prefixes().enumerate() {
        let place = mapped.table.place(&mapped.source, index).map_or(0..0, |place| place.bytes);
        if place.start != end || place.end < end {
            return Err(format!("directory {index} lies at {place:?}, behind {end}"));
        }
        end = place.end;
        let Some(record) = mapped.directory(prefix) else { continue };
        let again = block::encode(&record).map(|block| {
            let block::Block { record, filters } = block;
            [record, filters.concat()].concat()
        });
        if again.as_deref() != mapped.source.get(place) {
            return Err(format!("directory {index} would be written as {again:?}"));
        }
        entries += record.entries.len();
    }
    let rest: usize = mapped.prefixes().map(|prefix| Row::LENGTH + prefix.len()).sum();
    let is_whole = end + rest == mapped.source.len();
    is_whole.then_some(entries).ok_or_else(|| format!("bytes of no directory lie behind {end}"))
}
