//! `run_command`: runs a command in a shell, if the host allows it.

use ripkit_edit::text::counted;
use std::fmt;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::arguments::{MAX_COMMAND_CHARS, MAX_PATH_CHARS, impl_with_fields, root};
use crate::command::{self, CommandPolicy, CommandReport, CommandRequest, Ending};
use crate::context::Incomplete;
use crate::error::{Error, ErrorCode};
use crate::output::{Outcome, Output};
use crate::tool::{Effect, Tool, ToolContext};

/// Time for starting a command, in addition to its own time limit.
const START_TIME: Duration = Duration::from_millis(250);

/// Runs a command in bash (sh where there is none) and returns what it prints, standard output and
/// error in the order in which they came. Standard input is empty and there is no terminal. What it leaves running in
/// the background is stopped when the command ends, unless the answer says otherwise.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct RunCommandArgs {
    /// The command, as it would be typed into a shell.
    #[schemars(length(max = MAX_COMMAND_CHARS))]
    pub command: String,
    /// The directory to start in. Default: the workspace root.
    #[serde(default = "root")]
    #[schemars(length(max = MAX_PATH_CHARS))]
    pub cwd: String,
    /// Milliseconds after which the command is stopped; what it printed by then is returned.
    #[serde(default = "default_timeout")]
    #[schemars(range(min = 1))]
    pub timeout_ms: u64,
}

impl RunCommandArgs {
    /// A command in the root of the workspace, with the default time limit.
    pub fn new(command: impl Into<String>) -> RunCommandArgs {
        RunCommandArgs { command: command.into(), ..RunCommandArgs::default() }
    }
}

impl_with_fields!(RunCommandArgs {
    with_cwd: cwd: String,
    with_timeout_ms: timeout_ms: u64,
});

impl Default for RunCommandArgs {
    fn default() -> RunCommandArgs {
        RunCommandArgs { command: String::new(), cwd: root(), timeout_ms: default_timeout() }
    }
}

fn default_timeout() -> u64 {
    30_000
}

/// What a command printed and how it ended.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct RunCommandOutput {
    /// What it printed; of a long output both ends, and a line between them that says how much is
    /// left out.
    pub output: String,
    /// Its exit code, if it ended by itself.
    pub exit_code: Option<i32>,
    /// The number of the signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Whether it was stopped at the time limit.
    pub timed_out: bool,
    /// Whether it was stopped because the call was cancelled.
    pub cancelled: bool,
    /// Milliseconds from its start to the answer.
    pub duration_ms: u64,
    /// Bytes of all that it printed.
    pub output_bytes: u64,
    /// Bytes of it that are not in `output`.
    pub dropped_bytes: u64,
    /// The file that holds the whole output, if `output` does not.
    pub output_file: Option<String>,
    /// What it had left running.
    pub background: Background,
    /// The numbers of processes that could not be stopped.
    pub survivors: Vec<i32>,
    /// The shell that ran it.
    pub shell: String,
    #[serde(skip)]
    allowed: Duration,
    #[serde(skip)]
    notes: Vec<String>,
}

/// The processes that a command left running beside its shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(inline)]
#[non_exhaustive]
pub struct Background {
    /// How many were stopped.
    pub stopped: u64,
    /// The numbers of those that were left running, as the host wishes.
    pub kept: Vec<i32>,
}

/// Runs commands within a policy; without one the tool is not available.
///
/// [`Toolkit::with_commands`](crate::Toolkit::with_commands) adds it to a toolkit.
///
/// ```
/// use ripkit::tools::run_command::{RunCommandArgs, RunCommand};
/// use ripkit::{Call, CommandPolicy, Toolkit, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let workspace = Workspace::open(directory.path())?;
/// let tools = Toolkit::new(workspace).with_commands(CommandPolicy::new());
/// let args = RunCommandArgs::new("echo hi");
/// let answer = tools.run::<RunCommand>(args, &Call::default())?;
/// assert_eq!((answer.output.as_str(), answer.exit_code), ("hi\n", Some(0)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct RunCommand(Option<CommandPolicy>);

impl RunCommand {
    /// A tool that runs commands within `policy`.
    pub fn new(policy: CommandPolicy) -> RunCommand {
        RunCommand(Some(policy))
    }
}

impl Tool for RunCommand {
    const NAME: &'static str = "run_command";
    const COMMAND: &'static str = "run";
    const SUMMARY: &'static str = "Run a shell command";
    const ALIASES: &'static [&'static str] = &["bash", "shell", "sh", "execute_command"];
    const EFFECT: Effect = Effect::Execute;
    const LONG: bool = true;
    const EXAMPLES: &'static [&'static str] = &[
        r#"{"command": "cargo test --lib"}"#,
        r#"{"command": "git log --oneline -5", "cwd": "crates/core", "timeout_ms": 10000}"#,
    ];
    const UNAVAILABLE: &'static str = "commands are not allowed";
    type Args = RunCommandArgs;
    type Output = RunCommandOutput;

    fn is_available(&self) -> bool {
        self.0.is_some()
    }

    fn time_limit(&self, args: &RunCommandArgs) -> Option<Duration> {
        let max = self.0.as_ref().map_or(Duration::MAX, CommandPolicy::max_time);
        Some(Duration::from_millis(args.timeout_ms).min(max).saturating_add(START_TIME))
    }

    fn run(
        &self,
        context: &ToolContext<'_>,
        args: RunCommandArgs,
    ) -> Result<RunCommandOutput, Error> {
        let Some(policy) = &self.0 else {
            let message = "this host allows no commands";
            return Err(Error::new(ErrorCode::PolicyDenied, message));
        };
        let request = CommandRequest {
            command: &args.command,
            directory: &args.cwd,
            timeout: Duration::from_millis(args.timeout_ms),
        };
        command::run(context.workspace, policy, request, context.call).map(RunCommandOutput::from)
    }
}

impl From<CommandReport> for RunCommandOutput {
    fn from(report: CommandReport) -> RunCommandOutput {
        let (exit_code, signal) = match report.ending {
            // The exit status of a stopped command means nothing.
            _ if report.stopped_by.is_some() => (None, None),
            Ending::Exited(code) => (Some(code), None),
            Ending::Killed(signal) => (None, Some(signal)),
            Ending::Unknown => (None, None),
        };
        let mut notes = report.notes;
        let lossy = "the output is not UTF-8 throughout; other bytes became \u{fffd}";
        notes.extend(report.transcript.is_lossy.then(|| lossy.to_owned()));
        let unknown = report.ending == Ending::Unknown && report.stopped_by.is_none();
        notes.extend(unknown.then(|| "how the command ended could not be learned".to_owned()));
        RunCommandOutput {
            output: report.transcript.text,
            exit_code,
            signal,
            timed_out: report.stopped_by == Some(Incomplete::Timeout),
            cancelled: report.stopped_by == Some(Incomplete::Cancelled),
            duration_ms: u64::try_from(report.took.as_millis()).unwrap_or(u64::MAX),
            output_bytes: report.transcript.bytes,
            dropped_bytes: report.transcript.dropped,
            output_file: report.transcript.file,
            background: Background { stopped: report.stopped as u64, kept: report.kept },
            survivors: report.survivors,
            shell: report.shell,
            allowed: report.allowed,
            notes,
        }
    }
}

impl RunCommandOutput {
    /// As in a shell: that of the command, or 128 plus the number of the signal.
    #[cfg(feature = "cli")]
    pub(crate) fn exit_status(&self) -> Option<u8> {
        let signalled = self.signal.map(|signal| signal.saturating_add(128));
        u8::try_from(self.exit_code.or(signalled)?).ok()
    }

    /// Whether the text is exactly the output of the command.
    #[cfg(feature = "cli")]
    pub(crate) fn is_verbatim(&self) -> bool {
        !self.output.is_empty() && self.status_lines().is_empty()
    }

    /// The status lines below the output.
    fn status_lines(&self) -> Vec<String> {
        let how = match (self.exit_code, self.signal) {
            _ if self.timed_out => Some(format!("[Timed out after {}]", time(self.allowed))),
            _ if self.cancelled => Some("[Cancelled]".to_owned()),
            (Some(0), _) | (None, None) => None,
            (Some(code), _) => Some(format!("[Exit code: {code}]")),
            (None, Some(signal)) => Some(format!("[Killed by signal {}]", signal_name(signal))),
        };
        let stopped = self.background.stopped;
        // A command that was stopped loses its background processes too.
        let left = (stopped > 0 && !self.timed_out && !self.cancelled).then(|| {
            let processes = counted(stopped, "background process", "background processes");
            format!("[Stopped {processes}]")
        });
        let kept = process_list("Still running in the background", &self.background.kept);
        let survivors = process_list("Could not be stopped", &self.survivors);
        [how, left, kept, survivors].into_iter().flatten().collect()
    }
}

fn process_list(what: &str, numbers: &[i32]) -> Option<String> {
    let list = numbers.iter().map(i32::to_string).collect::<Vec<_>>().join(", ");
    (!numbers.is_empty()).then(|| format!("[{what}: {list}]"))
}

/// `250ms`, `1.5s`, `30s`.
fn time(time: Duration) -> String {
    if time < Duration::from_secs(1) {
        return format!("{}ms", time.as_millis());
    }
    // A deadline of the host is slightly below the round number.
    format!("{}s", (time.as_secs_f64() * 100.0).round() / 100.0)
}

/// `9 (SIGKILL)`, or the number alone.
fn signal_name(signal: i32) -> String {
    match command::signal_name(signal) {
        Some(name) => format!("{signal} ({name})"),
        None => signal.to_string(),
    }
}

impl Output for RunCommandOutput {
    fn outcome(&self) -> Outcome {
        match (self.timed_out, self.cancelled) {
            (true, _) => Outcome::Partial(Incomplete::Timeout),
            (_, true) => Outcome::Partial(Incomplete::Cancelled),
            _ => Outcome::Done,
        }
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }
}

impl fmt::Display for RunCommandOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.status_lines();
        let output = if self.output.is_empty() { "(no output)" } else { &self.output };
        f.write_str(output)?;
        let mut ends_line = output.ends_with('\n');
        for line in lines {
            let separator = if ends_line { "" } else { "\n" };
            write!(f, "{separator}{line}")?;
            ends_line = false;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> RunCommandOutput {
        RunCommandOutput {
            output: String::new(),
            exit_code: Some(0),
            signal: None,
            timed_out: false,
            cancelled: false,
            duration_ms: 1,
            output_bytes: 0,
            dropped_bytes: 0,
            output_file: None,
            background: Background::default(),
            survivors: Vec::new(),
            shell: "bash".to_owned(),
            allowed: Duration::from_secs(30),
            notes: Vec::new(),
        }
    }

    #[test]
    fn the_text_is_the_output_and_a_line_for_each_thing_to_know() {
        let out = |text: &str| RunCommandOutput { output: text.to_owned(), ..report() };
        let running = |stopped, kept| Background { stopped, kept };
        let table = [
            (report(), "(no output)"),
            (out("hi\n"), "hi\n"),
            (out("hi"), "hi"),
            (RunCommandOutput { exit_code: Some(3), ..out("hi\n") }, "hi\n[Exit code: 3]"),
            (RunCommandOutput { exit_code: Some(3), ..out("hi") }, "hi\n[Exit code: 3]"),
            (RunCommandOutput { exit_code: Some(1), ..report() }, "(no output)\n[Exit code: 1]"),
            (
                RunCommandOutput { exit_code: None, signal: Some(9), ..report() },
                "(no output)\n[Killed by signal 9 (SIGKILL)]",
            ),
            (
                RunCommandOutput { exit_code: None, signal: Some(64), ..report() },
                "(no output)\n[Killed by signal 64]",
            ),
            (
                RunCommandOutput { exit_code: None, timed_out: true, ..out("a\n") },
                "a\n[Timed out after 30s]",
            ),
            (RunCommandOutput { exit_code: None, cancelled: true, ..out("a") }, "a\n[Cancelled]"),
            (
                RunCommandOutput { background: running(1, vec![]), ..out("a\n") },
                "a\n[Stopped 1 background process]",
            ),
            (
                RunCommandOutput {
                    background: running(2, vec![]),
                    exit_code: Some(2),
                    ..out("a\n")
                },
                "a\n[Exit code: 2]\n[Stopped 2 background processes]",
            ),
            (
                RunCommandOutput { background: running(2, vec![]), timed_out: true, ..out("a\n") },
                "a\n[Timed out after 30s]",
            ),
            (
                RunCommandOutput { background: running(0, vec![7, 8]), ..out("a\n") },
                "a\n[Still running in the background: 7, 8]",
            ),
            (
                RunCommandOutput { survivors: vec![7], timed_out: true, ..out("a\n") },
                "a\n[Timed out after 30s]\n[Could not be stopped: 7]",
            ),
        ];
        for (report, text) in table {
            assert_eq!(report.to_string(), text);
            let is_verbatim = !text.contains(['[', '(']);
            assert_eq!(report.is_verbatim(), is_verbatim, "{text}");
        }
    }

    #[test]
    fn times_are_told_as_people_write_them() {
        let table = [
            (Duration::from_millis(1), "1ms"),
            (Duration::from_millis(250), "250ms"),
            (Duration::from_secs(1), "1s"),
            (Duration::from_millis(1500), "1.5s"),
            (Duration::from_nanos(29_999_812_345), "30s"),
            (Duration::from_mins(10), "600s"),
        ];
        for (duration, told) in table {
            assert_eq!(time(duration), told);
        }
    }

    #[test]
    fn the_status_of_a_shell_is_the_commands_own() {
        let status = |exit_code, signal| RunCommandOutput { exit_code, signal, ..report() };
        assert_eq!(status(Some(0), None).exit_status(), Some(0));
        assert_eq!(status(Some(255), None).exit_status(), Some(255));
        assert_eq!(status(None, Some(9)).exit_status(), Some(137));
        assert_eq!(status(None, None).exit_status(), None);
    }
}
