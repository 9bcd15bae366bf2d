//! The tree to a model, or all that is wrong with it.
//!
//! Passes in their order, and what holds after each:
//!
//! - `program`: every module that is used is loaded, every import exists.
//! - `names`: every name is defined, visible, used and unique.
//! - `lattices`: every velocity set is one, and as isotropic as it claims.
//! - `build` (with `elaborate`, `call`, `walls`): every formula is expanded into the graph, every output defined.
//! - `physics`: what must be conserved is, `init` gives the fields it is given.
//! - `stored`: fields and initial populations are known in terms of what grids store.
//! - `neighbours`: what cells read of others has a place in each cell.
//!
//! Each pass reports everything it finds and stops the check if it found anything.

mod arith;
mod build;
mod call;
mod couplings;
mod criteria;
mod elaborate;
mod formulas;
mod lattices;
mod names;
mod naming;
mod neighbours;
mod physics;
mod program;
mod stencils;
mod stored;
mod value;
mod walls;

use crate::ast::Ast;
use crate::diag::{Code, Report};
use crate::model::Model;
use crate::shipped::Library;
use crate::source::Source;

/// The model that a spec describes.
pub fn check(source: &Source, ast: &Ast, library: &dyn Library) -> Result<Model, Report> {
    let program = program::Program::load(source, ast, library)?;
    let (mut unused, warnings) = names::check(&program, library)?;
    let populations = lattices::chosen(&program);
    let long = populations.as_ref().map_or(vec![], |populations| lattices::long_velocities(&program, populations));
    let model = populations.and_then(|populations| build::model(&program, &populations));
    let model = model.and_then(|mut model| {
        let trial = physics::check(&program, &model.among_others().frozen())?;
        stored::complete(&mut model, &trial);
        neighbours::complete(&mut model);
        couplings::laws(&program, &model)?;
        model.warnings = [program.warnings(), &long, &warnings].concat();
        Ok(model)
    });
    if let Err(report) = &model {
        unused.merge(report.clone());
    }
    unused.propagate()?;
    model
}

/// Checks a text that only defines things for others, as far as the names in it go: formulas are expanded where they are used.
pub fn module(source: &Source, ast: &Ast, library: &dyn Library) -> Result<(), Report> {
    let program = program::Program::load(source, ast, library)?;
    let Err(report) = names::check(&program, library) else { return Ok(()) };
    let mut wrong = Report::new();
    report
        .diagnostics()
        .iter()
        .filter(|fault| fault.code() != Code::Unused)
        .for_each(|fault| wrong.push(fault.clone()));
    wrong.propagate()
}
