//! From a lattice Boltzmann model to kernels.
//!
//! ```text
//! Model ──lower──▶ KernelIr ──simplify──▶ Dag ──schedule──▶ Plan ──emit──▶ Bundle
//! ```
pub mod ir;
pub mod options;
