//! Where skills may lie: a workspace, or one directory in it.

use crate::error::{Error, ErrorCode};
use crate::skills::directory::full;
use crate::text::escape;
use crate::workspace::{Workspace, WorkspacePath};

/// A workspace, and the directory in it that links must not leave.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) workspace: Workspace,
    /// The real path of the directory; none for wherever the workspace reaches.
    within: Option<Vec<u8>>,
}

impl Place {
    pub(super) fn whole(workspace: Workspace) -> Place {
        Place { workspace, within: None }
    }

    pub(super) fn below(workspace: Workspace, within: Vec<u8>) -> Place {
        Place { workspace, within: Some(within) }
    }

    /// What a path names, links followed; `None` if nothing is there.
    ///
    /// # Errors
    /// `INVALID_PATH` for what lies elsewhere, `POLICY_DENIED` and the like.
    pub(super) fn look_up(&self, path: &[u8]) -> Result<Option<WorkspacePath>, Error> {
        let path = if path.is_empty() { b"." } else { path };
        let found = self.workspace.look_up(path)?;
        match found {
            Some(found) if !self.holds(found.relative()) => {
                let shown = escape::display_path(path).into_owned();
                let message = format!("{shown} leads out of the directories of skills");
                Err(Error::new(ErrorCode::InvalidPath, message).at(shown))
            }
            found => Ok(found),
        }
    }

    fn holds(&self, path: &[u8]) -> bool {
        self.within.as_ref().is_none_or(|within| path == within || is_below(path, within))
    }

    /// The absolute path of something in here, as text.
    pub(super) fn absolute(&self, path: &[u8]) -> String {
        escape::exact_path(&full(&self.workspace, path)).into_owned()
    }

    /// The last name of the absolute path.
    pub(super) fn last_name(&self, path: &[u8]) -> String {
        let full = self.absolute(path);
        full.rsplit('/').next().unwrap_or(&full).to_owned()
    }
}

/// The rest of a real path below a directory. Below the root of a workspace is all that is not
/// outside of it, where paths begin with `/`.
pub(super) fn rest_below<'a>(path: &'a [u8], directory: &[u8]) -> Option<&'a [u8]> {
    match directory {
        b"" => (!path.starts_with(b"/")).then_some(path),
        directory => path.strip_prefix(directory)?.strip_prefix(b"/"),
    }
}

fn is_below(path: &[u8], directory: &[u8]) -> bool {
    rest_below(path, directory).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_is_a_matter_of_whole_names() {
        assert!(is_below(b"a/b/c", b"a/b"));
        assert!(is_below(b"c", b""));
        assert!(!is_below(b"a/bc", b"a/b"));
        assert!(!is_below(b"a/b", b"a/b"));
        assert!(!is_below(b"a", b"a/b"));
        assert!(!is_below(b"/etc/passwd", b""));
    }
}
