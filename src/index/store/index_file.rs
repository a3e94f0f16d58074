//! Where an index is stored: in a directory that the host names.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::directory::Directory;
use super::temporary_file::sweep;
use super::{IndexFileKey, MappedIndex, write};
use crate::error::Error;
use crate::index::file_table::FileTable;
use crate::index::file_tables::FileTables;
use crate::index::record::DirectoryRecord;
use crate::index::{Index, IndexOptions};
use crate::walk::{DirListing, StoredListings};
use crate::workspace::{Fingerprint, Workspace};

/// What the name of an index ends with.
const SUFFIX: &str = ".ripkit-index";

/// The version of what filters and records mean; another one is another index.
const MEANING: u8 = 1;

/// Where an index is stored.
#[derive(Debug)]
pub(crate) struct IndexFile {
    directory: Directory,
    name: String,
    key: IndexFileKey,
    mapped: RwLock<Option<Arc<MappedIndex>>>,
    tables: Arc<FileTables>,
}

impl IndexFile {
    /// Looks for the directory, and for an index of the workspace in it that can be used. Makes
    /// nothing.
    pub(crate) fn open(
        directory: &Path,
        workspace: &Workspace,
        (options, tables): (&IndexOptions, &Arc<FileTables>),
    ) -> Result<IndexFile, Error> {
        let directory = Directory::find(directory, workspace.root())?;
        let root = workspace.root().as_os_str().as_encoded_bytes();
        let key = IndexFileKey::of(&[&[MEANING, options.share], root].concat());
        let name = format!("{}{SUFFIX}", digits(root));
        let mapped = directory.existing().and_then(|dir| MappedIndex::open(dir, &name, &key).ok());
        let (mapped, tables) = (RwLock::new(mapped.map(Arc::new)), tables.clone());
        Ok(IndexFile { directory, name, key, mapped, tables })
    }

    /// Bytes of the file, if there is one.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.mapped().map(|mapped| mapped.bytes())
    }

    /// Bytes of text that the file knows.
    pub(crate) fn text_bytes(&self) -> u64 {
        // Filters are most of the file, and a filter is a sixteenth of its text or so.
        self.bytes().map_or(0, |bytes| bytes * 16)
    }

    /// Writes what the index holds, and with `others` what only the file knows. Makes the
    /// directory if it is missing.
    pub(crate) fn save(&self, index: &Index, others: bool) -> Result<(), Error> {
        let failed = |error| Error::io("store the index in", self.directory.shown(), error);
        let dir = self.directory.made().map_err(failed)?;
        let cached = index.inner.cache.directories();
        let held: BTreeSet<&[u8]> = cached.iter().map(|cached| &*cached.prefix).collect();
        let mapped = self.mapped().filter(|_| others);
        let stored = mapped.iter().flat_map(|mapped| mapped.prefixes());
        let all: BTreeSet<&[u8]> = held.iter().copied().chain(stored).collect();
        let records = all.into_iter().filter_map(|prefix| {
            let held = index.inner.cache.directory(prefix);
            let record = match held {
                Some(cached) => index.inner.tables.of(&cached).record(cached.stamp),
                None => mapped.as_ref()?.directory(prefix)?,
            };
            Some((prefix, record))
        });
        write(dir, &self.name, &self.key, records).map_err(failed)?;
        let mapped = MappedIndex::open(dir, &self.name, &self.key).ok().map(Arc::new);
        *self.mapped.write().unwrap_or_else(PoisonError::into_inner) = mapped;
        Ok(())
    }

    /// Calls `each` with the directories of the file that are not held already.
    pub(crate) fn others(
        &self,
        is_held: impl Fn(&[u8]) -> bool,
        each: impl FnMut(DirectoryRecord),
    ) {
        let Some(mapped) = self.mapped() else { return };
        let others = mapped.prefixes().filter(|prefix| !is_held(prefix));
        others.filter_map(|prefix| mapped.directory(prefix)).for_each(each);
    }

    /// Removes the file, and what killed processes left in the directory.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        *self.mapped.write().unwrap_or_else(PoisonError::into_inner) = None;
        let Some(dir) = self.directory.existing() else { return Ok(()) };
        sweep(dir);
        match dir.remove_file(self.name.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed
                .map_err(|error| Error::io("remove the index from", self.directory.shown(), error)),
        }
    }

    fn mapped(&self) -> Option<Arc<MappedIndex>> {
        self.mapped.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl StoredListings for IndexFile {
    fn directory(&self, prefix: &Arc<[u8]>) -> Option<(Fingerprint, Arc<DirListing>)> {
        let record = self.mapped()?.directory(prefix)?;
        let stamp = record.stamp?;
        let listing = Arc::new(listing(&record));
        let table = FileTable::recorded(listing.clone(), record);
        self.tables.put(prefix.clone(), Arc::new(table));
        Some((stamp, listing))
    }
}

fn listing(record: &DirectoryRecord) -> DirListing {
    let mut listing = DirListing::default();
    record.entries.iter().for_each(|entry| listing.push(&entry.name, entry.kind));
    listing
}

/// The path of the root as a name.
fn digits(root: &[u8]) -> String {
    use std::fmt::Write;

    let mut digits = String::new();
    for byte in blake3::hash(root).as_bytes().iter().take(8) {
        // Writing to a string does not fail.
        let _ = write!(digits, "{byte:02x}");
    }
    digits
}
