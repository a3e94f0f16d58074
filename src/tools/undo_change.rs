//! `undo_change`: undoes changes that were made through the toolkit.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::impl_with_fields;
use crate::error::{Error, ErrorCode};
use crate::output::Output;
use crate::tool::{Effect, Tool, ToolContext};
use crate::tools::list_changes::{ListedChange, no_log};
use ripkit_fs::{Hint, LoggedStep};

/// Undoes the last change that these tools made, another one, or all. A file that changed since is
/// left alone, with an error.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct UndoChangeArgs {
    /// The number of a change, from `list_changes`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<u64>,
    /// Undoes all changes, the newest first.
    #[serde(default)]
    pub all: bool,
}

impl_with_fields!(UndoChangeArgs {
    with_change: change: u64,
    with_all: all: bool,
});

/// Changes that were undone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct UndoChangeOutput {
    /// The changes that were undone, in this order.
    pub undone: Vec<ListedChange>,
    /// Why the changes before them were not undone, if all were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopped: Option<String>,
    #[serde(skip)]
    notes: Vec<String>,
}

/// Undoes changes that were made through the toolkit: content, permissions and attributes are as
/// before, and what is not is said in the notes of the answer. The times of a restored directory are
/// new. A toolkit has it after [`Toolkit::with_change_log`](crate::Toolkit::with_change_log).
///
/// ```
/// use ripkit::tools::delete_file::{DeleteFile, DeleteFileArgs};
/// use ripkit::tools::undo_change::{UndoChange, UndoChangeArgs};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one\n")?;
/// let tools = Toolkit::new(Workspace::open(directory.path())?).with_change_log();
/// tools.run::<DeleteFile>(DeleteFileArgs::new("a.txt"), &Call::default())?;
/// let answer = tools.run::<UndoChange>(UndoChangeArgs::default(), &Call::default())?;
/// assert_eq!(answer.to_string(), "Undid 1 delete a.txt");
/// assert_eq!(tools.workspace().read("a.txt")?, b"one\n");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct UndoChange;

impl Tool for UndoChange {
    const NAME: &'static str = "undo_change";
    const COMMAND: &'static str = "undo";
    const SUMMARY: &'static str = "Undo changes that were made";
    const ALIASES: &'static [&'static str] = &["undo", "undo_edit"];
    const EFFECT: Effect = Effect::Change;
    const EXAMPLES: &'static [&'static str] = &["{}", r#"{"change": 3}"#, r#"{"all": true}"#];
    type Args = UndoChangeArgs;
    type Output = UndoChangeOutput;

    fn run(
        &self,
        context: &ToolContext<'_>,
        args: UndoChangeArgs,
    ) -> Result<UndoChangeOutput, Error> {
        let (workspace, call) = (context.workspace, context.call);
        let (steps, dropped) = workspace.change_log().ok_or_else(no_log)?.steps();
        let wanted = match (args.change, args.all) {
            (Some(_), true) => {
                let message = "either change or all is given, not both";
                return Err(Error::new(ErrorCode::InvalidArgument, message));
            }
            (None, true) => steps.as_slice(),
            (None, false) => steps.last().map(std::slice::from_ref).unwrap_or_default(),
            (Some(number), false) => {
                let found = steps.iter().find(|step| step.number == number);
                std::slice::from_ref(found.ok_or_else(|| unknown(number))?)
            }
        };
        let mut output = UndoChangeOutput { undone: Vec::new(), stopped: None, notes: Vec::new() };
        for step in wanted.iter().rev() {
            match workspace.undo(step.number, call) {
                Ok(notes) => output.add(step, notes),
                Err(error) if output.undone.is_empty() => return Err(error),
                Err(error) => {
                    output.stopped = Some(error.text(context.format));
                    break;
                }
            }
        }
        if args.all && dropped > 0 && output.stopped.is_none() {
            output.notes.push(format!("{dropped} older calls were not kept and stay as they are"));
        }
        Ok(output)
    }
}

impl UndoChangeOutput {
    fn add(&mut self, step: &LoggedStep, notes: Vec<String>) {
        self.undone.extend(ListedChange::of_step(step));
        self.notes.extend(notes);
    }
}

fn unknown(number: u64) -> Error {
    let message = format!("there is no change {number} in the log that could be undone");
    Error::new(ErrorCode::InvalidArgument, message).with_hint(Hint::tool(
        "Take a number from ",
        "list_changes",
        ".",
    ))
}

impl Output for UndoChangeOutput {
    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for UndoChangeOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.undone.is_empty() {
            return f.write_str("No changes to undo");
        }
        for (index, change) in self.undone.iter().enumerate() {
            f.write_str(if index > 0 { "\n" } else { "" })?;
            write!(f, "Undid {change}")?;
        }
        match &self.stopped {
            Some(why) => write!(f, "\nThe changes before were not undone: {why}"),
            None => Ok(()),
        }
    }
}
