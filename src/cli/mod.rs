//! The command line, assembled from the toolkit: it names no tool.

#![expect(
    clippy::disallowed_methods,
    reason = "a program reads its environment and starts at its directory; the library does not"
)]

mod allowance;
mod arguments;
mod command;
mod exit;
mod globals;
mod interrupt;
mod parameter;
mod print;
mod progress;
mod render;
mod root;
mod skills;

use std::env;
use std::io::{self, IsTerminal, Read};
use std::panic;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use clap::ArgMatches;
use ripkit::schema::{self, Format};
use ripkit::{
    Answer, Call, Cancel, Effect, Error, ErrorCode, TextStream, ToolSpec, Toolkit, toolkit,
};
use serde_json::Value;

use self::globals::Globals;
use self::progress::ProgressLine;
use self::root::Standing;

/// The most results that `--all` asks a tool for.
const ALL_RESULTS: u64 = u32::MAX as u64;

/// Runs the program with the arguments of the process.
pub(crate) fn run() -> ExitCode {
    quiet_panics();
    let specs = toolkit::standard_specs();
    let matches = match command::command_line(&specs).try_get_matches() {
        Ok(matches) => matches,
        Err(usage) => return ExitCode::from(print::usage(&usage)),
    };
    let Some((name, matches)) = matches.subcommand() else { return ExitCode::from(exit::FAILED) };
    let globals = Globals::of(matches);
    let printed = match name {
        skills::SKILLS => skills::run(matches),
        command::CALL => call(&specs, matches, &globals),
        command::SPEC => print_specs(&specs, matches, &globals),
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
        Ok(answered(&tools, name, Value::String(args), None))
    });
    let answer = called.unwrap_or_else(Answer::from);
    if globals.json {
        print::json(&answer)?;
    } else {
        print::text(answer.text())?;
    }
    Ok(exit::status(&answer))
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
    let text = Arc::new(Mutex::new(print::Stream::new()));
    // What goes to a file or another program as it is need not be held in memory first.
    let streams = !globals.json && !globals.color && !io::stdout().is_terminal();
    let stream = streams.then(|| TextStream::new(text.clone()));
    let answer = asked
        .map_or_else(|| Err(no_command(name)), |spec| called(spec, matches, globals, stream))
        .unwrap_or_else(Answer::from);
    if globals.json {
        print::json(&answer)?;
    } else if let Some(error) = answer.error() {
        print::error(error);
    } else {
        if streams {
            let mut text = text.lock().unwrap_or_else(PoisonError::into_inner);
            text.finish(answer.is_verbatim())?;
        } else if answer.is_verbatim() {
            print::exact(&render::body(&answer, false))?;
        } else {
            print::text(&render::body(&answer, globals.color))?;
        }
        answer.notes().iter().for_each(|note| print::note(note));
    }
    Ok(exit::status(&answer))
}

/// Only a name that clap accepted and no tool has comes here.
fn no_command(name: &str) -> Error {
    Error::new(ErrorCode::UnknownTool, format!("no such command: {name}"))
}

fn called(
    spec: &ToolSpec,
    matches: &ArgMatches,
    globals: &Globals,
    text: Option<TextStream>,
) -> Result<Answer, Error> {
    if globals.read_only && spec.effect != Effect::Read {
        let message = format!("--read-only leaves out {}, which changes files", spec.command);
        return Err(Error::new(ErrorCode::ReadOnly, message));
    }
    allowance::check(spec, globals.allows_commands)?;
    let (tools, standing) = open(globals, &spec.name)?;
    let mut args = arguments::arguments(spec, matches, &standing)?;
    let capped = spec.input_schema.pointer("/properties/max_results");
    if let (true, Some(capped)) = (globals.all, capped) {
        let most = capped.get("maximum").and_then(Value::as_u64).unwrap_or(ALL_RESULTS);
        args.entry("max_results").or_insert_with(|| most.min(ALL_RESULTS).into());
    }
    Ok(answered(&tools, &spec.name, Value::Object(args), text))
}

/// The toolkit for calling one tool, and where one stands in its workspace.
fn open(globals: &Globals, name: &str) -> Result<(Toolkit, Standing), Error> {
    let root = globals.root();
    let workspace = root::open_workspace(&root, globals.relaxed, globals.read_only)?;
    let tools = Toolkit::new(workspace).with_limits(globals.limits());
    let tools = if globals.allows_commands { allowance::allow(tools) } else { tools };
    let tools = if globals.read_only { tools.read_only() } else { tools };
    // Looking for skills is spared where another tool is wanted.
    let tools = match tools.spec(name) {
        Some(_) => tools,
        None => tools.with_skills(skills::of_here(globals)?),
    };
    Ok((tools, Standing::below(&root)?))
}

/// Calls a tool that an interrupt stops and that shows how far it has come; its text goes to
/// `text`, if that is given.
fn answered(tools: &Toolkit, name: &str, args: Value, text: Option<TextStream>) -> Answer {
    let cancel = Cancel::new();
    // Without the handler an interrupt ends the program at once, which is what was asked.
    let _ = interrupt::cancel_on_interrupt(&cancel);
    let progress = ProgressLine::new();
    let call = progress.watch(Call::default().with_cancel(cancel));
    let call = text.into_iter().fold(call, Call::with_text);
    let answer = tools.call(name, args, &call);
    progress.clear();
    answer
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
