//! From the text of a lattice Boltzmann method to a model that is known to be valid.
//!
//! ```text
//! .lbm text ──parser──▶ Ast ──check──▶ Model
//! ```
pub mod ast;
pub mod check;
pub mod diag;
pub mod expr;
pub mod lattice;
pub mod lexer;
pub mod model;
pub mod parser;
pub mod prove;
pub mod shipped;
pub mod source;

pub use check::check;
pub use parser::parse;

/// Text to model in one step.
pub fn compile(source: &source::Source, library: &dyn shipped::Library) -> Result<model::Model, diag::Report> {
    let ast = parse(source)?;
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
                    assert_eq!(model.collide().outputs.len(), model.lattice().q());
                    assert_eq!(model.boundaries().len(), 2, "{name}");
                }
                Err(report) => panic!("{name}\n{}", report.render(120)),
            }
        }
    }
}
