//! Files that only grow, each with a new name, in a directory where the oldest make room.

use std::io;
use std::ops::ControlFlow;

use crate::context::Call;
use crate::error::Error;
use crate::os::{Dir, File, Kind};
use crate::workspace::random_names::RandomNames;
use crate::workspace::{Access, Workspace, WorkspacePath};

/// Nobody else need read it.
const PRIVATE: u32 = 0o600;

/// Names of such files.
const NAMES: RandomNames = RandomNames { prefix: "", suffix: ".log" };

/// What an ignore file holds that leaves out all beside it, and itself.
const EVERYTHING: &[u8] = b"*\n";

/// A new file to which bytes are appended.
#[derive(Debug)]
pub(crate) struct SpoolFile {
    path: WorkspacePath,
    file: File,
    length: u64,
}

impl Workspace {
    /// Makes a file with a new name in `directory`, which is made if it does not exist, and
    /// removes the oldest of such files there, so that `most` are left.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`] and of making directories and files.
    pub(crate) fn grow(&self, directory: &str, most: usize) -> Result<SpoolFile, Error> {
        self.make_directory(directory, &Call::default())?;
        let listed = self.resolve(directory, Access::Read)?.open_dir()?;
        remove_oldest(&listed, most.saturating_sub(1));
        let name = NAMES.fresh();
        let name = String::from_utf8_lossy(&name);
        let path = self.resolve(&format!("{directory}/{name}"), Access::Create)?;
        let (parent, name) = path.entry();
        let made = parent.create_file(name, PRIVATE);
        let file = made.map_err(|error| Error::io("make", path.as_str(), error))?;
        Ok(SpoolFile { path, file, length: 0 })
    }

    /// Makes a directory that repositories and searches leave out, by an ignore file in it. One
    /// that existed gets it if `always`, and keeps the one that it has.
    ///
    /// # Errors
    /// Those of making directories and files.
    pub(crate) fn make_ignored(&self, directory: &str, always: bool) -> Result<(), Error> {
        let (_, existed) = self.make_directory(directory, &Call::default())?;
        if existed && !always {
            return Ok(());
        }
        let path = self.resolve(&format!("{directory}/.gitignore"), Access::Create)?;
        if path.exists() {
            return Ok(());
        }
        let (parent, name) = path.entry();
        match parent.create_file(name, PRIVATE).and_then(|file| file.write_at(EVERYTHING, 0)) {
            // Another call was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made.map_err(|error| Error::io("write", path.as_str(), error)),
        }
    }
}

impl SpoolFile {
    /// Its path, relative to the workspace.
    pub(crate) fn path(&self) -> &str {
        self.path.as_str()
    }

    /// Bytes so far.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// Those of writing; how much of `bytes` was written is then unknown.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = self.file.write_at(bytes, self.length);
        self.length += bytes.len() as u64;
        written.map_err(|error| Error::io("write", self.path.as_str(), error))
    }

    /// Removes it again.
    pub(crate) fn discard(self) {
        let (parent, name) = self.path.entry();
        // What cannot be removed makes room for others later.
        let _ = parent.remove_file(name);
    }
}

/// Removes the files that were written first, so that `most` of ours are left.
fn remove_oldest(dir: &Dir, most: usize) {
    let mut ours = Vec::new();
    let listed = dir.list(|name, kind| {
        if kind == Kind::File && NAMES.include(name) {
            ours.push(name.to_vec());
        }
        ControlFlow::Continue(())
    });
    // What cannot be listed or removed stays; the new file is what counts.
    if listed.is_err() || ours.len() <= most {
        return;
    }
    ours.sort_by_cached_key(|name| dir.stat(name).map_or(i128::MAX, |stat| stat.modified));
    for name in ours.iter().take(ours.len() - most) {
        let _ = dir.remove_file(name);
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests look at the files themselves"
)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_oldest_make_room_and_strangers_stay() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        fs::create_dir_all(root.path().join("a/b")).unwrap();
        fs::write(root.path().join("a/b/mine.log"), "x").unwrap();
        let mut made = Vec::new();
        for number in 0..7_u64 {
            let mut file = workspace.grow("a/b", 3).unwrap();
            file.append(b"one ").unwrap();
            file.append(b"two").unwrap();
            assert_eq!(file.length(), 7);
            let path = root.path().join(file.path());
            assert_eq!(fs::read(&path).unwrap(), b"one two");
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1000 + number);
            fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            made.push(path);
        }
        let left: Vec<bool> = made.iter().map(|path| path.exists()).collect();
        assert_eq!(left, [false, false, false, false, true, true, true]);
        assert!(root.path().join("a/b/mine.log").exists());
    }

    #[test]
    fn an_ignore_file_is_written_where_none_is() {
        let root = tempfile::tempdir().unwrap();
        let workspace = Workspace::open(root.path()).unwrap();
        let rules = |directory: &str| {
            fs::read_to_string(root.path().join(directory).join(".gitignore")).ok()
        };
        workspace.make_ignored("new", false).unwrap();
        assert_eq!(rules("new").as_deref(), Some("*\n"));
        fs::create_dir(root.path().join("old")).unwrap();
        workspace.make_ignored("old", false).unwrap();
        assert_eq!(rules("old"), None);
        workspace.make_ignored("old", true).unwrap();
        assert_eq!(rules("old").as_deref(), Some("*\n"));
        fs::write(root.path().join("old/.gitignore"), "mine\n").unwrap();
        workspace.make_ignored("old", true).unwrap();
        assert_eq!(rules("old").as_deref(), Some("mine\n"));
    }
}
