//! The index as a source of directories for a walk.

use std::io;
use std::sync::Arc;

use crate::index::selections::{KeptSelection, SelectionKey, State};
use crate::index::snapshot::IndexView;
use crate::index::snapshot_dir::{FilterKey, SnapshotDir};
use crate::walk::{
    DirContents, DirHandle, DirListing, DirSource, DirectoryReport, DiskDirs, FileId, IgnoreRules,
    InitialTask, OpenCount, OpenDir, PendingDir, ReadContext, Selection, SelectionLookup,
    WalkOptions,
};
use ripkit_fs::os::{Dir, Kind, Volume};
use ripkit_fs::{RecentFingerprint, Workspace};

/// How many directories of a selection may have changed for one thread to bring it up to date, or to make it
/// anew.
const MAX_CHANGED: usize = 64;

/// Directories are read from the cache where they are unchanged, and otherwise from disk into it.
impl DirSource for IndexView {
    fn outer_rules(&self, workspace: &Workspace, warnings: &mut Vec<String>) -> IgnoreRules {
        self.cache().outer_rules(workspace, warnings)
    }

    fn ancestor_rules(
        &self,
        workspace: &Workspace,
        dir: &Dir,
        prefix: &[u8],
        above: &IgnoreRules,
        warnings: &mut Vec<String>,
    ) -> IgnoreRules {
        let cached = self.listed(&prefix.into(), dir).and_then(|cached| {
            let open = || Ok(OpenDir::new(dir.traverse(b".")?, &OpenCount::default()));
            let mut own_warnings = Vec::new();
            let with = (self.generation(), self.cache().budget());
            let rules = cached.enter(workspace, above, &open, &mut own_warnings, with).ok()?;
            warnings.append(&mut own_warnings);
            Some(rules)
        });
        cached.unwrap_or_else(|| DiskDirs.ancestor_rules(workspace, dir, prefix, above, warnings))
    }

    fn selection(&self, options: &WalkOptions, tasks: &[InitialTask]) -> SelectionLookup {
        let Some(key) = SelectionKey::of(options, tasks).filter(|_| self.cache().is_watched())
        else {
            return SelectionLookup::Unknown;
        };
        let selections = &self.cache().selections();
        match selections.get(&key) {
            Some(State::Unfit) => SelectionLookup::Unknown,
            None => {
                selections.put(key, State::Seen);
                SelectionLookup::Unknown
            }
            Some(State::Seen) => SelectionLookup::Wanted,
            Some(State::Kept(kept)) => {
                let mut changed = kept.changed(self.generation(), self.relisted());
                changed.extend(tasks.iter().filter_map(|task| self.other_root(task, &kept)));
                let is_few = changed.len() <= MAX_CHANGED;
                let was_doubtful = kept.doubt(!is_few);
                if is_few {
                    let selection = kept.selection().clone();
                    let has_rules = kept.has_rules(self.generation(), &|dir| self.open(dir));
                    if has_rules && changed.is_empty() {
                        return SelectionLookup::Known(selection);
                    }
                    return if has_rules {
                        SelectionLookup::Outdated(selection, changed)
                    } else {
                        selections.put(key, State::Seen);
                        SelectionLookup::Wanted
                    };
                }
                // The first time, the walk perhaps finds that none of them has changed.
                if was_doubtful {
                    selections.put(key, State::Seen);
                }
                SelectionLookup::Unknown
            }
        }
    }

    fn keep_selection(
        &self,
        options: &WalkOptions,
        tasks: &[InitialTask],
        selection: &Arc<Selection>,
    ) {
        let Some(key) = SelectionKey::of(options, tasks) else { return };
        let before = self.cache().selections().take(&key);
        let state = self
            .kept(options, tasks, (selection, before))
            .map_or(State::Unfit, |kept| State::Kept(Arc::new(kept)));
        self.cache().selections().put(key, state);
    }

    fn known_entry(&self, path: &[u8]) -> Option<(Kind, Option<FileId>)> {
        let mut dir = self.current_dir(b"")?;
        for (at, _) in path.iter().enumerate().filter(|(_, byte)| **byte == b'/') {
            dir = self.current_dir(path.get(..=at)?)?;
        }
        let name = path.strip_prefix(&**dir.prefix())?;
        dir.listing().find(name)
    }

    fn read(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let is_in_place = directory.is_in_place();
        if let Some(cached) = self.directory(directory.prefix(), is_in_place, &|| directory.stat())
        {
            let root = walk.workspace().root_handle();
            let handle =
                DirHandle::lazy(root, cached.prefix().clone(), cached.volume(), walk.open_count());
            if self.wants_watch(&cached) {
                let dir = handle.open()?;
                // The path may lead to another directory by now.
                if cached.has_identity(RecentFingerprint::of(&dir).identity()) {
                    self.watch(cached.prefix(), cached.changes(), &dir);
                }
            }
            let contents = self.contents(walk, directory, &cached, handle, report)?;
            return Ok(contents.unchanged());
        }
        let dir = directory.open(walk.open_count())?;
        if dir.volume() != Volume::Disk {
            return Ok(DiskDirs::contents(walk, directory, &dir, report));
        }
        // Before the entries are read, so that no later change is missed.
        let stamp = RecentFingerprint::of(&dir);
        let changes = self.changes(directory.prefix(), stamp, &dir);
        let errors_before = report.stats.trouble.len();
        let (listing, ignore_files) = walk.list(&dir, directory, report);
        if report.interrupted || report.stats.trouble.len() > errors_before {
            let listed = (listing, ignore_files);
            return Ok(DiskDirs::filtered(walk, directory, &dir, listed, report));
        }
        let known = (listing, ignore_files);
        let cached = self.insert_listed(directory.prefix(), known, (stamp, changes));
        let handle = DirHandle::hold(&dir, walk.workspace().root_handle(), directory.prefix());
        self.contents(walk, directory, &cached, handle, report)
    }
}

impl IndexView {
    /// What a walk finds in a cached directory.
    fn contents(
        &self,
        walk: &ReadContext<'_>,
        directory: &PendingDir,
        cached: &Arc<SnapshotDir>,
        handle: DirHandle,
        report: &mut DirectoryReport,
    ) -> io::Result<DirContents> {
        let budget = self.cache().budget();
        let rules = if walk.options().no_ignore {
            IgnoreRules::default()
        } else {
            let (warnings, with) = (&mut report.stats.warnings, (self.generation(), budget));
            let open = || handle.open();
            cached.enter(walk.workspace(), directory.rules(), &open, warnings, with)?
        };
        let listing = || DirListing::clone(cached.listing());
        let filter = || walk.filter(directory, cached.volume(), &rules).apply_rules(listing());
        // What lies before the position to resume at is not even counted, so such a result is of no
        // use to other walks.
        let filtered = if walk.options().resumes_below(directory.prefix()) {
            Arc::new(filter())
        } else {
            cached.filtered(FilterKey::of(walk.options(), &rules), budget, filter)
        };
        let volume = cached.volume();
        Ok(DirContents::new((handle, volume), rules, filtered))
    }

    /// A directory that is valid without checking it.
    fn current_dir(&self, prefix: &[u8]) -> Option<Arc<SnapshotDir>> {
        self.cache().directory(prefix).filter(|dir| dir.is_current(self.generation()))
    }

    /// The path of a root that is not, or no more, the directory that a selection has.
    fn other_root(&self, task: &InitialTask, kept: &KeptSelection) -> Option<Arc<[u8]>> {
        let InitialTask::ReadDir(root) = task else { return None };
        let now = self.directory(root.prefix(), root.is_in_place(), &|| root.stat());
        (!now.is_some_and(|now| kept.has(&now))).then(|| root.prefix().clone())
    }

    /// What a walk visits, to be kept in the place of what it visited before; none if a later call could
    /// not tell whether something changed.
    fn kept(
        &self,
        options: &WalkOptions,
        tasks: &[InitialTask],
        (selection, before): (&Arc<Selection>, Option<Arc<KeptSelection>>),
    ) -> Option<KeptSelection> {
        let (mut dirs, mut ruled) = (Vec::new(), Vec::new());
        for (index, selected) in selection.directories().iter().enumerate() {
            // Mostly they are the same, which spares the look-up.
            let same = before.as_ref().and_then(|before| before.directory(index));
            let same = same.filter(|dir| selected.is_part_of(dir.listing()));
            let dir = same.cloned().or_else(|| self.cache().directory(selected.prefix()))?;
            if !dir.is_current(self.generation()) || !selected.is_part_of(dir.listing()) {
                return None;
            }
            if dir.is_ruled() && !options.no_ignore {
                let (above, inside) = selected.rules();
                ruled.push((dir.clone(), above.clone(), inside.clone()));
            }
            dirs.push(dir);
        }
        for task in tasks {
            if let InitialTask::Visit(_, batch) = task {
                dirs.push(self.cache().directory(batch.prefix())?);
            }
        }
        drop(before);
        let bytes = selection.bytes() + dirs.len() * size_of::<usize>();
        let memory = self.cache().budget().reserve(bytes, 0)?;
        Some(KeptSelection::new(selection.clone(), dirs, ruled, memory))
    }
}
