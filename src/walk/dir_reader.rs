//! One directory becomes its files, its directories, and an account of what was left out.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::escape;
use crate::walk::batch::{BATCH, Batch};
use crate::walk::cached_dir::{CachedDir, FilteredDir};
use crate::walk::dir_cache::CacheView;
use crate::walk::entry_filter::EntryFilter;
use crate::walk::handle::{DirHandle, OpenCount, OpenDir};
use crate::walk::ignore_rules::{Found, IgnoreRules};
use crate::walk::listing::DirListing;
use crate::walk::options::WalkOptions;
use crate::walk::pending_dir::PendingDir;
use crate::walk::recorded_walk::EntryRange;
use crate::walk::report::DirectoryReport;
use crate::workspace::{Dir, Kind, RecentFingerprint, Volume, Workspace};

/// What one directory holds.
#[derive(Debug, Default)]
pub(crate) struct ReadDirResult {
    /// The parts in path order.
    pub(crate) parts: Vec<Part>,
    /// What was counted and left out.
    pub(crate) report: DirectoryReport,
    /// The rules inside, if it could be listed.
    pub(crate) rules: Option<IgnoreRules>,
}

/// A part of a directory.
#[derive(Debug)]
pub(crate) enum Part {
    /// Files to look at.
    Files(Batch),
    /// A directory to list.
    Directory(PendingDir),
}

/// The entries of a directory, as they are or as they still are.
struct DirContents {
    handle: DirHandle,
    volume: Volume,
    listing: Arc<DirListing>,
    found: Found,
    cached: Option<Arc<CachedDir>>,
    /// Whether it still is as it was kept.
    is_still: bool,
}

/// Lists directories for one walk.
#[derive(Debug)]
pub(crate) struct DirReader {
    pub(crate) options: WalkOptions,
    workspace: Workspace,
    open: OpenCount,
    /// Where directories are opened again by path.
    root: Arc<Dir>,
    /// Whether a directory below a beginning had to be looked at.
    looked: AtomicBool,
}

impl DirReader {
    pub(crate) fn new(options: WalkOptions, workspace: Workspace) -> DirReader {
        let root = workspace.root_handle().clone();
        let open = OpenCount::default();
        DirReader { options, workspace, open, root, looked: AtomicBool::new(false) }
    }

    /// Files of a known way, which lies below this beginning.
    pub(crate) fn batch(&self, files: &EntryRange, start: usize) -> Batch {
        let EntryRange { cached, listing, range, .. } = files;
        let prefix = (cached.prefix.clone(), self.base(start));
        Batch::new(self.handle(cached), prefix, listing.clone(), range.clone())
            .of(Some(cached.clone()))
    }

    /// Whether a directory below a beginning had to be looked at.
    pub(crate) fn has_looked(&self) -> bool {
        self.looked.load(Ordering::Relaxed)
    }

    /// A directory that is as it was kept, to be opened if it has to be.
    pub(crate) fn handle(&self, cached: &CachedDir) -> DirHandle {
        DirHandle::later((&self.root, &cached.prefix), cached.volume, &self.open)
    }

    /// A directory that is as it was kept and need not be looked at.
    pub(crate) fn at_hand(&self, directory: &PendingDir) -> Option<Arc<CachedDir>> {
        let view = self.view(&directory.prefix).filter(|_| directory.is_in_place)?;
        view.at_hand(&directory.prefix)
    }

    /// Lists a directory, unless it is known to be as it was kept; one that cannot be read is an
    /// account of why.
    pub(crate) fn expand(
        &self,
        directory: &PendingDir,
        known: Option<Arc<CachedDir>>,
        keep_going: &dyn Fn() -> bool,
    ) -> ReadDirResult {
        let mut expansion = ReadDirResult::default();
        let known = known.or_else(|| self.at_hand(directory)).or_else(|| {
            self.looked.fetch_or(directory.depth > 0, Ordering::Relaxed);
            self.recalled(directory)
        });
        let listed = known.map_or_else(
            || self.listed(directory, keep_going, &mut expansion.report),
            |cached| self.still(cached),
        );
        let entered = listed.and_then(|listed| {
            expansion.report.stats.directories = 1;
            let rules = self.enter(directory, &listed, &mut expansion.report)?;
            Ok((listed, rules))
        });
        match entered {
            Ok((listed, rules)) => {
                let listing = self.sift(directory, &listed, &rules, &mut expansion.report);
                self.split(&listed, directory, &rules, &listing, &mut expansion.parts);
                expansion.rules = Some(rules);
            }
            Err(error) => {
                expansion.report.stats.unreadable(shown(&directory.prefix), error.to_string());
            }
        }
        expansion
    }

    /// The directory as an earlier walk listed it, if that still is so.
    pub(crate) fn recalled(&self, directory: &PendingDir) -> Option<Arc<CachedDir>> {
        let view = self.view(&directory.prefix)?;
        let stat = || directory.parent.open()?.stat(&directory.name);
        view.directory(&directory.prefix, directory.is_in_place, &stat)
    }

    pub(crate) fn view(&self, prefix: &[u8]) -> Option<&CacheView> {
        // What lies outside the root has no path that could be descended to from there.
        self.options.cache.as_ref().filter(|_| prefix.first() != Some(&b'/'))
    }

    fn still(&self, cached: Arc<CachedDir>) -> io::Result<DirContents> {
        let handle = self.handle(&cached);
        if let Some(view) = self.options.cache.as_ref().filter(|view| view.wants_watch(&cached)) {
            let dir = handle.open()?;
            // The path may lead to another one since it was looked at.
            if cached.identity == RecentFingerprint::of(&dir).identity() {
                view.watch(&cached.prefix, &cached.changes, &dir);
            }
        }
        Ok(DirContents {
            handle,
            volume: cached.volume,
            listing: cached.listing.clone(),
            found: cached.found,
            cached: Some(cached),
            is_still: true,
        })
    }

    fn listed(
        &self,
        directory: &PendingDir,
        keep_going: &dyn Fn() -> bool,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let dir = directory.parent.open()?.open_dir(&directory.name)?;
        let dir = OpenDir::new(dir, &self.open);
        let view = self.view(&directory.prefix).filter(|_| dir.volume == Volume::Disk);
        let told = view.map(|view| {
            let stamp = RecentFingerprint::of(&dir);
            (stamp, view.changes(&directory.prefix, stamp, &dir))
        });
        let troubles = report.stats.trouble.len();
        let (listing, found) = list(&dir, directory, keep_going, report);
        let listing = Arc::new(listing);
        let is_whole = !report.interrupted && report.stats.trouble.len() == troubles;
        let cached = view
            .zip(told)
            .filter(|_| is_whole)
            .map(|(view, told)| view.keep(&directory.prefix, (listing.clone(), found), told));
        let handle = DirHandle::keep(&dir, &self.root, &directory.prefix);
        Ok(DirContents { handle, volume: dir.volume, listing, found, cached, is_still: false })
    }

    fn enter(
        &self,
        directory: &PendingDir,
        listed: &DirContents,
        report: &mut DirectoryReport,
    ) -> io::Result<IgnoreRules> {
        let warnings = &mut report.stats.warnings;
        if self.options.no_ignore {
            return Ok(IgnoreRules::default());
        }
        let above = &directory.rules;
        if let (Some(cached), Some(view)) = (&listed.cached, &self.options.cache) {
            let with = (view.generation, view.cache.budget());
            return cached.enter(&self.workspace, above, &|| listed.handle.open(), warnings, with);
        }
        if listed.found.is_empty() {
            return Ok(above.clone());
        }
        let dir = listed.handle.open()?;
        let place = (&**dir, &*directory.prefix);
        Ok(above.enter(&self.workspace, place, listed.found, warnings))
    }

    /// What stays of the entries, in path order.
    fn sift(
        &self,
        directory: &PendingDir,
        listed: &DirContents,
        rules: &IgnoreRules,
        report: &mut DirectoryReport,
    ) -> Arc<DirListing> {
        let (options, prefix) = (&self.options, &*directory.prefix);
        let mut sieve = EntryFilter::new(options, &self.workspace, prefix, rules, listed.volume);
        // Where an answer goes on, what lies before is not even counted.
        let cached = listed.cached.as_ref().filter(|_| !options.resumes_below(prefix));
        let cached = cached.zip(options.cache.as_ref().map(|view| view.cache.budget()));
        let mut sieved = match cached {
            Some((cached, budget)) => {
                let key = options.sieve_key(rules);
                cached.sieved(key, budget, || sieve.all(&listed.listing))
            }
            None => Arc::new(sieve.all(&listed.listing)),
        };
        let base = self.base(directory.start);
        if sieve.narrows(&sieved) {
            sieve.narrow(Arc::make_mut(&mut sieved), base);
        }
        let FilteredDir { listing, report: account } = Arc::unwrap_or_clone(sieved);
        report.absorb(account);
        listing
    }

    /// Cuts the sorted entries into batches of files between directories.
    fn split(
        &self,
        listed: &DirContents,
        directory: &PendingDir,
        rules: &IgnoreRules,
        listing: &Arc<DirListing>,
        parts: &mut Vec<Part>,
    ) {
        let handle = &listed.handle;
        let mut begin = 0;
        for index in 0..listing.len() {
            let Some((name, kind)) = listing.get(index) else { break };
            let is_directory = kind == Kind::Directory;
            let shown = !is_directory || self.lists(directory, name);
            let end = if shown { index + 1 } else { index };
            if is_directory || end - begin >= BATCH || index + 1 == listing.len() {
                if end > begin {
                    let batch = Batch::new(
                        handle.clone(),
                        (directory.prefix.clone(), self.base(directory.start)),
                        listing.clone(),
                        begin..end,
                    );
                    parts.push(Part::Files(batch.of(listed.cached.clone())));
                }
                begin = index + 1;
            }
            if is_directory && self.descends(directory) {
                let child = directory.child(name, handle.clone(), rules);
                let is_in_place = listed.is_still;
                parts.push(Part::Directory(PendingDir { is_in_place, ..child }));
            }
        }
    }

    /// Whether a directory itself is handed on, whatever is below it.
    fn lists(&self, above: &PendingDir, name: &[u8]) -> bool {
        self.options.directories && self.options.reaches_itself(&[&*above.prefix, name].concat())
    }

    pub(crate) fn base(&self, start: usize) -> usize {
        self.options.roots.get(start).map_or(0, |start| start.base)
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
) -> (DirListing, Found) {
    let (mut listing, mut found) = (DirListing::default(), Found::default());
    let listed = dir.list(|name, kind| {
        found.note(name, kind);
        listing.push(name, kind);
        // Asking the clock for every name would cost more than the name.
        let checked = listing.len().is_multiple_of(256);
        report.interrupted = checked && !keep_going();
        if report.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Err(error) = listed {
        report.stats.unreadable(shown(&directory.prefix), error.to_string());
    }
    (listing, found)
}

fn shown(prefix: &[u8]) -> String {
    match prefix.strip_suffix(b"/").unwrap_or(prefix) {
        b"" => ".".to_owned(),
        path => escape::exact_path(path).into_owned(),
    }
}
