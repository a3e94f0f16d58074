//! Short options with the meaning that they have in `rg` and `fd`, and what to use in place of those
//! that have none here.

use std::fs;
use std::iter;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, ValueHint, value_parser};
use ignore::types::TypesBuilder;
use ripkit::toolkit::standard_specs;
use ripkit::{Error, ErrorCode, ToolSpec};
use serde_json::{Map, Value};

use super::{args, help};

/// The short options of the tools that have one distinguishing argument.
pub(super) struct ShortOptions {
    /// Tools with this argument have these options.
    distinguishing: &'static str,
    /// Another name of an argument.
    names: &'static [(char, &'static str)],
    /// Letters that stand for an argument with a value.
    presets: &'static [Preset],
    /// What holds at a shell unless another value is given.
    shell_default: Option<(&'static str, bool)>,
    /// What is done anyway.
    defaults: &'static [char],
    patterns: Patterns,
}

/// How the pattern of a tool is given.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Patterns {
    /// Once.
    One,
    /// Also several times and in files.
    Several,
    /// A glob, also as an extension.
    Glob,
}

/// The id of the option for files of patterns. It is one of those that stand for a positional.
const PATTERN_FILE: &str = "named-pattern-file";
pub(super) const TYPE_NOT: &str = "type-not";
const EXTENSION: &str = "named-extension";

/// The glob that matches every name.
const ALL_NAMES: &str = "*";

const FILES: &str = "named-files";

/// The length of globs that are joined; the tools take no longer ones.
const MAX_JOINED_BYTES: usize = 1024;

struct Preset {
    letter: char,
    argument: &'static str,
    value: PresetValue,
    help: &'static str,
}

#[derive(Clone, Copy)]
enum PresetValue {
    Bool(bool),
    Text(&'static str),
    /// The default of the tool.
    Absent,
}

const REPLACE: ShortOptions = ShortOptions {
    distinguishing: "replacement",
    names: &[
        ('F', "literal"),
        ('w', "word"),
        ('U', "multiline"),
        ('e', "pattern"),
        ('g', "include"),
        ('t', "file_type"),
        ('u', "no_ignore"),
    ],
    presets: &[IGNORE_CASE, RESPECT_CASE],
    shell_default: None,
    defaults: &[],
    patterns: Patterns::One,
};

const IGNORE_CASE: Preset =
    preset('i', "case_sensitive", PresetValue::Bool(false), "Ignore letter case");

const RESPECT_CASE: Preset =
    preset('s', "case_sensitive", PresetValue::Bool(true), "Respect letter case, as by default");

const RG: ShortOptions = ShortOptions {
    distinguishing: "literal",
    names: &[
        ('F', "literal"),
        ('w', "word"),
        ('U', "multiline"),
        ('e', "pattern"),
        ('g', "include"),
        ('t', "file_type"),
        ('A', "after"),
        ('B', "before"),
        ('C', "context"),
        ('m', "max_per_file"),
        ('u', "no_ignore"),
        ('v', "invert"),
        ('d', "max_depth"),
    ],
    presets: &[
        IGNORE_CASE,
        RESPECT_CASE,
        preset(
            'S',
            "case_sensitive",
            PresetValue::Absent,
            "Ignore letter case unless the pattern has a capital",
        ),
        preset('l', "output", PresetValue::Text("files"), "Print only the paths of files"),
        preset('c', "output", PresetValue::Text("count"), "Count the matching lines of each file"),
    ],
    // As in rg; the default of the tool is that of -S.
    shell_default: Some(("case_sensitive", true)),
    defaults: &['n', 'H'],
    patterns: Patterns::Several,
};

const FD: ShortOptions = ShortOptions {
    distinguishing: "kind",
    names: &[('t', "kind"), ('I', "no_ignore"), ('E', "exclude"), ('d', "max_depth")],
    presets: &[],
    shell_default: None,
    defaults: &['H', 'g'],
    patterns: Patterns::Glob,
};

const fn preset(
    letter: char,
    argument: &'static str,
    value: PresetValue,
    help: &'static str,
) -> Preset {
    Preset { letter, argument, value, help }
}

/// The short options of a tool.
pub(super) fn of(spec: &ToolSpec) -> Option<&'static ShortOptions> {
    [&REPLACE, &RG, &FD].into_iter().find(|options| has(spec, options.distinguishing))
}

fn has(spec: &ToolSpec, argument: &str) -> bool {
    spec.input_schema.get("properties").is_some_and(|all| all.get(argument).is_some())
}

/// The id of `-n`.
pub(super) const NUMBERS: &str = "short-n";

fn id(letter: char) -> String {
    format!("short-{letter}")
}

impl ShortOptions {
    /// The letter that stands for an argument.
    pub(super) fn letter(&self, argument: &str) -> Option<char> {
        self.names.iter().find(|(_, name)| *name == argument).map(|(letter, _)| *letter)
    }

    /// Whether the default of an argument differs at a shell; the letters for it say how.
    pub(super) fn has_other_default(&self, argument: &str) -> bool {
        self.shell_default.is_some_and(|(name, _)| name == argument)
    }

    /// What an argument that a model must give stands for if it is left out. As in fd, all names match.
    pub(super) fn default_of(&self, argument: &str) -> Option<&'static str> {
        (self.patterns == Patterns::Glob && argument == "pattern").then_some(ALL_NAMES)
    }

    /// The options that are no other names of arguments of the tool.
    pub(super) fn options(&self) -> Vec<Arg> {
        let flag = |letter: char| Arg::new(id(letter)).short(letter).action(ArgAction::SetTrue);
        let presets = self.presets.iter().map(|preset| {
            let rivals = self.presets.iter().filter(|rival| rival.argument == preset.argument);
            flag(preset.letter)
                .help(preset.help)
                .help_heading(help::FORM)
                .overrides_with_all(rivals.map(|rival| id(rival.letter)).collect::<Vec<_>>())
        });
        let defaults = self.defaults.iter().map(|letter| flag(*letter).hide(true));
        presets.chain(defaults).chain(self.pattern_options()).collect()
    }

    /// The options that stand for the pattern or add to the globs.
    fn pattern_options(&self) -> Vec<Arg> {
        let option = |id: &'static str, letter: char, long: &'static str, value: &'static str| {
            Arg::new(id)
                .short(letter)
                .long(long)
                .value_name(value)
                .action(ArgAction::Append)
                .hide_short_help(true)
        };
        let type_not = || option(TYPE_NOT, 'T', "type-not", "TYPE").help("No files of this type");
        match self.patterns {
            Patterns::One => return vec![type_not()],
            Patterns::Several => {}
            Patterns::Glob => {
                let extension = option(EXTENSION, 'e', "extension", "EXT");
                return vec![extension.help("Files with this extension")];
            }
        }
        vec![
            option(PATTERN_FILE, 'f', "file", "FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("Read patterns from a file, one a line; - for standard input"),
            type_not(),
            Arg::new(FILES)
                .long("files")
                .action(ArgAction::SetTrue)
                .hide_short_help(true)
                .help("List the files that would be searched"),
        ]
    }

    /// Whether an option is given that makes a pattern optional.
    pub(super) fn gives_pattern(matches: &ArgMatches) -> bool {
        let is_given = |id| matches.try_contains_id(id).unwrap_or(false);
        is_given(PATTERN_FILE) || is_given(EXTENSION) || flag(matches, FILES)
    }

    /// Whether a tool with these options takes several patterns, and `-` as a path for standard input.
    pub(super) fn has_patterns(&self) -> bool {
        self.patterns == Patterns::Several
    }

    /// Applies what was typed: values that letters stand for, and `!glob` as what to leave out.
    pub(super) fn apply(
        &self,
        matches: &ArgMatches,
        patterns: &[Value],
        args: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        for preset in self.presets.iter().filter(|preset| matches.get_flag(&id(preset.letter))) {
            let value = match preset.value {
                PresetValue::Bool(value) => value.into(),
                PresetValue::Text(value) => value.into(),
                PresetValue::Absent => Value::Null,
            };
            args.insert(preset.argument.to_owned(), value);
        }
        if let Some((argument, value)) = self.shell_default {
            args.entry(argument).or_insert(value.into());
        }
        exclude_negated(args);
        match self.patterns {
            Patterns::One => return exclude_types(matches, args),
            Patterns::Several => {
                exclude_types(matches, args)?;
                return join_patterns(matches, patterns, args);
            }
            Patterns::Glob => {}
        }
        let extensions: Vec<&str> = strings(matches, EXTENSION).collect();
        let glob = match extensions.as_slice() {
            [] => {
                args.entry("pattern").or_insert(ALL_NAMES.into());
                return Ok(());
            }
            [one] => format!("*.{one}"),
            all => format!("*.{{{}}}", all.join(",")),
        };
        match args.insert("pattern".to_owned(), glob.into()) {
            None => Ok(()),
            Some(_) => Err(refusal("-e with a pattern", "give one glob, as in 'test*.rs'")),
        }
    }
}

/// For `--files`, the tool that lists files with the arguments that stand for those of a search.
///
/// # Errors
/// `INVALID_ARGUMENT` for several paths, and for globs whose order counts.
pub(super) fn listing(
    spec: &ToolSpec,
    matches: &ArgMatches,
    mut args: Map<String, Value>,
) -> Result<(Option<ToolSpec>, Map<String, Value>), Error> {
    if !has(spec, RG.distinguishing) || !flag(matches, FILES) {
        return Ok((None, args));
    }
    let lists = standard_specs().into_iter().find(|other| has(other, FD.distinguishing));
    let Some(lists) = lists else { return Ok((None, args)) };
    if globs_are_in_order(&args) {
        return Err(refusal(
            "--files with a glob after one that excludes",
            "give those with `!` last",
        ));
    }
    let texts = |value: Option<Value>| -> Vec<String> {
        let values = value.into_iter().flat_map(as_list);
        values.filter_map(|value| value.as_str().map(str::to_owned)).collect()
    };
    let (mut globs, types) = (texts(args.remove("include")), texts(args.remove("file_type")));
    // As in rg, a glob overrides the types.
    if globs.is_empty() {
        for name in &types {
            globs.extend(type_globs(name)?);
        }
    }
    let paths = texts(args.remove("path"));
    if paths.len() > 1 {
        return Err(refusal("--files with several paths", "list each path by itself"));
    }
    args.retain(|name, _| has(&lists, name));
    let pattern = match globs.as_slice() {
        [] => ALL_NAMES.to_owned(),
        [one] => one.clone(),
        all => format!("{{{}}}", all.join(",")),
    };
    args.insert("pattern".to_owned(), pattern.into());
    args.insert(FD.distinguishing.to_owned(), "file".into());
    args.extend(paths.into_iter().map(|path| ("path".to_owned(), path.into())));
    Ok((Some(lists), args))
}

fn refusal(option: &str, instead: &str) -> Error {
    let error = Error::new(ErrorCode::InvalidArgument, format!("{option} is not supported"));
    error.with_hint(format!("Instead, {instead}."))
}

fn flag(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().is_some_and(|given| *given)
}

fn strings<'a>(matches: &'a ArgMatches, id: &str) -> impl Iterator<Item = &'a str> {
    let values = matches.try_get_many::<String>(id).ok().flatten();
    values.into_iter().flatten().map(String::as_str)
}

/// Makes one pattern of those on the command line and those in files, as `rg` does.
fn join_patterns(
    matches: &ArgMatches,
    patterns: &[Value],
    args: &mut Map<String, Value>,
) -> Result<(), Error> {
    // Of patterns that match at the same place, the first is taken, whether from a file or not.
    let places = |id: &str| matches.indices_of(id).into_iter().flatten().map(Some);
    let typed = patterns.iter().filter_map(Value::as_str).map(str::to_owned);
    let mut all: Vec<(Option<usize>, String)> =
        places(&args::named_id("pattern")).chain(iter::repeat(None)).zip(typed).collect();
    let files: Vec<&PathBuf> = matches.get_many(PATTERN_FILE).into_iter().flatten().collect();
    if files.is_empty() && all.len() < 2 {
        return Ok(());
    }
    for (place, file) in places(PATTERN_FILE).zip(files) {
        let text = if file.as_os_str() == "-" { args::standard_input()? } else { read_text(file)? };
        all.extend(text.lines().map(|line| (place, line.to_owned())));
    }
    all.sort_by_key(|(place, _)| *place);
    let mut all: Vec<String> = all.into_iter().map(|(_, pattern)| pattern).collect();
    if all.len() > 1 && args.get("literal") == Some(&Value::Bool(true)) {
        args.remove("literal");
        for pattern in &mut all {
            *pattern = escaped(pattern);
        }
    }
    let joined = match all.as_slice() {
        // No pattern matches nothing.
        [] => "[a&&b]".to_owned(),
        [one] => one.clone(),
        all => all.iter().map(|one| format!("(?:{one})")).collect::<Vec<_>>().join("|"),
    };
    args.insert("pattern".to_owned(), joined.into());
    Ok(())
}

fn read_text(path: &Path) -> Result<String, Error> {
    fs::read_to_string(path).map_err(|reason| {
        let message = format!("cannot read the patterns in {}: {reason}", path.display());
        Error::new(ErrorCode::IoError, message).because(reason)
    })
}

/// A regular expression for this text.
fn escaped(text: &str) -> String {
    let is_special = |letter: char| r"\.+*?()|[]{}^$#&-~".contains(letter);
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_special(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Adds the globs of the types of `-T` to those of what is left out.
fn exclude_types(matches: &ArgMatches, args: &mut Map<String, Value>) -> Result<(), Error> {
    let mut exclude = Vec::new();
    for name in strings(matches, TYPE_NOT) {
        exclude.extend(type_globs(name)?);
    }
    if !exclude.is_empty() {
        let given = args.remove("exclude").into_iter().flat_map(as_list);
        let exclude = joined(exclude).into_iter().map(Value::from);
        args.insert("exclude".to_owned(), given.chain(exclude).collect());
    }
    Ok(())
}

/// The same globs in braces, as many in each as its length allows: so even those of all types are few.
fn joined(mut globs: Vec<String>) -> Vec<String> {
    globs.sort_unstable();
    globs.dedup();
    let mut groups: Vec<String> = Vec::new();
    for glob in globs {
        // With the braces around the group, and the comma.
        match groups.last_mut() {
            Some(group) if group.len() + glob.len() + 3 <= MAX_JOINED_BYTES => {
                group.push(',');
                group.push_str(&glob);
            }
            _ => groups.push(glob),
        }
    }
    groups.into_iter().map(|group| format!("{{{group}}}")).collect()
}

fn type_globs(name: &str) -> Result<Vec<String>, Error> {
    let definitions = TypesBuilder::new().add_defaults().definitions();
    let definition = definitions.iter().find(|known| known.name() == name);
    definition.map(|definition| definition.globs().to_vec()).ok_or_else(|| {
        let message = format!("there is no file type `{name}`");
        Error::new(ErrorCode::InvalidArgument, message)
            .with_hint("`--exclude` takes a glob instead, as in `*.rs`.")
    })
}

fn is_negated(glob: &Value) -> bool {
    glob.as_str().is_some_and(|glob| glob.starts_with('!'))
}

/// Whether a glob of `include` comes after one that begins with `!`. Then the last that matches a file
/// decides, as in rg; else it makes no difference that those that exclude win.
pub(super) fn globs_are_in_order(args: &Map<String, Value>) -> bool {
    let include = args.get("include").and_then(Value::as_array);
    let mut rest = include.into_iter().flatten().skip_while(|glob| !is_negated(glob));
    rest.any(|glob| !is_negated(glob))
}

/// Moves the globs of `include` that begin with `!` to `exclude`, unless their order counts.
fn exclude_negated(args: &mut Map<String, Value>) {
    if let Some(Value::Array(include)) = args.get_mut("include") {
        // The tools keep the first of equal globs, and here the last one counts.
        let all = std::mem::take(include);
        let is_last = |(at, glob): &(usize, &Value)| !all[at + 1..].contains(glob);
        *include = all.iter().enumerate().filter(is_last).map(|(_, glob)| glob.clone()).collect();
    }
    if globs_are_in_order(args) {
        return;
    }
    let include = args.get("include").cloned().into_iter().flat_map(as_list);
    let (negated, kept): (Vec<Value>, Vec<Value>) = include.partition(is_negated);
    if negated.is_empty() {
        return;
    }
    args.remove("include");
    if !kept.is_empty() {
        args.insert("include".to_owned(), kept.into());
    }
    let given = args.remove("exclude").into_iter().flat_map(as_list);
    let negated = negated.iter().filter_map(|glob| glob.as_str()?.strip_prefix('!'));
    let exclude: Vec<Value> = given.chain(negated.map(Value::from)).collect();
    args.insert("exclude".to_owned(), exclude.into());
}

fn as_list(value: Value) -> impl Iterator<Item = Value> {
    match value {
        Value::Array(values) => values.into_iter(),
        value => vec![value].into_iter(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_negated_glob_leaves_files_out_unless_its_place_among_others_counts() {
        let cases = [
            (json!({ "include": "!*.md" }), json!({ "exclude": ["*.md"] })),
            (
                json!({ "include": ["*.rs", "!a", "!b"], "exclude": "c" }),
                json!({ "include": ["*.rs"], "exclude": ["c", "a", "b"] }),
            ),
            (json!({ "include": "a", "exclude": "c" }), json!({ "include": "a", "exclude": "c" })),
            // Here the order counts.
            (json!({ "include": ["!a", "b"] }), json!({ "include": ["!a", "b"] })),
            (json!({ "include": ["b", "!a", "b"] }), json!({ "include": ["!a", "b"] })),
            (
                json!({ "include": ["!a", "b", "!a"] }),
                json!({ "include": ["b"], "exclude": ["a"] }),
            ),
        ];
        for (given, wanted) in cases {
            let mut args = given.as_object().expect("an object").clone();
            exclude_negated(&mut args);
            assert_eq!(Value::Object(args), wanted, "{given}");
        }
    }
}
