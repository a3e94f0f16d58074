//! `.git` files: linked worktrees and submodules, and where git keeps their `info/exclude`.
//!
//! A linked worktree has a file `.git` that names its git directory, `<common>/worktrees/<id>`; the
//! exclude file lies in the common directory, which `commondir` in the git directory names. The git
//! directory of a submodule, `<repository>/modules/<name>`, has no `commondir` and its own exclude
//! file.
//!
//! The tree that holds a `.git` file may be hostile. [`exclude_below`] therefore looks up each path
//! in the workspace, as if the model had given it. [`exclude_ambient`], for paths that the host
//! named, follows a `.git` file only to a git directory that knows about it.

use std::path::{Path, PathBuf};

use crate::os;
use crate::workspace::policy::as_path;
use crate::workspace::{MAX_IGNORE_BYTES, Workspace, WorkspacePath};

/// The most bytes of a `.git`, `commondir` or `gitdir` file: a path and a few words.
const MAX_BYTES: usize = 8192;

/// The exclude file of the repository whose `.git` file lies in the directory `prefix`, which is
/// empty or ends in `/`. None if there is none, or if it is outside the workspace or denied.
pub(crate) fn exclude_below(workspace: &Workspace, prefix: &[u8]) -> Option<WorkspacePath> {
    let text = read_below(workspace, &[prefix, b".git"].concat())?;
    let git_directory = joined(prefix, git_directory(&text)?);
    let common = match read_below(workspace, &joined(&git_directory, b"commondir")) {
        Some(text) => joined(&git_directory, line(&text)),
        None => git_directory,
    };
    let exclude = workspace.look_up(&joined(&common, b"info/exclude")).ok()??;
    exclude.is_file().then_some(exclude)
}

/// What `info/exclude` of the repository says whose root is `directory`, an absolute path without
/// links. Opens nothing that only a `.git` file names: a linked worktree counts if its git directory
/// names it in turn, a submodule if its git directory lies in that of the repository around it.
pub(super) fn exclude_ambient(directory: &Path) -> Option<Vec<u8>> {
    let git_directory = git_directory_ambient(directory)?;
    let common = match git_directory.parent() {
        Some(parent) if parent.ends_with("worktrees") => parent.parent()?,
        _ => &git_directory,
    };
    os::read_ambient(&common.join("info/exclude"), MAX_IGNORE_BYTES).ok()
}

/// The git directory of the repository whose root is `directory`, without links.
fn git_directory_ambient(directory: &Path) -> Option<PathBuf> {
    let dot_git = os::canonical(&directory.join(".git")).ok()?;
    if os::is_directory_ambient(&dot_git) {
        return Some(dot_git);
    }
    let text = os::read_ambient(&dot_git, MAX_BYTES).ok()?;
    let named = os::canonical(&directory.join(&*as_path(git_directory(&text)?))).ok()?;
    if is_worktree(&named, &dot_git) {
        return Some(named);
    }
    let around =
        directory.ancestors().skip(1).find(|above| os::exists_ambient(&above.join(".git")));
    let around = git_directory_ambient(around?)?;
    named.starts_with(around.join("modules")).then_some(named)
}

/// Tells whether a git directory is that of a linked worktree with this `.git` file.
fn is_worktree(git_directory: &Path, dot_git: &Path) -> bool {
    let is_linked = git_directory.parent().is_some_and(|parent| parent.ends_with("worktrees"));
    let text = || os::read_ambient(&git_directory.join("gitdir"), MAX_BYTES).ok();
    let back = is_linked.then(text).flatten();
    let back =
        back.and_then(|text| os::canonical(&git_directory.join(&*as_path(line(&text)))).ok());
    back.is_some_and(|back| back == dot_git)
}

fn read_below(workspace: &Workspace, path: &[u8]) -> Option<Vec<u8>> {
    let path = workspace.look_up(path).ok()??;
    path.open_file().ok()?.read_up_to(MAX_BYTES).ok()
}

/// The path in the text of a `.git` file.
fn git_directory(text: &[u8]) -> Option<&[u8]> {
    let path = line(text).strip_prefix(b"gitdir: ")?;
    (!path.is_empty()).then_some(path)
}

/// The text without line ends behind it, as git reads its one-line files.
fn line(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| !matches!(byte, b'\n' | b'\r')).map_or(0, |at| at + 1);
    text.get(..end).unwrap_or(text)
}

/// `path`, taken from the directory `base`, which may be empty.
fn joined(base: &[u8], path: &[u8]) -> Vec<u8> {
    let base = base.strip_suffix(b"/").unwrap_or(base);
    if base.is_empty() || path.first() == Some(&b'/') {
        return path.to_vec();
    }
    [base, b"/", path].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_git_file_names_a_directory_on_its_one_line() {
        let cases: [(&[u8], Option<&[u8]>); 7] = [
            (b"gitdir: ../.git/modules/sub\n", Some(b"../.git/modules/sub")),
            (b"gitdir: /a b/c\r\n", Some(b"/a b/c")),
            (b"gitdir: a", Some(b"a")),
            (b"gitdir: \n", None),
            (b"gitdir:a\n", None),
            (b" gitdir: a\n", None),
            (b"", None),
        ];
        for (text, path) in cases {
            assert_eq!(git_directory(text), path, "{text:?}");
        }
    }

    #[test]
    fn a_path_is_taken_from_its_directory() {
        let cases: [(&[u8], &[u8], &[u8]); 4] = [
            (b"", b"a/b", b"a/b"),
            (b"x/", b"../a", b"x/../a"),
            (b"x", b"a", b"x/a"),
            (b"x/", b"/a", b"/a"),
        ];
        for (base, path, whole) in cases {
            assert_eq!(joined(base, path), whole);
        }
    }
}
