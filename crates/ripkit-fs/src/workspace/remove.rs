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

impl Workspace {
    /// Removes a regular file, a link but not its target, or with `is_recursive` a directory with
    /// everything in it. That is refused entirely, before anything is changed,
    /// if a rule denies an entry, a file system is mounted in it, or something is known to prevent the
    /// removal of an entry.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `INVALID_PATH` for anything else and for the root;
    /// `POLICY_DENIED`; `CONFLICT` if the content is not of the
    /// `expected` version, which only files have; `TIMEOUT` and `CANCELLED` before it was removed. Of a
    /// directory of which an entry cannot be removed, the rest gets its name back.
    pub fn remove_entry(
        &self,
        path: &str,
        expected: Option<VersionToken>,
        is_recursive: bool,
        call: &Call,
    ) -> Result<Removed, Error> {
        let path = self.resolve(path, Access::Entry)?;
        if path.is_directory() {
            refuse_version(&path, expected)?;
            check_removable(self, &path, is_recursive)?;
            let paths = vec![(path.clone(), Access::Entry)];
            let mut transaction = Transaction::lock(self, paths, call)?;
            transaction.remove_tree(CheckedTree::check(self, &path, Purpose::Delete, call)?);
            let (notes, tree) = transaction.commit_steps(call)?.into_parts();
            call.add_notes(notes);
            return Ok(Removed { path, tree });
        }
        remove(self, &path, expected, call)?;
        Ok(Removed { path, tree: None })
    }

    /// Removes a regular file, or a link but not its target. For `call` see [`Workspace::write`].
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `INVALID_PATH` for anything else, `PERMISSION_DENIED` and
    /// other failures of the system, `TIMEOUT` and `CANCELLED` before it was removed.
    pub fn remove(&self, path: &str, call: &Call) -> Result<(), Error> {
        remove(self, &self.resolve(path, Access::Entry)?, None, call)
    }
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
