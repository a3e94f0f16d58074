//! Runs one shell command: starts it, reads its output, and stops it with every process it started.

mod capture;
mod policy;
mod process;
mod process_tree;
mod run;
mod spool_file;

pub use self::policy::CommandPolicy;
pub(crate) use self::process::{Ending, signal_name};
pub(crate) use self::run::{CommandReport, CommandRequest, run};
