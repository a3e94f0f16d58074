//! The command line: one command per tool, and what is not a tool.

use std::collections::HashSet;

use clap::builder::{PossibleValuesParser, TypedValueParser, ValueParser};
use clap::{Arg, ArgAction, Command};
use ripkit::ToolSpec;
use ripkit::schema::Format;
use serde_json::{Number, Value};

use super::parameter::{Kind, Parameter, parameters};
use super::skills::{self, SKILLS};
use super::{allowance, globals};

/// The command that calls a tool as an agent does.
pub(super) const CALL: &str = "call";
/// The command that prints the descriptions of the tools.
pub(super) const SPEC: &str = "spec";
/// The ids of the arguments of both.
pub(super) const NAME: &str = "name";
pub(super) const ARGUMENTS: &str = "arguments";
pub(super) const FORMAT: &str = "format";

const STATUSES: &str = "Exit status: 0 done or found, 1 nothing found, 2 error or bad usage, \
    124 out of time, 130 interrupted.";

/// The whole command line for these tools.
pub(super) fn command_line(specs: &[ToolSpec]) -> Command {
    // Help never yields; commands go before the aliases of other tools.
    let mut taken: HashSet<String> = ["help", CALL, SPEC, SKILLS].map(str::to_owned).into();
    taken.extend(specs.iter().map(|spec| spec.command.to_owned()));
    let tools = specs.iter().map(|spec| tool(spec, &mut taken));
    Command::new("ripkit")
        .version(env!("CARGO_PKG_VERSION"))
        .about("The file tools of an LLM agent, from a shell")
        .after_help(STATUSES)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .args(globals::options())
        .args(allowance::options())
        .subcommands(tools.collect::<Vec<_>>())
        .subcommand(call())
        .subcommand(spec())
        .subcommand(skills::command())
}

fn call() -> Command {
    let name =
        Arg::new(NAME).value_name("NAME").required(true).help("The tool, by any of its names");
    let arguments = Arg::new(ARGUMENTS)
        .value_name("JSON")
        .default_value("{}")
        .help("The arguments as one JSON object, or - for standard input");
    Command::new(CALL).about("Call a tool as an agent does, with JSON").arg(name).arg(arguments)
}

fn spec() -> Command {
    let names = PossibleValuesParser::new(Format::ALL.iter().map(|format| format.as_str()));
    let format = Arg::new(FORMAT)
        .long("format")
        .value_name("FORMAT")
        .value_parser(names)
        .default_value(Format::default().as_str())
        .help("The protocol or provider to render for");
    Command::new(SPEC).about("Print the descriptions of the tools as one JSON document").arg(format)
}

fn tool(spec: &ToolSpec, taken: &mut HashSet<String>) -> Command {
    let names = std::iter::once(spec.name.as_str()).chain(spec.aliases.iter().copied());
    let aliases = names.flat_map(|name| [name.to_owned(), name.replace('_', "-")]);
    let aliases: Vec<String> = aliases.filter(|alias| taken.insert(alias.clone())).collect();
    Command::new(spec.command)
        .aliases(aliases)
        .about(first_sentence(&spec.description))
        .long_about(spec.description.clone())
        .args(parameters(spec).iter().flat_map(options))
}

/// The first sentence, without its full stop.
fn first_sentence(text: &str) -> String {
    let end = text.match_indices(". ").map(|(end, _)| end).find(|end| !abbreviated(text, *end));
    let sentence = end.and_then(|end| text.get(..end)).unwrap_or(text);
    sentence.trim_end_matches('.').to_owned()
}

fn abbreviated(text: &str, end: usize) -> bool {
    let before = text.get(..end).unwrap_or_default();
    before.ends_with("e.g") || before.ends_with("i.e")
}

/// The argument of a property, and the one that turns it off.
fn options(parameter: &Parameter<'_>) -> Vec<Arg> {
    let Some(negation) = parameter.negation() else { return vec![argument(parameter)] };
    // What is on by default is turned off by the flag that the help shows.
    let help = format!("Turn off: {}", first_sentence(description(parameter)));
    let off = Arg::new(negation.clone())
        .long(negation)
        .help(help)
        .action(ArgAction::SetTrue)
        .conflicts_with(parameter.name.to_owned());
    vec![argument(parameter).hide(true), off]
}

fn argument(parameter: &Parameter<'_>) -> Arg {
    let argument = Arg::new(parameter.name.to_owned())
        .required(parameter.required)
        .help(short_help(parameter))
        .long_help(long_help(parameter))
        .value_parser(parser(&parameter.kind))
        .value_name(value_name(parameter))
        .action(if parameter.repeatable { ArgAction::Append } else { ArgAction::Set });
    let argument = match (parameter.positional, parameter.repeatable) {
        (true, true) => argument.num_args(1..),
        (true, false) => argument,
        (false, _) => argument.long(parameter.flag()),
    };
    match parameter.kind {
        Kind::Flag => argument
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .hide_possible_values(true),
        Kind::Integer | Kind::Number => argument.allow_negative_numbers(true),
        // As in every getopt: an option that needs a value takes what follows.
        // Content may begin with one as well; the flags that are known come first.
        Kind::Text if !parameter.positional || parameter.reads_input() => {
            argument.allow_hyphen_values(true)
        }
        _ => argument,
    }
}

fn value_name(parameter: &Parameter<'_>) -> String {
    match parameter.kind {
        Kind::Integer | Kind::Number if !parameter.positional => "N".to_owned(),
        Kind::Flag => "BOOL".to_owned(),
        Kind::Json => "JSON".to_owned(),
        _ => parameter.name.to_uppercase(),
    }
}

/// Every parser makes JSON of one value; ranges are checked once, by the toolkit.
fn parser(kind: &Kind) -> ValueParser {
    match kind {
        Kind::Text => ValueParser::new(|text: &str| Ok::<_, String>(Value::from(text))),
        Kind::Integer => ValueParser::new(integer),
        Kind::Number => ValueParser::new(number),
        Kind::Flag => ValueParser::new(
            PossibleValuesParser::new(["true", "false"]).map(|text| Value::Bool(text == "true")),
        ),
        Kind::Choice(values) => {
            ValueParser::new(PossibleValuesParser::new(values.clone()).map(Value::String))
        }
        Kind::Json => ValueParser::new(|text: &str| serde_json::from_str::<Value>(text)),
    }
}

fn integer(text: &str) -> Result<Value, String> {
    let signed = text.parse::<i64>().map(Value::from);
    signed
        .or_else(|_| text.parse::<u64>().map(Value::from))
        .map_err(|_| "not a whole number".to_owned())
}

fn number(text: &str) -> Result<Value, String> {
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map(Value::Number).ok_or_else(|| "not a number".to_owned())
}

/// The first sentence, and the default wherever it is told.
fn short_help(parameter: &Parameter<'_>) -> String {
    let description = description(parameter);
    let told = description.split_once("Default: ").map(|(_, default)| first_sentence(default));
    let default = told.or_else(|| default(parameter));
    let sentence = first_sentence(description) + input(parameter);
    match default {
        Some(default) if !sentence.contains("efault") => format!("{sentence} [default: {default}]"),
        _ => sentence,
    }
}

fn long_help(parameter: &Parameter<'_>) -> String {
    let description = match input(parameter) {
        "" => description(parameter).to_owned(),
        input => description(parameter).trim_end_matches('.').to_owned() + input,
    };
    match default(parameter) {
        Some(default) if !description.contains("efault") => {
            format!("{description} [default: {default}]")
        }
        _ => description,
    }
}

/// How to give what is long or comes from another program.
fn input(parameter: &Parameter<'_>) -> &'static str {
    if parameter.reads_input() { "; - for standard input" } else { "" }
}

fn description<'a>(parameter: &Parameter<'a>) -> &'a str {
    parameter.schema.get("description").and_then(Value::as_str).unwrap_or_default()
}

/// The default of the schema; that a flag is off goes without saying.
fn default(parameter: &Parameter<'_>) -> Option<String> {
    match parameter.schema.get("default")? {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
