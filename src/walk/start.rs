//! Where a walk begins: the paths that the caller named.

use crate::error::{Error, ErrorCode};
use crate::text::escape;
use crate::workspace::{Access, Kind, Workspace, WorkspacePath};

/// A file or directory where a walk begins.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) path: WorkspacePath,
    /// Bytes of the paths below it that a filter does not look at: its own, with the `/`.
    pub(crate) base: usize,
    /// Whether a filter let it pass already, as one that an earlier walk came across.
    pub(super) passed: bool,
}

impl Start {
    /// Resolves the paths where a walk begins, in path order, each once and none below another
    /// that is a directory.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], and `INVALID_PATH` for a FIFO, socket or device.
    pub(crate) fn resolve(workspace: &Workspace, paths: &[String]) -> Result<Vec<Start>, Error> {
        if paths.is_empty() {
            return Ok(vec![Start::at(workspace.resolve(".", Access::Read)?)]);
        }
        let mut starts = Vec::new();
        for path in paths {
            let path = workspace.resolve(path, Access::Read)?;
            if path.kind() == Some(Kind::Special) {
                return Err(special(&path));
            }
            // What was named and cannot be read is an error; what a walk meets is counted.
            path.check_readable()?;
            starts.push(Start::at(path));
        }
        starts.sort_by_key(Start::key);
        starts.dedup_by(|next, previous| previous.covers(next));
        Ok(starts)
    }

    fn at(path: WorkspacePath) -> Start {
        let base = match path.relative().len() {
            0 => 0,
            length if path.is_directory() => length + 1,
            _ => path.relative().iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1),
        };
        Start { path, base, passed: false }
    }

    /// An entry that a walk left out, if it is still there.
    pub(crate) fn left_out(workspace: &Workspace, path: &[u8]) -> Option<Start> {
        let path = workspace.resolve(&escape::exact_path(path), Access::Read).ok()?;
        let walkable = path.is_directory() || path.is_file();
        walkable.then(|| Start { passed: true, ..Start::at(path) })
    }

    /// The path with the `/` of a directory, empty for the root.
    pub(super) fn key(&self) -> Vec<u8> {
        let mut key = self.path.relative().to_vec();
        if self.path.is_directory() && !key.is_empty() {
            key.push(b'/');
        }
        key
    }

    fn covers(&self, other: &Start) -> bool {
        let (key, other) = (self.key(), other.key());
        key == other || (self.path.is_directory() && other.starts_with(&key))
    }
}

fn special(path: &WorkspacePath) -> Error {
    Error::new(
        ErrorCode::InvalidPath,
        format!("{path} is a FIFO, socket or device; only regular files are read"),
    )
    .at(path.as_str())
}
