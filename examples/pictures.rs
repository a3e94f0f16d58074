//! Draws the pictures of the documentation, as SVG on standard output.
//!
//! ```text
//! cargo run --example pictures -- chart docs/compare.md > docs/speed.svg
//! cargo build && cargo run --example pictures -- terminal target/debug/ripkit > docs/terminal.svg
//! ```
//!
//! `chart` reads what `examples/compare` has printed. `terminal` runs the program on a terminal of
//! `script`, with commands in a tree of three files.

#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a host may touch files and start programs by itself"
)]

#[path = "pictures/chart.rs"]
mod chart;
#[path = "pictures/svg.rs"]
mod svg;
#[path = "pictures/terminal.rs"]
mod terminal;

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

const USAGE: &str = "usage: pictures chart COMPARISON, or pictures terminal PROGRAM";

fn main() -> ExitCode {
    let drawn = draw(&env::args().skip(1).collect::<Vec<_>>());
    let written = drawn.and_then(|picture| {
        io::stdout().lock().write_all(picture.as_bytes()).map_err(|error| error.to_string())
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(trouble) => {
            // Ignored: standard error may be closed.
            let _ = writeln!(io::stderr(), "pictures: {trouble}");
            ExitCode::FAILURE
        }
    }
}

fn draw(words: &[String]) -> Result<String, String> {
    match words {
        [mode, file] if mode == "chart" => {
            let text = fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
            chart::draw(&text)
        }
        [mode, program] if mode == "terminal" => {
            let program = Path::new(program).canonicalize();
            let program = program.map_err(|error| format!("the program: {error}"))?;
            terminal::draw(&program)
        }
        _ => Err(USAGE.to_owned()),
    }
}
