//! What the arithmetic of a kernel reads, and its text.

use lbm_bundle::Manifest;
use lbm_dsl::expr::{Expr, Symbol};

use super::formula::{Language, Printer, real_name};
use super::text::Comment;
use super::view::{Formulas, Value};
use crate::ir::{Output, Plan};

/// Arithmetic, all of its outputs.
pub fn formulas(manifest: &Manifest, plan: &Plan) -> Formulas {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let value = |(at, output): (usize, &Output)| Value { text: printer.operand(output.value), at };
    Formulas {
        inputs: inputs(manifest, plan),
        body: body(plan, &printer),
        outputs: plan.dag().outputs().iter().enumerate().map(value).collect(),
    }
}

/// Populations, moments or fields that a kernel reads, with their positions in memory; behind all values of a cell what it sees of those
/// around it.
pub fn inputs(manifest: &Manifest, plan: &Plan) -> Vec<Value> {
    let first: Vec<usize> = manifest
        .fields
        .iter()
        .scan(0, |next, field| {
            let first = *next;
            *next += field.components as usize;
            Some(first)
        })
        .collect();
    let value = |(symbol, name): &(Symbol, String)| {
        let at = match *symbol {
            Symbol::Population(pop) => pop.index(),
            Symbol::Moment(number) => usize::from(number),
            Symbol::Neighbour { shown, dir } => {
                let seen = |seen: &lbm_bundle::Seen| (seen.shown, seen.direction) == (shown.into(), dir.index() as u32);
                manifest.q() + manifest.seen.iter().position(seen)?
            }
            Symbol::Field { field, component } => first[usize::from(field)] + usize::from(component),
            _ => return None,
        };
        Some(Value { text: name.clone(), at })
    };
    plan.dag().symbols().iter().filter_map(value).collect()
}

/// Sections in lines, each after an empty one and under its heading; an empty line at the end.
pub fn body(plan: &Plan, printer: &Printer) -> Vec<String> {
    let mut lines = Vec::new();
    for section in plan.sections() {
        lines.push(String::new());
        let heading = match (section.title.as_str(), section.cite.as_str()) {
            ("", _) => "shared".into(),
            (title, "") => title.into(),
            (title, cite) => format!("{title}   ({cite})"),
        };
        lines.push(format!("// ---- {}", Comment::new(&heading)));
        for statement in &section.statements {
            lines.extend(printer.statement(&statement.name, statement.value));
        }
    }
    lines.push(String::new());
    lines
}

/// Whether a plan computes some values again.
pub fn computes_again(plan: &Plan) -> bool {
    plan.dag().exprs().iter().any(|(_, node)| matches!(node, Expr::Again(_)))
}

/// Whether a plan reads such a symbol.
pub fn reads(plan: &Plan, is: impl Fn(&Symbol) -> bool) -> bool {
    plan.dag().symbols().iter().any(|(symbol, _)| is(symbol))
}

/// Whether arithmetic reads a parameter of the method.
pub fn is_read(plan: &Plan, member: &str) -> bool {
    plan.dag().symbols().iter().any(|(_, symbol)| symbol == member)
}

/// Statements that take the parameters that a kernel reads out of their struct.
pub fn unpack(manifest: &Manifest, reads: impl Fn(&str) -> bool) -> Vec<String> {
    let real = real_name(manifest.real);
    let names = manifest.members.iter().map(|member| &member.name).filter(|name| reads(name));
    let lines: Vec<String> = names.map(|name| format!("const {real} {name} = params.{name};")).collect();
    if lines.is_empty() { vec!["(void)params;".into()] } else { lines }
}

/// Statements that keep compilers from complaining of parameters that a function is given and does not need.
pub fn idle(manifest: &Manifest, plan: &Plan) -> Vec<String> {
    let names = manifest.members.iter().map(|member| &member.name).filter(|name| !is_read(plan, name));
    names.map(|name| format!("(void){name};")).collect()
}
