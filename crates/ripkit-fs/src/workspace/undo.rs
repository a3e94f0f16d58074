//! Undoing logged changes, as one transaction.

use std::collections::HashMap;
use std::sync::Arc;

use crate::byte_path::joined;
use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::escape;
use crate::os::File;
use crate::workspace::change_log::{After, Before, LoggedChange, LoggedStep};
use crate::workspace::commit::prune;
use crate::workspace::journal::FileMark;
use crate::workspace::{Access, MAX_FILE_BYTES, Transaction, Version, Workspace, WorkspacePath};

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
    let notes = match step.changes.as_slice() {
        [change] if is_of_directory(change) => {
            undo_directory(workspace, (change, step.number), call)?
        }
        _ => Undo::begin(workspace, step, call)?.commit(call)?,
    };
    prune(workspace, step.changes.iter().flat_map(|change| &change.directories));
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
                    let origin = self.origins.get(change.path.as_slice()).copied();
                    match origin {
                        Some(origin) => {
                            self.transaction.rename(index, origin, Some(old.to_vec()))?;
                        }
                        None => self.transaction.write(index, old.to_vec())?,
                    }
                    if let Some(mode) = change.mode {
                        if self.transaction.mode(index) != Some(mode.after) {
                            return Err(changed_since(self.transaction.path(index), self.number));
                        }
                        self.transaction.set_mode(origin.unwrap_or(index), mode.before)?;
                    }
                }
                (Before::Link { text, .. }, After::Content(version)) => {
                    self.check_content(index, version, call)?;
                    self.transaction.link(index, text.clone())?;
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
                    self.transaction.restore(index, file.clone());
                }
                (Before::Link { text, .. }, After::Nothing) => {
                    self.transaction.link(index, text.clone())?;
                }
                // A link took its place.
                (Before::File(file), After::Entry(mark)) => {
                    self.check_mark(index, &mark)?;
                    self.transaction.restore(index, file.clone());
                }
                (Before::Link { text, .. }, After::Entry(mark)) => {
                    self.check_mark(index, &mark)?;
                    self.transaction.link(index, text.clone())?;
                }
                _ => return Err(unexpected(self.transaction.path(index))),
            }
        }
        self.transaction.commit_unlogged(call).map(|undone| undone.notes)
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

/// Undoes a change of a directory, which is the only one of its step: it was created, moved or deleted.
fn undo_directory(
    workspace: &Workspace,
    (change, number): (&LoggedChange, u64),
    call: &Call,
) -> Result<Vec<String>, Error> {
    // The directory that the change left.
    let present = || {
        let text = escape::exact_path(&change.path);
        let path = workspace.resolve(&text, Access::Entry)?;
        if path.is_directory() { Ok(path) } else { Err(changed_since(&text, number)) }
    };
    // A path where nothing may be, in a directory that exists.
    let free = |path: &[u8]| {
        let path = workspace.resolve(&escape::exact_path(path), Access::Create)?;
        if path.exists() || path.entry().1.contains(&b'/') {
            return Err(changed_since(path.as_str(), number));
        }
        Ok(path)
    };
    let begin = |paths| Transaction::lock(workspace, paths, call);
    let transaction = match &change.before {
        Before::Directory(tree) => {
            let mut transaction = begin(vec![(free(&change.path)?, Access::Create)])?;
            transaction.restore_tree(tree.clone());
            transaction
        }
        Before::At { from, .. } => {
            let present = present()?;
            let tree = present.identity();
            let paths = vec![(present, Access::Entry), (free(from)?, Access::Create)];
            let mut transaction = begin(paths)?;
            transaction.move_to(false, tree);
            transaction
        }
        _ => {
            let mut transaction = begin(vec![(present()?, Access::Entry)])?;
            transaction.remove_directory(0);
            transaction
        }
    };
    let undone = transaction.commit_unlogged(call).map_err(|error| match error.code() {
        ErrorCode::FileAlreadyExists => changed_since(error.path().unwrap_or_default(), number),
        _ => error,
    })?;
    Ok(undone.notes)
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
