//! The command line: one command per tool, and what is not a tool.

use std::collections::HashSet;
use std::ffi::OsString;

use clap::builder::PossibleValuesParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};
use ripkit::ToolSpec;
use ripkit::schema::Format;

use super::index::{self, INDEX};
use super::skills::{self, SKILLS};
use super::{allowance, argument, assets, globals, help, placed, view};

/// The command that calls a tool as an agent does.
pub(super) const CALL: &str = "call";
/// The command that prints the descriptions of the tools.
pub(super) const SPEC: &str = "spec";
/// The ids of the arguments of both.
pub(super) const NAME: &str = "name";
pub(super) const ARGUMENTS: &str = "arguments";
pub(super) const FORMAT: &str = "format";

const MORE: &str = "Options and examples: ripkit --help. One command: ripkit COMMAND -h.";

const MORE_OF_ONE: &str = "--help tells all of it, with examples and global options.";

const PACKAGERS: &str = "For packagers: ripkit completions SHELL, ripkit man [COMMAND].";

const STATUSES: &str = "Exit status: 0 done or found, 1 nothing found, 2 error or bad usage, \
    124 out of time, 130 interrupted.";

/// The whole command line for these tools.
pub(super) fn command_line(specs: &[ToolSpec]) -> Command {
    // Help never yields; commands go before the aliases of other tools.
    let own = ["help", CALL, SPEC, SKILLS, INDEX, assets::COMPLETIONS, assets::MAN];
    let mut taken: HashSet<String> = own.map(str::to_owned).into();
    taken.extend(servers().iter().map(|command| command.get_name().to_owned()));
    taken.extend(specs.iter().map(|spec| spec.command.to_owned()));
    let tools = specs.iter().map(|spec| tool(spec, &mut taken));
    let line = Command::new("ripkit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The file tools of an LLM agent, from a shell")
        .after_help(MORE)
        .after_long_help(format!("{PACKAGERS}\n\n{STATUSES}"))
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(help::options())
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(globals::options())
        .args(allowance::options())
        .subcommands(tools.collect::<Vec<_>>())
        .subcommand(call())
        .subcommand(spec())
        .subcommand(skills::command())
        .subcommand(index::command())
        .subcommands(servers())
        .subcommands(assets::commands());
    let line = help::shaped(line, &help::first_examples(specs)).help_template(help::DENSE);
    line.mut_subcommands(|command| command.after_help(MORE_OF_ONE).after_long_help(STATUSES))
}

/// What the words of a command line mean.
pub(super) fn matches(line: &Command, words: &[OsString]) -> Result<ArgMatches, clap::Error> {
    let placed = line.clone().try_get_matches_from(words);
    placed.or_else(|error| match error.kind() {
        // What is missing in its place may stand behind its flag.
        ErrorKind::MissingRequiredArgument => {
            placed::by_name(line.clone()).try_get_matches_from(words).map_err(|_| error)
        }
        _ => Err(error),
    })
}

/// The protocols that are built in.
fn servers() -> Vec<Command> {
    vec![
        #[cfg(feature = "mcp")]
        super::mcp::command(),
    ]
}

fn call() -> Command {
    let name =
        Arg::new(NAME).value_name("NAME").required(true).help("The tool, by any of its names");
    let arguments = Arg::new(ARGUMENTS)
        .value_name("JSON")
        .default_value("{}")
        .help("The arguments as one JSON object, or - for standard input");
    Command::new(CALL).about("Call a tool as an agent does, with JSON").arg(name).arg(arguments)
}

fn spec() -> Command {
    let names = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()));
    let format = Arg::new(FORMAT)
        .long("format")
        .value_name("FORMAT")
        .value_parser(names)
        .default_value(Format::default().as_str())
        .help("The protocol or provider to render for");
    Command::new(SPEC).about("Print the descriptions of the tools as one JSON document").arg(format)
}

fn tool(spec: &ToolSpec, taken: &mut HashSet<String>) -> Command {
    let names = std::iter::once(spec.name.as_str()).chain(spec.aliases.iter().copied());
    let aliases = names.flat_map(|name| [name.to_owned(), name.replace('_', "-")]);
    let aliases: Vec<String> = aliases.filter(|alias| taken.insert(alias.clone())).collect();
    let command = Command::new(spec.command)
        .aliases(aliases)
        .about(help::about(spec))
        .long_about(spec.description.clone())
        .args(argument::arguments(spec))
        .args(index::option(spec))
        .args(view::options(spec));
    help::shaped(command, &help::examples(spec))
}

#[cfg(test)]
mod tests;
