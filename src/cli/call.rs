//! `ripkit call`: what an agent sends, and the text that it reads.

use std::io;

use clap::{Arg, ArgMatches, Command};
use ripkit::{Answer, Call, Error, ToolSpec};
use serde_json::Value;

use super::globals::Globals;
use super::{allowance, exit, input, print, render, running, toolkit};

/// The name of the command.
pub(super) const NAME: &str = "call";

const TOOL: &str = "name";
const ARGUMENTS: &str = "arguments";

/// The command line of it.
pub(super) fn command() -> Command {
    let name =
        Arg::new(TOOL).value_name("NAME").required(true).help("The tool, by any of its names");
    let arguments = Arg::new(ARGUMENTS)
        .value_name("JSON")
        .default_value("{}")
        .help("The arguments as one JSON object, or - for standard input");
    Command::new(NAME).about("Call a tool as an agent does, with JSON").arg(name).arg(arguments)
}

/// Calls the tool and prints its answer.
pub(super) fn run(specs: &[ToolSpec], matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let answer = answer(specs, matches, globals).unwrap_or_else(Answer::from);
    if globals.json {
        print::json(&answer)?;
    } else {
        print::text(&render::harmless(answer.text()))?;
    }
    Ok(exit::status(&answer))
}

fn answer(specs: &[ToolSpec], matches: &ArgMatches, globals: &Globals) -> Result<Answer, Error> {
    let text = |id| matches.get_one::<String>(id).map_or("", String::as_str);
    let name = text(TOOL);
    let args = match text(ARGUMENTS) {
        "-" => input::standard_input()?,
        args => args.to_owned(),
    };
    let (tools, _) = toolkit::open(globals, name)?;
    let left_out = specs.iter().find(|spec| tools.spec(name).is_none() && spec.is_called(name));
    left_out.map_or(Ok(()), |spec| allowance::check(spec, globals.allows_commands))?;
    Ok(running::attended(Call::default(), |call| tools.call(name, Value::String(args), call)))
}
