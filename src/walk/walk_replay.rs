//! Decides whether a walk can replay a recorded one, and when a walk is recorded.

use std::sync::{Arc, OnceLock};

use crate::walk::cached_dir::CachedDir;
use crate::walk::dir_cache::DirCache;
use crate::walk::dir_reader::{DirItem, DirReader};
use crate::walk::directory::PendingDir;
use crate::walk::recorded_walk::{
    CHUNK_DIRS, EntryRange, NoteSlot, RecordedWalk, WalkEvent, WalkKey,
};
use crate::walk::roots::WalkOptions;

/// What one walk does with the records of others.
#[derive(Debug, Default)]
pub(super) struct WalkReplay {
    /// The key of this walk, if it may become a candidate for recording.
    candidate: OnceLock<(WalkKey, Arc<DirCache>)>,
}

impl WalkReplay {
    /// The record of a walk from this root, if there is a valid one or one can be made now.
    pub(super) fn find(
        &self,
        reader: &DirReader,
        root: &PendingDir,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Arc<RecordedWalk>> {
        let view = reader.view(&root.prefix)?;
        let key = key(root, reader.options()).filter(|_| view.cache.is_watched())?;
        let walks = &view.cache.walks;
        let first = reader.unchanged(root);
        if let Some(recorded) = walks.get(&key) {
            let open = |cached: &CachedDir| reader.handle(cached).open();
            let is_valid =
                first.is_some_and(|first| recorded.is_valid(&first, &open, view.generation));
            if !is_valid {
                walks.forget(&key);
            }
            return is_valid.then_some(recorded);
        }
        let first = first?;
        if !walks.take_candidate(&key) {
            self.candidate.set((key, view.cache.clone())).ok();
            return None;
        }
        let recorded = record(reader, root, first, keep_going)?;
        let reservation = view.cache.budget().reserve(recorded.bytes(), 0)?;
        let recorded = Arc::new(recorded);
        walks.put(key, Some((recorded.clone(), reservation)));
        Some(recorded)
    }

    /// Notes that the walk came to its end. If it looked at nothing, the next one is recorded.
    pub(super) fn end(&self, reader: &DirReader) {
        let candidate = self.candidate.get().filter(|_| !reader.has_looked());
        if let Some((key, cache)) = candidate {
            cache.walks.put(key.clone(), None);
        }
    }
}

/// The key of a walk from one root, unless it leaves out what others visit.
fn key(root: &PendingDir, options: &WalkOptions) -> Option<WalkKey> {
    let is_whole = options.filter.is_everything() && options.resume.is_none();
    let is_only_root = root.depth == 0 && options.roots.len() == 1;
    (is_whole && is_only_root).then(|| WalkKey {
        prefix: root.prefix.clone(),
        filter_key: options.filter_key(&root.rules),
        directories: options.directories,
        max_depth: options.max_depth,
    })
}

/// Records a whole walk; none if a directory would have to be looked at.
fn record(
    reader: &DirReader,
    root: &PendingDir,
    first: Arc<CachedDir>,
    keep_going: &dyn Fn() -> bool,
) -> Option<RecordedWalk> {
    let mut recorded = RecordedWalk::default();
    let mut items = record_dir(&mut recorded, reader, (root, first), keep_going)?;
    while let Some(item) = items.pop() {
        match item {
            DirItem::Files(batch) => {
                let (listing, range) = batch.listing();
                let (cached, listing) = (batch.cached.clone()?, listing.clone());
                let note = NoteSlot::default();
                recorded.events.push(WalkEvent::Files(EntryRange { cached, listing, range, note }));
            }
            DirItem::Directory(directory) => {
                let cached = reader.current(&directory).filter(|_| keep_going())?;
                items.extend(record_dir(&mut recorded, reader, (&directory, cached), keep_going)?);
            }
        }
    }
    Some(recorded)
}

/// Adds a directory to a record; returns its items, the first at the end.
fn record_dir(
    recorded: &mut RecordedWalk,
    reader: &DirReader,
    (directory, cached): (&PendingDir, Arc<CachedDir>),
    keep_going: &dyn Fn() -> bool,
) -> Option<Vec<DirItem>> {
    let read = reader.read(directory, Some(cached.clone()), keep_going);
    let report = read.report;
    if report.interrupted || !report.stats.trouble.is_empty() {
        return None;
    }
    if recorded.directories.len().is_multiple_of(CHUNK_DIRS) {
        recorded.chunks.push(recorded.events.len());
    }
    if cached.is_ruled() && !reader.options().no_ignore {
        recorded.ruled.push((cached.clone(), directory.rules.clone(), read.rules?));
    }
    recorded.directories.push(cached);
    recorded.events.push(WalkEvent::Directory(report));
    let mut items = read.items;
    items.reverse();
    Some(items)
}
