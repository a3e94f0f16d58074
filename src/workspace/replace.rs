//! New content in the place of old: all of it or nothing, and on stable storage first.
//!
//! The content is made ready in a temporary file beside the target, with the target's owner,
//! attributes and permissions. Then the two change places, and what came out is looked at: if it
//! is not the file that was read, they change back and the caller is told. Whatever happens in
//! between, the target is one of the two, whole.

use std::io;
use std::sync::Arc;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, Lease, Leased, Rename};
use crate::workspace::held::{WriteGuard, entry};
use crate::workspace::parents::{Parents, commit};
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::{changed, exists};
use crate::workspace::temporary::{Temporary, sweep};
use crate::workspace::{Durability, in_place};

/// The permissions of a new file, before the umask.
const NEW_FILE: u32 = 0o666;

/// The permissions of a file whose content is not yet where it belongs.
const PRIVATE: u32 = 0o600;

/// How a replacement went.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// What could not be kept, a sentence each.
    pub(crate) notes: Vec<String>,
}

impl WriteGuard {
    /// Gives the file this content; makes it, and its parents, if it does not exist.
    ///
    /// # Errors
    /// `CONFLICT` if somebody else changed or made it meanwhile, `NO_SPACE`, `PERMISSION_DENIED`,
    /// `READ_ONLY` and other failures of the system, `CANCELLED` and `TIMEOUT` before the new
    /// content took its place.
    /// The old content is there after any of them.
    pub(crate) fn replace(self, content: &[u8], call: &Call) -> Result<Replaced, Error> {
        if let Some(why) = call.stop_reason() {
            let path = self.path.as_str();
            return Err(Error::stopped(why, &format!("{} was written", self.path)).at(path));
        }
        let notes = match &self.present {
            None => self.create(content, call)?,
            Some(present) if present.stat.links > 1 => {
                let why = format!("it has {} hard links", present.stat.links);
                in_place::write((&self.path, call), present, content, self.durability(), &why)?
            }
            Some(present) => self.exchange(present, content, call)?,
        };
        Ok(Replaced { notes })
    }

    fn durability(&self) -> Durability {
        self.workspace.0.durability
    }

    fn create(&self, content: &[u8], call: &Call) -> Result<Vec<String>, Error> {
        let parents = Parents::make(&self.path, call)?;
        let failed = |error| Error::io("write", self.path.as_str(), error);
        sweep(&parents.dir, call);
        let mut temporary = Temporary::create(&parents.dir, NEW_FILE).map_err(failed)?;
        temporary.file().write_at(content, 0).map_err(failed)?;
        self.durability().sync_file(temporary.file()).map_err(failed)?;
        commit(&self.path, call)?;
        match place_exclusive(&parents.dir, temporary.name(), (&parents.dir, &parents.name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(self.made_meanwhile());
            }
            placed => placed.map_err(failed)?,
        }
        temporary.renamed();
        let notes = self.settle(&parents.dir, || parents.sync());
        parents.keep();
        Ok(notes)
    }

    fn made_meanwhile(&self) -> Error {
        if self.expects_none {
            return exists(&self.path, "");
        }
        changed(&self.path, "somebody else made it meanwhile")
    }

    fn exchange(
        &self,
        present: &OpenFile,
        content: &[u8],
        call: &Call,
    ) -> Result<Vec<String>, Error> {
        let failed = |error| Error::io("write", self.path.as_str(), error);
        let in_place = |why: &str| {
            in_place::write((&self.path, call), present, content, self.durability(), why)
        };
        let (parent, name) = entry(&self.path);
        sweep(&parent, call);
        let temporary = match Temporary::create(&parent, PRIVATE) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return in_place("its directory cannot be written");
            }
            temporary => temporary.map_err(failed)?,
        };
        temporary.file().write_at(content, 0).map_err(failed)?;
        let lost = temporary.file().take_attributes(&present.file).map_err(failed)?;
        self.durability().sync_file(temporary.file()).map_err(failed)?;
        let lease = match present.lease(call) {
            Leased::Held(lease) => Some(lease),
            Leased::Unknown => None,
            // What that process writes after an exchange would go to the old file and be lost.
            Leased::Busy => {
                drop(temporary);
                return in_place("another process has it open for writing");
            }
        };
        let swapped = self.swap(present, lease.as_ref(), (&parent, &name), temporary, call);
        // Who waits for it may go on, and writing in place must not wait for it.
        drop(lease);
        match swapped? {
            Swapped::Done => {}
            Swapped::Busy => return in_place("something is mounted on it"),
        }
        let mut notes: Vec<String> =
            lost.iter().map(|what| format!("the {what} of the file could not be kept")).collect();
        notes.extend(self.settle(&parent, || Ok(())));
        Ok(notes)
    }

    fn swap(
        &self,
        present: &OpenFile,
        lease: Option<&Lease<'_>>,
        (parent, name): (&Arc<Dir>, &[u8]),
        mut temporary: Temporary,
        call: &Call,
    ) -> Result<Swapped, Error> {
        let failed = |error| Error::io("write", self.path.as_str(), error);
        self.check_unchanged(present, parent, name)?;
        commit(&self.path, call)?;
        let target = (&**parent, name);
        match parent.rename(temporary.name(), target, Rename::Exchange) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(changed(&self.path, "somebody else removed it meanwhile"));
            }
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => return Ok(Swapped::Busy),
            Err(error) if is_unsupported(&error) => {
                // The window between the look and the rename is all that is left to a race.
                parent.rename(temporary.name(), target, Rename::Replace).map_err(failed)?;
                temporary.renamed();
                return Ok(Swapped::Done);
            }
            Err(error) => return Err(failed(error)),
        }
        match parent.stat(temporary.name()).and_then(|now| present.is_as_read(&now)) {
            // Who waits to write found the old file, and would write into it after it is gone.
            Ok(true) if lease.is_some_and(Lease::is_awaited) => {
                self.swap_back(parent, name, temporary)?;
                Err(changed(&self.path, "another process is about to write it"))
            }
            Ok(true) => {
                // Dropped, the temporary name takes the old content with it.
                drop(temporary);
                Ok(Swapped::Done)
            }
            verdict => {
                self.swap_back(parent, name, temporary)?;
                verdict.map_err(failed)?;
                Err(changed(&self.path, "somebody else wrote it meanwhile"))
            }
        }
    }

    fn check_unchanged(&self, present: &OpenFile, parent: &Dir, name: &[u8]) -> Result<(), Error> {
        match parent.stat(name) {
            Ok(now) if present.is_unchanged(&now) => Ok(()),
            Ok(_) => Err(changed(&self.path, "somebody else wrote it meanwhile")),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(changed(&self.path, "somebody else removed it meanwhile"))
            }
            Err(error) => Err(Error::io("write", self.path.as_str(), error)),
        }
    }

    /// Puts back what came out, which is newer than what we read.
    fn swap_back(&self, parent: &Arc<Dir>, name: &[u8], temporary: Temporary) -> Result<(), Error> {
        let ours = temporary.file().stat();
        let back = parent.rename(temporary.name(), (&**parent, name), Rename::Exchange);
        let came_out = parent.stat(temporary.name());
        match (back, ours, came_out) {
            (Ok(()), Ok(ours), Ok(out)) if ours.identity == out.identity => Ok(()),
            // Somebody replaced ours in between: that is the newest, and goes back.
            (Ok(()), _, Ok(_)) => {
                let again = parent.rename(temporary.name(), (&**parent, name), Rename::Exchange);
                again.map_err(|error| self.stranded(temporary, error))
            }
            (Err(error), ..) | (_, _, Err(error)) => Err(self.stranded(temporary, error)),
        }
    }

    /// The worst case: what somebody else wrote is kept under another name, and told.
    fn stranded(&self, temporary: Temporary, error: io::Error) -> Error {
        let name = String::from_utf8_lossy(&temporary.keep_aside()).into_owned();
        let message = format!(
            "{} was written by somebody else meanwhile and could not be put back: {error}; what \
             they wrote is beside it, named {name}",
            self.path
        );
        Error::new(ErrorCode::Conflict, message).at(self.path.as_str()).because(error)
    }

    /// Makes the names durable where the host wants that; a failure is told, since the new
    /// content is in place.
    fn settle(&self, dir: &Dir, more: impl FnOnce() -> io::Result<()>) -> Vec<String> {
        if self.durability() != Durability::Full {
            return Vec::new();
        }
        match dir.sync().and_then(|()| more()) {
            Ok(()) => Vec::new(),
            Err(error) => {
                vec![format!("the content is in place, but may not survive a power cut: {error}")]
            }
        }
    }
}

/// How a swap ended.
enum Swapped {
    Done,
    /// The name cannot be given to another file.
    Busy,
}

/// Gives an entry a name that nothing has, or fails with `AlreadyExists`.
pub(super) fn place_exclusive(from_dir: &Dir, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
    match from_dir.rename(from, to, Rename::Exclusive) {
        Err(error) if is_unsupported(&error) => link_over(from_dir, from, to),
        renamed => renamed,
    }
}

/// Where no rename is exclusive, a link is.
fn link_over(from_dir: &Dir, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
    match from_dir.link(from, to) {
        Ok(()) => from_dir.remove_file(from).inspect_err(|_| {
            // Both names are the same file; the new one is taken back.
            let _ = to.0.remove_file(to.1);
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Err(error),
        // Where there are no links either, looking first is all that can be done.
        Err(_) => match to.0.stat(to.1) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                from_dir.rename(from, to, Rename::Replace)
            }
            Err(error) => Err(error),
        },
    }
}

/// Tells whether the file system or the kernel does not know this kind of rename.
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}
