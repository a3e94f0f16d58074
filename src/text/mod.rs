//! Text without files: decoding, cutting, escaping and numbering lines.

pub(crate) mod clip;
pub(crate) mod decode;
pub(crate) mod escape;
pub(crate) mod gutter;
pub(crate) mod look;
pub(crate) mod omission;
