//! The file tools of an LLM agent, inside the host's process: search, list and find, on
//! ripgrep's own libraries and without starting a program.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod arguments;
pub mod context;
pub mod error;
mod os;
pub mod output;
mod pool;
pub mod schema;
mod search;
mod text;
pub mod tool;
pub mod tools;
mod walk;
pub mod workspace;

pub use arguments::{OneOrMany, Sort};
pub use context::{Call, Cancel, Incomplete, Limits, Progress, TextStream};
pub use error::{Error, ErrorCode};
pub use output::{Content, Outcome, Output, Receipt, Skipped, Trouble, Truncation};
pub use text::escape::printable;
pub use tool::{Effect, Tool, ToolContext, ToolSpec};
pub use workspace::Workspace;
