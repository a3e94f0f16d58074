//! From text to a checked path.
//!
//! Two stages. The text becomes a list of names below a start directory, by rules on the text
//! alone. Then the names become handles: in one call where no link is on the way, else name by
//! name, reading links ourselves. Each step works on the handle of the step before, so whatever
//! another process renames meanwhile, nothing above the root is ever looked at.

use std::io;
use std::sync::Arc;

use crate::error::{Error, ErrorCode};
use crate::os::Kind;
use crate::text::{confusable, escape};
use crate::workspace::names::{Names, Target, invalid};
use crate::workspace::steps::Steps;
use crate::workspace::{Access, Workspace, WorkspacePath, near, policy};

/// The longest path of what is still to be made, in bytes, as Linux counts.
const MAX_NEW_PATH_BYTES: usize = 4095;

/// How many names of a path may be replaced by names that look like them.
const MAX_ALIKE_NAMES: usize = 8;

pub(super) fn resolve(
    workspace: &Workspace,
    text: &str,
    access: Access,
) -> Result<WorkspacePath, Error> {
    let found = resolve_bytes(workspace, text, text.as_bytes(), access);
    let missing = match &found {
        Ok(path) => !path.exists(),
        Err(error) => error.code() == ErrorCode::FileNotFound,
    };
    // A name that is not UTF-8 was shown escaped; a file of that very spelling comes first. What
    // is still to be made gets the bytes that the same spelling would find.
    let found = match escape::unescape(text).filter(|_| missing) {
        Some(bytes) => match resolve_bytes(workspace, text, &bytes, access) {
            Ok(path) if path.exists() || str::from_utf8(&bytes).is_err() => Ok(path),
            Err(error) if error.code() == ErrorCode::PolicyDenied => Err(error),
            // Its hint is about the name that was meant.
            Err(error) if found.is_err() && error.code() == ErrorCode::FileNotFound => Err(error),
            _ => found,
        },
        None => found,
    };
    found.and_then(refuse_too_long)
}

/// What is made must be within the reach of other programs.
fn refuse_too_long(path: WorkspacePath) -> Result<WorkspacePath, Error> {
    let length = path.relative().len();
    if path.exists() || length <= MAX_NEW_PATH_BYTES {
        return Ok(path);
    }
    let why = format!("the path would be {length} bytes long, over {MAX_NEW_PATH_BYTES}");
    Err(invalid("", &why))
}

fn resolve_bytes(
    workspace: &Workspace,
    text: &str,
    bytes: &[u8],
    access: Access,
) -> Result<WorkspacePath, Error> {
    let follow = matches!(access, Access::Read | Access::Write);
    let target = target(workspace, text, bytes, follow)?;
    if target.stat().is_none() && !matches!(access, Access::Write | Access::Create) {
        return Err(not_found(text, &target, workspace));
    }
    Ok(target.into_path())
}

/// What the bytes of a path lead to, if there is anything.
pub(super) fn look_up(workspace: &Workspace, bytes: &[u8]) -> Result<Option<WorkspacePath>, Error> {
    let target = target(workspace, &escape::exact_path(bytes), bytes, true)?;
    Ok(target.stat().is_some().then(|| target.into_path()))
}

fn target(workspace: &Workspace, text: &str, bytes: &[u8], follow: bool) -> Result<Target, Error> {
    let names = Names::parse(workspace, text, bytes)?;
    // The rules come before any look at the file system: what an error says of a denied path
    // must not depend on what is there.
    let given = workspace.0.policy.denial(&names.relative());
    if given.is_certain() {
        return Err(policy::denied(text));
    }
    let target = match direct(&names, follow) {
        Some(target) => Ok(target),
        None => Steps::new(workspace, text, &names).walk(names.list, follow),
    };
    match target {
        Ok(target) => Ok(target.come_home(workspace)),
        // A rule that asks for the kind could not be asked.
        Err(_) if given.is_possible() => Err(policy::denied(text)),
        Err(error) => Err(error),
    }
}

/// The common case: no link on the way, one call to the parent and one stat. What is missing may
/// be the last name only.
fn direct(names: &Names, follow: bool) -> Option<Target> {
    let Some((name, parents)) = names.list.split_last() else {
        let stat = names.start.stat(b".").ok()?;
        return Some(Target {
            parent: names.start.clone(),
            real: Vec::new(),
            state: Ok(stat),
            outside: names.outside,
        });
    };
    let parent = match parents {
        [] => names.start.clone(),
        _ => Arc::new(names.start.descend(&parents.join(&b'/')).ok()?),
    };
    let state = match parent.stat(name) {
        Ok(stat) if stat.kind == Kind::Link && follow => return None,
        Ok(stat) => Ok(stat),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(1),
        Err(_) => return None,
    };
    Some(Target { parent, real: names.list.clone(), state, outside: names.outside })
}

/// Names the paths that exist and look like the missing one, and what differs. The escapes in it
/// are understood where a path is given.
fn alike_hint(workspace: &Workspace, target: &Target) -> Option<String> {
    let mut found = alike(workspace, target);
    found.truncate(near::SUGGESTIONS);
    let asked = target.relative();
    let asked = str::from_utf8(&asked).ok()?;
    let mut shown = Vec::new();
    let mut difference = None;
    for path in found {
        // Further names of the path may look alike only, too. What a link leads to is not shown.
        let followed = follow_alike(workspace, asked, path.clone());
        let path = followed.map_or(path, |(path, _)| path);
        let path = str::from_utf8(&path).ok()?;
        shown.push(confusable::escaped(path, asked));
        difference = Some(confusable::difference(path, asked));
    }
    let hint = format!("Did you mean {}?", shown.join(" or "));
    match shown.len() {
        0 => None,
        1 => Some(format!("{hint} {}.", difference?)),
        _ => Some(hint),
    }
}

/// Paths that look like the missing one, if no rule of the host hides them.
fn alike(workspace: &Workspace, target: &Target) -> Vec<Vec<u8>> {
    let Err(missing) = target.state else { return Vec::new() };
    let policy = &workspace.0.policy;
    let from_start =
        |path: &[u8]| if target.outside { [b"/", path].concat() } else { path.to_vec() };
    let is_allowed = |path: &[u8]| !policy.denial(&from_start(path)).is_possible();
    let found = near::alike(&target.parent, &target.real, missing, is_allowed);
    // The names below the one that was replaced may be denied, too.
    let paths = found.iter().map(|path| from_start(path));
    paths.filter(|path| !policy.denial(path).is_possible()).collect()
}

/// The one path that exists and looks like this one, which does not.
pub(super) fn find_lookalike(
    workspace: &Workspace,
    text: &str,
) -> Result<Option<WorkspacePath>, Error> {
    let bytes = escape::unescape(text).unwrap_or_else(|| text.as_bytes().to_vec());
    follow_alike(workspace, text, bytes).map(|(_, found)| found)
}

/// The path in which missing names are replaced by those that look like them, and what it leads to
/// if all of it exists then.
fn follow_alike(
    workspace: &Workspace,
    text: &str,
    mut path: Vec<u8>,
) -> Result<(Vec<u8>, Option<WorkspacePath>), Error> {
    for _ in 0..MAX_ALIKE_NAMES {
        let target = target(workspace, text, &path, true)?;
        if target.stat().is_some() {
            return Ok((path, Some(target.into_path())));
        }
        let mut found = alike(workspace, &target);
        match (found.pop(), found.is_empty()) {
            (Some(only), true) => path = only,
            _ => break,
        }
    }
    Ok((path, None))
}

fn not_found(text: &str, target: &Target, workspace: &Workspace) -> Error {
    // Whether a denied file exists is nobody's business either.
    if workspace.0.policy.denial(&target.relative()).is_possible() {
        return policy::denied(text);
    }
    let shown = escape::display_path(text.as_bytes());
    let error =
        Error::new(ErrorCode::FileNotFound, format!("no such file or directory: {shown}")).at(text);
    let missing = target.state.err().unwrap_or(0);
    if let Some(hint) = alike_hint(workspace, target) {
        return error.with_hint(hint);
    }
    let near = near::names(&target.parent, &target.real, missing, &workspace.0.policy);
    match near.as_slice() {
        [] => error.with_hint("Use find_files or list_directory to see what is there."),
        near => error.with_hint(format!("Did you mean {}?", near.join(" or "))),
    }
}
