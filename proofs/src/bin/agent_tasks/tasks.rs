//! The tasks, each as calls of ripkit and as shell commands.

/// The tree that a task is played in.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// The repository of `just`.
    Just,
    /// [`generate`](crate::tree::generate).
    Generated,
}

/// One thing that the model, or someone else, does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// A tool of ripkit, with its arguments. `$VERSION` is the version in the answer before, and
    /// `$FIRST_VERSION` that in the first answer.
    Call(&'static str, &'static str),
    /// A shell command.
    Shell(&'static str),
    /// Another program writes a file. It costs nothing.
    Outside(&'static str, &'static str),
}

/// A task of a coding agent.
#[derive(Debug)]
pub(crate) struct Task {
    pub(crate) name: &'static str,
    pub(crate) place: Where,
    pub(crate) ripkit: &'static [Step],
    pub(crate) shell: &'static [Step],
    /// Texts that the answers of each side contain.
    pub(crate) facts: &'static [&'static str],
    /// Texts that files contain afterwards.
    pub(crate) leaves: &'static [(&'static str, &'static str)],
}

use Step::{Call, Outside, Shell};
use Where::{Generated, Just};

pub(crate) const TASKS: &[Task] = &[
    Task {
        name: "explain a feature with line references",
        place: Just,
        ripkit: &[
            Call("search", r#"{"pattern":"load_dotenv\\(","path":"src","enclosing":true}"#),
            Call("read_file", r#"{"path":"src/load_dotenv.rs"}"#),
        ],
        shell: &[Shell(r"git grep -np 'load_dotenv(' -- src"), Shell("cat -n src/load_dotenv.rs")],
        facts: &["src/load_dotenv.rs", "DotenvArgumentsRequireLists", "src/justfile.rs"],
        leaves: &[],
    },
    Task {
        name: "callers with the function that they are in",
        place: Just,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"Keyword::from_lexeme","path":"src","enclosing":true}"#,
        )],
        shell: &[Shell("git grep -np 'Keyword::from_lexeme' -- src")],
        facts: &["src/analyzer.rs", "562", "src/parser.rs", "532", "1594"],
        leaves: &[],
    },
    Task {
        name: "macro calls over several lines",
        place: Just,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"error! \\{\\s+name:\\s+unterminated\\w+","path":"src","multiline":true}"#,
        )],
        shell: &[Shell(r"rg -nU 'error! \{\s+name:\s+unterminated\w+' src")],
        facts: &["src/lexer.rs", "unterminated_backtick"],
        leaves: &[],
    },
    Task {
        name: "definition of a type",
        place: Just,
        ripkit: &[Call("search", r#"{"pattern":"(struct|enum|trait) Evaluator\\b"}"#)],
        shell: &[Shell(r"rg -n '(struct|enum|trait) Evaluator\b'")],
        facts: &["src/evaluator.rs", "pub(crate) struct Evaluator"],
        leaves: &[],
    },
    Task {
        name: "a path that does not exist",
        place: Just,
        ripkit: &[
            Call("read_file", r#"{"path":"src/parsers.rs","offset":1590,"limit":12}"#),
            Call("read_file", r#"{"path":"src/parser.rs","offset":1590,"limit":12}"#),
        ],
        shell: &[
            Shell("sed -n 1590,1601p src/parsers.rs"),
            Shell("ls -d src/*pars*; sed -n 1590,1601p src/parser.rs"),
        ],
        facts: &["src/parser.rs", "fn parse_set"],
        leaves: &[],
    },
    Task {
        name: "an include that matches no file",
        place: Just,
        ripkit: &[
            Call(
                "search",
                r#"{"pattern":"dotenv-load","include":"docs/**/*.md","output":"files"}"#,
            ),
            Call("search", r#"{"pattern":"dotenv-load","include":"*.md","output":"files"}"#),
        ],
        shell: &[
            Shell("rg -l dotenv-load -g 'docs/**/*.md'"),
            Shell("rg -l dotenv-load -g '*.md'"),
        ],
        facts: &["README.md", "CHANGELOG.md", "GRAMMAR.md"],
        leaves: &[],
    },
    Task {
        name: "uses of a name in each file",
        place: Just,
        ripkit: &[Call("search", r#"{"pattern":"lexeme","path":"src","output":"count"}"#)],
        shell: &[Shell("rg -c lexeme src")],
        facts: &["src/parser.rs", "src/lexer.rs", "src/analyzer.rs"],
        leaves: &[],
    },
    Task {
        name: "which error variants occur, and how often",
        place: Just,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"Error::(Unknown\\w+)","path":"src","output":"values"}"#,
        )],
        shell: &[Shell(r"rg -oI 'Error::Unknown\w+' src | sort | uniq -c | sort -rn")],
        facts: &["UnknownRecipe", "10"],
        leaves: &[],
    },
    Task {
        name: "the layout of a repository",
        place: Just,
        ripkit: &[Call("list_files", r#"{"max_depth":1}"#)],
        shell: &[Shell("ls; for d in */; do echo \"$d $(git ls-files $d | wc -l)\"; done")],
        facts: &["Cargo.toml", "completions", "src"],
        leaves: &[],
    },
    Task {
        name: "a file by a part of its name",
        place: Just,
        ripkit: &[Call("find_files", r#"{"pattern":"*dotenv*"}"#)],
        shell: &[Shell("git ls-files | grep -i dotenv")],
        facts: &["src/load_dotenv.rs", "tests/dotenv.rs"],
        leaves: &[],
    },
    Task {
        name: "a page of a large file",
        place: Just,
        ripkit: &[Call("read_file", r#"{"path":"src/parser.rs","offset":1590,"limit":40}"#)],
        shell: &[Shell("sed -n 1590,1629p src/parser.rs | cat -n")],
        facts: &["fn parse_set", "Keyword::from_lexeme"],
        leaves: &[],
    },
    Task {
        name: "the end of a file",
        place: Just,
        ripkit: &[Call("read_file", r#"{"path":"src/keyword.rs","offset":-20}"#)],
        shell: &[Shell("tail -n 20 src/keyword.rs")],
        facts: &["}"],
        leaves: &[],
    },
    Task {
        name: "the entries of a directory",
        place: Just,
        ripkit: &[Call("list_directory", r#"{"path":"completions"}"#)],
        shell: &[Shell("ls completions")],
        facts: &["just.bash", "just.zsh"],
        leaves: &[],
    },
    Task {
        name: "a constant is changed",
        place: Just,
        ripkit: &[
            Call("search", r#"{"pattern":"RECURSION_LIMIT","path":"src"}"#),
            Call(
                "edit_file",
                r#"{"path":"src/lib.rs","old_text":"{ 48 } else { 256 }","new_text":"{ 64 } else { 512 }"}"#,
            ),
        ],
        shell: &[
            Shell("rg -n RECURSION_LIMIT src"),
            Shell(
                "sed -i 's/{ 48 } else { 256 }/{ 64 } else { 512 }/' src/lib.rs && git diff --stat",
            ),
        ],
        facts: &["src/lib.rs"],
        leaves: &[("src/lib.rs", "if cfg!(windows) { 64 } else { 512 };")],
    },
    Task {
        name: "two changes in one file",
        place: Generated,
        ripkit: &[Call(
            "edit_file",
            r#"{"path":"config/app.conf","edits":[{"old_text":"timeout = 30","new_text":"timeout = 60"},{"old_text":"retries = 3","new_text":"retries = 5"}]}"#,
        )],
        shell: &[Shell(
            "sed -i -e 's/^timeout = 30$/timeout = 60/' -e 's/^retries = 3$/retries = 5/' config/app.conf && grep -HnE '^(timeout|retries)' config/app.conf",
        )],
        facts: &["config/app.conf"],
        leaves: &[("config/app.conf", "timeout = 60"), ("config/app.conf", "retries = 5")],
    },
    Task {
        name: "an ignored file",
        place: Generated,
        ripkit: &[Call("search", r#"{"pattern":"def schema_version"}"#)],
        shell: &[Shell("rg -n 'def schema_version'"), Shell("rg -nu 'def schema_version'")],
        facts: &["generated/schema.py", "def schema_version"],
        leaves: &[],
    },
    Task {
        name: "a minified file",
        place: Generated,
        ripkit: &[Call(
            "search",
            r#"{"pattern":".{0,120}trackingId.{0,120}","path":"dist/app.min.js","output":"values"}"#,
        )],
        shell: &[Shell("rg -o '.{0,120}trackingId.{0,120}' dist/app.min.js")],
        facts: &["UA-31337"],
        leaves: &[],
    },
    Task {
        name: "an edit in a file with CRLF",
        place: Generated,
        ripkit: &[Call(
            "edit_file",
            r#"{"path":"src/Client.cs","old_text":"int retries = 3;\n        private int timeout = 30;","new_text":"int retries = 5;\n        private int timeout = 60;"}"#,
        )],
        shell: &[Shell(
            r"perl -0pi -e 's/int retries = 3;(\r?\n) {8}private int timeout = 30;/int retries = 5;$1        private int timeout = 60;/' src/Client.cs && cat -A src/Client.cs",
        )],
        facts: &["Client"],
        leaves: &[("src/Client.cs", "retries = 5;\r\n        private int timeout = 60;\r\n")],
    },
    Task {
        name: "a file that changed after it was read",
        place: Generated,
        ripkit: &[
            Call("read_file", r#"{"path":"notes.txt"}"#),
            Outside("notes.txt", "to do\n- check the retry policy\n- renew db-3\n"),
            Call(
                "write_file",
                r#"{"path":"notes.txt","content":"to do\n- done: retry policy\n","expected_version":"$VERSION"}"#,
            ),
            Call(
                "edit_file",
                r#"{"path":"notes.txt","old_text":"check the retry policy","new_text":"done: retry policy"}"#,
            ),
        ],
        shell: &[
            Shell("cat notes.txt; sha1sum notes.txt"),
            Outside("notes.txt", "to do\n- check the retry policy\n- renew db-3\n"),
            Shell("sha1sum notes.txt; cat notes.txt"),
            Shell(
                "sed -i 's/check the retry policy/done: retry policy/' notes.txt && cat notes.txt",
            ),
        ],
        facts: &["check the retry policy"],
        leaves: &[("notes.txt", "- done: retry policy\n- renew db-3\n")],
    },
    Task {
        name: "the cause of an error in a log",
        place: Generated,
        ripkit: &[Call(
            "search",
            r#"{"pattern":" ERROR ","path":"logs/app.log","before":4,"max_results":5}"#,
        )],
        shell: &[Shell("grep -n -B4 ' ERROR ' logs/app.log | head -40")],
        facts: &["certificate of db-3 expired", "E_TLS"],
        leaves: &[],
    },
    Task {
        name: "the values in a log",
        place: Generated,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"code=(\\w+)","path":"logs/app.log","output":"values"}"#,
        )],
        shell: &[Shell(r"grep -oE 'code=\w+' logs/app.log | sort | uniq -c | sort -rn")],
        facts: &["E_TLS", "E_TIMEOUT", "2"],
        leaves: &[],
    },
    Task {
        name: "settings without comments",
        place: Generated,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"^\\s*(#|$)","path":"config/app.conf","invert":true}"#,
        )],
        shell: &[Shell(r"grep -nvE '^\s*(#|$)' config/app.conf")],
        facts: &["listen = 0.0.0.0:8080", "log = logs/app.log"],
        leaves: &[],
    },
    Task {
        name: "files without a licence",
        place: Generated,
        ripkit: &[Call(
            "search",
            r#"{"pattern":"SPDX-License-Identifier","include":"*.py","output":"files_without_match"}"#,
        )],
        shell: &[Shell("rg --files-without-match SPDX-License-Identifier -g '*.py'")],
        facts: &["src/net/retry.py"],
        leaves: &[],
    },
    Task {
        name: "a new file",
        place: Generated,
        ripkit: &[Call(
            "write_file",
            r#"{"path":"tests/test_retry.py","content":"from net.retry import with_retries\n\n\ndef test_returns():\n    assert with_retries(lambda: 1, 1) == 1\n"}"#,
        )],
        shell: &[Shell(
            "mkdir -p tests && cat > tests/test_retry.py <<'END'\nfrom net.retry import with_retries\n\n\ndef test_returns():\n    assert with_retries(lambda: 1, 1) == 1\nEND\nls tests",
        )],
        facts: &["test_retry.py"],
        leaves: &[("tests/test_retry.py", "assert with_retries(lambda: 1, 1) == 1\n")],
    },
    Task {
        name: "a file is moved",
        place: Generated,
        ripkit: &[Call("move_file", r#"{"source":"notes.txt","destination":"docs/notes.txt"}"#)],
        shell: &[Shell("mkdir -p docs && mv -v notes.txt docs/")],
        facts: &["docs/notes.txt"],
        leaves: &[("docs/notes.txt", "- check the retry policy\n")],
    },
    Task {
        name: "rename a function in 36 files",
        place: Just,
        ripkit: &[Call(
            "replace",
            r#"{"pattern":"lexeme","replacement":"source_text","word":true,"path":"src"}"#,
        )],
        shell: &[Shell(
            r"rg -lw lexeme src | xargs sed -i 's/\blexeme\b/source_text/g'; rg -cw source_text src",
        )],
        facts: &["src/token.rs", "src/parser.rs"],
        leaves: &[
            ("src/token.rs", "pub(crate) fn source_text(&self) -> &'src str {"),
            ("src/keyword.rs", "pub(crate) fn source_text(self) -> &'static str {"),
        ],
    },
    Task {
        name: "change a signature and its callers",
        place: Just,
        ripkit: &[
            Call("search", r#"{"pattern":"from_lexeme\\(","path":"src"}"#),
            Call(
                "apply_patch",
                r#"{"patch":"*** Begin Patch\n*** Update File: src/keyword.rs\n-  pub(crate) fn from_lexeme(lexeme: &str) -> Option<Self> {\n+  pub(crate) fn from_lexeme(lexeme: &str, edition: u8) -> Option<Self> {\n*** Update File: src/analyzer.rs\n-    if let Some(second) = Keyword::from_lexeme(set.name.lexeme()) {\n+    if let Some(second) = Keyword::from_lexeme(set.name.lexeme(), 1) {\n*** Update File: src/parser.rs\n-      match Keyword::from_lexeme(next.lexeme()) {\n+      match Keyword::from_lexeme(next.lexeme(), 1) {\n@@\n-    let Some(keyword) = Keyword::from_lexeme(lexeme) else {\n+    let Some(keyword) = Keyword::from_lexeme(lexeme, 1) else {\n*** End Patch"}"#,
            ),
        ],
        shell: &[
            Shell(r"rg -n 'from_lexeme\(' src"),
            Shell(
                "git apply <<'END'\n--- a/src/keyword.rs\n+++ b/src/keyword.rs\n@@ -50,3 +50,3 @@\n impl Keyword {\n-  pub(crate) fn from_lexeme(lexeme: &str) -> Option<Self> {\n+  pub(crate) fn from_lexeme(lexeme: &str, edition: u8) -> Option<Self> {\n     lexeme.parse().ok()\nEND\nsed -i -E 's/(Keyword::from_lexeme\\(([^()]|\\(\\))*)\\)/\\1, 1)/' src/analyzer.rs src/parser.rs\nrg -n 'from_lexeme\\(' src",
            ),
        ],
        facts: &["src/keyword.rs", "src/parser.rs"],
        leaves: &[
            ("src/keyword.rs", "fn from_lexeme(lexeme: &str, edition: u8)"),
            ("src/analyzer.rs", "Keyword::from_lexeme(set.name.lexeme(), 1)"),
            ("src/parser.rs", "Keyword::from_lexeme(lexeme, 1)"),
        ],
    },
    Task {
        name: "move 30 lines to a new file",
        place: Just,
        ripkit: &[
            Call("read_file", r#"{"path":"src/positional.rs","offset":3,"limit":35}"#),
            Call(
                "write_file",
                r#"{"path":"src/positional/parsed.rs","copy_lines":{"path":"src/positional.rs","lines":[3,37]}}"#,
            ),
            Call(
                "edit_file",
                r#"{"path":"src/positional.rs","lines":[3,37],"new_text":"","expected_version":"$FIRST_VERSION"}"#,
            ),
        ],
        shell: &[
            Shell("sed -n '3,37p' src/positional.rs"),
            Shell(
                "mkdir -p src/positional && sed -n '3,37p' src/positional.rs > src/positional/parsed.rs && sed -i '3,37d' src/positional.rs && wc -l src/positional.rs src/positional/parsed.rs",
            ),
        ],
        facts: &["search_directory"],
        leaves: &[("src/positional/parsed.rs", "pub search_directory: Option<String>,\n}\n")],
    },
    Task {
        name: "one change over four files",
        place: Just,
        ripkit: &[Call(
            "apply_patch",
            r#"{"patch":"*** Begin Patch\n*** Update File: src/lib.rs\n-const RECURSION_LIMIT: usize = if cfg!(windows) { 48 } else { 256 };\n+const RECURSION_LIMIT: usize = if cfg!(windows) { 48 } else { 512 };\n*** Update File: src/subcommand.rs\n-    const MAX_WIDTH: usize = 50;\n+    const MAX_WIDTH: usize = 60;\n*** Update File: src/arguments.rs\n-    help = \"Enable unstable features\",\n+    help = \"Enable features that may change\",\n*** Add File: docs/limits.md\n+The recursion limit is 512.\n*** End Patch"}"#,
        )],
        shell: &[Shell(
            "sed -i 's/48 } else { 256 }/48 } else { 512 }/' src/lib.rs && sed -i 's/const MAX_WIDTH: usize = 50;/const MAX_WIDTH: usize = 60;/' src/subcommand.rs && sed -i 's/help = \"Enable unstable features\"/help = \"Enable features that may change\"/' src/arguments.rs && mkdir -p docs && echo 'The recursion limit is 512.' > docs/limits.md && git diff --stat && git status --short",
        )],
        facts: &["src/lib.rs", "src/subcommand.rs", "src/arguments.rs", "docs/"],
        leaves: &[
            ("src/lib.rs", "else { 512 }"),
            ("src/subcommand.rs", "MAX_WIDTH: usize = 60"),
            ("docs/limits.md", "The recursion limit is 512."),
        ],
    },
    Task {
        name: "change, review and undo",
        place: Just,
        ripkit: &[
            Call("replace", r#"{"pattern":"MAX_WIDTH","replacement":"MAX_COLUMNS","path":"src"}"#),
            Call("list_changes", r#"{"diff":true}"#),
            Call("undo_change", "{}"),
        ],
        shell: &[
            Shell(
                "rg -l MAX_WIDTH src | xargs sed -i 's/MAX_WIDTH/MAX_COLUMNS/g'; rg -c MAX_COLUMNS src",
            ),
            Shell("git diff"),
            Shell("git checkout -- . && git status --short"),
        ],
        facts: &["MAX_COLUMNS", "-    const MAX_WIDTH: usize = 50;"],
        leaves: &[("src/subcommand.rs", "const MAX_WIDTH: usize = 50;")],
    },
];

/// Names of types, and their definitions in the repository of `just`.
pub(crate) const TYPE_NAMES: [(&str, &str); 14] = [
    ("Evaluator", "pub(crate) struct Evaluator"),
    ("Settings", "pub(crate) struct Settings"),
    ("Token", "pub(crate) struct Token<"),
    ("Recipe", "pub(crate) struct Recipe<"),
    ("Justfile", "pub(crate) struct Justfile<"),
    ("Config", "pub(crate) struct Config"),
    ("Lexer", "pub(crate) struct Lexer<"),
    ("Keyword", "pub(crate) enum Keyword"),
    ("Scope", "pub(crate) struct Scope<"),
    ("Shebang", "pub(crate) struct Shebang<"),
    ("Name", "pub(crate) struct Name<"),
    ("Search", "pub(crate) struct Search"),
    ("Compiler", "pub(crate) struct Compiler"),
    ("Loader", "pub(crate) struct Loader"),
];
