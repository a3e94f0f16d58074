//! Moving and copying a file, and moving a directory, to a name that does not exist.

use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::hint::Hint;
use crate::os::{Dir, File, Identity, Kind, Rename, Stat};
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange};
use crate::workspace::copy_content::copy_content;
use crate::workspace::create_dirs::{CreatedDirs, commit};
use crate::workspace::lock::lock;
use crate::workspace::open_file::OpenFile;
use crate::workspace::path::{
    above, changed, check_file_or_link, exists, gone, refuse_version, taken, written,
};
use crate::workspace::remove::remove_if;
use crate::workspace::remove_tree::{CheckedTree, Purpose, TreeCount, refuse_root};
use crate::workspace::replace::rename_exclusive;
use crate::workspace::resolve::names_directory;
use crate::workspace::temp::{TempFile, sweep};
use crate::workspace::{
    Access, Durability, MAX_FILE_BYTES, VersionToken, Workspace, WorkspacePath,
};

/// How many bytes may follow after the size that the file system reports: files of `/proc` report 0,
/// others grow meanwhile, and some have no end.
const MAX_BEYOND_SIZE: u64 = 1 << 30;

/// The result of a move or copy.
#[derive(Debug)]
pub(crate) struct Transferred {
    pub(crate) source: WorkspacePath,
    pub(crate) destination: WorkspacePath,
    /// What is in it, if it is a directory.
    pub(crate) tree: Option<TreeCount>,
    /// What could not be preserved, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// See [`Workspace::move_file`].
pub(super) fn move_file(
    workspace: &Workspace,
    source: &str,
    destination: &str,
    expected: Option<VersionToken>,
    call: &Call,
) -> Result<Transferred, Error> {
    let source = workspace.resolve(source, Access::Entry)?;
    if source.is_directory() {
        refuse_version(&source, expected)?;
        return move_directory(workspace, source, destination, call);
    }
    check_file_or_link(&source, "move")?;
    let (destination, is_own_name) = free_place(workspace, destination, &source)?;
    let _lock = lock(workspace, &[&source, &destination], call)?;
    let open = |expected| OpenFile::open_version(&source, expected, call);
    let file = expected.map(open).transpose()?;
    let observer = Observer::of(workspace);
    let change = Change::new(ChangeKind::Move, destination.as_str(), call);
    let change = change.with_from(source.as_str());
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let transfer = Transfer::begin(workspace, &source, &destination, call)?;
    commit(&source, call)?;
    let mut notes = match transfer.rename(is_own_name) {
        Ok(()) => transfer.check_moved(file.as_ref()).map(|()| Vec::new())?,
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
            move_across_devices(&transfer, file)?
        }
        Err(error) => return Err(transfer.not_placed("move", error)),
    };
    notes.extend(transfer.sync_names(|| source.entry().0.sync()));
    let directories = transfer.created.keep(above(destination.relative()));
    if let Some(observer) = observer {
        observer.report(&change);
        observer.log_move(workspace, (&source, &destination), directories, call);
    }
    Ok(Transferred { source, destination, tree: None, notes })
}

/// Renames a directory; to another file system it is not moved.
fn move_directory(
    workspace: &Workspace,
    source: WorkspacePath,
    destination: &str,
    call: &Call,
) -> Result<Transferred, Error> {
    refuse_root(workspace, &source, "move")?;
    let (destination, is_own_name) = free_place(workspace, destination, &source)?;
    let below = destination.relative().strip_prefix(source.relative());
    if below.is_some_and(|below| below.starts_with(b"/")) {
        let message = format!("cannot move {source} to {destination}, which is in it");
        return Err(Error::new(ErrorCode::InvalidPath, message).at(source.as_str()));
    }
    let _lock = lock(workspace, &[&source, &destination], call)?;
    let tree = CheckedTree::check(workspace, &source, Purpose::Move(&destination), call)?;
    let observer = Observer::of(workspace);
    let change = Change::new(ChangeKind::Move, destination.as_str(), call);
    let change = change.with_from(source.as_str());
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let transfer = Transfer::begin(workspace, &source, &destination, call)?;
    commit(&source, call)?;
    transfer.rename(is_own_name).map_err(|error| match error.kind() {
        io::ErrorKind::CrossesDevices => {
            let message = format!("cannot move {source}: {destination} is on another file system");
            let error = Error::new(ErrorCode::InvalidPath, message).at(source.as_str());
            error.with_hint("Move its files one by one.")
        }
        _ => transfer.not_placed("move", error),
    })?;
    let (dir, name) = transfer.created.entry();
    let wrong = match dir.stat(name) {
        Ok(moved) if moved.identity == tree.identity => None,
        Ok(_) => Some(changed(&source, "another process replaced it meanwhile")),
        Err(error) => Some(Error::io("move", source.as_str(), error)),
    };
    if let Some(error) = wrong {
        let (from, old_name) = source.entry();
        // This fails if the old name exists again; that entry is newer and stays.
        let _ = rename_exclusive(dir, name, (from, old_name));
        return Err(error);
    }
    let notes = Vec::from_iter(transfer.sync_names(|| source.entry().0.sync()));
    let directories = transfer.created.keep(above(destination.relative()));
    if let Some(observer) = observer {
        observer.report(&change);
        observer.log_move(workspace, (&source, &destination), directories, call);
    }
    Ok(Transferred { source, destination, tree: Some(tree.count), notes })
}

/// See [`Workspace::copy_file`].
pub(super) fn copy_file(
    workspace: &Workspace,
    source: &str,
    destination: &str,
    expected: Option<VersionToken>,
    call: &Call,
) -> Result<Transferred, Error> {
    let source = workspace.resolve(source, Access::Read)?;
    check_file_or_link(&source, "copy")?;
    let (destination, _) = free_place(workspace, destination, &source)?;
    let _lock = lock(workspace, &[&destination], call)?;
    let open = |expected| OpenFile::open_version(&source, expected, call);
    let file = expected.map(open).transpose()?;
    let observer = Observer::of(workspace);
    let copied = CopiedContent::new(workspace, &source, &destination, call)?;
    // The source may be written while it is copied, so that only the copy shows what is made of it.
    let content = match &observer {
        Some(observer) if observer.shows_content() => copied.content()?,
        _ => None,
    };
    let change = Change::new(ChangeKind::Create, destination.as_str(), call);
    let change = change.with_content(None, content.as_deref());
    observer.as_ref().map_or(Ok(()), |observer| observer.review(&change))?;
    let transfer = Transfer::begin(workspace, &source, &destination, call)?;
    let (copy, original) = copied.place(&transfer)?;
    let same = file.map_or(Ok(true), |file| file.is_as_read(&original));
    if !same.map_err(|error| Error::io("copy", source.as_str(), error))? {
        return Err(written(&source));
    }
    let mut notes = copy.keep();
    notes.extend(transfer.sync_names(|| Ok(())));
    let directories = transfer.created.keep(above(destination.relative()));
    if let Some(observer) = observer {
        observer.report(&change);
        let path = destination.relative().to_vec();
        let (before, after) = (Before::Nothing, After::at(workspace, &path));
        observer.log(call, vec![LoggedChange { path, before, after, directories }]);
    }
    Ok(Transferred { source, destination, tree: None, notes })
}

/// Moves to another file system; `file` is the open source, if a version of it was expected.
fn move_across_devices(
    transfer: &Transfer<'_>,
    file: Option<OpenFile>,
) -> Result<Vec<String>, Error> {
    let source = transfer.source;
    let not_removed = |error| not_removed(transfer, error);
    if source.kind() == Some(Kind::Link) {
        let (copy, original) = StagedCopy::of_link(transfer)?;
        // A link cannot be locked, so under a temporary name it would be swept or left forever.
        // A replacement between the check and the removal goes unnoticed.
        let (parent, name) = source.entry();
        if !parent.stat(name).map_err(not_removed)?.is_alike(&original) {
            return Err(written(source));
        }
        parent.remove_file(name).map_err(not_removed)?;
        return Ok(copy.keep());
    }
    let file = match file {
        Some(file) => file,
        None => OpenFile::open(source, transfer.call)?.ok_or_else(|| gone(source))?,
    };
    let copy = StagedCopy::of_file(transfer, &file)?;
    // The lock of the open file keeps the source from being swept under its temporary name.
    remove_if(source, &file, || Ok(()), not_removed)?;
    Ok(copy.keep())
}

/// A move or copy in progress.
struct Transfer<'a> {
    source: &'a WorkspacePath,
    destination: &'a WorkspacePath,
    /// The directories created for the destination.
    created: CreatedDirs,
    durability: Durability,
    call: &'a Call,
}

impl<'a> Transfer<'a> {
    /// Creates the directories that the destination needs.
    fn begin(
        workspace: &Workspace,
        source: &'a WorkspacePath,
        destination: &'a WorkspacePath,
        call: &'a Call,
    ) -> Result<Transfer<'a>, Error> {
        let created = CreatedDirs::above(destination, call)?;
        Ok(Transfer { source, destination, created, durability: workspace.durability(), call })
    }

    /// Renames the source, if both are on one file system.
    fn rename(&self, is_own_name: bool) -> io::Result<()> {
        let (from, name) = self.source.entry();
        if is_own_name {
            from.rename(name, self.created.entry(), Rename::Replace)
        } else {
            rename_exclusive(from, name, self.created.entry())
        }
    }

    /// Gives the source its name back if it is not what the caller expected.
    fn check_moved(&self, expected: Option<&OpenFile>) -> Result<(), Error> {
        let Some(expected) = expected else { return Ok(()) };
        let (dir, name) = self.created.entry();
        let wrong = match expected.is_at(dir, name) {
            Ok(true) => return Ok(()),
            Ok(false) => written(self.source),
            Err(error) => Error::io("move", self.source.as_str(), error),
        };
        let (from, old_name) = self.source.entry();
        // This fails if the old name exists again; that file is newer and stays.
        let _ = rename_exclusive(dir, name, (from, old_name));
        Err(wrong)
    }

    /// With [`Durability::Full`], runs `first` and makes the new name durable. A failure is only a
    /// note, since the file has its new name.
    fn sync_names(&self, first: impl FnOnce() -> io::Result<()>) -> Option<String> {
        if self.durability != Durability::Full {
            return None;
        }
        let (dir, _) = self.created.entry();
        let synced = first().and_then(|()| dir.sync()).and_then(|()| self.created.sync());
        let error = synced.err()?;
        Some(format!("the file has its new name, but a power cut may take it back: {error}"))
    }

    /// The error if the destination could not get its name.
    fn not_placed(&self, verb: &str, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::AlreadyExists => taken(self.destination),
            io::ErrorKind::NotFound => gone(self.source),
            _ => Error::io(verb, self.source.as_str(), error),
        }
    }
}

/// A copy of content and permissions that has no name yet; removed on drop. It is in the last directory
/// above the destination that exists, so that nothing visible is made before the review.
struct CopiedContent<'a> {
    path: &'a WorkspacePath,
    source: File,
    /// Of the source, before it was copied.
    original: Stat,
    dir: &'a Dir,
    temp: TempFile<'a>,
}

impl<'a> CopiedContent<'a> {
    fn new(
        workspace: &Workspace,
        path: &'a WorkspacePath,
        destination: &'a WorkspacePath,
        call: &Call,
    ) -> Result<CopiedContent<'a>, Error> {
        let failed = |error| Error::io("copy", path.as_str(), error);
        let (source, original) = open(path)?;
        let (dir, _) = destination.entry();
        sweep(dir, call);
        let temp = TempFile::create(dir, original.mode & 0o777).map_err(failed)?;
        copy(&source, temp.file(), original.size, (path, call))?;
        workspace.durability().sync_file(temp.file()).map_err(failed)?;
        Ok(CopiedContent { path, source, original, dir, temp })
    }

    /// The content; `None` if it is larger than [`MAX_FILE_BYTES`].
    fn content(&self) -> Result<Option<Vec<u8>>, Error> {
        let size = self.temp.file().stat();
        let size = size.map_err(|error| Error::io("copy", self.path.as_str(), error))?.size;
        if size > MAX_FILE_BYTES as u64 {
            return Ok(None);
        }
        self.path.read_whole(self.temp.file(), size, MAX_FILE_BYTES, "copy").map(Some)
    }

    /// Gives the copy its name; also returns the stat data of the source before it was copied.
    fn place<'t>(self, transfer: &'t Transfer<'t>) -> Result<(StagedCopy<'t>, Stat), Error> {
        let CopiedContent { path, source, original, dir, temp } = self;
        commit(path, transfer.call)?;
        let mut copy = StagedCopy::place(temp, dir, transfer)?;
        if !source.stat().is_ok_and(|now| now.is_alike(&original)) {
            copy.notes.push(format!("{path} was written while it was copied"));
        }
        Ok((copy, original))
    }
}

/// A copy at its destination; removed on drop without [`StagedCopy::keep`].
struct StagedCopy<'a> {
    transfer: &'a Transfer<'a>,
    identity: Identity,
    notes: Vec<String>,
    is_kept: bool,
}

impl<'a> StagedCopy<'a> {
    /// Copies content, attributes and times of a file that is to be removed afterwards.
    fn of_file(transfer: &'a Transfer<'a>, source: &OpenFile) -> Result<StagedCopy<'a>, Error> {
        let failed = |error| Error::io("move", transfer.source.as_str(), error);
        let (dir, _) = transfer.created.entry();
        sweep(dir, transfer.call);
        let temp = TempFile::create(dir, 0o600).map_err(failed)?;
        let from = (transfer.source, transfer.call);
        copy(source.file(), temp.file(), source.stat().size, from)?;
        let lost = temp.file().copy_attributes(source.file()).map_err(failed)?;
        temp.file().copy_times(source.file()).map_err(failed)?;
        transfer.durability.sync_file(temp.file()).map_err(failed)?;
        let mut copy = StagedCopy::place(temp, dir, transfer)?;
        let lost = lost.iter().map(|what| format!("the {what} of the file could not be kept"));
        copy.notes.extend(lost);
        Ok(copy)
    }

    /// Creates a link with the same text; also returns the stat data of the source.
    fn of_link(transfer: &'a Transfer<'a>) -> Result<(StagedCopy<'a>, Stat), Error> {
        let failed = |error| Error::io("move", transfer.source.as_str(), error);
        let (parent, name) = transfer.source.entry();
        let original = parent.stat(name).map_err(failed)?;
        let text = parent.read_link(name).map_err(failed)?;
        let (dir, new_name) = transfer.created.entry();
        dir.make_link(&text, new_name).map_err(|error| transfer.not_placed("move", error))?;
        let made = dir.stat(new_name).map_err(|error| {
            // Without its identity it could not be removed safely later.
            let _ = dir.remove_file(new_name);
            failed(error)
        })?;
        Ok((StagedCopy::new(transfer, made.identity), original))
    }

    /// Gives a temporary file in the directory `from` its name.
    fn place(
        temp: TempFile<'_>,
        from: &Dir,
        transfer: &'a Transfer<'a>,
    ) -> Result<StagedCopy<'a>, Error> {
        let not_placed = |error| transfer.not_placed("copy", error);
        let made = temp.file().stat().map_err(not_placed)?;
        let to = transfer.created.entry();
        rename_exclusive(from, temp.name(), to).map_err(not_placed)?;
        temp.renamed();
        Ok(StagedCopy::new(transfer, made.identity))
    }

    fn new(transfer: &'a Transfer<'a>, identity: Identity) -> StagedCopy<'a> {
        StagedCopy { transfer, identity, notes: Vec::new(), is_kept: false }
    }

    /// Keeps the copy.
    fn keep(mut self) -> Vec<String> {
        self.is_kept = true;
        std::mem::take(&mut self.notes)
    }
}

impl Drop for StagedCopy<'_> {
    fn drop(&mut self) {
        let (dir, name) = self.transfer.created.entry();
        let is_ours = dir.stat(name).is_ok_and(|now| now.identity == self.identity);
        if !self.is_kept && is_ours {
            // The caller already gets another error.
            let _ = dir.remove_file(name);
        }
    }
}

fn not_removed(transfer: &Transfer<'_>, error: io::Error) -> Error {
    let source = transfer.source;
    let message = format!(
        "cannot move {source}: it was copied to another file system but cannot be removed: \
         {error}; the copy was removed"
    );
    Error::new(ErrorCode::of_io(&error), message).at(source.as_str()).because(error)
}

fn open(source: &WorkspacePath) -> Result<(File, Stat), Error> {
    let failed = |error| Error::io("read", source.as_str(), error);
    let (parent, name) = source.entry();
    let file = parent.open_file(name).map_err(failed)?;
    let stat = file.stat().map_err(failed)?;
    if stat.kind != Kind::File {
        return Err(changed(source, "it is not a file any more"));
    }
    Ok((file, stat))
}

/// Copies the content of the source, which may be changed meanwhile.
fn copy(
    from: &File,
    to: &File,
    size: u64,
    (source, call): (&WorkspacePath, &Call),
) -> Result<(), Error> {
    let check = |at: u64| -> Result<(), NotCopied> {
        if let Some(why) = call.stop_reason() {
            let error = Error::stopped(why, &format!("{source} was copied"));
            return Err(NotCopied::Refused(error.at(source.as_str())));
        }
        if at.saturating_sub(size) > MAX_BEYOND_SIZE {
            return Err(NotCopied::Refused(endless(source, size)));
        }
        Ok(())
    };
    copy_content(from, to, size, check).map_err(|error| match error {
        NotCopied::Refused(error) => error,
        NotCopied::Io(error) => Error::io("copy", source.as_str(), error),
    })
}

/// Why a content was not copied.
enum NotCopied {
    Refused(Error),
    Io(io::Error),
}

impl From<io::Error> for NotCopied {
    fn from(error: io::Error) -> NotCopied {
        NotCopied::Io(error)
    }
}

fn endless(source: &WorkspacePath, size: u64) -> Error {
    let message = format!(
        "{source} was not copied: its size is {size} bytes, and it goes on for more than \
         {MAX_BEYOND_SIZE} bytes after that"
    );
    Error::new(ErrorCode::TooLarge, message)
        .at(source.as_str())
        .with_hint("It may have no end.")
        .with_hint(Hint::tool("Read a part of it with ", "read_file", "."))
}

/// Resolves a destination that must not exist, except as another spelling of the source; returns
/// whether it is such a spelling.
fn free_place(
    workspace: &Workspace,
    text: &str,
    source: &WorkspacePath,
) -> Result<(WorkspacePath, bool), Error> {
    let place = workspace.resolve(text, Access::Create)?;
    match place.kind() {
        None if names_directory(text) && !source.is_directory() => {
            Err(into_directory(&place, source))
        }
        None => Ok((place, false)),
        Some(_) if is_own_name(&place, source) => Ok((place, true)),
        Some(Kind::Directory) if place.identity() != source.identity() => {
            Err(into_directory(&place, source))
        }
        Some(Kind::Link) => {
            // A link that leads out of the workspace is refused with that error.
            workspace.resolve(text, Access::Write)?;
            Err(taken(&place))
        }
        Some(kind) if is_same_file(workspace, &place, source) => {
            let what = if kind == Kind::Directory { "directory" } else { "file" };
            Err(exists(&place, &format!(": it is the same {what} as {source}"))
                .with_hint("Nothing is to be done, unless another name was meant."))
        }
        Some(_) => Err(taken(&place)),
    }
}

/// Whether the destination is the source, or the target of the source, by another name.
fn is_same_file(workspace: &Workspace, place: &WorkspacePath, source: &WorkspacePath) -> bool {
    let target = workspace.resolve(source.as_str(), Access::Read);
    let target = target.map_or_else(|_| source.identity(), |target| target.identity());
    place.identity() == target
}

fn into_directory(place: &WorkspacePath, source: &WorkspacePath) -> Error {
    let name = source.as_str().rsplit('/').next().unwrap_or_default();
    let path =
        if place.relative().is_empty() { name.to_owned() } else { format!("{place}/{name}") };
    let kind = if source.is_directory() { "new directory" } else { "file" };
    let (code, what) = match place.kind() {
        Some(_) => (ErrorCode::FileAlreadyExists, "is a directory that exists"),
        None => (ErrorCode::InvalidPath, "names a directory"),
    };
    Error::new(code, format!("{place} {what}"))
        .at(place.as_str())
        .with_hint(format!("Name the {kind} too, for instance {path}."))
}

/// Whether the destination is the source with another case, on a file system that ignores case: the
/// source is found by the new name, but the directory lists only the old one.
fn is_own_name(place: &WorkspacePath, source: &WorkspacePath) -> bool {
    let folded = |path: &WorkspacePath| path.as_str().to_lowercase();
    let same_file = place.identity() == source.identity() && place.identity().is_some();
    same_file
        && place.relative() != source.relative()
        && folded(place) == folded(source)
        && !place.is_listed()
}
