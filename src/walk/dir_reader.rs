//! Reads directories for one walk: entries become batches of files and subdirectories, in path
//! order, with a report of what was left out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::walk::directory::{
    DirHandle, DirListing, DirectoryReport, FilteredDir, OpenCount, PendingDir,
};
use crate::walk::disk_dirs::{DiskDirs, shown};
use crate::walk::entry_filter::EntryFilter;
use crate::walk::ignore_rules::IgnoreRules;
use crate::walk::roots::{DirContents, DirSource, InitialTask, ReadContext, WalkOptions};
use crate::walk::selection::{
    RereadDir, RereadItem, SelectedDir, SelectedFiles, Selection, SelectionLookup,
};
use crate::walk::visitor::{BATCH, Batch};
use ripkit_fs::Workspace;
use ripkit_fs::os::{Kind, Volume};

/// What a directory holds.
#[derive(Debug, Default)]
pub(crate) struct ReadDirResult {
    /// Its files and subdirectories in path order.
    items: Vec<DirItem>,
    /// What was counted and left out.
    report: DirectoryReport,
    /// The entries that remain and the ignore rules inside, if it is a directory on disk that could
    /// be read.
    remaining: Option<(Arc<DirListing>, IgnoreRules)>,
}

/// Files of a directory, or a subdirectory.
#[derive(Debug)]
pub(crate) enum DirItem {
    Files(Batch),
    Directory(PendingDir),
}

impl ReadDirResult {
    /// What was counted and left out, and its files and subdirectories in path order.
    pub(super) fn into_parts(self) -> (DirectoryReport, Vec<DirItem>) {
        (self.report, self.items)
    }
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

    /// Files of a selection as a batch of this walk.
    pub(crate) fn batch(&self, files: &SelectedFiles) -> Batch {
        let ((prefix, base_len), (listing, range)) = (files.place(), files.listing());
        let root = self.workspace.root_handle();
        let handle = DirHandle::lazy(root, prefix.clone(), Volume::Disk, &self.open);
        Batch::new(handle, (prefix.clone(), base_len), (listing.clone(), range))
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
        let walk = ReadContext::new((options, workspace), open, keep_going);
        let mut report = DirectoryReport::default();
        // A directory outside the workspace root is never cached, because it cannot be opened by a
        // path below that root.
        let is_outside = directory.prefix().first() == Some(&b'/');
        let source = if is_outside { &DiskDirs } else { self.source() };
        match source.read(&walk, directory, &mut report) {
            Ok(contents) => {
                report.stats.directories = 1;
                let listing = self.narrow(directory, &contents, &mut report);
                let items = self.split(&contents, directory, &listing);
                let is_on_disk = contents.volume() == Volume::Disk;
                let remaining = is_on_disk.then(|| (listing, contents.rules().clone()));
                ReadDirResult { items, report, remaining }
            }
            Err(error) => {
                report.stats.unreadable(shown(directory.prefix()), error.to_string());
                ReadDirResult { items: Vec::new(), report, remaining: None }
            }
        }
    }

    /// Everything that the walk visits, if that is known or worth to be read before it begins.
    pub(crate) fn find_selection(
        &self,
        tasks: &[InitialTask],
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Arc<Selection>> {
        let source = self.source();
        let updated = match source.selection(&self.options, tasks) {
            SelectionLookup::Known(selection) => return Some(selection),
            SelectionLookup::Unknown => return None,
            SelectionLookup::Wanted => None,
            SelectionLookup::Outdated(selection, changed) => {
                self.update(&selection, &changed, tasks, keep_going)
            }
        };
        let selection = Arc::new(updated.or_else(|| self.select(tasks, keep_going))?);
        source.keep_selection(&self.options, tasks, &selection);
        Some(selection)
    }

    /// Reads directories of a selection again; none if more than files came and went in them, or one of
    /// them cannot be read.
    fn update(
        &self,
        selection: &Selection,
        changed: &[Arc<[u8]>],
        tasks: &[InitialTask],
        keep_going: &dyn Fn() -> bool,
    ) -> Option<Selection> {
        let at = (self.workspace.root_handle(), &self.open);
        let pending = |prefix: &Arc<[u8]>| {
            let root = tasks.iter().find_map(|task| match task {
                InitialTask::ReadDir(root) if root.prefix() == prefix => Some(root.clone()),
                _ => None,
            });
            root.or_else(|| selection.pending(prefix, at))
        };
        let mut pending: Vec<PendingDir> = changed.iter().map(pending).collect::<Option<_>>()?;
        let mut reread = BTreeMap::new();
        while let Some(directory) = pending.pop() {
            if reread.contains_key(directory.prefix()) {
                continue;
            }
            let (report, items, dir) = self.read_selected(&directory, keep_going)?;
            let item = |item| match item {
                DirItem::Files(batch) => {
                    RereadItem::Files(selected_files(&batch, directory.root_number()))
                }
                DirItem::Directory(below) => {
                    let prefix = below.prefix().clone();
                    // By this name there may be another directory now.
                    if !below.is_in_place() {
                        pending.push(below);
                    }
                    RereadItem::Directory(prefix)
                }
            };
            let items = items.into_iter().map(item).collect();
            reread.insert(directory.prefix().clone(), RereadDir::new(dir, report, items));
        }
        selection.with_directories(reread)
    }

    /// Reads a directory of a selection; none if it cannot be read.
    fn read_selected(
        &self,
        directory: &PendingDir,
        keep_going: &dyn Fn() -> bool,
    ) -> Option<(DirectoryReport, Vec<DirItem>, SelectedDir)> {
        let ReadDirResult { items, report, remaining } = self.read(directory, keep_going);
        if report.interrupted || !report.stats.trouble.is_empty() || !keep_going() {
            return None;
        }
        let (listing, inside) = remaining?;
        Some((report, items, SelectedDir::new(directory, listing, inside)))
    }

    /// Reads everything that a walk visits that begins with these tasks; none if something cannot
    /// be read.
    fn select(&self, tasks: &[InitialTask], keep_going: &dyn Fn() -> bool) -> Option<Selection> {
        let mut selection = Selection::default();
        for task in tasks {
            let (mut items, root) = match task {
                InitialTask::ReadDir(dir) => {
                    (vec![DirItem::Directory(dir.clone())], dir.root_number())
                }
                InitialTask::Visit(root, batch) => {
                    selection.push_files(selected_files(batch, *root));
                    continue;
                }
            };
            while let Some(item) = items.pop() {
                match item {
                    DirItem::Files(batch) => selection.push_files(selected_files(&batch, root)),
                    DirItem::Directory(directory) => {
                        let (report, below, dir) = self.read_selected(&directory, keep_going)?;
                        selection.push_directory(Arc::new(report), dir);
                        items.extend(below.into_iter().rev());
                    }
                }
            }
        }
        selection.finish(&Selection::default());
        Some(selection)
    }

    /// Applies the caller's filter; returns the entries that remain.
    fn narrow(
        &self,
        directory: &PendingDir,
        contents: &DirContents,
        report: &mut DirectoryReport,
    ) -> Arc<DirListing> {
        let mut filtered = contents.filtered().clone();
        let mut filter = EntryFilter::new(
            &self.options,
            &self.workspace,
            directory.prefix(),
            contents.rules(),
            contents.volume(),
        );
        if filter.may_narrow(&filtered) {
            let base_len = self.options.base_len(directory.root_number());
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
        let handle = contents.handle();
        let levels = self.options.levels(directory.prefix(), directory.depth());
        let mut items = Vec::new();
        let mut begin = 0;
        for index in 0..listing.len() {
            let Some((name, kind)) = listing.get(index) else { break };
            let is_directory = kind == Kind::Directory;
            let path = || [&**directory.prefix(), name].concat();
            let is_visited = if is_directory {
                levels > 0 && self.visits_itself(&path)
            } else {
                levels > 0 || self.options.names(&path())
            };
            let end = if is_visited { index + 1 } else { index };
            if is_directory || !is_visited || end - begin >= BATCH || index + 1 == listing.len() {
                if end > begin {
                    items.push(DirItem::Files(Batch::new(
                        handle.clone(),
                        (
                            directory.prefix().clone(),
                            self.options.base_len(directory.root_number()),
                        ),
                        (listing.clone(), begin..end),
                    )));
                }
                begin = index + 1;
            }
            if is_directory {
                let (rules, is_in_place) = (contents.rules(), contents.is_unchanged());
                let child = directory.child(name, handle.clone(), rules, is_in_place);
                if levels > 1 || self.options.leads_to_named(child.prefix()) {
                    items.push(DirItem::Directory(child));
                }
            }
        }
        items
    }

    /// Whether a subdirectory itself is visited, regardless of its entries.
    fn visits_itself(&self, path: &dyn Fn() -> Vec<u8>) -> bool {
        self.options.directories && self.options.reaches_itself(&path())
    }
}

fn selected_files(batch: &Batch, root: usize) -> SelectedFiles {
    let (listing, range) = batch.listing();
    let place = (batch.prefix().clone(), batch.base_len());
    SelectedFiles::new(root, place, (listing.clone(), range))
}
