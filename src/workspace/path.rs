//! A path that was checked.

use std::fmt;
use std::ops::ControlFlow;
use std::sync::Arc;

use crate::error::{Error, ErrorCode};
use crate::os::{Dir, File, Identity, Kind, Stat};
use crate::text::escape;

/// The proof that a path was resolved inside a workspace, and the handle to act on.
///
/// Only [`Workspace::resolve`](crate::Workspace::resolve) makes one. It holds the parent
/// directory open, so a rename or a swapped link afterwards does not change what it means.
///
/// ```
/// use ripkit::Workspace;
/// use ripkit::workspace::Access;
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let path = Workspace::open(".")?.resolve("src/lib.rs", Access::Read)?;
/// assert!(path.is_file());
/// assert_eq!(path.to_string(), "src/lib.rs");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct WorkspacePath {
    pub(super) parent: Arc<Dir>,
    /// The last name; `.` for the root.
    pub(super) name: Vec<u8>,
    /// The real path relative to the root, without links; empty for the root.
    pub(super) relative: Vec<u8>,
    /// What is there; nothing for a path still to be written.
    pub(super) stat: Option<Stat>,
    /// `relative` as text.
    pub(super) text: String,
}

impl WorkspacePath {
    pub(super) fn new(
        parent: Arc<Dir>,
        name: Vec<u8>,
        relative: Vec<u8>,
        stat: Option<Stat>,
    ) -> WorkspacePath {
        let text = match relative.as_slice() {
            b"" => ".".to_owned(),
            bytes => escape::exact_path(bytes).into_owned(),
        };
        WorkspacePath { parent, name, relative, stat, text }
    }

    /// The path relative to the root, `.` for the root itself; a name that is not UTF-8 is
    /// escaped, and [`Workspace::resolve`](crate::Workspace::resolve) takes it back so.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Tells whether something is there.
    pub fn exists(&self) -> bool {
        self.stat.is_some()
    }

    /// Tells whether a directory is there.
    pub fn is_directory(&self) -> bool {
        self.kind() == Some(Kind::Directory)
    }

    /// Tells whether a regular file is there.
    pub fn is_file(&self) -> bool {
        self.kind() == Some(Kind::File)
    }

    /// The bytes of the path relative to the root; empty for the root.
    pub(crate) fn relative(&self) -> &[u8] {
        &self.relative
    }

    pub(crate) fn kind(&self) -> Option<Kind> {
        self.stat.map(|stat| stat.kind)
    }

    /// Which file is there, whatever its name.
    pub(super) fn identity(&self) -> Option<Identity> {
        self.stat.map(|stat| stat.identity)
    }

    /// Tells whether its directory lists exactly this name.
    pub(super) fn is_listed(&self) -> bool {
        let mut found = false;
        let listed = self.parent.open_dir(b".").and_then(|dir| {
            dir.list(|name, _| {
                found = name == self.name;
                if found { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            })
        });
        // What cannot be looked at counts as there, so that nothing is written over.
        found || listed.is_err()
    }

    /// The directory that holds it, and its name in there.
    pub(crate) fn entry(&self) -> (&Arc<Dir>, &[u8]) {
        (&self.parent, &self.name)
    }

    /// Opens it as a directory to list.
    pub(crate) fn open_dir(&self) -> Result<Dir, Error> {
        self.parent.open_dir(&self.name).map_err(|error| Error::io("list", &self.text, error))
    }

    /// Opens it as a directory to start in; it need not be readable.
    #[cfg(all(unix, feature = "command"))]
    pub(crate) fn enter(&self) -> Result<Dir, Error> {
        self.parent.traverse(&self.name).map_err(|error| Error::io("enter", &self.text, error))
    }

    /// Opens it for reading its content; only a regular file is opened, and without blocking.
    ///
    /// # Errors
    /// `INVALID_PATH` for a directory, a FIFO, a socket or a device; `PERMISSION_DENIED` and the
    /// like.
    pub(crate) fn open_file(&self) -> Result<File, Error> {
        self.check_regular(self.kind())?;
        let failed = |error| Error::io("read", &self.text, error);
        let file = self.parent.open_file(&self.name).map_err(failed)?;
        // Something else may have taken the name since it was resolved.
        self.check_regular(Some(file.stat().map_err(failed)?.kind))?;
        Ok(file)
    }

    fn check_regular(&self, kind: Option<Kind>) -> Result<(), Error> {
        let refused = |why: &str| {
            Error::new(ErrorCode::InvalidPath, format!("{self} is {why}")).at(self.as_str())
        };
        match kind {
            Some(Kind::Directory) => {
                Err(refused("a directory").with_hint("Use list_directory to see what is in it."))
            }
            Some(Kind::Special) => {
                Err(refused("a FIFO, socket or device, and only regular files are read"))
            }
            _ => Ok(()),
        }
    }

    /// Tells whether it can be opened for listing or reading.
    ///
    /// # Errors
    /// `PERMISSION_DENIED` and the like.
    pub(crate) fn check_readable(&self) -> Result<(), Error> {
        if self.is_directory() {
            return self.open_dir().map(drop);
        }
        let opened = self.parent.open_file(&self.name);
        opened.map(drop).map_err(|error| Error::io("open", &self.text, error))
    }
}

impl fmt::Display for WorkspacePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&escape::display_path(self.text.as_bytes()))
    }
}
