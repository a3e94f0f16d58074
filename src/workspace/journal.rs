//! The journal of a transaction: a write-ahead log from which an interrupted transaction is rolled
//! back.
//!
//! The journal is a file in the root, or in the directory that the host configures, and exists only
//! while a transaction is committed. Each line is a [`Record`] in JSON, appended before the step that
//! it describes. The process that commits holds the lock of the file. A journal without a holder
//! belongs to a process that ended: whoever writes to the workspace next rolls its transaction back,
//! or removes the old content if it was complete ([`Record::Committed`]).
//!
//! Recovery never trusts names alone. Every file is identified by device, inode, size and time, and
//! the journal contains its own inode number, so that a journal that came with a repository or an
//! archive is not applied.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, File, Identity, Kind, Rename, Stat};
use crate::text::escape;
use crate::workspace::path::split_name;
use crate::workspace::replace::rename_exclusive;
use crate::workspace::temp::{TempFile, is_transaction_file, keep_aside};
use crate::workspace::{Durability, Workspace, WorkspacePath};

/// The name of the journal in the root of a workspace, and the end of its name elsewhere.
const NAME: &str = ".ripkit-journal~";

/// The largest journal that is read, in bytes: some 300,000 records.
const MAX_BYTES: usize = 64 << 20;

/// The permissions of a journal.
const PRIVATE: u32 = 0o600;

/// How often a journal that is in use is looked at again.
const CHECK_INTERVAL: Duration = Duration::from_millis(5);

/// How often a journal may appear and disappear while another one is to be created.
const ATTEMPTS: usize = 1000;

/// One line of a journal. Paths are real paths relative to the root, without links.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Record {
    /// The first record: the journal itself and the root, so that neither a copy of the journal nor
    /// another workspace is taken for the original.
    Begin { journal: FileId, root: FileId },
    /// A temporary file that may exist from now on.
    Temp { path: RecordedPath },
    /// A directory that may have been created.
    MakeDirectory { path: RecordedPath },
    /// The content `new`, prepared as `temp`, takes the name. The old file then is `temp` too, or
    /// `aside` where two files cannot exchange their names.
    Replace {
        path: RecordedPath,
        temp: RecordedPath,
        aside: RecordedPath,
        old: FileMark,
        new: FileMark,
    },
    /// The file `new`, prepared as `temp`, gets a name that does not exist.
    Create { path: RecordedPath, temp: RecordedPath, new: FileMark },
    /// A file or link is renamed to `aside`, to be removed at the end.
    Remove { path: RecordedPath, aside: RecordedPath },
    /// A file or link is renamed.
    Rename { from: RecordedPath, to: RecordedPath, old: FileMark },
    /// A file is overwritten in place; `backup` has its old content.
    Overwrite { path: RecordedPath, backup: RecordedPath, old: FileMark },
    /// Overwriting the file of the latest record with this path begins.
    Overwriting { path: RecordedPath },
    /// All steps are done.
    Committed,
}

/// A path; names that are not UTF-8 are stored as bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum RecordedPath {
    Text(String),
    Bytes(Vec<u8>),
}

impl RecordedPath {
    pub(super) fn new(path: Vec<u8>) -> RecordedPath {
        match String::from_utf8(path) {
            Ok(text) => RecordedPath::Text(text),
            Err(error) => RecordedPath::Bytes(error.into_bytes()),
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            RecordedPath::Text(text) => text.as_bytes(),
            RecordedPath::Bytes(bytes) => bytes,
        }
    }

    fn shown(&self) -> String {
        escape::display_path(self.bytes()).into_owned()
    }

    /// The last name.
    pub(super) fn name(&self) -> &[u8] {
        split_name(self.bytes()).1
    }
}

/// A file or directory, independent of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileId {
    device: u64,
    inode: u64,
}

impl From<Identity> for FileId {
    fn from(identity: Identity) -> FileId {
        FileId { device: identity.device, inode: identity.inode }
    }
}

/// A file and the state of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FileMark {
    id: FileId,
    size: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, u32),
}

impl From<&Stat> for FileMark {
    fn from(stat: &Stat) -> FileMark {
        const SECOND: i128 = 1_000_000_000;
        let seconds = i64::try_from(stat.modified.div_euclid(SECOND)).unwrap_or(i64::MAX);
        let nanoseconds = u32::try_from(stat.modified.rem_euclid(SECOND)).unwrap_or(0);
        FileMark { id: stat.identity.into(), size: stat.size, modified: (seconds, nanoseconds) }
    }
}

impl FileMark {
    /// Whether both are of the same file, whatever its content.
    pub(super) fn is_same_file(&self, other: &FileMark) -> bool {
        self.id == other.id
    }

    /// Whether it is of this file, whatever its content.
    pub(super) fn is_of_file(&self, identity: Identity) -> bool {
        self.id == identity.into()
    }

    /// Whether the entry is this file, whatever its content.
    fn is_of(&self, entry: Option<&Stat>) -> bool {
        entry.is_some_and(|stat| FileId::from(stat.identity) == self.id)
    }

    /// Whether the entry is this file, and its content has not changed.
    fn is_unchanged(&self, entry: Option<&Stat>) -> bool {
        entry.is_some_and(|stat| FileMark::from(stat) == *self)
    }
}

/// The journal of a transaction that is being committed by this process, which holds its lock.
#[derive(Debug)]
pub(super) struct Journal {
    workspace: Workspace,
    file: Arc<File>,
    records: Mutex<Vec<Record>>,
}

impl Journal {
    /// Waits until no other transaction is being committed, recovers an interrupted one, and creates
    /// the journal.
    ///
    /// # Errors
    /// `TIMEOUT` and `CANCELLED` while waiting; those of [`recover`]; `CONFLICT` if there is a file
    /// with the name of the journal that is none; failures to create it.
    pub(super) fn create(workspace: &Workspace, call: &Call) -> Result<Journal, Error> {
        let place = workspace.journal_place();
        let failed = |error| failed_to_create(workspace, error);
        for _ in 0..ATTEMPTS {
            recover(workspace, call)?;
            let temp = TempFile::create(&place.dir, PRIVATE).map_err(failed)?;
            let journal = temp.file().stat().map_err(failed)?.identity.into();
            let begin = Record::Begin { journal, root: root_id(workspace).map_err(failed)? };
            temp.file().write_at(&line(&begin)?, 0).map_err(failed)?;
            workspace.durability().sync_file(temp.file()).map_err(failed)?;
            match rename_exclusive(&place.dir, temp.name(), (&place.dir, &place.name)) {
                Ok(()) => {
                    let (workspace, file) = (workspace.clone(), temp.renamed());
                    return Ok(Journal { workspace, file, records: Mutex::default() });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    refuse_other_file(workspace)?;
                }
                Err(error) => return Err(failed(error)),
            }
        }
        Err(failed(io::Error::other("others create and remove it all the time")))
    }

    /// Appends a record, before the step that it describes is made.
    pub(super) fn append(&self, record: Record) -> Result<(), Error> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line(&record)?;
        // Kept first: a record that may have been written partly is rolled back too.
        records.push(record);
        self.file.append(&line).map_err(|error| self.failed("append to", error))?;
        Ok(())
    }

    /// Puts all records on stable storage.
    pub(super) fn sync(&self) -> Result<(), Error> {
        let durability = self.workspace.durability();
        let synced = durability.sync_file(&self.file).and_then(|()| match durability {
            Durability::Fast => Ok(()),
            Durability::File | Durability::Full => self.workspace.journal_place().dir.sync(),
        });
        synced.map_err(|error| self.failed("sync", error))
    }

    /// Marks the transaction as complete and removes the old content. After this succeeds, the new
    /// state stays, even if the process is killed.
    pub(super) fn finish(self) -> Result<(), (Journal, Error)> {
        if let Err(error) = self.append(Record::Committed).and_then(|()| self.sync()) {
            return Err((self, error));
        }
        if remove_temporary_files(&self.workspace, &self.take_records()) {
            // If this fails, the next writer removes the journal.
            let _ = self.remove();
        }
        Ok(())
    }

    /// Rolls back all steps after `error` and returns it, with what could not be rolled back.
    pub(super) fn roll_back(self, error: Error) -> Error {
        let records = self.take_records();
        match roll_back(&self.workspace, &records) {
            Ok(kept) => {
                // If this fails, the next writer finds nothing left to be rolled back.
                let _ = self.remove();
                if kept.is_empty() { error } else { with_kept(error, &kept) }
            }
            Err(again) => {
                let message = format!(
                    "{}; rolling back failed too: {}; the next write to this workspace tries again",
                    error.message(),
                    again.message()
                );
                let path = error.path().unwrap_or_default().to_owned();
                Error::new(error.code(), message).at(path).because(again)
            }
        }
    }

    fn take_records(&self) -> Vec<Record> {
        std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn remove(&self) -> io::Result<()> {
        let place = self.workspace.journal_place();
        place.dir.remove_file(&place.name)
    }

    fn failed(&self, verb: &str, error: io::Error) -> Error {
        Error::io(verb, &self.workspace.journal_place().shown(), error)
    }
}

/// Where the journal of a workspace is.
#[derive(Clone, Debug)]
pub(super) struct JournalPlace {
    dir: Arc<Dir>,
    name: Vec<u8>,
}

impl JournalPlace {
    pub(super) fn in_root(root: Arc<Dir>) -> JournalPlace {
        JournalPlace { dir: root, name: NAME.into() }
    }

    /// In another directory, which several roots may share.
    pub(super) fn of_root_elsewhere(root: &Dir, dir: Arc<Dir>) -> io::Result<JournalPlace> {
        let Identity { device, inode } = root.stat(b".")?.identity;
        Ok(JournalPlace { dir, name: format!(".{device:x}-{inode:x}{NAME}").into() })
    }

    fn shown(&self) -> String {
        String::from_utf8_lossy(&self.name).into_owned()
    }
}

/// Whether a file has the name of a journal.
pub(super) fn is_journal(name: &[u8]) -> bool {
    name.starts_with(b".") && name.ends_with(NAME.as_bytes())
}

/// What recovery did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Recovery {
    /// There was no interrupted transaction.
    None,
    /// An interrupted transaction was rolled back.
    RolledBack,
    /// The old content of a complete transaction was removed.
    Completed,
}

/// Waits for a transaction that another process is committing, and recovers one that was
/// interrupted. A file with the name of a journal that is none is left alone.
///
/// # Errors
/// `TIMEOUT` and `CANCELLED` while waiting, and failures to roll back; then the journal stays, and
/// so the next writer tries again.
pub(super) fn recover(workspace: &Workspace, call: &Call) -> Result<Recovery, Error> {
    let place = workspace.journal_place();
    let failed = |error| Error::io("examine", &place.shown(), error);
    loop {
        // Usually there is none. A link or another user's file is no journal.
        let Ok(file) = place.dir.open_to_write(&place.name) else { return Ok(Recovery::None) };
        if file.try_lock().map_err(failed)? {
            let stat = file.stat().map_err(failed)?;
            let now = place.dir.stat(&place.name);
            if now.is_ok_and(|now| now.identity == stat.identity) {
                return recover_from(workspace, &file, &stat);
            }
        } else if let Some(why) = call.stop_reason() {
            return Err(Error::stopped(why, "another transaction had ended"));
        } else {
            thread::sleep(CHECK_INTERVAL);
        }
    }
}

/// Recovers from a journal whose lock this process holds.
fn recover_from(workspace: &Workspace, file: &File, stat: &Stat) -> Result<Recovery, Error> {
    let Some(records) = read(workspace, file, stat)? else { return Ok(Recovery::None) };
    let place = workspace.journal_place();
    let is_committed = matches!(records.last(), Some(Record::Committed));
    if is_committed {
        // What cannot be removed now either stays under its hidden name.
        remove_temporary_files(workspace, &records);
    } else {
        roll_back(workspace, &records)?;
    }
    let removed = place.dir.remove_file(&place.name);
    removed.map_err(|error| Error::io("remove", &place.shown(), error))?;
    Ok(if is_committed { Recovery::Completed } else { Recovery::RolledBack })
}

/// The records of a journal; `None` if the file is not a journal of this workspace.
fn read(workspace: &Workspace, file: &File, stat: &Stat) -> Result<Option<Vec<Record>>, Error> {
    let failed = |error| Error::io("read", &workspace.journal_place().shown(), error);
    let is_ours = stat.kind == Kind::File && stat.links == 1 && file.is_own().map_err(failed)?;
    if !is_ours || stat.size > MAX_BYTES as u64 {
        return Ok(None);
    }
    let size = usize::try_from(stat.size).unwrap_or(MAX_BYTES);
    let text = file.read_range(0, size, size).map_err(failed)?;
    // The last line may have been written partly; then its step was not made.
    let complete = memchr::memrchr(b'\n', &text).map_or(0, |end| end + 1);
    let text = text.get(..complete).unwrap_or_default();
    let lines = text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let records: Result<Vec<Record>, _> = lines.map(serde_json::from_slice).collect();
    let root = root_id(workspace).map_err(failed)?;
    Ok(records.ok().filter(|records| match records.first() {
        Some(Record::Begin { journal, root: its_root }) => {
            *journal == stat.identity.into() && *its_root == root
        }
        _ => false,
    }))
}

/// Refuses to begin a transaction while a file that is no journal has its name.
fn refuse_other_file(workspace: &Workspace) -> Result<(), Error> {
    let place = workspace.journal_place();
    let Ok(file) = place.dir.open_to_write(&place.name) else { return Ok(()) };
    // A journal in use: its holder removes it.
    if !matches!(file.try_lock(), Ok(true)) {
        return Ok(());
    }
    let Ok(stat) = file.stat() else { return Ok(()) };
    let is_placed = place.dir.stat(&place.name).is_ok_and(|now| now.identity == stat.identity);
    if !is_placed || read(workspace, &file, &stat)?.is_some() {
        return Ok(());
    }
    let shown = place.shown();
    let message = format!(
        "cannot change several files together: {shown} is not a journal that was written here"
    );
    Err(Error::new(ErrorCode::Conflict, message)
        .at(shown)
        .with_hint("Ask for it to be removed; it may have come with a copy of these files."))
}

fn failed_to_create(workspace: &Workspace, error: io::Error) -> Error {
    let shown = workspace.journal_place().shown();
    let is_denied = error.kind() == io::ErrorKind::PermissionDenied;
    let failed = Error::io("create the journal", &shown, error);
    if !is_denied {
        return failed;
    }
    failed
        .with_hint("The host can set another directory for it: Workspace::with_journal_directory.")
}

fn root_id(workspace: &Workspace) -> io::Result<FileId> {
    workspace.root_handle().stat(b".").map(|stat| stat.identity.into())
}

fn line(record: &Record) -> Result<Vec<u8>, Error> {
    let mut line = serde_json::to_vec(record).map_err(|error| {
        Error::new(ErrorCode::Internal, "a record of the journal cannot be written").because(error)
    })?;
    line.push(b'\n');
    Ok(line)
}

/// Removes the temporary files of a transaction. Returns whether none of them exists any more.
fn remove_temporary_files(workspace: &Workspace, records: &[Record]) -> bool {
    let mut all_removed = true;
    for record in records {
        let Record::Temp { path } = record else { continue };
        if !is_transaction_file(path.name()) {
            continue;
        }
        let removed = reopen(workspace, path).and_then(|place| match place.stat() {
            // Many have got their final names.
            None => Ok(()),
            Some(_) => place.entry().0.remove_file(place.entry().1),
        });
        all_removed &= removed.is_ok();
    }
    all_removed
}

/// Reverses the steps, the last one first. Steps that were not made, or were reversed before, are
/// recognised by the files and skipped. Returns a sentence for each file that others changed since,
/// which stays as it is.
fn roll_back(workspace: &Workspace, records: &[Record]) -> Result<Vec<String>, Error> {
    let mut kept = Vec::new();
    for (index, record) in records.iter().enumerate().rev() {
        let step = Step { workspace, later: records.get(index..).unwrap_or_default() };
        let (path, reversed) = match record {
            Record::Replace { path, temp, aside, old, new } => {
                (path, step.reverse_replace(path, (temp, aside), (old, new)))
            }
            Record::Create { path, temp, new } => (path, step.reverse_create(path, temp, new)),
            Record::Remove { path, aside } => (path, step.reverse_remove(path, aside)),
            Record::Rename { from, to, old } => (from, step.reverse_rename(from, to, old)),
            Record::Overwrite { path, backup, old } => {
                (path, step.reverse_overwrite(path, backup, old))
            }
            Record::Begin { .. }
            | Record::Temp { .. }
            | Record::MakeDirectory { .. }
            | Record::Overwriting { .. }
            | Record::Committed => continue,
        };
        let reversed = reversed.map_err(|error| Error::io("restore", &path.shown(), error))?;
        kept.extend(reversed);
    }
    remove_temporary_files(workspace, records);
    for record in records.iter().rev() {
        let Record::MakeDirectory { path } = record else { continue };
        if let Ok(place) = reopen(workspace, path) {
            let (parent, name) = place.entry();
            // This fails if it was not created, or if it is not empty, because others use it by now.
            let _ = parent.remove_dir(name);
        }
    }
    Ok(kept)
}

/// A step that is reversed.
struct Step<'a> {
    workspace: &'a Workspace,
    /// The record of the step and those after it.
    later: &'a [Record],
}

/// Nothing, or a sentence on a file that others changed.
type Reversed = io::Result<Option<String>>;

impl Step<'_> {
    fn reverse_replace(
        &self,
        path: &RecordedPath,
        (temp, aside): (&RecordedPath, &RecordedPath),
        (old, new): (&FileMark, &FileMark),
    ) -> Reversed {
        let place = reopen(self.workspace, path)?;
        let (parent, name) = place.entry();
        let now = entry(parent, name)?;
        if old.is_of(now.as_ref()) {
            return Ok(None);
        }
        // What came out under one of these names had the target's name before. It may be the file of
        // another process that replaced the old one at the last moment.
        let came_out = |other: &RecordedPath| {
            let found = entry(parent, other.name())?;
            io::Result::Ok(found.is_some() && !new.is_of(found.as_ref()))
        };
        let out = match (came_out(temp)?, came_out(aside)?) {
            (true, _) => temp.name(),
            (false, true) => aside.name(),
            (false, false) => return Ok(Some(lost(path))),
        };
        match now {
            None => rename_exclusive(parent, out, (parent, name))?,
            Some(now) if new.is_unchanged(Some(&now)) => {
                // The new file is removed with its temporary name, or by being replaced.
                match parent.rename(out, (parent, name), Rename::Exchange) {
                    Ok(()) if out == temp.name() => {}
                    Ok(()) => parent.remove_file(out)?,
                    Err(_) => parent.rename(out, (parent, name), Rename::Replace)?,
                }
            }
            Some(_) => return Ok(Some(keep(parent, out, path))),
        }
        Ok(None)
    }

    fn reverse_create(&self, path: &RecordedPath, temp: &RecordedPath, new: &FileMark) -> Reversed {
        let place = reopen(self.workspace, path)?;
        let (parent, name) = place.entry();
        let now = entry(parent, name)?;
        if !new.is_of(now.as_ref()) {
            return Ok(None);
        }
        if !new.is_unchanged(now.as_ref()) {
            return Ok(Some(format!("{} was changed since, and stays", path.shown())));
        }
        // It is removed with its temporary name.
        rename_exclusive(parent, name, (parent, temp.name()))?;
        Ok(None)
    }

    fn reverse_remove(&self, path: &RecordedPath, aside: &RecordedPath) -> Reversed {
        let place = reopen(self.workspace, path)?;
        let (parent, name) = place.entry();
        let aside = aside.name();
        if entry(parent, aside)?.is_none() {
            return Ok(None);
        }
        match rename_exclusive(parent, aside, (parent, name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                Ok(Some(keep(parent, aside, path)))
            }
            renamed => renamed.map(|()| None),
        }
    }

    fn reverse_rename(&self, from: &RecordedPath, to: &RecordedPath, old: &FileMark) -> Reversed {
        let moved = reopen(self.workspace, to)?;
        let (to_dir, to_name) = moved.entry();
        if to_name.contains(&b'/') || !old.is_of(entry(to_dir, to_name)?.as_ref()) {
            return Ok(None);
        }
        let place = reopen(self.workspace, from)?;
        let (parent, name) = place.entry();
        let stays =
            |why| Ok(Some(format!("{} {why}, so it stays at {}", from.shown(), to.shown())));
        if name.contains(&b'/') {
            return stays("is in a directory that is gone");
        }
        match rename_exclusive(to_dir, to_name, (parent, name)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => stays("exists again"),
            renamed => renamed.map(|()| None),
        }
    }

    fn reverse_overwrite(
        &self,
        path: &RecordedPath,
        backup: &RecordedPath,
        old: &FileMark,
    ) -> Reversed {
        let began =
            |record: &Record| matches!(record, Record::Overwriting { path: its } if its == path);
        let place = reopen(self.workspace, path)?;
        let (parent, name) = place.entry();
        if !self.later.iter().any(began) || !old.is_of(entry(parent, name)?.as_ref()) {
            return Ok(None);
        }
        let backup = parent.open_file(backup.name())?;
        let size = usize::try_from(backup.stat()?.size).map_err(io::Error::other)?;
        let content = backup.read_range(0, size, size)?;
        let file = parent.open_to_write(name)?;
        file.write_at(&content, 0)?;
        file.set_size(content.len() as u64)?;
        file.copy_times(&backup)?;
        self.workspace.durability().sync_file(&file)?;
        Ok(None)
    }
}

/// Gives the old file a name that is never removed, because others wrote the new one.
fn keep(parent: &Dir, out: &[u8], path: &RecordedPath) -> String {
    let kept = keep_aside(parent, out);
    let (path, kept) = (path.shown(), String::from_utf8_lossy(&kept));
    format!("{path} was changed since, and stays; its old content is beside it, named {kept}")
}

fn lost(path: &RecordedPath) -> String {
    format!("{} was replaced since, and stays", path.shown())
}

fn with_kept(error: Error, kept: &[String]) -> Error {
    let message = format!("{}; when it was rolled back: {}", error.message(), kept.join("; "));
    let path = error.path().unwrap_or_default().to_owned();
    Error::new(error.code(), message).at(path).because(error)
}

/// The stat data of an entry, if it exists.
fn entry(parent: &Dir, name: &[u8]) -> io::Result<Option<Stat>> {
    // If directories above it have been removed, these are several names.
    if name.contains(&b'/') {
        return Ok(None);
    }
    match parent.stat(name) {
        Ok(stat) => Ok(Some(stat)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

fn reopen(workspace: &Workspace, path: &RecordedPath) -> io::Result<WorkspacePath> {
    WorkspacePath::reopen(workspace, path.bytes())
}
