//! Where a walk begins: the paths that the caller named.

use std::sync::Arc;

use crate::arguments::{MAX_PATHS, distinct};
use crate::context::Call;
use crate::error::{Error, ErrorCode};
use crate::output::ReadError;
use crate::text::escape;
use crate::walk::aliases::PathAliases;
use crate::walk::handle::{DirHandle, OpenCount, OpenDir};
use crate::workspace::{Access, Kind, Workspace, WorkspacePath};

/// A file or directory where a walk begins.
#[derive(Clone, Debug)]
pub(crate) struct WalkRoot {
    /// The real path relative to the root, empty for the root itself.
    path: Vec<u8>,
    is_directory: bool,
    /// The directory that holds it, and its name in there.
    parent: DirHandle,
    name: Vec<u8>,
    /// The path as the caller named it, where links lead from there to `path`.
    pub(super) named: Option<Vec<u8>>,
    /// Bytes of the paths below it that a filter does not look at: its own, with the `/`.
    pub(crate) base: usize,
    /// Whether a filter let it pass already, as one that an earlier walk came across.
    pub(super) passed: bool,
}

/// The paths that a call named, of which some may be of no use.
#[derive(Debug, Default)]
pub(crate) struct WalkRoots {
    /// Where the walk begins, in path order.
    pub(crate) roots: Vec<WalkRoot>,
    /// What cannot be looked at, in the order of the call.
    pub(crate) missing: Vec<ReadError>,
}

impl WalkRoots {
    /// Resolves the paths as [`WalkRoot::resolve`] does. Those that cannot be looked at are `missing`,
    /// as long as another one can.
    ///
    /// # Errors
    /// The first of those of [`WalkRoot::resolve`], if no path can be looked at; `INVALID_ARGUMENT`
    /// for more than [`MAX_PATHS`] paths; `CANCELLED` and `TIMEOUT`.
    pub(crate) fn resolve(
        workspace: &Workspace,
        paths: &[String],
        call: &Call,
    ) -> Result<WalkRoots, Error> {
        let paths = distinct("path", paths, MAX_PATHS)?;
        if paths.is_empty() {
            return Ok(WalkRoots {
                roots: WalkRoot::resolve(workspace, &[])?,
                missing: Vec::new(),
            });
        }
        let count = OpenCount::default();
        let (mut roots, mut missing, mut first) = (Vec::new(), Vec::new(), None);
        for path in paths {
            if let Some(why) = call.stop_reason() {
                return Err(Error::stopped(why, "all paths were looked at"));
            }
            match WalkRoot::of(workspace, path, &count) {
                Ok(start) => roots.push(start),
                Err(error) => {
                    let reason = error.to_string();
                    missing.push(ReadError { path: path.to_owned(), reason });
                    first = first.or(Some(error));
                }
            }
        }
        match first {
            Some(error) if roots.is_empty() => Err(error),
            _ => Ok(WalkRoots { roots: in_order(roots), missing }),
        }
    }
}

impl WalkRoot {
    /// Resolves the paths where a walk begins, in path order, each once and none below another
    /// that is a directory; without any path, the root.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], and `INVALID_PATH` for a FIFO, socket or device.
    pub(crate) fn resolve(workspace: &Workspace, paths: &[String]) -> Result<Vec<WalkRoot>, Error> {
        let count = OpenCount::default();
        if paths.is_empty() {
            return Ok(vec![WalkRoot::of(workspace, ".", &count)?]);
        }
        let roots = paths.iter().map(|path| WalkRoot::of(workspace, path, &count));
        Ok(in_order(roots.collect::<Result<_, _>>()?))
    }

    fn of(workspace: &Workspace, text: &str, count: &OpenCount) -> Result<WalkRoot, Error> {
        let path = workspace.resolve(text, Access::Read)?;
        if path.kind() == Some(Kind::Special) {
            return Err(special(&path));
        }
        // What was named and cannot be read is an error; what a walk meets is counted.
        path.check_readable()?;
        let named = workspace.spelling(text, &path);
        Ok(WalkRoot { named, ..WalkRoot::at(workspace, &path, count)? })
    }

    fn at(
        workspace: &Workspace,
        path: &WorkspacePath,
        count: &OpenCount,
    ) -> Result<WalkRoot, Error> {
        let (relative, is_directory) = (path.relative().to_vec(), path.is_directory());
        let inside = relative.iter().rposition(|byte| *byte == b'/').map_or(0, |at| at + 1);
        let base = match relative.len() {
            0 => 0,
            length if is_directory => length + 1,
            _ => inside,
        };
        let (parent, name) = path.entry();
        let above: Arc<[u8]> = relative.get(..inside).unwrap_or(&relative).into();
        let opened =
            parent.traverse(b".").map_err(|error| Error::io("open", path.as_str(), error))?;
        let parent = DirHandle::keep(&OpenDir::new(opened, count), workspace.root_handle(), &above);
        Ok(WalkRoot {
            path: relative,
            is_directory,
            parent,
            name: name.to_vec(),
            named: None,
            base,
            passed: false,
        })
    }

    /// How what lies below these starts is shown.
    pub(crate) fn aliases(roots: &[WalkRoot]) -> PathAliases {
        let named =
            roots.iter().filter_map(|start| Some((start.path.clone(), start.named.clone()?)));
        PathAliases::new(named.collect())
    }

    /// An entry that a walk left out, if it is still there.
    pub(crate) fn reopen(
        workspace: &Workspace,
        path: &[u8],
        count: &OpenCount,
    ) -> Option<WalkRoot> {
        let path = workspace.resolve(&escape::exact_path(path), Access::Read).ok()?;
        let walkable = path.is_directory() || path.is_file();
        let start = walkable.then(|| WalkRoot::at(workspace, &path, count).ok()).flatten()?;
        Some(WalkRoot { passed: true, ..start })
    }

    /// The real path relative to the root, empty for the root itself.
    pub(crate) fn path(&self) -> &[u8] {
        &self.path
    }

    pub(crate) fn is_directory(&self) -> bool {
        self.is_directory
    }

    /// The directory that holds it, and its name in there.
    pub(super) fn entry(&self) -> (&DirHandle, &[u8]) {
        (&self.parent, &self.name)
    }

    /// The path with the `/` of a directory, empty for the root.
    pub(super) fn key(&self) -> Vec<u8> {
        let mut key = self.path.clone();
        if self.is_directory && !key.is_empty() {
            key.push(b'/');
        }
        key
    }

    fn covers(&self, other: &WalkRoot) -> bool {
        let (key, other) = (self.key(), other.key());
        key == other || (self.is_directory && other.starts_with(&key))
    }
}

/// Sorts starts by path, and drops those that others cover. Where two of them name the same file by
/// different paths, it is shown by its real one.
fn in_order(mut roots: Vec<WalkRoot>) -> Vec<WalkRoot> {
    roots.sort_by_cached_key(WalkRoot::key);
    roots.dedup_by(|next, previous| {
        let covers = previous.covers(next);
        if covers && previous.named.is_some() {
            let shown =
                WalkRoot::aliases(std::slice::from_ref(previous)).shown(&next.path).into_owned();
            if shown != *next.named.as_ref().unwrap_or(&next.path) {
                previous.named = None;
            }
        }
        covers
    });
    roots
}

fn special(path: &WorkspacePath) -> Error {
    Error::new(
        ErrorCode::InvalidPath,
        format!("{path} is a FIFO, socket or device; only regular files are read"),
    )
    .at(path.as_str())
}
