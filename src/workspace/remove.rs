//! Removing a file or a link.

use std::io;

use crate::context::Call;
use crate::error::Error;
use crate::os::Rename;
use crate::workspace::create_dirs::commit;
use crate::workspace::lock::lock;
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::{check_file_or_link, refuse_version, stranded, written};
use crate::workspace::remove_tree::{TreeCount, remove_directory};
use crate::workspace::replace::rename_exclusive;
use crate::workspace::temp::{keep_aside, random_name};
use crate::workspace::{Access, Durability, VersionToken, Workspace, WorkspacePath};

/// What was removed.
#[derive(Debug)]
pub(crate) struct Removed {
    pub(crate) path: WorkspacePath,
    /// What was in it, if it was a directory.
    pub(crate) tree: Option<TreeCount>,
}

/// See [`Workspace::remove_entry`].
pub(super) fn remove_entry(
    workspace: &Workspace,
    path: &str,
    expected: Option<VersionToken>,
    is_recursive: bool,
    call: &Call,
) -> Result<Removed, Error> {
    let path = workspace.resolve(path, Access::Entry)?;
    let tree = if path.is_directory() {
        refuse_version(&path, expected)?;
        Some(remove_directory(workspace, &path, is_recursive, call)?)
    } else {
        remove(workspace, &path, expected, call)?;
        None
    };
    Ok(Removed { path, tree })
}

/// See [`Workspace::remove`].
pub(super) fn remove_file(
    workspace: &Workspace,
    path: &str,
    expected: Option<VersionToken>,
    call: &Call,
) -> Result<WorkspacePath, Error> {
    let path = workspace.resolve(path, Access::Entry)?;
    remove(workspace, &path, expected, call)?;
    Ok(path)
}

fn remove(
    workspace: &Workspace,
    path: &WorkspacePath,
    expected: Option<VersionToken>,
    call: &Call,
) -> Result<(), Error> {
    let _lock = lock(workspace, &[path], call)?;
    check_file_or_link(path, "delete")?;
    let failed = |error| Error::io("delete", path.as_str(), error);
    let (parent, name) = path.entry();
    match expected {
        None => {
            commit(path, call)?;
            parent.remove_file(name).map_err(failed)?;
        }
        Some(expected) => {
            let file = OpenFile::open_version(path, expected, call)?;
            remove_if(path, &file, || commit(path, call), failed)?;
        }
    }
    if workspace.durability() == Durability::Full {
        // The file is gone and cannot be restored, so a failure is ignored.
        let _ = parent.sync();
    }
    Ok(())
}

/// Removes a locked file if it still has the content that was read. The file is renamed to a
/// temporary name first, so that the file that is checked is the one that is removed; otherwise it
/// gets its name back. `begin` is called before anything is changed.
pub(super) fn remove_if(
    path: &WorkspacePath,
    file: &OpenFile,
    begin: impl FnOnce() -> Result<(), Error>,
    failed: impl Fn(io::Error) -> Error,
) -> Result<(), Error> {
    let (parent, name) = path.entry();
    let check = |name: &[u8]| match file.is_at(parent, name) {
        Ok(true) => Ok(()),
        Ok(false) => Err(written(path)),
        Err(error) => Err(failed(error)),
    };
    // A file that was replaced already is not renamed: it is not locked by this call, so a sweep
    // would remove it as abandoned.
    check(name)?;
    begin()?;
    let aside = random_name();
    parent.rename(name, (parent, &aside), Rename::Replace).map_err(&failed)?;
    let removed = check(&aside).and_then(|()| parent.remove_file(&aside).map_err(&failed));
    let Err(error) = removed else { return Ok(()) };
    match rename_exclusive(parent, &aside, (parent, name)) {
        Ok(()) => Err(error),
        Err(again) => Err(stranded(path, &keep_aside(parent, &aside), again)),
    }
}
