//! Tests through the public interfaces: one helper for each kind of case, the only code that calls the API.
//!
//! - [`compiled`]: shipped specs, compiled and run
//! - [`criteria`]: refinement criteria, compiled and loaded
//! - [`flows`]: those of them that are flows, as simulations
//! - [`forest`]: forests of blocks, by definition
//! - [`levels`]: two levels of refinement, advanced cell by cell
//! - [`sample`]: the part of a long list of cases that a test takes
//! - [`toolchain`]: the compilers that emitted text is given to

pub mod compiled;
pub mod criteria;
pub mod flows;
pub mod forest;
pub mod levels;
pub mod sample;
pub mod toolchain;

use std::path::PathBuf;

/// The repository.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("this crate lies in the repository").to_path_buf()
}

/// Whether checked-in expectations are to be rewritten: `LBMC_UPDATE=1`.
pub fn update() -> bool {
    std::env::var_os("LBMC_UPDATE").is_some_and(|value| value == "1")
}
