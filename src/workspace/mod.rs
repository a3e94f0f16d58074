//! The one door to the files: every tool comes through [`Workspace::resolve`].

mod duplicate;
mod durability;
mod entries;
mod expected;
#[cfg(test)]
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod faults;
mod fingerprint;
mod git_file;
#[cfg(all(unix, feature = "command"))]
mod growing;
mod held;
mod in_place;
mod locks;
mod names;
mod near;
mod outer;
mod parents;
mod path;
mod policy;
mod present;
mod random_names;
mod refusal;
mod remove;
mod replace;
mod resolve;
mod route;
mod steps;
mod temporary;
mod transfer;
mod version;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, ErrorCode};
use crate::os;
pub(crate) use crate::os::watch::{Event as WatchEvent, WatchId, Watcher};
pub(crate) use crate::os::{Dir, File, Identity, Kind, Stat, Volume};
use crate::text::escape;
pub use durability::Durability;
pub(crate) use entries::{DirectoryEntry, entries, link_target, links_to_directory, size};
pub(crate) use expected::Expected;
pub(crate) use fingerprint::{Fingerprint, RecentFingerprint, now};
pub(crate) use git_file::exclude_below;
#[cfg(all(unix, feature = "command"))]
pub(crate) use growing::SpoolFile;
pub(crate) use held::WriteGuard;
use locks::FileLocks;
pub use outer::OuterIgnores;
pub(crate) use outer::{IgnoreSource, MAX_IGNORE_BYTES};
pub use path::WorkspacePath;
pub use policy::Access;
pub(crate) use policy::{PathPolicy, as_path};
pub(crate) use random_names::RandomNames;
pub(crate) use temporary::is_temporary;
pub use version::Version;
pub(crate) use version::VersionHasher;

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
    durability: Durability,
    /// Shared by all clones, whatever their policy.
    locks: Arc<FileLocks>,
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
            policy: PathPolicy { root, folds: policy::FOLDS, ..PathPolicy::default() },
            outer: OuterIgnores::default(),
            durability: Durability::default(),
            locks: Arc::default(),
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
    /// `POLICY_DENIED`; searches and listings leave them out.
    ///
    /// The globs are matched against the path as it was given and against the real path, each with
    /// all directories above it, before the file system is asked. No answer tells whether a denied
    /// path exists or what it is: reading and changing it fail with the same error, and no receipt
    /// counts it. Ignore files and `.git` decide what walks leave out also where they are denied.
    ///
    /// A `/` after a plain name is left off: `private/` denies whatever has that name. After a
    /// wildcard it keeps its meaning, `*/` denies directories only; a name that does not exist
    /// then is denied as well, so it cannot be created.
    ///
    /// Several calls add up: a path is denied if the globs of any call deny it. A glob that begins
    /// with `!` takes back what earlier globs of the same call deny. Default: none.
    ///
    /// ```
    /// use ripkit::{ErrorCode, Workspace, workspace::Access};
    ///
    /// # fn main() -> Result<(), ripkit::Error> {
    /// let workspace = Workspace::open(".")?.deny([".env"])?.deny(["private/"])?;
    /// for path in [".env", "private/missing.txt"] {
    ///     let error = workspace.resolve(path, Access::Read).expect_err("it is denied");
    ///     assert_eq!(error.code(), ErrorCode::PolicyDenied);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `INVALID_PATTERN` for a glob that does not compile.
    pub fn deny<'a>(self, globs: impl IntoIterator<Item = &'a str>) -> Result<Workspace, Error> {
        let denied = self.0.policy.compile_deny(globs)?;
        Ok(self.with_policy(|policy| policy.deny.push(denied)))
    }

    /// Refuses files with more than one name (hard links) with `POLICY_DENIED`; searches leave
    /// them out and count them.
    ///
    /// A hard link inside the root may be a second name of a file outside, which nothing tells.
    /// Default: they are allowed.
    pub fn deny_hard_links(self) -> Workspace {
        self.with_policy(|policy| policy.deny_hard_links = true)
    }

    /// Sets what a successful write has on stable storage. Default: [`Durability::File`].
    pub fn with_durability(mut self, durability: Durability) -> Workspace {
        Arc::make_mut(&mut self.0).durability = durability;
        self
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
    /// `FILE_NOT_FOUND` with near names (not for [`Access::Write`] and [`Access::Create`]),
    /// `PERMISSION_DENIED`,
    /// `READ_ONLY`, `POLICY_DENIED`.
    pub fn resolve(&self, path: &str, access: Access) -> Result<WorkspacePath, Error> {
        if access != Access::Read && self.is_read_only() {
            return Err(Error::new(
                ErrorCode::ReadOnly,
                format!("cannot write {path}: the workspace is read-only"),
            )
            .at(path));
        }
        let resolved = self.permitted(path, resolve::resolve(self, path, access)?)?;
        if names::names_directory(path)
            && resolved.kind().is_some_and(|kind| kind != Kind::Directory)
        {
            return Err(names::invalid(path, "names a directory, but there is something else"));
        }
        Ok(resolved)
    }

    /// Finds what the bytes of a path name, for reading, links followed; `None` if nothing is
    /// there.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], but for `FILE_NOT_FOUND`.
    pub(crate) fn look_up(&self, path: &[u8]) -> Result<Option<WorkspacePath>, Error> {
        let found = resolve::look_up(self, path)?;
        found.map(|found| self.permitted(&escape::exact_path(path), found)).transpose()
    }

    /// Finds the one path that exists and looks like this one, which does not: one in which
    /// names are composed otherwise, or have another blank. The rules of the host hold for the
    /// path that is found.
    ///
    /// # Errors
    /// Those of [`Workspace::resolve`], but for `FILE_NOT_FOUND`.
    pub(crate) fn find_lookalike(&self, path: &str) -> Result<Option<WorkspacePath>, Error> {
        let found = resolve::find_lookalike(self, path)?;
        found.map(|found| self.permitted(path, found)).transpose()
    }

    /// The path as `text` spells it, without `.` and `..`, if that is not the real path but leads to
    /// it by links.
    pub(crate) fn spelling(&self, text: &str, path: &WorkspacePath) -> Option<Vec<u8>> {
        let plain = names::spelled(self, text, text.as_bytes())?;
        if plain == path.relative() {
            return None;
        }
        let escaped = escape::unescape(text).and_then(|path| names::spelled(self, text, &path));
        if escaped.as_deref() == Some(path.relative()) {
            return None;
        }
        let leads = |spelling: &Vec<u8>| {
            let found = self.look_up(spelling).ok().flatten();
            found.is_some_and(|found| found.relative() == path.relative())
        };
        [Some(plain), escaped].into_iter().flatten().find(leads)
    }

    fn permitted(&self, path: &str, resolved: WorkspacePath) -> Result<WorkspacePath, Error> {
        let policy = &self.0.policy;
        let denial = policy.denial(resolved.relative());
        let denied = match &resolved.stat {
            Some(stat) => denial.of(resolved.is_directory()) || policy.denies_links_of(stat),
            None => denial.is_possible(),
        };
        if denied { Err(policy::denied(path)) } else { Ok(resolved) }
    }

    /// The absolute path of something in the workspace, as the system writes it.
    pub(crate) fn absolute(&self, path: &WorkspacePath) -> String {
        let full = match path.relative() {
            b"" => self.0.canonical.clone(),
            // In a relaxed workspace a path outside begins with `/` and stands alone.
            relative => self.0.canonical.join(as_path(relative)),
        };
        escape::exact_path(full.as_os_str().as_encoded_bytes()).into_owned()
    }

    /// Whether everything that writes is refused.
    pub(crate) fn is_read_only(&self) -> bool {
        self.0.policy.read_only
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
