//! The state of a directory's ignore files when they were read.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::walk::handle::OpenDir;
use crate::walk::ignore_rules::Found;
use crate::workspace::{Dir, Fingerprint, IgnoreSource, Workspace, exclude_below, now};

/// The stamps of the ignore files of one directory.
#[derive(Debug)]
pub(super) struct IgnoreFingerprints {
    files: Vec<RuleStamp>,
    /// Of a repository only.
    exclude: Option<ExcludeStamp>,
    /// Of a repository with a `.git` file only.
    linked: Option<LinkedStamp>,
}

/// The exclude file to which a `.git` file leads, and its stamp. The `.git` file is read anew each
/// time, since it may lead elsewhere by now.
#[derive(Debug)]
struct LinkedStamp {
    workspace: Workspace,
    prefix: Vec<u8>,
    found: Option<(Vec<u8>, Fingerprint)>,
    is_settled: bool,
}

/// The stamp of `.git/info/exclude`, which lies where nobody watches and need not be there.
#[derive(Debug)]
struct ExcludeStamp {
    stamp: Option<Fingerprint>,
    is_settled: bool,
}

#[derive(Debug)]
struct RuleStamp {
    name: &'static [u8],
    stamp: Option<Fingerprint>,
    is_settled: bool,
    /// The epoch of the last call that found it so.
    verified: AtomicU64,
}

impl IgnoreFingerprints {
    /// Looks at the files of a directory, by its handle and its path in the workspace, before they
    /// are read.
    pub(super) fn of(
        workspace: &Workspace,
        (directory, prefix): (&Dir, &[u8]),
        found: Found,
        current: u64,
    ) -> IgnoreFingerprints {
        let seen = now();
        let names = IgnoreSource::FILES.iter().filter(|(source, _)| found.has(*source));
        let files = names.map(|(_, name)| {
            let (stamp, is_told_of) = stamp(directory, name.as_bytes());
            let is_settled = stamp.is_none_or(|stamp| !stamp.is_racy(seen));
            let verified = AtomicU64::new(if is_told_of { current } else { 0 });
            RuleStamp { name: name.as_bytes(), stamp, is_settled, verified }
        });
        let files = files.collect();
        let exclude = found.has(IgnoreSource::Exclude).then(|| {
            let stamp = exclude(directory);
            ExcludeStamp { stamp, is_settled: stamp.is_none_or(|stamp| !stamp.is_racy(seen)) }
        });
        let linked = found.has_git_file().then(|| {
            let found = linked(workspace, prefix);
            let is_settled = found.as_ref().is_none_or(|(_, stamp)| !stamp.is_racy(seen));
            LinkedStamp { workspace: workspace.clone(), prefix: prefix.to_vec(), found, is_settled }
        });
        IgnoreFingerprints { files, exclude, linked }
    }

    /// Tells whether the files are still as they were; those that are `unchanged` since the epoch
    /// in which they were last looked at are not looked at again.
    pub(super) fn hold(
        &self,
        open: &dyn Fn() -> io::Result<Arc<OpenDir>>,
        unchanged: &dyn Fn(&[u8], u64) -> bool,
        current: u64,
    ) -> bool {
        self.files.iter().all(|file| file.holds(open, unchanged, current))
            && self.exclude.as_ref().is_none_or(|known| {
                known.is_settled && open().is_ok_and(|dir| exclude(&dir) == known.stamp)
            })
            && self.linked.as_ref().is_none_or(|known| {
                known.is_settled && linked(&known.workspace, &known.prefix) == known.found
            })
    }
}

impl RuleStamp {
    fn holds(
        &self,
        open: &dyn Fn() -> io::Result<Arc<OpenDir>>,
        unchanged: &dyn Fn(&[u8], u64) -> bool,
        current: u64,
    ) -> bool {
        if unchanged(self.name, self.verified.load(Ordering::Acquire)) {
            return true;
        }
        let Some(dir) = open().ok().filter(|_| self.is_settled) else { return false };
        let (stamp, is_told_of) = stamp(&dir, self.name);
        if stamp == self.stamp && is_told_of {
            self.verified.fetch_max(current, Ordering::AcqRel);
        }
        stamp == self.stamp
    }
}

/// The stamp of a file, and whether a watcher would tell of a change: nobody tells what is written
/// by a name that lies elsewhere.
fn stamp(directory: &Dir, name: &[u8]) -> (Option<Fingerprint>, bool) {
    let stat = directory.stat(name).ok();
    (stat.as_ref().map(Fingerprint::of), stat.is_none_or(|stat| stat.links == 1))
}

fn exclude(directory: &Dir) -> Option<Fingerprint> {
    let info = directory.traverse(b".git").ok()?.traverse(b"info").ok()?;
    // Of whatever kind: what is no file is told of.
    info.stat(b"exclude").ok().map(|stat| Fingerprint::of(&stat))
}

fn linked(workspace: &Workspace, prefix: &[u8]) -> Option<(Vec<u8>, Fingerprint)> {
    let path = exclude_below(workspace, prefix)?;
    let (directory, name) = path.entry();
    let stat = directory.stat(name).ok()?;
    Some((path.relative().to_vec(), Fingerprint::of(&stat)))
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::disallowed_methods,
        reason = "tests build trees by other means than the ones they test"
    )]

    use std::fs;
    use std::path::Path;
    use std::thread;
    use std::time::Duration;

    use tempfile::TempDir;

    use super::*;
    use crate::walk::handle::OpenCount;
    use crate::workspace::Kind;

    fn settle() {
        thread::sleep(Duration::from_millis(130));
    }

    /// The stamps of what a directory with all of them would have.
    fn stamps(root: &Path) -> IgnoreFingerprints {
        let mut found = Found::default();
        for (name, kind) in
            [(".gitignore", Kind::File), (".ignore", Kind::File), (".git", Kind::Directory)]
        {
            found.note(name.as_bytes(), kind);
        }
        let workspace = Workspace::open(root).unwrap();
        IgnoreFingerprints::of(&workspace, (&Dir::open_ambient(root).unwrap(), b""), found, 1)
    }

    fn hold(stamps: &IgnoreFingerprints, root: &Path, unchanged: bool) -> bool {
        let count = OpenCount::default();
        let open = || Ok(OpenDir::new(Dir::open_ambient(root)?, &count));
        stamps.hold(&open, &|_, verified| unchanged && verified > 0, 2)
    }

    #[test]
    fn every_change_of_an_ignore_file_shows() {
        let changes: [&dyn Fn(&Path); 9] = [
            &|root| fs::write(root.join(".gitignore"), "*.b\n").unwrap(),
            &|root| fs::remove_file(root.join(".gitignore")).unwrap(),
            &|root| fs::rename(root.join("other"), root.join(".gitignore")).unwrap(),
            &|root| fs::write(root.join(".ignore"), "").unwrap(),
            &|root| fs::write(root.join(".git/info/exclude"), "*.b\n").unwrap(),
            &|root| fs::remove_file(root.join(".git/info/exclude")).unwrap(),
            &|root| fs::remove_dir_all(root.join(".git/info")).unwrap(),
            &|root| fs::rename(root.join(".git"), root.join("git")).unwrap(),
            &|root| {
                fs::remove_file(root.join(".git/info/exclude")).unwrap();
                fs::create_dir(root.join(".git/info/exclude")).unwrap();
            },
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let temporary = TempDir::new().unwrap();
            let root = temporary.path();
            fs::create_dir_all(root.join(".git/info")).unwrap();
            for name in [".gitignore", "other", ".git/info/exclude"] {
                fs::write(root.join(name), "*.a\n").unwrap();
            }
            assert!(!hold(&stamps(root), root, false), "they have not settled");
            settle();
            let stamps = stamps(root);
            assert!(hold(&stamps, root, false));
            change(root);
            assert!(!hold(&stamps, root, false), "change {number}");
        }
    }

    #[test]
    fn an_exclude_file_that_comes_shows_whatever_it_is() {
        let temporary = TempDir::new().unwrap();
        let root = temporary.path();
        fs::create_dir_all(root.join(".git/info")).unwrap();
        let stamps = stamps(root);
        assert!(hold(&stamps, root, false), "what is not there need not settle");
        fs::create_dir(root.join(".git/info/exclude")).unwrap();
        assert!(!hold(&stamps, root, true));
    }

    #[test]
    fn a_file_with_other_names_is_looked_at_whatever_a_watcher_says() {
        let temporary = TempDir::new().unwrap();
        let root = temporary.path();
        fs::write(root.join(".gitignore"), "*.a\n").unwrap();
        fs::write(root.join("other"), "*.a\n").unwrap();
        settle();
        let alone = stamps(root);
        fs::write(root.join(".gitignore"), "*.b\n").unwrap();
        assert!(hold(&alone, root, true), "the watcher would have told");
        fs::hard_link(root.join("other"), root.join(".ignore")).unwrap();
        settle();
        let linked = stamps(root);
        assert!(hold(&linked, root, true));
        fs::write(root.join("other"), "*.b\n").unwrap();
        assert!(!hold(&linked, root, true));
    }
}
