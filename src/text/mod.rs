//! Text without files: cutting and escaping.

pub(crate) mod clip;
pub(crate) mod decode;
pub(crate) mod escape;
pub(crate) mod gutter;
