//! Kills, races and attacks on the tools that write, with the figures that came of it.
//!
//! ```text
//! cargo run --release --example torture -- kills 1000
//! cargo run --release --example torture -- edits
//! cargo run --release --example torture -- swaps 100000 [TOOL]
//! ```
//!
//! `kills` ends processes in the middle of edits at random times and looks for torn files.
//! `edits` has 120 edits of 120 lines of one file made at the same time. `swaps` calls each tool
//! while somebody else exchanges files and directories for links that lead outside.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a host may touch files and start programs by itself"
)]

#[cfg(target_os = "linux")]
#[path = "torture/edits.rs"]
mod edits;
#[cfg(target_os = "linux")]
#[path = "torture/kills.rs"]
mod kills;
#[cfg(target_os = "linux")]
#[path = "torture/swaps.rs"]
mod swaps;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

/// Whatever ends a run.
type Trouble = Box<dyn Error>;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match run(&words, &mut io::stdout().lock()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(trouble) => {
            // Whoever closed standard error does not want to know.
            let _ = writeln!(io::stderr(), "torture: {trouble}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a part; tells whether all promises were kept.
#[cfg(target_os = "linux")]
fn run(words: &[&str], out: &mut impl Write) -> Result<bool, Trouble> {
    match words {
        ["kills", count] => kills::run(count.parse()?, out),
        ["edits"] => edits::run(out),
        ["swaps", count] => swaps::run(count.parse()?, None, out),
        ["swaps", count, tool] => swaps::run(count.parse()?, Some(tool), out),
        [kills::VICTIM, root] => kills::edit_for_ever(root),
        [edits::EDITOR, root, party] => edits::edit_every_other(root, party.parse()?, out),
        _ => Err("usage: torture kills N | edits | swaps N [TOOL]".into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn run(_: &[&str], _: &mut impl Write) -> Result<bool, Trouble> {
    Err("this runs on Linux only".into())
}
