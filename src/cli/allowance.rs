//! The leave to start programs, which somebody must give on the command line.

use ripkit::{Effect, Error, ErrorCode, ToolSpec};

#[cfg(all(unix, feature = "command"))]
pub(super) use self::given::{allow, is_given, options};
#[cfg(not(all(unix, feature = "command")))]
pub(super) use self::never::{allow, is_given, options};

/// Refuses a tool that starts programs without leave.
pub(super) fn check(spec: &ToolSpec, is_given: bool) -> Result<(), Error> {
    if is_given || spec.effect != Effect::Execute {
        return Ok(());
    }
    let message = format!("{} starts programs, which nobody has allowed", spec.command);
    let error = Error::new(ErrorCode::PolicyDenied, message);
    Err(error.with_hint("A person who wants that adds --allow-commands."))
}

#[cfg(all(unix, feature = "command"))]
mod given {
    use std::env;

    use clap::{Arg, ArgAction, ArgMatches};
    use ripkit::{CommandPolicy, Toolkit};

    const ALLOW: &str = "global-allow-commands";

    /// The variables of our environment that a command gets; a star stands for any end.
    const VARIABLES: [&str; 10] =
        ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR"];

    /// The option that gives it.
    pub(in super::super) fn options() -> Vec<Arg> {
        let help = "Also allow what starts programs, which may do all that you may";
        let option = Arg::new(ALLOW).long("allow-commands").action(ArgAction::SetTrue);
        vec![super::super::help::global(option.global(true), help)]
    }

    /// Tells whether it was given.
    pub(in super::super) fn is_given(matches: &ArgMatches) -> bool {
        matches.get_flag(ALLOW)
    }

    /// Lets the toolkit run commands with a part of our environment, as for a terminal that knows
    /// no colours.
    pub(in super::super) fn allow(tools: Toolkit) -> Toolkit {
        let policy = CommandPolicy::new().allow_environment(VARIABLES, env::vars_os());
        tools.with_commands(policy.with_environment([("TERM", "dumb")]))
    }
}

/// In a program that cannot start another there is nothing to allow.
#[cfg(not(all(unix, feature = "command")))]
mod never {
    use clap::{Arg, ArgMatches};
    use ripkit::Toolkit;

    pub(in super::super) fn options() -> Vec<Arg> {
        Vec::new()
    }

    pub(in super::super) fn is_given(_: &ArgMatches) -> bool {
        false
    }

    pub(in super::super) fn allow(tools: Toolkit) -> Toolkit {
        tools
    }
}
