//! The rosters of all directories.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use crate::index::bundles::Bundles;
use crate::index::roster::Roster;
use crate::walk::CachedDir;

/// What is known of the files of each directory, by its prefix.
#[derive(Debug, Default)]
pub(super) struct Rosters {
    by_prefix: RwLock<HashMap<Arc<[u8]>, Arc<Roster>>>,
    pub(super) bundles: Bundles,
}

impl Rosters {
    /// The roster of a directory as it is kept.
    pub(super) fn of(&self, cached: &CachedDir) -> Arc<Roster> {
        let fits = |roster: &Arc<Roster>| roster.is_of(&cached.listing);
        if let Some(roster) = self.get(&cached.prefix).filter(fits) {
            return roster;
        }
        let listing = cached.listing.clone();
        if !cached.is_held() {
            return Arc::new(Roster::new(listing));
        }
        let mut rosters = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        let known = rosters.get(&cached.prefix).cloned();
        // Another thread may have made it meanwhile; made twice, what it knew would be lost.
        if let Some(roster) = known.clone().filter(fits) {
            return roster;
        }
        let roster = Arc::new(match known {
            Some(old) => old.renewed(listing),
            None => Roster::new(listing),
        });
        rosters.insert(cached.prefix.clone(), roster.clone());
        roster
    }

    pub(super) fn get(&self, prefix: &[u8]) -> Option<Arc<Roster>> {
        self.by_prefix.read().unwrap_or_else(PoisonError::into_inner).get(prefix).cloned()
    }

    pub(super) fn put(&self, prefix: Arc<[u8]>, roster: Arc<Roster>) {
        roster.for_each_alone(|_, _| self.bundles.note(1));
        self.by_prefix.write().unwrap_or_else(PoisonError::into_inner).insert(prefix, roster);
    }

    /// Forgets the directories for which `keep` is false.
    pub(super) fn retain(&self, keep: impl Fn(&[u8]) -> bool) {
        let mut rosters = self.by_prefix.write().unwrap_or_else(PoisonError::into_inner);
        rosters.retain(|prefix, _| keep(prefix));
    }
}
