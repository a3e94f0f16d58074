use std::fmt;

use ripkit::{Effect, Output, Tool, ToolContext, Toolkit, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::command_line;
use super::*;

/// Looks for a pattern, e.g. a word. Reads nothing.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Args {
    /// What to look for.
    pattern: String,
    /// The most results. Default: 50.
    max_results: Option<u32>,
    /// Where to look.
    path: Option<OneOrMany>,
    /// Globs of file names.
    include: Option<OneOrMany>,
    /// The first line.
    offset: Option<i64>,
    /// Look at hidden files.
    #[serde(default = "yes")]
    hidden: bool,
    /// Match whole words.
    #[serde(default)]
    word: bool,
    /// What to return.
    #[serde(default)]
    output: Shape,
    /// Changes to make.
    edits: Option<Vec<Edit>>,
    /// What to write.
    content: Option<String>,
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only the schema is of interest")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Shape {
    #[default]
    Content,
    Files,
}

#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only the schema is of interest")]
struct Edit {
    old_text: String,
}

#[derive(Serialize, JsonSchema)]
struct Nothing;

impl fmt::Display for Nothing {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        Ok(())
    }
}

impl Output for Nothing {}

struct Look;

impl Tool for Look {
    const NAME: &'static str = "look_for";
    const COMMAND: &'static str = "look";
    const ALIASES: &'static [&'static str] = &["grep", "call"];
    const EFFECT: Effect = Effect::Read;
    type Args = Args;
    type Output = Nothing;

    fn run(&self, _: &ToolContext<'_>, _: Args) -> Result<Nothing, Error> {
        Ok(Nothing)
    }
}

fn look() -> ToolSpec {
    let workspace = Workspace::open(env!("CARGO_MANIFEST_DIR")).expect("the crate's own directory");
    let tools = Toolkit::new(workspace).with(Look);
    tools.spec("look_for").expect("the tool of the test").clone()
}

/// The arguments that a command line stands for, or what clap says.
fn typed(words: &[&str]) -> Result<Value, String> {
    let spec = look();
    let line = command_line(std::slice::from_ref(&spec));
    let words: Vec<_> = ["ripkit"].iter().chain(words).map(Into::into).collect();
    let matches = super::super::parse(&line, &words).map_err(|error| error.to_string())?;
    let (_, matches) = matches.subcommand().expect("a command");
    let current_dir = CurrentDir::at("");
    parse(&spec, matches, &current_dir).map(Value::Object).map_err(|error| error.to_string())
}

#[test]
fn the_command_line_is_sound() {
    command_line(&[look()]).debug_assert();
    command_line(&ripkit::toolkit::standard_specs()).debug_assert();
}

#[test]
fn words_become_arguments() {
    let cases: [(&[&str], Value); 13] = [
        (&["look", "x"], json!({ "pattern": "x" })),
        (&["grep", "x", "src"], json!({ "pattern": "x", "path": "src" })),
        (&["look_for", "x", "a", "b"], json!({ "pattern": "x", "path": ["a", "b"] })),
        (&["look-for", "x", "--max-results", "3"], json!({ "pattern": "x", "max_results": 3 })),
        (&["look", "--offset", "-3", "x"], json!({ "pattern": "x", "offset": -3 })),
        (&["look", "x", "--include", "*.rs"], json!({ "pattern": "x", "include": "*.rs" })),
        (
            &["look", "x", "--include", "*.rs", "--include=-y"],
            json!({ "pattern": "x", "include": ["*.rs", "-y"] }),
        ),
        (&["look", "x", "--no-hidden"], json!({ "pattern": "x", "hidden": false })),
        (&["look", "x", "--hidden=false"], json!({ "pattern": "x", "hidden": false })),
        (&["look", "--word", "x"], json!({ "pattern": "x", "word": true })),
        (&["look", "x", "--output", "files"], json!({ "pattern": "x", "output": "files" })),
        (
            &["look", "x", "--edits", r#"[{"old_text": "a"}]"#],
            json!({ "pattern": "x", "edits": [{ "old_text": "a" }] }),
        ),
        (&["look", "--", "-x"], json!({ "pattern": "-x" })),
    ];
    for (words, wanted) in cases {
        assert_eq!(typed(words), Ok(wanted), "{words:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_suggestion() {
    let cases: [(&[&str], &str); 5] = [
        (&["lok", "x"], "'look'"),
        (&["look", "x", "--inclde", "y"], "tip: a similar argument exists: '--include'"),
        (&["look", "x", "--max-results", "many"], "not a whole number"),
        (&["look", "x", "--output", "lines"], "[possible values: content, files]"),
        (&["look"], "<PATTERN>"),
    ];
    for (words, wanted) in cases {
        let said = typed(words).expect_err("nonsense");
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn short_help_fits_one_screen() {
    let help = typed(&["look", "-h"]).expect_err("help");
    assert!(help.lines().count() <= 40, "{help}");
    assert!(help.starts_with("Looks for a pattern, e.g. a word\n"), "{help}");
    let parts =
        ["Usage: ripkit look [OPTIONS] <PATTERN> [PATH]...", "--no-hidden", "[default: content]"];
    for wanted in parts {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
}

#[test]
fn what_has_a_place_may_have_its_flag_instead() {
    let both = json!({ "pattern": "x", "path": "src" });
    let cases: [(&[&str], Value); 6] = [
        (&["look", "--pattern", "x"], json!({ "pattern": "x" })),
        (&["look", "--pattern", "-x"], json!({ "pattern": "-x" })),
        (&["look", "--pattern", "x", "src"], both.clone()),
        (&["look", "src", "--pattern=x"], both.clone()),
        (&["look", "--path", "src", "x"], both),
        (
            &["look", "x", "--path", "a", "--path", "b"],
            json!({ "pattern": "x", "path": ["a", "b"] }),
        ),
    ];
    for (words, wanted) in cases {
        assert_eq!(typed(words), Ok(wanted), "{words:?}");
    }
    let refused: [(&[&str], &str); 3] = [
        (
            &["look", "x", "--pattern", "y", "--path", "a"],
            "\"x\" is one argument too many. What is given by its flag needs no place.",
        ),
        (&["look", "--path", "a"], "PATTERN is missing. `--help` shows the usage."),
        (&["look", "--pattern"], "a value is required for '--pattern <PATTERN>'"),
    ];
    for (words, wanted) in refused {
        let said = typed(words).expect_err("nonsense");
        assert!(said.contains(wanted), "{said}");
    }
}

#[test]
fn an_example_read_back_gives_its_arguments() {
    let cases = [
        (json!({ "pattern": "fn a(x)" }), "ripkit look 'fn a(x)'"),
        (json!({ "path": ["a", "b"], "pattern": "x" }), "ripkit look x a b"),
        (json!({ "pattern": "it's", "max_results": 3 }), r"ripkit look 'it'\''s' --max-results 3"),
        (json!({ "pattern": "-x", "word": true }), "ripkit look --word -- -x"),
        (json!({ "pattern": "x", "hidden": false }), "ripkit look x --no-hidden"),
        (json!({ "pattern": "x", "word": false }), "ripkit look x --word=false"),
        (
            json!({ "pattern": "x", "include": ["*.rs", "!a"], "output": "files", "offset": -3 }),
            "ripkit look x --include '*.rs' --include '!a' --offset -3 --output files",
        ),
        (
            json!({ "pattern": "x", "edits": [{ "old_text": "a b" }] }),
            r#"ripkit look x --edits '[{"old_text":"a b"}]'"#,
        ),
    ];
    let spec = look();
    for (args, wanted) in cases {
        let line = example(&spec, args.as_object().expect("an object")).expect("a line");
        assert_eq!(line, wanted);
        let words = split(&line);
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        assert_eq!(typed(&words), Ok(args), "{line}");
    }
    let unknown = json!({ "pattern": "x", "colour": "red" });
    assert_eq!(example(&spec, unknown.as_object().expect("an object")), None);
}

#[test]
fn the_examples_of_every_tool_read_back_as_they_were() {
    let specs = ripkit::toolkit::standard_specs();
    let whole = command_line(&specs);
    let has_line = |spec: &&ToolSpec| !super::super::is_declared(spec.command);
    for spec in specs.iter().filter(has_line) {
        for args in spec.examples.iter().filter_map(Value::as_object) {
            let line = example(spec, args).expect("a line");
            // A patch is in a file, which the line names.
            if args.contains_key("patch") {
                assert!(line.starts_with("ripkit patch changes.diff"), "{line}");
                continue;
            }
            let words: Vec<OsString> = split(&line).into_iter().map(Into::into).collect();
            let matches = super::super::parse(&whole, &words)
                .unwrap_or_else(|error| panic!("{line}: {error}"));
            let (_, matches) = matches.subcommand().expect("a command");
            let mut read = parse(spec, matches, &CurrentDir::at("")).expect("arguments");
            // The default of a shell.
            if !args.contains_key("case_sensitive") {
                read.shift_remove("case_sensitive");
            }
            assert_eq!(Value::Object(read), Value::Object(args.clone()), "{line}");
        }
    }
}

/// The words of a line that has quotes of one kind, as a shell splits them.
fn split(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut letters = line.chars();
    let mut quoted = false;
    while let Some(letter) = letters.next() {
        match letter {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            '\\' if !quoted => words.last_mut().expect("a word").extend(letters.next()),
            letter => words.last_mut().expect("a word").push(letter),
        }
    }
    words
}

#[test]
fn only_the_last_positional_can_be_repeated() {
    let list = json!({ "type": "array", "items": { "type": "string" } });
    let text = json!({ "type": "string" });
    let made = |first| {
        let mut made = [Parameter::new("names", first, true), Parameter::new("path", &text, false)];
        keep_repeatable_last(&mut made);
        made.map(|parameter| parameter.positional)
    };
    assert_eq!(made(&list), [false, true]);
    assert_eq!(made(&text), [true, true]);
    let mut alone = [Parameter::new("names", &list, true)];
    keep_repeatable_last(&mut alone);
    assert!(alone[0].positional && alone[0].always_list);
}

#[test]
fn a_kind_follows_from_the_schema() {
    let kinds = [
        (json!({ "type": "integer" }), Kind::Integer),
        (json!({ "type": "boolean" }), Kind::Flag),
        (json!({ "type": "string", "enum": ["a"] }), Kind::Choice(vec!["a".into()])),
        (json!({ "type": "array", "items": { "type": "integer" } }), Kind::Integer),
        (json!({ "type": "array", "items": { "type": "object" } }), Kind::Json),
        (json!({}), Kind::Json),
    ];
    for (schema, kind) in kinds {
        assert_eq!(Parameter::new("x", &schema, false).kind, kind, "{schema}");
    }
}

#[test]
fn only_words_that_a_shell_would_change_are_quoted() {
    let cases = [
        ("src/lib.rs", "src/lib.rs"),
        ("", "''"),
        ("*.rs", "'*.rs'"),
        ("fn a(x)", "'fn a(x)'"),
        ("it's", r"'it'\''s'"),
        ("~", "'~'"),
    ];
    for (word, wanted) in cases {
        assert_eq!(shell_quoted(word), wanted);
    }
}
