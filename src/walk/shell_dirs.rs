//! Reads directories as `rg` and `fd` do: their choice of ignore files, globs that come before them,
//! links that are followed, and version control that is only hidden.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, OnceLock};

use ignore::gitignore::Gitignore;
use ignore::overrides::Override;
use ignore::types::Types;

use crate::pool::lock;
use crate::walk::directory::{
    DirHandle, DirListing, DirectoryReport, FilteredDir, OpenDir, PendingDir,
};
use crate::walk::ignore_rules::{IgnoreFiles, IgnoreRules, RuleMatch};
use crate::walk::roots::{DirContents, DirSource, ReadContext};
use ripkit_fs::byte_path::as_path;
use ripkit_fs::os::{Dir, Identity, Kind};
use ripkit_fs::{IgnoreChoice, Workspace, is_temporary};

/// A question about an entry: its path as it is shown, its name, and its depth below the root.
pub(crate) type EntryTest = Arc<dyn Fn(&[u8], &[u8], usize) -> bool + Send + Sync>;

/// What a walk at a shell reads.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "for the program only")]
pub struct ShellRules {
    /// Which ignore files hold.
    pub ignore: IgnoreChoice,
    /// Whether ignore files above the root hold.
    pub parents: bool,
    /// Whether names that start with a dot are included.
    pub hidden: bool,
    /// Whether links are followed.
    pub follow: bool,
    /// Whether directories of other file systems are not entered.
    pub one_file_system: bool,
    /// Globs that decide before the ignore files. They see paths as they are shown.
    pub globs: Override,
    /// The file types that are wanted, or not.
    pub types: Types,
    /// Rules that decide after the ignore files, the last of them first.
    pub last: Vec<Gitignore>,
    /// Directories that hold an entry of one of these names are left out.
    pub marks: Vec<Vec<u8>>,
}

impl Default for ShellRules {
    fn default() -> ShellRules {
        ShellRules {
            ignore: IgnoreChoice::default(),
            parents: true,
            hidden: false,
            follow: false,
            one_file_system: false,
            globs: Override::empty(),
            types: Types::empty(),
            last: Vec::new(),
            marks: Vec::new(),
        }
    }
}

/// The directories below one root.
pub(crate) struct ShellDirs {
    rules: ShellRules,
    /// Below which directories nothing is visited.
    is_end: Option<EntryTest>,
    /// How the root is shown, empty or ending in `/`, and how many bytes of a path belong to it.
    shown: Vec<u8>,
    base_len: usize,
    /// The file system of the root.
    device: OnceLock<u64>,
    /// Where links are followed, the directories above those that are still to be read.
    seen: Mutex<HashMap<Arc<[u8]>, Identity>>,
}

impl std::fmt::Debug for ShellDirs {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("ShellDirs").finish_non_exhaustive()
    }
}

impl ShellDirs {
    /// Those below a root that is shown as `shown`, and whose path takes `base_len` bytes; below those for
    /// which `is_end` nothing is visited.
    pub(crate) fn new(
        rules: ShellRules,
        is_end: Option<EntryTest>,
        shown: Vec<u8>,
        base_len: usize,
    ) -> ShellDirs {
        let (device, seen) = (OnceLock::new(), Mutex::default());
        ShellDirs { rules, is_end, shown, base_len, device, seen }
    }

    /// The path of an entry as it is shown.
    fn shown(&self, prefix: &[u8], name: &[u8]) -> Vec<u8> {
        [&*self.shown, &prefix[self.base_len..], name].concat()
    }

    /// Opens a directory to which links may lead.
    fn open(&self, walk: &ReadContext<'_>, directory: &PendingDir) -> io::Result<Arc<OpenDir>> {
        match directory.open(walk.open_count()) {
            Err(_) if self.rules.follow => {
                let path = directory.prefix().strip_suffix(b"/").unwrap_or(directory.prefix());
                let found = walk.workspace().look_up(path).map_err(io::Error::other)?;
                let found = found.ok_or(io::ErrorKind::NotFound)?;
                Ok(OpenDir::new(found.open_dir().map_err(io::Error::other)?, walk.open_count()))
            }
            opened => opened,
        }
    }

    /// Whether nothing below a directory is visited.
    fn is_end(&self, directory: &PendingDir, dir: &Dir) -> io::Result<bool> {
        if self.rules.one_file_system {
            let device = dir.stat(b".")?.identity.device;
            if device != *self.device.get_or_init(|| device) {
                return Ok(true);
            }
        }
        let has_mark = self.rules.marks.iter().any(|name| dir.stat(name).is_ok());
        let is_end = self.is_end.as_ref().filter(|_| directory.depth() > 0);
        Ok(has_mark
            || is_end.is_some_and(|is_end| {
                let path = directory.prefix().strip_suffix(b"/").unwrap_or(directory.prefix());
                is_end(&self.shown(path, b""), directory.name(), directory.depth())
            }))
    }

    /// What a link leads to: the kind of a link if to nothing, none if to a directory above it.
    fn followed(&self, walk: &ReadContext<'_>, prefix: &[u8], name: &[u8]) -> Option<Kind> {
        let Ok(Some(found)) = walk.workspace().look_up(&[prefix, name].concat()) else {
            return Some(Kind::Link);
        };
        let kind = found.kind().unwrap_or(Kind::Link);
        if kind == Kind::Directory {
            let (parent, name) = found.entry();
            let identity = parent.stat(name).ok()?.identity;
            let seen = lock(&self.seen);
            let is_above = |end: usize| seen.get(&prefix[..=end]) == Some(&identity);
            let mut slashes = memchr::memchr_iter(b'/', prefix);
            let root: &[u8] = b"";
            if seen.get(root) == Some(&identity) || slashes.any(is_above) {
                return None;
            }
        }
        Some(kind)
    }

    fn keeps(&self, rules: &IgnoreRules, prefix: &[u8], name: &[u8], kind: Kind) -> bool {
        let is_hidden = name.first() == Some(&b'.');
        if is_hidden && is_temporary(name) {
            return false;
        }
        let is_directory = kind == Kind::Directory;
        let has_last = !self.rules.globs.is_empty() || !self.rules.last.is_empty();
        let shown = if has_last { self.shown(prefix, name) } else { Vec::new() };
        let verdict = |found: ignore::Match<()>| match found {
            ignore::Match::None => RuleMatch::None,
            ignore::Match::Ignore(()) => RuleMatch::Ignored,
            ignore::Match::Whitelist(()) => RuleMatch::Whitelist,
        };
        let globs = || {
            if self.rules.globs.is_empty() {
                return RuleMatch::None;
            }
            verdict(self.rules.globs.matched(as_path(&shown), is_directory).map(drop))
        };
        let last = || {
            let rules = self.rules.last.iter().rev();
            let found = rules.map(|rules| rules.matched(as_path(&shown), is_directory).map(drop));
            found.map(verdict).find(|verdict| *verdict != RuleMatch::None)
        };
        match globs() {
            RuleMatch::None => {}
            verdict => return verdict == RuleMatch::Whitelist,
        }
        let mut verdict = rules.verdict(&[prefix, name].concat(), is_directory);
        if verdict == RuleMatch::None {
            verdict = last().unwrap_or(RuleMatch::None);
        }
        if verdict == RuleMatch::Ignored {
            return false;
        }
        // A type decides even where an ignore file says that the entry is wanted.
        let types = &self.rules.types;
        if !types.is_empty() {
            match types.matched(as_path(name), is_directory) {
                ignore::Match::None => {}
                ignore::Match::Ignore(_) => return false,
                ignore::Match::Whitelist(_) => return true,
            }
        }
        verdict == RuleMatch::Whitelist || !is_hidden || self.rules.hidden
    }

    fn has_mark(&self, dir: &Dir, name: &[u8], kind: Kind) -> bool {
        kind == Kind::Directory
            && !self.rules.marks.is_empty()
            && dir
                .open_dir(name)
                .is_ok_and(|dir| self.rules.marks.iter().any(|mark| dir.stat(mark).is_ok()))
    }
}

impl DirSource for ShellDirs {
    fn ancestor_rules(
        &self,
        workspace: &Workspace,
        dir: &Dir,
        prefix: &[u8],
        above: &IgnoreRules,
        warnings: &mut Vec<String>,
    ) -> IgnoreRules {
        if !self.rules.parents {
            return above.clone();
        }
        let found = IgnoreFiles::probe(dir).chosen(self.rules.ignore, above);
        above.enter(workspace, (dir, prefix), found, warnings)
    }

    fn read(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let dir = self.open(walk, directory)?;
        let prefix = directory.prefix();
        let (listing, files) = if self.is_end(directory, &dir)? {
            (DirListing::default(), IgnoreFiles::default())
        } else {
            walk.list(&dir, directory, report)
        };
        if self.rules.follow {
            lock(&self.seen).insert(prefix.clone(), dir.stat(b".")?.identity);
        }
        let found = files.chosen(self.rules.ignore, directory.rules());
        let warnings = &mut report.stats.warnings;
        let rules = directory.rules().enter(walk.workspace(), (&dir, prefix), found, warnings);
        let mut kept = DirListing::with_room();
        for (name, kind) in (0..listing.len()).filter_map(|index| listing.get(index)) {
            let kind = match kind {
                Kind::Link if self.rules.follow => self.followed(walk, prefix, name),
                kind => Some(kind),
            };
            let kind = kind.filter(|kind| {
                self.keeps(&rules, prefix, name, *kind) && !self.has_mark(&dir, name, *kind)
            });
            if let Some(kind) = kind {
                kept.push(name, kind);
            }
        }
        kept.sort_by_name();
        let filtered = FilteredDir { listing: Arc::new(kept), report: DirectoryReport::default() };
        let handle = DirHandle::hold(&dir, walk.workspace().root_handle(), prefix);
        Ok(DirContents::new((handle, dir.volume()), rules, Arc::new(filtered)))
    }
}
