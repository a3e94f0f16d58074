//! Calls of the real tool on a file of a workspace of its own.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

use ripkit::workspace::Durability;
use ripkit::{Call, ErrorCode, Toolkit, Workspace};
use serde_json::json;
use tempfile::TempDir;

use super::judge::Said;
use super::mistakes::Attempt;

const FILE: &str = "file.txt";

/// A workspace with one file, which every call finds as its attempt says.
pub(crate) struct Bench {
    // Removed with the bench.
    _directory: TempDir,
    file: PathBuf,
    tools: Toolkit,
}

impl Bench {
    /// A workspace in memory, where the system has such a place.
    pub(crate) fn new() -> Result<Bench, Box<dyn Error + Send + Sync>> {
        let memory = Path::new("/dev/shm");
        let directory =
            if memory.is_dir() { tempfile::tempdir_in(memory)? } else { tempfile::tempdir()? };
        let workspace = Workspace::open(directory.path())?.with_durability(Durability::Fast);
        let file = directory.path().join(FILE);
        Ok(Bench { _directory: directory, file, tools: Toolkit::new(workspace) })
    }

    /// Makes the call.
    pub(crate) fn call(&self, attempt: &Attempt) -> Result<Said, Box<dyn Error + Send + Sync>> {
        fs::write(&self.file, &attempt.file)?;
        let arguments = json!({ "path": FILE, "old_text": attempt.old, "new_text": attempt.new });
        let answer = self.tools.call("edit_file", arguments, &Call::default());
        let details = serde_json::to_value(answer.details())?;
        Ok(Said {
            file: fs::read(&self.file)?,
            text: [answer.text().to_string(), answer.notes().join("\n")].join("\n"),
            code: answer.error_code().map(|code: ErrorCode| code.as_str().to_owned()),
            matched: details["match"].as_str().unwrap_or_default().to_owned(),
        })
    }
}
