//! The commands that call and describe tools: one for each tool, `ripkit call` and `ripkit spec`.

use std::io;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use ripkit::schema::{self, Format};
use ripkit::shell;
use ripkit::toolkit::standard_spec;
use ripkit::{Answer, Call, Effect, Error, ErrorCode, Index, Outcome, Syntax, ToolSpec, Toolkit};
use serde_json::{Map, Value};

use super::args;
use super::call::{exit, exit_status, run_interruptible};
use super::flags::{self, GlobalFlags, OutputFlags};
use super::help;
use super::index;
use super::print::{self, Printer};
use super::shorts;
use super::skills;

pub(super) const CALL: &str = "call";
pub(super) const TOOL: &str = "name";
const ARGUMENTS: &str = "arguments";

pub(super) const SPEC: &str = "spec";
const FORMAT: &str = "format";

/// The `max_results` of `--all`, if the schema sets no lower maximum.
const ALL_RESULTS: u64 = u32::MAX as u64;

/// The `max_depth` of `--all`: more levels than a path can have.
const ALL_LEVELS: u32 = 100_000;

/// The command of one tool, with these aliases.
pub(super) fn command(spec: &ToolSpec, aliases: Vec<String>) -> Command {
    let command = Command::new(spec.command)
        .aliases(aliases)
        // As in getopt, the last of several values counts.
        .args_override_self(true)
        .about(help::about(spec))
        .long_about(spec.description.clone())
        .args(args::options(spec))
        .args(args::named_positionals(spec))
        .args(index::option(spec))
        .args(flags::output_options(spec));
    help::with_layout(command, &args::examples(spec))
}

/// Calls the tool and prints its answer.
pub(super) fn run(spec: &ToolSpec, matches: &ArgMatches, globals: GlobalFlags) -> io::Result<u8> {
    // What another program reads is not cut, unless it is an answer for an agent.
    let globals = &globals.for_program();
    match args::parse(spec, matches, &globals.current_dir()) {
        Ok(args) => answer(spec, matches, globals, args, OutputFlags::parse(matches)),
        Err(error) => {
            let answer = Answer::failed(error, &print::shell_format());
            Printer::new(OutputFlags::parse(matches), globals).print(&answer)?;
            Ok(exit_status(&answer))
        }
    }
}

/// Calls the tool with these arguments and prints its answer.
pub(super) fn answer(
    spec: &ToolSpec,
    matches: &ArgMatches,
    globals: &GlobalFlags,
    args: Map<String, Value>,
    output: OutputFlags,
) -> io::Result<u8> {
    let printer = Printer::new(output, globals);
    let missing = index::missing_directory(matches);
    let started = Instant::now();
    let mut call = printer.call();
    if shorts::globs_are_in_order(&args) {
        call = shell::with_globs_in_order(call);
    }
    let called = call_tool(spec, matches, globals, args, output.quiet, call);
    let (answer, index) =
        called.unwrap_or_else(|error| (Answer::failed(error, &print::shell_format()), None));
    let elapsed = started.elapsed();
    printer.print(&answer)?;
    if output.stats {
        print::stats(answer.details(), elapsed);
    }
    // As for grep, a result is all that -q asks for, even if the search is incomplete.
    let found = answer.outcome() == Some(Outcome::Done);
    let status = if output.quiet && found { exit::DONE } else { exit_status(&answer) };
    // After an interrupt the program ends without delay.
    if status != exit::INTERRUPTED {
        index::save(index.as_ref());
        index::note_if_made(missing);
    }
    Ok(status)
}

fn call_tool(
    spec: &ToolSpec,
    matches: &ArgMatches,
    globals: &GlobalFlags,
    mut args: Map<String, Value>,
    quiet: bool,
    call: Call,
) -> Result<(Answer, Option<Index>), Error> {
    if globals.read_only && spec.effect != Effect::Read {
        let message = format!("--read-only leaves out {}, which changes files", spec.command);
        return Err(Error::new(ErrorCode::ReadOnly, message));
    }
    globals.check_allowed(spec)?;
    set_limits(&mut args, spec, globals, quiet);
    let tools = index::for_one_call(open_toolkit(globals, &spec.name)?, matches)?;
    let tools = tools.with_syntax(Syntax::Shell);
    let args = Value::Object(args);
    let answer = run_interruptible(call, |call| tools.call(&spec.name, args, call));
    Ok((answer, tools.index().cloned()))
}

/// The toolkit for calling one tool. Skills are loaded only if no other tool has that name.
fn open_toolkit(globals: &GlobalFlags, name: &str) -> Result<Toolkit, Error> {
    let roots = [globals.root()];
    let tools = globals.open_toolkit(&roots)?;
    Ok(match tools.spec(name) {
        Some(_) => tools,
        None => tools.with_listed_skills(skills::default_catalog(&roots)?),
    })
}

/// All results at all depths with `--all`; one result with `--quiet`, whose answer is the exit status.
fn set_limits(args: &mut Map<String, Value>, spec: &ToolSpec, globals: &GlobalFlags, quiet: bool) {
    let Some(schema) = spec.input_schema.pointer("/properties/max_results") else { return };
    if globals.all {
        let max = schema.get("maximum").and_then(Value::as_u64).unwrap_or(ALL_RESULTS);
        args.entry("max_results").or_insert_with(|| max.min(ALL_RESULTS).into());
        // The only tool that has a default depth.
        if spec.name == "list_files" {
            args.entry("max_depth").or_insert(ALL_LEVELS.into());
        }
    }
    if quiet {
        args.entry("max_results").or_insert(1.into());
    }
}

/// The command `call`, which takes the JSON that an agent sends and prints the text that it reads.
pub(super) fn call_command() -> Command {
    let name =
        Arg::new(TOOL).value_name("NAME").required(true).help("The tool, by any of its names");
    let arguments = Arg::new(ARGUMENTS)
        .value_name("JSON")
        .default_value("{}")
        .help("The arguments as one JSON object, or - for standard input");
    Command::new(CALL).about("Call a tool as an agent does, with JSON").arg(name).arg(arguments)
}

/// Calls the tool and prints its answer.
pub(super) fn run_call(matches: &ArgMatches, globals: &GlobalFlags) -> io::Result<u8> {
    let answer = call_with_json(matches, globals).unwrap_or_else(Answer::from);
    if globals.json {
        print::json(&answer)?;
    } else {
        print::text(&print::terminal_safe(answer.text()))?;
    }
    Ok(exit_status(&answer))
}

fn call_with_json(matches: &ArgMatches, globals: &GlobalFlags) -> Result<Answer, Error> {
    let text = |id| matches.get_one::<String>(id).map_or("", String::as_str);
    let name = text(TOOL);
    let args = match text(ARGUMENTS) {
        "-" => args::standard_input()?,
        args => args.to_owned(),
    };
    let tools = open_toolkit(globals, name)?;
    if tools.spec(name).is_none() {
        standard_spec(name).map_or(Ok(()), |spec| globals.check_allowed(&spec))?;
    }
    Ok(run_interruptible(Call::default(), |call| tools.call(name, Value::String(args), call)))
}

/// The command `spec`, which prints the descriptions of the tools for a model.
pub(super) fn spec_command() -> Command {
    let names = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()));
    let format = Arg::new(FORMAT)
        .long("format")
        .value_name("FORMAT")
        .value_parser(names)
        .default_value(Format::default().as_str())
        .help("The protocol or provider to render for");
    Command::new(SPEC).about("Print the descriptions of the tools as one JSON document").arg(format)
}

/// Prints the descriptions of the tools that the global flags leave.
pub(super) fn run_spec(
    specs: &[ToolSpec],
    matches: &ArgMatches,
    globals: &GlobalFlags,
) -> io::Result<u8> {
    let format = matches.get_one::<String>(FORMAT).and_then(|name| name.parse::<Format>().ok());
    let shown = specs.iter().filter(|spec| {
        let is_allowed = globals.check_allowed(spec).is_ok();
        is_allowed && (!globals.read_only || spec.effect == Effect::Read)
    });
    let document = schema::render(shown, format.unwrap_or_default());
    print::text(&format!("{document:#}"))?;
    Ok(exit::DONE)
}
