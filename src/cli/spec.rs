//! `ripkit spec`: the descriptions of the tools, for whoever sends them to a model.

use std::io;

use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command};
use ripkit::schema::{self, Format};
use ripkit::{Effect, ToolSpec};

use super::globals::Globals;
use super::{allowance, exit, print};

/// The name of the command.
pub(super) const NAME: &str = "spec";

const FORMAT: &str = "format";

/// The command line of it.
pub(super) fn command() -> Command {
    let names = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()));
    let format = Arg::new(FORMAT)
        .long("format")
        .value_name("FORMAT")
        .value_parser(names)
        .default_value(Format::default().as_str())
        .help("The protocol or provider to render for");
    Command::new(NAME).about("Print the descriptions of the tools as one JSON document").arg(format)
}

/// Prints the descriptions of the tools that the global options leave.
pub(super) fn run(specs: &[ToolSpec], matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let asked = matches.get_one::<String>(FORMAT);
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
