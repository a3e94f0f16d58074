//! Short options of a replacement, with the meaning that they have in a search.

use clap::{Arg, ArgAction, ArgMatches};
use ignore::types::TypesBuilder;
use ripkit::{Error, ErrorCode, ToolSpec};
use serde_json::{Map, Value};

use super::help;

/// The argument that only the tool with these options has.
const DISTINGUISHING: &str = "replacement";

/// Other names of arguments.
const NAMES: [(char, &str); 7] = [
    ('F', "literal"),
    ('w', "word"),
    ('U', "multiline"),
    ('e', "pattern"),
    ('g', "include"),
    ('t', "file_type"),
    ('u', "no_ignore"),
];

/// Letters that stand for a value of `case_sensitive`.
const CASES: [(char, bool, &str); 2] =
    [('i', false, "Ignore letter case"), ('s', true, "Respect letter case, as by default")];

pub(super) const TYPE_NOT: &str = "type-not";

/// The length of globs that are joined; the tools take no longer ones.
const MAX_JOINED_BYTES: usize = 1024;

/// The letter that stands for an argument of the tool.
pub(super) fn letter(spec: &ToolSpec, argument: &str) -> Option<char> {
    let name = NAMES.iter().find(|(_, name)| *name == argument && are_of(spec));
    name.map(|(letter, _)| *letter)
}

fn are_of(spec: &ToolSpec) -> bool {
    spec.input_schema.get("properties").is_some_and(|all| all.get(DISTINGUISHING).is_some())
}

fn id(letter: char) -> String {
    format!("short-{letter}")
}

/// The options that are no other names of arguments of the tool.
pub(super) fn options(spec: &ToolSpec) -> Vec<Arg> {
    if !are_of(spec) {
        return Vec::new();
    }
    let cases = CASES.map(|(letter, _, help)| {
        let flag = Arg::new(id(letter)).short(letter).action(ArgAction::SetTrue).help(help);
        flag.help_heading(help::FORM).overrides_with_all(CASES.map(|(rival, ..)| id(rival)))
    });
    let type_not = Arg::new(TYPE_NOT)
        .short('T')
        .long("type-not")
        .value_name("TYPE")
        .action(ArgAction::Append)
        .hide_short_help(true)
        .help("No files of this type");
    cases.into_iter().chain([type_not]).collect()
}

/// Applies what was typed: values that letters stand for, and `!glob` as what to leave out.
///
/// # Errors
/// `INVALID_ARGUMENT` for an unknown file type.
pub(super) fn apply(
    spec: &ToolSpec,
    matches: &ArgMatches,
    args: &mut Map<String, Value>,
) -> Result<(), Error> {
    if !are_of(spec) {
        return Ok(());
    }
    for (_, value, _) in CASES.iter().filter(|(letter, ..)| matches.get_flag(&id(*letter))) {
        args.insert("case_sensitive".to_owned(), (*value).into());
    }
    exclude_negated(args);
    exclude_types(matches, args)
}

fn strings<'a>(matches: &'a ArgMatches, id: &str) -> impl Iterator<Item = &'a str> {
    let values = matches.try_get_many::<String>(id).ok().flatten();
    values.into_iter().flatten().map(String::as_str)
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
