//! `ripkit mcp`, which serves the tools to a client of the Model Context Protocol.

use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

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
    and output.\n\nClients start this by themselves; the README has their settings. Without --root, the \
    server works in the roots that the client names, else in the current directory.";

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
    let indexes = Arc::new(Mutex::new(Vec::new()));
    let open = {
        let (matches, globals, indexes) = (matches.clone(), globals.clone(), Arc::clone(&indexes));
        move |roots: &[PathBuf]| {
            let skills = skills::default_catalog(roots)?;
            let tools = globals.open_toolkit(roots)?.with_listed_skills(skills.clone());
            // Without changes there is nothing to list and undo.
            let tools = if globals.read_only { tools } else { tools.with_change_log() };
            let tools = index::for_server(tools, &matches)?;
            let opened = tools.index().cloned();
            indexes.lock().unwrap_or_else(PoisonError::into_inner).extend(opened);
            // With --tools, nothing else is served.
            let skills = if matches.contains_id(TOOLS) { SkillCatalog::default() } else { skills };
            Ok((selected_tools(tools, &matches)?, skills))
        }
    };
    let (tools, skills) = open(&[globals.root()])?;
    let server = Server::new(tools).with_skills(skills);
    let server = match (globals.named_root(), check_not_wide(&globals.root())) {
        (Some(_), _) => server,
        (None, checked) => {
            let server = match checked {
                Ok(()) => server,
                Err(error) => server.refusing(error),
            };
            server.with_client_roots(move |roots| {
                roots.iter().try_for_each(|root| check_not_wide(root))?;
                open(roots)
            })
        }
    };
    let server =
        if matches.get_flag(STRUCTURED) { server.with_structured_content() } else { server };
    // Without the handler, a signal ends the program at once.
    let _ = stop_on_signal(server.stop());
    if io::stdin().is_terminal() {
        print::note("a client speaks on standard input; the README says how clients start it");
    }
    server.serve_stdio()?;
    let indexes = indexes.lock().unwrap_or_else(PoisonError::into_inner);
    indexes.iter().for_each(|index| index::save(Some(index)));
    Ok(())
}

/// Refuses `/` and the home directory, which a client may name only because it was started there.
fn check_not_wide(root: &Path) -> Result<(), Error> {
    let root = root.canonicalize().map_err(|reason| {
        let message = format!("cannot open {}: {reason}", root.display());
        Error::new(ErrorCode::IoError, message).because(reason)
    })?;
    let home = env::home_dir().and_then(|home| home.canonicalize().ok());
    if root.parent().is_some() && home.is_none_or(|home| home != root) {
        return Ok(());
    }
    let message = format!("{} is too wide a root to be taken by default", root.display());
    Err(Error::new(ErrorCode::InvalidPath, message)
        .with_hint("Name the directory to serve with --root."))
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
