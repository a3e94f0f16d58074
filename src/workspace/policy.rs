//! What the host allows.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use unicode_normalization::UnicodeNormalization;

use crate::error::{Error, ErrorCode};
use crate::os::{Kind, Stat};
use crate::text::escape;

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
    /// One matcher for each call of `deny`; what any of them denies is denied.
    pub(super) deny: Vec<Arc<Gitignore>>,
    /// Whether names that differ in case or in composition are the same to the file system.
    pub(super) folds: bool,
    /// The absolute path of the workspace's root, as names with `/` between.
    pub(super) root: Vec<u8>,
}

impl PathPolicy {
    pub(super) fn compile_deny<'a>(
        &self,
        globs: impl IntoIterator<Item = &'a str>,
    ) -> Result<Arc<Gitignore>, Error> {
        let mut builder = GitignoreBuilder::new("");
        for glob in globs {
            // Where the file system takes many spellings for the same name, so must the rules.
            let line = for_any_kind(glob);
            let one = if self.folds { Cow::Owned(folded(line)) } else { Cow::Borrowed(line) };
            builder.add_line(None, &one).map_err(|error| invalid(glob, error))?;
        }
        let matcher = builder.build().map_err(|error| invalid("deny", error))?;
        Ok(Arc::new(matcher))
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
        self.denial(relative).of(is_directory)
    }

    /// What the rules say of a path and of the directories above it.
    pub(super) fn denial(&self, relative: &[u8]) -> Denial {
        if self.deny.is_empty() {
            return Denial::default();
        }
        let slashes = relative.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut above = slashes.filter_map(|(at, _)| relative.get(..at));
        if above.any(|directory| self.denial_of_entry(directory).directory) {
            return Denial { file: true, directory: true };
        }
        self.denial_of_entry(relative)
    }

    /// The same of a path below directories that are not denied.
    pub(super) fn denial_of_entry(&self, relative: &[u8]) -> Denial {
        if self.deny.is_empty() {
            return Denial::default();
        }
        // A relaxed workspace also reaches paths outside, which begin with `/`; from above the
        // root they lead down into it again.
        let Some(outside) = relative.strip_prefix(b"/") else { return self.matched(relative) };
        let below = outside.strip_prefix(self.root.as_slice());
        let below = below.and_then(|below| below.strip_prefix(b"/"));
        let (outside, below) = (self.matched(outside), below.map(|below| self.matched(below)));
        let below = below.unwrap_or_default();
        Denial { file: outside.file || below.file, directory: outside.directory || below.directory }
    }

    fn matched(&self, path: &[u8]) -> Denial {
        let one = self.folds.then(|| folded(&String::from_utf8_lossy(path)));
        let path = as_path(one.as_ref().map_or(path, |one| one.as_bytes()));
        if path.as_os_str().is_empty() || path.has_root() {
            return Denial::default();
        }
        let matched = |is_directory: bool| {
            self.deny.iter().any(|deny| deny.matched(&*path, is_directory).is_ignore())
        };
        Denial { file: matched(false), directory: matched(true) }
    }
}

/// Whether a path is denied, by what may be there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Denial {
    /// If it is anything but a directory.
    file: bool,
    /// If it is a directory.
    directory: bool,
}

impl Denial {
    pub(super) fn of(self, is_directory: bool) -> bool {
        if is_directory { self.directory } else { self.file }
    }

    /// Whether it is denied whatever is there, so that there is no need to look.
    pub(super) fn is_certain(self) -> bool {
        self.file && self.directory
    }

    /// Whether it is denied for some kind. This decides for a path that does not exist, so that
    /// the answer does not tell it from one that does.
    pub(super) fn is_possible(self) -> bool {
        self.file || self.directory
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

/// The glob without the `/` after a plain last name: `private/` denies whatever is called
/// `private`, so that an answer does not tell whether it is a directory. With a wildcard there,
/// as in `*/`, and after `!` the `/` keeps its meaning.
fn for_any_kind(glob: &str) -> &str {
    // A space at the end counts only after a backslash, as in an ignore file.
    let line = if glob.ends_with("\\ ") { glob } else { glob.trim_end() };
    let name = line.trim_end_matches('/');
    let last = name.rsplit('/').next().unwrap_or(name);
    let is_plain = !last.is_empty() && !last.contains(['*', '?', '[', '{', '\\']);
    if is_plain && !name.starts_with('!') { name } else { glob }
}

/// The error for a denied path. It depends on the path as it was given and on nothing else.
pub(super) fn denied(path: &str) -> Error {
    let shown = escape::display_path(path.as_bytes());
    Error::new(ErrorCode::PolicyDenied, format!("{shown} is denied by a rule of the host"))
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
