//! What the fuzz targets claim, which is what the tests of the library claim.

#[path = "../../tests/it/oracles/mod.rs"]
pub mod oracles;
