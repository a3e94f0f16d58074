//! Removing a file, a link, or a directory with everything in it.

use crate::context::Call;
use crate::error::Error;
use crate::workspace::commit::Transaction;
use crate::workspace::path::{check_file_or_link, refuse_version};
use crate::workspace::remove_tree::{CheckedTree, Purpose, TreeCount, check_removable};
use crate::workspace::{Access, VersionToken, Workspace, WorkspacePath};

/// What was removed.
#[derive(Debug)]
pub struct Removed {
    /// Where it was.
    pub path: WorkspacePath,
    /// What was in it, if it was a directory.
    pub tree: Option<TreeCount>,
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
    if path.is_directory() {
        refuse_version(&path, expected)?;
        check_removable(workspace, &path, is_recursive)?;
        let paths = vec![(path.clone(), Access::Entry)];
        let mut transaction = Transaction::lock(workspace, paths, call)?;
        transaction.remove_tree(CheckedTree::check(workspace, &path, Purpose::Delete, call)?);
        let (notes, tree) = transaction.commit_steps(call)?.into_parts();
        call.add_notes(notes);
        return Ok(Removed { path, tree });
    }
    remove(workspace, &path, expected, call)?;
    Ok(Removed { path, tree: None })
}

/// See [`Workspace::remove`].
pub(super) fn remove_file(workspace: &Workspace, path: &str, call: &Call) -> Result<(), Error> {
    remove(workspace, &workspace.resolve(path, Access::Entry)?, None, call)
}

fn remove(
    workspace: &Workspace,
    path: &WorkspacePath,
    expected: Option<VersionToken>,
    call: &Call,
) -> Result<(), Error> {
    check_file_or_link(path, "delete")?;
    let paths = vec![(path.clone(), Access::Entry)];
    let mut transaction = Transaction::lock(workspace, paths, call)?;
    if expected.is_some() {
        transaction.open(0, expected, call)?;
    }
    transaction.remove(0);
    call.add_notes(transaction.commit(call)?);
    Ok(())
}
