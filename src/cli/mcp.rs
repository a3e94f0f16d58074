//! `ripkit mcp`, which serves the tools to a client of the Model Context Protocol.

use std::io::{self, IsTerminal};

use clap::{Arg, ArgAction, ArgMatches, Command};
use ripkit::mcp::{Server, Stop};
use ripkit::{Error, ErrorCode, SkillCatalog, Toolkit};

use super::call::exit;
use super::flags::GlobalFlags;
use super::{index, print, skills};

pub(super) const NAME: &str = "mcp";
const TOOLS: &str = "mcp-tools";
const STRUCTURED: &str = "mcp-structured";

const HELP: &str = "Serve the tools to a client of the Model Context Protocol, on standard input \
    and output.\n\nClients start this by themselves; the README has their settings.";

pub(super) fn command() -> Command {
    let tools = Arg::new(TOOLS)
        .long("tools")
        .value_name("NAMES")
        .value_delimiter(',')
        .action(ArgAction::Append)
        .help("Serve these tools only, separated by commas [default: all]");
    let structured = Arg::new(STRUCTURED)
        .long("structured")
        .action(ArgAction::SetTrue)
        .help("Declare output schemas, and answer with structured content besides the text");
    Command::new(NAME)
        .about("Serve the tools over the Model Context Protocol")
        .long_about(HELP)
        .arg(tools)
        .arg(structured)
        .args(index::server_options())
}

/// Serves until the client closes standard input or a signal arrives. Standard output carries the
/// protocol; errors and notes go to standard error.
pub(super) fn run(matches: &ArgMatches, globals: &GlobalFlags) -> u8 {
    match serve(matches, globals) {
        Ok(()) => exit::DONE,
        Err(error) => {
            print::error(&error);
            exit::FAILED
        }
    }
}

fn serve(matches: &ArgMatches, globals: &GlobalFlags) -> Result<(), Error> {
    globals.refuse_wide_root()?;
    let skills = skills::default_catalog(globals)?;
    let tools = globals.open_toolkit()?.with_listed_skills(skills.clone());
    let tools = index::for_server(tools, matches)?;
    let index = tools.index().cloned();
    serve_stdio(tools, skills, matches)?;
    index::save(index.as_ref());
    Ok(())
}

fn serve_stdio(tools: Toolkit, skills: SkillCatalog, matches: &ArgMatches) -> Result<(), Error> {
    let server = Server::new(selected_tools(tools, matches)?);
    // With --tools, nothing else is served.
    let server = if matches.contains_id(TOOLS) { server } else { server.with_skills(skills) };
    let server =
        if matches.get_flag(STRUCTURED) { server.with_structured_content() } else { server };
    // Without the handler, a signal ends the program at once.
    let _ = stop_on_signal(server.stop());
    if io::stdin().is_terminal() {
        print::note("a client speaks on standard input; the README tells how clients start this");
    }
    server.serve_stdio()
}

fn selected_tools(tools: Toolkit, matches: &ArgMatches) -> Result<Toolkit, Error> {
    let Some(names) = matches.get_many::<String>(TOOLS) else { return Ok(tools) };
    let names: Vec<&str> = names.map(|name| name.trim()).collect();
    match names.iter().find(|name| tools.spec(name).is_none()) {
        Some(unknown) => Err(unknown_tool(&tools, unknown)),
        None => Ok(tools.only(names)),
    }
}

fn unknown_tool(tools: &Toolkit, name: &str) -> Error {
    let known: Vec<&str> = tools.specs().map(|spec| spec.name.as_str()).collect();
    let message = format!("--tools: there is no tool {name:?}");
    Error::new(ErrorCode::UnknownTool, message)
        .with_hint(format!("The tools are {}.", known.join(", ")))
}

#[cfg(unix)]
fn stop_on_signal(stop: Stop) -> io::Result<()> {
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let watch = move || signals.forever().for_each(|_| stop.stop());
    thread::Builder::new().name("signals".to_owned()).spawn(watch)?;
    Ok(())
}

/// On other systems a signal ends the program at once.
#[cfg(not(unix))]
fn stop_on_signal(_: Stop) -> io::Result<()> {
    Ok(())
}
