//! `list_changes`: lists the changes that were made through the toolkit.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use ripkit_edit::diff;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::impl_with_fields;
use crate::error::{Error, ErrorCode};
use crate::output::Output;
use crate::tool::{Effect, Tool, ToolContext};
use ripkit_fs::byte_path::joined;
use ripkit_fs::os::{File, Kind};
use ripkit_fs::{
    Access, Before, ChangeKind, LoggedChange, LoggedStep, MAX_FILE_BYTES, Workspace, escape,
};

/// Lists the changes that these tools made, newest first.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ListChangesArgs {
    /// Adds what is different from before the first of them, as a diff.
    #[serde(default)]
    pub diff: bool,
}

impl_with_fields!(ListChangesArgs {
    with_diff: diff: bool,
});

/// The changes.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ListChangesOutput {
    /// The changes, newest first.
    pub changes: Vec<ListedChange>,
    /// How many older steps cannot be listed and undone any more.
    pub dropped: u64,
    /// What is different from before the first change, as a unified diff, if it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(skip)]
    notes: Vec<String>,
}

/// A change of one path.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct ListedChange {
    /// The number with which it is undone. Changes with the same number were made together.
    pub number: u64,
    /// What was done.
    pub kind: ChangeKind,
    /// The path relative to the workspace; of a move the new one.
    pub path: String,
    /// The old path of a move.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The id that the host gave to the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// Lists the changes that were made through the toolkit. A toolkit has it after
/// [`Toolkit::with_change_log`](crate::Toolkit::with_change_log).
///
/// ```
/// use ripkit::tools::list_changes::{ListChanges, ListChangesArgs};
/// use ripkit::tools::write_file::{WriteFile, WriteFileArgs};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let tools = Toolkit::new(Workspace::open(directory.path())?).with_change_log();
/// tools.run::<WriteFile>(WriteFileArgs::new("a.txt", "one\n"), &Call::default())?;
/// let answer = tools.run::<ListChanges>(ListChangesArgs::default(), &Call::default())?;
/// assert_eq!(answer.to_string(), "1 create a.txt");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct ListChanges;

impl Tool for ListChanges {
    const NAME: &'static str = "list_changes";
    const COMMAND: &'static str = "changes";
    const SUMMARY: &'static str = "List the changes that were made";
    const ALIASES: &'static [&'static str] = &["changes"];
    const EFFECT: Effect = Effect::Read;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"diff": true}"#];
    type Args = ListChangesArgs;
    type Output = ListChangesOutput;

    fn run(
        &self,
        context: &ToolContext<'_>,
        args: ListChangesArgs,
    ) -> Result<ListChangesOutput, Error> {
        let log = context.workspace.change_log().ok_or_else(no_log)?;
        let (steps, dropped) = log.steps();
        let mut notes = Vec::new();
        let diff = args.diff.then(|| {
            let room = context.limits.text_bytes / 2;
            Origins::of(&steps).diff(context.workspace, room, &mut notes)
        });
        let max = context.limits.results;
        let changes = steps.iter().rev().flat_map(ListedChange::of_step);
        let changes: Vec<ListedChange> = changes.take(max).collect();
        let all: usize = steps.iter().map(|step| step.changes.len()).sum();
        if all > changes.len() {
            notes.push(format!("the {} newest of {all} changes are listed", changes.len()));
        }
        if dropped > 0 {
            notes.push(format!("{dropped} older calls are not in the log any more"));
        }
        Ok(ListChangesOutput { changes, dropped, diff, notes })
    }
}

impl ListedChange {
    /// The changes of a step.
    pub(crate) fn of_step(step: &LoggedStep) -> impl Iterator<Item = ListedChange> {
        let listed = |change: &LoggedChange| ListedChange {
            number: step.number,
            kind: change.kind(),
            path: escape::exact_path(&change.path).into_owned(),
            from: match &change.before {
                Before::At { from, .. } => Some(escape::exact_path(from).into_owned()),
                _ => None,
            },
            call_id: step.call_id.clone(),
        };
        step.changes.iter().map(listed)
    }
}

impl fmt::Display for ListedChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = escape::display_path(self.path.as_bytes());
        let (number, kind) = (self.number, self.kind);
        match &self.from {
            Some(from) => {
                write!(f, "{number} move {} to {path}", escape::display_path(from.as_bytes()))
            }
            None if kind == ChangeKind::CreateDirectory => write!(f, "{number} create {path}/"),
            None => write!(f, "{number} {kind} {path}"),
        }
    }
}

/// What was at a path before the first change of the log.
enum Origin {
    Nothing,
    Content(Arc<Vec<u8>>),
    /// A file that was deleted. All of them may be more than fits into memory, so each is read when its
    /// difference is shown.
    File(Arc<File>),
}

impl Origin {
    /// The content, if there was a file.
    ///
    /// # Errors
    /// `TOO_LARGE` for a deleted file over [`MAX_FILE_BYTES`], and failures to read it.
    fn content(&self, path: &str) -> Result<Option<Cow<'_, [u8]>>, Error> {
        match self {
            Origin::Nothing => Ok(None),
            Origin::Content(content) => Ok(Some(Cow::Borrowed(content.as_slice()))),
            Origin::File(file) => {
                let failed = |error| Error::io("read", path, error);
                let size = file.stat().map_err(failed)?.size;
                if size > MAX_FILE_BYTES as u64 {
                    let message = format!("it had {size} bytes, the limit is {MAX_FILE_BYTES}");
                    return Err(Error::new(ErrorCode::TooLarge, message));
                }
                Ok(Some(Cow::Owned(file.read_up_to(MAX_FILE_BYTES).map_err(failed)?)))
            }
        }
    }

    /// The difference between the content and the present file, of at most `room` bytes.
    fn difference(&self, workspace: &Workspace, path: &str, room: usize) -> Result<String, Error> {
        match (self.content(path)?, present(workspace, path)?) {
            (None, None) => Ok(String::new()),
            (old, Some(now)) => Ok(diff::compare(path, old.as_deref(), &now, room)),
            (Some(old), None) => Ok(diff::removal(path, &old, room)),
        }
    }
}

/// The content of a file, if there is one: where the log knows a file, or a directory on the way to it, there
/// may be the other by now, or a link, which is not followed.
fn present(workspace: &Workspace, path: &str) -> Result<Option<Vec<u8>>, Error> {
    use ErrorCode::{FileNotFound, InvalidPath};
    let found = match workspace.resolve(path, Access::Entry) {
        Err(error) if matches!(error.code(), FileNotFound | InvalidPath) => return Ok(None),
        found => found?,
    };
    if found.is_directory() || found.kind() == Some(Kind::Link) {
        return Ok(None);
    }
    match found.read(MAX_FILE_BYTES) {
        Err(error) if error.code() == FileNotFound => Ok(None),
        read => read.map(Some),
    }
}

/// A path that was changed.
struct Changed {
    /// `None` if it is not known.
    origin: Option<Origin>,
    /// Whether the last change left it there, so that it moves with its directory.
    is_there: bool,
}

/// The paths that were changed, as they are called now.
#[derive(Default)]
struct Origins(BTreeMap<Vec<u8>, Changed>);

impl Origins {
    fn of(steps: &[LoggedStep]) -> Origins {
        let mut origins = Origins::default();
        steps.iter().flat_map(|step| &step.changes).for_each(|change| origins.follow(change));
        origins
    }

    fn follow(&mut self, change: &LoggedChange) {
        let path = &change.path;
        let is_there = match change.kind() {
            ChangeKind::CreateDirectory => return,
            ChangeKind::Delete => {
                for below in self.within(path) {
                    self.add(below, None, false);
                }
                false
            }
            _ => true,
        };
        let origin = match &change.before {
            Before::At { from, .. } => {
                for old in self.within(from) {
                    let Some(below) = old.strip_prefix(from.as_slice()) else { continue };
                    let Some(moved) = self.0.remove(&old) else { continue };
                    self.add([path, below].concat(), moved.origin, true);
                }
                return;
            }
            Before::Directory(tree) => {
                for (below, file) in tree.files() {
                    self.add(joined(path, below), Some(Origin::File(file.clone())), false);
                }
                return;
            }
            Before::Nothing => Some(Origin::Nothing),
            Before::Content { old, .. } => Some(Origin::Content(old.clone())),
            Before::File(file) => Some(Origin::File(file.clone())),
            Before::Link { .. } | Before::NotKept(_) => None,
        };
        self.add(path.clone(), origin, is_there);
    }

    /// Adds a change of a path, of which the earliest origin counts.
    fn add(&mut self, path: Vec<u8>, origin: Option<Origin>, is_there: bool) {
        let changed = self.0.entry(path).or_insert(Changed { origin, is_there });
        changed.is_there = is_there;
    }

    /// The path and those below it, as far as they are there.
    fn within(&self, top: &[u8]) -> Vec<Vec<u8>> {
        let is_within = |path: &[u8]| {
            path.strip_prefix(top).is_some_and(|rest| matches!(rest.first(), None | Some(b'/')))
        };
        let near = self.0.range(top.to_vec()..).take_while(|(path, _)| path.starts_with(top));
        let within = near.filter(|(path, changed)| changed.is_there && is_within(path));
        within.map(|(path, _)| path.clone()).collect()
    }

    /// The differences between the origins and the present files, of at most `room` bytes.
    fn diff(&self, workspace: &Workspace, room: usize, notes: &mut Vec<String>) -> String {
        let mut diff = String::new();
        let mut omitted = 0;
        for (path, changed) in &self.0 {
            let path = escape::exact_path(path);
            let Some(origin) = &changed.origin else {
                notes.push(format!("the old content of {path} is not known"));
                continue;
            };
            let left = room.saturating_sub(diff.len());
            if left == 0 {
                omitted += 1;
                continue;
            }
            match origin.difference(workspace, &path, left) {
                Ok(difference) => diff.push_str(&difference),
                Err(error) => {
                    let why = error.message();
                    notes.push(format!("the difference of {path} cannot be shown: {why}"));
                }
            }
        }
        if omitted > 0 {
            notes.push(format!("the diffs of {omitted} more files are left out"));
        }
        diff
    }
}

/// The error of a toolkit that lost its log.
pub(crate) fn no_log() -> Error {
    Error::new(ErrorCode::Internal, "this toolkit keeps no log of its changes")
}

impl Output for ListChangesOutput {
    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for ListChangesOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.changes.is_empty() {
            return f.write_str("No changes");
        }
        for (index, change) in self.changes.iter().enumerate() {
            f.write_str(if index > 0 { "\n" } else { "" })?;
            write!(f, "{change}")?;
        }
        match &self.diff {
            Some(diff) if !diff.is_empty() => write!(f, "\n\n{diff}"),
            _ => Ok(()),
        }
    }
}
