//! New directories: those above a new file, which are taken back when the write fails, and those
//! that are asked for.

use std::io;
use std::sync::Arc;

use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, Kind};
use crate::workspace::refusal::exists;
use crate::workspace::{Access, Durability, Workspace, WorkspacePath};

impl Workspace {
    /// Makes a directory and those above it; tells whether it was there already.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `FILE_ALREADY_EXISTS` if there is something else, `TIMEOUT`
    /// and `CANCELLED` before anything was made.
    pub(crate) fn make_directory(
        &self,
        path: &str,
        call: &Call,
    ) -> Result<(WorkspacePath, bool), Error> {
        let path = self.resolve(path, Access::Write)?;
        match path.kind() {
            Some(Kind::Directory) => return Ok((path, true)),
            Some(_) => return Err(exists(&path, " and is not a directory")),
            None => {}
        }
        let mut parents = Parents::make(&path, call)?;
        commit(&path, call)?;
        let existed = parents.make_last().map_err(|error| match error.kind() {
            // What was made in its place meanwhile is no directory.
            io::ErrorKind::NotADirectory => exists(&path, " and is not a directory"),
            _ => Error::io("make the directory", path.as_str(), error),
        })?;
        if self.0.durability == Durability::Full {
            parents.sync().map_err(|error| Error::io("make durable", path.as_str(), error))?;
        }
        parents.keep();
        Ok((path, existed))
    }
}

/// The directory in which a path ends, all its parents made; dropped without [`Parents::keep`],
/// those that are still empty are removed again.
#[derive(Debug)]
pub(super) struct Parents {
    pub(super) dir: Arc<Dir>,
    /// The last name of the path.
    pub(super) name: Vec<u8>,
    /// What was made, from the top.
    made: Vec<(Arc<Dir>, Vec<u8>)>,
}

impl Parents {
    /// Makes the directories above a path; if there are any to make, that begins the change.
    pub(super) fn make(path: &WorkspacePath, call: &Call) -> Result<Parents, Error> {
        let (dir, names) = path.entry();
        let mut names = names.split(|byte| *byte == b'/');
        let last = names.next_back().unwrap_or_default().to_vec();
        let mut parents = Parents { dir: dir.clone(), name: last, made: Vec::new() };
        for name in names {
            commit(path, call)?;
            parents
                .enter(name)
                .map_err(|error| Error::io("make the directories of", path.as_str(), error))?;
        }
        Ok(parents)
    }

    fn enter(&mut self, name: &[u8]) -> io::Result<()> {
        match self.dir.make_dir(name) {
            Ok(()) => self.made.push((self.dir.clone(), name.to_vec())),
            // Somebody else made it meanwhile; a link in its place is not passed.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
        self.dir = Arc::new(self.dir.traverse(name)?);
        Ok(())
    }

    /// Makes the last name a directory too; tells whether it was there already.
    pub(super) fn make_last(&mut self) -> io::Result<bool> {
        let name = self.name.clone();
        let before = self.made.len();
        self.enter(&name)?;
        Ok(self.made.len() == before)
    }

    /// Waits until the names of those that were made are on stable storage.
    pub(super) fn sync(&self) -> io::Result<()> {
        self.made.iter().try_for_each(|(dir, _)| dir.sync())
    }

    /// Lets the directories stay.
    pub(super) fn keep(mut self) {
        self.made.clear();
    }
}

/// Begins the change of a call at a path.
///
/// # Errors
/// `TIMEOUT` and `CANCELLED` for a call that must stop; then nothing may be changed.
pub(super) fn commit(path: &WorkspacePath, call: &Call) -> Result<(), Error> {
    call.commit()
        .map_err(|why| Error::stopped(why, &format!("{path} was changed")).at(path.as_str()))
}

impl Drop for Parents {
    fn drop(&mut self) {
        for (dir, name) in self.made.iter().rev() {
            // Not empty: somebody else uses it by now.
            let _ = dir.remove_dir(name);
        }
    }
}
