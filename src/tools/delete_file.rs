//! `delete_file`: deletes a file or a symbolic link.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::{MAX_NAME_CHARS, MAX_PATH_CHARS, impl_with_fields};
use crate::error::Error;
use crate::output::Output;
use crate::text::escape;
use crate::tool::{Effect, Tool, ToolContext};
use crate::workspace::Expected;

/// Deletes a file, or a symbolic link and not what it leads to. Directories are not deleted.
#[derive(Clone, Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DeleteFileArgs {
    /// The file.
    #[schemars(length(max = MAX_PATH_CHARS))]
    pub path: String,
    /// Only if the file has this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = MAX_NAME_CHARS))]
    pub expected_version: Option<String>,
}

impl DeleteFileArgs {
    /// The file at `path`, whatever its version.
    pub fn new(path: impl Into<String>) -> DeleteFileArgs {
        DeleteFileArgs { path: path.into(), ..DeleteFileArgs::default() }
    }
}

impl_with_fields!(DeleteFileArgs {
    with_expected_version: expected_version: String,
});

/// A file that is gone.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct DeleteFileOutput {
    /// The absolute path.
    pub path: String,
    /// The path relative to the workspace.
    pub relative_path: String,
}

/// Deletes a file, or a link and not what it leads to; no copy of it is kept.
///
/// ```
/// use ripkit::tools::delete_file::{DeleteFileArgs, DeleteFile};
/// use ripkit::{Call, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # std::fs::write(directory.path().join("a.txt"), "one\n")?;
/// let tools = Toolkit::new(Workspace::open(directory.path())?);
/// let args = DeleteFileArgs::new("a.txt");
/// let answer = tools.run::<DeleteFile>(args, &Call::default())?;
/// assert_eq!(answer.relative_path, "a.txt");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct DeleteFile;

impl Tool for DeleteFile {
    const NAME: &'static str = "delete_file";
    const COMMAND: &'static str = "rm";
    const SUMMARY: &'static str = "Delete a file or a symbolic link";
    const ALIASES: &'static [&'static str] = &["delete", "file_delete"];
    const EFFECT: Effect = Effect::Change;
    const EXAMPLES: &'static [&'static str] =
        &[r#"{"path": "notes.md"}"#, r#"{"path": "src/old.rs"}"#];
    type Args = DeleteFileArgs;
    type Output = DeleteFileOutput;

    fn run(
        &self,
        context: &ToolContext<'_>,
        args: DeleteFileArgs,
    ) -> Result<DeleteFileOutput, Error> {
        let expected = Expected::parse_version(args.expected_version.as_deref())?;
        let path = context.workspace.remove_file(&args.path, expected, context.call)?;
        Ok(DeleteFileOutput {
            path: context.workspace.absolute(&path),
            relative_path: path.as_str().to_owned(),
        })
    }
}

impl Output for DeleteFileOutput {}

impl fmt::Display for DeleteFileOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Deleted {}", escape::display_path(self.relative_path.as_bytes()))
    }
}
