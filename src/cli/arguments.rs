//! From what was typed to the JSON arguments of a tool.

use clap::ArgMatches;
use ripkit::{Error, ToolSpec};
use serde_json::{Map, Value};

use super::input::standard_input;
use super::parameter::{Parameter, parameters};
use super::placed;
use super::root::Standing;

/// The arguments that were given; defaults are left to the tool.
pub(super) fn arguments(
    spec: &ToolSpec,
    matches: &ArgMatches,
    standing: &Standing,
) -> Result<Map<String, Value>, Error> {
    let mut args = Map::new();
    let parameters = parameters(spec);
    let mut placed = placed::values(&parameters, matches)?;
    for parameter in &parameters {
        let own = placed.iter_mut().find(|(own, _)| own.name == parameter.name);
        let values = own.map(|(_, values)| std::mem::take(values));
        let Some(value) = given(parameter, matches, values) else { continue };
        let value = match value {
            Value::String(dash) if dash == "-" && parameter.reads_input() => {
                Value::String(standard_input()?)
            }
            paths if parameter.is_path() => standing.rooted(paths),
            value => value,
        };
        args.insert(parameter.name.to_owned(), value);
    }
    Ok(args)
}

/// What was given for it, in its place or by its flag.
fn given(
    parameter: &Parameter<'_>,
    matches: &ArgMatches,
    placed: Option<Vec<Value>>,
) -> Option<Value> {
    let off = parameter.negation().is_some_and(|negation| matches.get_flag(&negation));
    if off {
        return Some(Value::Bool(false));
    }
    let mut values = match placed {
        Some(values) if values.is_empty() => return None,
        Some(values) => values,
        None => matches.get_many::<Value>(parameter.name)?.cloned().collect(),
    };
    if values.len() == 1 && !parameter.always_list || !parameter.repeatable {
        return values.pop();
    }
    Some(Value::Array(values))
}
