//! Kernels to flows: a bundle's kernels, loaded on a device, advance populations on a grid of blocks.
//!
//! ```text
//! geometry ◀── device ◀── kernels ◀── mesh ◀── solver ──▶ processes
//! ```
//!
//! Layers, each of which knows only those above it in this table:
//!
//! | layer | job |
//! | --- | --- |
//! | `program` | which file has this code |
//! | `file` | files that are whole or not there |
//! | `processes` | the processes of a flow, and the bytes that go from one to others |
//! | `geometry` | blocks, cells, faces; bodies in the flow and the links that they cut |
//! | `device` | buffers, modules, launches, timing, on the host or a GPU |
//! | `kernels` | loads a bundle, checks signatures; a struct for each kernel, to launch it; layouts of arrays |
//! | `mesh` | the grid: neighbours, walls; the forest of blocks that refines itself |
//! | `solver` | a simulation: fields on a grid, the recipe of a time step, changes of the grid, what is measured |
//!
//! Invariant: no layer imports one below it in the table (`tests/tests/layers.rs`).
//!
//! Invariant: `unsafe` code lies in `device`, and in `processes` where it calls a library (the workspace denies it elsewhere).
//!
//! Invariant: whoever reads what is printed may go away: nothing uses the macros of the standard library, which panic then
//! (clippy's `print_stdout` and `print_stderr`).
//!
//! Invariant: the runtime knows bundles and nothing else of the compiler (its manifest has no such dependency).

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod device;
pub mod file;
// For tests of this crate and of those above; no feature, so that what they are linked with is what is run.
#[doc(hidden)]
pub mod fixture;
pub mod geometry;
pub mod kernels;
pub mod mesh;
pub mod processes;
pub mod program;
pub mod solver;
