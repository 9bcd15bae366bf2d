//! From a lattice Boltzmann model to kernels.
//!
//! ```text
//! Model ──lower──▶ KernelIr ──simplify──▶ Dag ──schedule──▶ Plan ──emit──▶ Bundle
//! ```
pub mod count;
pub mod eval;
pub mod emit;
pub mod ir;
pub mod lower;
pub mod options;
pub mod schedule;
pub mod simplify;
