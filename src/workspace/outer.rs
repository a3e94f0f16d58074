//! Ignore rules from outside the root, which only the host may bring in.

use std::path::Path;

use crate::os;
use crate::workspace::git_file;

/// The most bytes that are read of one ignore file.
pub(crate) const MAX_IGNORE_BYTES: usize = 1 << 20;

/// Which kind of ignore file rules come from; the first wins over those after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum IgnoreSource {
    /// `.rgignore`
    Ripgrep,
    /// `.ignore`
    Ignore,
    /// `.gitignore`
    Git,
    /// `.git/info/exclude`
    Exclude,
}

impl IgnoreSource {
    /// Every source that lies in a directory, by its file name.
    pub(crate) const FILES: [(IgnoreSource, &'static str); 3] = [
        (IgnoreSource::Ripgrep, ".rgignore"),
        (IgnoreSource::Ignore, ".ignore"),
        (IgnoreSource::Git, ".gitignore"),
    ];
}

/// The ignore files above a workspace, the exclude file of its repository, and a person's own
/// excludes.
///
/// A workspace looks at nothing above its root by itself; a host that wants what `rg` would do
/// reads these once and passes them to
/// [`Workspace::with_outer_ignores`](crate::Workspace::with_outer_ignores).
///
/// ```
/// use ripkit::tools::list_files::{ListFilesArgs, ListFiles};
/// use ripkit::workspace::OuterIgnores;
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let repository = directory.path();
/// # std::fs::create_dir(repository.join(".git"))?;
/// # std::fs::create_dir(repository.join("core"))?;
/// # std::fs::write(repository.join(".gitignore"), "*.log\n")?;
/// # std::fs::write(repository.join("core/app.log"), "")?;
/// # std::fs::write(repository.join("core/lib.rs"), "")?;
/// let workspace = Workspace::open(repository.join("core"))?;
/// let outer = OuterIgnores::above(workspace.root());
/// let tools = Toolkit::new(workspace.with_outer_ignores(outer));
/// let list = tools.run::<ListFiles>(ListFilesArgs::default(), &Call::default())?;
/// assert_eq!(list.files, ["lib.rs"]); // and not app.log
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct OuterIgnores {
    /// Directories above the root, the outermost first.
    pub(crate) directories: Vec<OuterDirectory>,
    /// What `info/exclude` says for the root itself, if the root has a `.git` file.
    pub(crate) exclude: Vec<u8>,
    /// Excludes of lowest rank, relative to the root.
    pub(crate) global: Vec<u8>,
}

/// One directory above the root.
#[derive(Clone, Debug)]
pub(crate) struct OuterDirectory {
    /// The path from there to the root, ending in `/`.
    pub(crate) path_to_root: Vec<u8>,
    /// What its ignore files say.
    pub(crate) files: Vec<(IgnoreSource, Vec<u8>)>,
    /// Whether it is the root of a repository.
    pub(crate) is_repository: bool,
}

impl OuterIgnores {
    /// Reads the ignore files above `root`, an absolute path without links, as `rg` would: `.ignore`
    /// and `.rgignore` of all directories above it, and `.gitignore` and `.git/info/exclude` up to
    /// the root of the repository that it lies in, if any.
    ///
    /// If `root` or a directory above it is a linked worktree or a submodule, its exclude file is
    /// read from where git keeps it, provided that the repository there knows of it. That of a
    /// linked worktree below the root is read by the workspace, if it lies below the root too.
    ///
    /// Files that cannot be read, are not regular, or lie past the first mebibyte are left out.
    pub fn above(root: &Path) -> OuterIgnores {
        let has_git = |directory: &Path| os::exists_ambient(&directory.join(".git"));
        // Where `.git` is a directory, the workspace reads the exclude file in it.
        let has_git_file = has_git(root) && !os::is_directory_ambient(&root.join(".git"));
        let exclude = has_git_file.then(|| git_file::exclude_ambient(root)).flatten();
        let mut is_governed = !has_git(root) && root.ancestors().any(has_git);
        let mut directories = Vec::new();
        for directory in root.ancestors().skip(1) {
            let Some(outer) = OuterDirectory::read(directory, root, is_governed) else { break };
            is_governed &= !outer.is_repository;
            if outer.is_repository || !outer.files.is_empty() {
                directories.push(outer);
            }
        }
        directories.reverse();
        OuterIgnores { directories, exclude: exclude.unwrap_or_default(), global: Vec::new() }
    }

    /// Adds a file of excludes in the syntax of `.gitignore`, such as git's
    /// `core.excludesFile`; nothing happens if it cannot be read. Default: none.
    pub fn with_global_excludes(mut self, file: &Path) -> OuterIgnores {
        self.global = os::read_ambient(file, MAX_IGNORE_BYTES).unwrap_or_default();
        self
    }

    /// Tells whether the root lies in a repository that begins above it.
    pub(crate) fn in_repository(&self) -> bool {
        self.directories.iter().any(|directory| directory.is_repository)
    }
}

impl OuterDirectory {
    /// Reads the ignore files of a directory above the root; those of git only if `is_governed`: the
    /// root lies in a repository that reaches up to here.
    fn read(directory: &Path, root: &Path, is_governed: bool) -> Option<OuterDirectory> {
        let below = root.strip_prefix(directory).ok()?;
        let mut path_to_root = below.as_os_str().as_encoded_bytes().to_vec();
        path_to_root.push(b'/');
        let read = |name: &str| os::read_ambient(&directory.join(name), MAX_IGNORE_BYTES).ok();
        let is_repository = is_governed && os::exists_ambient(&directory.join(".git"));
        let mut files: Vec<_> = IgnoreSource::FILES
            .iter()
            .filter(|(source, _)| is_governed || *source != IgnoreSource::Git)
            .filter_map(|(source, name)| Some((*source, read(name)?)))
            .collect();
        if is_repository {
            let exclude = git_file::exclude_ambient(directory);
            files.extend(exclude.map(|text| (IgnoreSource::Exclude, text)));
        }
        Some(OuterDirectory { path_to_root, files, is_repository })
    }
}
