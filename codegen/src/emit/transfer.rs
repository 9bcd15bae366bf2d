//! What templates print of cells whose level changes.

use std::collections::BTreeSet;

use lbm_bundle::Manifest;
use lbm_dsl::expr::{Expr, LevelSymbol, Symbol};
use serde::Serialize;

use super::formula::{Language, Printer, real_name};
use super::method::Interface;
use super::packets::{Slope, of_stencil, slope};
use super::view::Value;
use crate::ir::Plan;

/// What cells have whose level changes.
#[derive(Debug, Serialize)]
pub struct Transfer {
    /// Derivatives that the children of a refined cell depend on.
    pub slopes: Vec<Slope>,
    /// Most points that one of them has.
    pub most: usize,
    /// Statements of what is the same for all children of a refined cell.
    pub shared: Vec<String>,
    /// Statements for one of them.
    pub own: Vec<String>,
    /// What a child is given.
    pub child: Vec<Value>,
    /// Statements that say what the cell has that takes their place.
    pub coarsen: Vec<String>,
    /// What it is given.
    pub parent: Vec<Value>,
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// What the children of a refined cell have, and what a cell has that takes the place of its children.
pub fn view(manifest: &Manifest, interface: &Interface) -> Transfer {
    let [refine, coarsen] = interface.transfer;
    let real = real_name(manifest.real);
    let sampled = refine.dag().symbols().iter().filter_map(|(symbol, _)| match *symbol {
        Symbol::Level(LevelSymbol::Slope { stencil, axis, .. }) => Some((usize::from(stencil), usize::from(axis))),
        _ => None,
    });
    let sampled: BTreeSet<(usize, usize)> = sampled.collect();
    let numbers: BTreeSet<usize> = sampled.iter().map(|(stencil, _)| *stencil).collect();
    let slopes: Vec<Slope> = numbers.into_iter().map(|number| slope(manifest, interface, number)).collect();
    let samples = sampled.into_iter().map(|(stencil, axis)| {
        let function = of_stencil(interface, stencil, "along");
        format!("const Along along_{stencil}_{} = {function}(around, slot, cell, {axis});", AXES[axis])
    });
    let of_cell = refine.dag().symbols().iter().filter_map(|(symbol, name)| match *symbol {
        Symbol::Population(pop) => Some(format!("const {real} {name} = load(src, slot, {}, cell);", pop.index())),
        Symbol::Level(LevelSymbol::Slope { stencil, axis, pop }) => {
            let (function, axis) = (of_stencil(interface, stencil.into(), "derivative"), AXES[usize::from(axis)]);
            Some(format!("const {real} {name} = {function}(&along_{stencil}_{axis}, src, {});", pop.index()))
        }
        _ => None,
    });
    let of_child = refine.dag().symbols().iter().filter_map(|(symbol, name)| match symbol {
        Symbol::Level(LevelSymbol::Position { axis }) => {
            Some(format!("const {real} {name} = ({real})(child >> {axis} & 1 ? 0.25 : -0.25);"))
        }
        _ => None,
    });
    let of_children = coarsen.dag().symbols().iter().filter_map(|(symbol, name)| match *symbol {
        Symbol::Population(pop) => Some(format!("const {real} {name} = mean_{};", pop.index())),
        Symbol::Level(LevelSymbol::Slope { axis, pop, .. }) => {
            Some(format!("const {real} {name} = across_{}[{axis}];", pop.index()))
        }
        _ => None,
    });
    let means = (0..manifest.q()).flat_map(|pop| {
        let mean = format!("const {real} mean_{pop} = mean_of(&children, {pop}, src, across_{pop});");
        [format!("{real} across_{pop}[DIM];"), mean]
    });
    let [shared, own] = statements(manifest, refine);
    let [parent, _] = statements(manifest, coarsen);
    Transfer {
        most: slopes.iter().map(|slope| slope.count).max().unwrap_or(0),
        slopes,
        shared: samples.chain(of_cell).chain(shared).collect(),
        own: of_child.chain(own).collect(),
        child: values(manifest, refine),
        coarsen: means.chain(of_children).chain(parent).collect(),
        parent: values(manifest, coarsen),
    }
}

/// The statements of a plan: those that do not depend on the place of a child, and the others.
fn statements(manifest: &Manifest, plan: &Plan) -> [Vec<String>; 2] {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let mut placed = vec![false; plan.dag().exprs().len()];
    for (id, node) in plan.dag().exprs().iter() {
        let depends = node.operands().iter().any(|operand| placed[operand.index()]);
        placed[id.index()] = depends || matches!(node, Expr::Symbol(Symbol::Level(LevelSymbol::Position { .. })));
    }
    let mut lines = [Vec::new(), Vec::new()];
    for statement in plan.sections().iter().flat_map(|section| &section.statements) {
        let of = usize::from(placed[statement.value.index()]);
        lines[of].extend(printer.statement(&statement.name, statement.value));
    }
    lines
}

/// What each population is given.
fn values(manifest: &Manifest, plan: &Plan) -> Vec<Value> {
    let printer = Printer::new(plan, manifest.real, Language::C);
    let outputs = plan.dag().outputs().iter().enumerate();
    outputs.map(|(at, output)| Value { text: printer.operand(output.value), at }).collect()
}
