//! In which form a person or a program wants the answer of a tool.

use clap::{Arg, ArgAction, ArgMatches};
use ripkit::ToolSpec;

use super::help;

const QUIET: &str = "view-quiet";
const STATS: &str = "view-stats";
const EVENTS: &str = "view-events";

/// What was asked for beside the text.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// Nothing but the exit status.
    pub(super) quiet: bool,
    /// How much was looked at, on standard error.
    pub(super) stats: bool,
    /// The events of `rg --json` instead of the text.
    pub(super) events: bool,
}

impl View {
    pub(super) fn of(matches: &ArgMatches) -> View {
        View {
            quiet: is_given(matches, QUIET),
            stats: is_given(matches, STATS),
            events: is_given(matches, EVENTS),
        }
    }
}

/// Whether the results are to be printed as events.
pub(super) fn wants_events(matches: &ArgMatches) -> bool {
    is_given(matches, EVENTS)
}

/// The options for what the answer of this tool has: a receipt, or lines that match.
pub(super) fn options(spec: &ToolSpec) -> Vec<Arg> {
    let has = |pointer| spec.output_schema.pointer(pointer).is_some();
    let mut options = Vec::new();
    if has("/properties/receipt") {
        let quiet = "Print nothing; the status tells if anything was found";
        options.push(option(QUIET, "quiet", quiet).short('q'));
        let stats = "Tell on standard error what was looked at and for how long";
        options.push(option(STATS, "stats", stats));
    }
    if has("/properties/files/items/properties/matches") {
        let events = "Print all results as events, as `rg --json` does";
        options.push(option(EVENTS, "json-lines", events).conflicts_with(QUIET));
    }
    options
}

fn option(id: &'static str, long: &'static str, help: &'static str) -> Arg {
    let option = Arg::new(id).long(long).help(help).action(ArgAction::SetTrue);
    option.help_heading(help::FORM)
}

/// An option that not every command has.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().is_some_and(|given| *given)
}
