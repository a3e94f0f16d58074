//! Writing over a file where another one cannot take its place.
//!
//! Other names of the same file keep showing it, and its directory need not be writable. It is
//! not atomic: a reader may see a part, and a killed process leaves one. Room is reserved before
//! anything is changed, and a failure on the way puts the old content back.

use std::borrow::Cow;
use std::io;

use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::os::{File, split_at_count};
use crate::workspace::parents::commit;
use crate::workspace::present::{OpenFile, read_whole};
use crate::workspace::refusal::{changed, too_large};
use crate::workspace::{Durability, WorkspacePath};

/// The largest file whose old content is kept to put it back, in bytes.
const MAX_UNDO: usize = 256 << 20;

/// Writes `content` over the file, and says why this was necessary.
pub(super) fn write(
    (path, call): (&WorkspacePath, &Call),
    present: &OpenFile,
    content: &[u8],
    durability: Durability,
    why: &str,
) -> Result<Vec<String>, Error> {
    let failed = |error| Error::io("write", path.as_str(), error);
    let old = match &present.content {
        Some(content) => Cow::Borrowed(content),
        None => Cow::Owned(read_old(path, present)?),
    };
    let (parent, name) = path.entry();
    let file = parent.open_to_write(name).map_err(failed)?;
    let now = file.stat().map_err(failed)?;
    if !present.is_unchanged(&now) || !present.content_is_same().map_err(failed)? {
        return Err(changed(path, "somebody else wrote it meanwhile"));
    }
    commit(path, call)?;
    if content.len() > old.len() {
        file.reserve(content.len() as u64).map_err(failed)?;
    }
    let written = put(&file, &old, content).and_then(|()| durability.sync_file(&file));
    if let Err(error) = written {
        return Err(undo(path, &file, &old, error));
    }
    let mut notes = vec![format!("the file was written in place, not atomically, because {why}")];
    // Writing takes away the bits that give rights, where they are not ours to give.
    if !keep_mode(&file, present.stat.mode) {
        notes.push("the permissions of the file could not be kept".to_owned());
    }
    Ok(notes)
}

fn keep_mode(file: &File, mode: u32) -> bool {
    file.stat().is_ok_and(|now| now.mode == mode) || file.set_mode(mode).is_ok()
}

fn read_old(path: &WorkspacePath, present: &OpenFile) -> Result<Vec<u8>, Error> {
    if present.stat.size > MAX_UNDO as u64 {
        return Err(too_large(path, present.stat.size, MAX_UNDO));
    }
    let size = usize::try_from(present.stat.size).unwrap_or(MAX_UNDO);
    let old = read_whole(&present.file, size, MAX_UNDO);
    let old = old.map_err(|error| Error::io("read", path.as_str(), error))?;
    if old.len() > MAX_UNDO {
        return Err(too_large(path, old.len() as u64, MAX_UNDO));
    }
    Ok(old)
}

/// Writes from the first byte that differs. What other processes append meanwhile is kept: the file
/// is made longer by appending too, and before it is cut what is behind the old end is moved.
fn put(file: &File, old: &[u8], content: &[u8]) -> io::Result<()> {
    let same = old.iter().zip(content).take_while(|(old, new)| old == new).count();
    let (_, changed) = split_at_count(content, same)?;
    let end = old.len() as u64;
    match content.get(old.len()..) {
        Some(longer @ [_, ..]) => {
            let at = file.append(longer)?;
            let appended = read_range(file, end, at)?;
            let changed = [changed, &*appended].concat();
            file.write_at(&changed, same as u64)
        }
        Some([]) => file.write_at(changed, same as u64),
        None => {
            file.write_at(changed, same as u64)?;
            // Between this look and the cut nothing keeps an append.
            let appended = read_range(file, end, file.stat()?.size)?;
            file.write_at(&appended, content.len() as u64)?;
            file.set_size((content.len() + appended.len()) as u64)
        }
    }
}

/// What is between two places of a file; nothing if there is nothing.
fn read_range(file: &File, start: u64, end: u64) -> io::Result<Vec<u8>> {
    let length = usize::try_from(end.saturating_sub(start)).unwrap_or(usize::MAX);
    if length > MAX_UNDO {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; length];
    let mut at = 0;
    while let Some(room) = bytes.get_mut(at..).filter(|room| !room.is_empty()) {
        match file.read_at(room, start + at as u64)? {
            0 => break,
            count => at += split_at_count(room, count)?.0.len(),
        }
    }
    bytes.truncate(at);
    Ok(bytes)
}

fn undo(path: &WorkspacePath, file: &File, old: &[u8], error: io::Error) -> Error {
    let undone = file
        .write_at(old, 0)
        .and_then(|()| file.set_size(old.len() as u64))
        .and_then(|()| file.sync());
    match undone {
        Ok(()) => Error::io("write", path.as_str(), error),
        Err(again) => {
            let message = format!(
                "cannot write {path}: {error}; putting the old content back failed too: {again}"
            );
            Error::new(ErrorCode::of_io(&error), message)
                .at(path.as_str())
                .because(error)
                .with_hint("The content may be damaged: read it.")
        }
    }
}
