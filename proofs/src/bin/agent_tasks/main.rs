//! Replays coding tasks as the calls that a model makes with ripkit and as the shell commands that
//! it would use otherwise, and compares the number of calls and tokens.
//!
//! ```text
//! git clone https://github.com/casey/just && git -C just checkout 4f41f609
//! cargo run --release -p ripkit-proofs --bin agent_tasks -- just [--show TASK]
//! ```
//!
//! Tasks work on that repository, which is copied, or on a generated tree. Both sides of a task must
//! print the facts that it is about, and leave the same text in the files that it changes. A call is the
//! name of a tool and its arguments in JSON, for the shell too, whose only argument is the command.
//! Tokens are estimated as a quarter of the bytes. `--show` prints what one task said on both sides.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a host may touch files and start programs by itself"
)]

mod play;
mod tasks;
mod tree;

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use self::play::{Side, Toll, play};
use self::tasks::{TASKS, TYPE_NAMES, Task, Where};

type BoxError = Box<dyn Error>;

const USAGE: &str = "usage: agent_tasks JUST_REPOSITORY [--show TASK]";

/// The commit that the facts of the tasks were taken from.
const COMMIT: &str = "4f41f609278edb6f1024e3dd7a9912946e1e7bc3";

/// Calls or tokens of a task, relative to the shell's, that are too many.
const MAX_TASK_RATIO: f64 = 2.0;

fn main() -> ExitCode {
    match run(&mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            let _ = writeln!(io::stderr(), "{error}");
            ExitCode::from(2)
        }
    }
}

/// Plays all tasks; false if a fact is missing on a side.
fn run(out: &mut impl Write) -> Result<bool, BoxError> {
    let mut arguments = env::args().skip(1);
    let repository = PathBuf::from(arguments.next().ok_or(USAGE)?);
    let shown = match (arguments.next().as_deref(), arguments.next()) {
        (None, _) => None,
        (Some("--show"), Some(task)) => Some(task),
        _ => return Err(USAGE.into()),
    };
    check_commit(&repository)?;
    let mut total = [Toll::default(), Toll::default()];
    let mut is_complete = true;
    writeln!(out, "| task | ripkit: calls / tokens in / out | shell | tokens, ratio |")?;
    writeln!(out, "|---|---|---|---|")?;
    for task in TASKS.iter().filter(|task| shown.as_ref().is_none_or(|name| name == task.name)) {
        let tolls = play_both(task, &repository, shown.is_some(), out)?;
        is_complete &= report(task, tolls, out)?;
        for (sum, toll) in total.iter_mut().zip(tolls) {
            sum.add(toll);
        }
    }
    let [ripkit, shell] = total;
    let calls = ripkit.calls as f64 / shell.calls as f64;
    let tokens = ripkit.tokens() as f64 / shell.tokens() as f64;
    writeln!(out, "| all | {ripkit} | {shell} | {tokens:.2}, calls {calls:.2} |")?;
    if shown.is_none() {
        type_names(&repository, out)?;
    }
    Ok(is_complete)
}

fn check_commit(repository: &Path) -> Result<(), BoxError> {
    let output =
        Command::new("git").arg("-C").arg(repository).args(["rev-parse", "HEAD"]).output()?;
    let head = String::from_utf8_lossy(&output.stdout);
    if head.trim() != COMMIT {
        return Err(format!("{}: check out {COMMIT} first", repository.display()).into());
    }
    Ok(())
}

/// Plays a task with ripkit and with the shell, each on a tree of its own.
fn play_both(
    task: &Task,
    repository: &Path,
    is_shown: bool,
    out: &mut impl Write,
) -> Result<[Toll; 2], BoxError> {
    let mut tolls = [Toll::default(), Toll::default()];
    for (side, toll) in [Side::Ripkit, Side::Shell].into_iter().zip(&mut tolls) {
        let directory = tempfile::tempdir()?;
        match task.place {
            Where::Just => tree::clone(repository, directory.path())?,
            Where::Generated => tree::generate(directory.path())?,
        }
        let mut transcript = String::new();
        *toll = play(task, side, directory.path(), &mut transcript)?;
        if is_shown {
            writeln!(out, "{transcript}")?;
        }
    }
    Ok(tolls)
}

/// Prints the row of a task, and what it missed; false if it missed anything.
fn report(task: &Task, tolls: [Toll; 2], out: &mut impl Write) -> Result<bool, BoxError> {
    let [ripkit, shell] = tolls;
    let ratio = ripkit.tokens() as f64 / shell.tokens() as f64;
    let is_over =
        ratio > MAX_TASK_RATIO || ripkit.calls as f64 > MAX_TASK_RATIO * shell.calls as f64;
    let mark = if is_over { " **over**" } else { "" };
    let name = task.name;
    writeln!(out, "| {name} | {ripkit} | {shell} | {ratio:.2}{mark} |")?;
    for (side, toll) in [("ripkit", ripkit), ("the shell", shell)] {
        if toll.missing > 0 {
            writeln!(out, "{name}: {side} lacks {} of the facts", toll.missing)?;
        }
    }
    Ok(ripkit.missing + shell.missing == 0)
}

/// Searches for type names, and counts how often the first answer contains the definition.
fn type_names(repository: &Path, out: &mut impl Write) -> Result<(), BoxError> {
    let toolkit = play::toolkit(repository)?;
    let mut found = 0;
    for (name, definition) in TYPE_NAMES {
        let arguments = serde_json::json!({ "pattern": name });
        let answer = toolkit.call("search", arguments, &ripkit::Call::default());
        let is_found = answer.text().contains(definition);
        found += usize::from(is_found);
        if !is_found {
            writeln!(out, "{name}: the first answer does not contain `{definition}`")?;
        }
    }
    writeln!(
        out,
        "\n{found} of {} type names: the first answer has the definition",
        TYPE_NAMES.len()
    )?;
    Ok(())
}
