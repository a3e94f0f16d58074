//! Plays one side of a task and counts what it costs.

use std::fmt::{self, Write};
use std::path::Path;
use std::process::Command;
use std::{fs, iter};

use ripkit::{Call, TextStyle, Toolkit, Workspace};
use serde_json::Value;

use crate::BoxError;
use crate::tasks::{Step, Task};

/// Which tools a task is done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Ripkit,
    Shell,
}

/// What one side of a task costs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Toll {
    pub(crate) calls: usize,
    bytes_in: usize,
    bytes_out: usize,
    /// Facts that no answer contained, and texts that are not in the changed files.
    pub(crate) missing: usize,
}

impl Toll {
    pub(crate) fn add(&mut self, other: Toll) {
        self.calls += other.calls;
        self.bytes_in += other.bytes_in;
        self.bytes_out += other.bytes_out;
        self.missing += other.missing;
    }

    /// Tokens of the model's calls and of the answers, estimated.
    pub(crate) fn tokens(&self) -> usize {
        tokens(self.bytes_in) + tokens(self.bytes_out)
    }
}

impl fmt::Display for Toll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} / {} / {}", self.calls, tokens(self.bytes_in), tokens(self.bytes_out))
    }
}

fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

/// The toolkit as the MCP server offers it.
pub(crate) fn toolkit(root: &Path) -> Result<Toolkit, BoxError> {
    let toolkit = Toolkit::new(Workspace::open(root)?);
    Ok(toolkit
        .with_text_style(TextStyle::Compact)
        .with_overwrite_guard()
        .with_change_log(&ripkit::workspace::ChangeLog::default()))
}

/// Plays a task in a tree that it may change; adds calls and answers to the transcript.
pub(crate) fn play(
    task: &Task,
    side: Side,
    root: &Path,
    transcript: &mut String,
) -> Result<Toll, BoxError> {
    let toolkit = toolkit(root)?;
    let mut toll = Toll::default();
    let mut answers = String::new();
    let steps = if side == Side::Ripkit { task.ripkit } else { task.shell };
    let (mut first_answer, mut last_answer) = (None, String::new());
    for step in steps {
        let (asked, answer) = match step {
            Step::Call(name, arguments) => {
                let first = first_answer.as_deref().unwrap_or_default();
                let arguments = arguments
                    .replace("$FIRST_VERSION", version_in(first))
                    .replace("$VERSION", version_in(&last_answer));
                let parsed: Value = serde_json::from_str(&arguments)
                    .map_err(|error| format!("{}: {arguments}: {error}", task.name))?;
                let answer = toolkit.call(name, parsed, &Call::default());
                (format!("{name} {arguments}"), answer.text().to_owned())
            }
            Step::Shell(command) => {
                let arguments = serde_json::json!({ "command": command });
                (format!("bash {arguments}"), shell(command, root)?)
            }
            Step::Outside(path, text) => {
                fs::write(root.join(path), text)?;
                continue;
            }
        };
        writeln!(transcript, "$ {asked}\n{answer}")?;
        toll.calls += 1;
        toll.bytes_in += asked.len();
        toll.bytes_out += answer.len();
        answers.push_str(&answer);
        first_answer.get_or_insert_with(|| answer.clone());
        last_answer = answer;
    }
    let is_absent = |fact: &&&str| !answers.contains(**fact);
    toll.missing = task.facts.iter().filter(is_absent).count();
    for (path, text) in task.leaves {
        let file = fs::read_to_string(root.join(path)).unwrap_or_default();
        toll.missing += usize::from(!file.contains(text));
    }
    Ok(toll)
}

/// Runs a command as an agent's shell tool does: both streams, and the exit code unless it is 0.
fn shell(command: &str, root: &Path) -> Result<String, BoxError> {
    let script = format!("{{ {command}\n}} 2>&1");
    let output = Command::new("bash").args(["-c", &script]).current_dir(root).output()?;
    let mut answer = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.status.success() {
        write!(answer, "[exit code {}]", output.status.code().unwrap_or(-1))?;
    }
    Ok(answer)
}

/// The version in the header of a read.
fn version_in(answer: &str) -> &str {
    let header = answer.lines().next().unwrap_or_default();
    let words = iter::once(header).flat_map(|line| line.split([' ', ',', ']']));
    words.skip_while(|word| *word != "version").nth(1).unwrap_or_default()
}
