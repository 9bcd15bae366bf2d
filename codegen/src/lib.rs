//! From a lattice Boltzmann model to kernels.
//!
//! ```text
//! Model ──lower──▶ KernelIr ──simplify──▶ Dag ──schedule──▶ Plan ──emit──▶ Bundle
//!                      ╰────────── count, eval ──────────╯
//! ```
//!
//! - [`pipeline`]: the whole compile as one pure function
//! - [`options`]: what a user chooses
//! - [`ir`]: the arithmetic of a kernel, in its three forms
//! - [`lower`]: from a model to kernels, names and signatures
//! - [`derive`]: the tangent and the adjoint of a kernel
//! - [`simplify`], [`schedule`]: fewer operations; an order and names for temporaries
//! - [`mesh`], [`relations`]: kernels that change the forest of blocks; how neighbours of a node follow from those of its parent
//! - [`criteria`]: kernels that say which level a block should have; [`cutting`]: kernels that cut links at solids that move
//! - [`emit`] – text
//! - [`count`], [`eval`]: cost of any form; its value
//! - [`range`], [`rounding`]: where values lie; how far 32 bits may be from the exact value
//!
//! Invariant: same input, same bytes (`clippy.toml` disallows hash maps and clocks; `tests/drift.rs` compares the text).
//! Invariant: all forms compute the same values (`tests/agree.rs`).
pub mod count;
pub mod criteria;
pub mod cutting;
pub mod derive;
pub mod emit;
pub mod eval;
pub mod ir;
pub mod lower;
pub mod mesh;
pub mod options;
pub mod pipeline;
pub mod prescribed;
pub mod range;
pub mod relations;
pub mod rounding;
pub mod schedule;
pub mod simplify;
pub mod statistics;
