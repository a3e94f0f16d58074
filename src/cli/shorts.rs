//! Short options with the meaning that they have in `rg` and `fd`, and what to use in place of those
//! that have none here.

use clap::{Arg, ArgAction, ArgMatches};
use ripkit::{Error, ErrorCode, ToolSpec};
use serde_json::{Map, Value};

use super::help;

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
    /// What is not supported, and what to use in its place.
    refused: &'static [(char, &'static str)],
}

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
        preset('i', "case_sensitive", PresetValue::Bool(false), "Ignore letter case"),
        preset('s', "case_sensitive", PresetValue::Bool(true), "Respect letter case"),
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
    refused: &[
        ('f', "give one pattern, the parts joined by |"),
        ('T', "give --exclude with a glob"),
        ('o', "--output values counts the matched texts, and --json-lines has their places"),
        ('N', "`ripkit search PATTERN | cut -d: -f1,3-` takes the numbers off"),
    ],
};

const FD: ShortOptions = ShortOptions {
    distinguishing: "kind",
    names: &[('t', "kind"), ('I', "no_ignore"), ('E', "exclude"), ('d', "max_depth")],
    presets: &[],
    shell_default: None,
    defaults: &['H', 'g'],
    refused: &[
        ('e', "give the glob '*.EXT' as the pattern"),
        ('E', "`ripkit list --pattern GLOB` and a narrower path leave files out"),
        ('d', "`ripkit list --max-depth N --pattern GLOB` limits the depth"),
    ],
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
    [&RG, &FD].into_iter().find(|options| has(spec, options.distinguishing))
}

fn has(spec: &ToolSpec, argument: &str) -> bool {
    spec.input_schema.get("properties").is_some_and(|all| all.get(argument).is_some())
}

fn id(letter: char) -> String {
    format!("short-{letter}")
}

impl ShortOptions {
    /// The letter that stands for an argument.
    pub(super) fn letter(&self, argument: &str) -> Option<char> {
        self.names.iter().find(|(_, name)| *name == argument).map(|(letter, _)| *letter)
    }

    /// The options that are no other names of arguments of the tool.
    pub(super) fn options(&self, spec: &ToolSpec) -> Vec<Arg> {
        let flag = |letter: char| Arg::new(id(letter)).short(letter).action(ArgAction::SetTrue);
        let presets = self.presets.iter().map(|preset| {
            let rivals = self.presets.iter().filter(|rival| rival.argument == preset.argument);
            flag(preset.letter)
                .help(preset.help)
                .help_heading(help::FORM)
                .overrides_with_all(rivals.map(|rival| id(rival.letter)).collect::<Vec<_>>())
        });
        let defaults = self.defaults.iter().map(|letter| flag(*letter).hide(true));
        let refused = self.refused(spec).map(|(letter, _)| flag(*letter).hide(true));
        presets.chain(defaults).chain(refused).collect()
    }

    /// The unsupported options whose letter no argument of the tool has.
    fn refused(&self, spec: &ToolSpec) -> impl Iterator<Item = &'static (char, &'static str)> {
        let taken = |letter| {
            self.names.iter().any(|(named, argument)| *named == letter && has(spec, argument))
        };
        self.refused.iter().filter(move |(letter, _)| !taken(*letter))
    }

    /// Applies what was typed: values that letters stand for, and `!glob` as what to leave out.
    pub(super) fn apply(
        &self,
        spec: &ToolSpec,
        matches: &ArgMatches,
        args: &mut Map<String, Value>,
    ) -> Result<(), Error> {
        if let Some((letter, instead)) =
            self.refused(spec).find(|(letter, _)| matches.get_flag(&id(*letter)))
        {
            let error =
                Error::new(ErrorCode::InvalidArgument, format!("-{letter} is not supported"));
            return Err(error.with_hint(format!("Instead, {instead}.")));
        }
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
        Ok(())
    }
}

/// Moves the globs of `include` that begin with `!` to `exclude`.
fn exclude_negated(args: &mut Map<String, Value>) {
    let is_negated = |glob: &Value| glob.as_str().is_some_and(|glob| glob.starts_with('!'));
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
    fn a_negated_glob_leaves_files_out() {
        let cases = [
            (json!({ "include": "!*.md" }), json!({ "exclude": ["*.md"] })),
            (
                json!({ "include": ["*.rs", "!a", "!b"], "exclude": "c" }),
                json!({ "include": ["*.rs"], "exclude": ["c", "a", "b"] }),
            ),
            (json!({ "include": "a", "exclude": "c" }), json!({ "include": "a", "exclude": "c" })),
        ];
        for (given, wanted) in cases {
            let mut args = given.as_object().expect("an object").clone();
            exclude_negated(&mut args);
            assert_eq!(Value::Object(args), wanted, "{given}");
        }
    }
}
