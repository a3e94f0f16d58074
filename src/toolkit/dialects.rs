//! Names, values and forms of arguments that models have learned from other tool sets: Claude Code,
//! Codex, Gemini CLI, Cursor, VS Code, Cline, opencode, pi and the official filesystem server.

use serde_json::{Map, Value};

use crate::error::{Error, ErrorCode};

/// The meaning of an argument of another tool set.
#[derive(Clone, Copy)]
pub(super) enum Meaning {
    /// This argument, with the same value.
    Same(&'static str),
    /// This flag, with the opposite value.
    Not(&'static str),
    /// If true, this argument with this value.
    When(&'static str, &'static str),
    /// This argument, with the second of each pair of values for the first.
    Values(&'static str, &'static [(&'static str, &'static str)]),
    /// This line number, which counts from 1; the given one counts from 0.
    FromZero(&'static str),
    /// The last line to read; the flag says whether the given one counts from 0.
    LastLine { from_zero: bool },
    /// The first and the last line to read.
    LineRange,
    /// The first (0) or the last (1) of the lines to replace.
    EditedLine(usize),
    /// The line after which text is inserted, 0 for the start of the file.
    InsertAfter,
    /// This many lines at the end of the file.
    Tail,
    /// This argument in milliseconds; a small number is interpreted as seconds.
    Timeout(&'static str),
    /// The expected number of replacements: more than one needs `replace_all`.
    ExpectedCount,
    /// Whether to include subdirectories.
    Recursive,
    /// A command as a list of its words.
    Words,
    /// It has no effect here, for any value.
    Nothing,
    /// False and absent mean the same here; for true, the advice.
    Unless(&'static str),
    /// There is no such argument, and a blank value means the same as none; the advice names ours.
    Instead(&'static str),
    /// The number of the first result, which is this where it is the first of all; else a cursor.
    First(u64),
}

use Meaning::{
    EditedLine, ExpectedCount, First, FromZero, InsertAfter, Instead, LastLine, LineRange, Not,
    Nothing, Recursive, Same, Tail, Timeout, Unless, Values, When, Words,
};

/// Arguments, by the tools that they are for (all if empty), with their names. The first match is
/// used, and only if the tool has no argument of that name and has the one that it maps to.
const ARGUMENTS: &[(&[&str], &str, Meaning)] = &[
    // For readers of the transcript, or without effect here.
    (
        &[],
        "description explanation justification instruction instructions goal reason \
         reasoning require_user_approval requires_approval with_escalated_permissions \
         sandbox_permissions additional_permissions prefix_rule dangerouslyDisableSandbox \
         task_progress encoding respect_git_ignore \
         respect_gemini_ignore file_filtering_options",
        Nothing,
    ),
    // search
    (CONTENTS, "query queries regex regexp search_pattern -e", Same("pattern")),
    (CONTENTS, "paths target_directories search_path root", Same("path")),
    (
        CONTENTS,
        "glob globs -g include_pattern includePattern includes file_pattern filePattern \
         include_glob include_globs file_glob",
        Same("include"),
    ),
    (
        WALKS,
        "exclude_pattern excludePattern excludePatterns exclude_patterns excludes ignore \
         ignore_globs exclude_glob",
        Same("exclude"),
    ),
    (CONTENTS, "type types -t fileType file_types", Same("file_type")),
    (CONTENTS, "-i ignore_case ignoreCase case_insensitive caseInsensitive", Not("case_sensitive")),
    (CONTENTS, "-s caseSensitive", Same("case_sensitive")),
    (CONTENTS, "-F fixed_strings fixedStrings is_literal", Same("literal")),
    (CONTENTS, "isRegexp isRegex is_regex is_regexp use_regex", Not("literal")),
    (CONTENTS, "-w whole_word wholeWord word_regexp match_whole_word", Same("word")),
    (CONTENTS, "-U multi_line", Same("multiline")),
    (SEARCH, "-v invert_match invertMatch", Same("invert")),
    (SEARCH, "-C context_lines contextLines", Same("context")),
    (SEARCH, "-A after_context afterContext", Same("after")),
    (SEARCH, "-B before_context beforeContext", Same("before")),
    (SEARCH, "-n line_number line_numbers -H show_line_numbers", Nothing),
    (
        SEARCH,
        "output_mode outputMode",
        Values(
            "output",
            &[("files_with_matches", "files"), ("files_without_matches", "files_without_match")],
        ),
    ),
    (SEARCH, "-l files_with_matches names_only files_only", When("output", "files")),
    (SEARCH, "-c count_only count", When("output", "count")),
    (SEARCH, "-o only_matching", When("output", "values")),
    (SEARCH, "-m max_matches_per_file maxPerFile max_count", Same("max_per_file")),
    (
        LISTS,
        "head_limit limit maxResults max_matches maxMatches total_max_matches max_entries \
         max_files",
        Same("max_results"),
    ),
    (WALKS, "includeIgnoredFiles include_ignored noIgnore -u", Same("no_ignore")),
    (WALKS, "include_hidden includeHidden show_hidden all -a", Same("hidden")),
    (LISTS, "maxDepth depth -d", Same("max_depth")),
    (SEARCH, "offset skip start", First(0)),
    (LISTS, "offset page skip start", First(1)),
    (LISTS, "timeout", Timeout("timeout_ms")),
    // list_files, find_files, list_directory
    (&["list_files"], "glob include query", Same("pattern")),
    (&["list_files"], "recursive", Recursive),
    (&["list_directory"], "recursive", Unless("list_files lists what is below")),
    (&["list_directory"], "ignore exclude", Instead("exclude of list_files")),
    (LISTS, "sortBy sort_by", Values("sort", &[("mtime", "modified"), ("name", "path")])),
    (LISTS, "useDefaultExcludes", Nothing),
    (&["list_directory"], "sortBy sort_by", Nothing),
    (&["find_files"], "glob_pattern globPattern glob query name file_name", Same("pattern")),
    (
        &["find_files"],
        "type -t",
        Values(
            "kind",
            &[
                ("f", "file"),
                ("d", "directory"),
                ("dir", "directory"),
                ("files", "file"),
                ("directories", "directory"),
            ],
        ),
    ),
    (&["find_files"], "case_sensitive caseSensitive", Nothing),
    (&["find_files"], "recursive", Nothing),
    // read_file
    (READ, "start_line startLine start_line_one_indexed line from_line lineNumber", Same("offset")),
    (
        READ,
        "end_line endLine end_line_one_indexed_inclusive to_line",
        LastLine { from_zero: false },
    ),
    (READ, "startLineNumberBaseZero", FromZero("offset")),
    (READ, "endLineNumberBaseZero endLineNumberBaseZeroInclusive", LastLine { from_zero: true }),
    (READ, "view_range line_range lineRange", LineRange),
    (READ, "head max_lines maxLines lines num_lines numLines", Same("limit")),
    (READ, "tail", Tail),
    (READ, "should_read_entire_file mode indentation", Nothing),
    (READ, "pages", Instead("offset and limit")),
    // write_file and edit_file
    (&["write_file"], "contents file_text fileText text data", Same("content")),
    (EDIT, "oldText old_string old_str oldString oldStr search find", Same("old_text")),
    (EDIT, "newText new_string new_str newString newStr replace replacement", Same("new_text")),
    (EDIT, "replaceAll allow_multiple allowMultiple", Same("replace_all")),
    (EDIT, "replacements changes", Same("edits")),
    (EDIT, "expected_replacements expectedReplacements", ExpectedCount),
    (EDIT, "insert_text", Same("new_text")),
    (EDIT, "insert_line", InsertAfter),
    (EDIT, "line_range lineRange", Same("lines")),
    (EDIT, "start_line startLine", EditedLine(0)),
    (EDIT, "end_line endLine", EditedLine(1)),
    (EDIT, "code_edit code diff patch", Instead("old_text and new_text")),
    // replace
    (REPLACE, "search find from", Same("pattern")),
    (REPLACE, "replace replace_with replaceWith with to new_text", Same("replacement")),
    (REPLACE, "expected_replacements expectedReplacements", Same("expected_count")),
    (&[], "dryRun preview", Same("dry_run")),
    // Other changes
    (&["create_directory"], "recursive parents", Nothing),
    (MOVES, "from old_path oldPath source_path sourcePath src path", Same("source")),
    (
        MOVES,
        "to new_path newPath destination_path destinationPath dest dst target",
        Same("destination"),
    ),
    (MOVES, "overwrite", Unless("delete_file removes what is there")),
    // load_skill and run_command
    (&["load_skill"], "skill skill_name skillName", Same("name")),
    (&["load_skill"], "resource path file_path", Same("file")),
    (&["load_skill"], "args arguments", Nothing),
    (RUN, "cmd script commands", Same("command")),
    (RUN, "command", Words),
    (RUN, "workdir working_directory workingDirectory dir dir_path directory", Same("cwd")),
    (RUN, "timeout timeout_seconds", Timeout("timeout_ms")),
    (RUN, "timeoutMs yield_time_ms", Same("timeout_ms")),
    (RUN, "shell login max_output_tokens tty", Nothing),
    (
        RUN,
        "run_in_background is_background isBackground background",
        Unless("a command is waited for; end it with & to leave it running"),
    ),
    // The path of every tool that has one.
    (
        &[],
        "file_path filePath file filename fileName target_file targetFile absolute_path \
         absolutePath relative_workspace_path relativePath directory dir dir_path dirPath \
         directory_path target_directory targetDirectory folder paths",
        Same("path"),
    ),
];

const SEARCH: &[&str] = &["search"];
const REPLACE: &[&str] = &["replace"];
/// What finds files by their contents.
const CONTENTS: &[&str] = &["search", "replace"];
/// What walks over files.
const WALKS: &[&str] = &["search", "replace", "list_files", "find_files", "list_directory"];
const LISTS: &[&str] = &["search", "list_files", "find_files", "list_directory"];
const READ: &[&str] = &["read_file"];
const EDIT: &[&str] = &["edit_file"];
const MOVES: &[&str] = &["move_file", "copy_file"];
const RUN: &[&str] = &["run_command"];

/// Tools of other tool sets, in lower case without `_` and `-`. Names and aliases of offered tools
/// take precedence.
const TOOLS: &[(&str, &str)] = &[
    (
        "search",
        "grep rg ripgrep grepsearch grepfiles searchfilecontent findtextinfiles \
         searchtext searchcode searchcodebase textsearch",
    ),
    (
        "find_files",
        "find fd glob searchfiles filesearch globfilesearch findbyname findfile findfiles",
    ),
    ("list_files", "list tree directorytree"),
    ("list_directory", "ls listdir readdir readdirectory directorylist listdirectorywithsizes"),
    (
        "read_file",
        "read cat view fileread readtextfile readmediafile readmultiplefiles readfiles viewimage viewfile openfile",
    ),
    ("write_file", "write filewrite createfile writetofile savefile"),
    (
        "edit_file",
        "edit fileedit strreplace searchreplace searchandreplace replaceinfile \
         replacestringinfile multireplacestringinfile replacestring multireplacestring multiedit \
         insertedit inserteditintofile editor",
    ),
    ("apply_patch", "patch applydiff patchfile patchfiles gitapply"),
    ("create_directory", "mkdir makedirectory createdir"),
    ("delete_file", "rm remove delete removefile rmdir removedirectory deletedirectory"),
    ("move_file", "mv move rename renamefile"),
    ("copy_file", "cp copy"),
    ("load_skill", "skill skills useskill activateskill"),
    (
        "run_command",
        "bash shell sh executecommand runterminalcmd runterminalcommand runinterminal \
         runshellcommand execcommand localshell terminal shellcommand runcommands",
    ),
];

/// The largest number that `timeout` counts in seconds.
const MAX_SECONDS: u64 = 600;

/// The wire name of the tool that another tool set calls `name`.
pub(super) fn tool(name: &str) -> Option<&'static str> {
    let folded = folded(name);
    // VS Code's names on the wire.
    let folded = folded.strip_prefix("copilot").unwrap_or(&folded);
    let known = |(ours, others): &&(&str, &str)| {
        self::folded(ours) == folded || others.split(' ').any(|other| other == folded)
    };
    TOOLS.iter().find(known).map(|(ours, _)| *ours)
}

/// The wire name of the tool that `name` means with these arguments, if it depends on them: Cline's
/// `search_files` has a `regex` for contents where others look for names, Codex's `list_dir` a depth,
/// and Gemini CLI's `replace` the text to replace in one file.
pub(super) fn dialect_tool(name: &str, args: &Map<String, Value>) -> Option<&'static str> {
    let searches = args.contains_key("regex") || args.contains_key("query");
    let edits = ["old_string", "old_str", "oldString", "old_text", "oldText", "edits"];
    match folded(name).as_str() {
        "replace" if edits.iter().any(|name| args.contains_key(*name)) => Some("edit_file"),
        "searchfiles" if searches => Some("search"),
        "listdir" | "listdirectory" if args.contains_key("depth") => Some("list_files"),
        _ => None,
    }
}

/// A name in lower case without `_` and `-`.
fn folded(name: &str) -> String {
    name.chars().filter(|letter| !"-_ .".contains(*letter)).flat_map(char::to_lowercase).collect()
}

/// The arguments of one tool in other tool sets.
#[derive(Clone, Copy)]
pub(super) struct Dialect<'a> {
    /// The wire name of the tool.
    pub(super) tool: &'a str,
    /// Whether the host wrote the tool; of its arguments only the schema is known.
    pub(super) is_own: bool,
    /// Names that the tool itself declares, as (other, ours).
    pub(super) aliases: &'a [(&'static str, &'static str)],
}

/// Arguments that were translated.
#[derive(Default)]
pub(super) struct Translated {
    pub(super) args: Map<String, Value>,
    /// The argument with these, or empty at the top level.
    at: String,
    /// The translations, such as `-i as case_sensitive: false`.
    pub(super) taken: Vec<String>,
}

impl Dialect<'_> {
    /// The meaning of `name` for a tool with these arguments.
    pub(super) fn meaning(&self, name: &str, properties: &Map<String, Value>) -> Option<Meaning> {
        let declared = self.aliases.iter().find(|(other, _)| *other == name);
        if let Some((_, ours)) = declared.filter(|(_, ours)| properties.contains_key(*ours)) {
            return Some(Same(ours));
        }
        let fits = |(tools, names, meaning): &&(&[&str], &str, Meaning)| {
            (tools.is_empty() || tools.contains(&self.tool))
                && names.split(' ').any(|other| other == name)
                && meaning.argument().is_none_or(|ours| properties.contains_key(ours))
        };
        ARGUMENTS.iter().find(fits).map(|(_, _, meaning)| *meaning)
    }

    /// The names of other tool sets for the arguments of this tool, as (other, ours).
    pub(super) fn names(&self) -> impl Iterator<Item = (&'static str, &'static str)> {
        let tool = self.tool;
        let fits = move |tools: &[&str]| tools.is_empty() || tools.contains(&tool);
        let rows = ARGUMENTS.iter().filter(move |(tools, _, _)| fits(tools));
        let known = rows.flat_map(|(_, names, meaning)| {
            names.split(' ').filter_map(|name| Some((name, meaning.argument()?)))
        });
        self.aliases.iter().copied().chain(known)
    }

    /// The name of ours that is spelled like `name` but for case, `_` and `-`.
    fn spelled<'a>(name: &str, properties: &'a Map<String, Value>) -> Option<&'a str> {
        let wanted = folded(name);
        properties.keys().map(String::as_str).find(|own| folded(own) == wanted)
    }

    /// Translates the arguments at one level; `null` is left out, and unknown names stay.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for an argument that has another value in our own name, and for one that has
    /// no counterpart, with the one to use instead.
    pub(super) fn translate(
        &self,
        at: &str,
        properties: &Map<String, Value>,
        given: Map<String, Value>,
    ) -> Result<Translated, Error> {
        let mut translated = Translated { at: at.to_owned(), ..Translated::default() };
        let mut last_line = None;
        let mut edited_lines = [None, None];
        let given = given.into_iter().filter(|(_, value)| !value.is_null());
        let (own, others): (Vec<_>, Vec<_>) =
            given.partition(|(name, _)| properties.contains_key(name));
        for (name, value) in own {
            let is_command = matches!(self.meaning(&name, properties), Some(Words));
            let words = value.as_array().filter(|_| is_command);
            let value = words.and_then(|words| joined_words(words)).unwrap_or(value);
            translated.args.insert(name, value);
        }
        for (name, value) in others {
            match self.meaning(&name, properties) {
                None => match Self::spelled(&name, properties) {
                    Some(own) => translated.set(&name, own, value)?,
                    None => {
                        translated.args.insert(name, value);
                    }
                },
                Some(LastLine { from_zero }) => {
                    let line = value.as_i64().map(|line| line + i64::from(from_zero));
                    last_line = line.filter(|line| *line > 0).map(|line| (name, line));
                }
                Some(EditedLine(bound)) => {
                    if let Some(line) = edited_lines.get_mut(bound) {
                        *line = Some((name, value));
                    }
                }
                Some(LineRange) => {
                    let lines = value.as_array().map(Vec::as_slice).unwrap_or_default();
                    let [first, last] = lines else {
                        let message = format!("{name}: expected a list of two line numbers");
                        return Err(Error::new(ErrorCode::InvalidArgument, message));
                    };
                    last_line =
                        last.as_i64().filter(|last| *last > 0).map(|line| (name.clone(), line));
                    translated.set(&name, "offset", first.clone())?;
                }
                Some(meaning) => translated.apply(&name, value, meaning)?,
            }
        }
        if let Some((name, last)) = last_line {
            let first = translated.args.get("offset").and_then(Value::as_i64).unwrap_or(1).max(1);
            translated.set(&name, "limit", (last - first + 1).max(1).into())?;
        }
        let [first, last] = edited_lines;
        if let Some((name, _)) = first.as_ref().or(last.as_ref()).cloned() {
            let bounds = [first.as_ref().or(last.as_ref()), last.as_ref().or(first.as_ref())];
            let lines = bounds.into_iter().flatten().map(|(_, line)| line.clone());
            translated.set(&name, "lines", lines.collect())?;
        }
        Ok(translated)
    }
}

impl Meaning {
    /// The argument of ours that it maps to.
    fn argument(self) -> Option<&'static str> {
        match self {
            Same(name)
            | Not(name)
            | When(name, _)
            | Values(name, _)
            | FromZero(name)
            | Timeout(name) => Some(name),
            LastLine { .. } => Some("limit"),
            LineRange | Tail => Some("offset"),
            EditedLine(_) | InsertAfter => Some("lines"),
            ExpectedCount => Some("replace_all"),
            Recursive => Some("max_depth"),
            Words => Some("command"),
            Nothing | Unless(_) | Instead(_) | First(_) => None,
        }
    }
}

impl Translated {
    fn apply(&mut self, name: &str, value: Value, meaning: Meaning) -> Result<(), Error> {
        match meaning {
            Same(ours) => self.set(name, ours, value),
            Not(ours) => match truth(&value) {
                Some(flag) => self.set(name, ours, Value::Bool(!flag)),
                None => self.set(name, ours, value),
            },
            When(ours, wanted) => match truth(&value) {
                Some(true) => self.set(name, ours, wanted.into()),
                Some(false) => Ok(()),
                None => self.set(name, ours, value),
            },
            Values(ours, pairs) => {
                let known = pairs.iter().find(|(theirs, _)| value == *theirs);
                self.set(name, ours, known.map_or(value, |(_, own)| Value::from(*own)))
            }
            FromZero(ours) => {
                let line = value.as_i64().map_or(value, |line| (line + 1).into());
                self.set(name, ours, line)
            }
            InsertAfter => {
                let line = value.as_i64().or_else(|| value.as_str()?.trim().parse().ok());
                let lines = line.map_or(value, |line| Value::from(vec![line + 1, line]));
                self.set(name, "lines", lines)
            }
            Tail => {
                let lines = value.as_i64().map_or(value, |lines| (-lines).into());
                self.set(name, "offset", lines)
            }
            Timeout(ours) => {
                let time = match value.as_u64() {
                    Some(seconds) if seconds <= MAX_SECONDS => (seconds * 1000).into(),
                    _ => value,
                };
                self.set(name, ours, time)
            }
            ExpectedCount => match value.as_u64() {
                Some(0 | 1) => Ok(()),
                _ => self.set(name, "replace_all", true.into()),
            },
            Recursive => match truth(&value) {
                Some(true) => self.set(name, "max_depth", u32::MAX.into()),
                _ => self.set(name, "max_depth", 1.into()),
            },
            Unless(advice) if truth(&value) != Some(false) => Err(no_counterpart(name, advice)),
            Instead(advice) if !is_blank(&value) => {
                Err(no_counterpart(name, &format!("use {advice}")))
            }
            First(first) if value.as_u64().is_none_or(|number| number > first) => {
                Err(no_counterpart(name, "use cursor"))
            }
            Instead(_)
            | First(_)
            | Unless(_)
            | Nothing
            | Words
            | LastLine { .. }
            | LineRange
            | EditedLine(_) => Ok(()),
        }
    }

    /// Sets an argument of ours; one that is given already may have the same value.
    fn set(&mut self, name: &str, ours: &str, value: Value) -> Result<(), Error> {
        if let Some(own) = self.args.get(ours) {
            if *own == value {
                return Ok(());
            }
            let at = if self.at.is_empty() { String::new() } else { format!("{}.", self.at) };
            let message = format!(
                "{at}{name}: the same argument as {ours}, which is given too; give only {ours}"
            );
            return Err(Error::new(ErrorCode::InvalidArgument, message));
        }
        self.taken.push(match &value {
            Value::Bool(_) | Value::Number(_) => format!("{name} as {ours}: {value}"),
            _ => format!("{name} as {ours}"),
        });
        self.args.insert(ours.to_owned(), value);
        Ok(())
    }
}

fn no_counterpart(name: &str, advice: &str) -> Error {
    Error::new(ErrorCode::InvalidArgument, format!("{name} is not supported: {advice}"))
}

/// Whether a value says as little as none.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        value => value == false || value == 0,
    }
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Bool(flag) => Some(*flag),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// The command line of `["bash", "-lc", "make"]`, or of words that need no quotes.
fn joined_words(words: &[Value]) -> Option<Value> {
    let words: Vec<&str> = words.iter().map(Value::as_str).collect::<Option<_>>()?;
    match words.as_slice() {
        [_, flag, script] if flag.starts_with('-') && flag.ends_with('c') => {
            Some(Value::from(*script))
        }
        words if words.len() > 1 => {
            let quoted = words.iter().map(|word| shell_word(word));
            Some(Value::from(quoted.collect::<Vec<_>>().join(" ")))
        }
        _ => None,
    }
}

/// A word as a POSIX shell reads it.
fn shell_word(word: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:,=+@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests;
