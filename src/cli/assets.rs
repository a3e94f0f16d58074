//! What packagers install beside the program: completions for shells, and pages of the manual.

use std::io;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use ripkit::{Error, ErrorCode};

use super::{exit, print};

/// The command that prints completions.
pub(super) const COMPLETIONS: &str = "completions";
/// The command that prints a page of the manual.
pub(super) const MAN: &str = "man";

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "powershell", "elvish"];
const SHELL: &str = "shell";
const PAGE: &str = "page";

/// The command lines of both; the list of commands is for those who look for a tool.
pub(super) fn commands() -> [Command; 2] {
    let parser = PossibleValuesParser::new(SHELLS).try_map(|name| name.parse::<Shell>());
    let shell = Arg::new(SHELL).value_name("SHELL").required(true).value_parser(parser);
    let page = Arg::new(PAGE).value_name("COMMAND");
    [
        Command::new(COMPLETIONS)
            .about("Print the completions for a shell")
            .arg(shell.help("The shell that will read them"))
            .hide(true),
        Command::new(MAN)
            .about("Print the manual page of the program, or of one command")
            .arg(page.help("The command to print the page of; without it, the program"))
            .hide(true),
    ]
}

/// Prints the completions of this command line.
pub(super) fn completions(mut line: Command, matches: &ArgMatches) -> io::Result<u8> {
    let Some(shell) = matches.get_one::<Shell>(SHELL) else { return Ok(exit::FAILED) };
    let name = line.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(*shell, &mut line, name, &mut script);
    print::bytes(&script).map(|()| exit::DONE)
}

/// Prints a page of the manual in roff.
pub(super) fn man(mut line: Command, matches: &ArgMatches) -> io::Result<u8> {
    line.build();
    let page = match matches.get_one::<String>(PAGE) {
        None => Ok(line),
        Some(name) => page(&line, name),
    };
    match page {
        Ok(page) => {
            let mut text = Vec::new();
            Man::new(page).render(&mut text)?;
            print::bytes(&text).map(|()| exit::DONE)
        }
        Err(error) => {
            print::error(&error);
            Ok(exit::FAILED)
        }
    }
}

fn page(line: &Command, name: &str) -> Result<Command, Error> {
    let command = line.find_subcommand(name).ok_or_else(|| {
        let message = format!("there is no command {name:?}");
        let hint = "`ripkit --help` lists them.";
        Error::new(ErrorCode::InvalidArgument, message).with_hint(hint)
    })?;
    // The page of `ripkit search` is called ripkit-search.
    let full = command.get_display_name().unwrap_or(name).to_owned();
    let version = env!("CARGO_PKG_VERSION");
    Ok(command.clone().name(full).version(version))
}
