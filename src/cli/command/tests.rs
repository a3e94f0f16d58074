use std::fmt;

use ripkit::{Effect, Error, Output, Tool, ToolContext, Toolkit, Workspace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::super::arguments::arguments;
use super::super::root::Standing;
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
    let words = ["ripkit"].iter().chain(words);
    let matches = line.try_get_matches_from(words).map_err(|error| error.to_string())?;
    let (_, matches) = matches.subcommand().expect("a command");
    let standing = Standing::at("");
    arguments(&spec, matches, &standing).map(Value::Object).map_err(|error| error.to_string())
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
    let told =
        ["Usage: ripkit look [OPTIONS] <PATTERN> [PATH]...", "--no-hidden", "[default: content]"];
    for wanted in told {
        assert!(help.contains(wanted), "{wanted}: {help}");
    }
}

#[test]
fn a_sentence_ends_at_its_full_stop() {
    assert_eq!(first_sentence("Where to look. Default: the root."), "Where to look");
    assert_eq!(first_sentence("A name, e.g. x. More."), "A name, e.g. x");
    assert_eq!(first_sentence("No full stop"), "No full stop");
}
