//! The command line: one command per tool, and what is not a tool.

use std::collections::HashSet;
use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{ArgMatches, Command};
use ripkit::ToolSpec;

use super::{allowance, assets, call, globals, help, index, placed, skills, spec, tool};

const MORE: &str = "Options and examples: ripkit --help. One command: ripkit COMMAND -h.";

const MORE_OF_ONE: &str = "--help tells all of it, with examples and global options.";

const PACKAGERS: &str = "For packagers: ripkit completions SHELL, ripkit man [COMMAND].";

const STATUSES: &str = "Exit status: 0 done or found, 1 nothing found, 2 error or bad usage, \
    124 out of time, 130 interrupted.";

/// The whole command line for these tools.
pub(super) fn command_line(specs: &[ToolSpec]) -> Command {
    // Help never yields; commands go before the aliases of other tools.
    let mut taken: HashSet<String> = ["help".to_owned()].into();
    taken.extend(others().iter().map(|command| command.get_name().to_owned()));
    taken.extend(specs.iter().map(|spec| spec.command.to_owned()));
    let tools = specs.iter().map(|spec| tool::command(spec, aliases(spec, &mut taken)));
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
        .subcommands(others());
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

/// The commands that stand for no tool.
fn others() -> Vec<Command> {
    let mut others = vec![
        call::command(),
        spec::command(),
        skills::command(),
        index::command(),
        #[cfg(feature = "mcp")]
        super::mcp::command(),
    ];
    others.extend(assets::commands());
    others
}

/// The other names of a tool, in both spellings, that are not taken.
fn aliases(spec: &ToolSpec, taken: &mut HashSet<String>) -> Vec<String> {
    let names = std::iter::once(spec.name.as_str()).chain(spec.aliases.iter().copied());
    let aliases = names.flat_map(|name| [name.to_owned(), name.replace('_', "-")]);
    aliases.filter(|alias| taken.insert(alias.clone())).collect()
}

#[cfg(test)]
mod tests;
