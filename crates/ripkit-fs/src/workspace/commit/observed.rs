//! A commit as a host sees it: asked before, told after, and logged. Nothing else reviews, reports and logs.

use std::borrow::Cow;
use std::sync::Arc;

use crate::byte_path::joined;
use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::escape;
use crate::os::{File, Kind};
use crate::workspace::change::{Change, ChangeKind, Observer};
use crate::workspace::change_log::{After, Before, LoggedChange, MAX_BYTES as MAX_LOGGED_BYTES};
use crate::workspace::commit::entry::{Entry, Rename, Seen, Staged};
use crate::workspace::commit::stored_content::StoredContent;
use crate::workspace::commit::{Committed, Transaction};
use crate::workspace::copy_content::{check_stop, failed};
use crate::workspace::journal::FileMark;
use crate::workspace::open_file::OpenFile;
use crate::workspace::restore::shown_content;
use crate::workspace::{MAX_FILE_BYTES, Version};

impl Transaction {
    pub(super) fn is_observed(&self) -> bool {
        Observer::of(&self.workspace).is_some()
    }

    /// Commits with the host's consent, reports the changes, and adds them to the log if they are to be
    /// logged.
    pub(super) fn commit_observed(
        mut self,
        is_logged: bool,
        call: &Call,
    ) -> Result<Committed, Error> {
        let workspace = self.workspace.clone();
        let Some(observer) = Observer::of(&workspace) else { return self.apply(call) };
        self.keep_old(observer.shows_content(), call)?;
        let shows = Shows { content: observer.shows_content(), strictly: true };
        self.each_change(shows, call, |change| observer.review(change))?;
        let mut committed = self.apply(call)?;
        // The changes are made: what cannot be read back any more is not reported.
        let shows = Shows { strictly: false, ..shows };
        let reported = self.each_change(shows, call, |change| {
            observer.report(change);
            Ok(())
        });
        committed.notes.extend(reported.err().map(|error| error.message().to_owned()));
        if is_logged {
            let logged = self.logged(&mut committed)?;
            observer.log(call, logged);
        }
        Ok(committed)
    }

    /// Keeps what the changes will replace and remove, and reads what they will restore and copy.
    fn keep_old(&mut self, shows_content: bool, call: &Call) -> Result<(), Error> {
        for index in 0..self.entries.len() {
            let entry = &self.entries[index];
            let content = match &entry.change {
                Staged::Restore(old) if shows_content => {
                    let content = check_stop(call).and_then(|()| shown_content(old));
                    content.map_err(|error| failed("read", &entry.text, error, call))?
                }
                // It may be written while it is copied: what is shown is what the copy gets.
                Staged::Copy(source) if shows_content => source.content()?,
                Staged::Write(_)
                | Staged::Remove
                | Staged::Link(_)
                | Staged::Rename(Rename { tree: None, .. }) => {
                    self.keep_old_of(index, call)?;
                    continue;
                }
                _ => continue,
            };
            let content = content.map(|content| self.store(index, Cow::Owned(content)));
            self.entries[index].content = content.transpose()?;
        }
        Ok(())
    }

    fn keep_old_of(&mut self, index: usize, call: &Call) -> Result<(), Error> {
        let entry = &self.entries[index];
        let path = entry.place(&self.workspace)?.into_owned();
        let is_removed = matches!(entry.change, Staged::Remove) || entry.is_superseded();
        let is_moved = matches!(entry.change, Staged::Rename(Rename { content: None, .. }));
        let is_file = path.kind() == Some(Kind::File) || entry.file.is_some();
        if is_moved {
            if entry.seen.is_none() {
                self.entries[index].seen = Some(Seen::at(&path)?);
            }
            return Ok(());
        }
        // What is reviewed and logged must be what is removed.
        if is_removed && is_file && entry.path.is_some() && entry.seen.is_none() {
            self.open(index, None, call)?;
        }
        let entry = &mut self.entries[index];
        let too_large = |read: Result<(), Error>| match read {
            Err(error) if error.code() == ErrorCode::TooLarge => Ok(()),
            read => read,
        };
        match &mut entry.file {
            Some(file) if file.content().is_none() => {
                too_large(file.read(MAX_FILE_BYTES, &path))?;
            }
            None if is_file && entry.content.is_none() => {
                too_large(self.read(index, MAX_FILE_BYTES, call).map(drop))?;
            }
            Some(_) | None => {}
        }
        if is_removed && self.entries[index].file.is_none() {
            let removed = Before::removed(&path)?;
            self.entries[index].removed = Some(removed);
        }
        Ok(())
    }

    /// Calls `each` with the staged changes as a host sees them, one at a time.
    fn each_change(
        &self,
        shows: Shows,
        call: &Call,
        each: impl Fn(&Change<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for entry in &self.entries {
            let load = |content: Option<&StoredContent>| match content {
                Some(content) if shows.content => {
                    let loaded = content.load().map(|content| Some(content.into_owned()));
                    loaded.map_err(|error| Error::io("read", &entry.text, error))
                }
                _ => Ok(None),
            };
            // Of a file that is restored or copied, it is the new one.
            let stored = load(entry.content.as_ref())?;
            let old = entry.file.as_ref().and_then(|file| file.content()).or(stored.as_deref());
            let change = |kind| Change::new(kind, &entry.text, call);
            let kind = if entry.existed() { ChangeKind::Modify } else { ChangeKind::Create };
            match &entry.change {
                Staged::Write(new) => {
                    let new = load(Some(new))?;
                    let change = change(kind).with_content(old, new.as_deref());
                    each(&change.with_mode(entry.mode_change().map(|mode| mode.after)))
                }
                Staged::Remove => each(&change(ChangeKind::Delete).with_content(old, None)),
                Staged::Rename(Rename { to, content, .. }) => {
                    let new = load(content.as_ref())?;
                    let moved = Change::new(ChangeKind::Move, self.path(*to), call);
                    let old = if content.is_some() { old } else { None };
                    let mode = self.entries[*to].mode.and_then(|mode| entry.mode_to(mode));
                    let mode = mode.map(|mode| mode.after);
                    let moved = moved.with_from(&entry.text).with_content(old, new.as_deref());
                    each(&moved.with_mode(mode))
                }
                Staged::Copy(_) | Staged::Restore(_) => each(&change(kind).with_content(None, old)),
                Staged::Link(text) => each(&change(kind).with_content(old, None).with_link(text)),
                Staged::MakeDirectory => each(&change(ChangeKind::CreateDirectory)),
                Staged::RemoveDirectory | Staged::RemoveTree(_) => {
                    each(&change(ChangeKind::Delete))
                }
                Staged::RestoreTree(tree) if shows.content => {
                    for (below, kind, file) in tree.changes() {
                        let path = joined(&entry.relative, below);
                        let path = escape::exact_path(&path);
                        let content = file.map(|file| shows.content_of(&path, file, call));
                        let content = content.transpose()?.flatten();
                        each(
                            &Change::new(kind, &path, call).with_content(None, content.as_deref()),
                        )?;
                    }
                    Ok(())
                }
                Staged::None | Staged::RestoreTree(_) => Ok(()),
            }?;
        }
        Ok(())
    }

    /// The changes that were made, as they are logged.
    fn logged(&mut self, committed: &mut Committed) -> Result<Vec<LoggedChange>, Error> {
        let mut logged = Vec::new();
        let targets: Vec<Vec<u8>> =
            self.entries.iter().map(|entry| entry.relative.clone()).collect();
        let modes: Vec<Option<u32>> = self.entries.iter().map(|entry| entry.mode).collect();
        let sizes = self.entries.iter().filter_map(|entry| entry.content.as_ref());
        let is_too_large = sizes.map(StoredContent::len).sum::<usize>() > MAX_LOGGED_BYTES;
        // Those of all files are removed again with the first change.
        let mut directories = std::mem::take(&mut committed.directories);
        let workspace = self.workspace.clone();
        for entry in &mut self.entries {
            let path = entry.relative.clone();
            let (before, after) = match &entry.change {
                Staged::None
                | Staged::Restore(_)
                | Staged::RemoveDirectory
                | Staged::RestoreTree(_) => continue,
                Staged::Write(new) => {
                    let after = After::Content(version(new, &entry.text)?);
                    let before = if entry.is_superseded() {
                        entry.removed()
                    } else {
                        entry.replaced(is_too_large)?
                    };
                    (before, after)
                }
                Staged::Link(_) => {
                    let before = if entry.existed() { entry.removed() } else { Before::Nothing };
                    (before, After::at(&workspace, &path))
                }
                Staged::Copy(_) => (Before::Nothing, After::at(&workspace, &path)),
                Staged::Remove => (entry.removed(), After::Nothing),
                Staged::RemoveTree(_) => {
                    let removed = committed.removed.take().expect("a tree was removed");
                    (removed, After::Nothing)
                }
                Staged::MakeDirectory => {
                    // The last one is the change itself, unless another process made it.
                    if directories.pop_if(|last| *last == path).is_none() {
                        continue;
                    }
                    (Before::Nothing, After::Directory)
                }
                Staged::Rename(Rename { to, content, .. }) => {
                    let path = targets[*to].clone();
                    let (after, mark) = match content {
                        None => entry.moved(After::at(&workspace, &path)),
                        Some(new) => {
                            (After::Content(version(new, &entry.text)?), entry.seen_mark())
                        }
                    };
                    let before = Before::At { from: entry.relative.clone(), mark };
                    let directories = std::mem::take(&mut directories);
                    let mode = modes[*to].and_then(|mode| entry.mode_to(mode));
                    let is_replaced = content.is_some();
                    let replaced = is_replaced.then(|| entry.replaced(is_too_large));
                    let moved =
                        LoggedChange { path: path.clone(), before, after, mode: None, directories };
                    logged.push(moved);
                    if let Some(before) = replaced.transpose()? {
                        let directories = Vec::new();
                        logged.push(LoggedChange { path, before, after, mode, directories });
                    }
                    continue;
                }
            };
            let directories = std::mem::take(&mut directories);
            let mode = entry.mode_change();
            logged.push(LoggedChange { path, before, after, mode, directories });
        }
        Ok(logged)
    }
}

/// How changes are shown to a host.
#[derive(Clone, Copy)]
struct Shows {
    content: bool,
    /// Whether a file whose content cannot be read is an error.
    strictly: bool,
}

impl Shows {
    /// The content of a file that is restored.
    fn content_of(self, path: &str, file: &File, call: &Call) -> Result<Option<Vec<u8>>, Error> {
        if !self.strictly {
            return Ok(shown_content(file).unwrap_or(None));
        }
        let content = check_stop(call).and_then(|()| shown_content(file));
        content.map_err(|error| failed("read", path, error, call))
    }
}

impl Entry {
    /// What was at the path, as it is logged, of a file that got new content.
    fn replaced(&mut self, is_too_large: bool) -> Result<Before, Error> {
        let Some(Seen::Entry { stat, .. }) = self.seen else { return Ok(Before::Nothing) };
        let mark = FileMark::from(&stat);
        let held = self.file.take().map(OpenFile::into_content);
        Ok(match (held, &self.content) {
            (Some(None), _) | (None, None) => Before::too_large(),
            (Some(Some(old)), _) => Before::Content { old: Arc::new(old), mark },
            (None, Some(_)) if is_too_large => {
                Before::NotKept("it is larger than the whole log of changes")
            }
            (None, Some(StoredContent::Memory(old))) => Before::Content { old: old.clone(), mark },
            (None, Some(old)) => {
                let old = old.load().map_err(|error| Error::io("read", &self.text, error))?;
                Before::Content { old: Arc::new(old.into_owned()), mark }
            }
        })
    }

    /// What was removed, as it is logged. It is gone, so that the call has succeeded, whatever can be
    /// learned of it.
    fn removed(&mut self) -> Before {
        match (self.file.take(), self.removed.take()) {
            (Some(file), _) => Before::removed_file(file.into_file())
                .unwrap_or(Before::NotKept("the file could not be examined")),
            (None, Some(removed)) => removed,
            (None, None) => Before::too_large(),
        }
    }

    fn seen_mark(&self) -> Option<FileMark> {
        self.seen.and_then(|seen| seen.stat().map(FileMark::from))
    }

    /// What was moved here, with what it was before. A rename keeps the file as it is, which may have
    /// changed since the path was resolved.
    fn moved(&self, after: After) -> (After, Option<FileMark>) {
        let of_path = || self.path.as_ref().and_then(|path| path.stat().map(FileMark::from));
        let mark = match (self.seen_mark().or_else(of_path), after) {
            (Some(mark), After::Entry(now)) if mark.is_same_file(&now) => Some(now),
            (mark, _) => mark,
        };
        (after, mark)
    }
}

fn version(content: &StoredContent, text: &str) -> Result<Version, Error> {
    let content = content.load().map_err(|error| Error::io("read", text, error))?;
    Ok(Version::of(&content))
}
