//! A directory of a workspace: its entries in order, and paths below it.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::workspace::{DirectoryEntry, Workspace, WorkspacePath, entries};

/// The most entries of one directory that are looked at; denied ones do not count.
pub(super) const MAX_ENTRIES: usize = 400 * 256;

/// The entries by name, and whether they are all.
pub(super) fn list(
    workspace: &Workspace,
    path: &WorkspacePath,
) -> Result<(Vec<DirectoryEntry>, bool), Error> {
    let mut listed = entries(workspace, path, |so_far| {
        if so_far <= MAX_ENTRIES { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    })?;
    let is_whole = listed.len() <= MAX_ENTRIES;
    listed.truncate(MAX_ENTRIES);
    listed.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((listed, is_whole))
}

pub(super) fn joined(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() { name.to_vec() } else { [directory, b"/", name].concat() }
}

/// The absolute path of something in a workspace.
pub(super) fn full(workspace: &Workspace, path: &[u8]) -> Vec<u8> {
    let root = workspace.root().as_os_str().as_encoded_bytes();
    match path {
        b"" | b"." => root.to_vec(),
        // A relaxed workspace reaches outside, by paths that are absolute.
        [b'/', ..] => path.to_vec(),
        below => [root.strip_suffix(b"/").unwrap_or(root), b"/", below].concat(),
    }
}
