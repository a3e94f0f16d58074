//! Text without files: decoding, names that look alike, similar names. What edits need too is in
//! `ripkit_edit`.

pub(crate) mod confusable;
pub(crate) mod decode;
pub(crate) mod escape;
pub(crate) mod line_number;
pub(crate) mod placeholder;
pub(crate) mod similar;

pub(crate) use ripkit_edit::text::clip;
