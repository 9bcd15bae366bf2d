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
//! - [`model`], [`lattice`], [`expr`]: the method, its velocities, its formulas over exact rationals
//! - [`function`]: what is known of exponentials, angles and powers, whose values are mostly irrational
//! - [`unit`]: what parameters are measured in
//! - `vary`: parameters that a case makes vary, as statements of the text
//! - [`prove`]: conservation, transport coefficients, where walls lie, linear stability
//! - [`format`](mod@format): a text in the house style
//! - [`shipped`]: the specs and prelude inside the compiler
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

pub mod ast;
pub mod check;
pub mod diag;
pub mod expr;
pub mod format;
pub mod function;
pub mod lattice;
pub mod lexer;
pub mod model;
pub mod parser;
mod polynomial;
pub mod prove;
pub mod reading;
pub mod shipped;
pub mod source;
pub mod unit;
mod vary;

pub use check::check;
use lbm_bundle::variation::Variation;
pub use parser::parse;

/// Text to model in one step.
pub fn compile(source: &source::Source, library: &dyn shipped::Library) -> Result<model::Model, diag::Report> {
    compile_with(source, library, &[], None, None)
}

/// Text to model, as if the text imported and chose those of the boundary rules `rules`, the coupling and the criterion that it
/// lacks and a module has.
pub fn compile_with(
    source: &source::Source,
    library: &dyn shipped::Library,
    rules: &[&str],
    coupling: Option<&str>,
    criterion: Option<&str>,
) -> Result<model::Model, diag::Report> {
    compile_varied(source, library, (rules, coupling, criterion), &[])
}

/// The same, with parameters that a case makes vary.
pub fn compile_varied(
    source: &source::Source,
    library: &dyn shipped::Library,
    (rules, coupling, criterion): (&[&str], Option<&str>, Option<&str>),
    variations: &[Variation],
) -> Result<model::Model, diag::Report> {
    let mut ast = parse(source)?;
    variations.iter().for_each(|variation| ast.vary(variation));
    let offered = if rules.is_empty() { Vec::new() } else { shipped::rules(library)? };
    for (module, rule) in offered.iter().filter(|(_, rule)| rules.contains(&rule.as_str())) {
        ast.choose_boundary(module, rule);
    }
    let offered = if coupling.is_none() { Vec::new() } else { shipped::couplings(library)? };
    for (module, name) in offered.iter().filter(|(_, name)| coupling == Some(name)) {
        ast.choose_coupling(module, name);
    }
    let offered = if criterion.is_none() { Vec::new() } else { shipped::criteria(library)? };
    for (module, name) in offered.iter().filter(|(_, name)| criterion == Some(name)) {
        ast.choose_criterion(module, name);
    }
    check(source, &ast, library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_spec_is_a_model() {
        for (name, text) in shipped::specs() {
            let source = source::Source::new(&format!("specs/{name}.lbm"), text);
            match compile(&source, &shipped::Prelude) {
                Ok(model) => {
                    assert_eq!(model.collide().outputs.len(), model.q());
                    assert!(model.boundaries().iter().any(|rule| rule.name == "bounce_back"), "{name}");
                }
                Err(report) => panic!("{name}\n{}", report.render(120)),
            }
        }
    }
}
