//! The `ripkit` program: the tools of the library from a shell.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
