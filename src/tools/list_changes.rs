//! `list_changes`: lists the changes that were made through the toolkit.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::impl_with_fields;
use crate::edit::diff;
use crate::error::{Error, ErrorCode};
use crate::output::Output;
use crate::text::escape;
use crate::tool::{Effect, Tool, ToolContext};
use crate::workspace::{
    Access, Before, ChangeKind, File, LoggedChange, LoggedStep, MAX_FILE_BYTES, Workspace, joined,
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
        Ok(ListChangesOutput { changes, dropped, diff: diff.transpose()?, notes })
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
                Before::At(from) => Some(escape::exact_path(from).into_owned()),
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
    Content(Option<Arc<Vec<u8>>>),
    /// The file of another path, unchanged.
    Unchanged,
    NotKept,
}

impl Origin {
    /// The content of a deleted file.
    fn of_file(file: &File) -> Origin {
        let content = file.read_up_to(MAX_FILE_BYTES);
        content.map_or(Origin::NotKept, |content| Origin::Content(Some(Arc::new(content))))
    }
}

/// The origins of all paths that were changed, by their present paths.
struct Origins(BTreeMap<Vec<u8>, Origin>);

impl Origins {
    fn of(steps: &[LoggedStep]) -> Origins {
        let mut origins = BTreeMap::new();
        for change in steps.iter().flat_map(|step| &step.changes) {
            if change.kind() == ChangeKind::CreateDirectory {
                continue;
            }
            if let Before::Directory(tree) = &change.before {
                for (below, file) in tree.files() {
                    let path = joined(&change.path, below);
                    origins.entry(path).or_insert_with(|| Origin::of_file(file));
                }
                continue;
            }
            let origin = match &change.before {
                Before::Nothing => Origin::Content(None),
                Before::Content { old, .. } => Origin::Content(Some(old.clone())),
                Before::File(file) => Origin::of_file(file),
                Before::Link(_) | Before::Directory(_) | Before::NotKept(_) => Origin::NotKept,
                Before::At(from) => origins.remove(from).unwrap_or(Origin::Unchanged),
            };
            // The earliest one counts.
            origins.entry(change.path.clone()).or_insert(origin);
        }
        Origins(origins)
    }

    /// The difference between the origins and the present files, of at most `room` bytes.
    fn diff(
        &self,
        workspace: &Workspace,
        room: usize,
        notes: &mut Vec<String>,
    ) -> Result<String, Error> {
        let mut diff = String::new();
        let mut omitted = 0;
        for (path, origin) in &self.0 {
            let text = escape::exact_path(path);
            let old = match origin {
                Origin::Content(old) => old,
                Origin::Unchanged => continue,
                Origin::NotKept => {
                    notes.push(format!("the old content of {text} is not known"));
                    continue;
                }
            };
            let now = match workspace.resolve(&text, Access::Read) {
                Ok(path) => Some(path.read(crate::workspace::MAX_FILE_BYTES)?),
                Err(error) if error.code() == ErrorCode::FileNotFound => None,
                Err(error) => return Err(error),
            };
            let left = room.saturating_sub(diff.len());
            if left == 0 {
                omitted += 1;
                continue;
            }
            diff.push_str(&match (old, now) {
                (None, None) => String::new(),
                (old, Some(now)) => {
                    diff::compare(&text, old.as_deref().map(Vec::as_slice), &now, left)?
                }
                (Some(old), None) => diff::removal(&text, old, left)?,
            });
        }
        if omitted > 0 {
            notes.push(format!("the diffs of {omitted} more files are left out"));
        }
        Ok(diff)
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
