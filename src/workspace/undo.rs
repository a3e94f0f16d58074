//! Undoing logged changes, as one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::text::escape;
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange, LoggedStep};
use crate::workspace::copy_content::{check_stop, failed};
use crate::workspace::create_dirs::commit;
use crate::workspace::journal::FileMark;
use crate::workspace::path::joined;
use crate::workspace::replace::rename_exclusive;
use crate::workspace::restore::{RemovedTree, shown_content};
use crate::workspace::{
    Access, Durability, File, MAX_FILE_BYTES, Transaction, Version, Workspace, WorkspacePath,
};

/// See [`Workspace::undo`].
pub(super) fn undo(workspace: &Workspace, number: u64, call: &Call) -> Result<Vec<String>, Error> {
    let Some(step) = workspace.change_log().and_then(|log| log.step(number)) else {
        let message = format!("change {number} is not in the log");
        return Err(Error::new(ErrorCode::InvalidArgument, message));
    };
    let step = &step;
    if let Some(reason) = step.changes.iter().find_map(not_undoable) {
        return Err(reason);
    }
    let found = found(step);
    let notes = if step.changes.iter().any(is_of_directory) {
        undo_directories(workspace, step, call)?
    } else {
        Undo::begin(workspace, step, call)?.commit(call)?
    };
    for directory in step.changes.iter().flat_map(|change| &change.directories).rev() {
        // One that others use by now stays.
        let _ = remove_directory(workspace, directory);
    }
    if let Some(log) = workspace.change_log() {
        let now = |path: &[u8]| match After::at(workspace, path) {
            After::Entry(now) => Some(now),
            _ => None,
        };
        let present = found.iter().filter_map(|(path, mark)| Some((*mark, now(path)?)));
        let copies =
            found.iter().filter_map(|(path, mark)| Some((*mark, Arc::new(open(workspace, path)?))));
        log.undone(step.number, &present.collect::<Vec<_>>(), &copies.collect::<Vec<_>>());
    }
    Ok(notes)
}

/// The files and links that a step found, with the paths that they had.
fn found(step: &LoggedStep) -> Vec<(Vec<u8>, FileMark)> {
    let mut found = Vec::new();
    for change in &step.changes {
        // A file that was moved and changed is at its origin again.
        let origin = step.changes.iter().find_map(|other| match &other.before {
            Before::At { from, .. } if other.path == change.path => Some(from),
            _ => None,
        });
        for (below, mark) in change.before.found() {
            found.push((joined(origin.unwrap_or(&change.path), below), mark));
        }
    }
    found
}

/// Opens a file, if it is there and can be read.
fn open(workspace: &Workspace, path: &[u8]) -> Option<File> {
    let place = WorkspacePath::reopen(workspace, path).ok()?;
    let (dir, name) = place.entry();
    dir.open_file(name).ok()
}

/// An undo in progress.
struct Undo<'a> {
    transaction: Transaction,
    /// The changes, with the index of each path in the transaction.
    changes: Vec<(&'a LoggedChange, usize)>,
    /// Where the files that were moved are to go.
    origins: HashMap<&'a [u8], usize>,
    number: u64,
}

impl<'a> Undo<'a> {
    fn begin(workspace: &Workspace, step: &'a LoggedStep, call: &Call) -> Result<Undo<'a>, Error> {
        let mut paths: Vec<(String, Access)> = Vec::new();
        let mut known: HashMap<&[u8], usize> = HashMap::new();
        let (mut changes, mut origins) = (Vec::new(), HashMap::new());
        let mut add = |path: &'a [u8], access| {
            *known.entry(path).or_insert_with(|| {
                paths.push((escape::exact_path(path).into_owned(), access));
                paths.len() - 1
            })
        };
        for change in &step.changes {
            let access = match (&change.before, change.after) {
                (_, After::Nothing) => Access::Create,
                _ => Access::Entry,
            };
            let index = add(&change.path, access);
            if let Before::At { from, .. } = &change.before {
                origins.insert(change.path.as_slice(), add(from, Access::Create));
            }
            changes.push((change, index));
        }
        let begun = workspace.begin(&paths, call);
        let transaction = begun.map_err(|errors| first(errors, step.number))?;
        let transaction = transaction.sparing_writers();
        Ok(Undo { transaction, changes, origins, number: step.number })
    }

    fn commit(mut self, call: &Call) -> Result<Vec<String>, Error> {
        let changes = std::mem::take(&mut self.changes);
        for (change, index) in changes {
            match (&change.before, change.after) {
                (Before::Content { old, .. }, After::Content(version)) => {
                    self.check_content(index, version, call)?;
                    match self.origins.get(change.path.as_slice()) {
                        Some(origin) => {
                            self.transaction.rename(index, *origin, Some(old.to_vec()))?;
                        }
                        None => self.transaction.write(index, old.to_vec())?,
                    }
                }
                (Before::Nothing, After::Content(version)) => {
                    self.check_content(index, version, call)?;
                    self.transaction.remove(index)?;
                }
                (Before::Nothing, After::Entry(mark)) => {
                    self.check_mark(index, &mark)?;
                    self.transaction.remove(index)?;
                }
                (Before::At { .. }, After::Entry(mark)) => {
                    self.check_mark(index, &mark)?;
                    if let Some(origin) = self.origins.get(change.path.as_slice()) {
                        self.transaction.rename(index, *origin, None)?;
                    }
                }
                // Followed by a change of the content of the same file, which is checked.
                (Before::At { .. }, _) => {}
                (Before::File(file), After::Nothing) => {
                    self.transaction.restore(index, file.clone())?;
                }
                (Before::Link { text, .. }, After::Nothing) => {
                    self.transaction.link(index, text.clone())?;
                }
                _ => return Err(unexpected(self.transaction.path(index))),
            }
        }
        self.transaction.commit_observed(call).map(|(notes, _)| notes)
    }

    fn check_content(&mut self, index: usize, version: Version, call: &Call) -> Result<(), Error> {
        let content = self.transaction.read(index, MAX_FILE_BYTES, call)?;
        match content {
            Some(content) if Version::of(&content) == version => Ok(()),
            _ => Err(changed_since(self.transaction.path(index), self.number)),
        }
    }

    fn check_mark(&mut self, index: usize, mark: &FileMark) -> Result<(), Error> {
        match self.transaction.mark(index)? {
            Some(now) if now == *mark => Ok(()),
            _ => Err(changed_since(self.transaction.path(index), self.number)),
        }
    }
}

/// Undoes changes of directories, which are single steps: a directory was created, moved or deleted.
fn undo_directories(
    workspace: &Workspace,
    step: &LoggedStep,
    call: &Call,
) -> Result<Vec<String>, Error> {
    let mut notes = Vec::new();
    for change in step.changes.iter().rev() {
        let undo = DirectoryUndo { workspace, change, number: step.number, call };
        notes.extend(match &change.before {
            Before::Directory(tree) => undo.restore(tree)?,
            Before::At { from, .. } => undo.move_back(from)?,
            _ => undo.remove()?,
        });
    }
    Ok(notes)
}

/// The undo of a change of a directory in progress.
struct DirectoryUndo<'a> {
    workspace: &'a Workspace,
    change: &'a LoggedChange,
    number: u64,
    call: &'a Call,
}

impl DirectoryUndo<'_> {
    /// Creates a deleted directory with everything in it. Returns notes.
    fn restore(&self, tree: &RemovedTree) -> Result<Vec<String>, Error> {
        let path = self.free(&self.change.path)?;
        let read = |path: &str, file: &File| {
            let content = check_stop(self.call).and_then(|()| shown_content(file));
            content.map_err(|error| failed("read", path, error, self.call))
        };
        self.each_restored(tree, read, |change, observer| observer.review(change))?;
        let lost = tree.restore(&path, self.workspace.durability(), self.call);
        let lost = lost.map_err(|error| match error.code() {
            ErrorCode::FileAlreadyExists => changed_since(path.as_str(), self.number),
            _ => error,
        })?;
        let note = |(below, what): (&[u8], &str)| {
            let path = joined(&self.change.path, below);
            format!("the {what} of {} could not be kept", escape::display_path(&path))
        };
        let mut notes: Vec<String> = lost.into_iter().map(note).collect();
        notes.extend(self.sync_names(&[&path]));
        // The change is made: a file that cannot be read any more is reported without its content.
        let read = |_: &str, file: &File| Ok(shown_content(file).unwrap_or(None));
        self.each_restored(tree, read, |change, observer| {
            observer.report(change);
            Ok(())
        })?;
        Ok(notes)
    }

    /// Calls `each` with the changes by which a directory is restored, with the content of one file at
    /// a time.
    fn each_restored(
        &self,
        tree: &RemovedTree,
        read: impl Fn(&str, &File) -> Result<Option<Vec<u8>>, Error>,
        each: impl Fn(&Change<'_>, &Observer<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let observer = Observer::of(self.workspace).filter(Observer::shows_content);
        let Some(observer) = observer else { return Ok(()) };
        for (below, kind, file) in tree.changes() {
            let path = joined(&self.change.path, below);
            let path = escape::exact_path(&path);
            let content = file.map(|file| read(&path, file)).transpose()?.flatten();
            let change = Change::new(kind, &path, self.call);
            each(&change.with_content(None, content.as_deref()), &observer)?;
        }
        Ok(())
    }

    /// Gives a directory that was moved its old path.
    fn move_back(&self, from: &[u8]) -> Result<Vec<String>, Error> {
        let path = self.present()?;
        let from = self.free(from)?;
        let change = Change::new(ChangeKind::Move, from.as_str(), self.call);
        let change = change.with_from(path.as_str());
        self.observed(&change, || {
            commit(&path, self.call)?;
            let (dir, name) = path.entry();
            rename_exclusive(dir, name, (from.entry().0, from.entry().1))
                .map_err(|error| Error::io("move", path.as_str(), error))?;
            Ok(self.sync_names(&[&path, &from]))
        })
    }

    /// Removes a directory that was created, which must be empty.
    fn remove(&self) -> Result<Vec<String>, Error> {
        let path = self.present()?;
        let change = Change::new(ChangeKind::Delete, path.as_str(), self.call);
        self.observed(&change, || {
            commit(&path, self.call)?;
            remove_directory(self.workspace, &self.change.path)
                .map_err(|error| Error::io("remove", path.as_str(), error))?;
            Ok(self.sync_names(&[&path]))
        })
    }

    /// Makes changed names durable with [`Durability::Full`]. A failure is only a note, since the change
    /// is undone.
    fn sync_names(&self, paths: &[&WorkspacePath]) -> Option<String> {
        if self.workspace.durability() != Durability::Full {
            return None;
        }
        let error = paths.iter().find_map(|path| path.entry().0.sync().err())?;
        Some(format!("the change is undone, but a power cut may bring it back: {error}"))
    }

    fn observed(
        &self,
        change: &Change<'_>,
        make: impl FnOnce() -> Result<Option<String>, Error>,
    ) -> Result<Vec<String>, Error> {
        let observer = Observer::of(self.workspace);
        observer.as_ref().map_or(Ok(()), |observer| observer.review(change))?;
        let note = make()?;
        if let Some(observer) = observer {
            observer.report(change);
        }
        Ok(note.into_iter().collect())
    }

    /// The directory that the change left.
    fn present(&self) -> Result<WorkspacePath, Error> {
        let text = escape::exact_path(&self.change.path);
        let path = self.workspace.resolve(&text, Access::Entry)?;
        if path.is_directory() { Ok(path) } else { Err(changed_since(&text, self.number)) }
    }

    /// A path where nothing may be, in a directory that exists.
    fn free(&self, path: &[u8]) -> Result<WorkspacePath, Error> {
        let path = self.workspace.resolve(&escape::exact_path(path), Access::Create)?;
        if path.exists() || path.entry().1.contains(&b'/') {
            return Err(changed_since(path.as_str(), self.number));
        }
        Ok(path)
    }
}

fn remove_directory(workspace: &Workspace, path: &[u8]) -> std::io::Result<()> {
    let place = WorkspacePath::reopen(workspace, path)?;
    let (parent, name) = place.entry();
    if name.contains(&b'/') {
        return Ok(());
    }
    parent.remove_dir(name)
}

fn is_of_directory(change: &LoggedChange) -> bool {
    matches!(change.after, After::Directory) || matches!(change.before, Before::Directory(_))
}

/// The error for a change that cannot be undone.
fn not_undoable(change: &LoggedChange) -> Option<Error> {
    let Before::NotKept(why) = change.before else { return None };
    let path = escape::exact_path(&change.path);
    let message = format!("the change of {path} cannot be undone: {why}");
    Some(Error::new(ErrorCode::InvalidArgument, message).at(&*path))
}

fn first(mut errors: Vec<(usize, Error)>, number: u64) -> Error {
    let Some((_, error)) = (!errors.is_empty()).then(|| errors.swap_remove(0)) else {
        return Error::new(ErrorCode::Internal, "a change cannot be undone, without a reason");
    };
    let path = error.path().unwrap_or_default().to_owned();
    match error.code() {
        ErrorCode::FileNotFound | ErrorCode::FileAlreadyExists | ErrorCode::InvalidPath => {
            changed_since(&path, number)
        }
        _ => error,
    }
}

fn changed_since(path: &str, number: u64) -> Error {
    let message = format!(
        "{path} is not what change {number} left; that change cannot be undone, and nothing was \
         changed"
    );
    Error::new(ErrorCode::Conflict, message)
        .at(path)
        .with_hint("Undo later changes of it first, or edit it.")
}

fn unexpected(path: &str) -> Error {
    let message = format!("the log has no way to undo the change of {path}; nothing was changed");
    Error::new(ErrorCode::Internal, message).at(path)
}
