//! The compiled part of the Python package `lbmc`: what its Python part (`python/lbmc/`) turns into objects and arrays.
//!
//! | module | job |
//! | --- | --- |
//! | `error` | diagnostics as exceptions; what should be known as warnings and log records |
//! | `method` | what is found out about methods; their kernels |
//! | `case` | cases, made ready to run |
//! | `simulation` | flows step by step: their fields and populations, set and read; pictures of them |
//! | `cells` | where the cells of a flow are in its arrays |
//! | `body` | solids of a flow: where they are, the force on them, and what is done to those that the fluid moves |
//! | `array` | arrays as Python's protocols show them: DLPack and the array interfaces of numpy and CUDA |
//!
//! What takes long runs without the lock of the interpreter. Signals are looked at between steps, about ten times a second.
//!
//! Invariant: all `unsafe` code lies in `array` (the lint `unsafe_code`).

mod array;
mod body;
mod case;
mod cells;
mod error;
mod method;
mod simulation;

use std::ffi::OsString;
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyModule;

/// Says which file has this code, on which kernels in the cache depend.
#[pyfunction]
fn found_in(file: PathBuf) {
    lbm_runtime::program::is_in(&file);
}

/// What the program `lbmc` does with its arguments, of which the first is its own name; its exit status. Called once, in a process of its own.
#[pyfunction]
fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| lbmc::command(arguments))
}

#[pymodule]
fn _lbmc(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<error::Error>())?;
    module.add("Advice", module.py().get_type::<error::Advice>())?;
    module.add_class::<error::Diagnostic>()?;
    module.add_class::<error::Label>()?;
    module.add_class::<array::Array>()?;
    module.add_class::<case::Case>()?;
    module.add_class::<simulation::Simulation>()?;
    module.add_function(wrap_pyfunction!(found_in, module)?)?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(method::check, module)?)?;
    module.add_function(wrap_pyfunction!(method::latex, module)?)?;
    module.add_function(wrap_pyfunction!(method::compile, module)?)?;
    module.add_function(wrap_pyfunction!(method::stability_picture, module)?)?;
    module.add_function(wrap_pyfunction!(method::specs, module)?)?;
    module.add_function(wrap_pyfunction!(case::cases, module)?)?;
    module.add_function(wrap_pyfunction!(case::schema, module)?)
}
