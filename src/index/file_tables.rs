//! The file tables of all directories.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::index::file_table::FileTable;
use crate::index::slicing::SlicedFilters;
use crate::walk::CachedDir;

/// What is known of the files of each directory, by its prefix.
#[derive(Debug, Default)]
pub(super) struct FileTables {
    by_prefix: RwLock<HashMap<Arc<[u8]>, Arc<FileTable>>>,
    pub(super) sliced: SlicedFilters,
}

impl FileTables {
    /// The table of a cached directory.
    pub(super) fn of(&self, cached: &CachedDir) -> Arc<FileTable> {
        let fits = |table: &Arc<FileTable>| table.is_of(&cached.listing);
        if let Some(table) = self.get(&cached.prefix).filter(fits) {
            return table;
        }
        let listing = cached.listing.clone();
        if !cached.is_held() {
            return Arc::new(FileTable::new(listing));
        }
        let mut tables = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        let known = tables.get(&cached.prefix).cloned();
        // Another thread may have made it meanwhile; made twice, what it knew would be lost.
        if let Some(table) = known.clone().filter(fits) {
            return table;
        }
        let table = Arc::new(match known {
            Some(old) => old.renewed(listing),
            None => FileTable::new(listing),
        });
        tables.insert(cached.prefix.clone(), table.clone());
        table
    }

    pub(super) fn get(&self, prefix: &[u8]) -> Option<Arc<FileTable>> {
        self.by_prefix.read().unwrap_or_else(PoisonError::into_inner).get(prefix).cloned()
    }

    pub(super) fn put(&self, prefix: Arc<[u8]>, table: Arc<FileTable>) {
        table.for_each_alone(|_, _| self.sliced.note(1));
        self.by_prefix.write().unwrap_or_else(PoisonError::into_inner).insert(prefix, table);
    }

    /// Forgets the directories for which `keep` is false.
    pub(super) fn retain(&self, keep: impl Fn(&[u8]) -> bool) {
        let mut tables = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        tables.retain(|prefix, _| keep(prefix));
    }
}
