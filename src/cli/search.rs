//! `ripkit search`, whose command line is that of `rg`.

mod options;
mod tool;

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::SystemTime;

use clap::{Arg, ArgMatches, Command, value_parser};
use grep_printer::{ColorSpecs, HyperlinkConfig, HyperlinkEnvironment, default_color_specs};
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ignore::overrides::{Override, OverrideBuilder};
use ignore::types::{Types, TypesBuilder};
use ripkit::Workspace;
use ripkit::shell::search::{self, Host, Look, Mode, Query, Reporter, SortKey};
use ripkit::shell::tree::{IgnoreChoice, TreeWalk};

use self::options::{Options, PatternSource, TypeChange};
use super::call::exit;
use super::flags::{global_excludes, host_name, is_coloured, named_root};
use super::help;
use super::own_line::Typed;
use super::print;

pub(super) const NAME: &str = "search";

const WORDS: &str = "words";
const ROOT: &str = "global-root";

/// The most threads that a search uses unless it is told otherwise.
const MAX_THREADS: usize = 12;

const LONG: &str = "Search files for a pattern, with the command line of rg.\n\nThe output is in the \
    order of paths.";

pub(super) fn command() -> Command {
    let words = Arg::new(WORDS)
        .value_name("PATTERN [PATH]")
        .num_args(0..)
        .value_parser(value_parser!(OsString))
        .help("What to search for, unless -e does, and where");
    let root = Arg::new(ROOT)
        .long("root")
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .help_heading("Besides rg")
        .help("Read nothing outside of it [default: RIPKIT_ROOT, if set]");
    Command::new(NAME)
        .about("Search files for a pattern, as rg")
        .long_about(LONG)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .version(env!("CARGO_PKG_VERSION"))
        .arg(words)
        .args(options::declarations())
        .arg(root)
        .args(tool::declarations())
        .args(help::options())
}

pub(super) fn run(typed: &Typed) -> u8 {
    let answered = match parse(typed) {
        Err(Usage::Line(usage)) => return print::usage(usage),
        Err(Usage::Option(message)) => Err(message),
        Ok(line) if tool::is_asked(&line.matches) => tool::run(&line),
        Ok(line) => line.run(typed.called()),
    };
    answered.unwrap_or_else(|message| {
        print::message(typed.called(), &message);
        exit::FAILED
    })
}

/// What is wrong with a line.
enum Usage {
    Line(clap::Error),
    Option(String),
}

/// The line as it was typed.
struct Line {
    options: Options,
    words: Vec<OsString>,
    root: Option<PathBuf>,
    matches: ArgMatches,
}

/// Parses the words, after those of the configuration file under the name `rg`.
fn parse(typed: &Typed) -> Result<Line, Usage> {
    let line = parse_words(typed, typed.words())?;
    let file = env::var_os("RIPGREP_CONFIG_PATH").filter(|path| !path.is_empty());
    let Some(file) = file.filter(|_| typed.is_program() && !line.options.no_config) else {
        return Ok(line);
    };
    match fs::read(&file) {
        Ok(content) => parse_words(typed, &[&configured(&content), typed.words()].concat()),
        Err(error) => {
            let file = Path::new(&file).display();
            let message = format!("cannot read {file}, which RIPGREP_CONFIG_PATH names: {error}");
            print::message(typed.called(), &message);
            Ok(line)
        }
    }
}

/// The words of a configuration file, one a line.
fn configured(content: &[u8]) -> Vec<OsString> {
    let lines = content.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let words = lines.filter(|line| !line.is_empty() && line[0] != b'#');
    words.map(|word| bstr::ByteSlice::to_os_str_lossy(word).into_owned()).collect()
}

fn parse_words(typed: &Typed, words: &[OsString]) -> Result<Line, Usage> {
    let name = if typed.is_program() { "rg" } else { "ripkit search" };
    let all = std::iter::once(&OsString::from(name)).chain(words).cloned().collect::<Vec<_>>();
    let command = command().name(name).bin_name(name);
    let matches = command.try_get_matches_from(all).map_err(Usage::Line)?;
    let options = Options::of(&matches).map_err(Usage::Option)?;
    let words = matches.get_many::<OsString>(WORDS).into_iter().flatten().cloned().collect();
    let root = named_root(matches.get_one(ROOT).cloned());
    Ok(Line { options, words, root, matches })
}

impl Line {
    fn run(mut self, called: &'static str) -> Result<u8, String> {
        if self.options.lists_types {
            return self.list_types();
        }
        let (directory, confined_to) = self.place()?;
        let mut standard_input_is_read = false;
        let patterns = self.patterns(&mut standard_input_is_read)?;
        let mut paths: Vec<PathBuf> = self.words.drain(..).map(PathBuf::from).collect();
        if standard_input_is_read && paths.iter().any(|path| path == Path::new("-")) {
            return Err("standard input holds the patterns already".to_owned());
        }
        let is_implicit = paths.is_empty();
        if is_implicit {
            let is_piped = self.options.mode != Mode::Files
                && !standard_input_is_read
                && standard_input_is_readable();
            paths.push(PathBuf::from(if is_piped { "-" } else { "./" }));
        }
        let is_silent = self.options.no_messages;
        let reporter = Arc::new(Reporter::new(move |message| {
            if !is_silent {
                print::message(called, message);
            }
        }));
        let query = self.query(patterns, paths, is_implicit, &directory)?;
        let threads = match self.options.threads {
            _ if self.options.sort.is_some_and(|(key, _)| key != SortKey::Path) => 1,
            0 => thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS),
            threads => threads,
        };
        let host =
            Host { directory, confined_to, special, time, reporter: reporter.clone(), threads };
        let quiet = query.quiet;
        let output = Box::new(BufWriter::with_capacity(64 << 10, io::stdout()));
        let has_match = search::run(query, host, output)?;
        Ok(match has_match {
            true if quiet || !reporter.has_failed() => exit::DONE,
            _ if reporter.has_failed() => exit::FAILED,
            _ => exit::NOTHING,
        })
    }

    /// Where relative paths begin, and the tree that must not be left.
    fn place(&self) -> Result<(PathBuf, Option<Workspace>), String> {
        let here = env::current_dir().map_err(|error| format!("no current directory: {error}"));
        let Some(root) = &self.root else { return Ok((here?, None)) };
        let workspace = Workspace::open(root).map_err(|error| error.to_string())?;
        let root = workspace.root().to_path_buf();
        let inside = here.ok().filter(|here| here.starts_with(&root));
        Ok((inside.unwrap_or(root), Some(workspace)))
    }

    fn patterns(&mut self, standard_input_is_read: &mut bool) -> Result<Vec<String>, String> {
        if self.options.mode == Mode::Files {
            return Ok(Vec::new());
        }
        let mut patterns = Vec::new();
        if self.options.patterns.is_empty() {
            if self.words.is_empty() {
                return Err("there is no pattern to search for; --help has examples".to_owned());
            }
            self.options.patterns.push(PatternSource::Text(self.words.remove(0)));
        }
        for source in &self.options.patterns {
            match source {
                PatternSource::Text(pattern) => {
                    let pattern = pattern.to_str().ok_or("the pattern is not UTF-8")?;
                    patterns.push(pattern.to_owned());
                }
                PatternSource::File(file) if file == Path::new("-") => {
                    if std::mem::replace(standard_input_is_read, true) {
                        return Err("standard input can be read once only".to_owned());
                    }
                    let lines = io::stdin().lock().lines();
                    patterns.extend(lines.collect::<Result<Vec<_>, _>>().map_err(|error| {
                        format!("cannot read patterns from standard input: {error}")
                    })?);
                }
                PatternSource::File(file) => {
                    let lines = File::open(file).and_then(|file| {
                        BufReader::new(file).lines().collect::<Result<Vec<_>, _>>()
                    });
                    let failed = |error| format!("{}: {error}", file.display());
                    patterns.extend(lines.map_err(failed)?);
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        patterns.retain(|pattern| seen.insert(pattern.clone()));
        Ok(patterns)
    }

    fn query(
        &self,
        patterns: Vec<String>,
        paths: Vec<PathBuf>,
        is_implicit: bool,
        directory: &Path,
    ) -> Result<Query, String> {
        let options = &self.options;
        let is_input = |path: &PathBuf| path == Path::new("-");
        let is_only_input = paths.len() == 1 && is_input(&paths[0]);
        let is_one_file =
            paths.len() == 1 && (is_only_input || !directory.join(&paths[0]).is_dir());
        let is_mapped = options.is_mapped.unwrap_or_else(|| {
            paths.len() <= 10 && paths.iter().all(|path| directory.join(path).is_file())
        });
        let mode = match options.mode {
            Mode::CountMatches if options.invert => Mode::Count,
            Mode::Count if options.only_matching => Mode::CountMatches,
            mode => mode,
        };
        let is_terminal = io::stdout().is_terminal();
        let column = options.column.unwrap_or(options.vimgrep);
        let shows_numbers = match mode {
            _ if options.quiet => false,
            Mode::Json => true,
            Mode::Lines => column || options.vimgrep || is_terminal && !is_only_input,
            _ => false,
        };
        let (context_separator, field_context_separator, field_match_separator) =
            options.separators();
        let mut colors = default_color_specs();
        colors.extend(options.colors.iter().cloned());
        let look = Look {
            coloured: is_coloured(&options.color),
            colors: ColorSpecs::new(&colors),
            on_terminal: is_terminal,
            hyperlinks: HyperlinkConfig::new(link_environment(), options.hyperlinks.clone()),
            by_line: options.by_line.unwrap_or(is_terminal),
            heading: options.heading.unwrap_or(is_terminal) && !options.vimgrep,
            paths: options.with_filename.unwrap_or(options.vimgrep || !is_one_file),
            line_number: options.line_number.unwrap_or(shows_numbers),
            column,
            byte_offset: options.byte_offset,
            only_matching: options.only_matching,
            per_match: options.vimgrep,
            replacement: options.replacement.clone(),
            max_columns: options.max_columns,
            max_columns_preview: options.max_columns_preview,
            trim: options.trim,
            include_zero: options.include_zero,
            null: options.null,
            path_separator: options.path_separator,
            context_separator,
            field_context_separator,
            field_match_separator,
        };
        Ok(Query {
            mode,
            patterns,
            paths,
            is_implicit,
            is_one_file,
            is_mapped,
            tree: self.tree(directory)?,
            sort: options.sort.filter(|sort| *sort != (SortKey::Path, false)),
            max_filesize: options.max_filesize,
            case: options.case,
            boundary: options.boundary,
            fixed: options.fixed,
            no_unicode: options.no_unicode,
            regex_size: options.regex_size,
            dfa_size: options.dfa_size,
            multiline: options.multiline,
            dotall: options.dotall,
            crlf: options.crlf,
            null_data: options.null_data,
            invert: options.invert,
            max_count: options.max_count,
            stop_on_nonmatch: options.stop_on_nonmatch,
            context: options.context(),
            binary: options.binary,
            encoding: options.encoding.clone(),
            no_marks: options.no_marks,
            quiet: options.quiet,
            stats: options.stats,
            look,
        })
    }

    fn tree(&self, directory: &Path) -> Result<TreeWalk, String> {
        let options = &self.options;
        let has_global = !options.no_vcs && !options.no_global;
        Ok(TreeWalk {
            ignore: IgnoreChoice {
                is_fd: false,
                dot: !options.no_dot,
                git: !options.no_vcs,
                exclude: !options.no_vcs && !options.no_exclude,
                needs_repository: !options.no_require_git,
            },
            parents: !options.no_parent,
            global_excludes: has_global.then(global_excludes).flatten(),
            hidden: options.hidden,
            follow: options.follow,
            one_file_system: options.one_file_system,
            max_depth: options.max_depth,
            globs: self.globs(directory).map_err(|error| error.to_string())?,
            types: self.types().map_err(|error| error.to_string())?,
            last_rules: self.ignore_files(directory),
            marks: Vec::new(),
            prune: false,
            threads: 0,
            confined_to: None,
        })
    }

    fn globs(&self, directory: &Path) -> Result<Override, ignore::Error> {
        let mut builder = OverrideBuilder::new(directory);
        builder.case_insensitive(self.options.globs_ignore_case)?;
        for glob in &self.options.globs {
            builder.add(glob)?;
        }
        builder.case_insensitive(true)?;
        for glob in &self.options.iglobs {
            builder.add(glob)?;
        }
        builder.build()
    }

    fn types(&self) -> Result<Types, ignore::Error> {
        let mut builder = TypesBuilder::new();
        builder.add_defaults();
        for change in &self.options.types {
            match change {
                TypeChange::Select(name) => drop(builder.select(name)),
                TypeChange::Negate(name) => drop(builder.negate(name)),
                TypeChange::Add(definition) => builder.add_def(definition)?,
                TypeChange::Clear(name) => drop(builder.clear(name)),
            }
        }
        builder.build()
    }

    fn ignore_files(&self, directory: &Path) -> Vec<Gitignore> {
        let files = self.options.ignore_files.iter().filter(|_| !self.options.no_files);
        let rules = |file: &PathBuf| {
            let mut builder = GitignoreBuilder::new(directory);
            if let Some(error) = builder.add(directory.join(file))
                && !self.options.no_messages
            {
                print::message("ripkit", &error.to_string());
            }
            builder.build().unwrap_or_else(|_| Gitignore::empty())
        };
        files.map(rules).collect()
    }

    fn list_types(&self) -> Result<u8, String> {
        let types = self.types().map_err(|error| error.to_string())?;
        let line = |definition: &ignore::types::FileTypeDef| {
            format!("{}: {}\n", definition.name(), definition.globs().join(", "))
        };
        let lines: String = types.definitions().iter().map(line).collect();
        print::bytes(lines.as_bytes()).map_err(|error| error.to_string())?;
        Ok(if lines.is_empty() { exit::NOTHING } else { exit::DONE })
    }
}

/// Whether standard input may hold something to search: a file, a pipe or a socket.
fn standard_input_is_readable() -> bool {
    #[cfg(unix)]
    {
        use std::os::fd::AsFd;
        use std::os::unix::fs::FileTypeExt;

        let file = io::stdin().as_fd().try_clone_to_owned().map(File::from);
        let kind = file.and_then(|file| file.metadata()).map(|metadata| metadata.file_type());
        kind.is_ok_and(|kind| kind.is_file() || kind.is_fifo() || kind.is_socket())
    }
    #[cfg(not(unix))]
    !io::stdin().is_terminal()
}

/// Opens what is no regular file.
fn special(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    Ok(Box::new(File::open(path)?))
}

fn time(path: &Path, key: SortKey) -> Option<SystemTime> {
    let metadata = fs::metadata(path).ok()?;
    match key {
        SortKey::Path | SortKey::Modified => metadata.modified().ok(),
        SortKey::Accessed => metadata.accessed().ok(),
        SortKey::Created => metadata.created().ok(),
    }
}

/// What links of paths can name.
fn link_environment() -> HyperlinkEnvironment {
    let mut environment = HyperlinkEnvironment::new();
    environment.host(Some(host_name()).filter(|host| !host.is_empty()));
    let prefix = env::var("WSL_DISTRO_NAME").ok().map(|name| format!("wsl$/{name}"));
    environment.wsl_prefix(prefix);
    environment
}
