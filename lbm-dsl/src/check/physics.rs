//! The laws of `prove::laws` as diagnostics.
//!
//! In: a model. After: its collision conserves what it must and is defined at rest, and its initial populations have
//! the fields they are given.

use crate::ast::Item;
use crate::check::program::{ModuleId, Program};
use crate::diag::{Code, Diagnostic, Report};
use crate::model::{Law, Model, Param};
use crate::prove::laws::{self, Push, Trial, Violation};
use crate::source::Span;
use crate::unit::Unit;

/// Reports every law that the model breaks. Returns what vectors do to the momentum.
pub fn check(program: &Program, model: &Model) -> Result<Trial, Report> {
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
    let trial = laws::try_all(model);
    for violation in trial.violations.clone() {
        report.push(match violation {
            Violation::Conserved(quantity, component, defect) => {
                let quantity = &model.conserved[quantity];
                let name = match quantity.components.len() {
                    1 => quantity.name.clone(),
                    _ if quantity.law == Law::Momentum => quantity.name.replace(", a]", &format!(", {component}]")),
                    _ => format!("{}[{component}]", quantity.name),
                };
                let label = format!("{name} changes by {defect} on a random state");
                let (code, hint) = match quantity.law {
                    Law::Sum(0) => (
                        Code::Mass,
                        "what is taken from one population must reach another; the equilibrium must have the density rho",
                    ),
                    Law::Momentum => (
                        Code::Momentum,
                        "the equilibrium must have the momentum rho u, and both must be made from the same f; where momentum \
                         is not conserved, say what is: `conserve rho;`",
                    ),
                    Law::Sum(_) | Law::Stated => (
                        Code::NotConserved,
                        "the equilibrium must have the same value of it; `conserve NAME;` says what the collision conserves",
                    ),
                };
                Diagnostic::new(code, source, collide, label).hint(hint)
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
    for (param, push) in &trial.pushes {
        let Param { name, unit, .. } = &model.params[*param];
        let wrong = unit.is_some_and(|unit| unit != Unit::ACCELERATION);
        if wrong && matches!(push, Some(Push::Force | Push::Acceleration)) {
            let defined = program.spec().iter().find_map(|item| match item {
                Item::Param(def) if def.name.text == *name => Some(def.name.span),
                _ => None,
            });
            let label = format!("a step adds `{name}` to the momentum");
            report.push(Diagnostic::new(Code::ForceUnit, source, defined.unwrap_or_default(), label));
        }
    }
    report.propagate()?;
    Ok(trial)
}
