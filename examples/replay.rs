//! Replays the edits of real commits through `edit_file`, exact and with mistakes that models make,
//! and counts the results.
//!
//! ```text
//! cargo run --release --example replay -- REPOSITORY...
//! ```
//!
//! Every hunk of a commit is an edit: the old lines with as much context as makes them unique are
//! `old_text`, the new lines with the same context are `new_text`. Without a mistake the file must
//! become exactly what the commit made of it. Then each edit is tried with every kind of mistake,
//! and the resulting file is compared with the intended one.
//!
//! `--commits N` takes so many commits, evenly from all repositories (500); `--limit N` at most so
//! many edits; `--seed N` chooses other commits, context and mistakes; `--only KIND`, which may be
//! repeated, tries these kinds, or no mistakes with `none`; `--show N` explains so many wrong edits of each kind; `--json`
//! prints the counts as JSON. The status is 1 if an edit was made wrongly.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a host may touch files and start programs by itself"
)]

#[path = "replay"]
mod replay {
    pub(crate) mod dice;
    pub(crate) mod edit;
    pub(crate) mod judge;
    pub(crate) mod mistakes;
    pub(crate) mod report;
    pub(crate) mod repository;
    pub(crate) mod run;
    pub(crate) mod states;
    pub(crate) mod texts;
    pub(crate) mod trial;
}

use std::env;
use std::error::Error;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use self::replay::dice::Dice;
use self::replay::edit::{self, Edit};
use self::replay::mistakes::{self, Kind};
use self::replay::report::Report;
use self::replay::repository::Repository;
use self::replay::run;

/// An error that ends the replay.
type BoxError = Box<dyn Error + Send + Sync>;

const USAGE: &str = "usage: replay [--commits N] [--limit N] [--seed N] [--only KIND]... \
                     [--show N] [--json] REPOSITORY...";

/// The name for edits without a mistake, which are always made.
const NONE: &str = "none";

/// Commits of all repositories together.
const COMMITS: usize = 500;

/// The maximum number of edits of one commit and of one file, so that no large change dominates.
const EDITS_PER_COMMIT: usize = 20;
const EDITS_PER_FILE: usize = 8;

fn main() -> ExitCode {
    match Options::parse().and_then(|options| replay(&options, &mut io::stdout().lock())) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "replay: {trouble}");
            ExitCode::from(2)
        }
    }
}

/// The options of the command line.
struct Options {
    repositories: Vec<PathBuf>,
    commits: usize,
    limit: usize,
    seed: u64,
    only: Vec<String>,
    show: usize,
    json: bool,
}

impl Options {
    fn parse() -> Result<Options, BoxError> {
        let mut options = Options {
            repositories: Vec::new(),
            commits: COMMITS,
            limit: usize::MAX,
            seed: 1,
            only: Vec::new(),
            show: 0,
            json: false,
        };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or_else(|| format!("{word} needs a value; {USAGE}"));
            match word.as_str() {
                "--commits" => options.commits = number(&value()?)?,
                "--limit" => options.limit = number(&value()?)?,
                "--seed" => options.seed = u64::try_from(number(&value()?)?)?,
                "--only" => options.only.push(value()?),
                "--show" => options.show = number(&value()?)?,
                "--json" => options.json = true,
                flag if flag.starts_with("--") => return Err(format!("no {flag}; {USAGE}").into()),
                path => options.repositories.push(path.into()),
            }
        }
        if options.repositories.is_empty() {
            return Err(USAGE.into());
        }
        Ok(options)
    }

    /// The kinds of mistakes to try.
    fn kinds(&self) -> Result<Vec<Kind>, BoxError> {
        let mut kinds = mistakes::kinds();
        for name in &self.only {
            if name != NONE && kinds.iter().all(|kind| kind.name != *name) {
                let names: Vec<&str> = kinds.iter().map(|kind| kind.name.as_str()).collect();
                return Err(format!("no kind {name}; there are {}", names.join(", ")).into());
            }
        }
        kinds.retain(|kind| self.only.is_empty() || self.only.contains(&kind.name));
        Ok(kinds)
    }
}

fn number(word: &str) -> Result<usize, BoxError> {
    word.parse().map_err(|_| format!("{word} is no number; {USAGE}").into())
}

/// The edits of the chosen commits.
#[derive(Default)]
struct Collected {
    edits: Vec<Edit>,
    commits: usize,
    left_out: usize,
}

/// Replays all edits; returns whether no edit had a wrong result.
fn replay(options: &Options, out: &mut impl Write) -> Result<bool, BoxError> {
    let kinds = options.kinds()?;
    let collected = collect(options)?;
    let edits = &collected.edits;
    let progress = |index: usize| {
        if index.is_multiple_of(200) {
            report_progress(&format!("{index} of {} edits", edits.len()));
        }
    };
    let results = run::run(edits, &kinds, options.seed, progress)?;
    let names = kinds.iter().map(|kind| kind.name.clone());
    let report = Report {
        commits: collected.commits,
        edits: edits.len(),
        left_out: collected.left_out,
        seed: options.seed,
        plain: results.plain,
        plain_line_ends: results.plain_line_ends,
        kinds: names.zip(results.kinds.iter().copied()).collect(),
    };
    if options.json {
        report.write_json(out)?;
    } else {
        report.write(out)?;
    }
    for place in (0..kinds.len()).map(Some).chain([None]) {
        let wrong = results.wrong.iter().filter(|(_, kind)| *kind == place);
        for (index, _) in wrong.take(options.show) {
            let kind = place.and_then(|place| kinds.get(place));
            if let Some(explained) = run::explain(&edits[*index], kind, options.seed)? {
                writeln!(out, "\n{explained}")?;
            }
        }
    }
    Ok(report.is_clean())
}

/// Reads the requested number of commits, evenly from all repositories.
fn collect(options: &Options) -> Result<Collected, BoxError> {
    let mut collected = Collected::default();
    let repositories = options.repositories.len();
    for (index, path) in options.repositories.iter().enumerate() {
        let share =
            options.commits / repositories + usize::from(index < options.commits % repositories);
        let seed = options.seed;
        let order = |ids: &mut Vec<String>| Dice::new(seed, "commits").shuffle(ids);
        let mut repository = Repository::open(path, order)
            .map_err(|trouble| format!("{}: {trouble}", path.display()))?;
        let enough = collected.commits + share;
        while collected.commits < enough && collected.edits.len() < options.limit {
            let Some(commit) = repository.next_commit()? else { break };
            let name = format!("{} {}", repository.name(), &commit.id[..10.min(commit.id.len())]);
            let mut edits = Vec::new();
            for file in &commit.files {
                if edits.len() >= EDITS_PER_COMMIT {
                    break;
                }
                let Some(versions) = repository.versions(file)? else { continue };
                let name = format!("{name} {}", file.path);
                let mut made = edit::between(&name, &versions.before, &versions.after, seed);
                // A random selection, not only those at the start of the file.
                Dice::new(seed, &name).shuffle(&mut made.edits);
                made.edits.truncate(EDITS_PER_FILE);
                edits.append(&mut made.edits);
                collected.left_out += made.left_out;
            }
            edits.truncate(EDITS_PER_COMMIT);
            collected.commits += usize::from(!edits.is_empty());
            collected.edits.append(&mut edits);
        }
        report_progress(&format!("{}: {} edits so far", repository.name(), collected.edits.len()));
    }
    collected.edits.truncate(options.limit);
    Ok(collected)
}

/// Reports the progress.
fn report_progress(line: &str) {
    // Ignored: standard error may be closed.
    let _ = writeln!(io::stderr(), "replay: {line}");
}
