//! `ripkit index`, and the options that let other commands use an index.

use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use ripkit::{Answer, Call, Error, ErrorCode, Index, IndexOptions, IndexStatus, ToolSpec, Toolkit};

use super::globals::Globals;
use super::{exit, print, running, toolkit};

/// The name of the command.
pub(super) const NAME: &str = "index";

const BUILD: &str = "build";
const STATUS: &str = "status";
const CLEAR: &str = "clear";
const DIRECTORY: &str = "index-directory";
#[cfg(feature = "mcp")]
const NONE: &str = "index-none";

const ABOUT: &str = "Keep an index of the tree, so that searches come sooner";

const LONG: &str = "Keep an index of the tree, so that searches come sooner.\n\nAnswers stay the \
    same: what changed since is searched as without it. `ripkit search --index DIR` uses it and \
    adds what it learns. One directory may hold the indexes of many roots.";

/// The command line of it.
pub(super) fn command() -> Command {
    let build = Command::new(BUILD).about("Learn what is new or changed in the tree, and store it");
    let status = Command::new(STATUS).about("Tell what is known, and how large it is");
    let clear = Command::new(CLEAR).about("Remove the index of this root, and no other");
    let directory =
        || directory("dir").required(true).help("The directory that holds it, outside the root");
    Command::new(NAME)
        .about(ABOUT)
        .long_about(LONG)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands([build, status, clear].map(|command| command.arg(directory())))
}

fn directory(long: &'static str) -> Arg {
    Arg::new(DIRECTORY)
        .long(long)
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::DirPath)
}

/// The option of a tool whose answer can tell what an index spared.
pub(super) fn option(spec: &ToolSpec) -> Option<Arg> {
    spec.output_schema.pointer("/properties/receipt/properties/index")?;
    Some(directory("index").help("Use and extend the index in this directory"))
}

/// The options of a server, which has an index in memory unless it is told not to.
#[cfg(feature = "mcp")]
pub(super) fn options_of_server() -> [Arg; 2] {
    [
        directory("index").help("Keep the index in this directory too, not in memory only"),
        Arg::new(NONE)
            .long("no-index")
            .action(clap::ArgAction::SetTrue)
            .conflicts_with(DIRECTORY)
            .help("Remember nothing from call to call"),
    ]
}

/// The same tools with the index that was asked for, for one call.
pub(super) fn for_a_call(tools: Toolkit, matches: &ArgMatches) -> Result<Toolkit, Error> {
    match named(matches) {
        None => Ok(tools),
        Some(directory) => tools.with_index(stored(directory)),
    }
}

/// The same tools with an index for as long as they are served.
#[cfg(feature = "mcp")]
pub(super) fn for_a_server(tools: Toolkit, matches: &ArgMatches) -> Result<Toolkit, Error> {
    if matches.get_flag(NONE) {
        return Ok(tools);
    }
    let options = IndexOptions::default().watched();
    tools.with_index(match named(matches) {
        None => options,
        Some(directory) => options.stored_in(directory),
    })
}

/// Keeps what was learned; that it cannot be kept spoils no answer.
pub(super) fn save(index: Option<&Index>) {
    if let Some(Err(error)) = index.map(Index::save_if_worth) {
        print::note(&format!("the index could not be saved: {error}"));
    }
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, globals: &Globals) -> io::Result<u8> {
    let Some((name, matches)) = matches.subcommand() else { return Ok(exit::FAILED) };
    let tools = named(matches).ok_or_else(no_directory);
    let tools = tools.and_then(|directory| opened(directory, name, globals));
    match tools.and_then(|tools| act(name, &tools)) {
        Ok(status) => {
            let json = globals.json.then(|| serde_json::to_string(&status).ok()).flatten();
            print::text(&json.unwrap_or_else(|| status.to_string()))?;
            Ok(status.incomplete.map_or(exit::DONE, exit::stopped))
        }
        Err(error) => {
            print::error(&error);
            Ok(exit::status(&Answer::from(error)))
        }
    }
}

fn opened(directory: &Path, name: &str, globals: &Globals) -> Result<Toolkit, Error> {
    // Only who builds an index wants its directory made.
    if name != BUILD && !directory.is_dir() {
        let message = format!("no such directory: {}", directory.display());
        return Err(Error::new(ErrorCode::FileNotFound, message)
            .with_hint("`ripkit index build` makes it."));
    }
    toolkit::without_skills(globals)?.with_index(stored(directory))
}

fn act(name: &str, tools: &Toolkit) -> Result<IndexStatus, Error> {
    let index = tools.index().ok_or_else(no_directory)?;
    match name {
        BUILD => running::attended(Call::default(), |call| index.build(call)),
        CLEAR => index.clear().map(|()| index.status()),
        _ => Ok(index.status()),
    }
}

/// For a process that ends with the call.
fn stored(directory: &Path) -> IndexOptions {
    IndexOptions::default().stored_in(directory).in_the_foreground()
}

/// The directory that was named, by a command that may have the option.
fn named(matches: &ArgMatches) -> Option<&Path> {
    let directory = matches.try_get_one::<PathBuf>(DIRECTORY).ok().flatten();
    directory.map(PathBuf::as_path)
}

/// The option is required, so that nobody reads this.
fn no_directory() -> Error {
    Error::new(ErrorCode::InvalidArgument, "no directory was named")
}
