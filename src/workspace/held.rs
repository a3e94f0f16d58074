//! A file that one call is about to change.

use std::sync::Arc;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, Identity};
use crate::workspace::expected::Expected;
use crate::workspace::locks::{FileLock, Key};
use crate::workspace::names::names_directory;
use crate::workspace::present::OpenFile;
use crate::workspace::refusal::{exists, gone, not_a_file};
use crate::workspace::{Access, Workspace, WorkspacePath};

/// The directory of keys that are whole paths.
const NOWHERE: Identity = Identity { device: 0, inode: 0 };

/// The right to change a file or to make it: no other call of this workspace changes it
/// meanwhile, and no other process that uses this crate.
#[derive(Debug)]
pub(crate) struct WriteGuard {
    pub(super) workspace: Workspace,
    pub(super) path: WorkspacePath,
    pub(super) present: Option<OpenFile>,
    /// Whether the caller wants to make the file, and not to write over one.
    pub(super) expects_none: bool,
    _lock: FileLock,
}

impl Workspace {
    /// Finds a file to change or to make, and keeps others from changing it.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`]; `INVALID_PATH` for anything but a regular file,
    /// `PERMISSION_DENIED` for a file that must not be written, `TIMEOUT` and `CANCELLED` while
    /// waiting for others.
    pub(crate) fn lock_for_write(&self, path: &str, call: &Call) -> Result<WriteGuard, Error> {
        let (path, lock) = self.lock_to_write(path, call)?;
        let (parent, name) = path.entry();
        let present = OpenFile::open(parent, name, &path, call)?;
        if let Some(present) = &present {
            check_writable(parent, name, present, &path)?;
        }
        Ok(WriteGuard { workspace: self.clone(), path, present, expects_none: false, _lock: lock })
    }

    fn lock_to_write(&self, text: &str, call: &Call) -> Result<(WorkspacePath, FileLock), Error> {
        loop {
            let path = self.resolve(text, Access::Write)?;
            if names_directory(text) {
                return Err(not_a_file(&path, "names a directory"));
            }
            let lock = self.lock(&[&path], call)?;
            // The call that was waited for may have made the directories above the file: then it
            // has another name now, and may exist.
            let has_parents = !path.entry().1.contains(&b'/');
            if has_parents || key(&path)? == key(&self.resolve(text, Access::Write)?)? {
                return Ok((path, lock));
            }
        }
    }

    /// Waits until no other call changes one of these entries.
    pub(super) fn lock(&self, paths: &[&WorkspacePath], call: &Call) -> Result<FileLock, Error> {
        let mut keys = Vec::with_capacity(paths.len() * 2);
        for path in paths {
            // Below directories that are still missing, the second is what all have in common.
            keys.extend([key(path)?, Key { directory: NOWHERE, name: path.relative().to_vec() }]);
        }
        self.0.locks.lock(keys, call).map_err(|why| {
            let path = paths.first().map_or("", |path| path.as_str());
            Error::stopped(why, &format!("{path} was free to be changed")).at(path)
        })
    }
}

fn key(path: &WorkspacePath) -> Result<Key, Error> {
    let (parent, name) = path.entry();
    let stat = parent.stat(b".").map_err(|error| Error::io("examine", path.as_str(), error))?;
    Ok(Key { directory: stat.identity, name: name.to_vec() })
}

/// A file without any write permission is left alone, also by those whom permissions do not bind.
fn check_writable(
    parent: &Dir,
    name: &[u8],
    present: &OpenFile,
    path: &WorkspacePath,
) -> Result<(), Error> {
    if present.stat.is_read_only() {
        let message = format!("cannot write {path}: the file is read-only");
        return Err(Error::new(ErrorCode::PermissionDenied, message)
            .at(path.as_str())
            .with_hint("Ask for its permissions to be changed if it should be written."));
    }
    parent.check_writable(name).map_err(|error| Error::io("write", path.as_str(), error))
}

impl WriteGuard {
    /// The checked path.
    pub(crate) fn path(&self) -> &WorkspacePath {
        &self.path
    }

    /// Bytes of the file, or `None` if there is none.
    pub(crate) fn size(&self) -> Option<u64> {
        self.present.as_ref().map(|present| present.stat.size)
    }

    /// Reads the whole file, if there is one.
    ///
    /// # Errors
    /// `TOO_LARGE` over `limit` bytes, and failures to read.
    pub(crate) fn read(&mut self, limit: usize) -> Result<(), Error> {
        self.present.as_mut().map_or(Ok(()), |present| present.read(limit, &self.path))
    }

    /// The first bytes of the file, at most `limit` of them; none if there is no file.
    ///
    /// # Errors
    /// Failures to read.
    pub(crate) fn beginning(&self, limit: usize) -> Result<Vec<u8>, Error> {
        let Some(present) = &self.present else { return Ok(Vec::new()) };
        let failed = |error| Error::io("read", self.path.as_str(), error);
        let mut content = vec![0; limit];
        let mut length = 0;
        while let Some(room) = content.get_mut(length..).filter(|room| !room.is_empty()) {
            match present.file.read_at(room, length as u64).map_err(failed)? {
                0 => break,
                count => length += count,
            }
        }
        content.truncate(length);
        Ok(content)
    }

    /// What was read; `None` if nothing was.
    pub(crate) fn content(&self) -> Option<&[u8]> {
        self.present.as_ref()?.content.as_deref()
    }

    /// Refuses a file of another version than `expected`.
    ///
    /// # Errors
    /// `CONFLICT`, which tells the present version; `FILE_ALREADY_EXISTS` where none was expected.
    pub(crate) fn expect(&mut self, expected: Expected, call: &Call) -> Result<(), Error> {
        match (&mut self.present, expected) {
            (None, Expected::Absent) => {
                self.expects_none = true;
                Ok(())
            }
            (None, Expected::Version(_)) => Err(gone(&self.path)),
            (Some(present), Expected::Version(version)) => {
                present.expect(version, call, &self.path)
            }
            (Some(present), Expected::Absent) => {
                let version = present.version(call, &self.path)?;
                Err(exists(&self.path, &format!(", its version is {version}"))
                    .with_hint("Choose another name, or pass that version to replace it."))
            }
        }
    }
}

/// The handle and name of a file that exists, for the steps that work on it.
pub(super) fn entry(path: &WorkspacePath) -> (Arc<Dir>, Vec<u8>) {
    let (parent, name) = path.entry();
    (parent.clone(), name.to_vec())
}
