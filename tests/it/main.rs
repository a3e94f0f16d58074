//! Every integration test of the crate, in one binary so that it links once.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests build the trees and start the programs that the library must not touch by itself"
)]
#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "a test fails by panicking and says why it was skipped"
)]

// The workspace builder, the sentences about answers, deadlines and child processes. No tests.
mod harness;

// A tiny tool set for tests of the toolkit itself.
mod tools;

// Examples for people: runs every file of `fixtures/cases`.
mod cases;
// The `ripkit` program, from its arguments to its exit status.
#[cfg(feature = "cli")]
mod cli;
// What the program tells of itself: help, suggestions, completions, pages of the manual.
#[cfg(feature = "cli")]
mod cli_help;
// Command lines of rg, with the same bytes.
#[cfg(feature = "cli")]
mod cli_rg;
// Terminals, pipes that close, interrupts.
#[cfg(all(feature = "cli", unix))]
mod cli_terminal;
// Answers in other forms: events beside `rg --json`, counts, nothing.
#[cfg(feature = "cli")]
mod cli_views;
// Calls that change the same files at the same time.
mod concurrent;
// Arguments of absurd size, of every tool.
#[cfg(unix)]
mod limits;
// The same answers as `rg` and `git` on the same trees.
mod differential;
// Ignore files that lie elsewhere: above the root, and in the repository of a `.git` file.
#[cfg(unix)]
mod ignored;
// Calls that fail, kills, full disks, and others who write at the same moment.
#[cfg(all(feature = "cli", target_os = "linux"))]
mod faults;
// What the deny globs name, and that no answer tells whether it exists.
#[cfg(unix)]
mod denied;
// Hostile trees, paths, patterns and surroundings: the matrix, row by row.
#[cfg(unix)]
mod hostile;
// The server of the Model Context Protocol, line by line.
#[cfg(all(feature = "cli", feature = "mcp"))]
mod mcp;
// What an index must not change, and what it must spare; elsewhere there is none.
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod index;
// What is left of the library in its host: threads, descriptors, memory, settings.
#[cfg(target_os = "linux")]
mod neutrality;
// Random sequences of calls beside a model in memory.
mod machine;
// What holds for any bytes, in one place for the fuzz targets and for the tests on stable.
mod oracles;
// What holds for any tree and any arguments: order, pages, cuts, containment.
mod properties;
// The oracles with random bytes, and with what fuzzing has found.
mod regressions;
// The command `ripkit index`, and `--index` of others.
#[cfg(feature = "cli")]
mod index_command;
// What a protocol is told about each tool.
mod schema;
// What the README says of the tools.
mod readme;
// Files whose size is not what the file system reports.
#[cfg(all(target_os = "linux", not(ripkit_portable)))]
mod sizes;
// What each provider is told: the files of `fixtures/specs`, the rules, calls that come back.
mod specs;
// Pages of files: any bytes, any encoding, files that are huge or change, and the command.
mod read_file;
// Edits with the mistakes that models make.
mod replay;
// The search tool where an answer is easily wrong: interrupted, cut, in pieces, or beside rg.
mod search;
// The behaviour that the founding descriptions of the tools ask for, sentence by sentence.
mod seeds;
// Which programs are started: none, but for the tool that is there for it.
#[cfg(all(feature = "cli", target_os = "linux"))]
mod programs;
// Commands: what they get, how they end, what is left of them.
#[cfg(all(unix, feature = "command"))]
mod run_command;
// The same for skills.
mod seeds_skills;
// Finding and reading skills, good and hostile.
mod skills;
// The command for skills, and the corpus beside the reference validator.
#[cfg(feature = "cli")]
mod skills_command;
// File systems that do not answer, and files and directories without end.
#[cfg(target_os = "linux")]
mod stalled;
// Changes while files and directories are exchanged for links.
#[cfg(target_os = "linux")]
mod swaps;
// The house itself: floors, sizes, names, lists.
mod tidy;
// Calls, arguments and their repair, whatever the tool.
mod toolkit;
