//! The one door to the files: every tool comes through [`Workspace::resolve`].

mod entries;
mod names;
mod near;
mod outer;
mod path;
mod policy;
mod resolve;
mod steps;
mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorCode};
use crate::os;
pub(crate) use crate::os::{Dir, File, Kind, Volume};
pub(crate) use entries::{DirectoryEntry, entries, leads_to_directory, size};
pub use outer::OuterIgnores;
pub(crate) use outer::{IgnoreSource, MAX_IGNORE_BYTES};
pub use path::WorkspacePath;
pub use policy::Access;
pub(crate) use policy::{PathPolicy, as_path};
pub use version::Version;

/// A directory tree that the tools may touch, and the rules for doing so.
///
/// Cheap to clone. The root is held as a handle from the start: a later rename of the directory
/// does not move the workspace, and no link, `..` or absolute path leaves it.
///
/// ```
/// use ripkit::{Workspace, workspace::Access};
///
/// # fn main() -> Result<(), ripkit::Error> {
/// let workspace = Workspace::open(".")?.deny([".env", "*.pem"])?.read_only();
/// let path = workspace.resolve("./src/../Cargo.toml", Access::Read)?;
/// assert_eq!(path.as_str(), "Cargo.toml");
/// assert!(workspace.resolve("../elsewhere", Access::Read).is_err());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Workspace(Arc<Inner>);

#[derive(Clone, Debug)]
struct Inner {
    root: Arc<Dir>,
    /// The root without links; relative paths of messages and of `Display` start here.
    canonical: PathBuf,
    /// The root as the host spelled it, made absolute; the same path may reach us either way.
    given: PathBuf,
    policy: PathPolicy,
    outer: OuterIgnores,
}

impl Workspace {
    /// Opens a directory as a sandbox: nothing outside is read or written, links included.
    ///
    /// # Errors
    /// `FILE_NOT_FOUND`, `PERMISSION_DENIED`, or `INVALID_PATH` if it is not a directory.
    pub fn open(root: impl AsRef<Path>) -> Result<Workspace, Error> {
        let root = root.as_ref();
        let failed = |error| Error::io("open the workspace", &root.to_string_lossy(), error);
        let handle = Dir::open_ambient(root).map_err(failed)?;
        let canonical = os::canonical(root).map_err(failed)?;
        let given = std::path::absolute(root).map_err(failed)?;
        let root = names::names_of(&canonical).join(&b'/');
        Ok(Workspace(Arc::new(Inner {
            root: Arc::new(handle),
            canonical,
            given,
            policy: PathPolicy { root, ..PathPolicy::default() },
            outer: OuterIgnores::default(),
        })))
    }

    /// Lifts the sandbox: absolute paths and `..` may name anything the process can reach.
    ///
    /// Relative paths still start at the root. Default: sandboxed.
    pub fn relaxed(self) -> Workspace {
        self.with_policy(|policy| policy.relaxed = true)
    }

    /// Refuses everything that writes with `READ_ONLY`. Default: writing is allowed.
    pub fn read_only(self) -> Workspace {
        self.with_policy(|policy| policy.read_only = true)
    }

    /// Refuses paths that match one of these globs, in the syntax of `.gitignore`, with
    /// `POLICY_DENIED`; searches and listings leave them out and count them.
    ///
    /// The globs are held against the real path of the opened file, so a link does not get
    /// round them. Replaces earlier globs. Default: none.
    ///
    /// # Errors
    /// `INVALID_PATTERN` for a glob that does not compile.
    pub fn deny<'a>(self, globs: impl IntoIterator<Item = &'a str>) -> Result<Workspace, Error> {
        let denied = PathPolicy::compile_deny(globs)?;
        Ok(self.with_policy(|policy| policy.deny = denied))
    }

    /// Adds ignore rules from outside the root to searches and listings. Default: none.
    pub fn with_outer_ignores(mut self, outer: OuterIgnores) -> Workspace {
        Arc::make_mut(&mut self.0).outer = outer;
        self
    }

    /// The absolute path of the root, without links.
    pub fn root(&self) -> &Path {
        &self.0.canonical
    }

    /// Checks a path that came from a model and finds what it names.
    ///
    /// `.` and `..` are normalised in the text, links are followed as long as they stay in the
    /// root (a final link is not followed for [`Access::Entry`]), and nothing is expanded.
    ///
    /// # Errors
    /// `INVALID_PATH` (empty, malformed, too long, outside the root, too many links),
    /// `FILE_NOT_FOUND` with near names (not for [`Access::Write`]), `PERMISSION_DENIED`,
    /// `READ_ONLY`, `POLICY_DENIED`.
    pub fn resolve(&self, path: &str, access: Access) -> Result<WorkspacePath, Error> {
        if access != Access::Read && self.0.policy.read_only {
            return Err(Error::new(
                ErrorCode::ReadOnly,
                format!("cannot write {path}: the workspace is read-only"),
            )
            .at(path));
        }
        let resolved = resolve::resolve(self, path, access)?;
        if self.0.policy.denies(resolved.relative(), resolved.is_directory()) {
            return Err(policy::denied(path));
        }
        Ok(resolved)
    }

    /// The deny rules, for walks, which see real paths only.
    pub(crate) fn policy(&self) -> &PathPolicy {
        &self.0.policy
    }

    /// The ignore rules from outside the root.
    pub(crate) fn outer(&self) -> &OuterIgnores {
        &self.0.outer
    }

    /// The root's handle.
    pub(crate) fn root_handle(&self) -> &Arc<Dir> {
        &self.0.root
    }

    fn with_policy(mut self, change: impl FnOnce(&mut PathPolicy)) -> Workspace {
        change(&mut Arc::make_mut(&mut self.0).policy);
        self
    }
}
