//! The options of `rg`: their declarations, and what they mean in the order in which they were typed.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use bstr::ByteVec;
use clap::{Arg, ArgAction, ArgMatches, value_parser};
use grep_printer::{HyperlinkFormat, UserColorSpec};
use grep_searcher::Encoding;
use ripkit::shell::search::{Binary, Boundary, Case, Context, Mode, SortKey};

/// An option: its letter, name, the name that takes it back, the name of its value, and what it does.
struct Declared(Option<char>, &'static str, &'static str, &'static str, &'static str);

const fn flag(
    short: char,
    long: &'static str,
    negation: &'static str,
    help: &'static str,
) -> Declared {
    value(short, long, negation, "", help)
}

const fn value(
    short: char,
    long: &'static str,
    negation: &'static str,
    name: &'static str,
    help: &'static str,
) -> Declared {
    Declared(if short == ' ' { None } else { Some(short) }, long, negation, name, help)
}

const PATTERNS: [Declared; 17] = [
    value('e', "regexp", "", "PATTERN", "A pattern, or one of several"),
    value('f', "file", "", "FILE", "Read patterns from a file, one a line; - for standard input"),
    flag('F', "fixed-strings", "no-fixed-strings", "Patterns are texts, not regular expressions"),
    flag('i', "ignore-case", "", "Ignore letter case"),
    flag('s', "case-sensitive", "", "Respect letter case, as by default"),
    flag('S', "smart-case", "", "Ignore letter case unless a pattern has a capital"),
    flag('w', "word-regexp", "", "Match whole words only"),
    flag('x', "line-regexp", "", "Match whole lines only"),
    flag('v', "invert-match", "no-invert-match", "Print the lines that do not match"),
    flag('U', "multiline", "no-multiline", "Let a match span lines"),
    flag(' ', "multiline-dotall", "no-multiline-dotall", "Let . match a line end with -U"),
    flag(' ', "crlf", "no-crlf", "Treat \\r\\n as a line end"),
    flag(' ', "null-data", "", "Lines end with NUL"),
    flag(' ', "no-unicode", "unicode", "Letter case and classes are ASCII only"),
    value(' ', "regex-size-limit", "", "SIZE", "The largest compiled pattern"),
    value(' ', "dfa-size-limit", "", "SIZE", "The largest cache of a matcher"),
    value(' ', "engine", "", "ENGINE", "default or auto: there is one engine"),
];

const FILES: [Declared; 32] = [
    value('g', "glob", "", "GLOB", "Only files that match, or with ! those that do not"),
    value(' ', "iglob", "", "GLOB", "The same without letter case"),
    flag(
        ' ',
        "glob-case-insensitive",
        "no-glob-case-insensitive",
        "Globs of -g ignore letter case, too",
    ),
    value('t', "type", "", "TYPE", "Only files of this type"),
    value('T', "type-not", "", "TYPE", "No files of this type"),
    value(' ', "type-add", "", "NAME:GLOB", "Define a type, or add to one"),
    value(' ', "type-clear", "", "TYPE", "Forget what defines a type"),
    flag(' ', "type-list", "", "Print all types"),
    flag('.', "hidden", "no-hidden", "Search hidden files and directories, too"),
    flag('u', "unrestricted", "", "As --no-ignore; -uu with hidden, -uuu with binary files"),
    flag(' ', "no-ignore", "ignore", "Search ignored files, too"),
    flag(' ', "no-ignore-vcs", "ignore-vcs", "Disregard the ignore files of git"),
    flag(' ', "no-ignore-dot", "ignore-dot", "Disregard .ignore and .rgignore"),
    flag(' ', "no-ignore-exclude", "ignore-exclude", "Disregard .git/info/exclude"),
    flag(' ', "no-ignore-global", "ignore-global", "Disregard your global excludes"),
    flag(' ', "no-ignore-parent", "ignore-parent", "Disregard ignore files above the given paths"),
    flag(' ', "no-ignore-files", "ignore-files", "Disregard the files of --ignore-file"),
    flag(' ', "no-ignore-messages", "ignore-messages", "Say nothing about ignore files"),
    flag(' ', "no-require-git", "require-git", "Respect .gitignore outside of repositories, too"),
    value(' ', "ignore-file", "", "FILE", "More ignore rules, weaker than all others"),
    flag('L', "follow", "no-follow", "Follow symbolic links"),
    flag(' ', "one-file-system", "no-one-file-system", "Do not enter other file systems"),
    value('d', "max-depth", "", "NUM", "How deep to look below the given paths"),
    value(' ', "max-filesize", "", "SIZE", "No larger files; K, M and G are units"),
    flag('a', "text", "no-text", "Search binary files as text"),
    flag(' ', "binary", "no-binary", "Search binary files, but print no lines of them"),
    value('E', "encoding", "no-encoding", "NAME", "The encoding of files: auto, none or a name"),
    value(' ', "sort", "", "BY", "By none, path, modified, accessed or created"),
    value(' ', "sortr", "", "BY", "The same in descending order"),
    flag(' ', "sort-files", "no-sort-files", "The old name of --sort path"),
    value('j', "threads", "", "NUM", "How many threads search; 0 for as many as are good"),
    flag(' ', "mmap", "no-mmap", "Search each file as a whole, as rg does where it maps files"),
];

const OUTPUT: [Declared; 43] = [
    flag('l', "files-with-matches", "", "Print the paths of files with a match"),
    flag(' ', "files-without-match", "", "Print the paths of files without a match"),
    flag('c', "count", "", "Count the matching lines of each file"),
    flag(' ', "count-matches", "", "Count the matches of each file"),
    flag(' ', "include-zero", "no-include-zero", "Print counts of nothing, too"),
    flag(' ', "files", "", "Print the paths that would be searched"),
    flag(' ', "json", "no-json", "Print events, each a line of JSON"),
    flag('q', "quiet", "", "Print nothing; the status tells"),
    flag('o', "only-matching", "", "Print only what matches, each in a line"),
    value('r', "replace", "", "TEXT", "Print this for each match; $1 is a group"),
    value('m', "max-count", "", "NUM", "At most so many matching lines of a file"),
    flag(
        ' ',
        "stop-on-nonmatch",
        "",
        "Leave a file at the first line that does not match any more",
    ),
    value('A', "after-context", "", "NUM", "So many lines after each match"),
    value('B', "before-context", "", "NUM", "So many lines before each match"),
    value('C', "context", "", "NUM", "So many lines before and after each match"),
    flag(' ', "passthru", "", "Print all lines, with the matches in colour"),
    flag('n', "line-number", "", "Print line numbers"),
    flag('N', "no-line-number", "", "Print no line numbers"),
    flag('H', "with-filename", "", "Print the path of each file, as by default for several"),
    flag('I', "no-filename", "", "Print no paths"),
    flag(' ', "heading", "no-heading", "Print the path above the lines of a file"),
    flag(' ', "column", "no-column", "Print the column of the first match"),
    flag('b', "byte-offset", "no-byte-offset", "Print where lines begin, in bytes"),
    flag(' ', "vimgrep", "", "Print each match in a line with path, line and column"),
    flag('p', "pretty", "", "The same as --color always --heading --line-number"),
    value('M', "max-columns", "", "NUM", "Leave out longer lines"),
    flag(' ', "max-columns-preview", "no-max-columns-preview", "Print the start of longer lines"),
    flag(' ', "trim", "no-trim", "Print lines without blanks at their start"),
    flag('0', "null", "", "Print NUL after each path"),
    value(' ', "path-separator", "", "CHAR", "What stands for / in paths"),
    value(' ', "context-separator", "no-context-separator", "TEXT", "Between groups of lines [--]"),
    value(' ', "field-context-separator", "", "TEXT", "Between the parts of lines of context [-]"),
    value(' ', "field-match-separator", "", "TEXT", "Between the parts of matching lines [:]"),
    value(' ', "color", "", "WHEN", "When to use colours: auto, always, never or ansi"),
    value(' ', "colors", "", "SPEC", "A colour or style, such as match:fg:blue"),
    value(' ', "hyperlink-format", "", "FORMAT", "Make paths links, such as file or vscode"),
    flag(' ', "stats", "no-stats", "Print statistics at the end"),
    flag(' ', "line-buffered", "no-line-buffered", "Print each line as soon as it is found"),
    flag(' ', "block-buffered", "no-block-buffered", "Print larger blocks, also on a terminal"),
    flag(' ', "no-messages", "messages", "Say nothing about files that cannot be read"),
    flag(' ', "no-config", "", "Do not read the file that RIPGREP_CONFIG_PATH names"),
    flag(' ', "no-pcre2", "no-auto-hybrid-regex", "There is one engine, as always"),
    flag(' ', "no-search-zip", "no-pre", "Files are searched as they are, as always"),
];

/// What other options of `rg` do that is not done here.
const REFUSED: [(&str, Option<char>, bool, &str); 12] = [
    ("pcre2", Some('P'), false, "there is no engine with look-around and backreferences"),
    ("auto-hybrid-regex", None, false, "there is no other engine"),
    ("pcre2-version", None, false, "there is no such engine"),
    ("search-zip", Some('z'), false, "it starts programs"),
    ("pre", None, true, "it starts a program"),
    ("pre-glob", None, true, "it is for --pre, which starts a program"),
    ("hostname-bin", None, true, "it starts a program"),
    ("debug", None, false, "there is no log"),
    ("trace", None, false, "there is no log"),
    ("generate", None, true, "use ripkit man and ripkit completions"),
    ("ignore-file-case-insensitive", None, false, "ignore rules respect letter case"),
    ("no-ignore-file-case-insensitive", None, false, "ignore rules respect letter case"),
];

/// The options that the short help shows.
const COMMON: [&str; 26] = [
    "regexp",
    "fixed-strings",
    "ignore-case",
    "smart-case",
    "word-regexp",
    "invert-match",
    "multiline",
    "glob",
    "type",
    "hidden",
    "unrestricted",
    "follow",
    "max-depth",
    "sort",
    "files-with-matches",
    "count",
    "files",
    "json",
    "quiet",
    "only-matching",
    "replace",
    "max-count",
    "after-context",
    "before-context",
    "context",
    "line-number",
];

/// Other names of options.
const ALIASES: [(&str, &str); 3] =
    [("max-depth", "maxdepth"), ("passthru", "passthrough"), ("no-unicode", "no-pcre2-unicode")];

/// The declarations, in the order of the help.
pub(super) fn declarations() -> Vec<Arg> {
    let groups = [("Patterns", &PATTERNS[..]), ("Files", &FILES[..]), ("Output", &OUTPUT[..])];
    let mut options = Vec::new();
    for (heading, declared) in groups {
        for Declared(short, long, negation, value_name, help) in declared {
            let option = Arg::new(*long).help(*help).help_heading(heading);
            let option = option.hide_short_help(!COMMON.contains(long));
            let option = match *value_name {
                "" => ordered_flag(option),
                name => ordered_value(option, name),
            };
            let alias = ALIASES.iter().find(|(name, _)| name == long).map(|(_, alias)| *alias);
            options.push(option.long(*long).short(*short).aliases(alias));
            if !negation.is_empty() {
                options.push(ordered_flag(Arg::new(*negation)).long(*negation).hide(true));
            }
        }
    }
    for (long, short, has_value, _) in REFUSED {
        let option = Arg::new(long).long(long).short(short).hide(true);
        options.push(if has_value { ordered_value(option, "VALUE") } else { ordered_flag(option) });
    }
    options.push(ordered_flag(Arg::new("unicode-of-pcre2")).long("pcre2-unicode").hide(true));
    options
}

/// A flag whose place in the line is kept each time.
fn ordered_flag(option: Arg) -> Arg {
    option
        .action(ArgAction::Append)
        .num_args(0)
        .default_missing_value("")
        .value_parser(value_parser!(OsString))
}

/// An option whose place in the line is kept each time; its value may begin with `-`.
fn ordered_value(option: Arg, name: &'static str) -> Arg {
    option
        .action(ArgAction::Append)
        .value_name(name)
        .value_parser(value_parser!(OsString))
        .allow_hyphen_values(true)
}

/// A pattern, or the file that holds some.
pub(super) enum PatternSource {
    Text(OsString),
    File(PathBuf),
}

/// A change of the file types.
pub(super) enum TypeChange {
    Select(String),
    Negate(String),
    Add(String),
    Clear(String),
}

/// What was typed, with later options over earlier ones.
#[derive(Default)]
pub(super) struct Options {
    pub(super) mode: Mode,
    pub(super) lists_types: bool,
    pub(super) patterns: Vec<PatternSource>,
    pub(super) case: Case,
    pub(super) boundary: Option<Boundary>,
    pub(super) fixed: bool,
    pub(super) invert: bool,
    pub(super) multiline: bool,
    pub(super) dotall: bool,
    pub(super) crlf: bool,
    pub(super) null_data: bool,
    pub(super) no_unicode: bool,
    pub(super) regex_size: Option<usize>,
    pub(super) dfa_size: Option<usize>,
    pub(super) globs: Vec<String>,
    pub(super) iglobs: Vec<String>,
    pub(super) globs_ignore_case: bool,
    pub(super) types: Vec<TypeChange>,
    pub(super) hidden: bool,
    pub(super) no_vcs: bool,
    pub(super) no_dot: bool,
    pub(super) no_exclude: bool,
    pub(super) no_global: bool,
    pub(super) no_parent: bool,
    pub(super) no_files: bool,
    pub(super) no_require_git: bool,
    pub(super) ignore_files: Vec<PathBuf>,
    pub(super) follow: bool,
    pub(super) one_file_system: bool,
    pub(super) max_depth: Option<usize>,
    pub(super) max_filesize: Option<u64>,
    pub(super) binary: Binary,
    pub(super) encoding: Option<Encoding>,
    pub(super) no_marks: bool,
    pub(super) sort: Option<(SortKey, bool)>,
    pub(super) threads: usize,
    pub(super) is_mapped: Option<bool>,
    pub(super) include_zero: bool,
    pub(super) quiet: bool,
    pub(super) only_matching: bool,
    pub(super) replacement: Option<Vec<u8>>,
    pub(super) max_count: Option<u64>,
    pub(super) stop_on_nonmatch: bool,
    passthru: bool,
    before: Option<usize>,
    after: Option<usize>,
    around: usize,
    pub(super) line_number: Option<bool>,
    pub(super) with_filename: Option<bool>,
    pub(super) heading: Option<bool>,
    pub(super) column: Option<bool>,
    pub(super) byte_offset: bool,
    pub(super) vimgrep: bool,
    pub(super) max_columns: Option<u64>,
    pub(super) max_columns_preview: bool,
    pub(super) trim: bool,
    pub(super) null: bool,
    pub(super) path_separator: Option<u8>,
    context_separator: Option<Vec<u8>>,
    no_context_separator: bool,
    field_context_separator: Option<Vec<u8>>,
    field_match_separator: Option<Vec<u8>>,
    /// When there are colours; `auto` if it is empty.
    pub(super) color: String,
    pub(super) colors: Vec<UserColorSpec>,
    pub(super) hyperlinks: HyperlinkFormat,
    pub(super) stats: bool,
    pub(super) by_line: Option<bool>,
    pub(super) no_messages: bool,
    pub(super) no_config: bool,
    unrestricted: u8,
}

impl Options {
    /// Reads the options that were typed, in their order.
    ///
    /// # Errors
    /// What is wrong with one of them.
    pub(super) fn of(matches: &ArgMatches) -> Result<Options, String> {
        let mut typed = Vec::new();
        for id in matches.ids().map(clap::Id::as_str).filter(|id| is_declared(id)) {
            let indices = matches.indices_of(id).into_iter().flatten();
            let values = matches.get_raw(id).into_iter().flatten();
            typed.extend(indices.zip(values).map(|(index, value)| (index, id, value)));
        }
        typed.sort_unstable_by_key(|(index, ..)| *index);
        let mut options = Options::default();
        for (_, id, value) in typed {
            options
                .apply(id, value)
                .map_err(|reason| format!("error parsing flag --{id}: {reason}"))?;
        }
        Ok(options)
    }

    #[expect(clippy::too_many_lines, reason = "a line for each option")]
    fn apply(&mut self, id: &str, value: &OsStr) -> Result<(), String> {
        if let Some((.., reason)) = REFUSED.iter().find(|(long, ..)| *long == id) {
            return Err(format!("this option of rg is not supported: {reason}"));
        }
        match id {
            "regexp" => self.patterns.push(PatternSource::Text(value.to_owned())),
            "file" => self.patterns.push(PatternSource::File(value.into())),
            "fixed-strings" => self.fixed = true,
            "no-fixed-strings" => self.fixed = false,
            "ignore-case" => self.case = Case::Insensitive,
            "case-sensitive" => self.case = Case::Sensitive,
            "smart-case" => self.case = Case::Smart,
            "word-regexp" => self.boundary = Some(Boundary::Word),
            "line-regexp" => self.boundary = Some(Boundary::Line),
            "invert-match" => self.invert = true,
            "no-invert-match" => self.invert = false,
            "multiline" => (self.multiline, self.stop_on_nonmatch) = (true, false),
            "no-multiline" => self.multiline = false,
            "multiline-dotall" => self.dotall = true,
            "no-multiline-dotall" => self.dotall = false,
            "crlf" => (self.crlf, self.null_data) = (true, false),
            "no-crlf" => self.crlf = false,
            "null-data" => (self.crlf, self.null_data) = (false, true),
            "no-unicode" => self.no_unicode = true,
            "unicode" | "unicode-of-pcre2" => self.no_unicode = false,
            "regex-size-limit" => self.regex_size = Some(size(value)?),
            "dfa-size-limit" => self.dfa_size = Some(size(value)?),
            "engine" => return engine(value),
            "glob" => self.globs.push(text(value)?),
            "iglob" => self.iglobs.push(text(value)?),
            "glob-case-insensitive" => self.globs_ignore_case = true,
            "no-glob-case-insensitive" => self.globs_ignore_case = false,
            "type" => self.types.push(TypeChange::Select(text(value)?)),
            "type-not" => self.types.push(TypeChange::Negate(text(value)?)),
            "type-add" => self.types.push(TypeChange::Add(text(value)?)),
            "type-clear" => self.types.push(TypeChange::Clear(text(value)?)),
            "type-list" => self.lists_types = true,
            "hidden" => self.hidden = true,
            "no-hidden" => self.hidden = false,
            "unrestricted" => return self.unrestrict(),
            "no-ignore" => self.set_no_ignore(true),
            "ignore" => self.set_no_ignore(false),
            "no-ignore-vcs" => self.no_vcs = true,
            "ignore-vcs" => self.no_vcs = false,
            "no-ignore-dot" => self.no_dot = true,
            "ignore-dot" => self.no_dot = false,
            "no-ignore-exclude" => self.no_exclude = true,
            "ignore-exclude" => self.no_exclude = false,
            "no-ignore-global" => self.no_global = true,
            "ignore-global" => self.no_global = false,
            "no-ignore-parent" => self.no_parent = true,
            "ignore-parent" => self.no_parent = false,
            "no-ignore-files" => self.no_files = true,
            "ignore-files" => self.no_files = false,
            "no-require-git" => self.no_require_git = true,
            "require-git" => self.no_require_git = false,
            "ignore-file" => self.ignore_files.push(value.into()),
            "follow" => self.follow = true,
            "no-follow" => self.follow = false,
            "one-file-system" => self.one_file_system = true,
            "no-one-file-system" => self.one_file_system = false,
            "max-depth" => self.max_depth = Some(number(value)?),
            "max-filesize" => self.max_filesize = Some(size(value)? as u64),
            "text" => self.binary = Binary::Text,
            "binary" => self.binary = Binary::Search,
            "no-text" | "no-binary" => self.binary = Binary::Auto,
            "encoding" => return self.set_encoding(&text(value)?),
            "no-encoding" => (self.encoding, self.no_marks) = (None, false),
            "sort" => self.sort = sort_key(value)?.map(|key| (key, false)),
            "sortr" => self.sort = sort_key(value)?.map(|key| (key, true)),
            "sort-files" => self.sort = Some((SortKey::Path, false)),
            "no-sort-files" => self.sort = None,
            "threads" => self.threads = number(value)?,
            "mmap" => self.is_mapped = Some(true),
            "no-mmap" => self.is_mapped = Some(false),
            "files-with-matches" => self.set_mode(Mode::FilesWithMatches),
            "files-without-match" => self.set_mode(Mode::FilesWithoutMatch),
            "count" => self.set_mode(Mode::Count),
            "count-matches" => self.set_mode(Mode::CountMatches),
            "include-zero" => self.include_zero = true,
            "no-include-zero" => self.include_zero = false,
            "files" => self.set_mode(Mode::Files),
            "json" => self.set_mode(Mode::Json),
            "no-json" if self.mode == Mode::Json => self.mode = Mode::Lines,
            "quiet" => self.quiet = true,
            "only-matching" => self.only_matching = true,
            "replace" => self.replacement = Some(text(value)?.into_bytes()),
            "max-count" => self.max_count = Some(number(value)?),
            "stop-on-nonmatch" => (self.stop_on_nonmatch, self.multiline) = (true, false),
            "after-context" => self.set_context(|all, lines| all.after = Some(lines), value)?,
            "before-context" => self.set_context(|all, lines| all.before = Some(lines), value)?,
            "context" => self.set_context(|all, lines| all.around = lines, value)?,
            "passthru" => self.passthru = true,
            "line-number" => self.line_number = Some(true),
            "no-line-number" => self.line_number = Some(false),
            "with-filename" => self.with_filename = Some(true),
            "no-filename" => self.with_filename = Some(false),
            "heading" => self.heading = Some(true),
            "no-heading" => self.heading = Some(false),
            "column" => self.column = Some(true),
            "no-column" => self.column = Some(false),
            "byte-offset" => self.byte_offset = true,
            "no-byte-offset" => self.byte_offset = false,
            "vimgrep" => self.vimgrep = true,
            "pretty" => {
                "always".clone_into(&mut self.color);
                (self.heading, self.line_number) = (Some(true), Some(true));
            }
            "max-columns" => self.max_columns = Some(number(value)?).filter(|max| *max > 0),
            "max-columns-preview" => self.max_columns_preview = true,
            "no-max-columns-preview" => self.max_columns_preview = false,
            "trim" => self.trim = true,
            "no-trim" => self.trim = false,
            "null" => self.null = true,
            "path-separator" => self.path_separator = separator(value)?,
            "context-separator" => {
                let separator = Some(unescaped(value)?);
                (self.context_separator, self.no_context_separator) = (separator, false);
            }
            "no-context-separator" => self.no_context_separator = true,
            "field-context-separator" => self.field_context_separator = Some(unescaped(value)?),
            "field-match-separator" => self.field_match_separator = Some(unescaped(value)?),
            "color" => self.color = when(value)?,
            "colors" => self.colors.push(text(value)?.parse().map_err(|error| format!("{error}"))?),
            "hyperlink-format" => {
                self.hyperlinks = text(value)?.parse().map_err(|error| format!("{error}"))?;
            }
            "stats" => self.stats = true,
            "no-stats" => self.stats = false,
            "line-buffered" => self.by_line = Some(true),
            "block-buffered" => self.by_line = Some(false),
            "no-line-buffered" | "no-block-buffered" => self.by_line = None,
            "no-messages" => self.no_messages = true,
            "messages" => self.no_messages = false,
            "no-config" => self.no_config = true,
            // What they say holds anyway.
            "no-ignore-messages"
            | "ignore-messages"
            | "no-json"
            | "no-pcre2"
            | "no-auto-hybrid-regex"
            | "no-search-zip"
            | "no-pre" => {}
            other => unreachable!("{other} is declared and has no meaning"),
        }
        Ok(())
    }

    fn set_mode(&mut self, mode: Mode) {
        (self.mode, self.lists_types) = (mode, false);
    }

    fn set_no_ignore(&mut self, yes: bool) {
        (self.no_dot, self.no_exclude, self.no_global) = (yes, yes, yes);
        (self.no_parent, self.no_vcs) = (yes, yes);
    }

    fn unrestrict(&mut self) -> Result<(), String> {
        self.unrestricted += 1;
        match self.unrestricted {
            1 => self.set_no_ignore(true),
            2 => self.hidden = true,
            3 => self.binary = Binary::Search,
            _ => return Err("it can be given three times".to_owned()),
        }
        Ok(())
    }

    fn set_encoding(&mut self, name: &str) -> Result<(), String> {
        (self.encoding, self.no_marks) = match name {
            "auto" => (None, false),
            "none" => (None, true),
            name => (Some(Encoding::new(name).map_err(|error| error.to_string())?), false),
        };
        Ok(())
    }

    fn set_context(
        &mut self,
        set: impl FnOnce(&mut Options, usize),
        value: &OsStr,
    ) -> Result<(), String> {
        if std::mem::take(&mut self.passthru) {
            (self.before, self.after, self.around) = (None, None, 0);
        }
        set(self, number(value)?);
        Ok(())
    }

    /// The lines around matching ones; `-A` and `-B` win over `-C` wherever they stand.
    pub(super) fn context(&self) -> Context {
        if self.passthru {
            return Context::Everything;
        }
        Context::Lines(self.before.unwrap_or(self.around), self.after.unwrap_or(self.around))
    }

    /// Between groups of lines, and between the parts of lines of context and of matching ones.
    pub(super) fn separators(&self) -> (Option<Vec<u8>>, Vec<u8>, Vec<u8>) {
        let between = self.context_separator.clone().unwrap_or_else(|| b"--".to_vec());
        let between = (!self.no_context_separator).then_some(between);
        let context = self.field_context_separator.clone().unwrap_or_else(|| b"-".to_vec());
        let matching = self.field_match_separator.clone().unwrap_or_else(|| b":".to_vec());
        (between, context, matching)
    }
}

/// Whether the option is one of those above.
pub(super) fn is_declared(id: &str) -> bool {
    let mut declared = PATTERNS.iter().chain(&FILES).chain(&OUTPUT);
    declared.any(|Declared(_, long, negation, ..)| *long == id || *negation == id)
        || REFUSED.iter().any(|(long, ..)| *long == id)
        || id == "unicode-of-pcre2"
}

fn text(value: &OsStr) -> Result<String, String> {
    let text = value.to_str().ok_or("the value is not UTF-8")?;
    Ok(text.to_owned())
}

fn number<T: std::str::FromStr>(value: &OsStr) -> Result<T, String> {
    let text = text(value)?;
    text.parse().map_err(|_| format!("{text:?} is no number that is possible here"))
}

/// A number of bytes, with a unit of 1024, its square or its cube.
fn size(value: &OsStr) -> Result<usize, String> {
    let text = text(value)?;
    let (digits, unit) = match text.chars().last() {
        Some('K') => (&text[..text.len() - 1], 1 << 10),
        Some('M') => (&text[..text.len() - 1], 1 << 20),
        Some('G') => (&text[..text.len() - 1], 1 << 30),
        _ => (&*text, 1),
    };
    let bytes = digits.parse().ok().and_then(|count: usize| count.checked_mul(unit));
    bytes.ok_or_else(|| format!("{text:?} is no size: digits, and K, M or G"))
}

fn unescaped(value: &OsStr) -> Result<Vec<u8>, String> {
    Ok(Vec::unescape_bytes(text(value)?))
}

fn separator(value: &OsStr) -> Result<Option<u8>, String> {
    match *unescaped(value)? {
        [] => Ok(None),
        [byte] => Ok(Some(byte)),
        _ => Err("it is one byte".to_owned()),
    }
}

fn when(value: &OsStr) -> Result<String, String> {
    match &*text(value)? {
        when @ ("auto" | "always" | "never") => Ok(when.to_owned()),
        "ansi" => Ok("always".to_owned()),
        other => Err(format!("{other:?} is none of auto, always, never and ansi")),
    }
}

fn engine(value: &OsStr) -> Result<(), String> {
    match &*text(value)? {
        "default" | "auto" => Ok(()),
        other => Err(format!("there is no engine {other:?}")),
    }
}

fn sort_key(value: &OsStr) -> Result<Option<SortKey>, String> {
    Ok(Some(match &*text(value)? {
        "none" => return Ok(None),
        "path" => SortKey::Path,
        "modified" => SortKey::Modified,
        "accessed" => SortKey::Accessed,
        "created" => SortKey::Created,
        other => {
            return Err(format!("{other:?} is none of none, path, modified, accessed, created"));
        }
    }))
}
