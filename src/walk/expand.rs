//! One directory becomes its files, its directories, and an account of what was left out.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::escape;
use crate::walk::batch::{BATCH, Batch};
use crate::walk::directory::Directory;
use crate::walk::handle::{Handle, OpenCount, OpenDir};
use crate::walk::kept::{Kept, Sieved};
use crate::walk::listing::Listing;
use crate::walk::memory::Recall;
use crate::walk::options::WalkOptions;
use crate::walk::report::DirectoryReport;
use crate::walk::route::Files;
use crate::walk::rules::{Found, Rules};
use crate::walk::sieve::Sieve;
use crate::workspace::{Dir, Kind, RecentStamp, Volume, Workspace};

/// What one directory holds.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    /// The parts in path order.
    pub(crate) parts: Vec<Part>,
    /// What was counted and left out.
    pub(crate) report: DirectoryReport,
    /// The rules inside, if it could be listed.
    pub(crate) rules: Option<Rules>,
}

/// A part of a directory.
#[derive(Debug)]
pub(crate) enum Part {
    /// Files to look at.
    Files(Batch),
    /// A directory to list.
    Directory(Directory),
}

/// The entries of a directory, as they are or as they still are.
struct Listed {
    handle: Handle,
    volume: Volume,
    listing: Arc<Listing>,
    found: Found,
    kept: Option<Arc<Kept>>,
    /// Whether it still is as it was kept.
    is_still: bool,
}

/// Lists directories for one walk.
#[derive(Debug)]
pub(crate) struct Expander {
    pub(crate) options: WalkOptions,
    workspace: Workspace,
    open: OpenCount,
    /// Where directories are opened again by path.
    root: Arc<Dir>,
    /// Whether a directory below a beginning had to be looked at.
    looked: AtomicBool,
}

impl Expander {
    pub(crate) fn new(options: WalkOptions, workspace: Workspace) -> Expander {
        let root = workspace.root_handle().clone();
        let open = OpenCount::default();
        Expander { options, workspace, open, root, looked: AtomicBool::new(false) }
    }

    /// Files of a known way, which lies below this beginning.
    pub(crate) fn batch(&self, files: &Files, start: usize) -> Batch {
        let Files { kept, listing, range, .. } = files;
        let prefix = (kept.prefix.clone(), self.base(start));
        Batch::new(self.handle(kept), prefix, listing.clone(), range.clone()).of(Some(kept.clone()))
    }

    /// Whether a directory below a beginning had to be looked at.
    pub(crate) fn has_looked(&self) -> bool {
        self.looked.load(Ordering::Relaxed)
    }

    /// A directory that is as it was kept, to be opened if it has to be.
    pub(crate) fn handle(&self, kept: &Kept) -> Handle {
        Handle::later((&self.root, &kept.prefix), kept.volume, &self.open)
    }

    /// A directory that is as it was kept and need not be looked at.
    pub(crate) fn at_hand(&self, directory: &Directory) -> Option<Arc<Kept>> {
        let recall = self.recall(&directory.prefix).filter(|_| directory.is_in_place)?;
        recall.at_hand(&directory.prefix)
    }

    /// Lists a directory, unless it is known to be as it was kept; one that cannot be read is an
    /// account of why.
    pub(crate) fn expand(
        &self,
        directory: &Directory,
        known: Option<Arc<Kept>>,
        keep_going: &dyn Fn() -> bool,
    ) -> Expansion {
        let mut expansion = Expansion::default();
        let known = known.or_else(|| self.at_hand(directory)).or_else(|| {
            self.looked.fetch_or(directory.depth > 0, Ordering::Relaxed);
            self.recalled(directory)
        });
        let listed = known.map_or_else(
            || self.listed(directory, keep_going, &mut expansion.report),
            |kept| self.still(kept),
        );
        let entered = listed.and_then(|listed| {
            expansion.report.receipt.directories = 1;
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
                expansion.report.receipt.unreadable(shown(&directory.prefix), error.to_string());
            }
        }
        expansion
    }

    /// The directory as an earlier walk listed it, if that still is so.
    pub(crate) fn recalled(&self, directory: &Directory) -> Option<Arc<Kept>> {
        let recall = self.recall(&directory.prefix)?;
        let stat = || directory.parent.open()?.stat(&directory.name);
        recall.directory(&directory.prefix, directory.is_in_place, &stat)
    }

    pub(crate) fn recall(&self, prefix: &[u8]) -> Option<&Recall> {
        // What lies outside the root has no path that could be descended to from there.
        self.options.recall.as_ref().filter(|_| prefix.first() != Some(&b'/'))
    }

    fn still(&self, kept: Arc<Kept>) -> io::Result<Listed> {
        let handle = self.handle(&kept);
        if let Some(recall) =
            self.options.recall.as_ref().filter(|recall| recall.wants_watch(&kept))
        {
            let dir = handle.open()?;
            // The path may lead to another one since it was looked at.
            if kept.identity == RecentStamp::of(&dir).identity() {
                recall.watch(&kept.prefix, &kept.changes, &dir);
            }
        }
        Ok(Listed {
            handle,
            volume: kept.volume,
            listing: kept.listing.clone(),
            found: kept.found,
            kept: Some(kept),
            is_still: true,
        })
    }

    fn listed(
        &self,
        directory: &Directory,
        keep_going: &dyn Fn() -> bool,
        report: &mut DirectoryReport,
    ) -> io::Result<Listed> {
        let dir = directory.parent.open()?.open_dir(&directory.name)?;
        let dir = OpenDir::new(dir, &self.open);
        let recall = self.recall(&directory.prefix).filter(|_| dir.volume == Volume::Disk);
        let told = recall.map(|recall| {
            let stamp = RecentStamp::of(&dir);
            (stamp, recall.changes(&directory.prefix, stamp, &dir))
        });
        let troubles = report.receipt.trouble.len();
        let (listing, found) = list(&dir, directory, keep_going, report);
        let listing = Arc::new(listing);
        let is_whole = !report.interrupted && report.receipt.trouble.len() == troubles;
        let kept = recall
            .zip(told)
            .filter(|_| is_whole)
            .map(|(recall, told)| recall.keep(&directory.prefix, (listing.clone(), found), told));
        let handle = Handle::keep(&dir, &self.root, &directory.prefix);
        Ok(Listed { handle, volume: dir.volume, listing, found, kept, is_still: false })
    }

    fn enter(
        &self,
        directory: &Directory,
        listed: &Listed,
        report: &mut DirectoryReport,
    ) -> io::Result<Rules> {
        let warnings = &mut report.receipt.warnings;
        if self.options.no_ignore {
            return Ok(Rules::default());
        }
        let above = &directory.rules;
        if let (Some(kept), Some(recall)) = (&listed.kept, &self.options.recall) {
            let with = (recall.era, recall.memory.room());
            return kept.enter(&self.workspace, above, &|| listed.handle.open(), warnings, with);
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
        directory: &Directory,
        listed: &Listed,
        rules: &Rules,
        report: &mut DirectoryReport,
    ) -> Arc<Listing> {
        let (options, prefix) = (&self.options, &*directory.prefix);
        let mut sieve = Sieve::new(options, &self.workspace, prefix, rules, listed.volume);
        // Where an answer goes on, what lies before is not even counted.
        let kept = listed.kept.as_ref().filter(|_| !options.resumes_below(prefix));
        let kept = kept.zip(options.recall.as_ref().map(|recall| recall.memory.room()));
        let mut sieved = match kept {
            Some((kept, room)) => {
                let key = options.sieve_key(rules);
                kept.sieved(key, room, || sieve.all(&listed.listing))
            }
            None => Arc::new(sieve.all(&listed.listing)),
        };
        let base = self.base(directory.start);
        if sieve.narrows(&sieved) {
            sieve.narrow(Arc::make_mut(&mut sieved), base);
        }
        let Sieved { listing, report: account } = Arc::unwrap_or_clone(sieved);
        report.absorb(account);
        listing
    }

    /// Cuts the sorted entries into batches of files between directories.
    fn split(
        &self,
        listed: &Listed,
        directory: &Directory,
        rules: &Rules,
        listing: &Arc<Listing>,
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
                    parts.push(Part::Files(batch.of(listed.kept.clone())));
                }
                begin = index + 1;
            }
            if is_directory && self.descends(directory) {
                let child = directory.child(name, handle.clone(), rules);
                let is_in_place = listed.is_still;
                parts.push(Part::Directory(Directory { is_in_place, ..child }));
            }
        }
    }

    /// Whether a directory itself is handed on, whatever is below it.
    fn lists(&self, above: &Directory, name: &[u8]) -> bool {
        self.options.directories && self.options.reaches_itself(&[&*above.prefix, name].concat())
    }

    pub(crate) fn base(&self, start: usize) -> usize {
        self.options.starts.get(start).map_or(0, |start| start.base)
    }

    fn descends(&self, directory: &Directory) -> bool {
        self.options.max_depth.is_none_or(|most| directory.depth + 1 < most)
    }
}

fn list(
    dir: &Dir,
    directory: &Directory,
    keep_going: &dyn Fn() -> bool,
    report: &mut DirectoryReport,
) -> (Listing, Found) {
    let (mut listing, mut found) = (Listing::default(), Found::default());
    let listed = dir.list(|name, kind| {
        found.note(name, kind);
        listing.push(name, kind);
        // Asking the clock for every name would cost more than the name.
        let checked = listing.len().is_multiple_of(256);
        report.interrupted = checked && !keep_going();
        if report.interrupted { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    if let Err(error) = listed {
        report.receipt.unreadable(shown(&directory.prefix), error.to_string());
    }
    (listing, found)
}

fn shown(prefix: &[u8]) -> String {
    match prefix.strip_suffix(b"/").unwrap_or(prefix) {
        b"" => ".".to_owned(),
        path => escape::exact_path(path).into_owned(),
    }
}
