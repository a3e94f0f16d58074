//! The entries of one directory, for listing it.

use std::ops::ControlFlow;

use crate::error::Error;
use crate::os::Kind;
use crate::text::escape;
use crate::workspace::{Access, Workspace, WorkspacePath, is_temporary};

/// An entry of a directory.
#[derive(Clone, Debug)]
pub(crate) struct DirectoryEntry {
    pub(crate) name: Vec<u8>,
    pub(crate) kind: Kind,
}

/// Reads the entries of a directory, without those that the host denies, until `check` breaks. It
/// is told how many there are so far, again and again; those that are left out do not count.
///
/// # Errors
/// `PERMISSION_DENIED` or another failure to read the directory.
pub(crate) fn entries(
    workspace: &Workspace,
    directory: &WorkspacePath,
    mut check: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<DirectoryEntry>, Error> {
    let mut entries: Vec<DirectoryEntry> = Vec::new();
    let listed = directory.open_dir()?.list(|name, kind| {
        let path = below(directory, name);
        if !is_temporary(name) && !workspace.policy().denies(&path, kind == Kind::Directory) {
            entries.push(DirectoryEntry { name: name.to_vec(), kind });
        }
        // After every one: a slow file system may need seconds for the next.
        check(entries.len())
    });
    listed.map_err(|error| Error::io("list", directory.as_str(), error))?;
    Ok(entries)
}

/// Bytes of a file in a directory; 0 if it vanished or cannot be examined.
pub(crate) fn size(directory: &WorkspacePath, name: &[u8]) -> u64 {
    let (parent, own_name) = directory.entry();
    let stat = parent.traverse(own_name).and_then(|directory| directory.stat(name));
    stat.map_or(0, |stat| stat.size)
}

/// Tells whether a link in a directory leads to a directory inside the workspace.
pub(crate) fn links_to_directory(
    workspace: &Workspace,
    directory: &WorkspacePath,
    name: &[u8],
) -> bool {
    let path = below(directory, name);
    let target = workspace.resolve(&escape::exact_path(&path), Access::Read);
    target.is_ok_and(|target| target.is_directory())
}

/// The absolute path that a link in a directory names, as it is written there.
pub(crate) fn link_target(
    workspace: &Workspace,
    directory: &WorkspacePath,
    name: &[u8],
) -> Option<Vec<u8>> {
    let (parent, own_name) = directory.entry();
    let text = parent.traverse(own_name).and_then(|directory| directory.read_link(name)).ok()?;
    if text.starts_with(b"/") {
        return Some(text);
    }
    let root = workspace.root().as_os_str().as_encoded_bytes();
    Some([root, b"/", directory.relative(), b"/", &text].concat())
}

fn below(directory: &WorkspacePath, name: &[u8]) -> Vec<u8> {
    match directory.relative() {
        b"" => name.to_vec(),
        above => [above, b"/", name].concat(),
    }
}
