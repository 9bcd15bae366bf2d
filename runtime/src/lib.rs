//! Kernels to flows: a bundle's kernels, loaded on a device, advance populations on a grid of blocks.
//!
//! ```text
//! bundle ──▶ kernels ──▶ step ──▶ snapshot, observe
//!              │          │ │
//!            device    mesh fields
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `criterion` | what says how finely a place should be resolved |
//! | `device` | buffers, modules, launches, timing, on the host or a GPU |
//! | `kernels` | loads a bundle, checks signatures; a struct for each kernel, to launch it |
//! | `layout` | (slot, component, cell) to offset |
//! | `mesh` | blocks, neighbours, walls; the forest of blocks that refines itself |
//! | `fields` | populations and macroscopic arrays |
//! | `step` | a simulation: the recipe of a time step |
//! | `observe` | conserved sums, change, the first value that is no number |
//! | `bandwidth` | what speed is measured against |
//! | `memory` | what a grid takes, before it is there |
//! | `case` | a case file: units, walls, stop |
//! | `restart` | files from which a run goes on with the same bits |
//! | `output` | what a run leaves behind: VTK, profiles, pictures, summary; the progress line |
//! | `flow` | a case run to its end |
//! | `solid` | bodies in the flow: shapes, the links that they cut |
//! | `snapshot` | macroscopic fields on the host |
//! | `file` | files that are whole or not there |
//! | `velocity` | vorticity, energy and enstrophy of a snapshot |
//!
//! Invariant: `unsafe` code lies in `device` only (the workspace denies it elsewhere).
//!
//! Invariant: whoever reads what is printed may go away: nothing uses the macros of the standard library, which panic then
//! (clippy's `print_stdout` and `print_stderr`).
//!
//! Invariant: the runtime knows bundles and nothing else of the compiler (its manifest has no such dependency).

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod bandwidth;
pub mod case;
pub mod criterion;
pub mod device;
pub mod fields;
pub mod file;
#[cfg(test)]
mod fixture;
pub mod flow;
pub mod kernels;
pub mod layout;
pub mod memory;
pub mod mesh;
pub mod observe;
pub mod output;
pub mod restart;
pub mod snapshot;
pub mod solid;
pub mod step;
pub mod velocity;
