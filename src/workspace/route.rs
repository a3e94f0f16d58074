//! The way of a file from one name to another.

use std::io;

use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, Rename};
use crate::workspace::parents::Parents;
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::{changed, gone, taken};
use crate::workspace::replace::place_exclusive;
use crate::workspace::{Durability, Workspace, WorkspacePath};

/// From where to where a file goes, and on which conditions.
pub(super) struct Route<'a> {
    pub(super) source: &'a WorkspacePath,
    pub(super) destination: &'a WorkspacePath,
    /// The directories of the destination.
    pub(super) parents: &'a Parents,
    pub(super) durability: Durability,
    pub(super) call: &'a Call,
}

impl<'a> Route<'a> {
    pub(super) fn new(
        workspace: &Workspace,
        (source, destination): (&'a WorkspacePath, &'a WorkspacePath),
        parents: &'a Parents,
        call: &'a Call,
    ) -> Route<'a> {
        Route { source, destination, parents, durability: workspace.0.durability, call }
    }

    /// The directory of the destination, and its name in there.
    pub(super) fn place(&self) -> (&Dir, &[u8]) {
        (&self.parents.dir, &self.parents.name)
    }

    /// Gives the source its new name, if they are on one file system.
    pub(super) fn rename(&self, takes_own_place: bool) -> io::Result<()> {
        let (from, name) = self.source.entry();
        if takes_own_place {
            from.rename(name, self.place(), Rename::Replace)
        } else {
            place_exclusive(from, name, self.place())
        }
    }

    /// Gives the old name back if what was moved is not what the caller expected.
    pub(super) fn check_moved(&self, found: Option<&OpenFile>) -> Result<(), Error> {
        let Some(found) = found else { return Ok(()) };
        let (dir, name) = self.place();
        let wrong = match dir.stat(name).and_then(|now| found.is_as_read(&now)) {
            Ok(true) => return Ok(()),
            Ok(false) => changed(self.source, "somebody else wrote it meanwhile"),
            Err(error) => Error::io("move", self.source.as_str(), error),
        };
        let (from, old_name) = self.source.entry();
        // Whatever has the old name by now is newer still.
        let _ = place_exclusive(dir, name, (from, old_name));
        Err(wrong)
    }

    /// Makes the new name durable where the host wants that, and first what `more` does; a
    /// failure is told, since the file has its new name.
    pub(super) fn settle(&self, more: impl FnOnce() -> io::Result<()>) -> Option<String> {
        if self.durability != Durability::Full {
            return None;
        }
        let settled =
            more().and_then(|()| self.parents.dir.sync()).and_then(|()| self.parents.sync());
        let error = settled.err()?;
        Some(format!("the file has its new name, but a power cut may take it back: {error}"))
    }

    /// The error of a name that could not be given.
    pub(super) fn not_placed(&self, verb: &str, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => taken(self.destination),
            io::ErrorKind::NotFound => gone(self.source),
            _ => Error::io(verb, self.source.as_str(), error),
        }
    }
}
