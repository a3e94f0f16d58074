//! Changes of several files that are made together or not at all.
//!
//! A transaction locks all paths at once, reads the files, and takes the changes in memory. Its
//! commit has three phases:
//!
//! 1. **Prepare**: every new content is written beside its target as a temporary file, with the
//!    attributes of the old file, and put on stable storage. Files that another one cannot replace
//!    (several hard links, open for writing elsewhere) get a backup instead.
//! 2. **Apply**: one after the other, the new files exchange their names with the old ones. Each old
//!    file is compared with what was read; if another process changed one, everything is rolled back.
//! 3. **Finish**: the journal is marked as committed, and the old files are removed.
//!
//! Each step is in the [journal](super::journal) before it is made, so a killed process leaves
//! nothing half done after recovery. While a transaction is applied, other readers may see some
//! files with their old content and others with their new one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, File, Identity, Kind, Leased, Rename, Stat};
use crate::sync::lock as lock_mutex;
use crate::text::escape;
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange, MAX_BYTES as MAX_LOGGED_BYTES};
use crate::workspace::copy_content::{check_stop, copy_content, failed};
use crate::workspace::create_dirs::commit;
use crate::workspace::journal::{FileMark, Journal, Record, RecordedPath};
use crate::workspace::lock::{FileLock, LockKey, lock_keys};
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::{
    above, changed, check_file_or_link, exists, gone, not_a_file, split_name, written,
};
use crate::workspace::policy::denied;
use crate::workspace::recovery::{begin_journal, finish, recover, roll_back_after};
use crate::workspace::replace::{check_writable, is_unsupported, rename_exclusive};
use crate::workspace::resolve::names_directory;
use crate::workspace::restore::{Restorer, shown_content};
use crate::workspace::stored_content::{ContentStore, StoredContent};
use crate::workspace::temp::transaction_name;
use crate::workspace::{
    Access, Durability, MAX_FILE_BYTES, Version, Workspace, WorkspacePath, in_place,
};

/// The permissions of a new file, before the umask.
const NEW_FILE: u32 = 0o666;

/// The permissions of a temporary file until it gets those of the target.
const PRIVATE: u32 = 0o600;

/// With so many files for each, files are prepared by several threads, because most of the time is
/// spent waiting for the disk.
const FILES_PER_THREAD: usize = 16;

/// Why a file is spared that another process has open for writing, or will have.
const BUSY: &str = "another process has opened it to write it";
const MAYBE_BUSY: &str = "another process may have opened it to write it";
const AWAITED: &str = "another process is about to write it";

/// The maximum number of such threads.
const MAX_THREADS: usize = 8;

/// The most bytes of content that they load at the same time, if one file is not larger.
const MAX_LOADED: usize = 64 << 20;

/// Changes of several files that are made together or not at all; see [`Workspace::begin`].
///
/// The files are locked against other calls of this process until it is dropped. Dropping it without
/// [`Transaction::commit`] changes nothing. Files are named by their index in the list of paths.
///
/// A process that is killed leaves a journal in the root, from which the next change of any file, or
/// [`Workspace::recover`], restores the old state. Other readers may see some files with their new
/// content and others with their old one while it is committed.
#[derive(Debug)]
pub struct Transaction {
    workspace: Workspace,
    files: Vec<TransactionFile>,
    /// Where new and old content waits.
    store: ContentStore,
    /// Whether a file that another process may be appending to is refused if it would be cut or removed.
    spares_writers: bool,
    _lock: FileLock,
}

/// A path of a transaction.
#[derive(Debug)]
struct TransactionFile {
    /// The real path, without links. No handle is kept, since there may be more files than descriptors.
    relative: Vec<u8>,
    /// The same for messages.
    text: String,
    access: Access,
    seen: Option<Seen>,
    /// The content that was read or is restored, if a host observes changes.
    content: Option<StoredContent>,
    /// What will be removed, if a host observes changes.
    removed: Option<Before>,
    change: Staged,
}

/// What was at a path when it was read.
#[derive(Clone, Copy, Debug)]
enum Seen {
    Nothing,
    File {
        stat: Stat,
        /// The content, if it must be compared because the file had just been changed.
        racy_version: Option<Version>,
    },
}

/// A staged change.
#[derive(Debug)]
enum Staged {
    None,
    Write(StoredContent),
    Remove,
    /// To the path of another file of the transaction.
    Rename {
        to: usize,
        content: Option<StoredContent>,
    },
    /// A copy of a file that was deleted, with its attributes.
    Restore(Arc<File>),
    /// A link to this text.
    Link(Vec<u8>),
}

impl Staged {
    /// The bytes of new content.
    fn size(&self) -> usize {
        match self {
            Staged::Write(content) | Staged::Rename { content: Some(content), .. } => content.len(),
            _ => 0,
        }
    }
}

impl Transaction {
    /// See [`Workspace::begin`].
    pub(super) fn begin(
        workspace: &Workspace,
        paths: &[(impl AsRef<str>, Access)],
        call: &Call,
    ) -> Result<Transaction, Vec<(usize, Error)>> {
        let first = |error| vec![(0, error)];
        recover(workspace, call)
            .and_then(|recovery| recovery.check_all(workspace.journal_place()))
            .map_err(first)?;
        let (mut files, mut keys, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        let mut known: HashMap<Vec<u8>, usize> = HashMap::new();
        for (index, (text, access)) in paths.iter().enumerate() {
            let text = text.as_ref();
            let resolved = resolve(workspace, text, *access)
                .and_then(|path| LockKey::both(&path).map(|keys| (path, keys)));
            match resolved {
                Ok((path, [own, whole])) => {
                    if let Some(earlier) = known.insert(path.relative().to_vec(), index) {
                        errors.push((
                            index,
                            same_file(
                                &path,
                                text,
                                paths.get(earlier).map(|(text, _)| text.as_ref()),
                            ),
                        ));
                    }
                    files.push(TransactionFile::new(&path, *access));
                    keys.extend([own, whole]);
                }
                Err(error) => errors.push((index, error)),
            }
        }
        if !errors.is_empty() {
            return Err(errors);
        }
        let text = files.first().map_or("", |file| file.text.as_str());
        let lock = lock_keys(workspace, keys, text, call).map_err(first)?;
        let workspace = workspace.clone();
        let store = ContentStore::default();
        Ok(Transaction { workspace, files, store, spares_writers: false, _lock: lock })
    }

    /// Refuses with `CONFLICT` to cut or to remove a file that another process may have open for
    /// writing, since what it appends at that moment would be lost.
    pub(super) fn sparing_writers(self) -> Transaction {
        Transaction { spares_writers: true, ..self }
    }

    /// The path of a file relative to the workspace, as in messages; empty for an index that
    /// [`Workspace::begin`] did not get.
    pub fn path(&self, index: usize) -> &str {
        self.files.get(index).map_or("", |file| file.text.as_str())
    }

    /// Reads a file; `None` if it does not exist. The commit fails with `CONFLICT` if it is another
    /// one by then.
    ///
    /// # Errors
    /// `INVALID_PATH` for anything but a regular file, `POLICY_DENIED` for a hard link if these are
    /// denied, `PERMISSION_DENIED` for a file that must not be written, `TOO_LARGE` over `limit`
    /// bytes, and failures to read.
    pub fn read(
        &mut self,
        index: usize,
        limit: usize,
        call: &Call,
    ) -> Result<Option<Vec<u8>>, Error> {
        let path = self.file(index)?.reopen(&self.workspace)?;
        let read = read(&self.workspace, &path, limit, call)?;
        let (seen, content) = match read {
            None => (Seen::Nothing, None),
            Some((seen, content)) => (seen, Some(content)),
        };
        let kept = match &content {
            Some(content) if Observer::of(&self.workspace).is_some() => {
                Some(self.store(index, Cow::Borrowed(content))?)
            }
            _ => None,
        };
        let file = self.file_mut(index)?;
        (file.seen, file.content) = (Some(seen), kept);
        Ok(content)
    }

    /// Identifies the file that was read, whatever its name; `None` if none was.
    pub(crate) fn identity(&self, index: usize) -> Option<Identity> {
        match self.files.get(index)?.seen? {
            Seen::Nothing => None,
            Seen::File { stat, .. } => Some(stat.identity),
        }
    }

    /// Remembers what is at a path, like [`Transaction::read`], but for the content; `None` if there is
    /// nothing.
    pub(super) fn mark(&mut self, index: usize) -> Result<Option<FileMark>, Error> {
        let seen = see(&self.file(index)?.reopen(&self.workspace)?)?;
        self.file_mut(index)?.seen = Some(seen);
        Ok(match seen {
            Seen::Nothing => None,
            Seen::File { stat, .. } => Some((&stat).into()),
        })
    }

    /// Stages a copy of a file that was deleted, at a path that must not exist.
    pub(super) fn restore(&mut self, index: usize, file: Arc<File>) -> Result<(), Error> {
        self.file_mut(index)?.change = Staged::Restore(file);
        Ok(())
    }

    /// Stages a link to `text`, at a path that must not exist.
    pub(super) fn link(&mut self, index: usize, text: Vec<u8>) -> Result<(), Error> {
        self.file_mut(index)?.change = Staged::Link(text);
        Ok(())
    }

    /// Stages new content of a file, which is created with the directories above it if it does not
    /// exist.
    ///
    /// # Errors
    /// `INTERNAL` for an index that [`Workspace::begin`] did not get.
    pub fn write(&mut self, index: usize, content: Vec<u8>) -> Result<(), Error> {
        let content = self.store(index, Cow::Owned(content))?;
        self.file_mut(index)?.change = Staged::Write(content);
        Ok(())
    }

    /// Stages the removal of a file or link.
    ///
    /// # Errors
    /// Those of [`Transaction::write`].
    pub fn remove(&mut self, index: usize) -> Result<(), Error> {
        self.file_mut(index)?.change = Staged::Remove;
        Ok(())
    }

    /// Stages a move of a file or link to another path of the transaction, which must not exist, with
    /// new content or unchanged.
    ///
    /// # Errors
    /// Those of [`Transaction::write`].
    pub fn rename(
        &mut self,
        from: usize,
        to: usize,
        content: Option<Vec<u8>>,
    ) -> Result<(), Error> {
        self.file(to)?;
        let content = content.map(|content| self.store(from, Cow::Owned(content))).transpose()?;
        self.file_mut(from)?.change = Staged::Rename { to, content };
        Ok(())
    }

    /// Makes all staged changes, or none. Returns notes on what could not be preserved, one sentence
    /// each.
    ///
    /// # Errors
    /// `CONFLICT` if a file is not what was read, or appeared where none was; `FILE_ALREADY_EXISTS`,
    /// `NO_SPACE`, `PERMISSION_DENIED` and other failures of the system; `TIMEOUT` and `CANCELLED`.
    /// After any error all files are as they were, except those that another process changed at the
    /// same time; the message names these.
    pub fn commit(self, call: &Call) -> Result<Vec<String>, Error> {
        let workspace = self.workspace.clone();
        let (applied, changes) = self.commit_observed(call)?;
        if let Some(observer) = Observer::of(&workspace) {
            observer.log(call, changes);
        }
        Ok(applied)
    }

    /// Commits; also returns what is to be logged, if a host observes changes.
    pub(super) fn commit_observed(
        mut self,
        call: &Call,
    ) -> Result<(Vec<String>, Vec<LoggedChange>), Error> {
        let workspace = self.workspace.clone();
        let Some(observer) = Observer::of(&workspace) else {
            return Ok((self.apply(call)?.notes, Vec::new()));
        };
        self.keep_old(call)?;
        self.each_change(call, |change| observer.review(change))?;
        let mut applied = self.apply(call)?;
        // The changes are made: what cannot be read back any more is not reported.
        if let Err(error) = self.each_change(call, |change| {
            observer.report(change);
            Ok(())
        }) {
            applied.notes.push(error.message().to_owned());
        }
        let logged = self.logged(applied.directories)?;
        Ok((applied.notes, logged))
    }

    /// Keeps what the changes will replace and remove, and reads what they will restore.
    fn keep_old(&mut self, call: &Call) -> Result<(), Error> {
        let shows_content =
            Observer::of(&self.workspace).is_some_and(|observer| observer.shows_content());
        for index in 0..self.files.len() {
            let file = self.file(index)?;
            let path = match &file.change {
                Staged::None | Staged::Link(_) => continue,
                Staged::Restore(old) => {
                    if shows_content {
                        let content = check_stop(call).and_then(|()| shown_content(old));
                        let content =
                            content.map_err(|error| failed("read", &file.text, error, call))?;
                        let content = content.map(|content| self.store(index, Cow::Owned(content)));
                        self.file_mut(index)?.content = content.transpose()?;
                    }
                    continue;
                }
                _ => file.reopen(&self.workspace)?,
            };
            let is_removed = matches!(file.change, Staged::Remove);
            if path.kind() == Some(Kind::File) && file.content.is_none() {
                match self.read(index, MAX_FILE_BYTES, call) {
                    Err(error) if error.code() == ErrorCode::TooLarge => {}
                    read => drop(read?),
                }
            }
            if is_removed {
                let removed = Before::removed(&path)?;
                self.file_mut(index)?.removed = Some(removed);
            }
        }
        Ok(())
    }

    /// Calls `each` with the staged changes as a host sees them, one at a time.
    fn each_change(
        &self,
        call: &Call,
        each: impl Fn(&Change<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let shows_content =
            Observer::of(&self.workspace).is_some_and(|observer| observer.shows_content());
        for file in &self.files {
            let load = |content: Option<&'_ StoredContent>| match content {
                Some(content) if shows_content => {
                    let loaded = content.load().map(|content| Some(content.into_owned()));
                    loaded.map_err(|error| Error::io("read", &file.text, error))
                }
                _ => Ok(None),
            };
            // Of a file that is restored, it is the new one.
            let old = load(file.content.as_ref())?;
            let old = old.as_deref();
            let change = |kind| Change::new(kind, &file.text, call);
            match &file.change {
                Staged::None => Ok(()),
                Staged::Write(new) => {
                    let exists = matches!(file.seen, Some(Seen::File { .. }));
                    let kind = if exists { ChangeKind::Modify } else { ChangeKind::Create };
                    each(&change(kind).with_content(old, load(Some(new))?.as_deref()))
                }
                Staged::Remove => each(&change(ChangeKind::Delete).with_content(old, None)),
                Staged::Rename { to, content } => {
                    let new = load(content.as_ref())?;
                    let moved = Change::new(ChangeKind::Move, self.path(*to), call);
                    each(&moved.with_from(&file.text).with_content(old, new.as_deref()))
                }
                Staged::Restore(_) => each(&change(ChangeKind::Create).with_content(None, old)),
                Staged::Link(_) => each(&change(ChangeKind::Create)),
            }?;
        }
        Ok(())
    }

    /// The changes that were made, as they are logged.
    fn logged(&mut self, mut directories: Vec<Vec<u8>>) -> Result<Vec<LoggedChange>, Error> {
        let mut logged = Vec::new();
        let targets: Vec<Vec<u8>> = self.files.iter().map(|file| file.relative.clone()).collect();
        let sizes = self.files.iter().filter_map(|file| file.content.as_ref());
        let is_too_large = sizes.map(StoredContent::len).sum::<usize>() > MAX_LOGGED_BYTES;
        for file in &mut self.files {
            let path = file.relative.clone();
            // Those of all files are removed again with the first change.
            let directories = std::mem::take(&mut directories);
            match &file.change {
                Staged::None | Staged::Restore(_) | Staged::Link(_) => {}
                Staged::Write(new) => {
                    let after = After::Content(version(new, &file.text)?);
                    let before = file.replaced(is_too_large)?;
                    logged.push(LoggedChange { path, before, after, directories });
                }
                Staged::Remove => {
                    let before = file.removed.take().unwrap_or_else(Before::too_large);
                    logged.push(LoggedChange { path, before, after: After::Nothing, directories });
                }
                Staged::Rename { to, content } => {
                    let path = targets[*to].clone();
                    let after = match content {
                        None => After::at(&self.workspace, &path),
                        Some(new) => After::Content(version(new, &file.text)?),
                    };
                    let mark = match file.seen {
                        Some(Seen::File { stat, .. }) => Some((&stat).into()),
                        _ => None,
                    };
                    let before = Before::At { from: file.relative.clone(), mark };
                    logged.push(LoggedChange { path: path.clone(), before, after, directories });
                    if content.is_some() {
                        let (before, directories) = (file.replaced(is_too_large)?, Vec::new());
                        logged.push(LoggedChange { path, before, after, directories });
                    }
                }
            }
        }
        Ok(logged)
    }

    fn store(&mut self, index: usize, content: Cow<'_, [u8]>) -> Result<StoredContent, Error> {
        let stored = self.store.keep(&self.workspace, content);
        let text = self.path(index);
        stored.map_err(|error| Error::io("keep the content of", text, error))
    }

    fn apply(&self, call: &Call) -> Result<Applied, Error> {
        let Some(first) = self.files.iter().find(|file| file.is_changed()) else {
            return Ok(Applied::default());
        };
        let path = first.reopen(&self.workspace)?;
        let restorer = &Mutex::new(Restorer::new(self.workspace.durability()));
        let several = &self.with_several_steps()?;
        let journal = begin_journal(&self.workspace, call)?;
        let committing =
            Committing { transaction: self, journal: &journal, call, restorer, several };
        match commit(&path, call).and_then(|()| committing.run()) {
            Err(error) => Err(roll_back_after(error, journal)),
            Ok(applied) => finish(journal).map(|()| applied),
        }
    }

    /// The files of which several names are removed, moved or restored. Each of these steps sets a time
    /// by which the file is recognized at the next one.
    fn with_several_steps(&self) -> Result<HashSet<Identity>, Error> {
        let (mut known, mut several) = (HashSet::new(), HashSet::new());
        for (index, file) in self.files.iter().enumerate() {
            let identity = match &file.change {
                Staged::Remove | Staged::Rename { content: None, .. } => self.identity(index),
                Staged::Restore(old) => {
                    let stat =
                        old.stat().map_err(|error| Error::io("examine", &file.text, error))?;
                    Some(stat.identity)
                }
                _ => None,
            };
            several.extend(identity.filter(|identity| !known.insert(*identity)));
        }
        Ok(several)
    }

    fn file(&self, index: usize) -> Result<&TransactionFile, Error> {
        self.files.get(index).ok_or_else(no_such_file)
    }

    fn file_mut(&mut self, index: usize) -> Result<&mut TransactionFile, Error> {
        self.files.get_mut(index).ok_or_else(no_such_file)
    }
}

impl TransactionFile {
    fn new(path: &WorkspacePath, access: Access) -> TransactionFile {
        TransactionFile {
            relative: path.relative().to_vec(),
            text: path.as_str().to_owned(),
            access,
            seen: None,
            content: None,
            removed: None,
            change: Staged::None,
        }
    }

    fn is_changed(&self) -> bool {
        !matches!(self.change, Staged::None)
    }

    fn reopen(&self, workspace: &Workspace) -> Result<WorkspacePath, Error> {
        let opened = WorkspacePath::reopen(workspace, &self.relative);
        opened.map_err(|error| Error::io("open", &self.text, error))
    }

    /// Notes on attributes that could not be kept.
    fn not_kept(&self, lost: &[&str]) -> Vec<String> {
        lost.iter().map(|what| format!("the {what} of {} could not be kept", self.text)).collect()
    }

    fn recorded(&self) -> RecordedPath {
        RecordedPath::new(self.relative.clone())
    }

    /// What was at the path, as it is logged, of a file that got new content.
    fn replaced(&self, is_too_large: bool) -> Result<Before, Error> {
        Ok(match (self.seen, &self.content) {
            (Some(Seen::File { .. }), Some(_)) if is_too_large => {
                Before::NotKept("it is larger than the whole log of changes")
            }
            (Some(Seen::File { stat, .. }), Some(old)) => {
                let old = match old {
                    StoredContent::Memory(old) => old.clone(),
                    StoredContent::Spooled { .. } => {
                        let old = old.load();
                        let old = old.map_err(|error| Error::io("read", &self.text, error))?;
                        Arc::new(old.into_owned())
                    }
                };
                Before::Content { old, mark: (&stat).into() }
            }
            (Some(Seen::File { .. }), None) => Before::too_large(),
            _ => Before::Nothing,
        })
    }

    /// The path of another name in the same directory.
    fn beside(&self, name: &[u8]) -> RecordedPath {
        RecordedPath::new(match split_name(&self.relative) {
            // Empty for an entry of the root of the system.
            (Some(above), _) => [above, b"/", name].concat(),
            (None, _) => name.to_vec(),
        })
    }
}

/// A commit in progress.
#[derive(Clone, Copy)]
struct Committing<'a> {
    transaction: &'a Transaction,
    journal: &'a Journal,
    call: &'a Call,
    restorer: &'a Mutex<Restorer>,
    /// See [`Transaction::with_several_steps`].
    several: &'a HashSet<Identity>,
}

/// The result of a commit.
#[derive(Debug, Default)]
struct Applied {
    notes: Vec<String>,
    /// The directories that were created, from the top.
    directories: Vec<Vec<u8>>,
}

/// A prepared step: its record and what is needed to apply it.
struct Prepared<'a> {
    file: &'a TransactionFile,
    seen: Seen,
    times: Times,
    record: Record,
    /// The new content of a file that exists.
    content: Option<&'a StoredContent>,
    notes: Vec<String>,
}

impl<'a> Prepared<'a> {
    /// A step at a path where nothing is.
    fn new(file: &'a TransactionFile, record: Record, notes: Vec<String>) -> Prepared<'a> {
        Prepared { file, seen: Seen::Nothing, times: Times::All, record, content: None, notes }
    }
}

impl<'a> Committing<'a> {
    fn run(&self) -> Result<Applied, Error> {
        let directories = self.make_directories()?;
        self.record_directories()?;
        let mut prepared = self.prepare_all()?;
        for step in &prepared {
            self.journal.append(step.record.clone())?;
        }
        self.journal.sync()?;
        let mut notes = Vec::new();
        for step in &mut prepared {
            self.check_stop(step.file)?;
            notes.append(&mut step.notes);
            notes.extend(self.apply(step)?);
        }
        self.sync_directories()?;
        if self.transaction.spares_writers {
            self.check_spared(&prepared)?;
        }
        Ok(Applied { notes, directories })
    }

    /// Refuses files that a process has opened at the last moment, which may have found their names before
    /// they were taken away.
    fn check_spared(&self, prepared: &[Prepared<'a>]) -> Result<(), Error> {
        /// Longer than such a process takes, unless it does not run at all.
        const PAUSE: Duration = Duration::from_millis(1);
        thread::sleep(PAUSE);
        for step in prepared {
            let out = match &step.record {
                Record::Replace { temp, new, .. } => (temp, Some(new)),
                Record::Remove { aside, .. } => (aside, None),
                _ => continue,
            };
            let path = step.file.reopen(&self.transaction.workspace)?;
            let dir = path.entry().0;
            // Where names cannot be exchanged, another one has come out.
            let Ok(file) = dir.open_file(out.0.name()) else { continue };
            let failed = |error| Error::io("examine", path.as_str(), error);
            let (stat, Seen::File { stat: seen, .. }) = (file.stat().map_err(failed)?, step.seen)
            else {
                continue;
            };
            if out.1.is_some_and(|new| new.is_of(Some(&stat))) {
                continue;
            }
            if !stat.is_alike(&seen) || matches!(file.lease(), Leased::Busy) {
                return Err(changed(&path, BUSY));
            }
        }
        Ok(())
    }

    /// Creates the missing directories above new files.
    fn make_directories(&self) -> Result<Vec<Vec<u8>>, Error> {
        let mut created = Vec::new();
        for file in &self.transaction.files {
            let target = match &file.change {
                Staged::Write(_) | Staged::Restore(_) | Staged::Link(_) => file,
                Staged::Rename { to, .. } => self.transaction.file(*to)?,
                Staged::None | Staged::Remove => continue,
            };
            let failed = |error| Error::io("make the directories of", &target.text, error);
            let path = target.reopen(&self.transaction.workspace)?;
            let (parent, names) = path.entry();
            let (Some(missing), _) = split_name(names) else { continue };
            let (existing, _) = target.relative.split_at(target.relative.len() - names.len());
            let mut dir = parent.clone();
            let mut made = existing.to_vec();
            for name in missing.split(|byte| *byte == b'/') {
                made.extend(name);
                let record = Record::MakeDirectory { path: RecordedPath::new(made.clone()) };
                self.journal.append(record)?;
                match dir.make_dir(name) {
                    Ok(()) => created.push(made.clone()),
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                    Err(error) => return Err(failed(error)),
                }
                dir = dir.traverse(name).map_err(failed)?.into();
                made.push(b'/');
            }
        }
        Ok(created)
    }

    /// Records which directories these are, so that recovery finds one that gets another name.
    fn record_directories(&self) -> Result<(), Error> {
        let mut known = HashSet::new();
        for file in &self.transaction.files {
            let directory = above(&file.relative);
            if !known.insert(directory) {
                continue;
            }
            let path = file.reopen(&self.transaction.workspace)?;
            let stat = path.entry().0.stat(b".");
            let id = stat.map_err(|error| Error::io("examine", &file.text, error))?.identity.into();
            let path = RecordedPath::new(directory.to_vec());
            self.journal.append(Record::Directory { path, id })?;
        }
        Ok(())
    }

    /// Prepares all changes, in the order of the files.
    fn prepare_all(&self) -> Result<Vec<Prepared<'a>>, Error> {
        let files = &self.transaction.files;
        let sizes = files.iter().map(|file| file.change.size());
        let largest = sizes.max().unwrap_or(0).max(1);
        let threads = (files.len() / FILES_PER_THREAD).clamp(1, MAX_THREADS);
        let threads = threads.min((MAX_LOADED / largest).max(1));
        let next = AtomicUsize::new(0);
        let results: Vec<_> = files.iter().map(|_| Mutex::new(Ok(Vec::new()))).collect();
        let work = || {
            // Relaxed: the counter only hands out numbers; the results are behind locks.
            while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
                && let (Some(file), Some(result)) = (files.get(index), results.get(index))
            {
                let done = self.check_stop(file).and_then(|()| self.prepare(file));
                let is_failed = done.is_err();
                *lock_mutex(result) = done;
                if is_failed {
                    next.store(files.len(), Ordering::Relaxed);
                }
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // Without another thread, this one prepares all.
                drop(thread::Builder::new().spawn_scoped(scope, work));
            }
            work();
        });
        let mut prepared = Vec::new();
        for result in results {
            let done = result.into_inner();
            prepared.extend(done.unwrap_or_else(std::sync::PoisonError::into_inner)?);
        }
        Ok(prepared)
    }

    fn prepare(&self, file: &'a TransactionFile) -> Result<Vec<Prepared<'a>>, Error> {
        match &file.change {
            Staged::None => Ok(Vec::new()),
            Staged::Write(content) => {
                let path = file.reopen(&self.transaction.workspace)?;
                match file.seen.map_or_else(|| see(&path), Ok)? {
                    Seen::Nothing => {
                        let content = content.load();
                        let content =
                            content.map_err(|error| Error::io("read", &file.text, error))?;
                        self.prepare_new(file, &path, &content, None)
                    }
                    seen @ Seen::File { .. } => {
                        self.prepare_replacement(file, &path, seen, content)
                    }
                }
                .map(|step| vec![step])
            }
            Staged::Remove => self.prepare_removal(file).map(|step| vec![step]),
            Staged::Restore(old) => self.prepare_restored(file, old).map(|step| vec![step]),
            Staged::Link(text) => self.prepare_link(file, text).map(|step| vec![step]),
            Staged::Rename { to, content } => {
                self.prepare_rename(file, self.transaction.file(*to)?, content.as_ref())
            }
        }
    }

    fn prepare_replacement(
        &self,
        file: &'a TransactionFile,
        path: &WorkspacePath,
        seen: Seen,
        content: &'a StoredContent,
    ) -> Result<Prepared<'a>, Error> {
        let old = self.open_seen(path, seen, Times::All)?;
        check_writable(path, &old)?;
        self.prepare_content(file, path.entry().0, seen, &old, content)
    }

    /// Prepares new content of an existing file, in the directory of the target if another file can take
    /// its place.
    fn prepare_content(
        &self,
        target: &'a TransactionFile,
        dir: &Dir,
        seen: Seen,
        old: &OpenFile,
        content: &'a StoredContent,
    ) -> Result<Prepared<'a>, Error> {
        let why = match old.stat().links {
            0 | 1 => match old.lease(self.call) {
                Leased::Busy => "another process has it open for writing".to_owned(),
                Leased::Held(_) | Leased::Unknown => {
                    match self.prepare_exchange(target, dir, seen, old, content) {
                        Err(error) if error.code() == ErrorCode::PermissionDenied => {
                            "its directory cannot be written".to_owned()
                        }
                        prepared => return prepared,
                    }
                }
            },
            links => format!("it has {links} hard links"),
        };
        self.prepare_overwrite(target, seen, old, content, &why)
    }

    /// Writes the old and the new content of a file that will be written in place beside the journal.
    fn prepare_overwrite(
        &self,
        target: &'a TransactionFile,
        seen: Seen,
        old: &OpenFile,
        content: &'a StoredContent,
        why: &str,
    ) -> Result<Prepared<'a>, Error> {
        let backup = self.write_spare(target, |spare| {
            copy_content(old.file(), spare, old.stat().size, |_| check_stop(self.call))?;
            // Recovery gives the file these.
            spare.copy_times(old.file())?;
            spare.set_mode(old.stat().mode)
        })?;
        let new = self.write_spare(target, |spare| spare.write_at(&content.load()?, 0))?;
        let (path, old) = (target.recorded(), old.stat().into());
        let record = Record::Overwrite { path, backup, new, old };
        let note = format!("{} was written in place, not atomically, because {why}", target.text);
        let times = Times::of_replaced(target);
        let (content, notes) = (Some(content), vec![note]);
        Ok(Prepared { file: target, seen, times, record, content, notes })
    }

    /// Writes a temporary file beside the journal, and puts it on stable storage.
    fn write_spare(
        &self,
        target: &TransactionFile,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<RecordedPath, Error> {
        let (dir, name) = (self.transaction.workspace.journal_place().dir(), transaction_name());
        let record = RecordedPath::new(name.clone());
        self.journal.append(Record::Spare { name: record.clone() })?;
        let written = check_stop(self.call)
            .and_then(|()| dir.create_file(&name, PRIVATE))
            .and_then(|spare| write(&spare).and_then(|()| self.durability().sync_file(&spare)));
        written.map_err(|error| failed("write", &target.text, error, self.call))?;
        Ok(record)
    }

    /// Writes the file that will exchange its name with the old one, in the directory of the target.
    fn prepare_exchange(
        &self,
        target: &'a TransactionFile,
        dir: &Dir,
        seen: Seen,
        old: &OpenFile,
        content: &'a StoredContent,
    ) -> Result<Prepared<'a>, Error> {
        let mut lost = Vec::new();
        let loaded = content.load().map_err(|error| Error::io("read", &target.text, error))?;
        let (temp, new) = self.write_temp(target, dir, &loaded, PRIVATE, |temp| {
            lost = temp.copy_attributes(old.file())?;
            Ok(())
        })?;
        let aside = target.beside(&transaction_name());
        self.journal.append(Record::Temp { path: aside.clone() })?;
        let (path, old) = (target.recorded(), old.stat().into());
        let record = Record::Replace { path, temp, aside, old, new };
        let (times, notes) = (Times::of_replaced(target), target.not_kept(&lost));
        let content = Some(content);
        Ok(Prepared { file: target, seen, times, record, content, notes })
    }

    /// Writes a temporary file beside a target, completes it by `finish`, and puts it on stable
    /// storage.
    fn write_temp(
        &self,
        target: &TransactionFile,
        dir: &Dir,
        content: &[u8],
        mode: u32,
        finish: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<(RecordedPath, FileMark), Error> {
        let name = transaction_name();
        let path = target.beside(&name);
        self.journal.append(Record::Temp { path: path.clone() })?;
        let write = || {
            let temp = dir.create_file(&name, mode)?;
            temp.write_at(content, 0)?;
            finish(&temp)?;
            self.durability().sync_file(&temp)?;
            temp.stat()
        };
        let stat = write().map_err(|error| failed("write", &target.text, error, self.call))?;
        Ok((path, FileMark::from(&stat)))
    }

    /// Prepares a new file; `source` is the file on another file system from which it is moved.
    fn prepare_new(
        &self,
        file: &'a TransactionFile,
        path: &WorkspacePath,
        content: &[u8],
        source: Option<&File>,
    ) -> Result<Prepared<'a>, Error> {
        let (parent, name) = path.entry();
        if name.contains(&b'/') {
            return Err(changed(path, "another process removed its directory meanwhile"));
        }
        let mode = if source.is_some() { PRIVATE } else { NEW_FILE };
        let mut lost = Vec::new();
        let (temp, new) = self.write_temp(file, parent, content, mode, |temp| {
            if let Some(source) = source {
                lost = temp.copy_attributes(source)?;
                temp.copy_times(source)?;
            }
            Ok(())
        })?;
        let record = Record::Create { path: file.recorded(), temp, new };
        let notes = file.not_kept(&lost);
        Ok(Prepared::new(file, record, notes))
    }

    /// Prepares a deleted file under a temporary name.
    fn prepare_restored(
        &self,
        file: &'a TransactionFile,
        old: &File,
    ) -> Result<Prepared<'a>, Error> {
        let path = file.reopen(&self.transaction.workspace)?;
        let (dir, name) = (path.entry().0, transaction_name());
        let temp = file.beside(&name);
        self.journal.append(Record::Temp { path: temp.clone() })?;
        let failed = |error| failed("write", path.as_str(), error, self.call);
        // Files are restored one by one, so that further names of one find the first.
        let mut restorer = lock_mutex(self.restorer);
        let lost = restorer.restore_file(old, (dir, &name), self.call).map_err(failed)?;
        drop(restorer);
        let stat = dir.stat(&name).map_err(failed)?;
        let record = Record::Create { path: file.recorded(), temp, new: (&stat).into() };
        let notes = file.not_kept(&lost);
        Ok(Prepared::new(file, record, notes))
    }

    fn prepare_link(&self, file: &'a TransactionFile, text: &[u8]) -> Result<Prepared<'a>, Error> {
        let path = file.reopen(&self.transaction.workspace)?;
        let (dir, name) = (path.entry().0, transaction_name());
        let temp = file.beside(&name);
        self.journal.append(Record::Temp { path: temp.clone() })?;
        let made = dir.make_link(text, &name).and_then(|()| dir.stat(&name));
        let stat = made.map_err(|error| Error::io("write", path.as_str(), error))?;
        let record = Record::Create { path: file.recorded(), temp, new: (&stat).into() };
        Ok(Prepared::new(file, record, Vec::new()))
    }

    fn prepare_removal(&self, file: &'a TransactionFile) -> Result<Prepared<'a>, Error> {
        let path = file.reopen(&self.transaction.workspace)?;
        let seen = file.seen.map_or_else(|| see(&path), Ok)?;
        if let Seen::Nothing = seen {
            return Err(gone(&path));
        }
        let times = self.times_of(seen);
        self.check_seen(&path, seen, times)?;
        let aside = file.beside(&transaction_name());
        self.journal.append(Record::Temp { path: aside.clone() })?;
        let record = Record::Remove { path: file.recorded(), aside };
        Ok(Prepared { file, seen, times, record, content: None, notes: Vec::new() })
    }

    fn prepare_rename(
        &self,
        file: &'a TransactionFile,
        to: &'a TransactionFile,
        content: Option<&'a StoredContent>,
    ) -> Result<Vec<Prepared<'a>>, Error> {
        let workspace = &self.transaction.workspace;
        let (path, place) = (file.reopen(workspace)?, to.reopen(workspace)?);
        let seen = file.seen.map_or_else(|| see(&path), Ok)?;
        let Seen::File { stat, .. } = seen else { return Err(gone(&path)) };
        let (to_dir, _) = place.entry();
        let failed = |error| Error::io("move", path.as_str(), error);
        let is_far = to_dir.stat(b".").map_err(failed)?.identity.device != stat.identity.device;
        if is_far {
            let old = self.open_seen(&path, seen, Times::All)?;
            let content = if let Some(content) = content {
                content.load().map_err(failed)?
            } else {
                let (file, size) = (old.file(), old.stat().size);
                Cow::Owned(path.read_whole(file, size, usize::MAX, "move")?)
            };
            let created = self.prepare_new(to, &place, &content, Some(old.file()))?;
            return Ok(vec![created, self.prepare_removal(file)?]);
        }
        let times = if content.is_none() { self.times_of(seen) } else { Times::All };
        self.check_seen(&path, seen, times)?;
        let old = FileMark::from(&stat);
        let record = Record::Rename { from: file.recorded(), to: to.recorded(), old };
        let renamed = Prepared { file, seen, times, record, content: None, notes: Vec::new() };
        let Some(content) = content else { return Ok(vec![renamed]) };
        // The replacement is prepared in the directory of the new name.
        let old_file = self.open_seen(&path, seen, Times::All)?;
        check_writable(&path, &old_file)?;
        let replaced = self.prepare_content(to, to_dir, seen, &old_file, content)?;
        Ok(vec![renamed, replaced])
    }

    /// Makes the change of a step visible. Returns notes.
    fn apply(&self, step: &Prepared<'a>) -> Result<Vec<String>, Error> {
        let workspace = &self.transaction.workspace;
        let path = step.file.reopen(workspace)?;
        let failed = |error| Error::io("write", path.as_str(), error);
        let (parent, name) = path.entry();
        match &step.record {
            Record::Replace { temp, aside, .. } => {
                let old = self.open_seen(&path, step.seen, step.times)?;
                match self.exchange(&path, &old, temp.name(), aside.name())? {
                    Exchanged::Done => {}
                    Exchanged::Busy => {
                        let why = "something is mounted on it";
                        let content = step.content.expect("a replaced file has new content");
                        let step =
                            self.prepare_overwrite(step.file, step.seen, &old, content, why)?;
                        self.journal.append(step.record.clone())?;
                        // Its lock would be waited for.
                        drop(old);
                        let mut notes = self.apply(&step)?;
                        notes.extend(step.notes);
                        return Ok(notes);
                    }
                }
            }
            Record::Create { temp, .. } => {
                match rename_exclusive(parent, temp.name(), (parent, name)) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return Err(appeared(step.file, &path));
                    }
                    renamed => renamed.map_err(failed)?,
                }
            }
            Record::Remove { aside, .. } => {
                self.check_seen(&path, step.seen, step.times)?;
                let is_spared = self.transaction.spares_writers && path.is_file();
                let old = if is_spared { OpenFile::open(&path, self.call)? } else { None };
                let lease = match old.as_ref().map(|old| old.lease(self.call)) {
                    Some(Leased::Busy) => return Err(changed(&path, BUSY)),
                    Some(Leased::Held(lease)) => Some(lease),
                    Some(Leased::Unknown) | None => None,
                };
                rename_exclusive(parent, name, (parent, aside.name()))
                    .map_err(|error| Error::io("delete", path.as_str(), error))?;
                check_moved(&path, step.seen, parent, aside.name())?;
                if lease.is_some_and(|lease| lease.is_awaited()) {
                    return Err(changed(&path, AWAITED));
                }
            }
            Record::Rename { to, .. } => {
                self.check_seen(&path, step.seen, step.times)?;
                let place = WorkspacePath::reopen(workspace, to.bytes()).map_err(failed)?;
                let (to_dir, to_name) = place.entry();
                match rename_exclusive(parent, name, (to_dir, to_name)) {
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                        return Err(exists(&place, "").with_hint("Choose another name."));
                    }
                    renamed => {
                        renamed.map_err(|error| Error::io("move", path.as_str(), error))?;
                    }
                }
                if let Err(error) = check_moved(&path, step.seen, to_dir, to_name) {
                    // It is another file than the journal says, so rolling back would leave it there.
                    // If this fails, there is a newer file, which stays.
                    let _ = rename_exclusive(to_dir, to_name, (parent, name));
                    return Err(error);
                }
            }
            Record::Overwrite { .. } => {
                let opened = OpenFile::open_to_write(&path, self.call)?;
                let mut old = opened.ok_or_else(|| gone(&path))?;
                self.check_opened(&path, &mut old, step.seen, step.times)?;
                self.check_stop(step.file)?;
                // Then nobody can append while it is cut.
                let lease = old.file().lease_exclusively();
                let content = step.content.expect("an overwritten file has new content");
                let content = content.load().map_err(failed)?;
                let is_cut = (content.len() as u64) < old.stat().size;
                if self.transaction.spares_writers && is_cut && lease.is_none() {
                    return Err(changed(&path, MAYBE_BUSY));
                }
                self.journal.append(Record::Overwriting { path: step.file.recorded() })?;
                let (files, durability) = ((&old, old.file()), self.durability());
                let note = in_place::write(&path, files, &content, durability, self.call)?;
                return Ok(Vec::from_iter(note));
            }
            _ => {}
        }
        Ok(Vec::new())
    }

    /// Exchanges the names of the old and the new file.
    fn exchange(
        &self,
        path: &WorkspacePath,
        old: &OpenFile,
        temp: &[u8],
        aside: &[u8],
    ) -> Result<Exchanged, Error> {
        let failed = |error| Error::io("write", path.as_str(), error);
        let (parent, name) = path.entry();
        let lease = match old.lease(self.call) {
            Leased::Held(lease) => Some(lease),
            Leased::Unknown => None,
            Leased::Busy => return Err(changed(path, BUSY)),
        };
        let out = match parent.rename(temp, (parent, name), Rename::Exchange) {
            Ok(()) => temp,
            Err(error) if is_unsupported(&error) => {
                rename_exclusive(parent, name, (parent, aside)).map_err(failed)?;
                rename_exclusive(parent, temp, (parent, name)).map_err(failed)?;
                aside
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(changed(path, "another process removed it meanwhile"));
            }
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => {
                return Ok(Exchanged::Busy);
            }
            Err(error) => return Err(failed(error)),
        };
        if lease.is_some_and(|lease| lease.is_awaited()) {
            return Err(changed(path, AWAITED));
        }
        match old.is_at(parent, out) {
            Ok(true) => Ok(Exchanged::Done),
            Ok(false) => Err(written(path)),
            Err(error) => Err(failed(error)),
        }
    }

    /// The times that a file to be removed or moved must have.
    fn times_of(&self, seen: Seen) -> Times {
        match seen {
            Seen::File { stat, .. } if self.several.contains(&stat.identity) => Times::OfContent,
            _ => Times::All,
        }
    }

    /// Refuses an entry that is not what was seen.
    fn check_seen(&self, path: &WorkspacePath, seen: Seen, times: Times) -> Result<(), Error> {
        match (path.stat(), seen) {
            (None, Seen::Nothing) => Ok(()),
            (None, Seen::File { .. }) => Err(gone(path)),
            (Some(_), Seen::Nothing) => Err(changed(path, "another process created it meanwhile")),
            (Some(now), Seen::File { stat, racy_version }) => {
                let is_changed = matches!(times, Times::All) && now.changed != stat.changed;
                if !now.is_alike(&stat) || is_changed {
                    return Err(written(path));
                }
                match racy_version {
                    None => Ok(()),
                    Some(_) => self.open_seen(path, seen, times).map(drop),
                }
            }
        }
    }

    /// Opens a file, which must be what was seen.
    fn open_seen(&self, path: &WorkspacePath, seen: Seen, times: Times) -> Result<OpenFile, Error> {
        let mut file = OpenFile::open(path, self.call)?.ok_or_else(|| gone(path))?;
        self.check_opened(path, &mut file, seen, times)?;
        Ok(file)
    }

    /// Refuses a file that is not what was seen.
    fn check_opened(
        &self,
        path: &WorkspacePath,
        file: &mut OpenFile,
        seen: Seen,
        times: Times,
    ) -> Result<(), Error> {
        let Seen::File { stat, racy_version } = seen else {
            return Err(changed(path, "another process created it meanwhile"));
        };
        let is_same = match times {
            Times::All => file.is_unchanged(&stat),
            Times::OfContent => file.stat().is_alike(&stat),
        };
        if !is_same {
            return Err(written(path));
        }
        if let Some(version) = racy_version
            && file.version(self.call, path)? != version
        {
            return Err(written(path));
        }
        Ok(())
    }

    /// Puts the new names on stable storage, so that a committed transaction survives a power cut as a
    /// whole.
    fn sync_directories(&self) -> Result<(), Error> {
        if self.durability() == Durability::Fast {
            return Ok(());
        }
        // Also those of destinations, which have no change of their own.
        let paths = self.transaction.files.iter().map(|file| file.relative.as_slice());
        // A path outside of the root is absolute; one in the root of the host has nothing above it.
        let directories: BTreeMap<(bool, &[u8]), &[u8]> =
            paths.map(|path| ((path.starts_with(b"/"), above(path)), path)).collect();
        for path in directories.into_values() {
            let synced = WorkspacePath::reopen(&self.transaction.workspace, path)
                .and_then(|path| path.entry().0.sync());
            synced.map_err(|error| {
                Error::io("sync the directory of", &escape::display_path(path), error)
            })?;
        }
        Ok(())
    }

    fn check_stop(&self, file: &TransactionFile) -> Result<(), Error> {
        let Some(why) = self.call.stop_reason() else { return Ok(()) };
        Err(Error::stopped(why, &format!("{} was changed", file.text)).at(&file.text))
    }

    fn durability(&self) -> Durability {
        self.transaction.workspace.durability()
    }
}

/// The result of an exchange of names.
enum Exchanged {
    Done,
    /// The target is a mount point, so no other file can take its name.
    Busy,
}

/// Which times of a file must be those that were seen.
#[derive(Clone, Copy, Debug)]
enum Times {
    All,
    /// Only that of the content, since a rename before this step sets the other.
    OfContent,
}

impl Times {
    /// For a file that is replaced; one without a change of its own is the target of a move.
    fn of_replaced(file: &TransactionFile) -> Times {
        if file.is_changed() { Times::All } else { Times::OfContent }
    }
}

/// Resolves a path and checks that it can be used in this way.
fn resolve(workspace: &Workspace, text: &str, access: Access) -> Result<WorkspacePath, Error> {
    let path = workspace.resolve(text, access)?;
    if names_directory(text) || path.relative().is_empty() {
        return Err(not_a_file(&path, "names a directory"));
    }
    match (path.kind(), access) {
        (Some(Kind::Directory), _) => Err(not_a_file(&path, "is a directory")),
        (Some(Kind::Special), _) => Err(not_a_file(&path, "is a FIFO, socket or device")),
        (Some(_), Access::Create) => Err(exists(&path, "").with_hint("Choose another name.")),
        _ => Ok(path),
    }
}

fn read(
    workspace: &Workspace,
    path: &WorkspacePath,
    limit: usize,
    call: &Call,
) -> Result<Option<(Seen, Vec<u8>)>, Error> {
    let Some(file) = OpenFile::open(path, call)? else { return Ok(None) };
    if workspace.policy().denies_links_of(file.stat()) {
        return Err(denied(path.as_str()));
    }
    check_writable(path, &file)?;
    let content = file.read_content(limit, path)?;
    let racy_version = file.is_racy().then(|| Version::of(&content));
    Ok(Some((Seen::File { stat: *file.stat(), racy_version }, content)))
}

fn same_file(path: &WorkspacePath, text: &str, earlier: Option<&str>) -> Error {
    let earlier = earlier.unwrap_or("another path");
    let text = escape::display_path(text.as_bytes());
    let message = if earlier == text {
        format!("{text} is named twice")
    } else {
        format!("{text} and {} are the same file", escape::display_path(earlier.as_bytes()))
    };
    Error::new(ErrorCode::InvalidArgument, message)
        .at(path.as_str())
        .with_hint("Make one change of the two.")
}

fn no_such_file() -> Error {
    Error::new(ErrorCode::Internal, "the transaction has no such file; nothing was changed")
}

/// The error for a new file whose name exists by now.
fn appeared(file: &TransactionFile, path: &WorkspacePath) -> Error {
    match file.access {
        Access::Create => exists(path, "").with_hint("Choose another name."),
        _ => changed(path, "another process created it meanwhile"),
    }
}

fn version(content: &StoredContent, text: &str) -> Result<Version, Error> {
    let content = content.load().map_err(|error| Error::io("read", text, error))?;
    Ok(Version::of(&content))
}

/// What is at a path that was not read.
fn see(path: &WorkspacePath) -> Result<Seen, Error> {
    match path.stat() {
        None => Ok(Seen::Nothing),
        Some(stat) => {
            check_file_or_link(path, "change")?;
            Ok(Seen::File { stat: *stat, racy_version: None })
        }
    }
}

/// Refuses a file that is not what was seen, after it got another name.
fn check_moved(path: &WorkspacePath, seen: Seen, dir: &Dir, name: &[u8]) -> Result<(), Error> {
    let Seen::File { stat, .. } = seen else { return Ok(()) };
    let now = dir.stat(name).map_err(|error| Error::io("move", path.as_str(), error))?;
    if now.is_alike(&stat) { Ok(()) } else { Err(written(path)) }
}
