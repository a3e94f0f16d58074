//! Names for which another one may be meant: names that look alike, and similar names.

mod confusable;
mod similar;

pub use self::confusable::{difference, escaped, skeleton};
pub use self::similar::most_similar;
