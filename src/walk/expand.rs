//! One directory becomes its files, its directories, and an account of what was left out.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::text::escape;
use crate::walk::WalkOptions;
use crate::walk::entries::{Batch, Handle, Listing, OpenCount, OpenDir};
use crate::walk::frontier::Directory;
use crate::walk::report::{DirectoryReport, LeftOut};
use crate::walk::rules::{Found, Rules, Verdict};
use crate::workspace::{Dir, Kind, Volume, Workspace, is_temporary};

/// How many files make a batch: few enough to share out, enough to be worth handing over.
const BATCH: usize = 32;

/// How many left-out entries a directory remembers.
const MAX_LEFT_OUT: usize = 200;

/// Directories of version control, which are never walked; `.git` may also be a file.
pub(crate) const VERSION_CONTROL: [&[u8]; 6] = [b".git", b".hg", b".svn", b".bzr", b".jj", b".sl"];

/// Directories left out where no ignore file and no repository says what is noise.
const NOISE: [&[u8]; 2] = [b"node_modules", b"target"];

/// What one directory holds.
#[derive(Debug, Default)]
pub(crate) struct Expansion {
    /// The parts in path order.
    pub(crate) parts: Vec<Part>,
    /// What was counted and left out.
    pub(crate) report: DirectoryReport,
}

/// A part of a directory.
#[derive(Debug)]
pub(crate) enum Part {
    /// Files to look at.
    Files(Batch),
    /// A directory to list.
    Directory(Directory),
}

/// Lists directories for one walk.
#[derive(Debug)]
pub(crate) struct Expander {
    pub(crate) options: WalkOptions,
    workspace: Workspace,
    open: OpenCount,
    /// Where directories are opened again by path.
    root: Arc<Dir>,
}

impl Expander {
    pub(crate) fn new(options: WalkOptions, workspace: Workspace) -> Expander {
        let root = workspace.root_handle().clone();
        Expander { options, workspace, open: OpenCount::default(), root }
    }

    /// Lists a directory; one that cannot be read is an account of why.
    pub(crate) fn expand(&self, directory: &Directory, keep_going: &dyn Fn() -> bool) -> Expansion {
        let mut expansion = Expansion::default();
        let opened = directory.parent.open().and_then(|parent| parent.open_dir(&directory.name));
        let dir = match opened {
            Ok(dir) => OpenDir::new(dir, &self.open),
            Err(error) => {
                expansion.report.receipt.unreadable(shown(&directory.prefix), error.to_string());
                return expansion;
            }
        };
        expansion.report.receipt.directories = 1;
        let (mut listing, found) = list(&dir, directory, keep_going, &mut expansion.report);
        let warnings = &mut expansion.report.receipt.warnings;
        let rules = if self.options.no_ignore {
            Rules::default()
        } else {
            directory.rules.enter(&dir, &directory.prefix, found, warnings)
        };
        Sieve::new(self, directory, &rules, dir.volume).sift(&mut listing, &mut expansion.report);
        listing.sort();
        self.split(&dir, directory, &rules, listing, &mut expansion.parts);
        expansion
    }

    /// Cuts the sorted entries into batches of files between directories.
    fn split(
        &self,
        dir: &Arc<OpenDir>,
        directory: &Directory,
        rules: &Rules,
        listing: Listing,
        parts: &mut Vec<Part>,
    ) {
        if listing.len() == 0 {
            return;
        }
        let handle = Handle::keep(dir, &self.root, &directory.prefix);
        let listing = Arc::new(listing);
        let mut begin = 0;
        for index in 0..listing.len() {
            let Some((name, kind)) = listing.get(index) else { break };
            let is_directory = kind == Kind::Directory;
            let shown = !is_directory || self.options.lists(&[&*directory.prefix, name].concat());
            let end = if shown { index + 1 } else { index };
            if is_directory || end - begin >= BATCH || index + 1 == listing.len() {
                if end > begin {
                    parts.push(Part::Files(Batch::new(
                        handle.clone(),
                        (directory.prefix.clone(), self.base(directory)),
                        listing.clone(),
                        begin..end,
                    )));
                }
                begin = index + 1;
            }
            if is_directory && self.descends(directory) {
                parts.push(Part::Directory(directory.child(name, handle.clone(), rules)));
            }
        }
    }

    fn base(&self, directory: &Directory) -> usize {
        self.options.starts.get(directory.start).map_or(0, |start| start.base)
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

impl Directory {
    fn child(&self, name: &[u8], parent: Handle, rules: &Rules) -> Directory {
        Directory {
            parent,
            name: name.to_vec(),
            prefix: [&*self.prefix, name, b"/"].concat().into(),
            rules: rules.clone(),
            depth: self.depth + 1,
            start: self.start,
        }
    }
}

/// Decides entry by entry what stays.
struct Sieve<'a> {
    expander: &'a Expander,
    rules: &'a Rules,
    /// Path of the entry in hand; its head is the directory's prefix.
    path: Vec<u8>,
    prefix: usize,
    /// Bytes of the path of the directory where the walk began.
    base: usize,
    drop_noise: bool,
    pseudo: bool,
}

impl<'a> Sieve<'a> {
    fn new(
        expander: &'a Expander,
        directory: &Directory,
        rules: &'a Rules,
        volume: Volume,
    ) -> Sieve<'a> {
        let options = &expander.options;
        let governed = rules.govern() || expander.workspace.outer().in_repository();
        Sieve {
            expander,
            rules,
            path: directory.prefix.to_vec(),
            prefix: directory.prefix.len(),
            base: expander.base(directory),
            drop_noise: options.drop_noise && !options.no_ignore && !governed,
            pseudo: volume == Volume::Pseudo,
        }
    }

    fn sift(&mut self, listing: &mut Listing, report: &mut DirectoryReport) {
        listing.retain(|name, kind| self.keep(name, kind, report));
    }

    fn keep(&mut self, name: &[u8], kind: Kind, report: &mut DirectoryReport) -> bool {
        if VERSION_CONTROL.contains(&name) && (kind == Kind::Directory || name == b".git") {
            return false;
        }
        // Half-made files of a write that is under way, or of one that was killed.
        if name.first() == Some(&b'.') && is_temporary(name) {
            return false;
        }
        self.path.truncate(self.prefix);
        self.path.extend_from_slice(name);
        let is_directory = kind == Kind::Directory;
        let options = &self.expander.options;
        if !options.reaches(&self.path, is_directory) {
            return false;
        }
        let skipped = &mut report.receipt.skipped;
        if self.expander.workspace.policy().denies(&self.path, is_directory) {
            skipped.denied += 1;
            return false;
        }
        let verdict = self.rules.verdict(&self.path, is_directory);
        if verdict == Verdict::Ignored {
            let count = if is_directory {
                &mut skipped.ignored_directories
            } else {
                &mut skipped.ignored_files
            };
            *count += 1;
            self.leave_out(is_directory, false, report);
            return false;
        }
        if !options.hidden && verdict == Verdict::Open && name.first() == Some(&b'.') {
            skipped.hidden += 1;
            self.leave_out(is_directory, true, report);
            return false;
        }
        if self.drop_noise && is_directory && NOISE.contains(&name) {
            skipped.ignored_directories += 1;
            report.receipt.warnings.push(
                "left out target and node_modules, as no ignore file says what to leave out"
                    .to_owned(),
            );
            return false;
        }
        self.keep_kind(kind, report)
    }

    fn keep_kind(&self, kind: Kind, report: &mut DirectoryReport) -> bool {
        let options = &self.expander.options;
        let skipped = &mut report.receipt.skipped;
        match kind {
            Kind::Directory => {
                let pruned = options.filter.prunes(&self.path, self.base);
                skipped.filtered += u64::from(pruned);
                !pruned
            }
            Kind::Special => {
                skipped.special += 1;
                false
            }
            Kind::File if self.pseudo && options.contents => {
                skipped.special += 1;
                false
            }
            Kind::Link if options.contents => {
                skipped.links += 1;
                false
            }
            Kind::File | Kind::Link => {
                let passes = options.filter.passes(&self.path, self.base);
                skipped.filtered += u64::from(!passes);
                passes
            }
        }
    }

    /// Remembers what a rule left out, as far as a filter would have let it pass.
    fn leave_out(&self, is_directory: bool, hidden: bool, report: &mut DirectoryReport) {
        let options = &self.expander.options;
        let passes = is_directory || options.filter.passes(&self.path, self.base);
        if options.contents && passes && report.left_out.len() < MAX_LEFT_OUT {
            report.left_out.push(LeftOut { path: self.path.clone(), hidden });
        }
    }
}

fn shown(prefix: &[u8]) -> String {
    match prefix.strip_suffix(b"/").unwrap_or(prefix) {
        b"" => ".".to_owned(),
        path => escape::exact_path(path).into_owned(),
    }
}
