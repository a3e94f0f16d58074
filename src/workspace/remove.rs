//! Removing a file.

use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Kind, Rename, Stat};
use crate::workspace::create_dirs::commit;
use crate::workspace::lock::lock;
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::changed;
use crate::workspace::replace::rename_exclusive;
use crate::workspace::temp::{keep_aside, random_name};
use crate::workspace::{Access, Durability, Version, Workspace, WorkspacePath};

/// See [`Workspace::remove_file`].
pub(super) fn remove_file(
    workspace: &Workspace,
    path: &str,
    expected: Option<Version>,
    call: &Call,
) -> Result<WorkspacePath, Error> {
    let path = workspace.resolve(path, Access::Entry)?;
    let _lock = lock(workspace, &[&path], call)?;
    check_removable(&path)?;
    let failed = |error| Error::io("delete", path.as_str(), error);
    let (parent, name) = path.entry();
    match expected {
        None => {
            commit(&path, call)?;
            parent.remove_file(name).map_err(failed)?;
        }
        Some(expected) => {
            let file = OpenFile::open_version(&path, expected, call)?;
            remove_if(&path, |now| file.is_as_read(now), || commit(&path, call), failed)?;
        }
    }
    if workspace.durability() == Durability::Full {
        // The file is gone and cannot be restored, so a failure is ignored.
        let _ = parent.sync();
    }
    Ok(path)
}

fn check_removable(path: &WorkspacePath) -> Result<(), Error> {
    let what = match path.kind() {
        Some(Kind::File | Kind::Link) => return Ok(()),
        Some(Kind::Directory) => "a directory",
        _ => "a FIFO, socket or device",
    };
    let message = format!("{path} is {what}: only files and links are removed");
    Err(Error::new(ErrorCode::InvalidPath, message).at(path.as_str()).with_hint("Name a file."))
}

/// Removes an entry if its stat data is right. A replacement between the check and the removal goes
/// unnoticed.
pub(super) fn remove_unguarded(
    path: &WorkspacePath,
    is_right: impl Fn(&Stat) -> io::Result<bool>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (parent, name) = path.entry();
    check(path, name, is_right, &failed)?;
    parent.remove_file(name).map_err(failed)
}

/// Removes a locked file if its stat data is right. The file is renamed to a temporary name first, so
/// that the file that is checked is the one that is removed; otherwise it gets its name back.
/// `begin` is called before anything is changed.
pub(super) fn remove_if(
    path: &WorkspacePath,
    is_right: impl Fn(&Stat) -> io::Result<bool>,
    begin: impl FnOnce() -> Result<(), Error>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (parent, name) = path.entry();
    // A file that was replaced already is not renamed: it is not locked by this call, so a sweep
    // would take it for abandoned.
    check(path, name, &is_right, &failed)?;
    begin()?;
    let aside = random_name();
    parent.rename(name, (parent, &aside), Rename::Replace).map_err(&failed)?;
    let removed = check(path, &aside, is_right, &failed)
        .and_then(|()| parent.remove_file(&aside).map_err(&failed));
    let Err(error) = removed else { return Ok(()) };
    match rename_exclusive(parent, &aside, (parent, name)) {
        Ok(()) => Err(error),
        Err(again) => Err(stranded(path, &keep_aside(parent, &aside), again)),
    }
}

/// Refuses an entry in the directory of `path` whose stat data is not right.
fn check(
    path: &WorkspacePath,
    name: &[u8],
    is_right: impl Fn(&Stat) -> io::Result<bool>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    match path.entry().0.stat(name).and_then(|now| is_right(&now)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(changed(path, "somebody else wrote it meanwhile")),
        Err(error) => Err(failed(error)),
    }
}

/// The error if the file cannot get its name back; it stays under another name.
fn stranded(path: &WorkspacePath, aside: &[u8], error: io::Error) -> Error {
    let aside = String::from_utf8_lossy(aside);
    let message = format!(
        "{path} was written by somebody else meanwhile, or cannot be deleted, and could not be \
         put back: {error}; it is beside it, named {aside}"
    );
    Error::new(ErrorCode::Conflict, message).at(path.as_str()).because(error)
}
