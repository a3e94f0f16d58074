//! Where the clients of the standard look for skills.

use std::path::{Path, PathBuf};

/// The directories of skills that clients share, below a home directory and below a project; the
/// later wins. `.claude/skills` is Claude's, `.agents/skills` the one for all.
pub const CLIENT_DIRECTORIES: [&str; 2] = [".claude/skills", ".agents/skills"];

/// The [`CLIENT_DIRECTORIES`] of a user and of a project, in the order in which
/// [`SkillCatalog::load`](crate::skills::SkillCatalog::load) wants them: a project's skill wins
/// over the user's of the same name.
///
/// Whether a project is trusted is for the host to decide: leave it out if it is not. Directories
/// that do not exist are passed over. Links are followed inside each of these directories and
/// from one to another; use a [`SkillLoader`](crate::skills::SkillLoader) to allow more.
///
/// ```
/// use ripkit::skills::{SkillCatalog, client_directories};
/// use std::path::Path;
///
/// let directories = client_directories(Some(Path::new("/home/ada")), Some(Path::new(".")));
/// assert_eq!(directories[0], Path::new("/home/ada/.claude/skills"));
/// assert_eq!(directories[3], Path::new("./.agents/skills"));
/// let catalog = SkillCatalog::load(&directories);
/// ```
pub fn client_directories(home: Option<&Path>, project: Option<&Path>) -> Vec<PathBuf> {
    let bases = [home, project].into_iter().flatten();
    bases.flat_map(|base| CLIENT_DIRECTORIES.map(|below| base.join(below))).collect()
}
