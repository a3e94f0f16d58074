//! Replacing the content of a file: entirely or not at all, and durable first.
//!
//! The content is written to a temporary file beside the target, with the target's owner,
//! attributes and permissions. Then the two exchange their names, and the file that came out is
//! compared with the one that was read: if another process changed it, the names are exchanged
//! back and the call fails with `CONFLICT`. At any time the target is one of the two, complete.

use std::io;
use std::sync::Arc;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, Lease, Leased, Rename};
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange};
use crate::workspace::create_dirs::{CreatedDirs, commit};
use crate::workspace::lock::{self, FileLock, LockKey};
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::{above, changed, exists, gone, not_a_file, stranded, written};
use crate::workspace::resolve::names_directory;
use crate::workspace::temp::{TempFile, sweep};
use crate::workspace::{
    Access, Durability, Expected, MAX_FILE_BYTES, Version, Workspace, WorkspacePath, in_place,
};

/// The permissions of a new file, before the umask.
const NEW_FILE: u32 = 0o666;

/// The permissions of a temporary file until it gets those of the target.
const PRIVATE: u32 = 0o600;

/// The result of a replacement.
#[derive(Debug)]
pub(crate) struct Replaced {
    /// What could not be preserved, one sentence each.
    pub(crate) notes: Vec<String>,
    /// The directories that were created, from the top.
    directories: Vec<Vec<u8>>,
}

/// The exclusive right to change or create a file, among the calls of this workspace and other
/// processes that use this crate.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    workspace: Workspace,
    path: WorkspacePath,
    /// `None` if the file does not exist.
    file: Option<OpenFile>,
    /// The caller requires that the file does not exist.
    expects_none: bool,
    _lock: FileLock,
}

impl WriteGuard {
    /// See [`Workspace::lock_for_write`].
    pub(super) fn lock(
        workspace: &Workspace,
        text: &str,
        access: Access,
        call: &Call,
    ) -> Result<WriteGuard, Error> {
        loop {
            let path = workspace.resolve(text, access)?;
            if names_directory(text) {
                return Err(not_a_file(&path, "names a directory"));
            }
            let lock = lock::lock(workspace, &[&path], call)?;
            // While this call waited, another one may have created the missing parents of the file:
            // then its key has changed, and it may exist.
            let has_parents = !path.entry().1.contains(&b'/');
            let is_current = || {
                let again = workspace.resolve(text, access)?;
                Ok::<_, Error>(LockKey::of(&path)? == LockKey::of(&again)?)
            };
            if has_parents || is_current()? {
                return WriteGuard::open(workspace, path, lock, call);
            }
        }
    }

    fn open(
        workspace: &Workspace,
        path: WorkspacePath,
        lock: FileLock,
        call: &Call,
    ) -> Result<WriteGuard, Error> {
        let file = OpenFile::open(&path, call)?;
        if let Some(file) = &file {
            check_writable(&path, file)?;
        }
        let workspace = workspace.clone();
        Ok(WriteGuard { workspace, path, file, expects_none: false, _lock: lock })
    }

    pub(crate) fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Bytes of the file; `None` if it does not exist.
    pub(crate) fn size(&self) -> Option<u64> {
        self.file.as_ref().map(|file| file.stat().size)
    }

    /// Reads the whole file, if it exists.
    ///
    /// # Errors
    /// `TOO_LARGE` over `limit` bytes, and failures to read.
    pub(crate) fn read(&mut self, limit: usize) -> Result<(), Error> {
        self.file.as_mut().map_or(Ok(()), |file| file.read(limit, &self.path))
    }

    /// At most the first `limit` bytes of the file; none if it does not exist.
    ///
    /// # Errors
    /// Failures to read.
    pub(crate) fn beginning(&self, limit: usize) -> Result<Vec<u8>, Error> {
        let Some(file) = &self.file else { return Ok(Vec::new()) };
        let read = file.file().read_range(0, limit, limit);
        read.map_err(|error| Error::io("read", self.path.as_str(), error))
    }

    /// What [`WriteGuard::read`] read; `None` if the file does not exist.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        self.file.as_ref()?.content()
    }

    /// Refuses a file of another version than `expected`.
    ///
    /// # Errors
    /// `CONFLICT`, which names the present version; `FILE_ALREADY_EXISTS` if no file was expected.
    pub(crate) fn expect(&mut self, expected: Expected, call: &Call) -> Result<(), Error> {
        match (&mut self.file, expected) {
            (None, Expected::Absent) => {
                self.expects_none = true;
                Ok(())
            }
            (None, Expected::Version(_)) => Err(gone(&self.path)),
            (Some(file), Expected::Version(version)) => file.expect(version, call, &self.path),
            (Some(file), Expected::Absent) => {
                let version = file.version(call, &self.path)?;
                Err(exists(&self.path, &format!(", its version is {version}"))
                    .with_hint("Choose another name, or pass that version to replace it."))
            }
        }
    }

    /// Replaces the content of the file; creates it and its parents if it does not exist.
    ///
    /// # Errors
    /// `CONFLICT` if another process changed or created it meanwhile, `NO_SPACE`,
    /// `PERMISSION_DENIED`, `READ_ONLY` and other failures of the system, `CANCELLED` and `TIMEOUT`
    /// before the new content replaced it. After any error the old content is in place.
    pub(crate) fn replace(mut self, content: &[u8], call: &Call) -> Result<Replaced, Error> {
        if let Some(why) = call.stop_reason() {
            let path = self.path.as_str();
            return Err(Error::stopped(why, &format!("{} was written", self.path)).at(path));
        }
        let workspace = self.workspace.clone();
        let Some(observer) = Observer::of(&workspace) else { return self.write(content, call) };
        if self.content().is_none() {
            match self.read(MAX_FILE_BYTES) {
                Err(error) if error.code() == ErrorCode::TooLarge => {}
                read => read?,
            }
        }
        let kind = if self.file.is_some() { ChangeKind::Modify } else { ChangeKind::Create };
        let change = Change::new(kind, self.path.as_str(), call);
        let change = change.with_content(self.content(), Some(content));
        observer.review(&change)?;
        let mut written = self.write(content, call)?;
        observer.report(&change);
        let path = self.path.relative().to_vec();
        let mark = self.file.as_ref().map(|file| file.stat().into());
        let before = match (mark, self.file.and_then(OpenFile::into_content)) {
            (None, _) => Before::Nothing,
            (Some(mark), Some(old)) => Before::Content { old: Arc::new(old), mark },
            (Some(_), None) => Before::too_large(),
        };
        let after = After::Content(Version::of(content));
        let directories = std::mem::take(&mut written.directories);
        observer.log(call, vec![LoggedChange { path, before, after, directories }]);
        Ok(written)
    }

    fn write(&self, content: &[u8], call: &Call) -> Result<Replaced, Error> {
        let notes = match &self.file {
            None => return self.create(content, call),
            Some(file) if file.stat().links > 1 => {
                let why = format!("it has {} hard links", file.stat().links);
                self.write_in_place(file, content, &why, call)?
            }
            Some(file) => self.exchange(file, content, call)?,
        };
        Ok(Replaced { notes, directories: Vec::new() })
    }

    fn durability(&self) -> Durability {
        self.workspace.durability()
    }

    fn failed(&self, error: io::Error) -> Error {
        Error::io("write", self.path.as_str(), error)
    }

    fn write_in_place(
        &self,
        file: &OpenFile,
        content: &[u8],
        why: &str,
        call: &Call,
    ) -> Result<Vec<String>, Error> {
        let (parent, name) = self.path.entry();
        let writable = parent.open_to_write(name).map_err(|error| self.failed(error))?;
        let files = (file, &writable);
        let note = in_place::write(&self.path, files, content, self.durability(), call)?;
        let why = format!("the file was written in place, not atomically, because {why}");
        Ok([Some(why), note].into_iter().flatten().collect())
    }

    fn create(&self, content: &[u8], call: &Call) -> Result<Replaced, Error> {
        let created = CreatedDirs::above(&self.path, call)?;
        let (dir, name) = created.entry();
        let failed = |error| self.failed(error);
        sweep(dir, call);
        let temp = TempFile::create(dir, NEW_FILE).map_err(failed)?;
        temp.file().write_at(content, 0).map_err(failed)?;
        self.durability().sync_file(temp.file()).map_err(failed)?;
        commit(&self.path, call)?;
        match rename_exclusive(dir, temp.name(), (dir, name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(self.created_meanwhile());
            }
            renamed => renamed.map_err(failed)?,
        }
        temp.renamed();
        let notes = self.sync_names(dir, || created.sync());
        Ok(Replaced { notes, directories: created.keep(above(self.path.relative())) })
    }

    fn created_meanwhile(&self) -> Error {
        if self.expects_none {
            return exists(&self.path, "");
        }
        changed(&self.path, "another process created it meanwhile")
    }

    fn exchange(&self, file: &OpenFile, content: &[u8], call: &Call) -> Result<Vec<String>, Error> {
        let failed = |error| self.failed(error);
        let (parent, _) = self.path.entry();
        sweep(parent, call);
        let temp = match TempFile::create(parent, PRIVATE) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let why = "its directory cannot be written";
                return self.write_in_place(file, content, why, call);
            }
            temp => temp.map_err(failed)?,
        };
        temp.file().write_at(content, 0).map_err(failed)?;
        let lost = temp.file().copy_attributes(file.file()).map_err(failed)?;
        self.durability().sync_file(temp.file()).map_err(failed)?;
        // The end of the lease releases the waiting processes; writing in place would wait for it too.
        let swapped = {
            let lease = match file.lease(call) {
                Leased::Held(lease) => Some(lease),
                Leased::Unknown => None,
                // After an exchange, the other process would go on to write to the old file.
                Leased::Busy => {
                    drop(temp);
                    let why = "another process has it open for writing";
                    return self.write_in_place(file, content, why, call);
                }
            };
            self.swap(file, lease.as_ref(), temp, call)
        };
        match swapped? {
            Swapped::Done(None) => {}
            Swapped::Done(Some(old)) => self.discard(file, old, call)?,
            Swapped::Busy => {
                return self.write_in_place(file, content, "something is mounted on it", call);
            }
        }
        let mut notes: Vec<String> =
            lost.iter().map(|what| format!("the {what} of the file could not be kept")).collect();
        notes.extend(self.sync_names(parent, || Ok(())));
        Ok(notes)
    }

    /// Removes the old file, which has the temporary name by now, unless a process has opened it at the
    /// last moment: it may have found the name before the exchange, and waited for the end of the lease.
    fn discard(&self, file: &OpenFile, old: TempFile<'_>, call: &Call) -> Result<(), Error> {
        let is_open = matches!(file.lease(call), Leased::Busy);
        let verdict = file.is_at(self.path.entry().0, old.name());
        if !is_open && matches!(verdict, Ok(true)) {
            return Ok(());
        }
        self.swap_back(old)?;
        verdict.map_err(|error| self.failed(error))?;
        Err(changed(&self.path, "another process has opened it to write it"))
    }

    fn swap<'a>(
        &self,
        file: &OpenFile,
        lease: Option<&Lease<'_>>,
        temp: TempFile<'a>,
        call: &Call,
    ) -> Result<Swapped<'a>, Error> {
        let (parent, name) = self.path.entry();
        self.check_unchanged(file)?;
        commit(&self.path, call)?;
        match parent.rename(temp.name(), (parent, name), Rename::Exchange) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(changed(&self.path, "another process removed it meanwhile"));
            }
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => return Ok(Swapped::Busy),
            Err(error) if is_unsupported(&error) => {
                // Here a change between the check and the rename goes unnoticed.
                let renamed = parent.rename(temp.name(), (parent, name), Rename::Replace);
                renamed.map_err(|error| self.failed(error))?;
                temp.renamed();
                return Ok(Swapped::Done(None));
            }
            Err(error) => return Err(self.failed(error)),
        }
        match file.is_at(parent, temp.name()) {
            // A process that waits for the lease has opened the old file, and would write to it.
            Ok(true) if lease.is_some_and(Lease::is_awaited) => {
                self.swap_back(temp)?;
                Err(changed(&self.path, "another process is about to write it"))
            }
            Ok(true) => Ok(Swapped::Done(Some(temp))),
            verdict => {
                self.swap_back(temp)?;
                verdict.map_err(|error| self.failed(error))?;
                Err(written(&self.path))
            }
        }
    }

    fn check_unchanged(&self, file: &OpenFile) -> Result<(), Error> {
        let (parent, name) = self.path.entry();
        match parent.stat(name) {
            Ok(now) if file.is_unchanged(&now) => Ok(()),
            Ok(_) => Err(written(&self.path)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(changed(&self.path, "another process removed it meanwhile"))
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Exchanges the names again, so that the newer content of the other process is in place.
    fn swap_back(&self, temp: TempFile<'_>) -> Result<(), Error> {
        let (parent, name) = self.path.entry();
        let ours = temp.file().stat();
        let back = parent.rename(temp.name(), (parent, name), Rename::Exchange);
        let came_out = parent.stat(temp.name());
        match (back, ours, came_out) {
            (Ok(()), Ok(ours), Ok(out)) if ours.identity == out.identity => Ok(()),
            // The new file was replaced meanwhile: its replacement is the newest and gets the name
            // back.
            (Ok(()), _, Ok(_)) => {
                let again = parent.rename(temp.name(), (parent, name), Rename::Exchange);
                again.map_err(|error| stranded(&self.path, &temp.keep_aside(), error))
            }
            (Err(error), ..) | (_, _, Err(error)) => {
                Err(stranded(&self.path, &temp.keep_aside(), error))
            }
        }
    }

    /// Makes names durable with [`Durability::Full`]. A failure is only a note, since the new content
    /// is in place.
    fn sync_names(&self, dir: &Dir, more: impl FnOnce() -> io::Result<()>) -> Vec<String> {
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

/// The result of an exchange of names.
enum Swapped<'a> {
    /// The old file has the temporary name now, if there is one.
    Done(Option<TempFile<'a>>),
    /// The target is a mount point, so no other file can take its name.
    Busy,
}

/// Refuses a file without any write permission, even if permissions do not bind this user.
pub(super) fn check_writable(path: &WorkspacePath, file: &OpenFile) -> Result<(), Error> {
    if file.stat().is_read_only() {
        let message = format!("cannot write {path}: the file is read-only");
        return Err(Error::new(ErrorCode::PermissionDenied, message)
            .at(path.as_str())
            .with_hint("Ask for its permissions to be changed if it should be written."));
    }
    let (parent, name) = path.entry();
    parent.check_writable(name).map_err(|error| Error::io("write", path.as_str(), error))
}

/// Renames an entry; fails with `AlreadyExists` if the new name exists.
pub(super) fn rename_exclusive(from_dir: &Dir, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
    match from_dir.rename(from, to, Rename::Exclusive) {
        Err(error) if is_unsupported(&error) => rename_by_link(from_dir, from, to),
        renamed => renamed,
    }
}

/// The same where the system has no exclusive rename: a hard link is exclusive.
fn rename_by_link(from_dir: &Dir, from: &[u8], to: (&Dir, &[u8])) -> io::Result<()> {
    match from_dir.link(from, to) {
        Ok(()) => from_dir.remove_file(from).inspect_err(|_| {
            // Both names are the same file; the new one is removed again.
            let _ = to.0.remove_file(to.1);
        }),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Err(error),
        // Without hard links, checking first is all that can be done.
        Err(_) => match to.0.stat(to.1) {
            Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                from_dir.rename(from, to, Rename::Replace)
            }
            Err(error) => Err(error),
        },
    }
}

/// Whether the kernel or the file system lacks this kind of rename.
pub(super) fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput)
}
