//! The arguments of a tool on the command line, all derived from its JSON schema: the arguments of
//! its command, the JSON that was typed, and from JSON back to an example line.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};

use clap::builder::{
    OsStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
    ValueParser,
};
use clap::{Arg, ArgAction, ArgMatches, Command, Id};
use ripkit::{Error, ErrorCode, ToolSpec, path_text};
use serde_json::{Map, Number, Value};

use super::flags::CurrentDir;
use super::help::{self, first_sentence};
use super::shorts;

/// Columns around the name of an option in the short help, with its hyphens.
const MARGINS: usize = 6 + 2 + 2;

/// The maximum number of values that stand for an option's value in its help.
const MAX_NAMED: usize = 3;

/// An argument that changes nothing at a shell, where the text of an edit always has the diff. It is
/// accepted, and not shown.
const ALWAYS_ON: &str = "show_diff";

/// Prefix of the ids of the hidden flags that stand for positional arguments.
const NAMED: &str = "named-";

/// One property of a tool's input schema.
struct Parameter<'a> {
    name: &'a str,
    schema: &'a Value,
    required: bool,
    positional: bool,
    kind: Kind,
    /// Whether it may be given more than once.
    repeatable: bool,
    /// Whether even a single value becomes a list.
    always_list: bool,
    /// The letter of its short option.
    short: Option<char>,
    /// Whether the help leaves it out: it has another default at a shell, or changes nothing there.
    hidden: bool,
}

/// The type of one value.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    Choice(Vec<String>),
    /// The first and the last line, typed as `3-5`.
    LineRange,
    /// Objects, and lists of them, are typed as JSON.
    Json,
}

/// The properties in schema order, required ones first. Required ones and `path` are positional, and
/// so is the content of a file that must be named.
fn parameters(spec: &ToolSpec) -> Vec<Parameter<'_>> {
    let required = spec.input_schema.get("required").and_then(Value::as_array);
    let required: Vec<&str> = required.into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = spec.input_schema.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flat_map(Map::iter);
    let mut parameters: Vec<Parameter<'_>> = properties
        .map(|(name, schema)| Parameter::new(name, schema, required.contains(&name.as_str())))
        .collect();
    if !required.contains(&"path") {
        let contents = parameters.iter_mut().filter(|parameter| parameter.name == "content");
        contents.for_each(|parameter| parameter.positional = parameter.required);
    }
    // An optional positional before a required one would be ambiguous.
    parameters.sort_by_key(|parameter| !parameter.required);
    for parameter in &mut parameters {
        parameter.short = shorts::letter(spec, parameter.name);
    }
    keep_repeatable_last(&mut parameters);
    parameters
}

/// Only the last positional can be repeated; any other repeatable one needs its flag.
fn keep_repeatable_last(parameters: &mut [Parameter<'_>]) {
    let last = parameters.iter().rposition(|parameter| parameter.positional);
    for (index, parameter) in parameters.iter_mut().enumerate() {
        if parameter.repeatable && Some(index) != last {
            parameter.positional = false;
        }
    }
}

/// The id of the hidden flag that stands for this positional argument.
pub(super) fn named_id(name: &str) -> String {
    format!("{NAMED}{name}")
}

impl<'a> Parameter<'a> {
    fn new(name: &'a str, schema: &'a Value, required: bool) -> Parameter<'a> {
        let options = schema.get("anyOf").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let list = std::iter::once(schema).chain(options).find(|option| has_type(option, "array"));
        let single = options.iter().find(|option| !has_type(option, "array"));
        let single = single.or(list.and_then(|list| list.get("items"))).unwrap_or(schema);
        let is_range = schema.get("format").is_some_and(|format| format == "line_range");
        let kind = if is_range { Kind::LineRange } else { Kind::of(single) };
        let repeatable = list.is_some() && !matches!(kind, Kind::Json | Kind::LineRange);
        let is_main = required || matches!(name, "path" | "content");
        let positional = is_main && !matches!(kind, Kind::Flag | Kind::Json);
        let always_list = has_type(schema, "array");
        let parameter = Parameter {
            name,
            schema,
            required,
            positional,
            kind,
            repeatable,
            always_list,
            short: None,
            hidden: name == ALWAYS_ON,
        };
        Parameter { required: required && !parameter.is_in_file(), ..parameter }
    }

    /// The flag without its hyphens, such as `max-results`.
    fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The flag that turns off what is on by default; also the id of its clap argument.
    fn negation(&self) -> Option<String> {
        let on = self.schema.get("default") == Some(&Value::Bool(true));
        (self.kind == Kind::Flag && on).then(|| format!("no-{}", self.flag()))
    }

    /// The id of the hidden flag that stands for a positional argument.
    fn named_id(&self) -> String {
        named_id(self.name)
    }

    /// Whether its values are paths, which are relative to the current directory.
    fn is_path(&self) -> bool {
        matches!(self.name, "path" | "source" | "destination")
    }

    /// Whether the values are globs that filter.
    fn is_filter(&self) -> bool {
        matches!(self.name, "include" | "exclude")
    }

    /// Whether `-` stands for standard input.
    fn reads_input(&self) -> bool {
        self.name == "content" && self.kind == Kind::Text
    }

    /// Whether the value is in a file, or in standard input if no file is given.
    fn is_in_file(&self) -> bool {
        self.name == "patch" && self.kind == Kind::Text
    }

    fn action(&self) -> ArgAction {
        if self.repeatable { ArgAction::Append } else { ArgAction::Set }
    }

    /// The placeholder of a value in help and messages.
    fn value_name(&self) -> String {
        match &self.kind {
            Kind::Integer | Kind::Number if !self.positional => "N".to_owned(),
            Kind::Flag => "BOOL".to_owned(),
            Kind::LineRange => "N-N".to_owned(),
            Kind::Json => "JSON".to_owned(),
            Kind::Text if self.is_in_file() => "FILE".to_owned(),
            Kind::Choice(values) if values.len() <= MAX_NAMED => values.join("|"),
            _ => self.name.to_uppercase(),
        }
    }

    /// Parses one value to JSON. The toolkit checks ranges.
    fn value_parser(&self) -> ValueParser {
        match &self.kind {
            // A path need not be UTF-8; other text must be, as for rg.
            Kind::Text if self.is_path() => ValueParser::new(
                PathBufValueParser::new().map(|path| Value::from(path_text(&path))),
            ),
            Kind::Text => ValueParser::new(OsStringValueParser::new().try_map(parse_text)),
            Kind::Integer => ValueParser::new(parse_integer),
            Kind::Number => ValueParser::new(parse_number),
            Kind::Flag => ValueParser::new(
                PossibleValuesParser::new(["true", "false"])
                    .map(|text| Value::from(text == "true")),
            ),
            Kind::Choice(values) => ValueParser::new(choice_parser(values)),
            Kind::LineRange => ValueParser::new(parse_line_range),
            Kind::Json => ValueParser::new(|text: &str| serde_json::from_str::<Value>(text)),
        }
    }

    /// Columns before its help in the short help.
    fn columns(&self) -> usize {
        let value = self.value_name().chars().count() + "<>".len();
        if self.positional {
            return "  ".len() + value + "...  ".len();
        }
        if let Some(negation) = self.negation() {
            return MARGINS + negation.len();
        }
        let brackets = if self.kind == Kind::Flag { "[]".len() } else { 0 };
        MARGINS + self.flag().len() + " ".len() + value + brackets
    }

    /// Its clap argument, and the one that turns it off.
    fn options(&self, column: usize) -> Vec<Arg> {
        let own = self.argument(column);
        let Some(negation) = self.negation() else { return vec![own] };
        let sentence =
            format!("Turn off: {}", lowercase_first(&first_sentence(self.description())));
        let off = Arg::new(negation.clone())
            .long(negation)
            .help(help::one_line(column, &sentence, ""))
            .long_help(sentence)
            .action(ArgAction::SetTrue)
            .conflicts_with(self.name.to_owned());
        vec![own.hide(true), off]
    }

    fn argument(&self, column: usize) -> Arg {
        let argument = Arg::new(self.name.to_owned())
            .required(self.required)
            .help(self.short_help(column))
            .long_help(self.long_help())
            .value_parser(self.value_parser())
            .value_name(self.value_name())
            .hide(self.hidden)
            .action(self.action());
        let argument = match (self.positional, self.repeatable) {
            (true, true) => argument.num_args(1..),
            (true, false) => argument,
            (false, _) => argument.long(self.flag()).short(self.short),
        };
        match self.kind {
            Kind::Flag => argument
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .hide_possible_values(true),
            Kind::Choice(_) => argument.hide_possible_values(true),
            Kind::Integer | Kind::Number => argument.allow_negative_numbers(true),
            // As in getopt, an option takes the next word even if that begins with a hyphen. So
            // does content, unless the word is a known flag.
            Kind::Text if !self.positional || self.reads_input() => {
                argument.allow_hyphen_values(true)
            }
            _ => argument,
        }
    }

    fn named_argument(&self) -> Arg {
        Arg::new(self.named_id())
            .long(self.flag())
            .short(self.short)
            .value_name(self.value_name())
            .value_parser(self.value_parser())
            .action(ArgAction::Append)
            .allow_hyphen_values(true)
            .hide(true)
    }

    fn description(&self) -> &'a str {
        self.schema.get("description").and_then(Value::as_str).unwrap_or_default()
    }

    /// The default of the schema, except for flags, which are off unless the help says otherwise.
    fn default(&self) -> Option<String> {
        match self.schema.get("default")? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }

    /// The first sentence of the description, and the default from the description or the schema.
    fn short_help(&self, column: usize) -> String {
        let described = self.description().split_once("Default: ");
        let described = described.map(|(_, default)| first_sentence(default));
        let sentence = first_sentence(self.description());
        let default = described.or_else(|| self.default());
        let default = default.filter(|default| !sentence.contains("efault") && default != "0");
        let default = default.map_or_else(String::new, |default| format!(" [default: {default}]"));
        help::one_line(column, &sentence, &format!("{}{default}", self.input_help()))
    }

    fn long_help(&self) -> String {
        let description = match self.input_help() {
            "" => self.description().to_owned(),
            input => self.description().trim_end_matches('.').to_owned() + input,
        };
        match self.default() {
            Some(default) if !description.contains("efault") => {
                format!("{description} [default: {default}]")
            }
            _ => description,
        }
    }

    fn input_help(&self) -> &'static str {
        match (self.reads_input(), self.is_in_file()) {
            (true, _) => "; - for standard input",
            (_, true) => "; in FILE, or in standard input",
            _ => "",
        }
    }
}

impl Kind {
    fn of(schema: &Value) -> Kind {
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            let texts: Option<Vec<_>> = values.iter().map(Value::as_str).collect();
            return texts.map_or(Kind::Json, |texts| {
                Kind::Choice(texts.into_iter().map(str::to_owned).collect())
            });
        }
        match schema.get("type").and_then(Value::as_str) {
            Some("string") => Kind::Text,
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Flag,
            _ => Kind::Json,
        }
    }
}

/// Accepts one of the values, also by its first letter if no other begins so.
fn choice_parser(values: &[String]) -> impl TypedValueParser<Value = Value> + use<> {
    let with_letter = |value: &String| {
        let letter = value.chars().next().map(String::from).unwrap_or_default();
        let is_unique = values.iter().filter(|other| other.starts_with(&letter)).count() == 1;
        let letter = is_unique.then_some(letter);
        PossibleValue::new(value.clone()).aliases(letter)
    };
    let values: Vec<PossibleValue> = values.iter().map(with_letter).collect();
    let named = values.clone();
    PossibleValuesParser::new(values).map(move |text| {
        let value = named.iter().find(|value| value.matches(&text, false));
        Value::from(value.map_or(text.as_str(), PossibleValue::get_name))
    })
}

fn has_type(schema: &Value, kind: &str) -> bool {
    schema.get("type").is_some_and(|own| own == kind)
}

fn lowercase_first(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

fn parse_line_range(text: &str) -> Result<Value, String> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let line = |number: &str| number.trim().parse::<u64>().map_err(|error| error.to_string());
    Ok(Value::from(vec![line(first)?, line(last)?]))
}

fn parse_text(text: OsString) -> Result<Value, String> {
    let refused = "not valid UTF-8; in a regular expression, (?-u:\\xFF) stands for the byte FF";
    text.into_string().map(Value::from).map_err(|_| refused.to_owned())
}

fn parse_integer(text: &str) -> Result<Value, String> {
    let signed = text.parse::<i64>().map(Value::from);
    signed
        .or_else(|_| text.parse::<u64>().map(Value::from))
        .map_err(|_| "not a whole number".to_owned())
}

fn parse_number(text: &str) -> Result<Value, String> {
    let number = text.parse::<f64>().ok().and_then(Number::from_f64);
    number.map(Value::Number).ok_or_else(|| "not a number".to_owned())
}

/// The arguments of a tool's command, positional or behind a flag.
pub(super) fn options(spec: &ToolSpec) -> Vec<Arg> {
    let parameters = parameters(spec);
    let column = |positional| {
        let alike = parameters.iter().filter(|parameter| parameter.positional == positional);
        alike.map(Parameter::columns).max().unwrap_or(0)
    };
    let (positional, named) = (column(true), column(false));
    let options = parameters.iter().flat_map(|parameter| {
        parameter.options(if parameter.positional { positional } else { named })
    });
    options.chain(shorts::options(spec)).collect()
}

/// Hidden flags by which positional arguments may be given too, such as `--pattern TODO`. None if a
/// positional is not text: each then has a type of its own, so that none can take another's place.
pub(super) fn named_positionals(spec: &ToolSpec) -> Vec<Arg> {
    let parameters = parameters(spec);
    let positionals = || parameters.iter().filter(|parameter| parameter.positional);
    if positionals().any(|parameter| parameter.kind != Kind::Text) {
        return Vec::new();
    }
    positionals().map(Parameter::named_argument).collect()
}

/// The same command line, in which a positional is not required once a positional is given by name.
pub(super) fn without_required_positionals(line: Command) -> Command {
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

/// The JSON arguments that were typed; defaults are left to the tool.
pub(super) fn parse(
    spec: &ToolSpec,
    matches: &ArgMatches,
    current_dir: &CurrentDir,
) -> Result<Map<String, Value>, Error> {
    let parameters = parameters(spec);
    let mut positionals = positional_values(&parameters, matches)?;
    let mut args = Map::new();
    for parameter in &parameters {
        let is_off = parameter.negation().is_some_and(|negation| matches.get_flag(&negation));
        let values = match positionals.remove(parameter.name) {
            Some(values) => values,
            None if is_off => vec![Value::Bool(false)],
            None => typed_values(matches, parameter.name),
        };
        let value = match combine(parameter, values) {
            None if parameter.is_in_file() => Value::String(standard_input()?),
            None => continue,
            Some(value) if parameter.is_path() => current_dir.to_root_relative(value),
            Some(value) if parameter.is_filter() => current_dir.globs_from_root(value),
            Some(value) if parameter.reads_input() && value == "-" => {
                Value::String(standard_input()?)
            }
            Some(value) if parameter.is_in_file() => Value::String(file_text(&value)?),
            Some(value) => value,
        };
        args.insert(parameter.name.to_owned(), value);
    }
    shorts::apply(spec, matches, &mut args)?;
    Ok(args)
}

/// One value or a list, as the schema says; `None` if nothing was given.
fn combine(parameter: &Parameter<'_>, mut values: Vec<Value>) -> Option<Value> {
    let is_single = values.len() <= 1 && !parameter.always_list;
    if is_single || !parameter.repeatable || values.is_empty() {
        return values.pop();
    }
    Some(Value::Array(values))
}

fn typed_values(matches: &ArgMatches, id: &str) -> Vec<Value> {
    let values = matches.try_get_many::<Value>(id).ok().flatten();
    values.into_iter().flatten().cloned().collect()
}

/// The values of each positional parameter. Values without a name go, in order, to the parameters
/// that are not given by name.
fn positional_values<'a>(
    parameters: &[Parameter<'a>],
    matches: &ArgMatches,
) -> Result<HashMap<&'a str, Vec<Value>>, Error> {
    let positionals = || parameters.iter().filter(|parameter| parameter.positional);
    let mut unnamed = positionals().flat_map(|parameter| typed_values(matches, parameter.name));
    let mut any_named = false;
    let mut assigned = HashMap::new();
    for parameter in positionals() {
        let mut values = typed_values(matches, &parameter.named_id());
        if values.is_empty() {
            let max = if parameter.repeatable { usize::MAX } else { 1 };
            values.extend(unnamed.by_ref().take(max));
        } else if values.len() > 1 && !parameter.repeatable {
            let message = format!("--{} is given {} times", parameter.flag(), values.len());
            let error = Error::new(ErrorCode::InvalidArgument, message);
            return Err(error.with_hint("Give it once."));
        } else {
            any_named = true;
        }
        if values.is_empty() && parameter.required {
            let message = format!("{} is missing", parameter.value_name());
            let error = Error::new(ErrorCode::InvalidArgument, message);
            return Err(error.with_hint("`--help` shows the usage."));
        }
        assigned.insert(parameter.name, values);
    }
    match unnamed.next() {
        Some(extra) if any_named => {
            let extra = extra.as_str().unwrap_or_default();
            let message = format!("{extra:?} is one argument too many");
            let error = Error::new(ErrorCode::InvalidArgument, message);
            Err(error.with_hint("What is given by its flag needs no place."))
        }
        _ => Ok(assigned),
    }
}

/// The text of a file, or of standard input for `-`, which must be UTF-8.
pub(super) fn file_text(path: &Value) -> Result<String, Error> {
    let Some(path) = path.as_str() else {
        return Err(Error::new(ErrorCode::InvalidArgument, "the name of the file is not text"));
    };
    if path == "-" {
        return standard_input();
    }
    fs::read_to_string(path).map_err(|reason| {
        let code = match reason.kind() {
            io::ErrorKind::InvalidData => ErrorCode::NotText,
            io::ErrorKind::NotFound => ErrorCode::FileNotFound,
            _ => ErrorCode::IoError,
        };
        Error::new(code, format!("cannot read {path}: {reason}")).because(reason)
    })
}

/// All of standard input, which must be UTF-8.
pub(super) fn standard_input() -> Result<String, Error> {
    let mut text = String::new();
    let read = io::stdin().lock().read_to_string(&mut text);
    read.map_err(|reason| {
        let code = match reason.kind() {
            io::ErrorKind::InvalidData => ErrorCode::NotText,
            _ => ErrorCode::IoError,
        };
        let error = Error::new(code, format!("cannot read standard input: {reason}"));
        error.because(reason).with_hint("Only UTF-8 text can be passed on.")
    })?;
    Ok(text)
}

/// The examples of a tool as command lines.
pub(super) fn examples(spec: &ToolSpec) -> Vec<String> {
    let examples = spec.examples.iter().filter_map(Value::as_object);
    examples.filter_map(|args| example(spec, args)).collect()
}

/// The command line that stands for these arguments, or `None` if there is none.
fn example(spec: &ToolSpec, args: &Map<String, Value>) -> Option<String> {
    let parameters = parameters(spec);
    if args.keys().any(|name| !parameters.iter().any(|parameter| parameter.name == name)) {
        return None;
    }
    let mut positionals = Vec::new();
    let mut flags = Vec::new();
    for parameter in &parameters {
        match args.get(parameter.name) {
            Some(value) if parameter.positional => positionals.extend(words(value, parameter)?),
            Some(value) => flags.extend(flag_words(parameter, value)?),
            None => {}
        }
    }
    // A positional that looks like a flag stands behind `--`, after all flags.
    let words = if positionals.iter().any(|word| word.starts_with('-')) {
        flags.push("--".to_owned());
        flags.into_iter().chain(positionals)
    } else {
        positionals.into_iter().chain(flags)
    };
    let line = format!("ripkit {}", spec.command);
    Some(words.fold(line, |line, word| line + " " + &shell_quoted(&word)))
}

fn flag_words(parameter: &Parameter<'_>, value: &Value) -> Option<Vec<String>> {
    let name = format!("--{}", parameter.flag());
    match (&parameter.kind, value, parameter.negation()) {
        (Kind::Flag, Value::Bool(false), Some(negation)) => Some(vec![format!("--{negation}")]),
        (Kind::Flag, Value::Bool(true), _) => Some(vec![name]),
        (Kind::Flag, Value::Bool(false), None) => Some(vec![format!("{name}=false")]),
        (Kind::Flag, ..) => None,
        _ => {
            let values = words(value, parameter)?;
            Some(values.into_iter().flat_map(|value| [name.clone(), value]).collect())
        }
    }
}

/// One word per value; a list that cannot be repeated is one word of JSON.
fn words(value: &Value, parameter: &Parameter<'_>) -> Option<Vec<String>> {
    match value {
        _ if parameter.is_in_file() => Some(vec!["changes.diff".to_owned()]),
        _ if parameter.kind == Kind::Json => Some(vec![value.to_string()]),
        Value::Array(values) if parameter.repeatable => values.iter().map(word).collect(),
        value => Some(vec![word(value)?]),
    }
}

fn word(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// A word quoted for a POSIX shell, if it needs that.
fn shell_quoted(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
