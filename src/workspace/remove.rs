//! Removing a file or a link.

use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::Rename;
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange};
use crate::workspace::create_dirs::commit;
use crate::workspace::lock::lock;
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::{check_file_or_link, refuse_version, stranded, written};
use crate::workspace::remove_tree::{TreeCount, remove_directory};
use crate::workspace::replace::rename_exclusive;
use crate::workspace::temp::{keep_aside, random_name};
use crate::workspace::{
    Access, Durability, MAX_FILE_BYTES, VersionToken, Workspace, WorkspacePath,
};

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
        Some(remove_tree(workspace, &path, is_recursive, call)?)
    } else {
        remove(workspace, &path, expected, call)?;
        None
    };
    Ok(Removed { path, tree })
}

fn remove_tree(
    workspace: &Workspace,
    path: &WorkspacePath,
    is_recursive: bool,
    call: &Call,
) -> Result<TreeCount, Error> {
    let observer = Observer::of(workspace);
    let change = Change::new(ChangeKind::Delete, path.as_str(), call);
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let keeps = workspace.change_log().is_some();
    let (count, before) = remove_directory(workspace, path, is_recursive, keeps, call)?;
    if let Some(observer) = observer {
        observer.report(&change);
        let (path, after) = (path.relative().to_vec(), After::Nothing);
        observer.log(call, vec![LoggedChange { path, before, after, directories: Vec::new() }]);
    }
    Ok(count)
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
    let observer = Observer::of(workspace);
    let mut file = match expected {
        Some(expected) => Some(OpenFile::open_version(path, expected, call)?),
        // What is reviewed and logged must be what is removed.
        None if observer.is_some() && path.is_file() => OpenFile::open(path, call)?,
        None => None,
    };
    if observer.is_some()
        && let Some(file) = &mut file
    {
        match file.read(MAX_FILE_BYTES, path) {
            Err(error) if error.code() == ErrorCode::TooLarge => {}
            read => read?,
        }
    }
    let change = Change::new(ChangeKind::Delete, path.as_str(), call);
    let change = change.with_content(file.as_ref().and_then(OpenFile::content), None);
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let failed = |error| Error::io("delete", path.as_str(), error);
    let (parent, name) = path.entry();
    let link = match &observer {
        Some(_) if file.is_none() => Some(Before::removed_link(path).map_err(failed)?),
        _ => None,
    };
    if let Some(file) = &file {
        remove_if(path, file, || commit(path, call), failed)?;
    } else {
        commit(path, call)?;
        parent.remove_file(name).map_err(failed)?;
    }
    if workspace.durability() == Durability::Full {
        // The file is gone and cannot be restored, so a failure is ignored.
        let _ = parent.sync();
    }
    if let Some(observer) = observer {
        observer.report(&change);
        let before = match (link, file) {
            (Some(link), _) => link,
            // The file is gone, so the call has succeeded, whatever can be learned of it.
            (None, Some(file)) => Before::removed_file(file.into_file())
                .unwrap_or(Before::NotKept("the file could not be examined")),
            (None, None) => Before::too_large(),
        };
        let (path, after) = (path.relative().to_vec(), After::Nothing);
        observer.log(call, vec![LoggedChange { path, before, after, directories: Vec::new() }]);
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
