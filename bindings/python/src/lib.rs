//! The extension module `ripkit._native`: conversions between Python and `ripkit_bindings`. Classes
//! and functions for users are in `python/ripkit`, and their types in `_native.pyi`.

mod answer;
mod callback;
mod cancel;
mod error;
mod own_tool;
mod toolkit;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::cancel::CancelToken;
    #[pymodule_export]
    use super::own_tool::ToolCall;
    #[pymodule_export]
    use super::toolkit::NativeToolkit;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    #[expect(unused_imports, reason = "the macro needs something in scope")]
    use super::*;
}
