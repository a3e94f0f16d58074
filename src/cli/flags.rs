//! From a property of a tool's arguments to an argument of its command.

use std::ffi::OsString;

use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValuesParser, TypedValueParser, ValueParser,
};
use clap::{Arg, ArgAction};
use ripkit::{ToolSpec, path_text};
use serde_json::{Number, Value};

use super::help::{self, first_sentence};
use super::parameter::{Kind, Parameter, parameters};

/// Columns that the help has before the name of an option and after it, with its hyphens.
const MARGINS: usize = 6 + 2 + 2;

/// The arguments of a tool's command, positional or behind a flag.
pub(super) fn arguments(spec: &ToolSpec) -> Vec<Arg> {
    let parameters = parameters(spec);
    let column = |positional| {
        let alike = parameters.iter().filter(|parameter| parameter.positional == positional);
        alike.map(columns).max().unwrap_or(0)
    };
    let (places, flags) = (column(true), column(false));
    let options = parameters.iter().flat_map(|parameter| {
        options(parameter, if parameter.positional { places } else { flags })
    });
    options.collect()
}

/// Columns before the help of an argument.
fn columns(parameter: &Parameter<'_>) -> usize {
    let value = value_name(parameter).chars().count() + "<>".len();
    match (parameter.positional, parameter.negation()) {
        (true, _) => "  ".len() + value + "...  ".len(),
        (_, Some(negation)) => MARGINS + negation.len(),
        (..) => {
            MARGINS
                + parameter.flag().len()
                + " ".len()
                + value
                + usize::from(parameter.kind == Kind::Flag) * 2
        }
    }
}

/// The argument of a property, and the one that turns it off.
fn options(parameter: &Parameter<'_>, column: usize) -> Vec<Arg> {
    let own = argument(parameter, column);
    let Some(negation) = parameter.negation() else { return vec![own] };
    // What is on by default is turned off by the flag that the help shows.
    let sentence = format!("Turn off: {}", small(&first_sentence(description(parameter))));
    let off = Arg::new(negation.clone())
        .long(negation)
        .help(help::beside(column, &sentence, ""))
        .long_help(sentence)
        .action(ArgAction::SetTrue)
        .conflicts_with(parameter.name.to_owned());
    vec![own.hide(true), off]
}

/// A sentence that goes on after a colon.
fn small(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn argument(parameter: &Parameter<'_>, column: usize) -> Arg {
    let argument = Arg::new(parameter.name.to_owned())
        .required(parameter.required)
        .help(short_help(parameter, column))
        .long_help(long_help(parameter))
        .value_parser(parser(parameter))
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
        Kind::Choice(_) => argument.hide_possible_values(true),
        Kind::Integer | Kind::Number => argument.allow_negative_numbers(true),
        // As in every getopt: an option that needs a value takes what follows.
        // Content may begin with one as well; the flags that are known come first.
        Kind::Text if !parameter.positional || parameter.reads_input() => {
            argument.allow_hyphen_values(true)
        }
        _ => argument,
    }
}

/// What stands for a value in help and messages.
pub(super) fn value_name(parameter: &Parameter<'_>) -> String {
    match &parameter.kind {
        Kind::Integer | Kind::Number if !parameter.positional => "N".to_owned(),
        Kind::Flag => "BOOL".to_owned(),
        Kind::Json => "JSON".to_owned(),
        Kind::Choice(values) => values.join("|"),
        _ => parameter.name.to_uppercase(),
    }
}

/// Every parser makes JSON of one value; ranges are checked once, by the toolkit.
pub(super) fn parser(parameter: &Parameter<'_>) -> ValueParser {
    match &parameter.kind {
        // A path need not be UTF-8, and text need be, as for rg.
        Kind::Text if parameter.is_path() => {
            ValueParser::new(PathBufValueParser::new().map(|path| Value::from(path_text(&path))))
        }
        Kind::Text => ValueParser::new(OsStringValueParser::new().try_map(text)),
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

fn text(text: OsString) -> Result<Value, String> {
    let refused = "not valid UTF-8; in a regular expression, (?-u:\\xFF) stands for the byte FF";
    text.into_string().map(Value::from).map_err(|_| refused.to_owned())
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
fn short_help(parameter: &Parameter<'_>, column: usize) -> String {
    let description = description(parameter);
    let told = description.split_once("Default: ").map(|(_, default)| first_sentence(default));
    let default = told.or_else(|| default(parameter));
    let sentence = first_sentence(description);
    let default = default.filter(|default| !sentence.contains("efault") && default != "0");
    let default = default.map_or_else(String::new, |default| format!(" [default: {default}]"));
    help::beside(column, &sentence, &format!("{}{default}", input(parameter)))
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
