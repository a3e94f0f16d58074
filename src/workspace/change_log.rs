//! The log of the changes that were made through a workspace, from which they are listed and undone.
//!
//! It is kept in memory and bounded: the oldest changes are dropped first, and their number is known.
//! A deleted file is kept by its open handle, so that its content and attributes cost no memory; the
//! disk space is freed when the change is dropped.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use crate::error::Error;
use crate::os::{File, Identity, Kind};
use crate::sync::lock;
use crate::workspace::change::ChangeKind;
use crate::workspace::journal::FileMark;
use crate::workspace::restore::{RemovedTree, is_restorable};
use crate::workspace::{Version, Workspace, WorkspacePath};

/// The most changes that are kept.
const MAX_CHANGES: usize = 10_000;

/// The most bytes of old content that are kept.
const MAX_BYTES: usize = 64 << 20;

/// The most deleted files and directories that are kept open.
pub(super) const MAX_FILES: usize = 128;

/// The changes of a workspace, oldest first.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog {
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
pub(crate) struct LoggedStep {
    /// Counts from 1, without gaps.
    pub(crate) number: u64,
    /// The id that the host gave to the call.
    pub(crate) call_id: Option<String>,
    pub(crate) changes: Vec<LoggedChange>,
}

/// A change of one path, with what is needed to undo it.
#[derive(Clone, Debug)]
pub(crate) struct LoggedChange {
    /// The real path relative to the root, after the change.
    pub(crate) path: Vec<u8>,
    pub(crate) before: Before,
    pub(crate) after: After,
    /// Directories that were created for it, from the top.
    pub(crate) directories: Vec<Vec<u8>>,
}

/// What was at the path before a change.
#[derive(Clone, Debug)]
pub(crate) enum Before {
    Nothing,
    /// A file with this content, another file than after the change in most cases.
    Content {
        old: Arc<Vec<u8>>,
        identity: Identity,
    },
    /// A file that was deleted.
    File(Arc<File>),
    /// A link to this text that was deleted.
    Link(Vec<u8>),
    /// A directory that was deleted with everything in it.
    Directory(Arc<RemovedTree>),
    /// It was at another path.
    At(Vec<u8>),
    /// It could not be kept, for this reason.
    NotKept(&'static str),
}

/// What is at the path after a change.
#[derive(Clone, Copy, Debug)]
pub(crate) enum After {
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

    /// A file or link that is about to be removed. The file is not locked, since the step that removes
    /// it does so.
    ///
    /// # Errors
    /// Failures to open the file or to read the link.
    pub(super) fn removed(path: &WorkspacePath) -> Result<Before, Error> {
        let failed = |error| Error::io("open", path.as_str(), error);
        let (parent, name) = path.entry();
        if path.kind() == Some(Kind::Link) {
            return parent.read_link(name).map(Before::Link).map_err(failed);
        }
        parent.open_file(name).and_then(Before::removed_file).map_err(failed)
    }

    /// The files that were deleted or replaced, with their paths below that of the change; empty for
    /// the path itself.
    pub(super) fn files(&self) -> Vec<(&[u8], Identity)> {
        let identity_of = |file: &File| file.stat().ok().map(|stat| stat.identity);
        match self {
            Before::Content { identity, .. } => vec![(b"", *identity)],
            Before::File(file) => {
                identity_of(file).map(|it| (b"".as_slice(), it)).into_iter().collect()
            }
            Before::Directory(tree) => {
                tree.files().filter_map(|(path, file)| Some((path, identity_of(file)?))).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Refers to the copies of deleted files, by which another name of them was restored.
    fn replace_files(&mut self, copies: &[(Identity, Arc<File>)]) {
        let replace = |file: &mut Arc<File>| {
            let Ok(stat) = file.stat() else { return };
            if let Some((_, copy)) = copies.iter().find(|(old, _)| *old == stat.identity) {
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
    pub(crate) fn kind(&self) -> ChangeKind {
        match (&self.before, self.after) {
            (Before::At(_), _) => ChangeKind::Move,
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
    pub(super) fn add(&self, call_id: Option<&str>, changes: Vec<LoggedChange>) {
        if changes.is_empty() {
            return;
        }
        let mut state = lock(&self.state);
        state.last += 1;
        let number = state.last;
        let call_id = call_id.map(str::to_owned);
        let step = LoggedStep { number, call_id, changes };
        state.size.add(Size::of(&step));
        state.steps.push_back(step);
        while state.size.is_over_limit() {
            state.drop_oldest();
        }
    }

    /// All steps, oldest first, and how many older ones were dropped.
    pub(crate) fn steps(&self) -> (Vec<LoggedStep>, u64) {
        let state = lock(&self.state);
        (state.steps.iter().cloned().collect(), state.dropped)
    }

    /// One step.
    pub(super) fn step(&self, number: u64) -> Option<LoggedStep> {
        lock(&self.state).steps.iter().find(|step| step.number == number).cloned()
    }

    /// Removes a step that was undone, and puts the present state of the files into the changes before
    /// it, so that these can be undone next. `copies` are files that took the place of deleted ones.
    pub(super) fn undone(
        &self,
        number: u64,
        present: &[(Vec<u8>, After)],
        copies: &[(Identity, Arc<File>)],
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
                && let Some((_, copy)) = copies.iter().find(|(old, _)| mark.is_of_file(*old))
                && let Ok(stat) = copy.stat()
            {
                *mark = (&stat).into();
            }
        }
        for (path, after) in present {
            let After::Entry(now) = after else { continue };
            let mut earlier: Vec<&mut LoggedChange> = state
                .steps
                .iter_mut()
                .filter(|step| step.number < number)
                .flat_map(|step| &mut step.changes)
                .collect();
            // The file itself, which may have other names, and a file that was restored.
            let last = earlier.iter().rposition(|change| change.path == *path);
            for (index, change) in earlier.iter_mut().enumerate() {
                if let After::Entry(mark) = &mut change.after
                    && (mark.is_same_file(now) || Some(index) == last)
                {
                    *mark = *now;
                }
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
