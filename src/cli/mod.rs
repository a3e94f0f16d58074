//! The command line, assembled from the toolkit: it names no tool.

#![expect(
    clippy::disallowed_methods,
    reason = "a program reads its environment and starts at its directory; the library does not"
)]

mod allowance;
mod argument;
mod arguments;
mod assets;
mod command;
mod example;
mod exit;
mod globals;
mod help;
mod home;
mod index;
mod interrupt;
#[cfg(feature = "mcp")]
mod mcp;
mod parameter;
mod placed;
mod print;
mod progress;
mod render;
mod root;
mod skills;
mod stats;
mod view;

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Read};
use std::panic;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use clap::ArgMatches;
use ripkit::schema::{self, Format};
use ripkit::{
    Answer, Call, Cancel, Effect, Error, ErrorCode, Index, TextStream, ToolSpec, Toolkit, toolkit,
};
use serde_json::Value;

use self::globals::Globals;
use self::progress::ProgressLine;
use self::root::Standing;
use self::view::View;

/// The most results that `--all` asks a tool for.
const ALL_RESULTS: u64 = u32::MAX as u64;

/// Runs the program with the arguments of the process.
pub(crate) fn run() -> ExitCode {
    quiet_panics();
    let specs = toolkit::standard_specs();
    let words: Vec<OsString> = env::args_os().collect();
    let matches = match command::matches(&command::command_line(&specs), &words) {
        Ok(matches) => matches,
        Err(usage) => return ExitCode::from(print::usage(usage)),
    };
    let Some((name, matches)) = matches.subcommand() else { return ExitCode::from(exit::FAILED) };
    let globals = Globals::of(matches);
    let printed = match name {
        skills::SKILLS => skills::run(matches),
        index::INDEX => index::run(matches, &globals),
        command::CALL => call(&specs, matches, &globals),
        assets::COMPLETIONS => assets::completions(command::command_line(&specs), matches),
        assets::MAN => assets::man(command::command_line(&specs), matches),
        command::SPEC => print_specs(&specs, matches, &globals),
        #[cfg(feature = "mcp")]
        mcp::NAME => Ok(serve(matches, &globals)),
        _ => tool(&specs, name, matches, &globals),
    };
    ExitCode::from(printed.unwrap_or_else(|error| print::trouble(&error)))
}

/// A panic becomes an answer in one line; who wants to know more sets `RUST_BACKTRACE`.
fn quiet_panics() {
    if env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|_| {}));
    }
}

/// What an agent sends, and the text that it reads.
fn call(specs: &[ToolSpec], matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let text = |id| matches.get_one::<String>(id).map_or("", String::as_str);
    let args = match text(command::ARGUMENTS) {
        "-" => standard_input(),
        args => Ok(args.to_owned()),
    };
    let name = text(command::NAME);
    let called = args.and_then(|args| {
        let (tools, _) = open(globals, name)?;
        let left_out = specs.iter().find(|spec| tools.spec(name).is_none() && spec.is_called(name));
        left_out.map_or(Ok(()), |spec| allowance::check(spec, globals.allows_commands))?;
        Ok(answered(&tools, name, Value::String(args), Call::default()))
    });
    let answer = called.unwrap_or_else(Answer::from);
    if globals.json {
        print::json(&answer)?;
    } else {
        print::text(&render::harmless(answer.text()))?;
    }
    Ok(exit::status(&answer))
}

/// Standard output belongs to the client; what keeps the server from starting goes elsewhere.
#[cfg(feature = "mcp")]
fn serve(matches: &ArgMatches, globals: &Globals) -> u8 {
    let serve = || {
        let skills = skills::of_here(globals)?;
        let tools = without_skills(globals)?.with_listed_skills(skills.clone());
        let tools = index::for_a_server(tools, matches)?;
        let index = tools.index().cloned();
        mcp::serve(tools, skills, matches).inspect(|()| index::save(index.as_ref()))
    };
    match serve() {
        Ok(()) => exit::DONE,
        Err(error) => {
            print::error(&error);
            exit::FAILED
        }
    }
}

fn print_specs(specs: &[ToolSpec], matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let asked = matches.get_one::<String>(command::FORMAT);
    let format =
        Format::ALL.iter().find(|format| Some(format.as_str()) == asked.map(String::as_str));
    let shown = specs.iter().filter(|spec| {
        let is_allowed = allowance::check(spec, globals.allows_commands).is_ok();
        is_allowed && (!globals.read_only || spec.effect == Effect::Read)
    });
    let document = schema::render(shown, format.copied().unwrap_or_default());
    print::text(&format!("{document:#}"))?;
    Ok(exit::DONE)
}

/// A command that stands for a tool, as a person types it.
fn tool(specs: &[ToolSpec], name: &str, matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let asked = specs.iter().find(|spec| spec.command == name);
    let view = View::of(matches);
    let started = Instant::now();
    let text = Arc::new(Mutex::new(print::Stream::new()));
    // What goes to a file or another program as it is need not be held in memory first.
    let shows_text = !globals.json && !view.quiet && !view.events;
    let streams = shows_text && !globals.color && !io::stdout().is_terminal();
    let call = Call::default();
    let call = if view.events { call.with_exact_lines() } else { call };
    let streamed = TextStream::new(text.clone());
    let call = if streams || view.events { call.with_text(streamed) } else { call };
    let (answer, index) = asked
        .map_or_else(|| Err(no_command(name)), |spec| called(spec, matches, globals, call))
        .unwrap_or_else(|error| (Answer::from(error), None));
    let elapsed = started.elapsed();
    if globals.json {
        print::json(&answer)?;
    } else if let Some(error) = answer.error() {
        print::error(error);
    } else if view.events {
        let Some(events) = answer.events(elapsed) else {
            print::error(&no_events());
            return Ok(exit::FAILED);
        };
        text.lock().unwrap_or_else(PoisonError::into_inner).finish(true)?;
        print::json_lines(&events)?;
    } else if !view.quiet {
        if streams {
            let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.finish(answer.is_verbatim())?;
        } else if answer.is_verbatim() {
            print::exact(&render::body(&answer, false))?;
        } else {
            print::text(&render::body(&answer, globals.color))?;
        }
    }
    if !globals.json && !view.quiet {
        answer.notes().iter().for_each(|note| print::note(note));
    }
    if view.stats {
        stats::tell(answer.details(), elapsed);
    }
    let status = exit::status(&answer);
    // Whoever interrupts wants an end.
    if status != exit::INTERRUPTED {
        index::save(index.as_ref());
    }
    Ok(status)
}

/// The option is there only where answers have events.
fn no_events() -> Error {
    Error::new(ErrorCode::InvalidArgument, "this answer has no events")
}

/// Only a name that clap accepted and no tool has comes here.
fn no_command(name: &str) -> Error {
    Error::new(ErrorCode::UnknownTool, format!("no such command: {name}"))
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
    let (tools, standing) = open(globals, &spec.name)?;
    let tools = index::for_a_call(tools, matches)?;
    let mut args = arguments::arguments(spec, matches, &standing)?;
    let capped = spec.input_schema.pointer("/properties/max_results");
    if let (true, Some(capped)) = (globals.all, capped) {
        let most = capped.get("maximum").and_then(Value::as_u64).unwrap_or(ALL_RESULTS);
        args.entry("max_results").or_insert_with(|| most.min(ALL_RESULTS).into());
    }
    if let (true, Some(_)) = (View::of(matches).quiet, capped) {
        args.entry("max_results").or_insert(1.into());
    }
    let answer = answered(&tools, &spec.name, Value::Object(args), call);
    Ok((answer, tools.index().cloned()))
}

/// The toolkit for calling one tool, and where one stands in its workspace.
fn open(globals: &Globals, wanted: &str) -> Result<(Toolkit, Standing), Error> {
    let tools = without_skills(globals)?;
    // Looking for skills is spared where another tool is wanted.
    let tools = match tools.spec(wanted) {
        Some(_) => tools,
        None => tools.with_listed_skills(skills::of_here(globals)?),
    };
    Ok((tools, Standing::below(&globals.root())?))
}

/// The toolkit, but for the skills.
fn without_skills(globals: &Globals) -> Result<Toolkit, Error> {
    let root = globals.root();
    let workspace = root::open_workspace(&root, globals.relaxed, globals.read_only)?;
    let tools = Toolkit::new(workspace).with_limits(globals.limits());
    let tools = if globals.allows_commands { allowance::allow(tools) } else { tools };
    Ok(if globals.read_only { tools.read_only() } else { tools })
}

fn answered(tools: &Toolkit, name: &str, args: Value, call: Call) -> Answer {
    attended(call, |call| tools.call(name, args, call))
}

/// Does work that an interrupt stops and that shows how far it has come.
fn attended<R>(call: Call, work: impl FnOnce(&Call) -> R) -> R {
    let cancel = Cancel::new();
    // Without the handler an interrupt ends the program at once, which is what was asked.
    let _ = interrupt::cancel_on_interrupt(&cancel);
    let progress = ProgressLine::new();
    let call = progress.watch(call.with_cancel(cancel));
    let done = work(&call);
    progress.clear();
    done
}

/// All of standard input, for an argument given as `-`.
fn standard_input() -> Result<String, Error> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|reason| {
        let code = match reason.kind() {
            io::ErrorKind::InvalidData => ErrorCode::NotText,
            _ => ErrorCode::IoError,
        };
        let error = Error::new(code, format!("cannot read standard input: {reason}"));
        error.because(reason).with_hint("Only UTF-8 text can be passed on.")
    })?;
    Ok(text)
}
