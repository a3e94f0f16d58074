//! Runs one command from its start to the report.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::capture::{OutputReader, Transcript};
use super::policy::CommandPolicy;
use super::process::{Ending, Launch, Process};
use super::process_tree::{ProcessTree, Stopped};
use crate::context::{Call, Incomplete};
use crate::error::{Error, ErrorCode};
use ripkit_fs::{Access, Workspace, WorkspacePath, escape};

/// How long to wait for more output after the command has ended while another process still has the
/// pipe open: long enough for the end of a pipeline, short enough not to delay the answer
/// noticeably.
const SILENCE: Duration = Duration::from_millis(50);

/// How long a command that must stop has to clean up, for instance to remove its lock files.
const GRACE: Duration = Duration::from_millis(200);

/// `E2BIG`: arguments and environment are too long.
const TOO_LONG: i32 = 7;

/// A command and how to run it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandRequest<'a> {
    pub(crate) command: &'a str,
    /// The directory to start in.
    pub(crate) directory: &'a str,
    pub(crate) timeout: Duration,
}

/// The result of a command.
#[derive(Debug)]
pub(crate) struct CommandReport {
    /// The shell that ran it.
    pub(crate) shell: String,
    pub(crate) transcript: Transcript,
    /// How the shell ended.
    pub(crate) ending: Ending,
    /// Why it was stopped, if it was.
    pub(crate) stopped_by: Option<Incomplete>,
    /// How long it was allowed to run.
    pub(crate) allowed: Duration,
    pub(crate) took: Duration,
    /// How many processes other than the shell were stopped.
    pub(crate) stopped: usize,
    /// The process IDs of those that were left running.
    pub(crate) kept: Vec<i32>,
    /// The process IDs of those that could not be killed.
    pub(crate) survivors: Vec<i32>,
    /// Differences from the request, one sentence each.
    pub(crate) notes: Vec<String>,
}

/// Runs a command until it ends or must stop.
///
/// # Errors
/// `READ_ONLY` in a read-only workspace, `INVALID_ARGUMENT` for an empty command or one with a NUL
/// character, `POLICY_DENIED` if the host refuses it, `TIMEOUT` and `CANCELLED` before the start,
/// and failures to resolve the directory or start the shell. A command that fails is not an error.
pub(crate) fn run(
    workspace: &Workspace,
    policy: &CommandPolicy,
    request: CommandRequest<'_>,
    call: &Call,
) -> Result<CommandReport, Error> {
    check(workspace, policy, request.command)?;
    let directory = directory(workspace, request.directory)?;
    let started = Instant::now();
    let (allowed, mut notes) = allowed(policy, request.timeout, call, started);
    let limited = call.clone().with_timeout(allowed);
    // Declared before the process, so that the control group is removed after it has ended.
    let tree = ProcessTree::new(policy)?;
    call.commit().map_err(|why| Error::stopped(why, "the command was started"))?;
    let (mut process, shell) = start(policy, request.command, &directory, &tree)?;
    if let Some(preferred) =
        policy.shells.first().filter(|first| first.program != Path::new(&shell))
    {
        let preferred = preferred.program.display();
        notes.push(format!("there is no {preferred}: the command ran in {shell}"));
    }
    let mut output = OutputReader::new(workspace, policy.output_bytes, policy.file.as_ref());
    let stopped_by = output.wait(&mut process, &limited);
    let background = match stopped_by {
        None => finish(policy, &mut process, &mut output, &tree),
        Some(_) => stop(&mut process, &mut output, &tree),
    };
    let ending = process.reap();
    let took = started.elapsed();
    let (transcript, problem) = output.finish();
    notes.extend(problem);
    let Background { stopped: Stopped { count: stopped, survivors }, kept } = background;
    Ok(CommandReport {
        shell,
        transcript,
        ending,
        stopped_by,
        allowed,
        took,
        stopped,
        kept,
        survivors,
        notes,
    })
}

/// The processes other than the shell that were stopped or left running.
#[derive(Debug, Default)]
struct Background {
    stopped: Stopped,
    kept: Vec<i32>,
}

/// After the command has ended: reads the rest of its output and stops background processes.
fn finish(
    policy: &CommandPolicy,
    process: &mut Process,
    output: &mut OutputReader<'_>,
    tree: &ProcessTree,
) -> Background {
    output.drain(process, SILENCE);
    if policy.keep_background {
        let kept = tree.living(process).into_iter().collect();
        return Background { kept, ..Background::default() };
    }
    Background { stopped: tree.kill(process, Vec::new()), ..Background::default() }
}

/// Stops all processes of the command: SIGTERM, a grace period, SIGKILL.
fn stop(process: &mut Process, output: &mut OutputReader<'_>, tree: &ProcessTree) -> Background {
    let terminated = tree.terminate(process);
    let is_gone = |process: &Process, is_closed| tree.is_gone(process, &terminated, is_closed);
    output.wait_until(process, GRACE, is_gone);
    let stopped = tree.kill(process, terminated);
    output.drain(process, Duration::ZERO);
    Background { stopped, ..Background::default() }
}

fn check(workspace: &Workspace, policy: &CommandPolicy, command: &str) -> Result<(), Error> {
    let invalid = |why: &str| Error::new(ErrorCode::InvalidArgument, format!("the command {why}"));
    if workspace.is_read_only() {
        let message = "a command may change files, and the workspace is read-only";
        return Err(Error::new(ErrorCode::ReadOnly, message));
    }
    if command.trim().is_empty() {
        return Err(invalid("is empty"));
    }
    if command.contains('\0') {
        return Err(invalid("holds a NUL character, which no shell takes"));
    }
    match policy.objection(command) {
        None => Ok(()),
        Some(why) => {
            let message = format!("the host refuses this command: {why}");
            Err(Error::new(ErrorCode::PolicyDenied, message))
        }
    }
}

fn directory(workspace: &Workspace, path: &str) -> Result<WorkspacePath, Error> {
    let directory = workspace.resolve(path, Access::Read)?;
    if directory.is_directory() {
        return Ok(directory);
    }
    Err(Error::new(ErrorCode::InvalidPath, format!("{directory} is not a directory"))
        .at(directory.as_str())
        .with_hint("Name the directory to start in, or leave cwd out."))
}

/// How long the command may run, and a note if the policy allows less than `asked`.
fn allowed(
    policy: &CommandPolicy,
    asked: Duration,
    call: &Call,
    now: Instant,
) -> (Duration, Vec<String>) {
    let max = policy.max_time;
    let note = (asked > max)
        .then(|| format!("timeout_ms was cut to {}, the most that is allowed", max.as_millis()));
    let left = call.deadline().map(|deadline| deadline.saturating_duration_since(now));
    let allowed = asked.min(max).min(left.unwrap_or(Duration::MAX));
    (allowed, note.into_iter().collect())
}

/// Starts the first of the shells that is there; returns the name of it, too.
fn start(
    policy: &CommandPolicy,
    command: &str,
    directory: &WorkspacePath,
    tree: &ProcessTree,
) -> Result<(Process, String), Error> {
    let (name, value) = tree.variable();
    let mut environment: Vec<(OsString, OsString)> = policy.environment.clone();
    environment.push((name.into(), value.into()));
    let mut shells = policy.shells.iter().peekable();
    while let Some(shell) = shells.next() {
        let mut arguments: Vec<&OsStr> = shell.arguments.iter().map(AsRef::as_ref).collect();
        arguments.push(command.as_ref());
        let launch = Launch {
            program: shell.program.as_os_str(),
            arguments,
            environment: &environment,
            directory: directory.enter()?,
            entrance: tree.entrance()?,
        };
        let name = escape::display_path(launch.program.as_encoded_bytes()).into_owned();
        // A directory of the PATH that may not be searched denies permission too.
        let is_missing = |error: &io::Error| {
            matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
        };
        match Process::start(launch) {
            Ok(process) => return Ok((process, name)),
            Err(error) if is_missing(&error) && shells.peek().is_some() => {}
            Err(error) => return Err(not_started(&name, command, directory, error)),
        }
    }
    Err(Error::new(ErrorCode::Internal, "the policy names no shell"))
}

fn not_started(shell: &str, command: &str, directory: &WorkspacePath, error: io::Error) -> Error {
    if error.raw_os_error() == Some(TOO_LONG) {
        let message = format!(
            "the command is {} bytes long, more than the system passes to a program",
            command.len()
        );
        return Error::new(ErrorCode::InvalidArgument, message)
            .because(error)
            .with_hint("Write it to a file and run that file.");
    }
    let message = format!("cannot start the shell {shell} in {directory}: {error}");
    Error::new(ErrorCode::of_io(&error), message).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_of_all_time_limits_applies() {
        let now = Instant::now();
        let seconds = Duration::from_secs;
        let until = |count| Call::default().with_deadline(now + seconds(count));
        let policy = CommandPolicy::new().with_max_time(seconds(20));
        let table = [
            (seconds(10), Call::default(), seconds(10), None),
            (seconds(30), Call::default(), seconds(20), Some("timeout_ms was cut to 20000")),
            (seconds(10), until(5), seconds(5), None),
            (seconds(30), until(5), seconds(5), Some("timeout_ms was cut to 20000")),
            (seconds(10), until(50), seconds(10), None),
        ];
        for (asked, call, wanted, note) in table {
            let (allowed, notes) = allowed(&policy, asked, &call, now);
            assert_eq!(allowed, wanted, "{asked:?}");
            let note_text = notes.first().map(String::as_str);
            assert_eq!(note_text.is_some(), note.is_some(), "{note_text:?}");
            assert!(
                note_text.unwrap_or_default().starts_with(note.unwrap_or_default()),
                "{note_text:?}"
            );
        }
    }
}
