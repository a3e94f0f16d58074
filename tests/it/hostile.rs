//! Hostile trees, paths, patterns and environments: the matrix of [`README.md`](hostile/README.md).
//!
//! The names of the tests begin with the row that they cover. Every call runs in a thread of its
//! own with a deadline, so that a call that hangs fails the test.

mod attack;
mod columns;
mod content;
mod coverage;
mod every_tool;
mod hosts;
mod ignore_files;
mod kept;
mod large;
mod layout;
mod layouts;
mod links;
mod names;
mod panics;
mod paths;
mod patterns;
mod races;
mod replacements;
mod rules;
mod shortages;
mod special;
mod surroundings;
mod trees;

pub(crate) use attack::{exchange, under_attack};
#[cfg(target_os = "linux")]
pub(crate) use large::peak_megabytes;
