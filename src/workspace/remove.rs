//! Removing a file.

use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Kind, Rename, Stat};
use crate::workspace::parents::commit;
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::{changed, gone};
use crate::workspace::replace::place_exclusive;
use crate::workspace::temporary::{keep_aside, random_name};
use crate::workspace::{Access, Durability, Version, Workspace, WorkspacePath};

impl Workspace {
    /// Removes a regular file, or a link and not what it leads to.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `INVALID_PATH` for anything else, `CONFLICT` if the
    /// content is not of the `expected` version, `TIMEOUT` and `CANCELLED` before it was removed.
    pub(crate) fn remove_file(
        &self,
        path: &str,
        expected: Option<Version>,
        call: &Call,
    ) -> Result<WorkspacePath, Error> {
        let path = self.resolve(path, Access::Entry)?;
        let _lock = self.lock(&[&path], call)?;
        check_removable(&path)?;
        match expected {
            None => {
                commit(&path, call)?;
                remove(&path)?;
            }
            Some(expected) => remove_version(&path, expected, call)?,
        }
        if self.0.durability == Durability::Full {
            // It is done, and there is nothing to take back.
            let _ = path.entry().0.sync();
        }
        Ok(path)
    }
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

fn remove(path: &WorkspacePath) -> Result<(), Error> {
    let (parent, name) = path.entry();
    parent.remove_file(name).map_err(|error| Error::io("delete", path.as_str(), error))
}

fn remove_version(path: &WorkspacePath, expected: Version, call: &Call) -> Result<(), Error> {
    let found = present(path, expected, call)?;
    let failed = |error| Error::io("delete", path.as_str(), error);
    remove_if(path, |now| found.is_as_read(now), || commit(path, call), failed)
}

/// Removes an entry if it is the right one; between the look and the removal is a moment.
pub(super) fn remove_as_it_is(
    path: &WorkspacePath,
    is_right: impl Fn(&Stat) -> io::Result<bool>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (parent, name) = path.entry();
    look(path, name, is_right, &failed)?;
    parent.remove_file(name).map_err(failed)
}

/// Removes a file if it is the right one. It is set aside first: what is then looked at is what
/// is removed, and what is not removed gets its name back. `begin` is asked before anything is
/// changed.
pub(super) fn remove_if(
    path: &WorkspacePath,
    is_right: impl Fn(&Stat) -> io::Result<bool>,
    begin: impl FnOnce() -> Result<(), Error>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (parent, name) = path.entry();
    // What is another already is not touched at all: it has no lock of ours, and without one
    // whoever sweeps takes what is set aside for abandoned.
    look(path, name, &is_right, &failed)?;
    begin()?;
    let aside = random_name();
    parent.rename(name, (parent, &aside), Rename::Replace).map_err(&failed)?;
    let removed = look(path, &aside, is_right, &failed)
        .and_then(|()| parent.remove_file(&aside).map_err(&failed));
    let Err(error) = removed else { return Ok(()) };
    match place_exclusive(parent, &aside, (parent, name)) {
        Ok(()) => Err(error),
        Err(again) => Err(set_aside(path, &keep_aside(parent, &aside), again)),
    }
}

/// Refuses an entry beside the path, or itself, that is not the right one.
fn look(
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

/// The worst case: the file is there, but its name is somebody else's, or cannot be given back.
fn set_aside(path: &WorkspacePath, aside: &[u8], error: io::Error) -> Error {
    let aside = String::from_utf8_lossy(aside);
    let message = format!(
        "{path} was written by somebody else meanwhile, or cannot be deleted, and could not be \
         put back: {error}; it is beside it, named {aside}"
    );
    Error::new(ErrorCode::Conflict, message).at(path.as_str()).because(error)
}

/// The file of the version that the caller expects.
pub(super) fn present(
    path: &WorkspacePath,
    expected: Version,
    call: &Call,
) -> Result<OpenFile, Error> {
    if path.kind() == Some(Kind::Link) {
        let message = format!("{path} is a link, which has no version");
        return Err(Error::new(ErrorCode::InvalidArgument, message)
            .at(path.as_str())
            .with_hint("Leave out expected_version."));
    }
    let (parent, name) = path.entry();
    let mut present = OpenFile::open(parent, name, path, call)?.ok_or_else(|| gone(path))?;
    present.expect(expected, call, path)?;
    Ok(present)
}
