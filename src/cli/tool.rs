//! The commands that stand for tools, as a person types them.

use std::io;
use std::time::Instant;

use clap::{ArgMatches, Command};
use ripkit::{Answer, Call, Effect, Error, ErrorCode, Index, Outcome, ToolSpec};
use serde_json::{Map, Value};

use super::globals::Globals;
use super::printer::Printer;
use super::view::{self, View};
use super::{allowance, arguments, exit, flags, help, index, placed, running, stats, toolkit};

/// The most results that `--all` asks a tool for.
const ALL_RESULTS: u64 = u32::MAX as u64;

/// The command line of one tool, which is found under these names too.
pub(super) fn command(spec: &ToolSpec, aliases: Vec<String>) -> Command {
    let command = Command::new(spec.command)
        .aliases(aliases)
        .about(help::about(spec))
        .long_about(spec.description.clone())
        .args(flags::arguments(spec))
        .args(placed::twins(spec))
        .args(index::option(spec))
        .args(view::options(spec));
    help::shaped(command, &help::examples(spec))
}

/// Calls the tool and prints its answer.
pub(super) fn run(spec: &ToolSpec, matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let view = View::of(matches);
    let printer = Printer::new(view, globals);
    let started = Instant::now();
    let called = called(spec, matches, globals, printer.call());
    let (answer, index) = called.unwrap_or_else(|error| (Answer::from(error), None));
    let elapsed = started.elapsed();
    printer.print(&answer, elapsed)?;
    if view.stats {
        stats::tell(answer.details(), elapsed);
    }
    let found = answer.outcome() == Some(Outcome::Done);
    // As for grep, -q asks only whether something is there.
    let status = if view.quiet && found { exit::DONE } else { exit::status(&answer) };
    // Whoever interrupts wants an end.
    if status != exit::INTERRUPTED {
        index::save(index.as_ref());
    }
    Ok(status)
}

fn called(
    spec: &ToolSpec,
    matches: &ArgMatches,
    globals: &Globals,
    call: Call,
) -> Result<(Answer, Option<Index>), Error> {
    if globals.read_only && spec.effect != Effect::Read {
        let message = format!("--read-only leaves out {}, which changes files", spec.command);
        return Err(Error::new(ErrorCode::ReadOnly, message));
    }
    allowance::check(spec, globals.allows_commands)?;
    let (tools, standing) = toolkit::open(globals, &spec.name)?;
    let tools = index::for_a_call(tools, matches)?;
    let mut args = arguments::arguments(spec, matches, &standing)?;
    set_max_results(&mut args, spec, matches, globals);
    let args = Value::Object(args);
    let answer = running::attended(call, |call| tools.call(&spec.name, args, call));
    Ok((answer, tools.index().cloned()))
}

/// All results with `--all`, and one where nothing but the status is wanted.
fn set_max_results(
    args: &mut Map<String, Value>,
    spec: &ToolSpec,
    matches: &ArgMatches,
    globals: &Globals,
) {
    let Some(capped) = spec.input_schema.pointer("/properties/max_results") else { return };
    if globals.all {
        let most = capped.get("maximum").and_then(Value::as_u64).unwrap_or(ALL_RESULTS);
        args.entry("max_results").or_insert_with(|| most.min(ALL_RESULTS).into());
    }
    if View::of(matches).quiet {
        args.entry("max_results").or_insert(1.into());
    }
}
