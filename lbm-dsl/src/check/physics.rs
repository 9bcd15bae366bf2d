//! The laws of `prove::laws` as diagnostics.
//!
//! In: a model. After: its collision conserves mass and momentum and is defined at rest, and its initial populations have
//! the fields they are given.

use crate::ast::Item;
use crate::check::program::{ModuleId, Program};
use crate::diag::{Code, Diagnostic, Report};
use crate::model::Model;
use crate::prove::laws::{self, Violation};
use crate::source::Span;

/// Reports every law that the model breaks.
pub fn check(program: &Program, model: &Model) -> Result<(), Report> {
    let source = &program.module(ModuleId::SPEC).source;
    let (mut collide, mut init) = (Span::default(), Span::default());
    for item in program.spec() {
        match item {
            Item::Collide(block) => collide = block.span,
            Item::Init(block) => init = block.span,
            _ => {}
        }
    }
    let mut report = Report::new();
    for violation in laws::try_all(model).violations {
        report.push(match violation {
            Violation::Mass(defect) => Diagnostic::new(
                Code::Mass,
                source,
                collide,
                format!("sum(i: f[i]) changes by {defect} on a random state"),
            )
            .hint("what is taken from one population must reach another; the equilibrium must have the density rho"),
            Violation::Momentum(axis, defect) => {
                let label = format!("sum(i: c[i, {axis}] * f[i]) changes by {defect} on a random state");
                Diagnostic::new(Code::Momentum, source, collide, label)
                    .hint("the equilibrium must have the momentum rho u, and both must be made from the same f")
            }
            Violation::InitField(field, component, given, found) => {
                let field = &model.fields[field];
                let name = match field.components.len() {
                    1 => field.name.clone(),
                    _ => format!("{}[{component}]", field.name),
                };
                let label = format!("given {name} = {given}, these populations have {name} = {found}");
                Diagnostic::new(Code::InitFields, source, init, label)
                    .hint("take an equilibrium of the same density and velocity")
            }
            Violation::Undefined(true) => {
                Diagnostic::new(Code::UndefinedValue, source, collide, "it has no value at rest, f = w")
            }
            Violation::Undefined(false) => {
                Diagnostic::new(Code::UndefinedValue, source, collide, "it has no value on a random state near rest")
            }
        });
    }
    report.propagate()
}
