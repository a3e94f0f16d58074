//! Files beside a target, in which new content is made ready before it takes the target's place.

use std::io;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::context::Call;
use crate::os::{Dir, File, Kind, Rename};
use crate::workspace::random_names::RandomNames;

/// Names of temporary files: all of this shape are ours.
const NAMES: RandomNames = RandomNames { prefix: ".", suffix: ".ripkit~" };

/// What names of files end with that were written by others and must not be lost.
const KEPT: &[u8] = b".ripkit-kept";

/// How many names are tried.
const ATTEMPTS: usize = 16;

/// How many entries are read between two looks at the clock.
const CHECK_EVERY: usize = 256;

/// A temporary file; dropped, it is removed.
#[derive(Debug)]
pub(super) struct Temporary {
    dir: Arc<Dir>,
    name: Vec<u8>,
    file: File,
    named: bool,
}

impl Temporary {
    /// Makes an empty file with a name that nobody can guess, and holds a lock on it by which
    /// [`sweep`] knows that it is in use. `mode` is what the umask then narrows.
    pub(super) fn create(dir: &Arc<Dir>, mode: u32) -> io::Result<Temporary> {
        for _ in 0..ATTEMPTS {
            let name = random_name();
            let file = match dir.create_file(&name, mode) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                created => created?,
            };
            let temporary = Temporary { dir: dir.clone(), name, file, named: true };
            // Somebody may have swept the file away before the lock was ours.
            let is_ours = temporary.file.try_lock().unwrap_or(true);
            if is_ours && temporary.file.stat()?.links > 0 {
                return Ok(temporary);
            }
        }
        Err(io::Error::other("temporary files vanish as soon as they are made"))
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// Forgets the name, which now is somebody else's or nobody's.
    pub(super) fn renamed(&mut self) {
        self.named = false;
    }

    /// Lets what has the name now stay, under one that no write sweeps away; tells that name.
    pub(super) fn keep_aside(mut self) -> Vec<u8> {
        self.named = false;
        keep_aside(&self.dir, &self.name)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.named {
            // What cannot be removed now is swept by a later write.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

/// Tells whether a name has the shape of a temporary file's.
pub(crate) fn is_temporary(name: &[u8]) -> bool {
    NAMES.include(name)
}

/// A name for a temporary file, which nobody can guess.
pub(super) fn random_name() -> Vec<u8> {
    NAMES.fresh()
}

/// Removes the temporary files in a directory that a killed process left behind; of a huge
/// directory, those that are met before the call is over.
pub(super) fn sweep(dir: &Dir, call: &Call) {
    let Ok(listing) = dir.open_dir(b".") else { return };
    let mut abandoned = Vec::new();
    let mut seen = 0_usize;
    let listed = listing.list(|name, kind| {
        if kind == Kind::File && is_temporary(name) {
            abandoned.push(name.to_vec());
        }
        seen += 1;
        let is_over = seen.is_multiple_of(CHECK_EVERY) && call.stop_reason().is_some();
        if is_over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    // A directory that cannot be listed keeps its leftovers; the write itself goes on.
    if listed.is_ok() {
        for name in abandoned {
            remove_abandoned(dir, &name);
        }
    }
}

/// Removes a temporary file unless somebody holds its lock.
fn remove_abandoned(dir: &Dir, name: &[u8]) {
    let Ok(file) = dir.open_file(name) else { return };
    if matches!(file.try_lock(), Ok(true)) {
        // Whoever else swept it was faster.
        let _ = dir.remove_file(name);
    }
}

/// Gives what lies under a temporary name one that no write sweeps away; tells the name it has.
pub(super) fn keep_aside(dir: &Dir, name: &[u8]) -> Vec<u8> {
    let kept = [name.strip_suffix(NAMES.suffix.as_bytes()).unwrap_or(name), KEPT].concat();
    match dir.rename(name, (dir, &kept), Rename::Replace) {
        Ok(()) => kept,
        Err(_) => name.to_vec(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_is_over_sweeps_no_huge_directory_to_its_end() {
        let root = tempfile::tempdir().unwrap();
        let dir = Dir::open_ambient(root.path()).unwrap();
        let count = 4 * CHECK_EVERY;
        (0..count).for_each(|_| drop(dir.create_file(&random_name(), 0o600).unwrap()));
        let left = || {
            let mut left = 0;
            let counted = dir.open_dir(b".").unwrap().list(|_, _| {
                left += 1;
                ControlFlow::Continue(())
            });
            counted.map(|()| left).unwrap()
        };
        let cancel = crate::Cancel::new();
        cancel.cancel();
        sweep(&dir, &Call::default().with_cancel(cancel));
        assert_eq!(left(), count - CHECK_EVERY);
        sweep(&dir, &Call::default());
        assert_eq!(left(), 0);
    }
}
