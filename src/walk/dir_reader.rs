//! Reads directories: entries become batches of files and subdirectories, in path order, with a
//! report of what was left out.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::escape;
use crate::walk::cached_dir::{CachedDir, FilteredDir};
use crate::walk::dir_cache::CacheView;
use crate::walk::directory::{
    DirHandle, DirListing, DirectoryReport, OpenCount, OpenDir, PendingDir,
};
use crate::walk::entry_filter::EntryFilter;
use crate::walk::ignore_rules::{IgnoreFiles, IgnoreRules};
use crate::walk::recorded_walk::EntryRange;
use crate::walk::roots::WalkOptions;
use crate::walk::visitor::{BATCH, Batch};
use crate::workspace::{Dir, Kind, RecentFingerprint, Volume, Workspace};

/// How many entries of a directory are read between two looks at the clock, which costs more than
/// reading an entry.
const ENTRIES_PER_CHECK: usize = 256;

/// What a directory holds.
#[derive(Debug, Default)]
pub(crate) struct ReadDirResult {
    /// Its files and subdirectories in path order.
    pub(crate) items: Vec<DirItem>,
    /// What was counted and left out.
    pub(crate) report: DirectoryReport,
    /// The ignore rules in force inside it, if it could be read.
    pub(crate) rules: Option<IgnoreRules>,
}

/// Files of a directory, or a subdirectory.
#[derive(Debug)]
pub(crate) enum DirItem {
    Files(Batch),
    Directory(PendingDir),
}

/// The entries of a directory, read now or found unchanged in the cache.
struct DirContents {
    handle: DirHandle,
    volume: Volume,
    listing: Arc<DirListing>,
    ignore_files: IgnoreFiles,
    cached: Option<Arc<CachedDir>>,
    /// Whether it was found unchanged in the cache.
    is_unchanged: bool,
}

/// Reads the directories of one walk.
#[derive(Debug)]
pub(crate) struct DirReader {
    options: WalkOptions,
    workspace: Workspace,
    open: OpenCount,
    /// Whether a directory below a root had to be looked at, despite the cache.
    has_looked: AtomicBool,
}

impl DirReader {
    pub(crate) fn new(options: WalkOptions, workspace: Workspace) -> DirReader {
        let open = OpenCount::default();
        DirReader { options, workspace, open, has_looked: AtomicBool::new(false) }
    }

    pub(crate) fn options(&self) -> &WalkOptions {
        &self.options
    }

    /// Whether a directory below a root had to be looked at, despite the cache.
    pub(crate) fn has_looked(&self) -> bool {
        self.has_looked.load(Ordering::Relaxed)
    }

    /// The files of a recorded walk below the root number `root`, as a batch.
    pub(crate) fn batch(&self, files: &EntryRange, root: usize) -> Batch {
        let EntryRange { cached, listing, range, .. } = files;
        let place = (cached.prefix.clone(), self.options.base_len(root));
        let listing = (listing.clone(), range.clone());
        Batch::new(self.handle(cached), place, listing, Some(cached.clone()))
    }

    /// The handle of an unchanged directory, opened on first use.
    pub(crate) fn handle(&self, cached: &CachedDir) -> DirHandle {
        let root = self.workspace.root_handle();
        DirHandle::lazy(root, cached.prefix.clone(), cached.volume, &self.open)
    }

    /// The cached directory, if it is known to be unchanged without looking at it.
    pub(crate) fn current(&self, directory: &PendingDir) -> Option<Arc<CachedDir>> {
        let view = self.view(&directory.prefix).filter(|_| directory.is_in_place)?;
        view.current_dir(&directory.prefix)
    }

    /// The cached directory, if it is unchanged; looks at it if necessary.
    pub(crate) fn unchanged(&self, directory: &PendingDir) -> Option<Arc<CachedDir>> {
        let view = self.view(&directory.prefix)?;
        let stat = || directory.parent.open()?.stat(&directory.name);
        view.directory(&directory.prefix, directory.is_in_place, &stat)
    }

    /// The cache, for a directory that may be in it. A directory outside the workspace root never
    /// is, because it cannot be opened by a path below that root.
    pub(crate) fn view(&self, prefix: &[u8]) -> Option<&CacheView> {
        self.options.cache.as_ref().filter(|_| prefix.first() != Some(&b'/'))
    }

    /// Reads a directory from disk, unless the cache has it unchanged; `cached` is the cached
    /// directory if the caller knows that already. If the directory cannot be read, the report says
    /// why.
    pub(crate) fn read(
        &self,
        directory: &PendingDir,
        cached: Option<Arc<CachedDir>>,
        keep_going: &dyn Fn() -> bool,
    ) -> ReadDirResult {
        let mut result = ReadDirResult::default();
        let cached = cached.or_else(|| self.current(directory)).or_else(|| {
            self.has_looked.fetch_or(directory.depth > 0, Ordering::Relaxed);
            self.unchanged(directory)
        });
        let contents = match cached {
            Some(cached) => self.contents_of(cached),
            None => self.read_contents(directory, keep_going, &mut result.report),
        };
        let entered = contents.and_then(|contents| {
            result.report.stats.directories = 1;
            let rules = self.rules_inside(directory, &contents, &mut result.report)?;
            Ok((contents, rules))
        });
        match entered {
            Ok((contents, rules)) => {
                let listing = self.filter(directory, &contents, &rules, &mut result.report);
                result.items = self.split(&contents, directory, &rules, &listing);
                result.rules = Some(rules);
            }
            Err(error) => {
                result.report.stats.unreadable(shown(&directory.prefix), error.to_string());
            }
        }
        result
    }

    /// The entries of an unchanged directory.
    fn contents_of(&self, cached: Arc<CachedDir>) -> io::Result<DirContents> {
        let handle = self.handle(&cached);
        let view = self.options.cache.as_ref();
        if let Some(view) = view.filter(|view| view.wants_watch(&cached)) {
            let dir = handle.open()?;
            // The path may lead to another directory by now.
            if cached.identity == RecentFingerprint::of(&dir).identity() {
                view.watch(&cached.prefix, &cached.changes, &dir);
            }
        }
        Ok(DirContents {
            handle,
            volume: cached.volume,
            listing: cached.listing.clone(),
            ignore_files: cached.ignore_files,
            cached: Some(cached),
            is_unchanged: true,
        })
    }

    /// Reads the entries of a directory from disk, and caches them if they are complete.
    fn read_contents(
        &self,
        directory: &PendingDir,
        keep_going: &dyn Fn() -> bool,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let dir = directory.parent.open()?.open_dir(&directory.name)?;
        let dir = OpenDir::new(dir, &self.open);
        let view = self.view(&directory.prefix).filter(|_| dir.volume == Volume::Disk);
        // Before the entries are read, so that no later change is missed.
        let state = view.map(|view| {
            let stamp = RecentFingerprint::of(&dir);
            (stamp, view.changes(&directory.prefix, stamp, &dir))
        });
        let errors_before = report.stats.trouble.len();
        let (listing, ignore_files) = list(&dir, directory, keep_going, report);
        let listing = Arc::new(listing);
        let is_complete = !report.interrupted && report.stats.trouble.len() == errors_before;
        let cached = view.zip(state).filter(|_| is_complete).map(|(view, state)| {
            view.insert_listed(&directory.prefix, (listing.clone(), ignore_files), state)
        });
        let handle = DirHandle::hold(&dir, self.workspace.root_handle(), &directory.prefix);
        let volume = dir.volume;
        Ok(DirContents { handle, volume, listing, ignore_files, cached, is_unchanged: false })
    }

    /// The ignore rules inside a directory.
    fn rules_inside(
        &self,
        directory: &PendingDir,
        contents: &DirContents,
        report: &mut DirectoryReport,
    ) -> io::Result<IgnoreRules> {
        let warnings = &mut report.stats.warnings;
        if self.options.no_ignore {
            return Ok(IgnoreRules::default());
        }
        let above = &directory.rules;
        if let (Some(cached), Some(view)) = (&contents.cached, &self.options.cache) {
            let with = (view.generation, view.cache.budget());
            let open = || contents.handle.open();
            return cached.enter(&self.workspace, above, &open, warnings, with);
        }
        if contents.ignore_files.is_empty() {
            return Ok(above.clone());
        }
        let dir = contents.handle.open()?;
        let place = (&**dir, &*directory.prefix);
        Ok(above.enter(&self.workspace, place, contents.ignore_files, warnings))
    }

    /// The entries that remain, in path order.
    fn filter(
        &self,
        directory: &PendingDir,
        contents: &DirContents,
        rules: &IgnoreRules,
        report: &mut DirectoryReport,
    ) -> Arc<DirListing> {
        let (options, prefix) = (&self.options, &*directory.prefix);
        let mut filter = EntryFilter::new(options, &self.workspace, prefix, rules, contents.volume);
        // What lies before the position to resume at is not even counted, so such a result is of no
        // use to other walks.
        let cached = contents.cached.as_ref().filter(|_| !options.resumes_below(prefix));
        let mut filtered = match cached.zip(options.cache.as_ref()) {
            Some((cached, view)) => {
                let key = options.filter_key(rules);
                cached.filtered(key, view.cache.budget(), || filter.apply_rules(&contents.listing))
            }
            None => Arc::new(filter.apply_rules(&contents.listing)),
        };
        if filter.may_narrow(&filtered) {
            let base_len = options.base_len(directory.root);
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
        rules: &IgnoreRules,
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
                let child = directory.child(name, handle.clone(), rules);
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

fn list(
    dir: &Dir,
    directory: &PendingDir,
    keep_going: &dyn Fn() -> bool,
    report: &mut DirectoryReport,
) -> (DirListing, IgnoreFiles) {
    let (mut listing, mut ignore_files) = (DirListing::default(), IgnoreFiles::default());
    let listed = dir.list(|name, kind| {
        ignore_files.note(name, kind);
        listing.push(name, kind);
        let is_checked = listing.len().is_multiple_of(ENTRIES_PER_CHECK);
        report.interrupted = is_checked && !keep_going();
        if report.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Err(error) = listed {
        report.stats.unreadable(shown(&directory.prefix), error.to_string());
    }
    (listing, ignore_files)
}

fn shown(prefix: &[u8]) -> String {
    match prefix.strip_suffix(b"/").unwrap_or(prefix) {
        b"" => ".".to_owned(),
        path => escape::exact_path(path).into_owned(),
    }
}
