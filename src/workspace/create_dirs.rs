//! Creating directories: parents of a new file, which are removed again if the write fails, and
//! directories that a call requests.

use std::io;
use std::sync::Arc;

use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, Kind};
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange};
use crate::workspace::path::{above, exists};
use crate::workspace::recovery::recover;
use crate::workspace::{Access, Durability, Workspace, WorkspacePath};

/// See [`Workspace::make_directory`].
pub(super) fn make_directory(
    workspace: &Workspace,
    path: &str,
    call: &Call,
) -> Result<(WorkspacePath, bool), Error> {
    recover(workspace, call)?;
    let path = workspace.resolve(path, Access::Write)?;
    let change = Change::new(ChangeKind::CreateDirectory, path.as_str(), call);
    match path.kind() {
        Some(Kind::Directory) => return Ok((path, true)),
        Some(_) => return Err(exists(&path, " and is not a directory")),
        None => {}
    }
    let observer = Observer::of(workspace);
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let mut created = CreatedDirs::above(&path, call)?;
    commit(&path, call)?;
    let existed = created.create_last().map_err(|error| match error.kind() {
        // Something else was created in its place meanwhile.
        io::ErrorKind::NotADirectory => exists(&path, " and is not a directory"),
        _ => Error::io("make the directory", path.as_str(), error),
    })?;
    if workspace.durability() == Durability::Full {
        created.sync().map_err(|error| Error::io("make durable", path.as_str(), error))?;
    }
    let mut directories = created.keep(path.relative());
    if let Some(observer) = observer.filter(|_| !existed) {
        observer.report(&change);
        // The last one is the change itself.
        directories.pop();
        let path = path.relative().to_vec();
        let (before, after) = (Before::Nothing, After::Directory);
        observer.log(call, vec![LoggedChange { path, before, after, directories }]);
    }
    Ok((path, existed))
}

/// The directories created above a new entry. Dropped without [`CreatedDirs::keep`], those that are
/// still empty are removed again.
#[derive(Debug)]
pub(super) struct CreatedDirs {
    /// The directory of the entry.
    dir: Arc<Dir>,
    /// The name of the entry.
    name: Vec<u8>,
    /// Each created directory as its parent and name, from the top.
    created: Vec<(Arc<Dir>, Vec<u8>)>,
}

impl CreatedDirs {
    /// Creates the missing directories above a path. If there are any, this commits the call.
    pub(super) fn above(path: &WorkspacePath, call: &Call) -> Result<CreatedDirs, Error> {
        let (dir, names) = path.entry();
        let mut names = names.split(|byte| *byte == b'/');
        let last = names.next_back().unwrap_or_default().to_vec();
        let mut created = CreatedDirs { dir: dir.clone(), name: last, created: Vec::new() };
        for name in names {
            commit(path, call)?;
            created
                .enter(name)
                .map_err(|error| Error::io("make the directories of", path.as_str(), error))?;
        }
        Ok(created)
    }

    /// The directory of the entry, and the entry's name.
    pub(super) fn entry(&self) -> (&Dir, &[u8]) {
        (&self.dir, &self.name)
    }

    fn enter(&mut self, name: &[u8]) -> io::Result<()> {
        match self.dir.make_dir(name) {
            Ok(()) => self.created.push((self.dir.clone(), name.to_vec())),
            // Created by another process meanwhile; `traverse` does not follow a link in its place.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.dir = Arc::new(self.dir.traverse(name)?);
        Ok(())
    }

    /// Creates the entry itself as a directory; returns whether it existed already.
    fn create_last(&mut self) -> io::Result<bool> {
        let name = self.name.clone();
        let before = self.created.len();
        self.enter(&name)?;
        Ok(self.created.len() == before)
    }

    /// Waits until the names of the created directories are on stable storage.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.created.iter().try_for_each(|(dir, _)| dir.sync())
    }

    /// Keeps the directories, of which the last is at `deepest`; returns their real paths, from the
    /// top.
    pub(super) fn keep(mut self, deepest: &[u8]) -> Vec<Vec<u8>> {
        let mut paths = vec![Vec::new(); self.created.len()];
        self.created.clear();
        let mut rest = deepest;
        for path in paths.iter_mut().rev() {
            *path = rest.to_vec();
            rest = above(rest);
        }
        paths
    }
}

impl Drop for CreatedDirs {
    fn drop(&mut self) {
        for (dir, name) in self.created.iter().rev() {
            // This fails if the directory is not empty, because another process uses it by now.
            let _ = dir.remove_dir(name);
        }
    }
}

/// Marks the begin of an irrevocable change.
///
/// # Errors
/// `TIMEOUT` and `CANCELLED` for a call that must stop; then nothing may be changed.
pub(super) fn commit(path: &WorkspacePath, call: &Call) -> Result<(), Error> {
    call.commit()
        .map_err(|why| Error::stopped(why, &format!("{path} was changed")).at(path.as_str()))
}
