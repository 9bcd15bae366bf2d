//! What packets carry, and the slopes that they read, as text: the same for the kernels that fill the inbox from tables and for those
//! that walk through the forest beside walls.

use std::collections::BTreeSet;

use lbm_bundle::Manifest;
use lbm_dsl::expr::{LevelSymbol, Symbol};
use serde::Serialize;

use super::arithmetic::reads;
use super::formula::{Language, Printer, real_name, wrap};
use super::method::{Interface, PointSet};
use super::text::Comment;
use crate::ir::Plan;
use crate::lower::word;

/// What the packets of several directions are made of.
#[derive(Debug, Serialize)]
pub struct Shared {
    /// How many values.
    pub count: usize,
    /// Statements that compute them by tables.
    pub around: Vec<String>,
    /// Statements that compute them by a walk through the forest.
    pub walk: Vec<String>,
}

/// A derivative along an axis.
#[derive(Debug, Serialize)]
pub struct Slope {
    /// What it is.
    pub doc: Comment,
    /// Name of the function that finds samples by tables.
    pub around: String,
    /// Name of the function that walks to them through the forest.
    pub walk: String,
    /// Name of the function that says where they are along an axis.
    pub along: String,
    /// Name of the function of samples found that way.
    pub derivative: String,
    /// Points of all sets, in cells.
    pub points: String,
    /// How many there are.
    pub count: usize,
    /// In order of preference.
    pub sets: Vec<SlopeSet>,
}

/// A derivative from one set of points.
#[derive(Debug, Serialize)]
pub struct SlopeSet {
    /// Whether all points have values.
    pub condition: String,
    /// Statements, of which the last returns it.
    pub lines: Vec<String>,
}

/// How a kernel finds what is around the coarse cell `here`, of which it has `coarse`, `slot` and `cell`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// By the tables of blocks around its own.
    Tables,
    /// By a walk through the forest.
    Walk,
}

/// Names of the parameters of the method that packets read.
pub fn params<'a>(interface: &Interface<'a>) -> BTreeSet<&'a str> {
    let symbols = interface.packets.iter().chain(&interface.shared).flat_map(|plan| plan.dag().symbols());
    let of_method = symbols.filter(|(symbol, _)| matches!(symbol, Symbol::Param { .. }));
    of_method.map(|(_, name)| name.as_str()).collect()
}

/// What the packets of a population carry: statements, and the value of each; `kind` is that of the packet of a child.
pub fn packets(
    manifest: &Manifest,
    interface: &Interface,
    at: usize,
    route: Route,
    kind: impl Fn(usize) -> String,
) -> (Vec<String>, Vec<String>) {
    let plan = interface.packets[at];
    let real = real_name(manifest.real);
    let (mut lines, printer) = statements(manifest, interface, plan, route, kind);
    // A value may stand in two places: where there is a choice in it, it gets a name.
    let mut values = Vec::new();
    for (child, output) in plan.dag().outputs().iter().enumerate() {
        let text = printer.operand(output.value);
        if text.contains(' ') {
            lines.extend(wrap(&format!("const {real} packet_{child} = "), &format!("{text};")));
            values.push(format!("packet_{child}"));
        } else {
            values.push(text);
        }
    }
    (lines, values)
}

/// What the packets of several populations are made of, in the array `shared`.
pub fn shared(manifest: &Manifest, interface: &Interface) -> Option<Shared> {
    let plan = interface.shared?;
    let lines = |route| {
        let (mut lines, printer) =
            statements(manifest, interface, plan, route, |_| unreachable!("no packet of its own"));
        for (number, output) in plan.dag().outputs().iter().enumerate() {
            let text = printer.operand(output.value);
            lines.extend(wrap(&format!("shared[{number}] = "), &format!("{text};")));
        }
        lines
    };
    Some(Shared { count: plan.dag().outputs().len(), around: lines(Route::Tables), walk: lines(Route::Walk) })
}

/// What a plan reads around the coarse cell at hand, and its statements.
fn statements<'a>(
    manifest: &Manifest,
    interface: &Interface,
    plan: &'a Plan,
    route: Route,
    kind: impl Fn(usize) -> String,
) -> (Vec<String>, Printer<'a>) {
    let real = real_name(manifest.real);
    let mut printer = Printer::new(plan, manifest.real, Language::C);
    let mut lines = Vec::new();
    for (symbol, name) in plan.dag().symbols() {
        match *symbol {
            Symbol::Population(pop) => {
                lines.push(format!("const {real} {name} = load(coarse, slot, {}, cell);", pop.index()));
            }
            Symbol::Level(LevelSymbol::Kind { child }) => printer.spell(*symbol, kind(child.into())),
            Symbol::Level(LevelSymbol::Shared(number)) => printer.spell(*symbol, format!("shared[{number}]")),
            Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) => {
                let (what, from) = match route {
                    Route::Tables => ("around", "around, coarse"),
                    Route::Walk => ("walk", "side"),
                };
                let function = of_stencil(interface, stencil.into(), what);
                lines.push(format!("const {real} {name} = {function}({from}, here, {}, {axis});", pop.index()));
            }
            _ => {}
        }
    }
    let statements = plan.sections().iter().flat_map(|section| &section.statements);
    lines.extend(statements.flat_map(|statement| printer.statement(&statement.name, statement.value)));
    (lines, printer)
}

/// Name of a function of a derivative stencil, with its number, so that no two have the same: `central_around_0`.
pub fn of_stencil(interface: &Interface, number: usize, what: &str) -> String {
    format!("{}_{what}_{number}", word(interface.stencils[number].name))
}

/// The derivative stencils whose slopes packets read.
pub fn slopes(manifest: &Manifest, interface: &Interface) -> Vec<Slope> {
    let is_read = |number: &usize| {
        let is = |symbol: &Symbol| matches!(symbol, Symbol::Level(LevelSymbol::Slope { stencil, .. }) if usize::from(*stencil) == *number);
        interface.packets.iter().chain(&interface.shared).any(|plan| reads(plan, is))
    };
    (0..interface.stencils.len()).filter(is_read).map(|number| slope(manifest, interface, number)).collect()
}

/// A derivative stencil.
pub fn slope(manifest: &Manifest, interface: &Interface, number: usize) -> Slope {
    let stencil = &interface.stencils[number];
    let mut points: Vec<i64> = stencil.sets.iter().flat_map(|set| set.points).copied().collect();
    points.sort_unstable();
    points.dedup();
    let place = |point: i64| points.iter().position(|other| *other == point).expect("every point is listed");
    let set = |set: &PointSet| {
        let plan = set.slope.expect("only slopes are read");
        let mut printer = Printer::new(plan, manifest.real, Language::C);
        for (symbol, _) in plan.dag().symbols() {
            if let Symbol::Level(LevelSymbol::Sample(number)) = *symbol {
                printer.spell(*symbol, format!("v[{}]", place(set.points[usize::from(number)])));
            }
        }
        let output = &plan.dag().outputs()[0];
        let mut lines: Vec<String> = printer
            .needs(output.value)
            .into_iter()
            .flat_map(|id| printer.statement(&printer.operand(id), id))
            .collect();
        lines.push(format!("return {};", printer.formula(output.value)));
        let has: Vec<String> = set.points.iter().map(|point| format!("has[{}]", place(*point))).collect();
        SlopeSet { condition: has.join(" && "), lines }
    };
    let named = |what| of_stencil(interface, number, what);
    let doc = if stencil.doc.is_empty() { String::new() } else { format!(": {}", stencil.doc) };
    Slope {
        doc: Comment::new(&format!("Stencil {}{doc}", stencil.name)),
        around: named("around"),
        walk: named("walk"),
        along: named("along"),
        derivative: named("derivative"),
        points: points.iter().map(i64::to_string).collect::<Vec<_>>().join(", "),
        count: points.len(),
        sets: stencil.sets.iter().map(set).collect(),
    }
}
