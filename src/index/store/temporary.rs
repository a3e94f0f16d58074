//! The name under which an index is written before it gets its own.

use std::io;
use std::ops::ControlFlow;

use crate::os::{Dir, File, Kind, Rename};
use crate::workspace::{RandomNames, now};

/// Such names, unlike those of edited files, which have other rules.
pub(super) const NAMES: RandomNames = RandomNames { prefix: ".", suffix: ".ripkit-index~" };

/// How many names are tried.
const ATTEMPTS: usize = 16;

/// Only the user may read what it tells of the user's files.
const MODE: u32 = 0o600;

/// Nanoseconds after which nobody writes a file any more that did not change.
const ABANDONED: u64 = 3600 * 1_000_000_000;

/// A name that is taken; dropped, it is free again.
#[derive(Debug)]
pub(super) struct Temporary<'a> {
    dir: &'a Dir,
    name: Vec<u8>,
    named: bool,
}

impl Temporary<'_> {
    /// Makes an empty file with a name that nobody can guess.
    pub(super) fn create(dir: &Dir) -> io::Result<(Temporary<'_>, File)> {
        for _ in 0..ATTEMPTS {
            let name = NAMES.fresh();
            match dir.create_file(&name, MODE) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    let temporary = Temporary { dir, name, named: true };
                    // The umask may have taken more than was meant.
                    file.set_mode(MODE)?;
                    return Ok((temporary, file));
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Gives the file its own name, in the place of whatever has that.
    pub(super) fn rename(mut self, name: &[u8]) -> io::Result<()> {
        self.dir.rename(&self.name, (self.dir, name), Rename::Replace)?;
        self.named = false;
        Ok(())
    }
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if self.named {
            // What cannot be removed now is swept by a later write.
            let _ = self.dir.remove_file(&self.name);
        }
    }
}

/// Removes what killed processes left in a directory. Nothing here is worth an error: a leftover
/// costs room and no more.
pub(super) fn sweep(dir: &Dir) {
    let Ok(listing) = dir.open_dir(b".") else { return };
    let mut left = Vec::new();
    let listed = listing.list(|name, kind| {
        if kind == Kind::File && NAMES.include(name) {
            left.push(name.to_vec());
        }
        ControlFlow::Continue(())
    });
    if listed.is_ok() {
        left.iter().filter(|name| is_abandoned(dir, name)).for_each(|name| {
            let _ = dir.remove_file(name);
        });
    }
}

/// A time to come is as good as a time long past: some clock was wrong.
fn is_abandoned(dir: &Dir, name: &[u8]) -> bool {
    dir.stat(name).is_ok_and(|stat| {
        let modified = i64::try_from(stat.modified).unwrap_or(i64::MIN);
        now().abs_diff(modified) > ABANDONED
    })
}
