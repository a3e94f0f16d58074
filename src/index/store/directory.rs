//! The directory of an index, which is made when the first index is stored in it.
//!
//! Opening an index makes nothing, so that a call which is refused later leaves nothing behind.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::error::{Error, ErrorCode};
use crate::os::{self, Dir};

/// A directory outside the workspace, which may not exist yet.
#[derive(Debug)]
pub(super) struct Directory {
    /// As the host named it.
    shown: String,
    opened: OnceLock<Dir>,
    /// Where to make it if it did not exist when it was looked for: the parent and the name.
    missing: Option<(Dir, Vec<u8>)>,
}

impl Directory {
    /// Looks for the directory, or at least for its parent, without making anything.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it lies in the workspace at `root`, which is a path without links;
    /// otherwise those of opening it, or its parent if it does not exist.
    pub(super) fn find(directory: &Path, root: &Path) -> Result<Directory, Error> {
        let shown = directory.to_string_lossy().into_owned();
        let failed = |error| Error::io("open the directory for the index", &shown, error);
        let (opened, missing) = if os::exists_ambient(directory) {
            let path = os::canonical(directory).map_err(failed)?;
            refuse_inside(root, &path, &shown)?;
            (OnceLock::from(Dir::open_ambient(&path).map_err(failed)?), None)
        } else {
            let (parent, name) = split(directory).map_err(failed)?;
            refuse_inside(root, &parent.join(name), &shown)?;
            let parent = Dir::open_ambient(&parent).map_err(failed)?;
            (OnceLock::new(), Some((parent, name.as_encoded_bytes().to_vec())))
        };
        Ok(Directory { shown, opened, missing })
    }

    /// The name that the host gave it, for messages.
    pub(super) fn shown(&self) -> &str {
        &self.shown
    }

    /// The handle, if the directory was there when it was looked for or was made since.
    pub(super) fn existing(&self) -> Option<&Dir> {
        self.opened.get()
    }

    /// The handle; makes the directory if it is missing.
    pub(super) fn made(&self) -> io::Result<&Dir> {
        if let Some(dir) = self.opened.get() {
            return Ok(dir);
        }
        let (parent, name) = self.missing.as_ref().ok_or(io::ErrorKind::NotFound)?;
        match parent.make_dir(name) {
            // Another process may make it at the same time. A link by that name is not followed.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
        let dir = parent.open_dir(name)?;
        Ok(self.opened.get_or_init(|| dir))
    }
}

fn refuse_inside(root: &Path, path: &Path, shown: &str) -> Result<(), Error> {
    if !path.starts_with(root) {
        return Ok(());
    }
    let message = format!("the index cannot be kept in {shown}, inside the workspace");
    Err(Error::new(ErrorCode::InvalidArgument, message)
        .with_hint("Name a directory elsewhere, such as one for caches."))
}

/// The path of the parent, without links, and the last name.
fn split(directory: &Path) -> io::Result<(PathBuf, &std::ffi::OsStr)> {
    let (Some(parent), Some(name)) = (directory.parent(), directory.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    Ok((os::canonical(parent)?, name))
}
