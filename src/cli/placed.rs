//! Positional arguments, which may be given by their names as well: `--pattern TODO`.

use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use ripkit::{Error, ErrorCode, ToolSpec};
use serde_json::Value;

use super::flags;
use super::parameter::{Kind, Parameter, parameters};

/// How the ids of these flags begin.
const NAMED: &str = "named-";

/// The flags that stand for positional arguments, which no help shows; none where a value could
/// not change its place, as each has a type of its own.
pub(super) fn twins(spec: &ToolSpec) -> Vec<Arg> {
    let parameters = parameters(spec);
    let positionals = || parameters.iter().filter(|parameter| parameter.positional);
    if positionals().any(|parameter| parameter.kind != Kind::Text) {
        return Vec::new();
    }
    positionals().map(twin).collect()
}

/// The same command line, where no place has to be filled once a flag of this kind is given.
pub(super) fn by_name(line: Command) -> Command {
    line.mut_subcommands(|command| {
        let ids = command.get_arguments().map(Arg::get_id);
        let named: Vec<Id> = ids.filter(|id| id.as_str().starts_with(NAMED)).cloned().collect();
        if named.is_empty() {
            return command;
        }
        command.mut_args(|argument| {
            if argument.is_positional() && argument.is_required_set() {
                return argument.required(false).required_unless_present_any(named.iter());
            }
            argument
        })
    })
}

fn twin(parameter: &Parameter<'_>) -> Arg {
    Arg::new(id(parameter))
        .long(parameter.flag())
        .value_name(flags::value_name(parameter))
        .value_parser(flags::parser(parameter))
        .action(if parameter.repeatable { ArgAction::Append } else { ArgAction::Set })
        .allow_hyphen_values(true)
        .hide(true)
}

fn id(parameter: &Parameter<'_>) -> String {
    format!("{NAMED}{}", parameter.name)
}

/// The values of each positional argument, given by name or by place: those by place go to
/// those that have no value by name, in order.
pub(super) fn values<'a, 'b>(
    parameters: &'b [Parameter<'a>],
    matches: &ArgMatches,
) -> Result<Vec<(&'b Parameter<'a>, Vec<Value>)>, Error> {
    let positionals = || parameters.iter().filter(|parameter| parameter.positional);
    let typed = |id: &str| {
        let values = matches.try_get_many::<Value>(id).ok().flatten();
        values.into_iter().flatten().cloned().collect::<Vec<Value>>()
    };
    let mut named = false;
    let mut placed = positionals().flat_map(|parameter| typed(parameter.name));
    let mut given = Vec::new();
    for parameter in positionals() {
        let mut values = typed(&id(parameter));
        if values.is_empty() {
            let most = if parameter.repeatable { usize::MAX } else { 1 };
            values.extend(placed.by_ref().take(most));
        } else {
            named = true;
        }
        if values.is_empty() && parameter.required {
            return Err(missing(parameter));
        }
        given.push((parameter, values));
    }
    match placed.next() {
        Some(extra) if named => Err(too_many(&extra)),
        _ => Ok(given),
    }
}

fn missing(parameter: &Parameter<'_>) -> Error {
    let message = format!("{} is missing", flags::value_name(parameter));
    Error::new(ErrorCode::InvalidArgument, message).with_hint("`--help` shows the usage.")
}

fn too_many(extra: &Value) -> Error {
    let extra = extra.as_str().unwrap_or_default();
    let message = format!("{extra:?} is one argument too many");
    let hint = "What is given by its flag needs no place.";
    Error::new(ErrorCode::InvalidArgument, message).with_hint(hint)
}
