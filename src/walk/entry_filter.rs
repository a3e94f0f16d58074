//! Which entries of a directory a walk keeps, and an account of the others.

use std::sync::Arc;

use crate::walk::cached_dir::FilteredDir;
use crate::walk::ignore_rules::{IgnoreRules, RuleMatch};
use crate::walk::listing::DirListing;
use crate::walk::options::WalkOptions;
use crate::walk::report::{DirectoryReport, SkippedEntry};
use crate::workspace::{Kind, Volume, Workspace, is_temporary};

/// How many left-out entries a directory reports.
const MAX_LEFT_OUT: usize = 200;

/// How many of them are remembered before a filter has its say.
const MAX_REMEMBERED: usize = 10_000;

/// Directories of version control, which are never walked; `.git` may also be a file.
pub(crate) const VERSION_CONTROL: [&[u8]; 6] = [b".git", b".hg", b".svn", b".bzr", b".jj", b".sl"];

/// Directories left out where no ignore file and no repository says what is noise.
const NOISE: [&[u8]; 2] = [b"node_modules", b"target"];

/// Said where files are left out that the kernel makes as they are read: some never end, some wait
/// until something happens, and some do something.
const KERNEL_FILES: &str = "files that the kernel makes as they are read, as in /proc and /sys, \
    are searched only if they are named";

/// Decides entry by entry what stays.
pub(super) struct EntryFilter<'a> {
    options: &'a WalkOptions,
    workspace: &'a Workspace,
    rules: &'a IgnoreRules,
    /// Path of the entry in hand; its head is the directory's prefix.
    path: Vec<u8>,
    prefix: usize,
    drop_noise: bool,
    pseudo: bool,
}

impl<'a> EntryFilter<'a> {
    pub(super) fn new(
        options: &'a WalkOptions,
        workspace: &'a Workspace,
        prefix: &[u8],
        rules: &'a IgnoreRules,
        volume: Volume,
    ) -> EntryFilter<'a> {
        let governed = rules.govern() || workspace.outer().in_repository();
        EntryFilter {
            options,
            workspace,
            rules,
            path: prefix.to_vec(),
            prefix: prefix.len(),
            drop_noise: options.drop_noise && !options.no_ignore && !governed,
            pseudo: volume == Volume::Pseudo,
        }
    }

    /// What the rules of the tree, the host and the walk leave, whatever the filter says.
    pub(super) fn all(&mut self, listing: &DirListing) -> FilteredDir {
        let (mut listing, mut report) = (listing.clone(), DirectoryReport::default());
        // Before the entries are looked at, so that those which are left out are in order too.
        listing.sort();
        listing.retain(|name, kind| self.keep(name, kind, &mut report));
        FilteredDir { listing: Arc::new(listing), report }
    }

    /// Tells whether the filter may have a say in what is left.
    pub(super) fn narrows(&self, sieved: &FilteredDir) -> bool {
        !self.options.filter.is_everything() || sieved.report.skipped_entries.len() > MAX_LEFT_OUT
    }

    /// Drops what the filter leaves out; `base` is how many bytes of the paths it does not see.
    pub(super) fn narrow(&mut self, sieved: &mut FilteredDir, base: usize) {
        let filter = &self.options.filter;
        let FilteredDir { listing, report } = sieved;
        if !filter.is_everything() {
            Arc::make_mut(listing).retain(|name, kind| self.passes(name, kind, base, report));
            report
                .skipped_entries
                .retain(|entry| entry.is_directory || filter.passes(&entry.path, base));
        }
        report.skipped_entries.truncate(MAX_LEFT_OUT);
    }

    fn keep(&mut self, name: &[u8], kind: Kind, report: &mut DirectoryReport) -> bool {
        if VERSION_CONTROL.contains(&name) && (kind == Kind::Directory || name == b".git") {
            return false;
        }
        // Half-made files of a write that is under way, or of one that was killed.
        if name.first() == Some(&b'.') && is_temporary(name) {
            return false;
        }
        self.at(name);
        let is_directory = kind == Kind::Directory;
        if !self.options.reaches(&self.path, is_directory) {
            return false;
        }
        // Not counted: a receipt does not tell whether something denied is there.
        if self.workspace.policy().denies(&self.path, is_directory) {
            return false;
        }
        let skipped = &mut report.stats.skipped;
        let verdict = self.rules.verdict(&self.path, is_directory);
        if verdict == RuleMatch::Ignored {
            let count = if is_directory {
                &mut skipped.ignored_directories
            } else {
                &mut skipped.ignored_files
            };
            *count += 1;
            self.leave_out(is_directory, false, report);
            return false;
        }
        if !self.options.hidden && verdict == RuleMatch::None && name.first() == Some(&b'.') {
            skipped.hidden += 1;
            self.leave_out(is_directory, true, report);
            return false;
        }
        if self.drop_noise && is_directory && NOISE.contains(&name) {
            skipped.ignored_directories += 1;
            report.stats.warnings.push(
                "left out target and node_modules, as no ignore file says what to leave out"
                    .to_owned(),
            );
            return false;
        }
        self.keep_kind(kind, report)
    }

    fn keep_kind(&self, kind: Kind, report: &mut DirectoryReport) -> bool {
        let skipped = &mut report.stats.skipped;
        let contents = self.options.contents;
        let count = match kind {
            Kind::Special => &mut skipped.special,
            Kind::File if self.pseudo && contents => {
                // Once for a directory is enough; the receipt keeps one of all of these.
                if skipped.kernel == 0 {
                    report.stats.warnings.push(KERNEL_FILES.to_owned());
                }
                &mut report.stats.skipped.kernel
            }
            Kind::Link if contents => &mut skipped.links,
            Kind::Directory | Kind::File | Kind::Link => return true,
        };
        *count += 1;
        false
    }

    fn passes(
        &mut self,
        name: &[u8],
        kind: Kind,
        base: usize,
        report: &mut DirectoryReport,
    ) -> bool {
        self.at(name);
        let filter = &self.options.filter;
        let passes = match kind {
            Kind::Directory => !filter.prunes(&self.path, base),
            _ => filter.passes(&self.path, base),
        };
        report.stats.skipped.filtered += u64::from(!passes);
        passes
    }

    fn at(&mut self, name: &[u8]) {
        self.path.truncate(self.prefix);
        self.path.extend_from_slice(name);
    }

    /// Remembers what a rule left out, so that a hint can look into it.
    fn leave_out(&self, is_directory: bool, hidden: bool, report: &mut DirectoryReport) {
        if self.options.contents && report.skipped_entries.len() < MAX_REMEMBERED {
            let path = self.path.clone();
            report.skipped_entries.push(SkippedEntry { path, is_directory, hidden });
        }
    }
}
