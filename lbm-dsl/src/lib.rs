//! From the text of a lattice Boltzmann method to a model that is known to be valid.
//!
//! ```text
//! .lbm text ──lexer──▶ tokens ──parser──▶ Ast ──check──▶ Model ──prove──▶ findings
//!                                  specs/prelude ──▲
//! ```
//!
//! - [`source`]: a text with a name, places in it
//! - [`diag`]: what is wrong, where, what to do; the table of codes
//! - [`lexer`], [`parser`], [`ast`]: the tree as written
//! - [`check`]: the tree to a model, or all that is wrong with it
//! - [`model`], [`lattice`], [`expr`]: the method, its velocities, its formulas over exact rationals (`rational`)
//! - [`function`]: what is known of exponentials, angles and powers, whose values are mostly irrational
//! - [`derivative`]: derivatives of formulas, as formulas
//! - [`unit`]: what parameters are measured in
//! - `absorb`: absorbing layers that a case adds, as statements of the text
//! - `vary`: parameters that a case makes vary, as statements of the text
//! - `compile`: all of it
//! - [`prove`]: conservation, transport coefficients, where walls lie, linear stability
//! - [`format`](mod@format): a text in the house style
//! - [`shipped`]: the specs and prelude inside the compiler
//! - [`latex`]: the equations of a text as LaTeX
//! - [`reading`]: a text while it is written, for editors
//!
//! Invariant: a [`model::Model`] exists only if valid; its fields are private to this crate, and only `check` makes one.
//! Invariant: bad input is a diagnostic, never a panic: `tests/ui.rs`, a case for every code.
//! Invariant: same text, same model, on every machine: no hash maps, no clock, no files (`clippy.toml`).
//!
//! ```
//! use lbm_dsl::{compile, prove, shipped, source::Source};
//!
//! let spec = Source::new("d2q9_bgk.lbm", shipped::spec("d2q9_bgk").unwrap());
//! let model = compile(&spec, &shipped::Prelude).map_err(|report| report.render(100)).unwrap();
//! assert_eq!(model.lattice().q(), 9);
//! assert_eq!(prove::findings(&model).viscosity.formula, "1/3*(1/omega - 1/2)");
//! ```

mod absorb;
pub mod ast;
pub mod check;
mod compile;
pub mod derivative;
pub mod diag;
pub mod expr;
#[cfg(test)]
mod fixture;
pub mod format;
pub mod function;
pub mod latex;
pub mod lattice;
pub mod lexer;
pub mod model;
pub mod parser;
mod polynomial;
pub mod prove;
mod rational;
pub mod reading;
pub mod shipped;
pub mod source;
pub mod unit;
mod vary;

pub use check::check;
pub use compile::{Chosen, compile, compile_varied, compile_with};
pub use parser::parse;
