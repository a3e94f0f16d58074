//! The options that every command takes.

use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, value_parser};
use ripkit::Limits;

use super::{allowance, help, view};

const ROOT: &str = "global-root";
const RELAXED: &str = "global-relaxed";
const READ_ONLY: &str = "global-read-only";
const JSON: &str = "global-json";
const COLOR: &str = "global-color";
const ALL: &str = "global-all";
const THREADS: &str = "global-threads";

/// What the global options say.
pub(super) struct Globals {
    root: Option<PathBuf>,
    pub(super) relaxed: bool,
    pub(super) read_only: bool,
    pub(super) json: bool,
    /// Whether standard output is coloured.
    pub(super) color: bool,
    pub(super) all: bool,
    /// Whether programs may be started.
    pub(super) allows_commands: bool,
    threads: Option<u16>,
}

impl Globals {
    pub(super) fn of(matches: &ArgMatches) -> Globals {
        let when = matches.get_one::<String>(COLOR).map_or("auto", String::as_str);
        Globals {
            root: matches.get_one::<PathBuf>(ROOT).cloned(),
            relaxed: matches.get_flag(RELAXED),
            read_only: matches.get_flag(READ_ONLY),
            json: matches.get_flag(JSON),
            color: coloured(when, &Surroundings::of_the_process()),
            // The events have no word for a cut.
            all: matches.get_flag(ALL) || view::wants_events(matches),
            allows_commands: allowance::is_given(matches),
            threads: matches.get_one::<u16>(THREADS).copied(),
        }
    }

    /// The root as it was given: `--root`, else `RIPKIT_ROOT`, else the current directory.
    pub(super) fn root(&self) -> PathBuf {
        let named = env::var_os("RIPKIT_ROOT").filter(|root| !root.is_empty()).map(PathBuf::from);
        self.root.clone().or(named).unwrap_or_else(|| PathBuf::from("."))
    }

    /// The bounds of the call: none with `--all`, and `--threads` threads.
    pub(super) fn limits(&self) -> Limits {
        let mut limits = if self.all { Limits::unbounded() } else { Limits::default() };
        if let Some(threads) = self.threads {
            limits.threads = threads.into();
        }
        limits
    }
}

/// The options themselves, for the top of the command line.
pub(super) fn options() -> [Arg; 7] {
    let threads = value_parser!(u16);
    let options = [
        valued(
            ROOT,
            "root",
            "DIR",
            "The directory that the tools may touch [default: RIPKIT_ROOT, else .]",
        )
        .value_parser(value_parser!(PathBuf))
        .value_hint(clap::ValueHint::DirPath),
        flag(RELAXED, "relaxed", "Also allow paths outside the root"),
        flag(READ_ONLY, "read-only", "Leave out the tools that change files"),
        flag(JSON, "json", "Print the whole answer as one line of JSON"),
        valued(COLOR, "color", "WHEN", "When to use colours [default: auto]")
            .value_parser(["auto", "always", "never"]),
        flag(ALL, "all", "Lift the caps on results, text and lines"),
        valued(THREADS, "threads", "N", "Threads of a search or listing, 0 for the main one only")
            .value_parser(threads),
    ];
    options.map(|option| option.global(true))
}

fn flag(id: &'static str, long: &'static str, help: &'static str) -> Arg {
    help::global(Arg::new(id).long(long).action(ArgAction::SetTrue), help)
}

fn valued(id: &'static str, long: &'static str, value: &'static str, help: &'static str) -> Arg {
    help::global(Arg::new(id).long(long).value_name(value), help)
}

/// What `--color auto` looks at.
struct Surroundings {
    terminal: bool,
    no_color: Option<OsString>,
    term: Option<OsString>,
}

impl Surroundings {
    fn of_the_process() -> Surroundings {
        let terminal = std::io::stdout().is_terminal();
        Surroundings { terminal, no_color: env::var_os("NO_COLOR"), term: env::var_os("TERM") }
    }
}

fn coloured(when: &str, around: &Surroundings) -> bool {
    match when {
        "always" => true,
        "never" => false,
        _ => {
            let refused = around.no_color.as_ref().is_some_and(|value| !value.is_empty());
            let dumb = around.term.as_ref().is_some_and(|term| term == "dumb");
            around.terminal && !refused && !dumb
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around(terminal: bool, no_color: Option<&str>, term: Option<&str>) -> Surroundings {
        Surroundings { terminal, no_color: no_color.map(Into::into), term: term.map(Into::into) }
    }

    #[test]
    fn colours_are_for_willing_terminals() {
        let cases = [
            ("auto", around(true, None, Some("xterm")), true),
            ("auto", around(true, None, None), true),
            ("auto", around(false, None, Some("xterm")), false),
            ("auto", around(true, Some("1"), Some("xterm")), false),
            ("auto", around(true, Some(""), Some("xterm")), true),
            ("auto", around(true, None, Some("dumb")), false),
            ("always", around(false, Some("1"), Some("dumb")), true),
            ("never", around(true, None, Some("xterm")), false),
        ];
        for (number, (when, around, wanted)) in cases.into_iter().enumerate() {
            assert_eq!(coloured(when, &around), wanted, "case {number}");
        }
    }
}
