//! Reads directories for one walk: entries become batches of files and subdirectories, in path
//! order, with a report of what was left out.

use std::sync::Arc;

use crate::walk::directory::{DirListing, DirectoryReport, FilteredDir, OpenCount, PendingDir};
use crate::walk::disk_dirs::{DiskDirs, shown};
use crate::walk::entry_filter::EntryFilter;
use crate::walk::roots::{DirContents, DirSource, ReadContext, WalkOptions};
use crate::walk::visitor::{BATCH, Batch};
use crate::workspace::{Kind, Workspace};

/// What a directory holds.
#[derive(Debug, Default)]
pub(crate) struct ReadDirResult {
    /// Its files and subdirectories in path order.
    pub(crate) items: Vec<DirItem>,
    /// What was counted and left out.
    pub(crate) report: DirectoryReport,
}

/// Files of a directory, or a subdirectory.
#[derive(Debug)]
pub(crate) enum DirItem {
    Files(Batch),
    Directory(PendingDir),
}

/// Reads the directories of one walk.
#[derive(Debug)]
pub(crate) struct DirReader {
    options: WalkOptions,
    workspace: Workspace,
    open: OpenCount,
}

impl DirReader {
    pub(crate) fn new(options: WalkOptions, workspace: Workspace) -> DirReader {
        DirReader { options, workspace, open: OpenCount::default() }
    }

    pub(crate) fn options(&self) -> &WalkOptions {
        &self.options
    }

    /// Where directories below the workspace root are read from.
    pub(crate) fn source(&self) -> &dyn DirSource {
        self.options.source.as_deref().unwrap_or(&DiskDirs)
    }

    /// Reads a directory. If it cannot be read, the report says why.
    pub(crate) fn read(
        &self,
        directory: &PendingDir,
        keep_going: &dyn Fn() -> bool,
    ) -> ReadDirResult {
        let (options, workspace, open) = (&self.options, &self.workspace, &self.open);
        let walk = ReadContext { options, workspace, open, keep_going };
        let mut report = DirectoryReport::default();
        // A directory outside the workspace root is never cached, because it cannot be opened by a
        // path below that root.
        let is_outside = directory.prefix.first() == Some(&b'/');
        let source = if is_outside { &DiskDirs } else { self.source() };
        match source.read(&walk, directory, &mut report) {
            Ok(contents) => {
                report.stats.directories = 1;
                let listing = self.narrow(directory, &contents, &mut report);
                let items = self.split(&contents, directory, &listing);
                ReadDirResult { items, report }
            }
            Err(error) => {
                report.stats.unreadable(shown(&directory.prefix), error.to_string());
                ReadDirResult { items: Vec::new(), report }
            }
        }
    }

    /// Applies the caller's filter; returns the entries that remain.
    fn narrow(
        &self,
        directory: &PendingDir,
        contents: &DirContents,
        report: &mut DirectoryReport,
    ) -> Arc<DirListing> {
        let mut filtered = contents.filtered.clone();
        let mut filter = EntryFilter::new(
            &self.options,
            &self.workspace,
            &directory.prefix,
            &contents.rules,
            contents.volume,
        );
        if filter.may_narrow(&filtered) {
            let base_len = self.options.base_len(directory.root);
            filter.apply_filter(Arc::make_mut(&mut filtered), base_len);
        }
        let FilteredDir { listing, report: filter_report } = Arc::unwrap_or_clone(filtered);
        report.absorb(filter_report);
        listing
    }

    /// Splits sorted entries into subdirectories and the batches of files between them.
    fn split(
        &self,
        contents: &DirContents,
        directory: &PendingDir,
        listing: &Arc<DirListing>,
    ) -> Vec<DirItem> {
        let handle = &contents.handle;
        let mut items = Vec::new();
        let mut begin = 0;
        for index in 0..listing.len() {
            let Some((name, kind)) = listing.get(index) else { break };
            let is_directory = kind == Kind::Directory;
            let is_visited = !is_directory || self.visits_itself(directory, name);
            let end = if is_visited { index + 1 } else { index };
            if is_directory || end - begin >= BATCH || index + 1 == listing.len() {
                if end > begin {
                    items.push(DirItem::Files(Batch::new(
                        handle.clone(),
                        (directory.prefix.clone(), self.options.base_len(directory.root)),
                        (listing.clone(), begin..end),
                        contents.cached.clone(),
                    )));
                }
                begin = index + 1;
            }
            if is_directory && self.descends(directory) {
                let child = directory.child(name, handle.clone(), &contents.rules);
                let is_in_place = contents.is_unchanged;
                items.push(DirItem::Directory(PendingDir { is_in_place, ..child }));
            }
        }
        items
    }

    /// Whether a subdirectory itself is visited, regardless of its entries.
    fn visits_itself(&self, above: &PendingDir, name: &[u8]) -> bool {
        self.options.directories && self.options.reaches_itself(&[&*above.prefix, name].concat())
    }

    fn descends(&self, directory: &PendingDir) -> bool {
        self.options.max_depth.is_none_or(|max| directory.depth + 1 < max)
    }
}
