//! From a lattice Boltzmann model to kernels.
//!
//! ```text
//! Model ──lower──▶ KernelIr ──simplify──▶ Dag ──schedule──▶ Plan ──emit──▶ Bundle
//! ```
pub mod count;
pub mod eval;
pub mod ir;
pub mod options;
pub mod schedule;
pub mod simplify;
