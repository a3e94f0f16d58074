//! Where an index is stored: in a directory that the host names.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use super::directory::Directory;
use super::temporary::sweep;
use super::{Image, StoreKey, write};
use crate::error::Error;
use crate::index::record::DirectoryRecord;
use crate::index::roster::Roster;
use crate::index::rosters::Rosters;
use crate::index::{Index, IndexOptions};
use crate::walk::{DirListing, StoredListings};
use crate::workspace::{Fingerprint, Workspace};

/// What the name of an index ends with.
const SUFFIX: &str = ".ripkit-index";

/// The version of what filters and records mean; another one is another index.
const MEANING: u8 = 1;

/// Where an index is stored.
#[derive(Debug)]
pub(crate) struct Store {
    directory: Directory,
    name: String,
    key: StoreKey,
    image: RwLock<Option<Arc<Image>>>,
    rosters: Arc<Rosters>,
}

impl Store {
    /// Looks for the directory, and for an index of the workspace in it that can be used. Makes
    /// nothing.
    pub(crate) fn open(
        directory: &Path,
        workspace: &Workspace,
        (options, rosters): (&IndexOptions, &Arc<Rosters>),
    ) -> Result<Store, Error> {
        let directory = Directory::find(directory, workspace.root())?;
        let root = workspace.root().as_os_str().as_encoded_bytes();
        let key = StoreKey::of(&[&[MEANING, options.share], root].concat());
        let name = format!("{}{SUFFIX}", digits(root));
        let image = directory.existing().and_then(|dir| Image::open(dir, &name, &key).ok());
        let (image, rosters) = (RwLock::new(image.map(Arc::new)), rosters.clone());
        Ok(Store { directory, name, key, image, rosters })
    }

    /// Bytes of the file, if there is one.
    pub(crate) fn bytes(&self) -> Option<u64> {
        self.image().map(|image| image.bytes())
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
        let image = self.image().filter(|_| others);
        let stored = image.iter().flat_map(|image| image.prefixes());
        let all: BTreeSet<&[u8]> = held.iter().copied().chain(stored).collect();
        let records = all.into_iter().filter_map(|prefix| {
            let held = index.inner.cache.directory(prefix);
            let record = match held {
                Some(cached) => index.inner.rosters.of(&cached).record(cached.stamp),
                None => image.as_ref()?.directory(prefix)?,
            };
            Some((prefix, record))
        });
        write(dir, &self.name, &self.key, records).map_err(failed)?;
        let image = Image::open(dir, &self.name, &self.key).ok().map(Arc::new);
        *self.image.write().unwrap_or_else(PoisonError::into_inner) = image;
        Ok(())
    }

    /// Calls `each` with the directories of the file that are not held already.
    pub(crate) fn others(
        &self,
        is_held: impl Fn(&[u8]) -> bool,
        each: impl FnMut(DirectoryRecord),
    ) {
        let Some(image) = self.image() else { return };
        let others = image.prefixes().filter(|prefix| !is_held(prefix));
        others.filter_map(|prefix| image.directory(prefix)).for_each(each);
    }

    /// Removes the file, and what killed processes left in the directory.
    pub(crate) fn remove(&self) -> Result<(), Error> {
        *self.image.write().unwrap_or_else(PoisonError::into_inner) = None;
        let Some(dir) = self.directory.existing() else { return Ok(()) };
        sweep(dir);
        match dir.remove_file(self.name.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed
                .map_err(|error| Error::io("remove the index from", self.directory.shown(), error)),
        }
    }

    fn image(&self) -> Option<Arc<Image>> {
        self.image.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl StoredListings for Store {
    fn directory(&self, prefix: &Arc<[u8]>) -> Option<(Fingerprint, Arc<DirListing>)> {
        let record = self.image()?.directory(prefix)?;
        let stamp = record.stamp?;
        let listing = Arc::new(listing(&record));
        let roster = Roster::recorded(listing.clone(), record);
        self.rosters.put(prefix.clone(), Arc::new(roster));
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
