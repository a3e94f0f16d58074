//! What the host allows.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorCode};
use crate::os::{Kind, Stat};

/// What a path is wanted for.
///
/// ```
/// use ripkit::workspace::Access;
/// use ripkit::{ErrorCode, Workspace};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let workspace = Workspace::open("src")?;
/// assert!(!workspace.resolve("new/file.rs", Access::Write)?.exists());
/// let missing = workspace.resolve("new/file.rs", Access::Read).expect_err("it is not there");
/// assert_eq!(missing.code(), ErrorCode::FileNotFound);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Reading or listing what exists; links are followed.
    Read,
    /// Writing a file that may not exist yet, nor its parents; links are followed.
    Write,
    /// Making what must not exist yet, nor its parents; a final link is not followed, but found.
    Create,
    /// Removing or renaming the entry itself; a final link is not followed.
    Entry,
}

/// The rules of a workspace.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathPolicy {
    pub(super) relaxed: bool,
    pub(super) read_only: bool,
    pub(super) deny_hard_links: bool,
    pub(super) deny: Option<Arc<Gitignore>>,
    /// Whether names that differ in case or in composition are the same to the file system.
    pub(super) folds: bool,
    /// The absolute path of the workspace's root, as names with `/` between.
    pub(super) root: Vec<u8>,
}

impl PathPolicy {
    pub(super) fn compile_deny<'a>(
        &self,
        globs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Option<Arc<Gitignore>>, Error> {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            // Where the file system takes many spellings for the same name, so must the rules.
            let one = if self.folds { Cow::Owned(folded(glob)) } else { Cow::Borrowed(glob) };
            builder.add_line(None, &one).map_err(|error| invalid(glob, error))?;
        }
        let matcher = builder.build().map_err(|error| invalid("deny", error))?;
        Ok((!matcher.is_empty()).then(|| Arc::new(matcher)))
    }

    /// Tells whether what is there is refused for having more than one name.
    pub(crate) fn denies_links_of(&self, stat: &Stat) -> bool {
        self.deny_hard_links && stat.kind == Kind::File && stat.links > 1
    }

    /// Whether files must be asked how many names they have.
    pub(crate) fn asks_for_links(&self) -> bool {
        self.deny_hard_links
    }

    /// Tells whether a rule excludes the path or a directory above it.
    pub(crate) fn denies(&self, relative: &[u8], is_directory: bool) -> bool {
        let Some(deny) = &self.deny else { return false };
        let matches = |path: &[u8]| {
            let one = self.folds.then(|| folded(&String::from_utf8_lossy(path)));
            let path = as_path(one.as_ref().map_or(path, |one| one.as_bytes()));
            let named = !path.as_os_str().is_empty() && !path.has_root();
            named && deny.matched_path_or_any_parents(&*path, is_directory).is_ignore()
        };
        // A relaxed workspace also reaches paths outside, which begin with `/`; from above the
        // root they lead down into it again.
        let Some(outside) = relative.strip_prefix(b"/") else { return matches(relative) };
        let below = outside.strip_prefix(self.root.as_slice());
        let below = below.and_then(|below| below.strip_prefix(b"/"));
        matches(outside) || below.is_some_and(matches)
    }

    /// Tells whether a rule excludes the path, whatever there is or may come to be.
    pub(super) fn denies_any(&self, relative: &[u8]) -> bool {
        self.denies(relative, false) || self.denies(relative, true)
    }
}

/// Whether the file systems of this system usually fold names.
pub(super) const FOLDS: bool = cfg!(any(windows, target_os = "macos"));

/// One spelling for all that a file system may take for the same name. It may take fewer: then
/// more is denied than need be, and never less.
fn folded(name: &str) -> String {
    let upper = name.nfd().flat_map(char::to_uppercase);
    upper.flat_map(char::to_lowercase).nfc().collect()
}

pub(super) fn denied(path: &str) -> Error {
    Error::new(ErrorCode::PolicyDenied, format!("{path} is denied by a rule of the host"))
        .at(path)
        .with_hint("Leave this path alone.")
}

fn invalid(glob: &str, error: ignore::Error) -> Error {
    Error::new(ErrorCode::InvalidPattern, format!("cannot compile the deny glob {glob}: {error}"))
        .because(error)
}

/// A path of the system from the bytes of a name; lossy only where names are not bytes.
#[cfg(unix)]
pub(crate) fn as_path(bytes: &[u8]) -> Cow<'_, Path> {
    use std::os::unix::ffi::OsStrExt;
    Path::new(OsStr::from_bytes(bytes)).into()
}

/// A path of the system from the bytes of a name; lossy only where names are not bytes.
#[cfg(not(unix))]
pub(crate) fn as_path(bytes: &[u8]) -> Cow<'_, Path> {
    let text = String::from_utf8_lossy(bytes).into_owned();
    Path::new(OsStr::new(&text)).to_path_buf().into()
}

#[cfg(test)]
mod tests;
