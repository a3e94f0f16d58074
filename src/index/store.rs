//! The index as one file, in a directory that the host names.
//!
//! First a header; then a block for each directory, in order of their prefixes: what is known of
//! its entries, then the filters of its files; last a table with the place, the checksum and the
//! prefix of each block. Opening reads header and table; a block is read when its directory is
//! asked for, and filters are never copied out of the file.
//!
//! What lies in the file is believed only as far as its checksums go, and even with right
//! checksums no byte of it makes us crash, loop for long or allocate more than it is long. An
//! index that cannot be used is no error of a search: there is none, then.
//!
//! A file is written under another name and renamed, so that whoever has the old one open keeps
//! it, and of several who write the last one wins. Where a mapped file cannot be replaced, which
//! is so on Windows, writing fails while somebody reads.

mod block;
mod byte_reader;
mod directory;
mod header;
mod index_file;
mod mapped_index;
mod mapped_slice;
mod table;
mod temporary_file;
#[cfg(test)]
mod tests;
mod writer;

use std::fmt;
use std::io;

pub(crate) use index_file::IndexFile;
use mapped_index::MappedIndex;
#[cfg(any(test, fuzzing))]
pub(crate) use mapped_index::parse_all;
pub(crate) use mapped_slice::MappedSlice;
use writer::write;

/// What an index must have been made with to be of use: one with another key is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct IndexFileKey([u8; 32]);

impl IndexFileKey {
    /// The key of what the caller deems decisive, of whatever length.
    pub(crate) fn of(bytes: &[u8]) -> IndexFileKey {
        IndexFileKey(*blake3::hash(bytes).as_bytes())
    }
}

/// Why there is no index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unusable {
    /// Nothing has the name.
    Missing,
    /// What has the name is a directory, a link, a FIFO or the like.
    NotAFile,
    /// The system refuses to open or map it.
    Unreadable(io::ErrorKind),
    /// Other users may write it, and so could cut it while it is mapped.
    Exposed,
    /// It is no index.
    Foreign,
    /// It was written by a version that lays it out differently.
    OtherVersion,
    /// It is the index of something else.
    OtherKey,
    /// It is cut, overwritten, or contradicts itself.
    Damaged,
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unusable::Missing => f.write_str("there is none yet"),
            Unusable::NotAFile => f.write_str("its name is taken by something that is no file"),
            Unusable::Unreadable(kind) => write!(f, "it cannot be read: {kind}"),
            Unusable::Exposed => f.write_str("other users may write it"),
            Unusable::Foreign => f.write_str("the file is no index"),
            Unusable::OtherVersion => f.write_str("another version wrote it"),
            Unusable::OtherKey => f.write_str("it is the index of something else"),
            Unusable::Damaged => f.write_str("it is damaged"),
        }
    }
}

/// Whether this can be the name of an entry.
fn is_name(name: &[u8]) -> bool {
    !matches!(name, b"" | b"." | b"..") && !name.iter().any(|byte| matches!(byte, b'/' | 0))
}

/// Whether this is the path of a directory below the root, as walks write it: names with
/// `/` behind each, and nothing for the root itself.
fn is_prefix(prefix: &[u8]) -> bool {
    match prefix.strip_suffix(b"/") {
        Some(path) => path.split(|byte| *byte == b'/').all(is_name),
        None => prefix.is_empty(),
    }
}
