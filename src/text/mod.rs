//! Text without files: decoding, truncating, escaping and numbering lines.

pub(crate) mod clip;
pub(crate) mod confusable;
pub(crate) mod decode;
pub(crate) mod escape;
pub(crate) mod line_number;
pub(crate) mod placeholder;
pub(crate) mod similar;
