//! The command line, assembled from the toolkit: it names no tool.

#![expect(
    clippy::disallowed_methods,
    reason = "a program reads its environment and starts at its directory; the library does not"
)]

mod allowance;
mod arguments;
mod assets;
mod call;
mod command_line;
mod example;
mod exit;
mod flags;
mod globals;
mod help;
mod home;
mod index;
mod input;
mod interrupt;
#[cfg(feature = "mcp")]
mod mcp;
mod parameter;
mod placed;
mod print;
mod printer;
mod progress;
mod render;
mod root;
mod running;
mod skills;
mod spec;
mod stats;
mod tool;
mod toolkit;
mod view;

use std::env;
use std::ffi::OsString;
use std::io;
use std::panic;
use std::process::ExitCode;

use clap::ArgMatches;
use ripkit::ToolSpec;
use ripkit::toolkit::standard_specs;

use self::command_line::command_line;
use self::globals::Globals;

/// Runs the program with the arguments of the process.
pub(crate) fn run() -> ExitCode {
    quiet_panics();
    let specs = standard_specs();
    let words: Vec<OsString> = env::args_os().collect();
    let status = match command_line::matches(&command_line(&specs), &words) {
        Ok(matches) => dispatched(&specs, &matches).unwrap_or_else(|error| print::trouble(&error)),
        Err(usage) => print::usage(usage),
    };
    ExitCode::from(status)
}

/// A panic becomes an answer in one line; who wants to know more sets `RUST_BACKTRACE`.
fn quiet_panics() {
    if env::var_os("RUST_BACKTRACE").is_none() {
        panic::set_hook(Box::new(|_| {}));
    }
}

/// Runs the command that was named, and returns the exit status.
fn dispatched(specs: &[ToolSpec], matches: &ArgMatches) -> io::Result<u8> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(exit::FAILED) };
    let globals = Globals::of(matches);
    match name {
        skills::NAME => skills::run(matches, &globals),
        index::NAME => index::run(matches, &globals),
        call::NAME => call::run(specs, matches, &globals),
        spec::NAME => spec::run(specs, matches, &globals),
        assets::COMPLETIONS => assets::completions(command_line(specs), matches),
        assets::MAN => assets::man(command_line(specs), matches),
        #[cfg(feature = "mcp")]
        mcp::NAME => Ok(mcp::run(matches, &globals)),
        _ => match specs.iter().find(|spec| spec.command == name) {
            Some(spec) => tool::run(spec, matches, &globals),
            None => Ok(exit::FAILED),
        },
    }
}
