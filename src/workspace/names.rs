//! The text of a path as names, and what the names lead to.

use std::path::Path;
use std::sync::Arc;

use crate::arguments::MAX_PATH_BYTES;
use crate::error::{Error, ErrorCode};
use crate::os::{Dir, Stat};
use crate::text::escape;
use crate::workspace::{Workspace, WorkspacePath};

/// What the names lead to.
pub(super) struct Target {
    pub(super) parent: Arc<Dir>,
    /// The real names from the start directory; the last is the entry itself.
    pub(super) real: Vec<Vec<u8>>,
    /// What is there, or how many of the last names do not exist.
    pub(super) state: Result<Stat, usize>,
    pub(super) outside: bool,
}

impl Target {
    pub(super) fn stat(&self) -> Option<Stat> {
        self.state.ok()
    }

    /// A way through the outside that leads back into the root is a path of the workspace, so
    /// that the host's rules hold for it.
    pub(super) fn come_home(mut self, workspace: &Workspace) -> Target {
        if let Some(below) = self.outside.then(|| strip_root(workspace, &self.real)).flatten() {
            // The root itself is entered by its own handle, as is everything below it.
            if below.is_empty() {
                self.parent = workspace.0.root.clone();
            }
            (self.real, self.outside) = (below, false);
        }
        self
    }

    /// The real path in the workspace.
    pub(super) fn relative(&self) -> Vec<u8> {
        relative(self.real.iter().map(Vec::as_slice), self.outside)
    }

    pub(super) fn into_path(self) -> WorkspacePath {
        let stat = self.stat();
        let missing = self.state.err().unwrap_or(1).max(1);
        let first_missing = self.real.len().saturating_sub(missing);
        let name = match self.real.get(first_missing..) {
            Some([]) | None => b".".to_vec(),
            Some(names) => names.join(&b'/'),
        };
        let relative = self.relative();
        WorkspacePath::new(self.parent, name, relative, stat)
    }
}

/// Names as a path relative to the root; one outside begins with `/`.
pub(super) fn relative<'a>(names: impl Iterator<Item = &'a [u8]>, outside: bool) -> Vec<u8> {
    let mut relative = Vec::new();
    for (index, name) in names.enumerate() {
        if outside || index > 0 {
            relative.push(b'/');
        }
        relative.extend_from_slice(name);
    }
    if outside && relative.is_empty() {
        relative.push(b'/');
    }
    relative
}

/// The text as names below a start directory.
pub(super) struct Names {
    pub(super) start: Arc<Dir>,
    pub(super) list: Vec<Vec<u8>>,
    /// Relaxed mode only: the start is the root of the file system.
    pub(super) outside: bool,
}

impl Names {
    /// The path that was given, normalised, in the form of [`Target::relative`].
    pub(super) fn relative(&self) -> Vec<u8> {
        relative(self.list.iter().map(Vec::as_slice), self.outside)
    }

    pub(super) fn parse(workspace: &Workspace, text: &str, bytes: &[u8]) -> Result<Names, Error> {
        check_text(text, bytes)?;
        let absolute = bytes.first() == Some(&b'/') || Path::new(text).is_absolute();
        let below_root = if absolute {
            normalise(&[], bytes).and_then(|names| strip_root(workspace, &names))
        } else {
            normalise(&[], bytes)
        };
        if let Some(list) = below_root {
            return Ok(Names { start: workspace.0.root.clone(), list, outside: false });
        }
        if !workspace.0.policy.relaxed {
            return Err(outside(text, workspace));
        }
        let start = Dir::root_of_host().map_err(|error| Error::io("open", text, error))?;
        let base = if absolute { Vec::new() } else { names_of(&workspace.0.canonical) };
        // `..` at the root of the file system stays there, as it does everywhere.
        let list = normalise_clamped(&base, bytes);
        Ok(Names { start: Arc::new(start), list, outside: true })
    }
}

fn check_text(text: &str, bytes: &[u8]) -> Result<(), Error> {
    if bytes.is_empty() {
        return Err(invalid("", "the path is empty").with_hint("Use \".\" for the workspace root."));
    }
    if bytes.contains(&0) {
        return Err(invalid("", "the path holds a NUL byte"));
    }
    if bytes.len() > MAX_PATH_BYTES {
        let why = format!("the path is {} bytes long, over {MAX_PATH_BYTES}", text.len());
        return Err(invalid("", &why));
    }
    Ok(())
}

/// The bytes of a path as it is written, without `.` and `..`, relative to the root or absolute.
pub(super) fn spelled(workspace: &Workspace, text: &str, bytes: &[u8]) -> Option<Vec<u8>> {
    let names = Names::parse(workspace, text, bytes).ok()?;
    let mut path = names.list.join(&b'/');
    if names.outside {
        path.insert(0, b'/');
    }
    Some(path)
}

/// Tells whether a text can only mean a directory.
pub(super) fn names_directory(text: &str) -> bool {
    let last = text.rsplit(|letter| u8::try_from(letter).is_ok_and(is_separator)).next();
    matches!(last, Some("" | "." | ".."))
}

/// Appends the names of `path` to `base`, resolving `.` and `..`; `None` if `..` climbs out.
fn normalise(base: &[Vec<u8>], path: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut names = base.to_vec();
    for name in split(path) {
        if name == b".." {
            names.pop()?;
        } else {
            names.push(name.to_vec());
        }
    }
    Some(names)
}

fn normalise_clamped(base: &[Vec<u8>], path: &[u8]) -> Vec<Vec<u8>> {
    let mut names = base.to_vec();
    for name in split(path) {
        if name == b".." {
            names.pop();
        } else {
            names.push(name.to_vec());
        }
    }
    names
}

pub(super) fn split(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|byte| is_separator(*byte)).filter(|name| !name.is_empty() && *name != b".")
}

/// Whether a path ends so that it can only mean a directory; `..` always does.
pub(super) fn asks_for_directory(path: &[u8]) -> bool {
    let path = path.strip_suffix(b".").unwrap_or(path);
    path.last().copied().is_some_and(is_separator)
}

fn is_separator(byte: u8) -> bool {
    byte == b'/' || (cfg!(windows) && byte == b'\\')
}

pub(super) fn strip_root(workspace: &Workspace, names: &[Vec<u8>]) -> Option<Vec<Vec<u8>>> {
    [&workspace.0.canonical, &workspace.0.given].into_iter().find_map(|root| {
        let rest = names.strip_prefix(names_of(root).as_slice())?;
        Some(rest.to_vec())
    })
}

pub(super) fn names_of(path: &Path) -> Vec<Vec<u8>> {
    split(path.as_os_str().as_encoded_bytes()).map(<[u8]>::to_vec).collect()
}

pub(super) fn invalid(path: &str, why: &str) -> Error {
    let message = match path {
        "" => why.to_owned(),
        path => format!("{}: {why}", escape::display_path(path.as_bytes())),
    };
    Error::new(ErrorCode::InvalidPath, message).at(path)
}

pub(super) fn outside(text: &str, workspace: &Workspace) -> Error {
    let root = workspace.0.canonical.display();
    invalid(text, &format!("outside the workspace {root}"))
        .with_hint("Use a path relative to the workspace root.")
}
