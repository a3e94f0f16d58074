//! Where a walk learns what directories hold: from disk, or from what earlier calls read.

use std::fmt;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::text::escape;
use crate::walk::cached_dir::CachedDir;
use crate::walk::directory::{
    DirHandle, DirListing, DirectoryReport, FilteredDir, OpenCount, OpenDir, PendingDir,
};
use crate::walk::entry_filter::EntryFilter;
use crate::walk::ignore_rules::{IgnoreFiles, IgnoreRules};
use crate::walk::roots::WalkOptions;
use crate::workspace::{Dir, Volume, Workspace};

/// How many entries of a directory are read between two checks of the clock, which cost more than
/// reading an entry.
const ENTRIES_PER_CHECK: usize = 256;

/// Where a walk learns what directories hold.
pub(crate) trait DirSource: fmt::Debug + Send + Sync {
    /// The rules from outside the workspace.
    fn outer_rules(&self, workspace: &Workspace, warnings: &mut Vec<String>) -> IgnoreRules;

    /// The rules inside a directory above a root of the walk, below the rules `above`.
    fn ancestor_rules(
        &self,
        workspace: &Workspace,
        dir: &Dir,
        prefix: &[u8],
        above: &IgnoreRules,
        warnings: &mut Vec<String>,
    ) -> IgnoreRules;

    /// Reads a directory and applies the rules inside it. What is left out without an error is in
    /// `report`.
    fn read(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents>;
}

/// The walk that a directory is read for.
pub(crate) struct ReadContext<'a> {
    pub(crate) options: &'a WalkOptions,
    pub(crate) workspace: &'a Workspace,
    pub(crate) open: &'a OpenCount,
    pub(crate) keep_going: &'a dyn Fn() -> bool,
}

/// What a directory holds, after the rules of the tree, the host and the walk, but before the
/// caller's filter.
#[derive(Debug)]
pub(crate) struct DirContents {
    pub(crate) handle: DirHandle,
    pub(crate) volume: Volume,
    /// The rules in force inside it.
    pub(crate) rules: IgnoreRules,
    pub(crate) filtered: Arc<FilteredDir>,
    /// The cached directory, if it is cached.
    pub(crate) cached: Option<Arc<CachedDir>>,
    /// Whether it was found unchanged in the cache.
    pub(crate) is_unchanged: bool,
}

/// Reads directories from disk.
#[derive(Debug)]
pub(crate) struct DiskDirs;

impl DirSource for DiskDirs {
    fn outer_rules(&self, workspace: &Workspace, warnings: &mut Vec<String>) -> IgnoreRules {
        IgnoreRules::outer(workspace.outer(), warnings)
    }

    fn ancestor_rules(
        &self,
        workspace: &Workspace,
        dir: &Dir,
        prefix: &[u8],
        above: &IgnoreRules,
        warnings: &mut Vec<String>,
    ) -> IgnoreRules {
        above.enter(workspace, (dir, prefix), IgnoreFiles::probe(dir), warnings)
    }

    fn read(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let dir = directory.parent.open()?.open_dir(&directory.name)?;
        Ok(DiskDirs.contents(walk, directory, &OpenDir::new(dir, walk.open), report))
    }
}

impl DiskDirs {
    /// Lists an open directory.
    pub(crate) fn contents(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        dir: &Arc<OpenDir>,
        report: &mut DirectoryReport,
    ) -> DirContents {
        let listed = walk.list(dir, directory, report);
        self.filtered(walk, directory, dir, listed, report)
    }

    /// Applies the rules to what was listed.
    pub(crate) fn filtered(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        dir: &Arc<OpenDir>,
        (listing, ignore_files): (DirListing, IgnoreFiles),
        report: &mut DirectoryReport,
    ) -> DirContents {
        let rules = if walk.options.no_ignore {
            IgnoreRules::default()
        } else {
            let place = (&***dir, &*directory.prefix);
            let warnings = &mut report.stats.warnings;
            directory.rules.enter(walk.workspace, place, ignore_files, warnings)
        };
        let filtered = walk.filter(directory, dir.volume, &rules).apply_rules(&listing);
        let root = walk.workspace.root_handle();
        DirContents {
            handle: DirHandle::hold(dir, root, &directory.prefix),
            volume: dir.volume,
            rules,
            filtered: Arc::new(filtered),
            cached: None,
            is_unchanged: false,
        }
    }
}

impl ReadContext<'_> {
    /// Lists a directory; errors, and that it was interrupted, are in `report`.
    pub(crate) fn list(
        &self,
        dir: &Dir,
        directory: &PendingDir,
        report: &mut DirectoryReport,
    ) -> (DirListing, IgnoreFiles) {
        let (mut listing, mut ignore_files) = (DirListing::default(), IgnoreFiles::default());
        let listed = dir.list(|name, kind| {
            ignore_files.note(name, kind);
            listing.push(name, kind);
            let is_checked = listing.len().is_multiple_of(ENTRIES_PER_CHECK);
            report.interrupted = is_checked && !(self.keep_going)();
            if report.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        if let Err(error) = listed {
            report.stats.unreadable(shown(&directory.prefix), error.to_string());
        }
        (listing, ignore_files)
    }

    /// The filter of the entries of a directory with these rules inside it.
    pub(crate) fn filter<'a>(
        &'a self,
        directory: &PendingDir,
        volume: Volume,
        rules: &'a IgnoreRules,
    ) -> EntryFilter<'a> {
        EntryFilter::new(self.options, self.workspace, &directory.prefix, rules, volume)
    }
}

/// The path of a directory as it is shown.
pub(super) fn shown(prefix: &[u8]) -> String {
    match prefix.strip_suffix(b"/").unwrap_or(prefix) {
        b"" => ".".to_owned(),
        path => escape::exact_path(path).into_owned(),
    }
}
