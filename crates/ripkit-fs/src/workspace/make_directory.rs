//! Creating a directory that a call requests, with those above it.

use crate::context::Call;
use crate::error::Error;
use crate::os::Kind;
use crate::workspace::commit::Transaction;
use crate::workspace::path::exists;
use crate::workspace::recovery::recover;
use crate::workspace::{Access, Workspace, WorkspacePath};

impl Workspace {
    /// Creates a directory and its parents; also returns whether it existed.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `FILE_ALREADY_EXISTS` for another kind of entry, `TIMEOUT`
    /// and `CANCELLED` before anything was created.
    pub fn make_directory(&self, path: &str, call: &Call) -> Result<(WorkspacePath, bool), Error> {
        // A directory that an interrupted transaction made is removed again.
        recover(self, call)?;
        let path = self.resolve(path, Access::Write)?;
        match path.kind() {
            Some(Kind::Directory) => return Ok((path, true)),
            Some(_) => return Err(exists(&path, " and is not a directory")),
            None => {}
        }
        let paths = vec![(path.clone(), Access::Write)];
        let mut transaction = Transaction::lock(self, paths, call)?;
        transaction.make_directory(0);
        let made = transaction.commit_steps(call)?;
        let existed = made.made() == 0;
        call.add_notes(made.into_parts().0);
        Ok((path, existed))
    }
}
