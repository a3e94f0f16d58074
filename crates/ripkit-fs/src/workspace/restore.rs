//! Bringing back what was deleted: a file from its open handle, a directory with everything in it.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::byte_path::{joined, split_name};
use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, File, Identity, Kind, LINKS_HANDLES};
use crate::workspace::change::ChangeKind;
use crate::workspace::change_log::MAX_FILES;
use crate::workspace::copy_content::{check_stop, copy_content, failed};
use crate::workspace::journal::FileMark;
use crate::workspace::path::commit;
use crate::workspace::remove_tree::{TreeCount, discard};
use crate::workspace::rename::rename_exclusive;
use crate::workspace::temp::random_name;
use crate::workspace::{Durability, MAX_FILE_BYTES, WorkspacePath};

/// The most entries of a deleted directory that are kept.
const MAX_ENTRIES: usize = 10_000;

/// The permissions of a file until it gets those of the old one.
const PRIVATE: u32 = 0o600;

/// The permissions of a directory until it gets those of the old one.
const PRIVATE_DIRECTORY: u32 = 0o700;

/// Gives deleted files names again.
#[derive(Debug)]
pub(super) struct Restorer {
    durability: Durability,
    /// Copies of files that had no name left, which get the further names of these files too.
    copies: HashMap<Identity, File>,
}

impl Restorer {
    pub(super) fn new(durability: Durability) -> Restorer {
        Restorer { durability, copies: HashMap::new() }
    }

    /// Gives a deleted file a name, which is to be a temporary one: if the file or a copy of it has
    /// another name, as a hard link, otherwise as a copy. Returns what of it could not be kept.
    ///
    /// # Errors
    /// Those of [`check_stop`], and failures to write.
    pub(super) fn restore_file(
        &mut self,
        old: &File,
        (dir, name): (&Dir, &[u8]),
        call: &Call,
    ) -> io::Result<Vec<&'static str>> {
        let mut lost = Vec::new();
        let stat = old.stat()?;
        let copy = self.copies.get(&stat.identity);
        if let Some(same) = copy.or_else(|| (stat.links > 0).then_some(old)) {
            match dir.link_file(same, name) {
                Err(error) if cannot_be_linked(&error) => lost.push("hard links"),
                linked => return linked.map(|()| lost),
            }
        }
        let new = dir.create_file(name, PRIVATE)?;
        copy_content(old, &new, stat.size, |_| check_stop(call))?;
        lost.extend(new.copy_attributes(old)?);
        new.copy_times(old)?;
        self.durability.sync_file(&new)?;
        if LINKS_HANDLES {
            self.copies.insert(stat.identity, new);
        }
        Ok(lost)
    }
}

/// The content of a deleted file, as a host is shown it; `None` if it is larger than
/// [`MAX_FILE_BYTES`].
pub(super) fn shown_content(file: &File) -> io::Result<Option<Vec<u8>>> {
    let size = usize::try_from(file.stat()?.size).unwrap_or(usize::MAX);
    if size > MAX_FILE_BYTES {
        return Ok(None);
    }
    // It may grow by another name.
    let content = file.read_range(0, MAX_FILE_BYTES + 1, size)?;
    Ok((content.len() <= MAX_FILE_BYTES).then_some(content))
}

/// Whether a deleted file can be restored with all of its names.
pub(super) fn is_restorable(file: &File) -> io::Result<bool> {
    Ok(LINKS_HANDLES || file.stat()?.links <= 1)
}

fn cannot_be_linked(error: &io::Error) -> bool {
    use io::ErrorKind::{CrossesDevices, NotFound, PermissionDenied, Unsupported};
    matches!(error.kind(), CrossesDevices | NotFound | PermissionDenied | Unsupported)
}

/// A deleted directory with everything that was in it.
#[derive(Clone, Debug)]
pub struct RemovedTree {
    top: RemovedDirectory,
    /// The entries by their paths in the tree, each directory before what is in it.
    entries: Vec<(Vec<u8>, RemovedEntry)>,
}

#[derive(Clone, Debug)]
enum RemovedEntry {
    Directory(RemovedDirectory),
    Link { text: Vec<u8>, mark: FileMark },
    File(Arc<File>),
}

/// The attributes of a directory.
#[derive(Clone, Debug)]
struct RemovedDirectory {
    mode: u32,
    /// For owner and extended attributes; `None` if no more files are kept open, and on Windows.
    handle: Option<Arc<File>>,
}

impl RemovedDirectory {
    fn new(mode: u32) -> RemovedDirectory {
        RemovedDirectory { mode, handle: None }
    }

    /// Gives a new directory, which is complete, these attributes. Returns what could not be kept;
    /// `None` for all but the permissions.
    fn restore(
        &self,
        (dir, name): (&Dir, &[u8]),
        durability: Durability,
    ) -> io::Result<Option<Vec<&'static str>>> {
        let new = match dir.open_file(name) {
            // Windows opens no directory as a file, and its directories have no such permissions.
            Err(error) if cfg!(windows) && error.kind() == io::ErrorKind::InvalidInput => {
                return Ok(None);
            }
            new => new?,
        };
        // Network file systems forget deleted directories, even if they are open.
        let copied = self.handle.as_ref().and_then(|old| new.copy_attributes(old).ok());
        if copied.is_none() {
            new.set_mode(self.mode)?;
        }
        if durability == Durability::Full {
            new.sync()?;
        }
        Ok(copied)
    }
}

impl RemovedTree {
    /// Keeps what is in a directory that will be removed, or says why that cannot be done.
    pub(super) fn keep(top: &Dir) -> Result<RemovedTree, &'static str> {
        let unreadable = |_| "something in the directory could not be read";
        let mode = top.stat(b".").map_err(unreadable)?.mode;
        let mut tree = RemovedTree { top: RemovedDirectory::new(mode), entries: Vec::new() };
        let mut ahead = vec![Vec::new()];
        while let Some(below) = ahead.pop() {
            let dir = directory_at(top, &below).map_err(unreadable)?;
            let mut entries = Vec::new();
            let listed = dir.open_dir(b".").and_then(|listing| {
                listing.list(|name, kind| {
                    entries.push((name.to_vec(), kind));
                    let is_full = tree.entries.len() + entries.len() > MAX_ENTRIES;
                    if is_full { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
            });
            listed.map_err(unreadable)?;
            if tree.entries.len() + entries.len() > MAX_ENTRIES {
                return Err("the directory had too many entries to be kept");
            }
            for (name, kind) in entries {
                let path = joined(&below, &name);
                let entry = match kind {
                    Kind::Directory => {
                        ahead.push(path.clone());
                        let stat = dir.stat(&name);
                        stat.map(|stat| RemovedEntry::Directory(RemovedDirectory::new(stat.mode)))
                    }
                    Kind::Link => dir.read_link(&name).and_then(|text| {
                        Ok(RemovedEntry::Link { text, mark: FileMark::from(&dir.stat(&name)?) })
                    }),
                    Kind::File => {
                        let file = dir.open_file(&name).map_err(unreadable)?;
                        if !is_restorable(&file).map_err(unreadable)? {
                            return Err("a file in the directory had several hard links");
                        }
                        Ok(RemovedEntry::File(Arc::new(file)))
                    }
                    Kind::Special => return Err("the directory had special files"),
                };
                tree.entries.push((path, entry.map_err(unreadable)?));
                if tree.files().count() > MAX_FILES {
                    return Err("the directory had too many files to be kept");
                }
            }
        }
        tree.open_directories(top);
        Ok(tree)
    }

    /// Opens the directories, those at the top first, as far as the files leave room for them.
    fn open_directories(&mut self, top: &Dir) {
        let room = MAX_FILES.saturating_sub(self.files().count());
        let below = self.entries.iter_mut().filter_map(|(path, entry)| match entry {
            RemovedEntry::Directory(directory) => Some((path.as_slice(), directory)),
            _ => None,
        });
        let all = std::iter::once((b"".as_slice(), &mut self.top)).chain(below);
        for (path, directory) in all.take(room) {
            let handle = directory_at(top, path).and_then(|dir| dir.open_file(b"."));
            // Without a handle it is said what is lost, when the directory is restored.
            directory.handle = handle.ok().map(Arc::new);
        }
    }

    /// How many files and directories are kept open.
    pub(super) fn handles(&self) -> usize {
        let below = self.entries.iter().filter(|(_, entry)| match entry {
            RemovedEntry::Directory(directory) => directory.handle.is_some(),
            RemovedEntry::Link { .. } => false,
            RemovedEntry::File(_) => true,
        });
        usize::from(self.top.handle.is_some()) + below.count()
    }

    /// What it consists of.
    pub(super) fn count(&self) -> TreeCount {
        let directories =
            self.entries.iter().filter(|(_, entry)| matches!(entry, RemovedEntry::Directory(_)));
        let directories = directories.count();
        let files = (self.entries.len() - directories) as u64;
        TreeCount { files, directories: directories as u64 }
    }

    /// What restoring it does: the path in the tree, the kind of change, and the file.
    pub(super) fn changes(&self) -> impl Iterator<Item = (&[u8], ChangeKind, Option<&File>)> {
        let entries = self.entries.iter().map(|(path, entry)| {
            let (kind, file) = match entry {
                RemovedEntry::Directory(_) => (ChangeKind::CreateDirectory, None),
                RemovedEntry::Link { .. } => (ChangeKind::Create, None),
                RemovedEntry::File(file) => (ChangeKind::Create, Some(&**file)),
            };
            (path.as_slice(), kind, file)
        });
        std::iter::once((b"".as_slice(), ChangeKind::CreateDirectory, None)).chain(entries)
    }

    /// The files, as they are now, and the links, as they were, with their paths in the tree.
    pub(super) fn marks(&self) -> impl Iterator<Item = (&[u8], FileMark)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            RemovedEntry::Directory(_) => None,
            RemovedEntry::Link { mark, .. } => Some((path.as_slice(), *mark)),
            RemovedEntry::File(file) => Some((path.as_slice(), (&file.stat().ok()?).into())),
        })
    }

    /// The files, with their paths in the tree.
    pub fn files(&self) -> impl Iterator<Item = (&[u8], &Arc<File>)> {
        self.entries.iter().filter_map(|(path, entry)| match entry {
            RemovedEntry::File(file) => Some((path.as_slice(), file)),
            _ => None,
        })
    }

    /// The files.
    pub(super) fn files_mut(&mut self) -> impl Iterator<Item = &mut Arc<File>> {
        self.entries.iter_mut().filter_map(|(_, entry)| match entry {
            RemovedEntry::File(file) => Some(file),
            _ => None,
        })
    }

    /// Makes the tree again, at a path that must not exist, except for the times of directories. Returns
    /// what could not be kept, with the paths in the tree.
    ///
    /// # Errors
    /// `FILE_ALREADY_EXISTS`, `TIMEOUT`, `CANCELLED`, and failures to write; nothing is left then.
    pub(super) fn restore(
        &self,
        path: &WorkspacePath,
        durability: Durability,
        call: &Call,
    ) -> Result<Vec<(&[u8], &'static str)>, Error> {
        let failed = |error| failed("create", path.as_str(), error, call);
        let (parent, name) = path.entry();
        let aside = random_name();
        parent.make_dir(&aside).map_err(failed)?;
        let restored = parent.open_dir(&aside).map_err(failed).and_then(|top| {
            // Where there are locks, this one keeps the tree from being swept under its temporary name.
            let _ = top.try_lock();
            // Its own permissions may let fewer users in than those of new directories do.
            RemovedDirectory::new(PRIVATE_DIRECTORY)
                .restore((parent, &aside), Durability::Fast)
                .map_err(failed)?;
            let mut lost = self.fill(&top, durability, call).map_err(failed)?;
            let of_directories = self.restore_directories(&top, (parent, &aside), durability);
            lost.extend(of_directories.map_err(failed)?);
            commit(path, call)?;
            rename_exclusive(parent, &aside, (parent, name)).map_err(failed)?;
            Ok(lost)
        });
        if restored.is_err() {
            discard(parent, &aside);
        }
        restored
    }

    fn fill(
        &self,
        top: &Dir,
        durability: Durability,
        call: &Call,
    ) -> io::Result<Vec<(&[u8], &'static str)>> {
        let mut lost = Vec::new();
        let mut restorer = Restorer::new(durability);
        for (path, entry) in &self.entries {
            check_stop(call)?;
            let (dir, name) = place_in(top, path)?;
            match entry {
                RemovedEntry::Directory(_) => dir.make_dir(name)?,
                RemovedEntry::Link { text, .. } => dir.make_link(text, name)?,
                RemovedEntry::File(old) => {
                    let of_file = restorer.restore_file(old, (&dir, name), call)?;
                    lost.extend(of_file.into_iter().map(|what| (path.as_slice(), what)));
                }
            }
        }
        Ok(lost)
    }

    /// Restores the attributes of all directories, after everything else, since they may forbid to
    /// write. `place` is that of the top.
    fn restore_directories(
        &self,
        top: &Dir,
        place: (&Dir, &[u8]),
        durability: Durability,
    ) -> io::Result<Vec<(&[u8], &'static str)>> {
        let (mut lost, mut is_any_unknown) = (Vec::new(), false);
        let mut add = |path, restored: Option<Vec<&'static str>>| {
            is_any_unknown |= restored.is_none();
            lost.extend(restored.into_iter().flatten().map(|what| (path, what)));
        };
        for (path, entry) in self.entries.iter().rev() {
            if let RemovedEntry::Directory(directory) = entry {
                let (dir, name) = place_in(top, path)?;
                add(path.as_slice(), directory.restore((&dir, name), durability)?);
            }
        }
        add(b"".as_slice(), self.top.restore(place, durability)?);
        if is_any_unknown {
            lost.push((b"".as_slice(), "owner and extended attributes of some directories"));
        }
        Ok(lost)
    }
}

fn directory_at(top: &Dir, path: &[u8]) -> io::Result<Dir> {
    if path.is_empty() { top.open_dir(b".") } else { top.descend(path) }
}

/// The directory and the name of a path in a tree.
fn place_in<'a>(top: &Dir, path: &'a [u8]) -> io::Result<(Dir, &'a [u8])> {
    let (above, name) = split_name(path);
    Ok((directory_at(top, above.unwrap_or(b""))?, name))
}
