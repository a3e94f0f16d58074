//! The log of the changes that were made through a workspace, from which they are listed and undone.
//!
//! It is kept in memory and bounded: the oldest changes are dropped first, and their number is known.
//! A deleted file is kept by its open handle, so that its content and attributes cost no memory; the
//! disk space is freed when the change is dropped.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::os::{File, Kind};
use crate::sync::lock;
use crate::workspace::change::ChangeKind;
use crate::workspace::journal::FileMark;
use crate::workspace::restore::{RemovedTree, is_restorable};
use crate::workspace::{Version, Workspace, WorkspacePath};

/// The most changes that are kept.
const MAX_CHANGES: usize = 10_000;

/// The most bytes of old content that are kept.
pub(super) const MAX_BYTES: usize = 64 << 20;

/// The most deleted files and directories that are kept open.
pub(super) const MAX_FILES: usize = 128;

/// The changes of a workspace, oldest first.
#[derive(Debug, Default)]
pub struct ChangeLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    steps: VecDeque<LoggedStep>,
    /// The number of the last step.
    last: u64,
    /// How many steps were dropped.
    dropped: u64,
    /// Of all steps together.
    size: Size,
}

/// What changes take.
#[derive(Clone, Copy, Debug, Default)]
struct Size {
    changes: usize,
    bytes: usize,
    /// Those that are kept open.
    files: usize,
}

/// Changes that were made together and are undone together.
#[derive(Clone, Debug)]
pub struct LoggedStep {
    /// Counts from 1, without gaps.
    pub number: u64,
    /// The id that the host gave to the call.
    pub call_id: Option<String>,
    pub changes: Vec<LoggedChange>,
}

/// A change of one path, with what is needed to undo it.
#[derive(Clone, Debug)]
pub struct LoggedChange {
    /// The real path relative to the root, after the change.
    pub path: Vec<u8>,
    pub before: Before,
    pub after: After,
    /// The permissions of a file that got others.
    pub mode: Option<ModeChange>,
    /// Directories that were created for it, from the top.
    pub directories: Vec<Vec<u8>>,
}

/// Permissions before and after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ModeChange {
    pub(crate) before: u32,
    pub(crate) after: u32,
}

/// What was at the path before a change.
#[derive(Clone, Debug)]
pub enum Before {
    Nothing,
    /// A file with this content, another file than after the change in most cases.
    Content {
        old: Arc<Vec<u8>>,
        mark: FileMark,
    },
    /// A file that was deleted.
    File(Arc<File>),
    /// A link to this text that was deleted.
    Link {
        text: Vec<u8>,
        mark: FileMark,
    },
    /// A directory that was deleted with everything in it.
    Directory(Arc<RemovedTree>),
    /// It was at another path.
    At {
        from: Vec<u8>,
        /// `None` for a directory.
        mark: Option<FileMark>,
    },
    /// It could not be kept, for this reason.
    NotKept(&'static str),
}

/// What is at the path after a change.
#[derive(Clone, Copy, Debug)]
pub enum After {
    Nothing,
    /// A file with this content.
    Content(Version),
    /// A file or link, known by its stat data.
    Entry(FileMark),
    Directory,
}

impl Before {
    /// The reason for a file of more than [`MAX_FILE_BYTES`](crate::workspace::MAX_FILE_BYTES).
    pub(super) fn too_large() -> Before {
        Before::NotKept("the file was too large to be kept")
    }

    /// A file that is removed.
    ///
    /// # Errors
    /// Failures to examine it.
    pub(super) fn removed_file(file: File) -> io::Result<Before> {
        if is_restorable(&file)? {
            Ok(Before::File(Arc::new(file)))
        } else {
            Ok(Before::NotKept("the file had several hard links"))
        }
    }

    /// A link that is about to be removed.
    ///
    /// # Errors
    /// Failures to read it.
    pub(super) fn removed_link(path: &WorkspacePath) -> io::Result<Before> {
        let (parent, name) = path.entry();
        let (text, mark) = (parent.read_link(name)?, FileMark::from(&parent.stat(name)?));
        Ok(Before::Link { text, mark })
    }

    /// A file or link that is about to be removed. The file is not locked, since the step that removes
    /// it does so.
    ///
    /// # Errors
    /// Failures to open the file or to read the link.
    pub(super) fn removed(path: &WorkspacePath) -> Result<Before, Error> {
        let failed = |error| Error::io("open", path.as_str(), error);
        let (parent, name) = path.entry();
        if path.kind() == Some(Kind::Link) {
            return Before::removed_link(path).map_err(failed);
        }
        parent.open_file(name).and_then(Before::removed_file).map_err(failed)
    }

    /// The files and links that the change found, with their paths below that of the change; empty for
    /// the path itself. Of a deleted file, what it is now.
    pub(super) fn found(&self) -> Vec<(&[u8], FileMark)> {
        let mark_of = |file: &File| file.stat().ok().map(|stat| FileMark::from(&stat));
        match self {
            Before::Content { mark, .. } | Before::Link { mark, .. } => vec![(b"", *mark)],
            Before::At { mark, .. } => mark.iter().map(|mark| (b"".as_slice(), *mark)).collect(),
            Before::File(file) => {
                mark_of(file).map(|mark| (b"".as_slice(), mark)).into_iter().collect()
            }
            Before::Directory(tree) => tree.marks().collect(),
            Before::Nothing | Before::NotKept(_) => Vec::new(),
        }
    }

    /// Refers to the copies of deleted files, by which another name of them was restored.
    fn replace_files(&mut self, copies: &[(FileMark, Arc<File>)]) {
        let replace = |file: &mut Arc<File>| {
            let Ok(stat) = file.stat() else { return };
            if let Some((_, copy)) = copies.iter().find(|(old, _)| old.is_of_file(stat.identity)) {
                *file = copy.clone();
            }
        };
        match self {
            Before::File(file) => replace(file),
            Before::Directory(tree) if !copies.is_empty() => {
                Arc::make_mut(tree).files_mut().for_each(replace);
            }
            _ => {}
        }
    }
}

impl After {
    /// What is at a path now.
    pub(super) fn at(workspace: &Workspace, path: &[u8]) -> After {
        let now = WorkspacePath::reopen(workspace, path).ok();
        match now.as_ref().and_then(WorkspacePath::stat) {
            None => After::Nothing,
            Some(stat) if stat.kind == Kind::Directory => After::Directory,
            Some(stat) => After::Entry(stat.into()),
        }
    }
}

impl LoggedChange {
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, self.after) {
            (Before::At { .. }, _) => ChangeKind::Move,
            (_, After::Nothing) => ChangeKind::Delete,
            (_, After::Directory) => ChangeKind::CreateDirectory,
            (Before::Nothing, _) => ChangeKind::Create,
            _ => ChangeKind::Modify,
        }
    }
}

impl Size {
    fn of(step: &LoggedStep) -> Size {
        let mut size = Size { changes: step.changes.len(), ..Size::default() };
        for change in &step.changes {
            match &change.before {
                Before::Content { old, .. } => size.bytes += old.len(),
                Before::File(_) => size.files += 1,
                Before::Directory(tree) => size.files += tree.handles(),
                _ => {}
            }
        }
        size
    }

    fn add(&mut self, other: Size) {
        self.changes += other.changes;
        self.bytes += other.bytes;
        self.files += other.files;
    }

    fn subtract(&mut self, other: Size) {
        self.changes -= other.changes;
        self.bytes -= other.bytes;
        self.files -= other.files;
    }

    fn is_over_limit(self) -> bool {
        self.changes > MAX_CHANGES || self.bytes > MAX_BYTES || self.files > MAX_FILES
    }
}

impl ChangeLog {
    /// Adds a step. Returns a sentence on what cannot be undone because of it.
    pub(super) fn add(&self, call_id: Option<&str>, changes: Vec<LoggedChange>) -> Option<String> {
        if changes.is_empty() {
            return None;
        }
        let not_kept = changes.iter().find_map(|change| match change.before {
            Before::NotKept(why) => Some(why),
            _ => None,
        });
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        let call_id = call_id.map(str::to_owned);
        let step = LoggedStep { number, call_id, changes };
        state.size.add(Size::of(&step));
        state.steps.push_back(step);
        let before = state.dropped;
        while state.size.is_over_limit() {
            state.drop_oldest();
        }
        let too_large =
            state.steps.is_empty().then_some("it is larger than the whole log of changes");
        if let Some(why) = not_kept.or(too_large) {
            return Some(format!("this change cannot be undone: {why}"));
        }
        // A full log drops one with each.
        let dropped = state.dropped - before;
        (dropped > 1).then(|| format!("{dropped} older changes can no longer be undone"))
    }

    /// All steps, oldest first, and how many older ones were dropped.
    pub fn steps(&self) -> (Vec<LoggedStep>, u64) {
        let state = lock(&self.state);
        (state.steps.iter().cloned().collect(), state.dropped)
    }

    /// One step.
    pub(super) fn step(&self, number: u64) -> Option<LoggedStep> {
        lock(&self.state).steps.iter().find(|step| step.number == number).cloned()
    }

    /// Removes a step that was undone. Each file that it found, the first of a pair, is the second by
    /// now: the changes before it that left this very file, as it was found, can be undone next. `copies`
    /// are files that took the place of deleted ones.
    pub(super) fn undone(
        &self,
        number: u64,
        present: &[(FileMark, FileMark)],
        copies: &[(FileMark, Arc<File>)],
    ) {
        let mut state = lock(&self.state);
        let Some(at) = state.steps.iter().position(|step| step.number == number) else { return };
        if let Some(step) = state.steps.remove(at) {
            state.size.subtract(Size::of(&step));
        }
        let earlier = state.steps.iter_mut().filter(|step| step.number < number);
        for change in earlier.flat_map(|step| &mut step.changes) {
            change.before.replace_files(copies);
            if let After::Entry(mark) = &mut change.after
                && let Some((_, now)) = present.iter().find(|(found, _)| found == mark)
            {
                *mark = *now;
            }
        }
    }
}

impl State {
    fn drop_oldest(&mut self) {
        match self.steps.pop_front() {
            Some(step) => {
                self.size.subtract(Size::of(&step));
                self.dropped += 1;
            }
            None => self.size = Size::default(),
        }
    }
}
