//! Writing an index, a directory at a time.

use std::borrow::Borrow;
use std::io;

use super::block::{self, Block};
use super::header::Header;
use super::mapped_index::is_exposed;
use super::table::{self, Row};
use super::temporary_file::{TemporaryFile, sweep};
use super::{IndexFileKey, is_name, is_prefix};
use crate::index::record::DirectoryRecord;
use crate::os::{Dir, File};

/// Bytes that are collected before they are written.
const BUFFER: usize = 1 << 20;

/// Writes an index in the place of the one of this name, and returns its size in bytes.
///
/// Prefixes must ascend, and end in `/` but for the root's, which is empty. A directory that
/// could not be read again is left out: one with a name twice, or with filters of more than
/// 1 GiB together. After an error the old index is as it was. It is `Unsupported` where files
/// cannot be kept from other users.
pub(crate) fn write<P: AsRef<[u8]>, R: Borrow<DirectoryRecord>>(
    dir: &Dir,
    name: &str,
    key: &IndexFileKey,
    records: impl IntoIterator<Item = (P, R)>,
) -> io::Result<u64> {
    if !is_name(name.as_bytes()) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    sweep(dir);
    let temporary = TemporaryFile::create(dir)?;
    let file = temporary.file()?;
    if is_exposed(file.stat()?.mode) {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let length = fill(file, key, records)?;
    file.sync()?;
    temporary.rename(name.as_bytes())?;
    Ok(length)
}

/// Writes all of an index to an empty file, the header last.
pub(super) fn fill<P: AsRef<[u8]>, R: Borrow<DirectoryRecord>>(
    file: &File,
    key: &IndexFileKey,
    records: impl IntoIterator<Item = (P, R)>,
) -> io::Result<u64> {
    let mut writer = Writer::new(file);
    for (prefix, record) in records {
        writer.add(prefix.as_ref(), record.borrow())?;
    }
    writer.finish(key)
}

/// A file in the making.
#[derive(Debug)]
struct Writer<'a> {
    file: &'a File,
    buffer: Vec<u8>,
    /// Bytes of the file before those in the buffer.
    written: u64,
    rows: Vec<u8>,
    prefixes: Vec<u8>,
    count: u32,
    last: Option<Vec<u8>>,
}

impl Writer<'_> {
    fn new(file: &File) -> Writer<'_> {
        let (buffer, written) = (Vec::with_capacity(BUFFER), Header::LENGTH as u64);
        let (rows, prefixes) = (Vec::new(), Vec::new());
        Writer { file, buffer, written, rows, prefixes, count: 0, last: None }
    }

    fn add(&mut self, prefix: &[u8], record: &DirectoryRecord) -> io::Result<()> {
        let ascends = self.last.as_ref().is_none_or(|last| last.as_slice() < prefix);
        if !ascends || !is_prefix(prefix) {
            let why = "prefixes must be paths that ascend";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        self.last = Some(prefix.to_vec());
        match block::encode(record) {
            Some(block) => self.add_block(prefix, &block),
            None => Ok(()),
        }
    }

    fn add_block(&mut self, prefix: &[u8], block: &Block<'_>) -> io::Result<()> {
        let mut checksum = crc32fast::Hasher::new();
        let filters = block.filters.iter().map(|filter| &**filter);
        for bytes in std::iter::once(block.record.as_slice()).chain(filters) {
            checksum.update(bytes);
            self.put(bytes)?;
        }
        self.prefixes.extend_from_slice(prefix);
        let row = Row {
            block_end: self.written + self.buffer.len() as u64,
            prefix_end: u32::try_from(self.prefixes.len()).map_err(|_| too_large())?,
            checksum: checksum.finalize(),
        };
        self.rows.extend_from_slice(&row.encode());
        self.count = self.count.checked_add(1).ok_or_else(too_large)?;
        Ok(())
    }

    fn finish(mut self, key: &IndexFileKey) -> io::Result<u64> {
        let table = self.written + self.buffer.len() as u64;
        let (rows, prefixes) = (std::mem::take(&mut self.rows), std::mem::take(&mut self.prefixes));
        if rows.len() + prefixes.len() > table::MAX_BYTES {
            return Err(too_large());
        }
        let mut checksum = crc32fast::Hasher::new();
        for bytes in [rows, prefixes] {
            checksum.update(&bytes);
            self.put(&bytes)?;
        }
        self.flush()?;
        let (length, count, checksum) = (self.written, self.count, checksum.finalize());
        let header = Header { key: *key, length, table, count, checksum };
        self.file.write_at(&header.encode(), 0)?;
        Ok(length)
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.buffer.len() + bytes.len() > BUFFER {
            self.flush()?;
        }
        if bytes.len() > BUFFER {
            return self.write(bytes);
        }
        self.buffer.extend_from_slice(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        buffer.clear();
        self.buffer = buffer;
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_at(bytes, self.written)?;
        self.written += bytes.len() as u64;
        Ok(())
    }
}

fn too_large() -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, "more directories than an index holds")
}
