//! From the text of a lattice Boltzmann method to a model that is known to be valid.
//!
//! ```text
//! .lbm text ──parser──▶ Ast ──check──▶ Model
//! ```
pub mod expr;
pub mod lattice;
pub mod model;
