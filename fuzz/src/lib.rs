//! The oracles of the fuzz targets, which are those of the integration tests.

#[path = "../../tests/it/oracles/mod.rs"]
pub mod oracles;
