//! The index: every answer is the same as without one, and none is older than its call.

mod calls;
mod hammer;
mod overwritten;
mod pair;
mod same;
mod spared;
mod stale;
mod trees;
