//! Creating a directory that a call requests, with those above it.

use crate::context::Call;
use crate::error::Error;
use crate::os::Kind;
use crate::workspace::commit::Transaction;
use crate::workspace::path::exists;
use crate::workspace::recovery::recover;
use crate::workspace::{Access, Workspace, WorkspacePath};

/// See [`Workspace::make_directory`].
pub(super) fn make_directory(
    workspace: &Workspace,
    path: &str,
    call: &Call,
) -> Result<(WorkspacePath, bool), Error> {
    // A directory that an interrupted transaction made is removed again.
    recover(workspace, call)?;
    let path = workspace.resolve(path, Access::Write)?;
    match path.kind() {
        Some(Kind::Directory) => return Ok((path, true)),
        Some(_) => return Err(exists(&path, " and is not a directory")),
        None => {}
    }
    let paths = vec![(path.clone(), Access::Write)];
    let mut transaction = Transaction::lock(workspace, paths, call)?;
    transaction.make_directory(0);
    let made = transaction.commit_steps(call)?;
    let existed = made.made() == 0;
    call.add_notes(made.into_parts().0);
    Ok((path, existed))
}
